"""What is said and what becomes of it: a corpus of requests, each with its plan or its refusal."""

import datetime
import json
from pathlib import Path
from typing import Any

import pytest

from condor import ArgSpec, PolicyClass, Principal, RequestNotUnderstood, ToolDescriptor
from condor.core.plan import parse_plan
from condor.ports.model import PlanningRequest
from condor_hms.playbook import PlaybookPlanner
from condor_hms.playbook.refusals import KINDS

DATA = Path(__file__).parents[1] / "data"
CORPUS: dict[str, Any] = json.loads((DATA / "playbook_corpus.json").read_text(encoding="utf-8"))
REQUESTS: list[dict[str, Any]] = json.loads((DATA / "requests.json").read_text(encoding="utf-8"))
ROWS: list[dict[str, Any]] = json.loads((DATA / "catalogue.json").read_text(encoding="utf-8"))


async def _nothing(*_args: object, **_kwargs: object) -> None:
    return None


#: The catalogue's tools by name and arguments: all that planning looks at.
TOOLS = [
    ToolDescriptor(
        name=row["name"],
        policy_class=PolicyClass.READ,
        args=tuple(ArgSpec(name=arg["name"]) for arg in row["args"]),
        function=_nothing,
    )
    for row in ROWS
]


def asked(text: str, tools: list[ToolDescriptor] | None = None) -> PlanningRequest:
    doctor = Principal(id="dr-okafor", roles=frozenset({"doctor"}))
    return PlanningRequest(
        text=text,
        principal=doctor,
        tools=TOOLS if tools is None else tools,
        today=datetime.date(2026, 11, 30),
    )


async def planned(text: str) -> list[dict[str, Any]]:
    plan = await PlaybookPlanner().plan(asked(text))
    parse_plan(plan)
    assert isinstance(plan, dict)
    return list(plan["steps"])


def brief(steps: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Tool → arguments, a reference as ``step/path``."""
    return [
        {
            step["tool"]: {
                name: value["$from"] + value["path"] if isinstance(value, dict) else value
                for name, value in step["args"].items()
            }
        }
        for step in steps
    ]


@pytest.mark.parametrize("case", CORPUS["planned"], ids=lambda case: case["text"])
async def test_a_request_that_is_understood(case: dict[str, Any]) -> None:
    """Exactly this plan: what was said, nothing more, and references where the record knows."""
    assert brief(await planned(case["text"])) == case["plan"]


@pytest.mark.parametrize("case", CORPUS["refused"], ids=lambda case: case["text"])
async def test_a_request_that_is_not_understood(case: dict[str, Any]) -> None:
    """Refused as a whole, with the part that was not understood and what can be asked."""
    with pytest.raises(RequestNotUnderstood) as refusal:
        await planned(case["text"])
    why, nothing, *can = str(refusal.value).split("\n")
    assert why == f"not understood: {case['why']}"
    assert nothing == "Nothing was done. One request at a time, I can:"
    assert can == [f"- {kind}: {example}" for kind, example in KINDS]


def test_the_corpus_is_large_enough() -> None:
    """Every kind in at least six phrasings, and as many ways to be refused."""
    kinds = [next(reversed(case["plan"][-1])) for case in CORPUS["planned"]]
    for tool in ("medication.prescribe", "medication.discontinue", "allergy.record", "flag.set"):
        assert kinds.count(tool) >= 6, tool
    for tool in ("labs.search", "interaction.check", "patient.summary.card", "medication.list.card"):
        assert kinds.count(tool) >= 5, tool
    assert len(CORPUS["planned"]) >= 80
    assert len(CORPUS["refused"]) >= 40


#: Where a plan of ``requests.json`` has a resolved value, a real plan refers to the step that finds it.
REFERENCES = {
    "Patient/pt-0612cf63eb84": "s1/patient/reference",
    "Patient/pt-65e78d9ba50c": "s1/patient/reference",
    "Patient/pt-bf0d2c068a08": "s1/patient/reference",
    "MedicationRequest/rxopd-2841d7bb9857": "s2/byIngredient/celecoxib/reference",
}


@pytest.mark.parametrize("request_", REQUESTS, ids=lambda request: request["id"])
async def test_the_requests_of_the_clinic(request_: dict[str, Any]) -> None:
    """R01, R02, R03, R05 and R16 give exactly their plans: tools, ids, order and arguments."""
    steps = await planned(request_["text"])
    expected = [
        {
            step["tool"]: {
                name: REFERENCES.get(value, value) if isinstance(value, str) else value
                for name, value in step["args"].items()
            }
        }
        for step in request_["steps"]
    ]
    assert brief(steps) == expected
    assert [(step["id"], step["after"]) for step in steps] == [
        (step["id"], step.get("after", [])) for step in request_["steps"]
    ]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "the request is empty"),
        (" \n\t ", "the request is empty"),
        ("Flag Helen Coleman as a falls risk " * 20, "the request has 699 characters; at most 600 are read"),
        ("Flag Helen\u200b Coleman as a falls risk", "the request holds invisible characters"),
        ("Flag Helen \u202eColeman as a falls risk", "the request holds invisible characters"),
        ("Flag Helen Coleman as a falls risk\x00", "the request holds invisible characters"),
    ],
)
async def test_texts_that_are_no_request(text: str, said: str) -> None:
    """Empty, oversized and invisible text is refused before it is read."""
    with pytest.raises(RequestNotUnderstood, match=said):
        await planned(text)


async def test_a_tool_that_is_not_here() -> None:
    """A plan is made only of tools that the process has."""
    without = [tool for tool in TOOLS if tool.name != "flag.set"]
    with pytest.raises(RequestNotUnderstood, match=r"this needs flag\.set, which is not here"):
        await PlaybookPlanner().plan(asked("Flag Helen Coleman as a falls risk", without))


@pytest.mark.parametrize(("kind", "example"), KINDS)
async def test_what_a_refusal_offers_works(kind: str, example: str) -> None:
    """Every example of what can be asked is understood."""
    with pytest.raises(RequestNotUnderstood) as refusal:
        await planned("Make coffee")
    assert f"- {kind}: {example}" in str(refusal.value).split("\n")
    assert await planned(example)
