"""One unit of work as SQLite statements: first everything it expects, then everything it writes.

Law 1: ``plan_unit`` only reads. A unit whose expectations do not hold, or that contradicts itself, has
written nothing when it is refused, so a group needs no savepoints (they copy every page that a unit
touches: measured at a third of the whole cost of a run).
Law 2: numbers of events and links of the audit chain are made here, inside the transaction.
Law 3: time for expiry is the latest ever committed, so a clock that is set back revives no card.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, TypeAlias

from condor.core.audit import chain_hash
from condor.core.errors import OurBug, TransitionRefused, show
from condor.core.run import RUN_TRANSITIONS
from condor.core.values import dataclass
from condor.ports.store import (
    Claimed,
    Committed,
    Conflict,
    ConflictKind,
    Decide,
    RequestClaim,
    SuspensionRow,
    Transition,
)
from condor.store.sqlite_rows import RUN, SUSPENSION, run_of, suspension_of

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Sequence

#: What a statement is given for one row.
Values: TypeAlias = "tuple[object, ...]"

#: Every change of status that the table has, by whatever cause.
_LEGAL: Final = frozenset((old, new) for old, news in RUN_TRANSITIONS.items() for new in news)

#: Length of ``2026-11-30T09:31:02.114Z``: one width, so that text order is time order.
_TIME_CHARS: Final = 24

_HEAD: Final = """SELECT status, epoch, rev, seq, answers, audit_seq, audit_head, tenant_id FROM run
    WHERE run_id = ?"""
_CREATE: Final = """INSERT INTO run (epoch, rev, seq, answers, audit_seq, audit_head, halt, updated_at,
    worked_ms, run_id, status, tenant_id, session_id, requester, autonomy, created_at)
    VALUES (?, ?, ?, ?, ?, ?, CAST(? AS TEXT), ?, ?, ?, ?, ?, ?, CAST(? AS TEXT), ?, ?)"""
_STAY: Final = """UPDATE run SET epoch = ?, rev = ?, seq = ?, answers = ?, audit_seq = ?, audit_head = ?,
    halt = coalesce(CAST(? AS TEXT), halt), updated_at = ?, worked_ms = max(worked_ms, ?)
    WHERE run_id = ?"""
#: Apart from ``_STAY``, because naming the status rewrites its index too.
_MOVE: Final = """UPDATE run SET epoch = ?1, rev = ?2, seq = ?3, answers = ?4, audit_seq = ?5,
    audit_head = ?6, halt = coalesce(CAST(?7 AS TEXT), halt), updated_at = ?8,
    worked_ms = max(worked_ms, ?9), status = ?11 WHERE run_id = ?10"""
_EVENT: Final = "INSERT INTO event (run_id, seq, kind, at, facts) VALUES (?, ?, ?, ?, CAST(? AS TEXT))"
_AUDIT: Final = """INSERT INTO audit (run_id, seq, body, prev_hash, hash)
    VALUES (?, ?, CAST(? AS TEXT), ?, ?)"""
_STEP: Final = """INSERT INTO step (run_id, step_id, status, attempt, key, code) VALUES (?, ?, ?, ?, ?, ?)
    ON CONFLICT (run_id, step_id) DO UPDATE SET status = excluded.status, attempt = excluded.attempt,
    key = excluded.key, code = excluded.code"""
_PAYLOAD: Final = """INSERT INTO payload (run_id, key, value) VALUES (?, ?, CAST(? AS TEXT))
    ON CONFLICT (run_id, key) DO UPDATE SET value = excluded.value"""
_CARD: Final = "SELECT run_id, status, expires_at, consumed FROM suspension WHERE suspend_id = ?"
_PARK: Final = """INSERT INTO suspension (suspend_id, run_id, tenant_id, step_id, generation, reason_code,
    origin, contract_hash, tool, opened_at, expires_at, facts, status, decided_by, decided_at, consumed,
    tier, requester, subject)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, CAST(? AS TEXT), ?, ?, ?, ?, ?, ?, ?)"""
_DECIDE: Final = "UPDATE suspension SET status = ?, decided_by = ?, decided_at = ? WHERE suspend_id = ?"
_CLAIMED: Final = "SELECT run_id, digest FROM request WHERE tenant_id = ? AND principal_id = ? AND key = ?"
_CLAIM: Final = "INSERT INTO request (tenant_id, principal_id, key, run_id, digest) VALUES (?, ?, ?, ?, ?)"
_CONSUME: Final = "UPDATE suspension SET consumed = 1 WHERE suspend_id = ?"
_FULL_RUN: Final = f"{RUN} WHERE run_id = ? AND tenant_id = ?"
_FULL_CARD: Final = f"{SUSPENSION} WHERE suspend_id = ? AND tenant_id = ?"


@dataclass(frozen=True, slots=True)
class UnitPlan:
    """What a unit will write, its expectations having been met."""

    #: Statement and values for the run row, then for each card.
    singles: Sequence[tuple[str, Values]]
    steps: Sequence[Values]
    events: Sequence[Values]
    audit: Sequence[Values]
    payloads: Sequence[Values]
    #: What the caller is told after the commit.
    committed: Committed


def plan_unit(cursor: sqlite3.Cursor, unit: Transition, clock: str) -> UnitPlan:
    """What a unit writes, in the open transaction; reads only.

    Args:
        cursor: of the writing connection.
        unit: what to do.
        clock: the latest time committed before it.

    Raises:
        Conflict: an expectation does not hold.
        OurBug: the unit contradicts itself or the run table.
    """
    check_time(unit.at)
    if unit.hand_over:
        raise OurBug(f"run {unit.run_id} cannot be handed over: a file has one owner, and no workers")
    old_status, epoch, rev, seq, answers, audit_seq, audit_head = _expected_head(cursor, unit)
    status = _next_status(unit, old_status)
    events, last_seq = _numbered(unit, seq)
    audit, audit_seq, audit_head = _chained(unit, audit_seq, audit_head)
    epoch += unit.raise_epoch
    rev += 1
    answers += unit.count_answer
    run_id, at, worked = unit.run_id, unit.at, unit.worked_ms
    head: Values = (epoch, rev, last_seq, answers, audit_seq, audit_head, unit.halt, at, worked, run_id)
    if unit.create is not None:
        new = unit.create
        born = (status, unit.tenant_id, new.session_id, new.requester, new.autonomy, at)
        singles = [(_CREATE, head + born)]
        if new.claim is not None:
            singles.append((_CLAIM, _claim(cursor, unit, new.claim)))
    elif status == old_status:
        singles = [(_STAY, head)]
    else:
        singles = [(_MOVE, (*head, status))]
    if unit.decide or unit.consume or unit.park:
        singles += _Cards(cursor, unit, max(at, clock)).plan()
    first_seq, last_seq = (seq + 1, last_seq) if events else (0, 0)
    return UnitPlan(
        singles,
        [(run_id, s.step_id, s.status._value_, s.attempt, s.key, s.code) for s in unit.steps],
        events,
        audit,
        [(run_id, key, value) for key, value in unit.payloads],
        Committed(first_seq=first_seq, last_seq=last_seq, rev=rev, epoch=epoch, answers=answers),
    )


def write_unit(cursor: sqlite3.Cursor, plan: UnitPlan) -> None:
    """Write what was planned."""
    for statement, values in plan.singles:
        cursor.execute(statement, values)
    if plan.steps:
        cursor.executemany(_STEP, plan.steps)
    if plan.events:
        cursor.executemany(_EVENT, plan.events)
    if plan.audit:
        cursor.executemany(_AUDIT, plan.audit)
    if plan.payloads:
        cursor.executemany(_PAYLOAD, plan.payloads)


def check_time(at: str) -> None:
    """Refuse a time of another width: its order against the stored ones would be wrong."""
    if len(at) != _TIME_CHARS or at[-1] != "Z" or not at[0].isdecimal():
        raise OurBug(f"a unit's time is RFC 3339 in UTC with milliseconds, not {show(at)}")


def _expected_head(cursor: sqlite3.Cursor, unit: Transition) -> tuple[str, int, int, int, int, int, str]:
    """The run's head as the unit expects it; a new run's is all zeros."""
    head = cursor.execute(_HEAD, (unit.run_id,)).fetchone()
    if unit.create is not None:
        if head is not None:
            raise _conflict(cursor, unit, "exists")
        return unit.create.status._value_, 0, 0, 0, 0, 0, ""
    if head is None or head[7] != unit.tenant_id:
        # Another tenant's run is not there.
        raise Conflict("missing", run=None)
    expect = unit.expect
    if expect.epoch is not None and expect.epoch != head[1]:
        raise _conflict(cursor, unit, "epoch")
    if expect.statuses is not None and head[0] not in expect.statuses:
        raise _conflict(cursor, unit, "status")
    if expect.answers is not None and expect.answers != head[4]:
        raise _conflict(cursor, unit, "answers")
    if expect.rev is not None and expect.rev != head[2]:
        raise _conflict(cursor, unit, "rev")
    return head[:7]  # type: ignore[no-any-return]


def _claim(cursor: sqlite3.Cursor, unit: Transition, claim: RequestClaim) -> Values:
    """The row of a request's key.

    Raises:
        Conflict: the key is taken.
    """
    named = (unit.tenant_id, claim.principal_id, claim.key)
    taken = cursor.execute(_CLAIMED, named).fetchone()
    if taken is not None:
        raise Conflict("claimed", run=None, claimed=Claimed(run_id=taken[0], digest=taken[1]))
    return (*named, unit.run_id, claim.digest)


def _next_status(unit: Transition, old: str) -> str:
    if unit.status is None or unit.status == old:
        return old
    if (old, unit.status) not in _LEGAL:
        raise TransitionRefused(f"run {unit.run_id} cannot go from {old} to {unit.status}")
    return unit.status._value_


def _numbered(unit: Transition, seq: int) -> tuple[list[Values], int]:
    """The rows of a unit's events, numbered on from ``seq``, and the last number."""
    run_id, at = unit.run_id, unit.at
    rows: list[Values] = []
    for kind, facts in unit.events:
        seq += 1
        rows.append((run_id, seq, kind._value_, at, facts))
    return rows, seq


def _chained(unit: Transition, seq: int, head: str) -> tuple[list[Values], int, str]:
    """The rows of a unit's audit, chained on from row ``seq`` with hash ``head``, and the new end."""
    run_id = unit.run_id
    rows: list[Values] = []
    for body in unit.audit:
        seq += 1
        link = chain_hash(head, seq, body)
        rows.append((run_id, seq, body, head, link))
        head = link
    return rows, seq, head


class _Cards:
    """The cards of one unit: closed, used up and opened in this order, each seeing the ones before."""

    def __init__(self, cursor: sqlite3.Cursor, unit: Transition, now: str) -> None:
        self._cursor = cursor
        self._unit = unit
        self._now = now
        #: Run, status, expiry and whether consumed, as this unit leaves them; None: no such card.
        self._seen: dict[str, tuple[str, str, str | None, int] | None] = {}

    def plan(self) -> list[tuple[str, Values]]:
        unit = self._unit
        rows = [(_DECIDE, self._decided(decide)) for decide in unit.decide]
        rows += [(_CONSUME, self._consumed(suspend_id)) for suspend_id in unit.consume]
        rows += [(_PARK, self._parked(row)) for row in unit.park]
        return rows

    def _find(self, suspend_id: str) -> tuple[str, str, str | None, int] | None:
        if suspend_id not in self._seen:
            self._seen[suspend_id] = self._cursor.execute(_CARD, (suspend_id,)).fetchone()
        return self._seen[suspend_id]

    def _of_run(self, suspend_id: str) -> tuple[str, str, str | None, int]:
        found = self._find(suspend_id)
        if found is None or found[0] != self._unit.run_id:
            raise _conflict(self._cursor, self._unit, "missing")
        return found

    def _decided(self, decide: Decide) -> Values:
        suspend_id = decide.suspend_id
        run_id, status, expires_at, consumed = self._of_run(suspend_id)
        if status != "pending":
            raise _conflict(self._cursor, self._unit, "decided", suspend_id)
        if decide.refuse_expired and expires_at is not None and expires_at <= self._now:
            raise _conflict(self._cursor, self._unit, "expired", suspend_id)
        if decide.status == "pending":
            raise OurBug(f"card {suspend_id} cannot be decided as pending")
        self._seen[suspend_id] = (run_id, decide.status, expires_at, consumed)
        return decide.status, decide.decided_by, self._unit.at, suspend_id

    def _consumed(self, suspend_id: str) -> Values:
        run_id, status, expires_at, consumed = self._of_run(suspend_id)
        if status != "approved" or consumed:
            raise _conflict(self._cursor, self._unit, "consumed", suspend_id)
        self._seen[suspend_id] = (run_id, status, expires_at, 1)
        return (suspend_id,)

    def _parked(self, row: SuspensionRow) -> Values:
        unit = self._unit
        if row.run_id != unit.run_id or row.tenant_id != unit.tenant_id:
            raise OurBug(f"a unit of run {unit.run_id} cannot park a card of run {show(row.run_id)}")
        if row.expires_at is not None:
            check_time(row.expires_at)
        # A closed one is in the way too: a decision is never overwritten.
        if self._find(row.suspend_id) is not None:
            raise _conflict(self._cursor, unit, "exists", row.suspend_id)
        self._seen[row.suspend_id] = (row.run_id, row.status, row.expires_at, row.consumed)
        return (
            row.suspend_id,
            row.run_id,
            row.tenant_id,
            row.step_id,
            row.generation,
            row.reason_code,
            row.origin,
            row.contract_hash,
            row.tool,
            row.opened_at,
            row.expires_at,
            row.facts,
            row.status,
            row.decided_by,
            row.decided_at,
            int(row.consumed),
            row.tier,
            row.requester,
            row.subject,
        )


def _conflict(
    cursor: sqlite3.Cursor, unit: Transition, kind: ConflictKind, suspend_id: str | None = None
) -> Conflict:
    """What the loser is told: the run as it is, and the card it wanted to close or open, if any."""
    if suspend_id is None and unit.decide:
        suspend_id = unit.decide[0].suspend_id
    run = cursor.execute(_FULL_RUN, (unit.run_id, unit.tenant_id)).fetchone()
    card = None
    if suspend_id is not None:
        card = cursor.execute(_FULL_CARD, (suspend_id, unit.tenant_id)).fetchone()
    return Conflict(
        kind,
        run=None if run is None else run_of(run),
        suspension=None if card is None else suspension_of(card),
    )
