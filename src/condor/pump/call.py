"""One step's call as the leaf sees it: references resolved, answers merged, approval attached."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from condor.core.compiler.leaves.tool_call import GivenApproval, ToolCallInput
from condor.core.ids import Digest, Json, StepId
from condor.core.outcome import FULFILLED, StepOutcome
from condor.core.plan.reference import FROM, MISSING, find_references, resolve_references
from condor.core.run import Principal
from condor.core.suspend import Answer, ReasonCode, read_reason_code
from condor.ports.encoding import decode
from condor.ports.tools import Invocation

if TYPE_CHECKING:
    from collections.abc import Mapping

    from condor.core.graph import Node
    from condor.core.policy.descriptor import ToolDescriptor
    from condor.ports.store import SuspensionRow
    from condor.pump.segment import PumpPorts
    from condor.pump.state import RunState


def call_of(state: RunState, ports: PumpPorts, node: Node, tool: ToolDescriptor) -> ToolCallInput:
    """Everything the leaf decides on, from server state alone."""
    args, answers, unresolved = _arguments(state, node, tool)
    denied_calls, denied_effects = _denied(state)
    return ToolCallInput(
        node=node,
        tool=tool,
        registered=ports.toolbox.registered_class(tool.name),
        args=args,
        answers=answers,
        unresolved=unresolved,
        requester=state.requester,
        autonomy=state.autonomy,
        denied_effects=denied_effects,
        denied_calls=denied_calls,
        today=ports.toolbox.today,
        approval=given_approval(state, node.step_id),
    )


def _arguments(
    state: RunState, node: Node, tool: ToolDescriptor
) -> tuple[Mapping[str, Json], Mapping[str, Json], tuple[str, ...]]:
    """Arguments; answers that are no arguments of the tool; arguments that a reference left empty."""
    args: dict[str, Json] = dict(node.args)
    unresolved = _resolve(state, args) if node.uses else []
    answers: dict[str, Json] = {}
    if state.suspensions:
        for row in state.suspensions_of(node.step_id):
            if row.status == "answered" and read_reason_code(row.reason_code) is ReasonCode.CLARIFICATION:
                for name, value in answer_body(state, row).items():
                    (args if name in tool.args_by_name else answers)[name] = value
    return args, answers, tuple(name for name in unresolved if name not in args)


def _resolve(state: RunState, args: dict[str, Json]) -> list[str]:
    """Put results in place of references; an argument in which one finds nothing is taken out and named.

    The plan meant it to be there, so it is asked for even where the tool could do without.
    """

    def result_of(step: str) -> Any:
        step_id = StepId(step)
        return state.result(step_id) if state.statuses.get(step_id) in FULFILLED else MISSING

    unresolved: list[str] = []
    for name, value in list(args.items()):
        references = list(find_references(value))
        if any(resolve_references({FROM: r.step, "path": r.path}, result_of) is MISSING for r in references):
            del args[name]
            unresolved.append(name)
        elif references:
            args[name] = cast("Json", resolve_references(value, result_of))
    return unresolved


def answer_body(state: RunState, row: SuspensionRow) -> Mapping[str, Json]:
    """What a person answered; empty where the payload was erased."""
    stored = state.payload(f"answer:{row.suspend_id}")
    return cast("Mapping[str, Json]", stored["body"]) if stored else {}


def decided_by(state: RunState, row: SuspensionRow) -> Principal:
    """Who closed a suspension, as texts call them."""
    stored = state.payload(f"answer:{row.suspend_id}")
    if stored and "by" in stored:
        return Principal.from_json(stored["by"])
    if state.halt is not None:
        # Withdrawn beside the answer, the stop or the expiry that ended the run.
        halter = Principal.from_json(state.halt["by"])
        if halter.id == row.decided_by:
            return halter
    return Principal(id=row.decided_by or "somebody")


def given_approval(state: RunState, step_id: StepId) -> GivenApproval | None:
    """The unconsumed answer to the step's latest approval card; an earlier one was overtaken by it."""
    cards = [
        row
        for row in state.suspensions_of(step_id)
        if read_reason_code(row.reason_code) is ReasonCode.APPROVAL
    ]
    if not cards or cards[-1].status != "approved" or cards[-1].consumed:
        return None
    row = cards[-1]
    card = state.payload(f"card:{row.suspend_id}") or {}
    return GivenApproval(
        suspend_id=row.suspend_id,
        contract_hash=row.contract_hash,
        answer=Answer(reason_code=ReasonCode.APPROVAL, body=answer_body(state, row)),
        alerts=tuple(card.get("evidence", {}).get("alerts", [])),
    )


def _denied(state: RunState) -> tuple[frozenset[Digest], frozenset[str]]:
    """Calls and effects that people have denied in this run."""
    calls: set[Digest] = set()
    effects: set[str] = set()
    for row in state.suspensions.values():
        if row.status == "denied":
            facts = decode(row.facts)
            if facts.get("call"):
                calls.add(Digest(facts["call"]))
            effects.update(facts.get("effects", ()))
    return frozenset(calls), frozenset(effects)


def invocation_of(state: RunState, given: ToolCallInput) -> Invocation:
    """One call of the step's tool, before it has a key."""
    return Invocation(
        tool=given.tool,
        args=given.args,
        run_id=state.run_id,
        step_id=given.node.step_id,
        attempt=state.row(given.node.step_id).attempt,
        principal=state.requester,
        answers=given.answers,
    )


def what_came_of_it(outcome: StepOutcome) -> str | None:
    """What an executed row says beside its decision when the call did not succeed."""
    return f"{outcome.status}:{outcome.code}" if outcome.code else None


def draws_card(given: ToolCallInput) -> str:
    """The name of the tool, if it draws a card from its result; else nothing."""
    return given.tool.name if given.tool.ui_card else ""
