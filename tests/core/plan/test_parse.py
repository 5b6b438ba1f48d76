"""From plan JSON to a plan: what is fine, and every refusal with its place."""

from __future__ import annotations

from typing import Any

import pytest

from condor.core.errors import PlanRefused
from condor.core.plan import ApprovalStep, NestedPlan, Plan, ToolStep, parse_plan
from condor.core.plan.parse import ARGS_DEPTH_MAX, NESTING_MAX, STEPS_MAX

LONG = "x" * 2_001


def one(**changes: Any) -> dict[str, Any]:
    """A plan of one tool step; a value of ``...`` takes the key away."""
    step = {"id": "s1", "tool": "patient.search", **changes}
    return {"steps": [{key: value for key, value in step.items() if value is not ...}]}


def nested(levels: int) -> dict[str, Any]:
    """Plans in plans."""
    plan: dict[str, Any] = one()
    for _ in range(levels):
        plan = {"steps": [{"id": "n", "plan": plan}]}
    return plan


def deep(levels: int) -> Any:
    """A list in lists."""
    value: Any = "x"
    for _ in range(levels):
        value = [value]
    return value


def test_a_plan_is_read_as_it_is_written() -> None:
    """Every key has its place; what is left out has its default."""
    got = parse_plan(
        {
            "steps": [
                {"id": "s1", "tool": "patient.search", "args": {"query": "Smith", "n": [1, 2.5, None, True]}},
                {
                    "id": "s2",
                    "approval": {"title": "Go on?", "body": "why"},
                    "after": ["s1"],
                    "onDeny": "skip",
                },
                {
                    "id": "s3",
                    "plan": {
                        "steps": [
                            {
                                "id": "s1",
                                "tool": "note.append",
                                "args": {"patient": {"$from": "s1", "path": "/0/id"}, "all": {"$from": "s1"}},
                                "onDeny": "abort",
                                "title": "Note it",
                            }
                        ]
                    },
                    "after": ["s2"],
                },
            ]
        }
    )
    inner = ToolStep(
        id="s1",
        tool="note.append",
        args={"patient": {"$from": "s1", "path": "/0/id"}, "all": {"$from": "s1"}},
        on_deny="abort",
        title="Note it",
    )
    expected = Plan(
        steps=(
            ToolStep(id="s1", tool="patient.search", args={"query": "Smith", "n": [1, 2.5, None, True]}),
            ApprovalStep(id="s2", title="Go on?", body="why", after=("s1",), on_deny="skip"),
            NestedPlan(id="s3", plan=Plan(steps=(inner,)), after=("s2",)),
        )
    )
    assert expected == got


def test_the_plan_is_our_own_copy() -> None:
    """What the caller does to its dictionaries afterwards changes nothing."""
    given = one(args={"list": [1], "pair": (1, 2)})
    got = parse_plan(given)
    given["steps"][0]["args"]["list"].append(2)
    assert got.steps == (ToolStep(id="s1", tool="patient.search", args={"list": [1], "pair": [1, 2]}),)


REFUSED: list[tuple[str, str, object]] = [
    # The whole.
    ("the plan is null; write an object", "", None),
    ("the plan is an array; write an object", "", []),
    ("the plan is 'steps'; write an object", "", "steps"),
    ("unknown key 'step'; take steps", "/step", {"step": []}),
    ("unknown key 'a\\u202eb/c'; take steps", "/a\\u202eb~1c", {"a\u202eb/c": 1}),
    (f"unknown key '{'k' * 78}…; take steps", f"/{'k' * 80}…", {"k" * 500: 1}),
    ("unknown key a number; take steps", "", {1: 1}),
    ("steps is null; write an array of steps", "/steps", {}),
    ("steps is an object; write an array of steps", "/steps", {"steps": {"id": "s1"}}),
    ("steps is 's1'; write an array of steps", "/steps", {"steps": "s1"}),
    ("steps is not JSON; write an array of steps", "/steps", {"steps": b"s1"}),
    ("a plan needs at least one step", "/steps", {"steps": []}),
    # A step.
    ("the step is 's1'; write an object", "/steps/0", {"steps": ["s1"]}),
    ("a step has exactly one of tool, approval and plan; this one has none", "/steps/0", one(tool=...)),
    (
        "a step has exactly one of tool, approval and plan; this one has tool and plan",
        "/steps/0",
        one(plan=one()),
    ),
    (
        "unknown key 'when'; take after, args, id, onDeny, title, tool",
        "/steps/0/when",
        one(when="now"),
    ),
    (
        "unknown key 'args'; take after, approval, id, onDeny",
        "/steps/0/args",
        one(tool=..., approval={}, args={}),
    ),
    (
        "unknown key 'onDeny'; take after, id, plan",
        "/steps/0/onDeny",
        one(tool=..., plan=one(), onDeny="skip"),
    ),
    ("the step id is null; take 1 to 64 of A-Z a-z 0-9 _ . -", "/steps/0/id", one(id=...)),
    ("the step id is ''; take 1 to 64 of A-Z a-z 0-9 _ . -", "/steps/0/id", one(id="")),
    ("the step id is 'a/b'; take 1 to 64 of A-Z a-z 0-9 _ . -", "/steps/0/id", one(id="a/b")),
    ("the step id is 's1\\n'; take 1 to 64 of A-Z a-z 0-9 _ . -", "/steps/0/id", one(id="s1\n")),
    ("the step id is '\\u0455'; take 1 to 64 of A-Z a-z 0-9 _ . -", "/steps/0/id", one(id="\u0455")),
    ("the step id is a number; take 1 to 64 of A-Z a-z 0-9 _ . -", "/steps/0/id", one(id=1)),
    (
        "a second step is called 's1'; ids are unique",
        "/steps/1/id",
        {"steps": [*one()["steps"], *one()["steps"]]},
    ),
    # What it waits for.
    ("after is null; write an array of step ids", "/steps/0/after", one(after=None)),
    ("after is 's0'; write an array of step ids", "/steps/0/after", one(after="s0")),
    ("a number is not a step id", "/steps/0/after/0", one(after=[1])),
    ("'a//b' is not a step id", "/steps/0/after/1", one(after=["s0", "a//b"])),
    ("2001 step ids are too many; at most 2000", "/steps/0/after", one(after=["s0"] * 2_001)),
    ("onDeny is 'ABORT'; take abort or skip", "/steps/0/onDeny", one(onDeny="ABORT")),
    ("onDeny is True; take abort or skip", "/steps/0/onDeny", one(onDeny=True)),
    # A tool step.
    ("tool is null; write a string", "/steps/0/tool", one(tool=None)),
    ("tool is an array; write a string", "/steps/0/tool", one(tool=["x"])),
    ("tool has 2001 characters; at most 2000", "/steps/0/tool", one(tool=LONG)),
    ("the text holds a lone surrogate, which is no character", "/steps/0/tool", one(tool="a\ud800")),
    ("title is a number; write a string", "/steps/0/title", one(title=1)),
    ("args is null; write an object", "/steps/0/args", one(args=None)),
    ("args is an array; write an object", "/steps/0/args", one(args=[])),
    ("args is itself a reference; write an object of arguments", "/steps/0/args", one(args={"$from": "s0"})),
    ("argument '$answers' begins with $, which is reserved", "/steps/0/args", one(args={"$answers": {}})),
    (
        "the number cannot be held exactly; write it as a string",
        "/steps/0/args/n/1",
        one(args={"n": [1, 2**53]}),
    ),
    (
        "the number cannot be held exactly; write it as a string",
        "/steps/0/args/n",
        one(args={"n": -(10**400)}),
    ),
    (
        "the number cannot be held exactly; write it as a string",
        "/steps/0/args/n",
        one(args={"n": float("nan")}),
    ),
    (
        "the number cannot be held exactly; write it as a string",
        "/steps/0/args/n",
        one(args={"n": float("-inf")}),
    ),
    ("the argument is bytes, which is not JSON", "/steps/0/args/a/b", one(args={"a": {"b": b"x"}})),
    ("the argument is set, which is not JSON", "/steps/0/args/a", one(args={"a": {1}})),
    ("a key is a number; write a string", "/steps/0/args/a", one(args={"a": {1: 2}})),
    (
        "the text holds a lone surrogate, which is no character",
        "/steps/0/args/a",
        one(args={"a": {"\ud800": 1}}),
    ),
    (
        "the text holds a lone surrogate, which is no character",
        "/steps/0/args/a~1b",
        one(args={"a/b": "\udfff"}),
    ),
    (
        f"arguments nest at most {ARGS_DEPTH_MAX} deep",
        "/steps/0/args/a" + "/0" * ARGS_DEPTH_MAX,
        one(args={"a": deep(ARGS_DEPTH_MAX)}),
    ),
    # A reference.
    (
        "unknown key 'paht'; take $from, path",
        "/steps/0/args/a/paht",
        one(args={"a": {"$from": "s0", "paht": "/"}}),
    ),
    ("$from is a number; name a step", "/steps/0/args/a/$from", one(args={"a": {"$from": 1}})),
    (
        "unknown key 'b'; take $text",
        "/steps/0/args/a/b",
        one(args={"a": {"$text": ["x"], "b": 1}}),
    ),
    ("$text is 'x'; write an array of its parts", "/steps/0/args/a/$text", one(args={"a": {"$text": "x"}})),
    (
        "$text is an array; write an array of its parts",
        "/steps/0/args/a/$text",
        one(args={"a": {"$text": []}}),
    ),
    (
        "a part of $text is a number; write a text or a reference",
        "/steps/0/args/a/$text/1",
        one(args={"a": {"$text": ["x", 1]}}),
    ),
    (
        "$from is a number; name a step",
        "/steps/0/args/a/$text/0/$from",
        one(args={"a": {"$text": [{"$from": 1}]}}),
    ),
    ("$from is '/s0'; name a step", "/steps/0/args/a/$from", one(args={"a": {"$from": "/s0"}})),
    (
        "path is 'id'; write a JSON pointer such as /patient/reference",
        "/steps/0/args/a/0/path",
        one(args={"a": [{"$from": "s0", "path": "id"}]}),
    ),
    (
        "path is '/a~2'; write a JSON pointer such as /patient/reference",
        "/steps/0/args/a/path",
        one(args={"a": {"$from": "s0", "path": "/a~2"}}),
    ),
    (
        "path is null; write a JSON pointer such as /patient/reference",
        "/steps/0/args/a/path",
        one(args={"a": {"$from": "s0", "path": None}}),
    ),
    (
        "the text holds a lone surrogate, which is no character",
        "/steps/0/args/a/path",
        one(args={"a": {"$from": "s0", "path": "/\ud800"}}),
    ),
    # An approval step.
    ("approval is True; write an object", "/steps/0/approval", one(tool=..., approval=True)),
    ("unknown key 'by'; take body, title", "/steps/0/approval/by", one(tool=..., approval={"by": "me"})),
    ("title is null; write a string", "/steps/0/approval/title", one(tool=..., approval={})),
    (
        "an approval needs a title that says what is approved",
        "/steps/0/approval/title",
        one(tool=..., approval={"title": " "}),
    ),
    (
        "body is a number; write a string",
        "/steps/0/approval/body",
        one(tool=..., approval={"title": "x", "body": 1}),
    ),
    # A plan in a plan.
    ("the plan is null; write an object", "/steps/0/plan", one(tool=..., plan=None)),
    (
        "the step id is '?'; take 1 to 64 of A-Z a-z 0-9 _ . -",
        "/steps/0/plan/steps/0/id",
        one(tool=..., plan=one(id="?")),
    ),
    (f"plans nest at most {NESTING_MAX} deep", "/steps/0/plan" * (NESTING_MAX + 1), nested(NESTING_MAX + 1)),
]


@pytest.mark.parametrize(
    ("message", "path", "plan"), REFUSED, ids=[f"{at}: {said[:30]}" for said, at, _ in REFUSED]
)
def test_a_fault_is_refused_with_its_place(message: str, path: str, plan: object) -> None:
    """One line says what is wrong and what to write; the pointer says where."""
    with pytest.raises(PlanRefused) as refusal:
        parse_plan(plan)
    assert (path, f"{message} (at {path or 'the top'})") == (refusal.value.path, str(refusal.value))
    assert refusal.value.code == "invalid_plan"
    assert str(refusal.value).replace("…", "").isprintable()


def test_a_message_quotes_no_record_data() -> None:
    """What stands in arguments, or where a part of the plan should, is not repeated to logs."""
    canary = "ZZCANARY-7731"
    for plan in (
        {"steps": {"id": "s1", "args": {"name": canary}}},
        one(args=[canary]),
        one(args={"name": {canary}}),
        one(tool=..., approval=[canary]),
        one(title=[canary]),
    ):
        with pytest.raises(PlanRefused) as refusal:
            parse_plan(plan)
        assert canary not in str(refusal.value)


def test_the_limits_themselves_pass() -> None:
    """A limit is the largest that passes."""
    parse_plan(nested(NESTING_MAX))
    parse_plan(one(args={"a": deep(ARGS_DEPTH_MAX - 1)}))
    parse_plan(one(id="x" * 64, tool="t" * 2_000, title="t" * 2_000, after=["a/b"] * 2_000))
    parse_plan(one(args={"n": [2**53 - 1, 1 - 2**53]}))
    steps = [{"id": f"s{index}", "tool": "t"} for index in range(STEPS_MAX)]
    assert len(parse_plan({"steps": steps}).steps) == STEPS_MAX


@pytest.mark.parametrize(
    "plan",
    [
        {"steps": [{"id": f"s{index}", "tool": "t"} for index in range(STEPS_MAX + 1)]},
        {
            "steps": [
                {"id": "t", "tool": "t"},
                *(
                    {"id": f"n{outer}", "plan": {"steps": [{"id": f"s{i}", "tool": "t"} for i in range(200)]}}
                    for outer in range(10)
                ),
            ]
        },
    ],
    ids=["in one plan", "in plans of a plan"],
)
def test_too_many_steps_are_refused(plan: object) -> None:
    """Steps count wherever they stand, so that nesting is no way round the limit."""
    with pytest.raises(PlanRefused, match="2001 steps are too many; a plan has at most 2000") as refusal:
        parse_plan(plan)
    assert refusal.value.path == "/steps"


def test_what_nests_without_end_is_refused() -> None:
    """No plan, however deep or circular, gets further than the limits."""
    loop: list[Any] = []
    loop.append(loop)
    circle: dict[str, Any] = {}
    circle["steps"] = [{"id": "n", "plan": circle}]
    for plan in (one(args={"a": loop}), one(args={"a": deep(50_000)}), {"steps": deep(50_000)}, circle):
        with pytest.raises(PlanRefused):
            parse_plan(plan)
