"""Laws of the plan reader over any JSON."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

from hypothesis import given
from hypothesis import strategies as st

from condor.core.errors import PlanRefused
from condor.core.ids import canonical_json
from condor.core.plan import ApprovalStep, NestedPlan, Plan, ToolStep, find_references, parse_plan
from tests.core.strategies import json_values, junk

if TYPE_CHECKING:
    from collections.abc import Mapping

ids = st.text(alphabet="abcXYZ019_.-", min_size=1, max_size=6)
pointers = st.lists(st.sampled_from(["/a", "/0", "/a~1b", "/~0", "/"]), max_size=3).map("".join)
references = st.one_of(
    st.fixed_dictionaries({"$from": ids}),
    st.fixed_dictionaries({"$from": st.builds("{}/{}".format, ids, ids), "path": pointers}),
)
keys = st.text(max_size=8).filter(lambda key: not key.startswith("$"))
args = st.dictionaries(
    keys,
    st.one_of(json_values.filter(lambda v: "$from" not in repr(v)), references, st.lists(references)),
    max_size=3,
)
titles = st.text(min_size=1, max_size=10).filter(str.strip)


@st.composite
def plans(draw: st.DrawFn, depth: int = 2) -> dict[str, Any]:
    """A valid plan."""
    steps: list[dict[str, Any]] = []
    for name in draw(st.lists(ids, min_size=1, max_size=4, unique=True)):
        step: dict[str, Any] = {"id": name}
        match draw(st.sampled_from(["tool", "approval", "plan"] if depth else ["tool", "approval"])):
            case "tool":
                step |= {"tool": draw(titles), "args": draw(args), "title": draw(st.text(max_size=5))}
            case "approval":
                step["approval"] = {"title": draw(titles), "body": draw(st.text(max_size=5))}
            case _:
                step["plan"] = draw(plans(depth - 1))
        if "plan" not in step:
            step["onDeny"] = draw(st.sampled_from(["abort", "skip", None]))
        step["after"] = draw(st.lists(ids, max_size=2))
        steps.append(step)
    return {"steps": steps}


def written(plan: Plan) -> dict[str, Any]:
    """A plan as its JSON."""
    return {"steps": [_step(step) for step in plan.steps]}


def _step(step: ToolStep | ApprovalStep | NestedPlan) -> dict[str, Any]:
    head = {"id": step.id, "after": list(step.after)}
    match step:
        case ToolStep():
            return head | {"tool": step.tool, "args": step.args, "title": step.title, "onDeny": step.on_deny}
        case ApprovalStep():
            return head | {"approval": {"title": step.title, "body": step.body}, "onDeny": step.on_deny}
        case NestedPlan():
            return head | {"plan": written(step.plan)}


@given(plans())
def test_a_valid_plan_survives_the_round_trip(plan: dict[str, Any]) -> None:
    """Nothing is guessed, dropped or reordered: the plan read is the plan written."""
    got = parse_plan(plan)
    assert canonical_json(plan) == canonical_json(written(got))
    assert got == parse_plan(written(got))


@given(plans(), st.data())
def test_one_fault_in_a_valid_plan_is_refused_at_its_place(plan: dict[str, Any], data: st.DataObject) -> None:
    """A key that no plan has is found wherever it is put, and the pointer leads there."""
    path, target = "", plan
    while True:
        index = data.draw(st.integers(0, len(target["steps"]) - 1))
        path, step = f"{path}/steps/{index}", target["steps"][index]
        if "plan" not in step or data.draw(st.booleans()):
            break
        path, target = f"{path}/plan", step["plan"]
    step["zz"] = 1
    try:
        parse_plan(plan)
    except PlanRefused as refusal:
        assert refusal.path == f"{path}/zz"
    else:
        raise AssertionError(path)


planlike = st.recursive(
    junk,
    lambda inner: st.dictionaries(
        st.sampled_from(
            ["steps", "id", "tool", "args", "plan", "approval", "after", "onDeny", "$from", "path"]
        ),
        st.one_of(inner, st.lists(inner, max_size=3), st.sampled_from(["s1", "t"])),
        max_size=5,
    ),
    max_leaves=12,
)


@given(st.one_of(planlike, st.fixed_dictionaries({"steps": st.lists(planlike, min_size=1, max_size=3)})))
def test_the_reader_gives_a_plan_or_a_refusal(value: object) -> None:
    """Whatever JSON, or none, is handed in: nothing but ``PlanRefused`` is ever raised."""
    with contextlib.suppress(PlanRefused):
        got = parse_plan(value)
        assert isinstance(got, Plan)
        assert all(_identified(step) for step in got.steps)


def _identified(step: ToolStep | ApprovalStep | NestedPlan) -> bytes:
    return canonical_json(_step(step))


@given(args)
def test_every_reference_is_found(given_args: Mapping[str, Any]) -> None:
    """The compiler is told of each reference, with the place where it stands."""
    count = repr(given_args).count("'$from':")
    found = list(find_references(given_args))
    assert count == len(found)
    assert len({reference.at for reference in found}) == count
