"""Nothing that a model can write into a call makes its verdict milder."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from condor.core.policy import (
    HitlTier,
    PolicyClass,
    PolicyContext,
    PolicyVerdict,
    ToolDescriptor,
    evaluate_tool_policy,
    policy_call,
)
from tests.core.strategies import json_objects, json_values, junk

TOOLS = [
    ToolDescriptor(name="r", policy_class=PolicyClass.READ),
    ToolDescriptor(name="low", policy_class=PolicyClass.MUTATE, hitl_tier=HitlTier.LOW),
    ToolDescriptor(name="one", policy_class=PolicyClass.MUTATE, hitl_tier=HitlTier.LOW, ops={"create"}),  # type: ignore[arg-type]
    ToolDescriptor(
        name="many",
        policy_class=PolicyClass.MUTATE,
        hitl_tier=HitlTier.LOW,
        ops=frozenset({"create", "cancel"}),
        op_arg="op",
    ),
    ToolDescriptor(name="high", policy_class=PolicyClass.MUTATE, hitl_tier=HitlTier.HIGH),
    ToolDescriptor(name="old", metadata={"mutating": True}),
    ToolDescriptor(name="run", policy_class=PolicyClass.EXEC),
    ToolDescriptor(name="say", policy_class=PolicyClass.COMMS),
]
tools = st.sampled_from(TOOLS)
contexts = st.builds(PolicyContext, autonomy=st.sampled_from(["autonomous", "guarded", "ambient", "x"]))

#: What models have been seen to write in the hope of being believed (Mastra #21303, #21195).
SMUGGLED = [
    *("autonomy", "hitlTier", "hitl_tier", "approved", "resumeData", "policyClass", "policy_class"),
    *("approverId", "effectiveTier", "plan_approval_policy", "planApprovalPolicy", "metadata", "decision"),
    *("allowed", "promotions", "ops", "op_arg", "effects", "denied_effects", "untrusted_plan", "roles"),
]
smuggled = st.dictionaries(
    st.sampled_from(SMUGGLED),
    st.one_of(
        st.sampled_from(["autonomous", "low", "read", True, {"approved": True}, "allow", [], {}]), json_values
    ),
    max_size=6,
)


def judged(tool: ToolDescriptor, args: Any, context: PolicyContext) -> PolicyVerdict:
    """The verdict on one call."""
    return evaluate_tool_policy(policy_call(tool, args), context)


@given(tools, json_objects, smuggled, contexts)
def test_nothing_in_the_arguments_makes_a_call_milder(
    tool: ToolDescriptor, args: dict[str, Any], more: dict[str, Any], context: PolicyContext
) -> None:
    """Class, tier, autonomy and approval are the server's; a word in the arguments can only tighten."""
    before, after = judged(tool, args, context), judged(tool, {**args, **more}, context)
    assert before.allowed or not after.allowed
    assert before.policy_class == after.policy_class
    assert set(before.promotions) <= set(after.promotions)
    assert set(after.promotions) - set(before.promotions) <= {"destructive-content"}


@given(tools, json_objects, smuggled, contexts)
def test_a_harmless_lie_changes_nothing(
    tool: ToolDescriptor, args: dict[str, Any], more: dict[str, Any], context: PolicyContext
) -> None:
    """Without destructive content the verdict is the very same one."""
    before, after = judged(tool, args, context), judged(tool, {**args, **more}, context)
    if "destructive-content" not in after.promotions:
        assert before == after


@given(tools, st.one_of(junk, json_objects), contexts, junk)
def test_the_join_of_descriptor_and_arguments_is_total(
    tool: ToolDescriptor, args: Any, context: PolicyContext, registered: Any
) -> None:
    """Whatever stands in a call or the registry, a verdict comes back, and it is stable."""
    first = evaluate_tool_policy(policy_call(tool, args, registered=registered), context)
    assert first == evaluate_tool_policy(policy_call(tool, args, registered=registered), context)
    if first.allowed:
        assert first.policy_class in (PolicyClass.READ, PolicyClass.MUTATE)


def _raises(_args: Any) -> Any:
    raise RuntimeError


hooks = st.one_of(
    st.just(None), st.just(_raises), st.builds(lambda said: lambda _args: said, st.one_of(st.just(()), junk))
)


@given(json_objects, hooks, contexts)
def test_no_hook_makes_a_call_milder(args: dict[str, Any], hook: Any, context: PolicyContext) -> None:
    """Whatever ``effect_of`` gives or throws, the verdict is at least as strict as without it."""
    kind = {"name": "t", "policy_class": PolicyClass.MUTATE, "hitl_tier": HitlTier.LOW}
    before = judged(ToolDescriptor(**kind), args, context)  # type: ignore[arg-type]
    after = judged(ToolDescriptor(**kind, effect_of=hook), args, context)  # type: ignore[arg-type]
    assert before.allowed or not after.allowed
    if hook is _raises:
        assert "destructive-content" in after.promotions
