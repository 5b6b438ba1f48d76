"""Close: the closing text from the run's own evidence, before every terminal state.

Law: whatever ended the run, every effect that did not happen is named; an effect of unknown outcome
stays unknown and is said to be.
"""

from __future__ import annotations

from dataclasses import replace

from condor.core.observers import Closing, ended, escape_foreign, guard_closing
from condor.core.outcome import StepStatus, run_end
from condor.core.run import SYSTEM, EventKind, Principal, RunStatus, TransitionCause
from condor.ports.store import Decide
from condor.pump.closing_prose import Prose, told_before, write_prose
from condor.pump.phases.result import Done, PhaseResult
from condor.pump.plan_mutation_card import left_as
from condor.pump.run_evidence import evidence_of
from condor.pump.segment import Segment, entry
from condor.pump.staging import Staging
from condor.pump.state import is_open

_HALT_CAUSES: dict[str, TransitionCause] = {
    "denied": "denied",
    "stopped": "stopped",
    "expired": "expired",
    "idle": "idle",
}


async def close(segment: Segment) -> PhaseResult:
    """Give the run its closing text and its terminal state, in one unit; a writer's prose comes before it."""
    prose = Prose()
    if segment.ports.writer is not None or segment.state.payload("prose:0") is not None:
        prose = await write_prose(segment, evidence_of(segment))
    moves = Staging()
    status, cause = stage_end(segment, moves, prose)
    segment.ports.faults("end.staged")
    await segment.commit(moves, status=status, cause=cause)
    segment.ports.faults("end.announced")
    return Done()


async def end_without_plan(segment: Segment, code: str, said: str) -> PhaseResult:
    """A request that is not understood: the answer says what can be done, and the run has failed.

    Args:
        said: a planner's or a model's own words, foreign like all of them.
    """
    moves = Staging()
    _stage_text(segment, Closing(text=escape_foreign(said), notices=()), moves)
    _stage_terminal(segment, moves, RunStatus.FAILED, code)
    await segment.commit(moves, status=RunStatus.FAILED, cause="not-planned")
    return Done()


def stage_failure(segment: Segment, moves: Staging, why: str) -> None:
    """Stage the end of a run that a fault of ours has stopped: all that is known of its steps is said."""
    stage_withdrawals(segment, moves)
    _drop_open_steps(segment, moves)
    known = replace(evidence_of(segment), halted=ended(f"The run has failed: {why}"))
    _stage_text(segment, guard_closing(known, told_before(segment).text, whole=False), moves)
    _stage_terminal(segment, moves, RunStatus.FAILED, "bug", actor=SYSTEM.id)


def stage_end(
    segment: Segment, moves: Staging, prose: Prose | None = None
) -> tuple[RunStatus, TransitionCause]:
    """Stage closing text and end; the terminal status and its cause.

    Args:
        prose: what a writer wrote, as it is stored.
    """
    state = segment.state
    halt = state.halt
    if halt is not None:
        stage_withdrawals(segment, moves)
        _drop_open_steps(segment, moves)
    prose = prose or told_before(segment)
    evidence = evidence_of(segment)
    closing = guard_closing(evidence, prose.text, whole=prose.whole)
    segment.ports.faults("closing.composed")
    _stage_text(segment, closing, moves)
    if halt is not None and halt["cause"] == "breaker":
        some = StepStatus.SUCCEEDED in state.statuses.values()
        status = RunStatus.DEGRADED if some else RunStatus.FAILED
        cause: TransitionCause = "breaker"
    elif halt is not None:
        status, cause = RunStatus.ABORTED, _HALT_CAUSES[str(halt["cause"])]
    else:
        # INVARIANT: a run without a halt closes only after its plan was dispatched.
        assert state.graph is not None, "close without a graph"
        effects = [step.step_id for step in evidence.steps if step.effectful]
        statuses = {str(step_id): step_status for step_id, step_status in state.statuses.items()}
        status = RunStatus(run_end(statuses, state.graph.sinks, effects))
        cause = "nothing-reached" if status is RunStatus.FAILED else "nothing-left"
    _stage_terminal(segment, moves, status, cause)
    return status, cause


def stage_withdrawals(segment: Segment, moves: Staging) -> None:
    """Withdraw every card that is still open, each with its audit row."""
    halt = segment.state.halt
    by = Principal.from_json(halt["by"]) if halt else SYSTEM
    actor = by.id
    closing = {decision.suspend_id for decision in moves.decide}
    for card in segment.state.open_suspensions():
        if card.suspend_id in closing:
            continue
        moves.close_card(
            Decide(suspend_id=card.suspend_id, status="withdrawn", decided_by=actor, refuse_expired=False)
        )
        segment.payload(f"answer:{card.suspend_id}", {"by": by.to_json()}, moves)
        segment.event(
            EventKind.SUSPENSION_CLOSED,
            moves,
            stepId=card.step_id,
            suspendId=card.suspend_id,
            status="withdrawn",
            by=actor,
        )
        segment.audit(
            entry(
                segment,
                "withdrawn",
                step_id=card.step_id,
                approval_id=card.step_id,
                suspend_id=card.suspend_id,
                reason_code=card.reason_code,
                origin=card.origin,
                tool=card.tool or None,
                contract_hash=card.contract_hash,
                actor=actor,
            ),
            moves,
        )


def _drop_open_steps(segment: Segment, moves: Staging) -> None:
    """What was not begun is skipped; what was begun without a known outcome stays unknown.

    Each of them ends in the log too, once, so that whoever reads it is not left with an open call.
    """
    state = segment.state
    for step_id, status in list(state.statuses.items()):
        if not is_open(status):
            continue
        row = state.row(step_id)
        told = row.status is StepStatus.UNKNOWN
        if row.status in (StepStatus.STARTED, StepStatus.UNKNOWN):
            row = replace(row, status=StepStatus.UNKNOWN, code=row.code or "interrupted")
        else:
            code = "withdrawn" if status is StepStatus.SUSPENDED else "not_reached"
            held = left_as(state, step_id) if status is StepStatus.SUSPENDED else None
            row = replace(
                row, status=held.status if held else StepStatus.SKIPPED, code=held.code if held else code
            )
        state.put_step(row)
        moves.step(row)
        if not told:
            segment.event(
                EventKind.STEP_SETTLED,
                moves,
                stepId=step_id,
                status=row.status,
                code=row.code,
                attempt=row.attempt,
            )


def _stage_text(segment: Segment, closing: Closing, moves: Staging) -> None:
    notices = [{"kind": n.kind, "stepId": n.step_id, "text": n.text} for n in closing.notices]
    segment.payload("closing", {"text": closing.text, "notices": notices}, moves)
    segment.event(EventKind.TEXT_DONE, moves, text="closing")
    for index, notice in enumerate(closing.notices):
        facts = {"kind": notice.kind, "stepId": notice.step_id, "index": index, "text": "closing"}
        moves.event(EventKind.CLAIM_CORRECTED, facts)
        if index < closing.claims_answered:
            segment.audit(
                entry(
                    segment,
                    "corrected",
                    step_id=notice.step_id or None,
                    reason_code=notice.kind,
                    actor="system",
                ),
                moves,
            )


def _stage_terminal(
    segment: Segment, moves: Staging, status: RunStatus, cause: str, *, actor: str = ""
) -> None:
    halt = segment.state.halt
    actor = actor or (Principal.from_json(halt["by"]).id if halt else segment.state.requester.id)
    segment.event(EventKind.RUN_ENDED, moves, status=status, cause=cause)
    segment.audit(entry(segment, "run-ended", reason_code=f"{status}:{cause}", actor=actor), moves)
