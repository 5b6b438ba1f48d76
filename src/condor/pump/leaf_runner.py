"""One leaf at work: ask the pure leaf, do what it says.

Law: the leaf alone says whether a tool runs; a step that is journalled without an outcome is not asked
again but found out about (``pump.effects``).
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from condor.core.compiler.leaves import Execute, NeedEvidence, Settle, Suspend, check_leaf
from condor.core.compiler.leaves.approval import ApprovalInput, approval_leaf
from condor.core.compiler.leaves.tool_call import (
    ToolCallInput,
    ask_for_input,
    tool_call_leaf,
)
from condor.core.errors import LeafContractError, ToolError
from condor.core.outcome import (
    SETTLED,
    NeedInput,
    StepOutcome,
    StepStatus,
    classify_step_outcome,
    failed,
)
from condor.core.run import EventKind
from condor.pump.call import call_of, draws_card, given_approval, invocation_of, what_came_of_it
from condor.pump.effects import resume_effect, run_effect
from condor.pump.segment import LookAgain, Segment, entry

if TYPE_CHECKING:
    from condor.core.graph import Node


async def advance(segment: Segment, node: Node) -> Suspend | None:
    """Take one step as far as it goes; None when it is settled.

    Raises:
        LookAgain: an answer came between; the step is pending again.
    """
    try:
        if node.kind == "approval":
            return _approval(segment, node)
        return await _tool_call(segment, node)
    except LookAgain:
        if segment.state.statuses[node.step_id] not in SETTLED:
            segment.state.statuses[node.step_id] = StepStatus.PENDING
        segment.wake.set()
        return None


def _approval(segment: Segment, node: Node) -> Suspend | None:
    given = given_approval(segment.state, node.step_id)
    leaf = check_leaf(
        approval_leaf(ApprovalInput(node=node, answer=given.answer if given else None)), node.step_id
    )
    if isinstance(leaf, Suspend):
        return leaf
    if not isinstance(leaf, Settle):
        raise LeafContractError(f"the approval leaf of step {node.step_id} wants to run something")
    if given is not None:
        segment.facts.consume.append(given.suspend_id)
    segment.settle(node.step_id, leaf.outcome)
    return None


async def _tool_call(segment: Segment, node: Node) -> Suspend | None:
    ports, state = segment.ports, segment.state
    tool = ports.toolbox.find(node.tool)
    if tool is None:
        segment.settle(node.step_id, failed("unknown_tool", f"there is no tool {node.tool} in this process"))
        return None
    seen = state.answers
    given = call_of(state, ports, node, tool)
    if state.row(node.step_id).key is not None and state.row(node.step_id).status in (
        StepStatus.STARTED,
        StepStatus.UNKNOWN,
    ):
        return await resume_effect(segment, given)
    while True:
        leaf = check_leaf(tool_call_leaf(given), node.step_id)
        match leaf:
            case NeedEvidence():
                try:
                    evidence = await ports.toolbox.preview(invocation_of(segment.state, given))
                except ToolError as error:
                    segment.settle(node.step_id, failed(error.code, str(error), may_retry=error.may_retry))
                    return None
                given = replace(given, evidence=evidence)
            case Suspend():
                return leaf
            case Settle(outcome=outcome):
                _settle_unrun(segment, given, outcome)
                return None
            case Execute():
                if ports.toolbox.is_effectful(tool):
                    return await run_effect(segment, given, leaf, seen=seen)
                return await _run_read(segment, given, leaf)


def _settle_unrun(segment: Segment, given: ToolCallInput, outcome: StepOutcome) -> None:
    segment.settle(given.node.step_id, outcome)
    if segment.ports.toolbox.is_effectful(given.tool):
        segment.audit(
            entry(
                segment,
                "stopped",
                step_id=given.node.step_id,
                approval_id=given.node.step_id,
                reason_code=outcome.code,
                tool=given.tool.name,
            )
        )


# -- reads -----------------------------------------------------------------------------------


async def _run_read(segment: Segment, given: ToolCallInput, leaf: Execute) -> Suspend | None:
    step_id = given.node.step_id
    segment.event(EventKind.STEP_STARTED, stepId=step_id, tool=given.tool.name, args=f"args:{step_id}")
    segment.payload(f"args:{step_id}", {"args": leaf.args})
    returned = await segment.ports.toolbox.invoke(invocation_of(segment.state, given))
    outcome = classify_step_outcome(returned, effectful=False)
    if isinstance(outcome, NeedInput):
        return ask_for_input(given, outcome)
    segment.settle(step_id, outcome, drawn_by=draws_card(given))
    segment.audit(
        entry(
            segment,
            "executed",
            step_id=step_id,
            approval_id=step_id,
            tool=given.tool.name,
            policy_class=leaf.verdict.policy_class,
            rule_id=leaf.verdict.rule_id,
            reason_code=what_came_of_it(outcome),
        )
    )
    return None
