"""An explanation is the policy's own answer, and runs nothing."""

from __future__ import annotations

import itertools
from typing import Any, get_args

import pytest

from condor.core.errors import RefusedInput
from condor.core.policy import (
    POLICY_RULES,
    ArgSpec,
    HitlTier,
    PolicyClass,
    PolicyContext,
    ToolDescriptor,
    evaluate_tool_policy,
    policy_call,
)
from condor.core.policy.verdict import Promotion
from condor.tools.explain import PROMOTION_WORDS, class_of, explain_call, policy_matrix, rule_reason


async def never(*_: object, **__: object) -> object:
    """A body that no explanation may enter."""
    raise AssertionError("an explanation ran a tool")


def described(**more: Any) -> ToolDescriptor:
    """A record write of low tier."""
    options: dict[str, Any] = {
        "name": "notes.append",
        "policy_class": PolicyClass.MUTATE,
        "hitl_tier": HitlTier.LOW,
        "ops": {"create", "remove"},
        "op_arg": "op",
        "args": (ArgSpec(name="op"), ArgSpec(name="text", required=True)),
        "roles": {"clerk"},
        "function": never,
        "preview": never,
        "reconcile": never,
    }
    return ToolDescriptor(**(options | more))


CALLS: list[dict[str, Any]] = [
    {"op": "create", "text": "x"},
    {"op": "remove", "text": "x"},
    {"op": "zap"},
    {},
]


@pytest.mark.parametrize(
    ("args", "autonomy"), list(itertools.product(CALLS, ["autonomous", "guarded", "ambient", "junk"]))
)
def test_the_verdict_is_the_policys(args: dict[str, Any], autonomy: str) -> None:
    """Whatever the call and the dispatch, the explanation says what the gate would say."""
    tool = described()
    said = explain_call(tool, args, autonomy=autonomy)
    verdict = evaluate_tool_policy(policy_call(tool, args), PolicyContext(autonomy=autonomy))
    assert (said["decision"], said["ruleId"]) == (verdict.decision, verdict.rule_id)
    assert (said["effectiveTier"], said["promotions"]) == (verdict.effective_tier, list(verdict.promotions))
    assert said["why"] == rule_reason(verdict.rule_id) != ""


def test_what_is_missing_and_who_may_answer_is_said() -> None:
    """A required argument that is not there would be asked for first; nobody answers what is allowed."""
    allowed = explain_call(described(), {"op": "create"}, autonomy="autonomous")
    assert (allowed["missing"], allowed["approverRoles"]) == (["text"], [])
    asked = explain_call(described(approver_roles={"chief"}), {"op": "create"}, autonomy="guarded")
    assert (asked["roles"], asked["approverRoles"]) == (["clerk"], ["chief"])


def test_an_unknown_argument_is_refused_with_the_known_ones() -> None:
    """A misspelt argument gets no verdict that the real call would not get."""
    with pytest.raises(RefusedInput, match="no argument txt; it has op, text"):
        explain_call(described(), {"txt": "x"}, autonomy="guarded")


def test_the_matrix_is_the_table() -> None:
    """Row for row, in the order in which they are asked."""
    assert [rule.rule_id for rule in POLICY_RULES] == [row["ruleId"] for row in policy_matrix()]
    assert [rule.decision for rule in POLICY_RULES] == [row["decision"] for row in policy_matrix()]


def test_every_promotion_has_words() -> None:
    """No reason to count as high is shown without saying what it means."""
    assert set(get_args(Promotion)) == set(PROMOTION_WORDS)


def test_a_class_is_resolved_as_the_gate_does() -> None:
    """Declared first, then the legacy flag."""
    assert class_of(described()) == "mutate"
    assert class_of(described(policy_class=None, metadata={"mutating": True})) == "mutate"
    assert (
        class_of(described(policy_class=PolicyClass.READ, hitl_tier=None, ops=frozenset({"get"}))) == "read"
    )
