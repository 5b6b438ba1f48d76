"""Laws of the verdict that hold for any call in any context."""

from __future__ import annotations

import dataclasses
from typing import Any, get_args

from hypothesis import given
from hypothesis import strategies as st

from condor.core.policy import (
    DESTRUCTIVE_OPS,
    POLICY_RULES,
    HitlTier,
    PolicyCall,
    PolicyClass,
    PolicyContext,
    Promotion,
    evaluate_tool_policy,
)
from tests.core.strategies import junk

classes = st.one_of(st.sampled_from([*PolicyClass, "read", "mutate", "Read"]), junk)
tiers = st.one_of(st.sampled_from([*HitlTier, "high", "low", None, "LOW"]), junk)
autonomies = st.one_of(st.sampled_from(["autonomous", "guarded", "ambient", "AUTONOMOUS"]), junk)
ops = st.one_of(st.sampled_from(["create", "delete", "Delete", "d\u0435lete", None]), junk)
op_sets = st.frozensets(st.sampled_from(["create", "update", "delete"]), max_size=3)
effects = st.frozensets(st.sampled_from(["stop Order/1", "sign Note/2"]), max_size=2)
calls = st.builds(
    PolicyCall,
    tool=st.just("t"),
    policy_class=classes,
    hitl_tier=tiers,
    op=ops,
    ops=op_sets,
    destructive_content=st.booleans(),
    effects=effects,
)
contexts = st.builds(PolicyContext, autonomy=autonomies, denied_effects=effects, untrusted_plan=st.booleans())


@given(calls, contexts)
def test_the_verdict_is_total(call: PolicyCall, context: PolicyContext) -> None:
    """Whatever stands in a call, a verdict of the matrix comes back, and the same one again."""
    got = evaluate_tool_policy(call, context)
    row = next(row for row in POLICY_RULES if row.rule_id == got.rule_id)
    assert (row.decision, row.policy_class) == (got.decision, got.policy_class)
    assert set(got.promotions) <= set(get_args(Promotion))
    assert got == evaluate_tool_policy(call, context)


@given(calls, contexts)
def test_only_two_rows_ever_allow(call: PolicyCall, context: PolicyContext) -> None:
    """What runs without a human is a read, or an unpromoted low-tier record write of a signed-in person."""
    if not evaluate_tool_policy(call, context).allowed:
        return
    said = (type(call.policy_class), call.policy_class)
    if said not in ((str, "read"), (PolicyClass, PolicyClass.READ)):
        assert said in ((str, "mutate"), (PolicyClass, PolicyClass.MUTATE))
        assert call.hitl_tier == "low"
        assert context.autonomy == "autonomous"
        assert not call.destructive_content
        assert not call.effects & context.denied_effects
        assert not context.untrusted_plan
        assert not call.ops or call.op in call.ops


@given(calls, contexts)
def test_read_is_the_only_class_that_never_asks(call: PolicyCall, context: PolicyContext) -> None:
    """A read is allowed under any watch; every other class asks under supervision."""
    read = dataclasses.replace(call, policy_class=PolicyClass.READ)
    assert evaluate_tool_policy(read, context).allowed
    watched = dataclasses.replace(context, autonomy="guarded")
    got = evaluate_tool_policy(call, watched)
    assert got.allowed == (got.policy_class is PolicyClass.READ)


@given(calls, contexts, junk)
def test_plan_approval_policy_is_no_axis(call: PolicyCall, context: PolicyContext, said: Any) -> None:
    """No value of ``plan_approval_policy`` changes any verdict (mission: ``void``-ed)."""
    there = dataclasses.replace(context, plan_approval_policy=said)
    assert evaluate_tool_policy(call, context) == evaluate_tool_policy(call, there)


@given(calls, contexts, junk)
def test_an_unknown_autonomy_is_supervised(call: PolicyCall, context: PolicyContext, said: Any) -> None:
    """Everything but exactly ``autonomous`` is watched."""
    watched = dataclasses.replace(context, autonomy="guarded")
    if not (type(said) is str and said == "autonomous"):
        there = dataclasses.replace(context, autonomy=said)
        assert evaluate_tool_policy(call, watched) == evaluate_tool_policy(call, there)


TIGHTER: list[tuple[str, dict[str, object], dict[str, object]]] = [
    ("destructive-op", {"op": "Cancel"}, {}),
    ("op-unknown", {"op": "x", "ops": frozenset({"create"})}, {}),
    ("destructive-content", {"destructive_content": True}, {}),
    ("tier-missing", {"hitl_tier": None}, {}),
    ("denied-effect", {"effects": frozenset({"e"})}, {"denied_effects": frozenset({"e"})}),
    ("untrusted-plan", {}, {"untrusted_plan": True}),
]


@given(calls, contexts, st.sampled_from(TIGHTER))
def test_a_promotion_only_tightens(
    call: PolicyCall, context: PolicyContext, more: tuple[str, dict[str, Any], dict[str, Any]]
) -> None:
    """With one more reason to ask, nothing that asked is allowed, and a record write is high and says why."""
    name, in_call, in_context = more
    before = evaluate_tool_policy(call, context)
    after = evaluate_tool_policy(
        dataclasses.replace(call, **in_call), dataclasses.replace(context, **in_context)
    )
    assert before.allowed or not after.allowed
    if after.policy_class is PolicyClass.MUTATE:
        assert name in after.promotions
        assert after.effective_tier is HitlTier.HIGH
        assert not after.allowed
    else:
        assert before == after


@given(st.sampled_from(sorted(DESTRUCTIVE_OPS)), st.data())
def test_a_destructive_verb_is_one_however_it_is_written(verb: str, data: st.DataObject) -> None:
    """Case, width, spaces, invisible characters and dashes do not hide one of the six verbs."""
    filler = st.sampled_from(
        ["", "", " ", "\u00a0", "\u200b", "\u00ad", "\x00", "-", "_", "\t", "\n", "\ufeff"]
    )
    written = "".join(
        data.draw(st.sampled_from([char, char.upper(), chr(ord(char) + 0xFEE0)])) + data.draw(filler)
        for char in verb
    )
    got = evaluate_tool_policy(
        PolicyCall(tool="t", policy_class="mutate", hitl_tier="low", op=written),
        PolicyContext(autonomy="autonomous"),
    )
    assert got.promotions == ("destructive-op",)
