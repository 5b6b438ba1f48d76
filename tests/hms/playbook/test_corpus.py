"""What is said and what becomes of it: a corpus of requests, each with its plan or its refusal."""

import datetime
import json
from collections import Counter
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


#: How the clinicians of the corpus are called.
STAFF = {"okafor": "Practitioner/dr-okafor", "lindholm": "Practitioner/dr-lindholm"}


async def _nothing(*_args: object, **_kwargs: object) -> None:
    return None


#: Beside the catalogue's.
OWN = {
    "patient.breakglass": ("patient", "reason"),
    "breakglass.list": (),
    "breakglass.close": ("review", "finding", "comment"),
}
#: The tools by name and arguments: all that planning looks at.
TOOLS = [
    ToolDescriptor(
        name=name,
        policy_class=PolicyClass.READ,
        args=tuple(ArgSpec(name=arg) for arg in args),
        function=_nothing,
    )
    for name, args in ({row["name"]: [arg["name"] for arg in row["args"]] for row in ROWS} | OWN).items()
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
    plan = await PlaybookPlanner(STAFF).plan(asked(text))
    parse_plan(plan)
    assert isinstance(plan, dict)
    return list(plan["steps"])


def brief(steps: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Tool → arguments, a reference as ``step/path``."""
    return [
        {
            step["tool"]: {
                name: value["$from"] + value["path"]
                if isinstance(value, dict) and "$from" in value
                else value
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
    assert len(CORPUS["planned"]) >= 180
    assert len(CORPUS["refused"]) >= 40


def test_every_tool_is_asked_for_in_two_ways() -> None:
    """Each of the 55 stands in the plans of at least two phrasings."""
    asked_for = Counter(next(iter(step)) for case in CORPUS["planned"] for step in case["plan"])
    assert {row["name"] for row in ROWS if asked_for[row["name"]] < 2} == set()


#: Where a plan of ``requests.json`` has a resolved value, a real plan refers to the step that finds it.
REFERENCES = {
    "MedicationRequest/rxopd-2841d7bb9857": "s2/byIngredient/celecoxib/reference",
    "MedicationRequest/mr-a0ed0aa6c9f6": "s2/byDose/aspirin 325/reference",
    "CarePlan/cp-2003": "s5a/byTitle/cardiac/reference",
    "DocumentReference/doc-6001": "s3a/draft/reference",
}
#: What the text does not say is not in the plan: request → step → arguments that are asked for, or that the
#: record says.
OTHERWISE: dict[str, dict[str, dict[str, Any]]] = {
    "R04": {
        "s2": {"dose_value": None, "dose_unit": None},
        "s3": {"dose_unit": None, "route": None, "indication": "chest infection"},
    },
    "R07": {"s3": {"indication": "blood pressure"}},
    "R11": {
        "s3": {
            "message": {
                "$text": [
                    "Your appointment on ",
                    {"$from": "s2", "path": "/byStart/2026-12-01T09:00/said"},
                    " with ",
                    {"$from": "s2", "path": "/byStart/2026-12-01T09:00/with"},
                    " is confirmed. Please come fasting.",
                ]
            }
        }
    },
    "R12": {
        "s3": {"dose_unit": "s2/byDose/aspirin 325/doseUnit"},
        "s4": {"dose_unit": "s2/byDose/aspirin 325/doseUnit", "reason": "With ticagrelor"},
        "s5": {"reason": "he's declined"},
        "s6": {
            "message": {
                "$text": [
                    {"$from": "s4", "path": "/forPatient"},
                    " ",
                    {"$from": "s5", "path": "/forPatient"},
                ]
            }
        },
    },
    "R14": {"s3": {"meaning": None}},
}
#: Steps that find what a later step needs.
FINDING = {"s5a", "s3a"}


@pytest.mark.parametrize("request_", REQUESTS, ids=lambda request: request["id"])
async def test_the_requests_of_the_clinic(request_: dict[str, Any]) -> None:
    """Each gives its plan: the tools, their order, and the arguments that its text says."""
    steps = [step for step in await planned(request_["text"]) if step["id"] not in FINDING]
    wanted = [step for step in request_["steps"] if "substitutes" not in step]
    assert [(step["id"], step["tool"]) for step in steps] == [(step["id"], step["tool"]) for step in wanted]
    for got, step in zip(brief(steps), wanted, strict=True):
        args = {
            name: "s1/patient/reference"
            if str(value).startswith("Patient/")
            else REFERENCES.get(str(value), value)
            for name, value in step["args"].items()
        } | OTHERWISE.get(request_["id"], {}).get(step["id"], {})
        assert got[step["tool"]] == {name: value for name, value in args.items() if value is not None}


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
