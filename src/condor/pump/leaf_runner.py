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
    ask_for_another,
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
from condor.pump.call import call_of, given_approval, invocation_of, what_came_of_it
from condor.pump.card_subject import with_subject
from condor.pump.effects import resume_effect, run_effect
from condor.pump.recovery import conclude, take_up
from condor.pump.regeneration import regenerated
from condor.pump.retries import may_try_again
from condor.pump.segment import LookAgain, Segment, entry
from condor.pump.time_left import left_s, out_of_time

if TYPE_CHECKING:
    from condor.core.graph import Node
    from condor.core.suspend import CardEvidence
    from condor.pump.plan_edit import Audit
    from condor.pump.staging import Staging


async def advance(segment: Segment, node: Node) -> Suspend | None:
    """Take one step as far as it goes; None when it is settled.

    Raises:
        LookAgain: an answer came between; the step is pending again.
    """
    try:
        if node.kind == "approval":
            return _approval(segment, node)
        asked: Suspend | None = await _tool_call(segment, node)
        return asked if asked is None else await with_subject(segment, asked)
    except LookAgain:
        if segment.state.statuses[node.step_id] not in SETTLED:
            segment.state.statuses[node.step_id] = StepStatus.PENDING
        segment.wake.set()
        return None


def _approval(segment: Segment, node: Node) -> Suspend | None:
    given = given_approval(segment.state, node)
    leaf = check_leaf(
        approval_leaf(ApprovalInput(node=node, answer=given.answer if given else None)), node.step_id
    )
    if isinstance(leaf, Suspend):
        return leaf
    if not isinstance(leaf, Settle):
        raise LeafContractError(f"the approval leaf of step {node.step_id} wants to run something")
    if given is not None:
        segment.facts.use_up(given.suspend_id)
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
    row = state.steps.get(node.step_id)
    begun = (StepStatus.STARTED, StepStatus.UNKNOWN)
    if row is not None and row.key is not None and row.status in begun:
        return await resume_effect(segment, given)
    if state.suspensions:
        waited, asked = await take_up(segment, given, no_audit)
        if waited:
            return asked
    return await _as_the_leaf_says(segment, given, seen)


async def _as_the_leaf_says(segment: Segment, given: ToolCallInput, seen: int) -> Suspend | None:
    while True:
        leaf = check_leaf(tool_call_leaf(given), given.node.step_id)
        match leaf:
            case NeedEvidence():
                looked = await _look(segment, given)
                if isinstance(looked, Suspend):
                    return looked
                if isinstance(looked, StepOutcome):
                    return await conclude(segment, given, looked, no_audit)
                given = replace(given, evidence=looked)
            case Suspend():
                again = await _anew(segment, given, leaf)
                if not isinstance(again, ToolCallInput):
                    return again
                given = again
            case Settle(outcome=outcome):
                return await conclude(segment, given, outcome, _audit_of_unrun(segment, given))
            case Execute():
                return await _execute(segment, given, leaf, seen)


async def _execute(segment: Segment, given: ToolCallInput, leaf: Execute, seen: int) -> Suspend | None:
    late = out_of_time(segment, given.node.step_id)
    if late is not None:
        return await conclude(segment, given, late, _audit_of_unrun(segment, given))
    if segment.ports.toolbox.is_effectful(given.tool):
        return await run_effect(segment, given, leaf, seen=seen)
    return await _run_read(segment, given, leaf)


async def _anew(segment: Segment, given: ToolCallInput, leaf: Suspend) -> ToolCallInput | Suspend | None:
    """The call with arguments that a model made anew; else what the step waits for, or nothing."""
    again = await regenerated(segment, given, leaf)
    if isinstance(again, StepOutcome):
        return await conclude(segment, given, again, no_audit)
    return leaf if again is None else again


async def _look(segment: Segment, given: ToolCallInput) -> CardEvidence | StepOutcome | Suspend:
    """What the record looks like; or, where it cannot be shown: another question, or how the step fails."""
    while True:
        late = out_of_time(segment, given.node.step_id)
        if late is not None:
            return late
        try:
            call = invocation_of(segment.state, given, left_s=left_s(segment))
            return await segment.ports.toolbox.preview(call)
        except ToolError as error:
            outcome = failed(error.code, str(error), may_retry=error.may_retry)
        spent = await may_try_again(segment, given, outcome)
        if spent is None:
            asked = None if outcome.may_retry else ask_for_another(given, outcome.message)
            return asked or outcome
        segment.facts.absorb(spent)


def no_audit(_outcome: StepOutcome) -> None:
    """Nothing was called, or it is on record already."""


def _audit_of_unrun(segment: Segment, given: ToolCallInput) -> Audit:
    def stage(outcome: StepOutcome) -> None:
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

    return stage if segment.ports.toolbox.is_effectful(given.tool) else no_audit


# -- reads -----------------------------------------------------------------------------------


async def _run_read(segment: Segment, given: ToolCallInput, leaf: Execute) -> Suspend | None:
    node, state = given.node, segment.state
    args = node.payload("args")
    segment.event(
        EventKind.STEP_STARTED,
        stepId=node.step_id,
        tool=given.tool.name,
        args=args,
        attempt=node.since if node.since > 1 else None,
    )
    segment.payload(args, {"args": leaf.args})
    while True:
        call = invocation_of(state, given, left_s=left_s(segment))
        returned = await segment.ports.toolbox.invoke(call)
        outcome = classify_step_outcome(returned, effectful=False)
        if isinstance(outcome, NeedInput):
            return ask_for_input(given, outcome)
        spent = await may_try_again(segment, given, outcome) if outcome.may_retry else None
        if spent is None:
            break
        await _begin_again(segment, given, spent)

    def audit(outcome: StepOutcome) -> None:
        segment.audit(
            entry(
                segment,
                "executed",
                step_id=node.step_id,
                approval_id=node.step_id,
                tool=given.tool.name,
                policy_class=leaf.verdict.policy_class,
                rule_id=leaf.verdict.rule_id,
                reason_code=what_came_of_it(outcome),
            )
        )

    return await conclude(segment, given, outcome, audit)


async def _begin_again(segment: Segment, given: ToolCallInput, spent: Staging) -> None:
    """The next attempt of a read, stored with its charge before the tool is entered again."""
    step_id = given.node.step_id
    row = segment.state.row(step_id)
    segment.facts.absorb(spent)
    segment.note_step(replace(row, attempt=row.attempt + 1))
    segment.event(
        EventKind.STEP_STARTED,
        stepId=step_id,
        tool=given.tool.name,
        args=given.node.payload("args"),
        attempt=row.attempt + 1,
    )
    await segment.commit()
