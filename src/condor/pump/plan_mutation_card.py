"""The card of an edit of the plan, and how its step ended while a person is asked.

Law: it passes the same funnel as every other wait. Its contract is the edit (verb, coordinate, tools, graph
revision) and satisfies no tool policy; denied, the step ends as it had ended.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from condor.core.compiler.leaves import Suspend
from condor.core.ids import digest_of
from condor.core.outcome import StepOutcome, StepStatus
from condor.core.recovery import GateVerb
from condor.core.recovery.substitution import fidelity_of
from condor.core.suspend import Origin, ReasonCode, SuspendRequest, plan_mutation_contract, resume_schema
from condor.pump.call import who_may_answer_for

if TYPE_CHECKING:
    from condor.core.compiler.leaves.tool_call import ToolCallInput
    from condor.core.graph import Node
    from condor.core.ids import Digest, Json, StepId
    from condor.core.recovery import CallFacts, GateRule
    from condor.ports.store import SuspensionRow
    from condor.pump.segment import Segment
    from condor.pump.state import RunState

_VERB = GateVerb.RETRY_WITH_DIFFERENT_TOOL


def edit_contract(segment: Segment, node: Node, candidate: CallFacts) -> Digest:
    """What a person agrees to: this edit of this revision, to this call of this tool."""
    graph, tool = segment.state.graph, segment.ports.toolbox.find(candidate.tool)
    # INVARIANT: a leaf is a node of the compiled graph.
    assert graph is not None, "an edit without a graph"
    return plan_mutation_contract(
        verb=_VERB,
        coordinate=node.coordinate,
        from_tool=node.tool,
        to_tool=candidate.tool,
        graph_revision=graph.revision,
        call=digest_of(
            [
                tool.digest if tool is not None else "",
                candidate.args,
                fidelity_of(candidate),
                candidate.effective_tier,
            ]
        ),
    )


def ask_first(
    segment: Segment, given: ToolCallInput, outcome: StepOutcome, rule: GateRule, candidate: CallFacts
) -> Suspend:
    """Ask a person whether another tool may do it."""
    graph, node = segment.state.graph, given.node
    # INVARIANT: a leaf is a node of the compiled graph.
    assert graph is not None, "an edit without a graph"
    tool = segment.ports.toolbox.find(candidate.tool)
    old, new = given.tool.title or given.tool.name, (tool.title if tool else "") or candidate.tool
    said = outcome.message or rule.why
    headline, message = _asks(old, new, said, again=candidate.tool == given.tool.name)
    less = fidelity_of(candidate) == "degraded"
    context: list[Json] = [
        {"label": "Edit", "text": f"{_VERB} at step {node.step_id}, revision {graph.revision} of the plan"},
        {"label": "Why", "text": rule.why},
    ]
    if less:
        context.append({"label": "Beware", "text": f"“{new}” does less than “{old}”"})
    return Suspend(
        request=SuspendRequest(
            step_id=node.step_id,
            reason=ReasonCode.APPROVAL,
            origin=Origin.PLAN_MUTATION,
            contract_hash=edit_contract(segment, node, candidate),
            tool=candidate.tool,
            args=candidate.args,
            hitl_tier=candidate.declared_tier,
            gate_rule=rule.rule_id,
            resume_schema=resume_schema(ReasonCode.APPROVAL),
            headline=headline,
            message=message,
            evidence={
                "summary": f"{node.step_id}: {given.tool.name} → {candidate.tool}",
                "before": {"tool": given.tool.name},
                "after": {"tool": candidate.tool},
                "context": context,
            },
            answer_roles=who_may_answer_for(tool),
            requester_may_answer=not (tool is not None and tool.requester_excluded),
            requester_excluded=tool is not None and tool.requester_excluded,
        )
    )


def _asks(old: str, new: str, said: str, *, again: bool) -> tuple[str, str]:
    """What the card says in its headline and its sentence."""
    if again:
        return f"Ask “{old}” again", f"“{old}” asks for another way: {said}. May it be asked again?"
    return (
        f"Change the plan: “{new}” instead of “{old}”",
        f"“{old}” did not do it: {said}. May “{new}” be asked instead?",
    )


def hold(segment: Segment, step_id: StepId, outcome: StepOutcome) -> None:
    """Tell how the attempt ended, and keep it: the step is not settled while a person is asked."""
    held = {
        "status": outcome.status,
        "code": outcome.code,
        "needsReplan": outcome.needs_replan,
        "absent": outcome.absent,
    }
    segment.tell_end(step_id, outcome, held=held)


def held_outcome(state: RunState, node: Node) -> StepOutcome | None:
    """How the attempt ended that a person was asked about; None where nothing is held."""
    stored: Any = state.payload(node.payload("result"))
    held = stored.get("held") if stored else None
    if held is None:
        return None
    return StepOutcome(
        status=StepStatus(held["status"]),
        value=stored.get("value"),
        code=held["code"],
        message=stored.get("message", ""),
        needs_replan=held["needsReplan"],
        absent=held["absent"],
    )


def left_as(state: RunState, step_id: StepId) -> StepOutcome | None:
    """How a step ends whose edit is not made: as it had ended; None where it waits for something else."""
    card = latest_edit_card(state, step_id)
    return None if card is None else held_outcome(state, state.node(step_id))


def latest_edit_card(state: RunState, step_id: StepId) -> SuspensionRow | None:
    """The step's latest card about an edit of the plan."""
    found = None
    for row in state.suspensions_of(step_id):
        if row.origin == Origin.PLAN_MUTATION:
            found = row
    return found
