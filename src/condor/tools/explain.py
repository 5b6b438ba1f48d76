"""Explaining the policy: its matrix, why a rule asks, and the verdict that a call would get.

Law: nothing is run, stored or read from a record; an explanation is the policy's own answer.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from condor.core.errors import RefusedInput
from condor.core.plan.reference import shown_token
from condor.core.policy import (
    POLICY_RULES,
    Autonomy,
    PolicyContext,
    evaluate_tool_policy,
    policy_call,
    resolve_policy_class,
)
from condor.core.policy.descriptor import approvers_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from condor.core.ids import Json
    from condor.core.policy import PolicyRule, ToolDescriptor

_WHY = {rule.rule_id: rule.why for rule in POLICY_RULES}

#: Unknown arguments that a refusal names.
_NAMED_MAX = 5
#: Why a low tier counts as high, in words.
PROMOTION_WORDS: Mapping[str, str] = {
    "destructive-op": "the op takes something away",
    "op-unknown": "the op is not one of the tool's own",
    "destructive-content": "the arguments take something away",
    "tier-missing": "the tool declares no tier",
    "denied-effect": "a person has denied the same effect in this run",
    "untrusted-plan": "the plan was made after untrusted text entered the run",
}


def rule_reason(rule_id: str) -> str:
    """Why a rule decides as it does, in one line; empty for a rule that is not there."""
    return _WHY.get(rule_id, "")


def class_of(tool: ToolDescriptor) -> str:
    """The effect class of a tool as its descriptor resolves."""
    return str(resolve_policy_class(tool.policy_class, None, tool.metadata))


def tool_json(tool: ToolDescriptor) -> dict[str, Json]:
    """A tool as it is listed: its effect, who may call and approve it, what it takes.

    Returns:
        ``approverRoles`` as the tool has them; ``approvers`` resolved; ``isShut`` where nobody approves.
    """
    approvers = approvers_of(tool)
    return {
        "name": tool.name,
        "title": tool.title,
        "description": tool.description,
        "policyClass": class_of(tool),
        "hitlTier": tool.hitl_tier,
        "ops": sorted(tool.ops),
        "opArg": tool.op_arg,
        "roles": sorted(tool.roles),
        "approverRoles": sorted(tool.approver_roles),
        "approvers": approvers.to_json(),
        "isShut": approvers.nobody,
        "requesterExcluded": tool.requester_excluded,
        "aliasGroup": tool.alias_group,
        "args": [
            {"name": a.name, "label": a.label, "type": a.type, "required": a.required, "hint": dict(a.hint)}
            for a in tool.args
        ],
    }


def policy_matrix() -> list[dict[str, Json]]:
    """The rows of the matrix in the order in which they are asked; None matches anything."""
    return [
        {
            "ruleId": rule.rule_id,
            "policyClass": rule.policy_class,
            "effectiveTier": rule.tier,
            "dispatch": _dispatch_of(rule),
            "decision": rule.decision,
            "why": rule.why,
        }
        for rule in POLICY_RULES
    ]


def _dispatch_of(rule: PolicyRule) -> str | None:
    if rule.supervised is None:
        return None
    return "guarded, ambient" if rule.supervised else "autonomous"


def explain_call(
    tool: ToolDescriptor, args: Mapping[str, Json], *, autonomy: str, registered: object = None
) -> dict[str, Json]:
    """The verdict on a call whose arguments are these, dispatched under this autonomy.

    Args:
        registered: what the static registry says of the tool's effect class.

    Raises:
        RefusedInput: an argument that the tool does not have.
    """
    unknown = sorted(set(args) - set(tool.args_by_name)) if tool.args_closed else []
    if unknown:
        raise RefusedInput(
            f"{tool.name} has no argument {', '.join(map(shown_token, unknown[:_NAMED_MAX]))}"
            f"{f' and {len(unknown) - _NAMED_MAX} more' if len(unknown) > _NAMED_MAX else ''}; "
            f"it has {', '.join(tool.args_by_name) or 'none'}",
            code="unknown_argument",
        )
    call = policy_call(tool, args, registered=registered)
    verdict = evaluate_tool_policy(call, PolicyContext(autonomy=autonomy))
    approvers = approvers_of(tool)
    missing = [spec.name for spec in tool.args if spec.is_required_with(args) and args.get(spec.name) is None]
    return {
        "tool": tool.name,
        "op": call.op if isinstance(call.op, str) else None,
        "autonomy": autonomy,
        "decision": verdict.decision,
        "ruleId": verdict.rule_id,
        "policyClass": verdict.policy_class,
        "hitlTier": tool.hitl_tier,
        "effectiveTier": verdict.effective_tier,
        "promotions": list(verdict.promotions),
        "why": rule_reason(verdict.rule_id),
        "roles": sorted(tool.roles),
        "approverRoles": [] if verdict.allowed else sorted(approvers.roles),
        "approvers": None if verdict.allowed else approvers.to_json(),
        "missing": list(missing),
    }


class Explains(Protocol):
    """The policy's verdict on a call, as ``explain_call`` tells it."""

    def __call__(self, tool: str, args: Mapping[str, Json], *, autonomy: str) -> Mapping[str, Json]:
        """Of a tool by its name."""
        ...


def when_asked(tool: ToolDescriptor, explain: Explains) -> str:
    """When a call that its arguments do not raise asks a person.

    Returns:
        ``never``, ``supervised`` (unless autonomous), ``by-op`` (always for some ops) or ``always``.
    """

    def asked(autonomy: Autonomy) -> set[bool]:
        verdicts = (explain(tool.name, args, autonomy=autonomy) for args in _plain_calls(tool))
        return {verdict["decision"] != "allow" for verdict in verdicts}

    alone = asked(Autonomy.AUTONOMOUS)
    if True in alone:
        return "by-op" if False in alone else "always"
    return "supervised" if True in asked(Autonomy.GUARDED) else "never"


def _plain_calls(tool: ToolDescriptor) -> list[dict[str, Json]]:
    """A call of each op, with nothing but the op."""
    return [{tool.op_arg: op} for op in sorted(tool.ops)] if tool.op_arg is not None else [{}]


def explain_change(
    now: ToolDescriptor, then: ToolDescriptor, *, registered: object = None
) -> list[dict[str, Json]]:
    """The verdict on a call of each op under each autonomy, of a tool as it is and as it would be."""
    found: list[dict[str, Json]] = []
    for args in _plain_calls(now):
        for autonomy in Autonomy:
            one, other = (
                explain_call(tool, args, autonomy=autonomy, registered=registered) for tool in (now, then)
            )
            found.append({"op": one["op"], "autonomy": autonomy, "now": one, "then": other})
    return found


__all__ = [
    "PROMOTION_WORDS",
    "class_of",
    "explain_call",
    "explain_change",
    "policy_matrix",
    "rule_reason",
    "tool_json",
    "when_asked",
]
