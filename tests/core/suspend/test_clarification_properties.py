"""Laws of the clarification form over any fields and any hints."""

from __future__ import annotations

import datetime
from typing import Any, get_args

from hypothesis import given
from hypothesis import strategies as st

from condor.core.ids import canonical_json
from condor.core.outcome import InputField
from condor.core.policy.descriptor import ArgType
from condor.core.suspend import ReasonCode, clarification_resume_schema, read_resume
from condor.core.suspend.clarification_schema import day_of
from tests.core.strategies import honest_junk as junk
from tests.core.strategies import json_values

HINTS = ["enum", "multi", "min", "max", "min_length", "max_length", "format", "textarea", "radio", "lookup"]
bounds = st.one_of(
    st.integers(-5, 5), st.floats(), st.sampled_from(["today", "today-1y", "now+5d", "2026-01-01"]), junk
)
hints = st.one_of(
    junk,
    st.fixed_dictionaries(
        {},
        optional={
            "enum": st.one_of(
                junk,
                st.lists(st.one_of(junk, st.integers(0, 3), st.sampled_from(["a", "b", ""])), max_size=4),
                st.lists(st.fixed_dictionaries({"value": junk, "label": junk}), max_size=3),
            ),
            "multi": st.one_of(st.booleans(), junk),
            "min": bounds,
            "max": bounds,
            "min_length": st.one_of(st.integers(-2, 3000), junk),
            "max_length": st.one_of(st.integers(-2, 3000), junk),
            "format": st.one_of(st.sampled_from(["date", "date-time"]), junk),
            "textarea": st.one_of(st.booleans(), junk),
            "radio": st.one_of(st.booleans(), junk),
            "lookup": st.one_of(st.fixed_dictionaries({"tool": st.one_of(st.just("t"), junk)}), junk),
        },
    ),
)
types = st.one_of(st.sampled_from(get_args(ArgType)), junk)
fields = st.lists(
    st.builds(InputField, name=st.text(min_size=1, max_size=5), label=junk, type=types, hint=hints),
    max_size=3,
)
days = st.dates()

#: What a property of a form may say, and of which kind.
ALLOWED: dict[str, type | tuple[type, ...]] = {
    **dict.fromkeys(("title", "type", "format", "formatMinimum", "formatMaximum"), str),
    **dict.fromkeys(("minLength", "maxLength", "minItems"), int),
    **dict.fromkeys(("minimum", "maximum"), (int, float)),
    "oneOf": list,
    "items": dict,
    "uniqueItems": bool,
}


def check(shape: dict[str, Any]) -> None:
    """One property is a JSON Schema that can be drawn and answered."""
    assert shape["type"] in ("string", "integer", "number", "boolean", "array", "object")
    for key, value in shape.items():
        assert isinstance(value, ALLOWED[key]), key
    options = shape.get("oneOf", [])
    consts = [canonical_json(option["const"]) for option in options]
    assert len(set(consts)) == len(consts)
    assert "oneOf" not in shape or options
    if shape["type"] == "array":
        check({"title": "", **shape["items"]})


def sample(shape: dict[str, Any]) -> Any:
    """An answer that the property's own words allow."""
    if "oneOf" in shape:
        return shape["oneOf"][0]["const"]
    match shape["type"]:
        case "boolean":
            return False
        case "object":
            return {}
        case "array":
            return [sample(shape["items"])]
        case "number":
            return shape.get("minimum", shape.get("maximum", 0))
        case "integer":
            least, most = shape.get("minimum"), shape.get("maximum")
            return int(-(-least // 1)) if least is not None else int(most // 1) if most is not None else 0
        case _:
            pass
    day = shape.get("formatMinimum", shape.get("formatMaximum", "2026-11-30"))
    by_form = {"date": day, "date-time": f"{day}T12:00:00Z"}
    return by_form.get(shape.get("format", ""), "x" * shape.get("minLength", 1))


@given(fields, days)
def test_any_hint_gives_a_form_that_can_be_drawn_and_answered(
    given_fields: list[InputField], today: datetime.date
) -> None:
    """Whatever stands in a hint: the schema is valid JSON Schema, and there is an answer that it takes."""
    schema, ui = clarification_resume_schema(given_fields, today)
    canonical_json([schema, ui])
    properties: dict[str, Any] = schema["properties"]  # type: ignore[assignment]
    assert list(properties) == schema["required"]
    assert set(properties) == {item.name for item in given_fields}
    assert set(ui) <= set(properties)
    for shape in properties.values():
        check(shape)
    answer = {name: sample(shape) for name, shape in properties.items()}
    assert read_resume(ReasonCode.CLARIFICATION, schema, answer).body == answer


@given(
    st.one_of(
        junk.filter(lambda hint: not isinstance(hint, dict)),
        st.dictionaries(st.sampled_from(HINTS), st.just(...)),
    )
)
def test_junk_degrades_to_free_text(hint: Any) -> None:
    """A hint of which nothing is usable leaves a field for free text."""
    schema, ui = clarification_resume_schema([InputField(name="x", hint=hint)], datetime.date(2026, 11, 30))
    assert schema["properties"] == {"x": {"title": "x", "type": "string", "minLength": 1}}
    assert ui == {}


@given(
    st.one_of(
        st.text(max_size=12), st.from_regex(r"(today|now)([+-][0-9]{1,4}[dwmy])?", fullmatch=True), junk
    ),
    days,
)
def test_a_bound_is_read_or_not_but_never_throws(bound: object, today: datetime.date) -> None:
    """Any bound on any day is a day or nothing."""
    got = day_of(bound, today)
    assert got is None or isinstance(got, datetime.date)


@given(st.integers(0, 200), st.dates(datetime.date(1000, 1, 1), datetime.date(3000, 1, 1)))
def test_a_year_back_keeps_month_and_day_but_for_the_29th(count: int, today: datetime.date) -> None:
    """Relative years move the year alone; 29 February becomes the 28th where it must."""
    got = day_of(f"today-{count}y", today)
    assert got is not None
    assert (got.year, got.month) == (today.year - count, today.month)
    assert got.day == today.day or (today.month, today.day, got.day) == (2, 29, 28)


@given(st.lists(json_values, max_size=6))
def test_options_are_offered_once(values: list[Any]) -> None:
    """A oneOf with two equal members could not be answered."""
    schema, _ = clarification_resume_schema(
        [InputField(name="x", type="code", hint={"enum": values})], datetime.date(2026, 11, 30)
    )
    offered = [option["const"] for option in schema["properties"]["x"].get("oneOf", [])]  # type: ignore[index]
    expected = list(dict.fromkeys(value for value in values if isinstance(value, str) and value.strip()))
    assert expected == offered
