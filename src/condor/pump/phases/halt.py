"""Halt: a denial, a stop, an expiry or an idle park ends a run from outside.

Law: dispatch stops, what is in flight finishes and is journalled, open cards are withdrawn, then the run
closes as aborted. It is a compare-and-set like every answer.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from condor.core.errors import OurBug, RunNotSuspendedError, UnknownId
from condor.core.ids import SuspendId, digest_of
from condor.core.outcome import skipped
from condor.core.run import SYSTEM, TERMINAL, EventKind, Principal, RunStatus
from condor.core.suspend import Origin
from condor.ports.store import Conflict, Decide, SuspensionRow
from condor.pump.phases.close import stage_end, stage_withdrawals
from condor.pump.phases.fail import readable
from condor.pump.plan_mutation_card import left_as
from condor.pump.segment import LookAgain, RunLost, Segment, entry
from condor.pump.staging import Staging
from condor.pump.state import StateUnreadable

if TYPE_CHECKING:
    from collections.abc import Mapping

    from condor.pump.ports import PumpPorts

#: Each retry means that an answer to the same run won meanwhile.
_RACES_MAX = 10_000


async def halt_run(segment: Segment, halt: Mapping[str, object], moves: Staging) -> None:
    """Stop the run: at once when nothing is in flight, else when what is in flight has finished."""
    state = segment.state
    state.halt = halt
    moves.absorb(segment.take_facts())
    if state.status is RunStatus.SUSPENDED:
        status, cause = stage_end(segment, moves)
        moves.absorb(segment.take_facts())
        await segment.commit(
            moves, status=status, cause=cause, halt=halt, raise_epoch=True, count_answer=True
        )
    else:
        stage_withdrawals(segment, moves)
        await segment.commit(moves, halt=halt, count_answer=True)
    segment.ports.faults("answer.committed")


async def stop(run_id: str, principal: Principal, reason: str, ports: PumpPorts) -> None:
    """Stop a run: open cards are withdrawn, what is in flight finishes, the run closes as aborted.

    Raises:
        UnknownId: no such run.
        RunNotSuspendedError: it has ended already (code ``run_not_active``).
    """
    for _ in range(_RACES_MAX):
        stored = await ports.store.load(run_id)
        if stored is None:
            raise UnknownId("run", run_id)
        if stored.run.status in TERMINAL:
            raise RunNotSuspendedError(f"run {run_id} has ended ({stored.run.status})", code="run_not_active")
        try:
            state = await readable(stored, ports)
        except StateUnreadable as fault:
            raise RunNotSuspendedError(
                f"run {run_id} cannot be read ({fault}); it has ended as failed", code="run_not_active"
            ) from None
        if state.halt is not None:
            return
        segment = Segment(state, ports)
        moves = Staging()
        halt = {"cause": "stopped", "by": principal.to_json()}
        if reason:
            segment.payload("halt", {"reason": reason}, moves)
        segment.audit(
            entry(
                segment, "stopped", reason_digest=digest_of(reason) if reason else None, actor=principal.id
            ),
            moves,
        )
        try:
            await halt_run(segment, halt, moves)
        except (LookAgain, RunLost, Conflict):
            continue
        return
    raise OurBug(f"answers to run {run_id} keep overtaking the stop")


async def end_idle(run_id: str, idle_s: float, ports: PumpPorts) -> bool:
    """End a parked run that no open card holds; False when it is no such run any more.

    Args:
        idle_s: how long it has been so, for the closing.
    """
    stored = await ports.store.load(run_id)
    if stored is None or stored.run.status is not RunStatus.SUSPENDED:
        return False
    try:
        state = await readable(stored, ports)
    except StateUnreadable:
        return True  # it has ended, as failed
    if any(True for _ in state.open_suspensions()):
        return False
    segment = Segment(state, ports)
    moves = Staging()
    segment.audit(entry(segment, "stopped", reason_code="idle", actor=SYSTEM.id), moves)
    try:
        await halt_run(segment, {"cause": "idle", "by": SYSTEM.to_json(), "idleS": idle_s}, moves)
    except (LookAgain, RunLost, Conflict):
        return False
    return True


async def expire(row: SuspensionRow, ports: PumpPorts) -> bool:
    """End the run of a card whose time is over; False when somebody answered first."""
    stored = await ports.store.load(row.run_id)
    if stored is None:
        return False
    try:
        state = await readable(stored, ports)
    except StateUnreadable:
        return True  # it has ended, as failed
    current = state.suspensions.get(SuspendId(row.suspend_id))
    if current is None or current.status != "pending" or state.status in TERMINAL:
        return False
    segment = Segment(state, ports)
    moves = Staging()
    moves.close_card(
        Decide(suspend_id=row.suspend_id, status="expired", decided_by=SYSTEM.id, refuse_expired=False)
    )
    segment.payload(f"answer:{row.suspend_id}", {"by": SYSTEM.to_json()}, moves)
    segment.event(
        EventKind.SUSPENSION_CLOSED,
        moves,
        stepId=row.step_id,
        suspendId=row.suspend_id,
        status="expired",
        by=SYSTEM.id,
    )
    segment.audit(
        entry(
            segment,
            "expired",
            step_id=row.step_id,
            approval_id=row.step_id,
            suspend_id=row.suspend_id,
            reason_code=row.reason_code,
            origin=row.origin,
            tool=row.tool or None,
            contract_hash=row.contract_hash,
            actor=SYSTEM.id,
        ),
        moves,
    )
    held = left_as(state, row.step_id) if row.origin == Origin.PLAN_MUTATION else None
    segment.settle(row.step_id, held or skipped("expired", ""))
    state.suspensions[row.suspend_id] = replace(current, status="expired", decided_by=SYSTEM.id)
    halt = {"cause": "expired", "by": SYSTEM.to_json(), "stepId": row.step_id}
    try:
        await halt_run(segment, halt, moves)
    except (LookAgain, RunLost, Conflict):
        return False
    return True
