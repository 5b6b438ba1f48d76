"""One step's call as the leaf sees it: references resolved, answers merged, approval attached."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, cast

from condor.core.compiler.leaves.tool_call import GivenApproval, ToolCallInput, call_facts
from condor.core.errors import StaleSuspension
from condor.core.ids import SCALARS, Digest, Json, StepId, own_copy
from condor.core.outcome import FULFILLED, StepOutcome, StepStatus, is_json
from condor.core.plan.reference import MISSING, Reference, find_references, resolve_references, shown_token
from condor.core.policy import HitlTier, is_supervised
from condor.core.policy.descriptor import is_missing, who_may_answer
from condor.core.recovery.substitution import asks_for_another, refusals
from condor.core.run import Principal
from condor.core.suspend import Answer, CallEdit, Origin, ReasonCode, apply_edit, read_reason_code
from condor.ports.encoding import decode
from condor.ports.tools import Invocation
from condor.pump.post_tool import card_to_pin

if TYPE_CHECKING:
    from condor.core.graph import Node
    from condor.core.policy.descriptor import ToolDescriptor
    from condor.core.recovery import CallFacts
    from condor.core.recovery.substitution import Refusal
    from condor.ports.store import SuspensionRow
    from condor.pump.ports import PumpPorts
    from condor.pump.state import RunState


_NOTHING: Final[Mapping[str, Json]] = MappingProxyType({})
_NONE_DENIED: Final[tuple[frozenset[Digest], frozenset[str]]] = (frozenset(), frozenset())


def tool_here(ports: PumpPorts, name: str) -> ToolDescriptor:
    """The tool that a card is about.

    Raises:
        StaleSuspension: this process has it not; the card stays as it is.
    """
    tool = ports.toolbox.find(name)
    if tool is None:
        raise StaleSuspension(f"there is no tool {name} in this process; start it with the tools of this run")
    return tool


def call_of(state: RunState, ports: PumpPorts, node: Node, tool: ToolDescriptor) -> ToolCallInput:
    """Everything the leaf decides on, from server state alone."""
    anew = made_anew(state, node)
    args, answers, unresolved, edits = _arguments(state, node, tool, anew)
    made = tuple([name for name in anew if name in tool.args_by_name]) if anew else ()
    cards = list(state.suspensions_of(node.step_id)) if state.suspensions else []
    gates = _gates(state, node) if state.suspensions else []
    denied_calls, denied_effects = _denied(state) if state.suspensions else _NONE_DENIED
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
        untrusted_plan=node.untrusted or bool(made),
        made_anew=made,
        today=ports.toolbox.today,
        approval=_approval_among(state, gates),
        answered=_just_answered(state, node, cards) if cards else frozenset(),
        heard=_heard(state, node, cards, edits) if cards else frozenset(),
        edits=edits,
        was_gated=bool(gates),
        was_high=bool(gates) and any(row.status == "superseded" and _showed_high(row) for row in gates),
    )


def _just_answered(state: RunState, node: Node, cards: Sequence[SuspensionRow]) -> frozenset[str]:
    """What a person filled in, where that was the last thing that the step asked."""
    if cards[-1].status != "answered" or cards[-1].tool != node.tool:
        return frozenset()
    return frozenset(answer_body(state, cards[-1]))


def _heard(
    state: RunState, node: Node, cards: Sequence[SuspensionRow], edits: Sequence[CallEdit]
) -> frozenset[str]:
    """Every argument that a person gave this step, on a question about its tool or by an edit of a card."""
    names = {name for edit in edits for name in edit.after}
    for row in cards:
        if row.tool == node.tool and row.status == "answered":
            names.update(answer_body(state, row))
    return frozenset(names)


def _gates(state: RunState, node: Node) -> list[SuspensionRow]:
    """The approval cards of the step about calls of its tool, oldest first.

    A card of another tool's call, or of an edit of the plan, is none.
    """
    return [
        row
        for row in state.suspensions_of(node.step_id)
        if read_reason_code(row.reason_code) is ReasonCode.APPROVAL
        and row.tool == node.tool
        and row.origin != Origin.PLAN_MUTATION
    ]


def _showed_high(row: SuspensionRow) -> bool:
    return bool(decode(row.facts)["policy"].get("effectiveTier") == HitlTier.HIGH)


def _arguments(
    state: RunState, node: Node, tool: ToolDescriptor, anew: Mapping[str, Json]
) -> tuple[Mapping[str, Json], Mapping[str, Json], Mapping[str, str], tuple[CallEdit, ...]]:
    """Arguments; answers that are none; arguments that a reference left empty; edits made on cards."""
    args: dict[str, Json] = {**node.args, **anew}
    edits: list[CallEdit] = []
    unresolved = _resolve(state, args) if node.uses else {}
    answers: dict[str, Json] = {}
    if state.suspensions:
        for row in state.suspensions_of(node.step_id):
            # What another tool was told, whose place this one has taken, is in the arguments already.
            if row.tool != node.tool:
                continue
            if row.status == "answered" and read_reason_code(row.reason_code) is ReasonCode.CLARIFICATION:
                for name, value in answer_body(state, row).items():
                    (args if name in tool.args_by_name else answers)[name] = value
            elif row.status == "superseded" and (changes := changes_of(state, row)):
                edits.append(_edit(state, row, args, changes))
                args = apply_edit(args, changes)
    if tool.pins and (card := card_to_pin(state, args.get(tool.pins))) is not None:
        args[tool.pins] = card
    unmet = {name: why for name, why in unresolved.items() if name not in args}
    return args, answers, unmet, tuple(edits)


def made_anew(state: RunState, node: Node) -> Mapping[str, Json]:
    """Arguments that a model made anew (``pump.regeneration``); empty where none were, or were erased."""
    stored = state.payload(node.payload("input"))
    made: Mapping[str, Json] = stored.get("args", _NOTHING) if stored else _NOTHING
    return made


def _edit(
    state: RunState, row: SuspensionRow, args: Mapping[str, Json], changes: Mapping[str, Json]
) -> CallEdit:
    editor = decided_by(state, row)
    return CallEdit(
        suspend_id=row.suspend_id,
        by=editor.id,
        display=editor.name,
        at=str(state.payload(f"answer:{row.suspend_id}")["at"]),
        before={name: args[name] for name in changes if name in args},
        after={name: value for name, value in changes.items() if value is not None},
    )


def changes_of(state: RunState, row: SuspensionRow) -> Mapping[str, Json]:
    """What the edit that superseded a card changed; empty where it was no edit, or was erased."""
    stored = state.payload(f"answer:{row.suspend_id}")
    edit: Mapping[str, Json] = stored.get("edit", _NOTHING) if stored else _NOTHING
    return edit


def _resolve(state: RunState, args: dict[str, Json]) -> dict[str, str]:
    """Put results in place of references; an argument in which one finds nothing is taken out and named.

    The plan meant it to be there, so it is asked for even where the tool could do without.
    """

    def result_of(step: str) -> Any:
        step_id = StepId(step)
        return state.result(step_id) if state.statuses.get(step_id) in FULFILLED else MISSING

    unresolved: dict[str, str] = {}
    for name, value in list(args.items()):
        if type(value) in SCALARS:
            continue
        found = resolve_references(value, result_of)
        if found is MISSING:
            del args[name]
            unresolved[name] = " and ".join(map(_nothing_at, find_references(value)))
        else:
            args[name] = cast("Json", found)
    return unresolved


def _nothing_at(reference: Reference) -> str:
    """Where the plan takes a value from."""
    path = "".join(f"/{shown_token(token)}" for token in reference.path.split("/")[1:])
    return f"step {reference.step}{f' at {path}' if path else ''}"


def answer_body(state: RunState, row: SuspensionRow) -> Mapping[str, Json]:
    """What a person answered; empty where the payload was erased."""
    stored = state.payload(f"answer:{row.suspend_id}")
    body: Mapping[str, Json] = stored.get("body", _NOTHING) if stored else _NOTHING
    return body


def decided_by(state: RunState, row: SuspensionRow) -> Principal:
    """Who closed a suspension, as texts call them."""
    stored = state.payload(f"answer:{row.suspend_id}")
    if stored and "by" in stored:
        return Principal.from_json(stored["by"])
    return Principal(id=row.decided_by or "somebody")


def given_approval(state: RunState, node: Node) -> GivenApproval | None:
    """The unconsumed answer to the step's latest approval card; an earlier one was overtaken by it."""
    return _approval_among(state, _gates(state, node))


def _approval_among(state: RunState, cards: Sequence[SuspensionRow]) -> GivenApproval | None:
    if not cards or cards[-1].status != "approved" or cards[-1].consumed:
        return None
    row = cards[-1]
    card = state.payload(f"card:{row.suspend_id}") or {}
    return GivenApproval(
        suspend_id=row.suspend_id,
        contract_hash=row.contract_hash,
        answer=Answer(reason_code=ReasonCode.APPROVAL, body=dict(answer_body(state, row))),
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


def invocation_of(
    state: RunState,
    given: ToolCallInput,
    *,
    approved_by: Principal | None = None,
    key: str = "",
    versions: Mapping[str, str] | None = None,
    left_s: float,
) -> Invocation:
    """One call of the step's tool; of an effect that is journalled, with its key.

    Args:
        left_s: seconds that the run may still be worked on.
    """
    return Invocation(
        tool=given.tool,
        args=given.args,
        run_id=state.run_id,
        step_id=given.node.step_id,
        attempt=state.attempt(given.node.step_id),
        principal=state.requester,
        approved_by=approved_by,
        key=key,
        versions=versions or {},
        answers=given.answers,
        left_s=left_s,
    )


def what_came_of_it(outcome: StepOutcome) -> str | None:
    """What an executed row says beside its decision when the call did not succeed."""
    return f"{outcome.status}:{outcome.code}" if outcome.code else None


def draws_card(given: ToolCallInput) -> str:
    """The name of the tool, if it draws a card from its result; else nothing."""
    return given.tool.name if given.tool.ui_card else ""


# -- facts of the policy that recovery may know ------------------------------------------------


def is_supervised_run(state: RunState) -> bool:
    """Whether the run was dispatched under a person's watch."""
    return is_supervised(state.autonomy)


def who_may_answer_for(tool: ToolDescriptor | None) -> frozenset[str]:
    """Roles that may answer a card about this tool; empty means everybody signed in."""
    return frozenset() if tool is None else who_may_answer(tool)


# -- stand-ins -------------------------------------------------------------------------------


def stand_ins(ports: PumpPorts, given: ToolCallInput) -> list[CallFacts]:
    """Every other tool of the alias group, with its arguments in place of this call; the same RBAC path."""
    groups = given.tool.alias_groups
    if not groups:
        return []
    found = []
    for tool in ports.toolbox.all():
        if tool.name == given.tool.name or groups.isdisjoint(tool.alias_groups):
            continue
        args, loses = _derived(given, tool)
        call = replace(
            given,
            tool=tool,
            registered=ports.toolbox.registered_class(tool.name),
            args={} if args is None else args,
            answers={},
            unresolved={},
            evidence=None,
            approval=None,
        )
        facts = call_facts(call, loses=loses)
        found.append(facts if args is not None else replace(facts, complete=False))
    return found


def refused_stand_ins(
    ports: PumpPorts, given: ToolCallInput, outcome: StepOutcome
) -> Sequence[tuple[str, Refusal]]:
    """Which tools might have done what this call failed to do and may not, each with the reason."""
    is_read = not ports.toolbox.is_effectful(given.tool)
    if outcome.status is not StepStatus.FAILED or not asks_for_another(outcome, effectful=not is_read):
        return ()
    absent = outcome.absent or is_read
    return refusals(call_facts(given), stand_ins(ports, given), absent=absent, tried=given.node.tried)


def _derived(given: ToolCallInput, tool: ToolDescriptor) -> tuple[Mapping[str, Json] | None, bool]:
    """The arguments of a stand-in, or None where they do not follow; and whether one was given up."""
    if tool.alias_args is None:
        kept = {name: value for name, value in given.args.items() if name in tool.args_by_name}
        return kept, any(not is_missing(value) for name, value in given.args.items() if name not in kept)
    try:
        derived = tool.alias_args(given.tool.name, own_copy(given.args))
        if isinstance(derived, Mapping) and is_json(derived):
            return own_copy(derived), False
    except BaseException:  # noqa: BLE001 - a hook of a tool author; what it cannot derive is not derived
        return None, False
    return None, False
