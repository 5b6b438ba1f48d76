"""What contradicts itself cannot be constructed; what approvals are bound to changes with what was told."""

from __future__ import annotations

import dataclasses
from types import MappingProxyType
from typing import Any

import pytest

from condor.core.errors import RegistrationRefused
from condor.core.policy import ArgSpec, HitlTier, PolicyClass, ToolDescriptor
from condor.core.policy.descriptor import approvers_of, who_may_answer
from condor.core.run import NOBODY

FINE: dict[str, Any] = {"name": "note.append", "policy_class": PolicyClass.MUTATE, "hitl_tier": HitlTier.LOW}
ARG = ArgSpec(name="op", label="Op", type="code", required=True, hint={"enum": ["a", "b"]})


def made(**changes: Any) -> ToolDescriptor:
    """A fine descriptor with changes."""
    return ToolDescriptor(**{**FINE, **changes})


REFUSED: list[tuple[str, dict[str, Any]]] = [
    ("tool name 'Notes' is not usable: take 1 to 64 of a-z 0-9 . _ - (ASCII, lower case)", {"name": "Notes"}),
    ("tool name 7 is not usable: take 1 to 64 of a-z 0-9 . _ - (ASCII, lower case)", {"name": 7}),
    (
        "tool note.append: policy_class 'mutate' is unknown; write PolicyClass.MUTATE",
        {"policy_class": "mutate"},
    ),
    (
        "tool note.append: policy_class 'wreck' is unknown; write PolicyClass.READ or PolicyClass.MUTATE or "
        "PolicyClass.EXEC or PolicyClass.COMMS",
        {"policy_class": "wreck"},
    ),
    ("tool note.append: hitl_tier 'Low ' is unknown; write HitlTier.LOW", {"hitl_tier": "Low "}),
    ("tool note.append: hitl_tier '' is unknown; write HitlTier.HIGH or HitlTier.LOW", {"hitl_tier": ""}),
    ("tool note.append: hitl_tier 0 is unknown; write HitlTier.HIGH or HitlTier.LOW", {"hitl_tier": 0}),
    (
        "tool note.append: a record write needs hitl_tier=HitlTier.HIGH or HitlTier.LOW",
        {"hitl_tier": None},
    ),
    (
        "tool note.append: declared read, but metadata.mutating is set; one of the two is wrong",
        {"policy_class": PolicyClass.READ, "metadata": {"mutating": True}},
    ),
    (
        "tool note.append: declared read, but op purge takes something away; one of the two is wrong",
        {"policy_class": PolicyClass.READ, "hitl_tier": None, "ops": frozenset({"purge"})},
    ),
    ("tool note.append: metadata is [1]; write a mapping", {"metadata": [1]}),
    (
        "tool note.append: its title, metadata or hints hold something that is not JSON "
        "(unsupported type: <class 'object'>)",
        {"metadata": {"x": object()}},
    ),
    (
        "tool note.append: its title, metadata or hints hold something that is not JSON "
        "(nan is not representable in JCS)",
        {"args": (ArgSpec(name="x", hint={"min": float("nan")}),)},
    ),
    ("tool note.append: ops is 'create'; write a set of words", {"ops": "create"}),
    ("tool note.append: ops is None; write a set of words", {"ops": None}),
    ("tool note.append: ops is [1]; write a set of words", {"ops": [1]}),
    ("tool note.append: roles is 'doctor'; write a set of words", {"roles": "doctor"}),
    ("tool note.append: approver_roles is 'doctor'; write a set of words", {"approver_roles": "doctor"}),
    ("tool note.append: op 'De lete' is not usable: take a-z 0-9 . _ -", {"ops": {"De lete"}}),
    ("tool note.append: 2 ops and no op_arg: name the argument that says which", {"ops": {"a", "b"}}),
    ("tool note.append: op_arg without ops: list the closed set of verbs", {"op_arg": "op"}),
    (
        "tool note.append: op_arg 'verb' is no argument of it; there are op",
        {"ops": {"a", "b"}, "op_arg": "verb", "args": (ARG,)},
    ),
    ("tool note.append: args is ['op']; write ArgSpecs", {"args": ["op"]}),
    ("tool note.append: args is 'op'; write ArgSpecs", {"args": "op"}),
    ("tool note.append: two arguments share a name; rename one", {"args": (ARG, ARG)}),
    (
        "tool note.append: x is required by 'y', which is no other argument of it",
        {"args": (ArgSpec(name="x", required_if={"y": ()}),)},
    ),
    (
        "tool note.append: x is required by 'x', which is no other argument of it",
        {"args": (ArgSpec(name="x", required_if={"x": ()}),)},
    ),
    ("tool note.append: argument name '$from' is not usable", {"args": (ArgSpec(name="$from"),)}),
    ("tool note.append: argument name '' is not usable", {"args": (ArgSpec(name=""),)}),
    ("tool note.append: argument name ' ' is not usable", {"args": (ArgSpec(name=" "),)}),
    ("tool note.append: argument name 'a\\u202eb' is not usable", {"args": (ArgSpec(name="a\u202eb"),)}),
    ("tool note.append: argument name 1 is not usable", {"args": (ArgSpec(name=1),)}),  # type: ignore[arg-type]
    ("tool note.append: on_deny is 'ABORT'; take abort or skip", {"on_deny": "ABORT"}),
    ("tool note.append: alias_fidelity is 'same'; take equal or degraded", {"alias_fidelity": "same"}),
    ("tool note.append: timeout_s is 0; take seconds above zero", {"timeout_s": 0}),
    ("tool note.append: timeout_s is -1.0; take seconds above zero", {"timeout_s": -1.0}),
    ("tool note.append: timeout_s is nan; take seconds above zero", {"timeout_s": float("nan")}),
    ("tool note.append: timeout_s is inf; take seconds above zero", {"timeout_s": float("inf")}),
    ("tool note.append: timeout_s is '30'; take seconds above zero", {"timeout_s": "30"}),
]


@pytest.mark.parametrize(("message", "changes"), REFUSED, ids=[message[:60] for message, _ in REFUSED])
def test_a_contradiction_is_refused_in_one_line(message: str, changes: dict[str, Any]) -> None:
    """An author who forgets or contradicts is told at start-up what to write."""
    with pytest.raises(RegistrationRefused) as refusal:
        made(**changes)
    assert message == str(refusal.value)
    assert refusal.value.code == "registration_refused"


@pytest.mark.parametrize("policy_class", [PolicyClass.READ, PolicyClass.EXEC, PolicyClass.COMMS, None])
def test_only_a_record_write_needs_a_tier(policy_class: PolicyClass | None) -> None:
    """The other classes have no tier, and saying nothing is the registry's to refuse."""
    tool = ToolDescriptor(name="x", policy_class=policy_class)
    assert (tool.policy_class, tool.hitl_tier) == (policy_class, None)


def test_words_are_sets_whatever_they_came_as() -> None:
    """Roles and ops compare as sets."""
    tool = made(roles=["a", "b", "a"], approver_roles=("b",), ops={"x"})
    assert (tool.roles, tool.approver_roles, tool.ops) == (
        frozenset({"a", "b"}),
        frozenset({"b"}),
        frozenset({"x"}),
    )


def test_what_the_author_does_later_changes_no_class() -> None:
    """A legacy tool stays a write when the dictionary that said so is edited afterwards."""
    said: dict[str, Any] = {"mutating": True}
    tool = ToolDescriptor(name="x", metadata=said)
    said["mutating"] = False
    assert tool.metadata == {"mutating": True}


def test_any_mapping_is_metadata() -> None:
    """A read-only mapping is as good as a dictionary."""
    tool = ToolDescriptor(name="x", metadata=MappingProxyType({"mutating": True}))
    assert tool.metadata == {"mutating": True}


def test_an_open_tool_may_name_an_op_argument_it_does_not_list() -> None:
    """A tool without a schema still has a closed set of verbs."""
    tool = made(ops={"a", "b"}, op_arg="op", args_closed=False, args=[ArgSpec(name="x")])
    assert tool.op_arg == "op"
    assert tool.args_by_name == {"x": ArgSpec(name="x")}


def test_who_may_answer() -> None:
    """The approver roles, else the roles that may call, else everybody."""
    assert who_may_answer(made()) == frozenset()
    assert who_may_answer(made(roles={"nurse"})) == {"nurse"}
    assert who_may_answer(made(roles={"nurse"}, approver_roles={"doctor"})) == {"doctor"}


def test_who_approves_is_resolved() -> None:
    """Who decides nothing never approves; nobody is never told as anybody."""
    anybody = approvers_of(made())
    assert (anybody.to_json(), anybody.nobody) == ({"roles": [], "anybody": True}, False)
    both = approvers_of(made(roles={"nurse"}, approver_roles={"doctor", "admin"}))
    assert (both.to_json(), both.nobody) == ({"roles": ["doctor"], "anybody": False}, False)
    for shut in (NOBODY, {"admin", "auditor"}):
        none = approvers_of(made(roles={"nurse"}, approver_roles=shut))
        assert (none.to_json(), none.nobody) == ({"roles": [], "anybody": False}, True)


TOLD: list[dict[str, Any]] = [
    {"name": "note.append2"},
    {"title": "Append"},
    {"policy_class": PolicyClass.EXEC},
    {"hitl_tier": HitlTier.HIGH},
    {"ops": {"append"}},
    {"ops": {"append", "delete"}, "op_arg": "op"},
    {"ops": {"append", "delete"}, "op_arg": "verb", "args_closed": False},
    {"roles": {"doctor"}},
    {"approver_roles": {"doctor"}},
    {"requester_excluded": True},
    {"metadata": {"mutating": True}},
    {"args": (ARG,)},
    {"args": (dataclasses.replace(ARG, name="verb"),)},
    {"args": (dataclasses.replace(ARG, label="Verb"),)},
    {"args": (dataclasses.replace(ARG, type="string"),)},
    {"args": (dataclasses.replace(ARG, required=False),)},
    {"args": (dataclasses.replace(ARG, hint={"enum": ["a"]}),)},
]


def test_the_digest_changes_with_everything_that_was_told() -> None:
    """An approval given for one descriptor does not count for another (MCPoison, CVE-2025-54136)."""
    digests = [made(**changes).digest for changes in ({}, *TOLD)]
    assert len(set(digests)) == len(digests)


def test_the_digest_does_not_change_with_code_or_order() -> None:
    """A new body, or the same words in another order, does not make every open card stale."""
    one = made(roles=["a", "b"], description="x")
    other = made(roles=["b", "a"], description="y", timeout_s=5, idempotent=True, effect_of=lambda _args: ())
    assert one.digest == other.digest
