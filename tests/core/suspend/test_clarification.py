"""The form of a clarification: each hint, well-formed and malformed, and dates relative to the day."""

from __future__ import annotations

import datetime
from typing import Any

import pytest

from condor.core.errors import AnswerInvalid
from condor.core.outcome import InputField
from condor.core.suspend import ReasonCode, clarification_resume_schema, is_approval_schema, read_resume
from condor.core.suspend.clarification_schema import choices, day_of

TODAY = datetime.date(2026, 11, 30)
FREE = {"title": "x", "type": "string", "minLength": 1}


def form(kind: Any = "string", hint: Any = None, **more: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """The property and the widget of one field ``x``."""
    item = InputField(**{"name": "x", "type": kind, "hint": {} if hint is None else hint, **more})
    schema, ui = clarification_resume_schema([item], TODAY)
    return schema["properties"]["x"], ui.get("x", {})  # type: ignore[index, return-value]


def test_a_form_is_closed_and_every_field_is_required() -> None:
    """Nothing may be left out, nothing added, and nothing has a default."""
    fields = [InputField(name="dose", label="Dose", type="decimal"), InputField(name="note")]
    schema, ui = clarification_resume_schema(fields, TODAY)
    assert schema == {
        "type": "object",
        "properties": {
            "dose": {"title": "Dose", "type": "number"},
            "note": {"title": "note", "type": "string", "minLength": 1},
        },
        "required": ["dose", "note"],
        "additionalProperties": False,
    }
    assert ui == {}
    assert not is_approval_schema(schema)


OPTIONS = [{"const": "a", "title": "A"}, {"const": "b", "title": "b"}]
ENUM: dict[str, Any] = {"enum": [{"value": "a", "label": "A"}, "b"]}


def named(kind: str, **words: Any) -> dict[str, Any]:
    """The property of the field ``x``."""
    return {"title": "x", "type": kind, **words}


#: What it is, the property expected, type, hint.
WELL_FORMED: list[tuple[str, dict[str, Any], str, dict[str, Any]]] = [
    ("free text", FREE, "string", {}),
    ("a code without options is free text", FREE, "code", {}),
    ("a reference", FREE, "reference", {}),
    ("a boolean", named("boolean"), "boolean", {}),
    ("an object", named("object"), "object", {}),
    ("options", named("string", oneOf=OPTIONS), "code", ENUM),
    ("whole numbers", named("integer", oneOf=[{"const": 1, "title": "1"}]), "integer", {"enum": [1]}),
    ("numbers", named("number", oneOf=[{"const": 1.5, "title": "1.5"}]), "decimal", {"enum": [1.5]}),
    (
        "several of the options",
        named("array", items={"type": "string", "oneOf": OPTIONS}, minItems=1, uniqueItems=True),
        "code",
        {"multi": True, **ENUM},
    ),
    ("texts", named("array", items={"type": "string", "minLength": 1}, minItems=1), "array", {}),
    ("number bounds", named("number", minimum=0.5, maximum=9), "decimal", {"min": 0.5, "max": 9}),
    ("one bound", named("integer", maximum=9), "integer", {"max": 9}),
    ("lengths", named("string", minLength=2, maxLength=5), "string", {"min_length": 2, "max_length": 5}),
    ("a long text", named("string", minLength=1, maxLength=9000), "string", {"max_length": 9000}),
    ("a date", named("string", format="date"), "date", {}),
    ("a date by its hint", named("string", format="date"), "string", {"format": "date"}),
    (
        "a date with bounds",
        named("string", format="date", formatMinimum="2016-11-30", formatMaximum="2026-12-30"),
        "date",
        {"min": "today-10y", "max": "2026-12-30"},
    ),
    (
        "a moment with bounds by day",
        named("string", format="date-time", formatMinimum="2026-11-30", formatMaximum="2027-02-28"),
        "date-time",
        {"min": "now", "max": "now+90d"},
    ),
]


@pytest.mark.parametrize(
    ("name", "expected", "kind", "hint"), WELL_FORMED, ids=[row[0] for row in WELL_FORMED]
)
def test_a_hint_shapes_the_field(name: str, expected: dict[str, Any], kind: str, hint: Any) -> None:
    """Each kind of hint, as its author means it."""
    assert expected == form(kind, hint)[0], name


NUMBER, DATE = named("number"), named("string", format="date")
NO_OPTIONS: list[Any] = [None, True, [], {}, {"label": "A"}, {"value": None}, " "]
#: What is wrong, the property left, type, hint.
MALFORMED: list[tuple[str, dict[str, Any], Any, Any]] = [
    ("a hint that is no object", FREE, "string", ["enum"]),
    ("a type that is none", FREE, "float64", {}),
    ("a type that is no word", FREE, ["string"], {}),
    ("options that are no list", FREE, "code", {"enum": "abc"}),
    ("options that are none", FREE, "code", {"enum": NO_OPTIONS}),
    ("options of another type", FREE, "code", {"enum": [1, 2]}),
    ("an option that is no JSON", FREE, "code", {"enum": ["\ud800"]}),
    ("options for a truth value", named("boolean"), "boolean", {"enum": ["yes", "no"]}),
    ("text options for a number", named("number", minimum=1), "decimal", {"enum": ["1"], "min": 1}),
    ("a fraction among whole numbers", named("integer"), "integer", {"enum": [1.5]}),
    ("multi that is not true", FREE, "string", {"multi": "yes"}),
    ("bounds that are no numbers", NUMBER, "decimal", {"min": "0", "max": True}),
    ("bounds without end", NUMBER, "decimal", {"min": float("-inf"), "max": float("nan")}),
    ("bounds beyond exactness", named("integer"), "integer", {"max": 2**60}),
    ("bounds that leave no room", NUMBER, "decimal", {"min": 5, "max": 4}),
    ("bounds that leave no whole number", named("integer"), "integer", {"min": 1.2, "max": 1.8}),
    ("lengths that are none", FREE, "string", {"min_length": -1, "max_length": 0}),
    ("lengths that are no whole numbers", FREE, "string", {"min_length": True, "max_length": 2.5}),
    ("lengths that leave no room", FREE, "string", {"min_length": 5, "max_length": 4}),
    ("a length nobody can write", FREE, "string", {"min_length": 5_000}),
    ("a format that is none", FREE, "string", {"format": "email"}),
    ("a format that is no word", FREE, "string", {"format": ["date"]}),
    ("a day that is none", DATE, "date", {"min": "soon", "max": 7}),
    ("days that leave no room", DATE, "date", {"min": "today+1d", "max": "today"}),
]


@pytest.mark.parametrize(("name", "expected", "kind", "hint"), MALFORMED, ids=[row[0] for row in MALFORMED])
def test_a_malformed_hint_is_dropped(name: str, expected: dict[str, Any], kind: Any, hint: Any) -> None:
    """What of a hint is malformed goes; the field stays, and can be answered (mission: hitl-suspend.ts)."""
    assert expected == form(kind, hint)[0], name


def test_one_malformed_option_does_not_take_the_others_along() -> None:
    """The usable options stay, each once, in order; a label that is none is the value."""
    hint: dict[str, Any] = {
        "enum": ["a", {"value": "b", "label": 7}, {"value": "a", "label": "again"}, None, 1, 1.0, 2, " "]
    }
    assert choices(hint) == [("a", "a"), ("b", "b"), (1, "1"), (2, "2")]


LOOKUP = {"tool": "patient.search", "target": "Patient"}


@pytest.mark.parametrize(
    ("expected", "kind", "hint"),
    [
        ({"ui:widget": "textarea"}, "string", {"textarea": True}),
        ({}, "string", {"textarea": "yes"}),
        ({}, "date", {"textarea": True}),
        ({}, "decimal", {"textarea": True}),
        ({}, "code", {"textarea": True, "enum": ["a"]}),
        ({"ui:widget": "radio"}, "code", {"radio": True, "enum": ["a"]}),
        ({"ui:widget": "radio"}, "boolean", {"radio": True}),
        ({}, "code", {"radio": True}),
        ({}, "code", {"radio": True, "enum": [1]}),
        ({"ui:lookup": LOOKUP}, "reference", {"lookup": LOOKUP}),
        ({}, "reference", {"lookup": "patient.search"}),
        ({}, "reference", {"lookup": {"target": "Patient"}}),
        ({}, "reference", {"lookup": {"tool": "x", "n": float("nan")}}),
        ({}, "string", ["textarea"]),
    ],
)
def test_a_widget_is_named_only_where_it_can_be_filled(expected: Any, kind: str, hint: Any) -> None:
    """No radio group without options, no text area for a date."""
    assert expected == form(kind, hint)[1]


@pytest.mark.parametrize("label", ["", " ", None, 7, "\ud800"])
def test_a_label_that_is_none_is_the_name(label: Any) -> None:
    """A field always says what it is."""
    assert form(label=label)[0]["title"] == "x"


DAYS: list[tuple[datetime.date, str, str | None]] = [
    (TODAY, "today", "2026-11-30"),
    (TODAY, "now", "2026-11-30"),
    (TODAY, "today-1d", "2026-11-29"),
    (TODAY, "today+1w", "2026-12-07"),
    (TODAY, "today+3m", "2027-02-28"),
    (TODAY, "today-10y", "2016-11-30"),
    (TODAY, "2026-02-28", "2026-02-28"),
    (TODAY, "2026-02-28T09:00:00Z", "2026-02-28"),
    # 29 February is the 28th in a year that has none.
    (datetime.date(2024, 2, 29), "today-10y", "2014-02-28"),
    (datetime.date(2024, 2, 29), "today+4y", "2028-02-29"),
    (datetime.date(2024, 2, 29), "today-1m", "2024-01-29"),
    (datetime.date(2024, 1, 31), "today+1m", "2024-02-29"),
    (datetime.date(2023, 1, 31), "today+1m", "2023-02-28"),
    (datetime.date(2024, 1, 1), "today-1m", "2023-12-01"),
    # Unreadable, or outside what a date can say.
    (TODAY, "2026-02-30", None),
    (TODAY, "today-9999y", None),
    (TODAY, "today+9999y", None),
    (TODAY, "today+9999w", "2218-07-20"),
    (datetime.date.max, "today+1d", None),
    (datetime.date.min, "today-1d", None),
    (TODAY, "today-10", None),
    (TODAY, "today -10y", None),
    (TODAY, "today-\u0661y", None),
    (TODAY, "tomorrow", None),
    (TODAY, "", None),
]


@pytest.mark.parametrize(("today", "bound", "expected"), DAYS)
def test_a_bound_is_a_day_or_nothing(today: datetime.date, bound: str, expected: str | None) -> None:
    """Relative days move by the calendar; what is unreadable is no bound."""
    got = day_of(bound, today)
    assert expected == (got.isoformat() if got else None)


@pytest.mark.parametrize("bound", [None, 7, ["today"], {"today": 1}, b"today"])
def test_a_bound_that_is_no_text_is_nothing(bound: object) -> None:
    """A number is no day."""
    assert day_of(bound, TODAY) is None


@pytest.mark.parametrize(
    ("day", "n", "fine"),
    [
        ("2026-11-29", 1, True),
        ("2026-12-01", 3, True),
        ("2026-11-28", 1, False),
        ("2026-12-02", 1, False),
        ("2026-11-30", 0, False),
        ("2026-11-30", 4, False),
    ],
)
def test_the_form_and_the_reader_agree(day: str, n: int, fine: bool) -> None:
    """Values on the bounds pass, one step outside they do not."""
    fields = [
        InputField(name="day", type="date", hint={"min": "today-1d", "max": "today+1d"}),
        InputField(name="n", type="integer", hint={"min": 1, "max": 3}),
    ]
    schema, _ = clarification_resume_schema(fields, TODAY)
    answer = {"day": day, "n": n}
    if fine:
        assert read_resume(ReasonCode.CLARIFICATION, schema, answer).body == answer
    else:
        with pytest.raises(AnswerInvalid):
            read_resume(ReasonCode.CLARIFICATION, schema, answer)
