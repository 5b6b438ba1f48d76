"""Fail: a run that cannot go on ends as failed, with the reason and all that is known of its steps.

Law: never silent, never a guess. What was begun and is not known to have happened is said to be unknown.
"""

from __future__ import annotations

import contextlib
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING

from condor.core.audit import AuditEntry, encode_entry
from condor.core.observers import NOT_COMPLETED_PREFIX, NOT_EXECUTED_PREFIX, escape_foreign
from condor.core.outcome import SETTLED, StepStatus
from condor.core.run import SYSTEM, TERMINAL, EventKind, RunStatus, TransitionCause, check_transition
from condor.ports.encoding import encode
from condor.ports.store import Conflict, Decide, Expect, StepRow, StoredRun, SuspensionRow, Transition
from condor.pump.phases.close import stage_failure
from condor.pump.segment import LookAgain, RunLost, Segment
from condor.pump.staging import Staging
from condor.pump.state import RunState, StateUnreadable

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from condor.core.audit.entry import Decision
    from condor.pump.ports import PumpPorts

_BEGUN = frozenset({StepStatus.STARTED, StepStatus.UNKNOWN})


async def readable(stored: StoredRun, ports: PumpPorts) -> RunState:
    """The run's state; a run whose stored state is corrupt has ended as failed.

    Raises:
        StateUnreadable: it is corrupt.
    """
    try:
        return RunState.from_store(stored)
    except StateUnreadable as fault:
        if stored.run.status not in TERMINAL:
            with contextlib.suppress(Conflict):  # somebody else ended it, or took it on
                await _end_unreadable(stored, ports, str(fault))
        raise


async def end_failed(run_id: str, ports: PumpPorts, why: str, *, epoch: int) -> bool:
    """End a run that a fault of ours has stopped; False when answers keep overtaking it.

    Args:
        epoch: of the segment that failed; a run that another one has is not this one's to end.

    Raises:
        StoreUnavailable: it stands still.
    """
    for _ in range(10):
        stored = await ports.store.load(run_id)
        if (
            stored is None
            or stored.run.status in TERMINAL | {RunStatus.SUSPENDED}
            or stored.run.epoch != epoch
        ):
            return True
        try:
            await _end_readable(stored, ports, why)
        except (LookAgain, RunLost, Conflict):
            continue
        return True
    return False


async def _end_readable(stored: StoredRun, ports: PumpPorts, why: str) -> None:
    moves = Staging()
    try:
        segment = Segment(RunState.from_store(stored), ports)
        stage_failure(segment, moves, why)
    except Exception:  # noqa: BLE001 - the fault may stand in the way of its own report
        await _end_unreadable(stored, ports, why)
        return
    await segment.commit(moves, status=RunStatus.FAILED, cause="bug", raise_epoch=True)


async def _end_unreadable(stored: StoredRun, ports: PumpPorts, why: str) -> None:
    """From the rows alone: nothing more is run."""
    run = stored.run
    cause: TransitionCause = "corrupt" if run.status is RunStatus.SUSPENDED else "bug"
    check_transition(run.status, RunStatus.FAILED, cause)
    cards = [card for card in stored.suspensions if card.status == "pending"]
    closers = {f"answer:{card.suspend_id}": encode({"by": SYSTEM.to_json()}) for card in cards}
    ended = {"status": RunStatus.FAILED, "cause": cause}
    await ports.store.commit(
        Transition(
            run_id=run.run_id,
            tenant_id=run.tenant_id,
            at=ports.at(),
            expect=Expect(epoch=run.epoch, statuses=frozenset({run.status}), answers=run.answers),
            status=RunStatus.FAILED,
            raise_epoch=True,
            steps=[_left(row) for row in stored.steps if row.status not in SETTLED],
            decide=[
                Decide(
                    suspend_id=card.suspend_id, status="withdrawn", decided_by=SYSTEM.id, refuse_expired=False
                )
                for card in cards
            ],
            events=[
                *((EventKind.SUSPENSION_CLOSED, encode(_withdrawn(card))) for card in cards),
                (EventKind.TEXT_DONE, encode({"text": "closing"})),
                (EventKind.RUN_ENDED, encode(ended)),
            ],
            audit=[
                *(_row(stored, ports, "withdrawn", card.reason_code, card, closers) for card in cards),
                _row(stored, ports, "run-ended", f"failed:{cause}"),
            ],
            payloads=[
                *closers.items(),
                ("closing", encode({"text": "\n".join(_said(stored, why)), "notices": []})),
            ],
        )
    )
    ports.left.forget(run.run_id)
    ports.announce(run.run_id, run.seq + len(cards) + 2)


def _left(row: StepRow) -> StepRow:
    """A step as it is left: what was begun is unknown, what was not is skipped."""
    if row.status in _BEGUN:
        return replace(row, status=StepStatus.UNKNOWN, code=row.code or "interrupted")
    return replace(row, status=StepStatus.SKIPPED, code="run_failed")


def _withdrawn(card: SuspensionRow) -> dict[str, str]:
    return {
        "stepId": card.step_id,
        "suspendId": card.suspend_id,
        "status": "withdrawn",
        "by": SYSTEM.id,
    }


def _row(
    stored: StoredRun,
    ports: PumpPorts,
    decision: Decision,
    why: str,
    card: SuspensionRow | None = None,
    payloads: Mapping[str, bytes] = MappingProxyType({}),
) -> bytes:
    return encode_entry(
        AuditEntry(
            at=ports.at(),
            tenant_id=stored.run.tenant_id,
            run_id=stored.run.run_id,
            session_id=stored.run.session_id,
            step_id=card.step_id if card else None,
            approval_id=card.step_id if card else None,
            suspend_id=card.suspend_id if card else None,
            origin=card.origin if card else None,
            tool=(card.tool or None) if card else None,
            contract_hash=card.contract_hash if card else None,
            decision=decision,
            reason_code=why,
            actor=SYSTEM.id,
        ),
        payloads,
    )


def _said(stored: StoredRun, why: str) -> Iterator[str]:
    yield _line(
        NOT_EXECUTED_PREFIX,
        f"the stored state of this run cannot be worked with ({why}); nothing more was run.",
    )
    begun = {row.step_id for row in stored.steps if row.status in _BEGUN}
    for step_id in sorted(begun):
        known = f"it is not known whether step {step_id} happened. Check the record."
        yield _line(NOT_COMPLETED_PREFIX, known)
    for card in stored.suspensions:
        if card.status == "pending" and card.step_id not in begun:
            waited = f"{card.tool or 'an approval'} (step {card.step_id}) was still waiting for an answer."
            yield _line(NOT_COMPLETED_PREFIX, f"{waited} It was not run.")


def _line(prefix: str, said: str) -> str:
    """A notice of what is stored, which may hold anything by now."""
    return f"{prefix} {escape_foreign(' '.join(said.split()))}"
