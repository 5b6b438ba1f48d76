"""What the checks of a store are made of: units of work, and all that a store holds as one value.

Law: after a refusal the whole contents are compared, not the part that was aimed at.
"""

from __future__ import annotations

import asyncio
import datetime
from typing import TYPE_CHECKING, Any, TypeAlias

from condor.core.audit import AuditEntry, Decision, encode_entry, verify_chain
from condor.core.ids import RunId, SessionId, StepId, SuspendId
from condor.core.outcome import StepStatus
from condor.core.run import EventKind, RunStatus
from condor.ports.clock import timestamp
from condor.ports.store import (
    Committed,
    Conflict,
    ConflictKind,
    Decide,
    Expect,
    NewRun,
    StepRow,
    Store,
    SuspensionRow,
    Transition,
)

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

#: Opens the database of one test: an empty one at first, the same one again after ``close``.
Open: TypeAlias = "Callable[[], Awaitable[Store]]"
#: One promise of a store; its docstring says which.
Check: TypeAlias = "Callable[[Open], Awaitable[None]]"

_BEGIN = datetime.datetime(2026, 11, 30, 9, 0, tzinfo=datetime.UTC)
#: More than any test makes.
_ALL = 1_000_000


def at(second: float) -> str:
    """The time ``second`` seconds after the tests' beginning."""
    return timestamp(_BEGIN + datetime.timedelta(seconds=second))


def run_name(number: int) -> RunId:
    """The id of a test's run; ids sort by number."""
    return RunId(f"run_{number:026d}")


def entry(run_id: str, decision: Decision = "allowed", *, second: float = 0, **fields: Any) -> bytes:
    """One audit entry of a run."""
    return encode_entry(
        AuditEntry(at=at(second), run_id=run_id, session_id="ses_1", decision=decision, **fields)
    )


def creation(number: int = 1, *, status: RunStatus = RunStatus.EXECUTING, second: float = 0) -> Transition:
    """The unit that creates a run."""
    run_id = run_name(number)
    return Transition(
        run_id=run_id,
        at=at(second),
        create=NewRun(
            session_id=SessionId(f"ses_{number}"),
            status=status,
            requester=b'{"id":"dr-okafor"}',
            autonomy="guarded",
        ),
        events=[(EventKind.RUN_STARTED, b'{"n":0}')],
        audit=[entry(run_id, "run-started", second=second)],
        payloads=[("request", '{"text":"für Élise \\u0000"}'.encode())],
    )


def card(
    number: int = 1, name: str = "a", *, expires: float | None = None, second: float = 0
) -> SuspensionRow:
    """A pending card of a run."""
    return SuspensionRow(
        suspend_id=SuspendId(f"sus_{number}_{name}"),
        run_id=run_name(number),
        step_id=StepId(f"s-{name}"),
        generation=1,
        reason_code="approval",
        origin="tool_policy",
        contract_hash="sha256:" + "0" * 64,
        tool="medication.prescribe",
        opened_at=at(second),
        expires_at=None if expires is None else at(expires),
        facts=b'{"op":"create"}',
    )


def parking(*cards: SuspensionRow, second: float = 0) -> Transition:
    """The unit that opens cards of one run."""
    return Transition(run_id=cards[0].run_id, at=at(second), park=cards)


def decision(
    row: SuspensionRow, by: str = "dr-lindholm", *, second: float = 1, refuse_expired: bool = True
) -> Transition:
    """The unit that approves a card, with everything that such a unit carries."""
    return Transition(
        run_id=row.run_id,
        at=at(second),
        count_answer=True,
        decide=[
            Decide(suspend_id=row.suspend_id, status="approved", decided_by=by, refuse_expired=refuse_expired)
        ],
        events=[(EventKind.SUSPENSION_CLOSED, f'{{"by":"{by}"}}'.encode())],
        audit=[entry(row.run_id, "approved", second=second, actor=by)],
        payloads=[("reason", f'"{by}"'.encode())],
    )


def everything(number: int = 1, *, second: float = 1, expect: Expect | None = None) -> Transition:
    """A unit that writes to every table, so that a half-done one shows."""
    run_id = run_name(number)
    return Transition(
        run_id=run_id,
        at=at(second),
        expect=expect or Expect(),
        raise_epoch=True,
        count_answer=True,
        halt=b'{"by":"admin"}',
        steps=[StepRow(step_id=StepId("s1"), status=StepStatus.STARTED, attempt=2, key="key", code="code")],
        park=[card(number, "everything", second=second)],
        events=[(EventKind.STEP_STARTED, b'{"step":"s1"}'), (EventKind.APPROVAL_REQUIRED, b'{"step":"s1"}')],
        audit=[entry(run_id, "suspended", second=second), entry(run_id, "allowed", second=second)],
        payloads=[("args:s1", b"[1]"), ("request", b'"replaced"')],
    )


async def contents(store: Store) -> Sequence[object]:
    """All that a store holds, as values that compare equal exactly when nothing changed."""
    runs = await store.runs(limit=_ALL)
    return [
        *[await store.load(run.run_id) for run in runs],
        *[await store.events(run.run_id, limit=_ALL) for run in runs],
        list(await store.suspensions(limit=_ALL)),
        [chain async for chain in store.audit_chains()],
        list(await store.due(at(-1), limit=_ALL)),
    ]


async def refused(store: Store, unit: Transition, kind: ConflictKind) -> Conflict:
    """Commit a unit that must be refused for ``kind``, and leave everything as it was."""
    before = await contents(store)
    try:
        committed = await store.commit(unit)
    except Conflict as conflict:
        assert kind == conflict.kind
        assert before == await contents(store), f"a refused unit ({kind}) changed something"
        return conflict
    raise AssertionError(f"a unit that should be refused ({kind}) was committed: {committed}")


async def all_of(store: Store, units: Sequence[Transition]) -> list[Committed | BaseException]:
    """Commit units at the same time, handed in in their order; what became of each."""
    return list(await asyncio.gather(*map(store.commit, units), return_exceptions=True))


async def every_chain_is_whole(store: Store) -> None:
    """No chain of a store is accused."""
    async for chain in store.audit_chains():
        verdict = verify_chain(chain)
        assert verdict.kept, verdict.message
