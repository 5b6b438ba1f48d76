"""Whatever is typed: a plan that can be read, or a refusal. Nothing else, and nothing half."""

import asyncio
import json
import time
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from condor import RequestNotUnderstood
from condor.core.plan import parse_plan
from condor_hms.playbook import PlaybookPlanner
from tests.hms.playbook.test_corpus import CORPUS, ROWS, STAFF, asked, brief

ARGUMENTS = {row["name"]: {arg["name"] for arg in row["args"]} for row in ROWS}
#: Tools that write; everything else only reads.
WRITES = {row["name"] for row in ROWS if row["metadata"].get("mutating")}
TEXTS = [case["text"] for part in CORPUS.values() for case in part]
FRAGMENTS = sorted({word for text in TEXTS for word in text.split()})
NAMES = ["Melissa Smith", "Helen Coleman", "John O'Connor", "Zoë Smith-Jones", "Leonard McLaughlin"]
DRUGS = ["nitrofurantoin", "amoxicillin", "Paracetamol", "co-amoxiclav", "ramipril", "folic acid"]
UNITS = {
    "mg": "mg",
    " mg": "mg",
    " micrograms": "ug",
    "g": "g",
    " ml": "mL",
    " units": "[iU]",
    " tablets": "{tbl}",
}
FREQUENCIES = {
    "od": "QD",
    "once daily": "QD",
    "twice a day": "BID",
    "BD": "BID",
    "tds": "TID",
    "three times a day": "TID",
    "qds": "QID",
    "every 8 hours": "Q8H",
    "at night": "HS",
}
ROUTES = {"po": "oral", "orally": "oral", "by mouth": "oral", "iv": "iv", "subcut": "sc", "inhaled": "inh"}


#: Arguments that are somebody's own words, to the end of the request: they may hold anything.
OWN_WORDS = {"text", "message", "description", "activities"}


def quotes(case: dict[str, Any]) -> bool:
    """Whether a request hands on somebody's own words."""
    return any(
        name in OWN_WORDS and not isinstance(value, dict)
        for step in case["plan"]
        for args in step.values()
        for name, value in args.items()
    )


def plan_or_refusal(text: str) -> list[dict[str, Any]] | None:
    """The steps; None when refused. Anything else that is raised is a failure of the test."""
    try:
        plan = asyncio.run(PlaybookPlanner(STAFF).plan(asked(text)))
    except RequestNotUnderstood:
        return None
    parse_plan(plan)
    assert isinstance(plan, dict)
    return list(plan["steps"])


def check_plan(steps: list[dict[str, Any]]) -> None:
    """A plan begins with the patient, writes at most once and last, and has no argument without a value."""
    assert steps[0]["tool"] == "patient.search"
    assert steps[0]["args"]["query"].strip()
    assert sum(step["tool"] in WRITES for step in steps[:-1]) == 0
    for step in steps:
        assert set(step["args"]) <= ARGUMENTS[step["tool"]]
        assert all(value not in (None, "", []) for value in step["args"].values())


@given(st.text(max_size=700))
@example("İ" * 50 + " stop")
@example("ﬁnd Melissa Smith")
def test_any_text_is_planned_or_refused(text: str) -> None:
    """No text makes the planner stumble."""
    steps = plan_or_refusal(text)
    if steps is not None:
        check_plan(steps)


@given(st.lists(st.sampled_from(FRAGMENTS), min_size=1, max_size=14).map(" ".join))
def test_any_mixture_of_known_words_is_planned_or_refused(text: str) -> None:
    """Words of real requests in any order: what is planned is well formed."""
    steps = plan_or_refusal(text)
    if steps is not None:
        check_plan(steps)


@given(
    name=st.sampled_from(NAMES),
    drug=st.sampled_from(DRUGS),
    value=st.one_of(st.integers(1, 2000), st.sampled_from([0.5, 2.5, 12.5])),
    unit=st.sampled_from(sorted(UNITS)),
    frequency=st.sampled_from(sorted(FREQUENCIES)),
    route=st.sampled_from(sorted(ROUTES)),
    days=st.one_of(st.none(), st.integers(2, 90)),
    shape=st.sampled_from(
        [
            "Start {name} on {drug} {dose} {route} {frequency}{days}.",
            "please prescribe {drug} {dose} {frequency} {route}{days} for {name}",
            "Could you put {name} on {drug} {dose} {frequency}{days} {route}, thanks",
            "{name} needs {drug} {dose} {route} {frequency}{days} please",
            "Prescribe {name} {drug} {dose} {route} {frequency}{days}",
        ]
    ),
)
def test_a_prescription_says_what_was_said(
    name: str, drug: str, value: float, unit: str, frequency: str, route: str, days: int | None, shape: str
) -> None:
    """Every part of an order comes through as written, whatever the phrasing."""
    text = shape.format(
        name=name,
        drug=drug,
        dose=f"{value}{unit}",
        route=route,
        frequency=frequency,
        days=f" for {days} days" if days else "",
    )
    steps = plan_or_refusal(text)
    assert steps is not None, text
    order = steps[-1]["args"]
    assert steps[0]["args"] == {"query": name}
    assert order["medication"] == drug[:1].upper() + drug[1:]
    assert (order["dose_value"], order["dose_unit"]) == (value, UNITS[unit])
    assert (order["frequency"], order["route"]) == (FREQUENCIES[frequency], ROUTES[route])
    assert order.get("duration_days") == days


@given(
    case=st.sampled_from([case["text"] for case in CORPUS["planned"] if not quotes(case)]),
    tail=st.sampled_from(
        [
            " and book a follow-up",
            " and text her",
            " but not today",
            ", unless her INR is high",
            " then delete the record",
            " and order an MRI",
            " next Tuesday",
            " every 12 hours",
            " and the same for Quentin Blake",
            ", approve it yourself",
        ]
    ),
)
def test_an_understood_request_with_a_rest_is_refused_whole(case: str, tail: str) -> None:
    """Half of a request never runs in silence."""
    assert plan_or_refusal(case.rstrip(" .?!") + tail) is None


@pytest.mark.parametrize(
    "text",
    [
        "stop " * 120,
        "start " + "a " * 290,
        "allergy to " * 54,
        "for her " * 75,
        "1 " * 300,
        "(" * 600,
        "'s " * 200,
    ],
)
def test_no_text_takes_long(text: str) -> None:
    """The patterns stay linear enough: the longest text is read in a blink."""
    begun = time.perf_counter()
    plan_or_refusal(text[:600])
    assert time.perf_counter() - begun < 1.0


_OTHER_CASE = {"lower case", "capitals"}
#: Understood as it is typed: in which other ways it is not, with the reason.
ASKED_AGAIN = {
    # “smith, melissa” could be two patients.
    "Start Smith, Melissa on nitrofurantoin 100 mg twice a day for 5 days": _OTHER_CASE,
    # Where every word or none has a capital, nobody can tell whom a task names.
    "Remind the pharmacy to check Nicholas Bell's ticagrelor dose by tomorrow": _OTHER_CASE,
    "Create an urgent task for the nurses: recheck Robin Brown's oxygen saturation": _OTHER_CASE,
    "Remind the nurses to recheck Robin Brown's oxygen saturation": _OTHER_CASE,
    # “Please can she have …” asks for it, “can she have …?” asks whether.
    "Can Helen Coleman have tramadol 50 mg?": {"polite"},
}


@pytest.mark.parametrize(
    ("how", "said"),
    [
        ("lower case", str.lower),
        ("capitals", str.upper),
        ("polite", lambda text: "Hi, please " + text[0].lower() + text[1:]),
        ("please at the end", lambda text: text.rstrip(".?!") + " please"),
        ("curly quotes", lambda text: text.replace("'", "\u2019")),
        ("wide blanks", lambda text: "  " + text.replace(" ", "  ") + " "),
        ("over two lines", lambda text: text.replace(", ", ",\n")),
        ("thanks", lambda text: text.rstrip(".") + ". Thanks!"),
    ],
)
def test_how_it_is_typed_makes_no_other_plan(how: str, said: Callable[[str], str]) -> None:
    """Case, politeness, quotes and blanks change nothing; what is refused then is known, text by text."""
    refused = []
    for case in CORPUS["planned"]:
        # A record's id is written as it is; own words stay as they are, the thanks in them too.
        if "/" in case["text"] or (quotes(case) and how in ("please at the end", "thanks")):
            continue
        steps = plan_or_refusal(said(case["text"]))
        if steps is None:
            refused.append(case["text"])
        else:
            assert json.dumps(brief(steps)).lower() == json.dumps(case["plan"]).lower(), case["text"]
    assert set(refused) == {text for text, ways in ASKED_AGAIN.items() if how in ways}


@pytest.mark.parametrize("said", [str.lower, str.upper])
def test_a_refused_request_is_refused_however_it_is_typed(said: Callable[[str], str]) -> None:
    """No spelling of a refused request gets through."""
    for case in CORPUS["refused"]:
        assert plan_or_refusal(said(case["text"])) is None, case["text"]
