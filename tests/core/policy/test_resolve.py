"""From a descriptor and arguments to what is judged: classes, ops, effects, hooks that misbehave."""

from __future__ import annotations

from typing import Any, cast

import pytest

from condor.core.policy import (
    Effect,
    HitlTier,
    PolicyClass,
    PolicyContext,
    ToolDescriptor,
    effective_tier,
    evaluate_tool_policy,
    policy_call,
    resolve_op,
    resolve_policy_class,
)
from condor.core.policy.resolve import effect_keys, effects_of

ALONE = PolicyContext(autonomy="autonomous")


def low(**more: Any) -> ToolDescriptor:
    """A low-tier record write."""
    return ToolDescriptor(
        **{"name": "note.update", "policy_class": PolicyClass.MUTATE, "hitl_tier": HitlTier.LOW, **more}
    )


def verdict(tool: ToolDescriptor, args: Any, context: PolicyContext = ALONE, **more: Any) -> Any:
    """The verdict on one call."""
    return evaluate_tool_policy(policy_call(tool, args, **more), context)


@pytest.mark.parametrize(
    ("expected", "declared", "registered", "metadata"),
    [
        (PolicyClass.EXEC, PolicyClass.EXEC, PolicyClass.READ, {"mutating": True}),
        (PolicyClass.COMMS, None, PolicyClass.COMMS, {"mutating": True}),
        (PolicyClass.MUTATE, None, None, {"mutating": True}),
        (PolicyClass.MUTATE, None, None, {"mutating": "false"}),
        (PolicyClass.READ, None, None, {}),
        (PolicyClass.READ, None, None, {"mutating": False}),
        ("reed", "reed", PolicyClass.READ, {}),
        ("reed", None, "reed", {}),
        (0, 0, None, {}),
    ],
)
def test_the_class_is_the_first_that_is_there(
    expected: object, declared: object, registered: object, metadata: dict[str, Any]
) -> None:
    """Declared, else static registry, else ``metadata.mutating``, else read; a wrong word stays wrong."""
    assert expected == resolve_policy_class(declared, registered, metadata)


def test_a_legacy_tool_asks_always() -> None:
    """A tool with ``metadata.mutating`` alone is a high-tier write (the seed's 28 tools that slipped by)."""
    tool = ToolDescriptor(name="flag.set", metadata={"mutating": True})
    got = verdict(tool, {"flag": "falls"})
    assert (got.rule_id, got.promotions) == ("mutate.high-tier-always-approval", ("tier-missing",))


def test_the_static_registry_counts_for_the_tier_too() -> None:
    """``effective_tier`` judges the same class as the verdict."""
    tool = ToolDescriptor(name="old.tool")
    assert effective_tier(tool, {}, ALONE, registered=PolicyClass.MUTATE) is HitlTier.HIGH
    assert effective_tier(tool, {}, ALONE, registered=PolicyClass.READ) is None
    assert effective_tier(low(), {}, ALONE) is HitlTier.LOW


@pytest.mark.parametrize("registered", [PolicyClass.READ, "read"])
def test_a_read_that_says_it_writes_asks(registered: object) -> None:
    """Registered read beside ``metadata.mutating`` is a contradiction, and a contradiction fails closed."""
    tool = ToolDescriptor(name="billing.write", metadata={"mutating": True})
    assert verdict(tool, {}, registered=registered).rule_id == "unknown.fail-closed"


def test_a_class_that_is_no_class_asks() -> None:
    """A static registry with a misspelt class does not open a gate."""
    tool = ToolDescriptor(name="old.tool")
    assert verdict(tool, {}, registered="reed").rule_id == "unknown.fail-closed"


def test_a_read_is_not_looked_into() -> None:
    """A search for deleted orders is a search."""
    tool = ToolDescriptor(name="order.search", policy_class=PolicyClass.READ)
    assert verdict(tool, {"status": "entered-in-error", "op": "delete"}).rule_id == "read.allow"
    old = ToolDescriptor(name="order.search")
    assert verdict(old, {"status": "stopped"}, registered="read").rule_id == "read.allow"


MANY = frozenset({"create", "update", "discontinue"})


@pytest.mark.parametrize(
    ("expected", "args"),
    [
        ((), {"op": "create"}),
        (("destructive-op",), {"op": "discontinue"}),
        (("op-unknown",), {}),
        (("op-unknown",), {"op": None}),
        (("op-unknown",), {"op": 1}),
        (("op-unknown",), {"op": ["create"]}),
        (("op-unknown",), {"op": {"create": 1}}),
        (("op-unknown",), {"op": "Create"}),
        (("op-unknown",), {"op": "create "}),
        (("op-unknown",), {"op": "frobnicate"}),
        (("destructive-op", "op-unknown"), {"op": "purge"}),
        (("destructive-op", "op-unknown"), {"op": "delete"}),
        (("destructive-op", "op-unknown"), {"op": "Discontinue"}),
        (("op-unknown",), {"OP": "create"}),
    ],
)
def test_an_op_outside_the_closed_set_promotes(expected: tuple[str, ...], args: dict[str, Any]) -> None:
    """Missing, of another type, in another case or unknown: not in the set, so a person is asked."""
    got = verdict(low(ops=MANY, op_arg="op"), args)
    assert expected == got.promotions
    assert got.allowed == (not expected)


def test_the_single_op_of_a_tool_is_its_op() -> None:
    """A tool whose only verb removes is high on every call, whatever its declared tier and arguments."""
    tool = low(name="order.cancel", ops={"cancel"})
    assert resolve_op(tool, {"op": "create"}) == "cancel"
    assert verdict(tool, {"order": "x"}).promotions == ("destructive-op",)


def test_a_verb_in_the_arguments_of_a_tool_without_ops_promotes() -> None:
    """A tool that declares no ops cannot be told to delete unseen."""
    assert verdict(low(), {"op": "delete", "id": "m1"}).promotions == ("destructive-content",)
    assert verdict(low(ops={"create"}), {"op": "delete"}).promotions == ("destructive-content",)
    assert verdict(low(), {"op": "create"}).allowed


def test_a_destructive_op_is_named_once() -> None:
    """A card says what promoted the call, not the same thing twice; but all of it."""
    tool = low(ops=MANY, op_arg="op")
    assert verdict(tool, {"op": "discontinue"}).promotions == ("destructive-op",)
    both = {"op": "discontinue", "status": "stopped"}
    assert verdict(tool, both).promotions == ("destructive-op", "destructive-content")


@pytest.mark.parametrize("args", [None, [], "x", 1, {1: 2}, {"x": b"1"}])
def test_arguments_that_are_no_object_are_asked_about(args: Any) -> None:
    """The verdict is total over arguments too."""
    assert not verdict(low(ops=MANY, op_arg="op"), args).allowed
    if args is not None and not isinstance(args, list | str | int):
        assert not verdict(low(), args).allowed


def _hold(args: Any) -> tuple[Effect, ...]:
    return (Effect(verb="hold", target=str(args["order"])),)


def _throws(_args: Any) -> tuple[Effect, ...]:
    raise KeyError("order")


def _empties(args: Any) -> tuple[Effect, ...]:
    args.clear()
    return ()


def _empties_deep(args: Any) -> tuple[Effect, ...]:
    args["entry"][0]["request"]["method"] = "GET"
    return ()


HOOKS: dict[str, Any] = {
    "throws": _throws,
    "gives nothing": lambda _args: None,
    "gives words": lambda _args: ("stop",),
    "gives one that is none": lambda _args: (Effect(verb="a", target="b"), {"destructive": False}),
    "gives a number": lambda _args: 1,
}


@pytest.mark.parametrize("name", HOOKS)
def test_a_hook_that_fails_promotes(name: str) -> None:
    """Whatever goes wrong in ``effect_of``, the call counts as a removal that nobody could read."""
    tool = low(effect_of=HOOKS[name])
    assert effects_of(tool, {}) == (Effect(verb="unknown", target="note.update", destructive=True),)
    assert verdict(tool, {}).promotions == ("destructive-content",)


@pytest.mark.parametrize("hook", [_empties, _empties_deep])
def test_a_hook_cannot_hide_what_a_call_says(hook: Any) -> None:
    """What ``effect_of`` does to its arguments changes neither the verdict nor what runs."""
    args = {"entry": [{"request": {"method": "DELETE"}}], "pair": (1, {"status": "active"})}
    before = repr(args)
    assert verdict(low(effect_of=hook), args).promotions == ("destructive-content",)
    assert before == repr(args)


def test_a_hook_sees_the_effect_and_only_tightens() -> None:
    """An effect is named for the denials of this run; only a destructive one promotes by itself."""
    tool = low(effect_of=_hold)
    call = policy_call(tool, {"order": "Order/1"})
    assert call.effects == frozenset({"hold Order/1"}) == effect_keys(effects_of(tool, {"order": "Order/1"}))
    assert evaluate_tool_policy(call, ALONE).allowed
    denied = PolicyContext(autonomy="autonomous", denied_effects=frozenset({"hold Order/1"}))
    assert evaluate_tool_policy(call, denied).promotions == ("denied-effect",)
    loud = low(effect_of=lambda _args: [Effect(verb="hold", target="x", destructive=True)])
    assert verdict(loud, {}).promotions == ("destructive-content",)


def test_a_denied_effect_is_found_behind_another_tool() -> None:
    """The same end by another tool is the same effect: a person who said no is asked again."""
    first, second = low(name="a", effect_of=_hold), low(name="b", effect_of=_hold)
    denied = effect_keys(effects_of(first, {"order": "Order/1"}))
    context = PolicyContext(autonomy="autonomous", denied_effects=denied)
    assert verdict(second, {"order": "Order/1"}, context).promotions == ("denied-effect",)
    assert verdict(second, {"order": "Order/2"}, context).allowed


def test_exec_and_comms_ask_whatever_they_say() -> None:
    """No tier and no content makes a message or a program run by itself."""
    for declared in (PolicyClass.EXEC, PolicyClass.COMMS):
        tool = ToolDescriptor(name="x", policy_class=declared, hitl_tier=HitlTier.LOW)
        assert verdict(tool, {}).rule_id == f"{declared}.always-approval"
        assert effective_tier(tool, {}, ALONE) is None


def test_without_a_hook_there_are_no_effects() -> None:
    """No hook, no claim about effects."""
    assert effects_of(low(), cast("Any", {"x": 1})) == ()


@pytest.mark.parametrize("op", ["purge", "Erase", "wipe", "drop", "revoke", "overwrite", "entered-in-error"])
def test_a_declared_op_that_destroys_is_promoted_whatever_it_is_called(op: str) -> None:
    """The six verbs are the floor: an author who calls it something else has not made it harmless."""
    assert verdict(low(ops=frozenset({op.lower()})), {}).promotions == ("destructive-op",)
