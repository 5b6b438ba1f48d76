"""A recorded call is judged anew as the gate would judge it; what differs is marked, and nothing is run."""

from __future__ import annotations

import itertools
import json
from dataclasses import replace
from typing import Any

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
from condor.tools.explain import policy_matrix, tool_json
from condor.tools.replay import Replay, replay_calls
from condor.tools.replay_files import RecordedCall, calls_from_lines, rules_from_json, tools_from_json


async def never(*_: object, **__: object) -> object:
    """A body that no replay may enter."""
    raise AssertionError("a replay ran a tool")


def described(**more: Any) -> ToolDescriptor:
    """A record write of low tier."""
    options: dict[str, Any] = {
        "name": "notes.append",
        "policy_class": PolicyClass.MUTATE,
        "hitl_tier": HitlTier.LOW,
        "ops": frozenset({"create", "remove"}),
        "op_arg": "op",
        "args": (ArgSpec(name="op"), ArgSpec(name="text")),
        "roles": frozenset({"clerk"}),
        "function": never,
        "preview": never,
    }
    return ToolDescriptor(**(options | more))


def recorded(tool: ToolDescriptor, args: dict[str, Any], autonomy: str, **more: Any) -> RecordedCall:
    """A call as the gate judges it today."""
    call = policy_call(tool, args)
    verdict = evaluate_tool_policy(call, PolicyContext(autonomy=autonomy))
    facts: dict[str, Any] = {
        "tool": tool.name,
        "op": args.get("op"),
        "args": args,
        "autonomy": autonomy,
        "decision": verdict.decision,
        "rule_id": verdict.rule_id,
        "policy_class": verdict.policy_class,
        "hitl_tier": tool.hitl_tier,
        "effective_tier": verdict.effective_tier,
        "promotions": verdict.promotions,
        "approvers": None if verdict.allowed else frozenset({"clerk"}),
        "run_id": "run_1",
        "step_id": "s1",
    }
    return RecordedCall(**(facts | more))


CREATE = {"op": "create", "text": "x"}
REMOVE = {"op": "remove", "text": "x"}


def marks(found: Replay) -> list[str]:
    """The marks of the differences, one each."""
    return [one.mark for one in found.differences]


@pytest.mark.parametrize(
    ("args", "autonomy", "erased"),
    list(itertools.product([CREATE, REMOVE, {"op": "zap"}, {}], ["autonomous", "guarded"], [False, True])),
)
def test_what_did_not_change_does_not_differ(args: dict[str, Any], autonomy: str, erased: bool) -> None:
    """Also where the arguments were erased; they are counted."""
    call = recorded(described(), args, autonomy)
    if erased:
        call = replace(call, args=None)
    found = replay_calls([call], [described()])
    assert (marks(found), found.calls, found.by_facts) == ([], 1, int(erased))


@pytest.mark.parametrize(
    ("change", "call", "expected"),
    [
        ({"hitl_tier": HitlTier.HIGH}, recorded(described(), CREATE, "autonomous"), "stricter"),
        ({"policy_class": PolicyClass.COMMS}, recorded(described(), CREATE, "autonomous"), "stricter"),
        ({"ops": frozenset({"remove"})}, recorded(described(), CREATE, "autonomous"), "stricter"),
        (
            {"policy_class": PolicyClass.READ, "hitl_tier": None, "ops": frozenset(), "op_arg": None},
            recorded(described(), CREATE, "guarded"),
            "looser",
        ),
        ({"roles": frozenset({"clerk", "porter"})}, recorded(described(), CREATE, "guarded"), "looser"),
        ({"roles": frozenset()}, recorded(described(), CREATE, "guarded"), "looser"),
        ({"approver_roles": frozenset({"porter"})}, recorded(described(), CREATE, "guarded"), "looser"),
        (
            {"roles": frozenset({"clerk"})},
            recorded(described(), CREATE, "guarded", approvers=frozenset({"clerk", "porter"})),
            "stricter",
        ),
        ({"hitl_tier": HitlTier.HIGH}, recorded(described(), CREATE, "guarded"), "other"),
        ({"name": "notes.add"}, recorded(described(), CREATE, "guarded"), "gone"),
    ],
)
def test_a_changed_descriptor_is_marked(change: dict[str, Any], call: RecordedCall, expected: str) -> None:
    """By what it means for the person who would be asked, or would not."""
    found = replay_calls([call], [described(**change)])
    assert marks(found) == [expected]
    assert found.marked(expected) == 1  # type: ignore[arg-type]


def test_a_changed_matrix_is_marked() -> None:
    """A row that lets through is looser; a matrix that does not name a call fails closed."""
    rows = policy_matrix()
    for row in rows:
        if row["ruleId"] == "mutate.low-tier-supervised-approval":
            row["decision"] = "allow"
    calls = [recorded(described(), CREATE, "guarded"), recorded(described(), CREATE, "autonomous")]
    found = replay_calls(calls, [described()], rules=rules_from_json(rows, "the matrix"))
    assert marks(found) == ["looser"]
    closed = replay_calls(calls, [described()], rules=rules_from_json(rows[:1], "the matrix"))
    assert marks(closed) == ["stricter", "other"]
    assert {one.after.rule_id for one in closed.differences if one.after} == {"unknown.fail-closed"}


@pytest.mark.parametrize("promotion", ["denied-effect", "untrusted-plan"])
def test_what_its_run_promoted_stays_promoted(promotion: str) -> None:
    """A denied effect and untrusted text were facts of the run, not of the policy."""
    tool = described(effect_of=lambda args: ())
    call = recorded(tool, CREATE, "autonomous")
    call = replace(
        call,
        decision="require-approval",
        rule_id="mutate.high-tier-always-approval",
        effective_tier="high",
        promotions=(promotion,),
        args=None,
        approvers=frozenset({"clerk"}),
    )
    assert marks(replay_calls([call], [tool])) == []


def test_a_step_that_was_high_stays_high() -> None:
    """An edit made no call of it less risky, and the record has no promotion for that."""
    call = replace(
        recorded(described(), CREATE, "autonomous"),
        decision="require-approval",
        rule_id="mutate.high-tier-always-approval",
        effective_tier="high",
        approvers=frozenset({"clerk"}),
    )
    assert marks(replay_calls([call], [described()])) == []


def test_like_differences_are_one_with_its_count() -> None:
    """Ten thousand alike are one entry with examples; looser ones come first."""
    calls = [recorded(described(), CREATE, "autonomous", run_id=f"run_{number}") for number in range(50)] + [
        recorded(described(), REMOVE, "guarded")
    ]
    changed = described(hitl_tier=HitlTier.HIGH, roles=frozenset())
    found = replay_calls(calls, [changed])
    assert [(one.mark, one.count, len(one.examples)) for one in found.differences] == [
        ("looser", 1, 1),
        ("stricter", 50, 3),
    ]


def test_files_round_trip() -> None:
    """What commands print is what a replay reads."""
    call = recorded(described(), CREATE, "guarded")
    (again,) = calls_from_lines([json.dumps(call.to_json()).encode(), b"\n"], "calls")
    assert again == call
    assert list(rules_from_json(policy_matrix(), "m")) == list(POLICY_RULES)
    legacy = described(policy_class=None, hitl_tier=None, metadata={"mutating": True})
    for tool in (described(), legacy):
        (same,) = tools_from_json([tool_json(tool)], "t", [tool])
        assert same.digest == tool.digest
        (bare,) = tools_from_json([tool_json(tool)], "t", [])
        assert (bare.ops, bare.roles) == (tool.ops, tool.roles)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (b"[]", "line 1 is an array; write an object"),
        (b'{"tool":"x","autonomy":"guarded"}', "decision is null; write a string"),
        (b'{"tool":"x","autonomy":"guarded","decision":"maybe"}', "take allow or require-approval"),
        (b'{"tool":"x","autonomy":"guarded","decision":"allow","args":[]}', "args is an array"),
        (b'{"tool":"x","autonomy":"guarded","decision":"allow","op":7}', "op is a number"),
        (b'{"tool":"x","autonomy":"guarded","decision":"allow","promotions":"y"}', "promotions is a text"),
        (b'{"tool":', "line 1 is not JSON"),
    ],
)
def test_a_line_that_cannot_be_read_is_refused(line: bytes, said: str) -> None:
    """With its number; none is left out."""
    with pytest.raises(RefusedInput, match=said):
        list(calls_from_lines([line], "the calls"))


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ({}, "is an object; write an array of rows"),
        ([{}], "row 1 names no ruleId"),
        ([{"ruleId": "x", "decision": "perhaps"}], "row 1: decision is 'perhaps'"),
        ([{"ruleId": "x", "decision": "allow", "dispatch": "wild"}], "dispatch is 'wild'"),
        ([{"ruleId": "x", "decision": "allow", "policyClass": "write"}], "policyClass is 'write'"),
    ],
)
def test_a_matrix_that_cannot_be_read_is_refused(rows: object, said: str) -> None:
    """With the number of the row."""
    with pytest.raises(RefusedInput, match=said):
        rules_from_json(rows, "the matrix")


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ({}, "row 1 has no name"),
        ({"name": "x", "ops": "create"}, "ops is a text"),
        ({"name": "x", "hitlTier": "huge"}, "hitlTier is 'huge'"),
        ({"name": "X"}, "tool name 'X' is not usable"),
    ],
)
def test_a_tool_that_cannot_be_read_is_refused(row: object, said: str) -> None:
    """As registration would refuse it."""
    with pytest.raises(RefusedInput, match=said):
        tools_from_json([row], "the tools", [])
