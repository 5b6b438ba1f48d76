"""Close: the closing text from the run's own evidence, before every terminal state.

Law: whatever ended the run, every effect that did not happen is named; an effect of unknown outcome
stays unknown and is said to be.
"""

from __future__ import annotations

import contextlib
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from condor.core.observers import ClaimEvidence, Closing, StepEvidence, compose_closing, ended, unended
from condor.core.outcome import FULFILLED, SETTLED, StepStatus, run_end
from condor.core.recovery.limits import BY_NAME, amount_words
from condor.core.run import SYSTEM, EventKind, Principal, RunStatus, TransitionCause
from condor.ports.store import Decide, StepRow, SuspensionRow
from condor.pump.call import answer_body, changes_of, decided_by
from condor.pump.phases.result import Done, PhaseResult
from condor.pump.plan_mutation_card import left_as
from condor.pump.segment import Segment, entry, is_open
from condor.pump.staging import Staging

if TYPE_CHECKING:
    from collections.abc import Mapping

    from condor.core.graph import Node

#: Longest sentence of a tool about its success, in characters: a paragraph.
_SENTENCE_CHARS_MAX = 2_000
_HALT_CAUSES: dict[str, TransitionCause] = {
    "denied": "denied",
    "stopped": "stopped",
    "expired": "expired",
    "idle": "idle",
}


async def close(segment: Segment) -> PhaseResult:
    """Compose the closing text and give the run its terminal state, in one unit."""
    moves = Staging()
    status, cause = stage_end(segment, moves)
    segment.ports.faults("end.staged")
    await segment.commit(moves, status=status, cause=cause)
    segment.ports.faults("end.announced")
    return Done()


async def end_without_plan(segment: Segment, code: str, said: str) -> PhaseResult:
    """A request that is not understood: the answer says what can be done, and the run has failed."""
    moves = Staging()
    _stage_text(segment, Closing(text=said, notices=()), moves)
    _stage_terminal(segment, moves, RunStatus.FAILED, code)
    await segment.commit(moves, status=RunStatus.FAILED, cause="not-planned")
    return Done()


def stage_failure(segment: Segment, moves: Staging, why: str) -> None:
    """Stage the end of a run that a fault of ours has stopped: all that is known of its steps is said."""
    stage_withdrawals(segment, moves)
    _drop_open_steps(segment, moves)
    known = replace(evidence_of(segment), halted=ended(f"The run has failed: {why}"))
    _stage_text(segment, compose_closing(known), moves)
    _stage_terminal(segment, moves, RunStatus.FAILED, "bug", actor=SYSTEM.id)


def stage_end(segment: Segment, moves: Staging) -> tuple[RunStatus, TransitionCause]:
    """Stage closing text and end; the terminal status and its cause."""
    state = segment.state
    halt = state.halt
    if halt is not None:
        stage_withdrawals(segment, moves)
        _drop_open_steps(segment, moves)
    closing = compose_closing(evidence_of(segment))
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
        status = RunStatus(run_end({str(k): v for k, v in state.statuses.items()}, state.graph.sinks))
        cause = "nothing-reached" if status is RunStatus.FAILED else "nothing-left"
    _stage_terminal(segment, moves, status, cause)
    return status, cause


def stage_withdrawals(segment: Segment, moves: Staging) -> None:
    """Withdraw every card that is still open, each with its audit row."""
    halt = segment.state.halt
    actor = Principal.from_json(halt["by"]).id if halt else SYSTEM.id
    closing = {decision.suspend_id for decision in moves.decide}
    for card in segment.state.open_suspensions():
        if card.suspend_id in closing:
            continue
        moves.decide.append(
            Decide(suspend_id=card.suspend_id, status="withdrawn", decided_by=actor, refuse_expired=False)
        )
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


def _stage_terminal(
    segment: Segment, moves: Staging, status: RunStatus, cause: str, *, actor: str = ""
) -> None:
    halt = segment.state.halt
    actor = actor or (Principal.from_json(halt["by"]).id if halt else segment.state.requester.id)
    segment.event(EventKind.RUN_ENDED, moves, status=status, cause=cause)
    segment.audit(entry(segment, "run-ended", reason_code=f"{status}:{cause}", actor=actor), moves)


def evidence_of(segment: Segment) -> ClaimEvidence:
    """The run's own evidence, step by step in graph order."""
    state = segment.state
    nodes = state.graph.nodes if state.graph is not None else ()
    return ClaimEvidence(
        steps=tuple(_step_evidence(segment, node) for node in nodes), halted=_halted(segment)
    )


def _halted(segment: Segment) -> str:
    halt = segment.state.halt
    if halt is None:
        return ""
    match halt["cause"]:
        case "stopped":
            reason = (segment.state.payload("halt") or {}).get("reason")
            why = f" ({unended(reason)})" if reason else ""
            return f"The run was stopped by {Principal.from_json(halt['by']).name}{why}."
        case "breaker":
            return _why_the_breaker_opened(halt["stop"])
        case "expired":
            return "The run ended because an approval was not given in time."
        case "idle":
            return f"The run ended because it was parked for {halt['idleS']:g} s without a card to answer."
        case _:
            return ""


def _why_the_breaker_opened(stop: Mapping[str, Any]) -> str:
    if stop["limit"] not in BY_NAME:
        return "The run was stopped: the second look at an edit of its plan said to stop."
    used, most = amount_words(stop["used"]), amount_words(stop["most"])
    return (
        f"The run was stopped by its circuit breaker: {used} of at most {most} {stop['unit']} were used up."
    )


def _step_evidence(segment: Segment, node: Node) -> StepEvidence:
    state = segment.state
    row: StepRow = state.row(node.step_id)
    cards = list(state.suspensions_of(node.step_id))
    denial = next((card for card in cards if card.status == "denied"), None)
    result = state.payload(node.payload("result")) or {}
    tool = segment.ports.toolbox.find(node.tool) if node.kind == "tool" else None
    status = state.statuses[node.step_id]
    return StepEvidence(
        step_id=node.step_id,
        tool=node.tool,
        noun=_noun(segment, node),
        effectful=tool is None or segment.ports.toolbox.is_effectful(tool),
        status=status if status in SETTLED else _open_as(status),
        code=row.code,
        message=str(result.get("message", "")),
        sentence=_sentence(segment, node, result.get("value")) if status in FULFILLED else "",
        declined_by=decided_by(state, denial).name if denial is not None else "",
        reason=str(answer_body(state, denial).get("reason") or "") if denial is not None else "",
        attempted=row.key is not None,
        gated=bool(cards),
        waiting=bool(cards) and cards[-1].status in ("pending", "withdrawn"),
        **_stood_in(segment, node),
        **_approved(segment, cards),
    )


def _approved(segment: Segment, cards: list[SuspensionRow]) -> dict[str, Any]:
    """What people wrote beside the approval, and who edited the call before it."""
    state = segment.state
    granted = next((card for card in reversed(cards) if card.status == "approved"), None)
    if granted is None:
        return {}
    edited = dict.fromkeys(decided_by(state, card).name for card in cards if changes_of(state, card))
    found: dict[str, Any] = {"edited_by": tuple(edited)}
    if reason := str(answer_body(state, granted).get("reason") or "").strip():
        found |= {"approved_by": decided_by(state, granted).name, "approved_why": reason}
    return found


def _stood_in(segment: Segment, node: Node) -> dict[str, Any]:
    """For what the step's tool stands in, and why, as texts say it."""
    if not node.instead_of:
        return {}
    first = segment.state.payload(replace(node, since=1).payload("result")) or {}
    return {
        "instead_of": _noun(segment, replace(node, tool=node.instead_of)),
        "instead_why": str(first.get("message", "")).rstrip(". "),
        "stand_in": _noun(segment, node),
    }


def _noun(segment: Segment, node: Node) -> str:
    """What the effect is called: the descriptor's words, never the plan's, which a model may have written."""
    if node.kind == "approval":
        return f"the approval “{node.title}”"
    tool = segment.ports.toolbox.find(node.tool)
    if tool is None:
        return node.tool
    return tool.noun or f"“{tool.title or tool.name}”"


def _open_as(status: StepStatus) -> StepStatus:
    return StepStatus.UNKNOWN if status is StepStatus.UNKNOWN else StepStatus.SKIPPED


def _sentence(segment: Segment, node: Node, value: Any) -> str:
    """The tool's own sentence, or a plain one where it has none or throws."""
    state = segment.state
    if node.kind == "approval":
        return ended(f"Approved: “{node.title}”")
    tool = segment.ports.toolbox.find(node.tool)
    if tool is None:
        return f"{node.tool}: done."
    called = state.payload(node.payload("args")) or {}
    if tool.report is not None:
        with contextlib.suppress(Exception):  # a hook of a tool author cannot cost the run its closing
            said = tool.report(called.get("args", {}), value)
            if isinstance(said, str) and said.strip():
                return said[:_SENTENCE_CHARS_MAX].encode("utf-8", "replace").decode()
    return f"{tool.title or tool.name}: done."
