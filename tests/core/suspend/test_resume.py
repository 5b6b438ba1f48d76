"""Reading an answer: what is exactly the card's shape counts, everything else changes nothing."""

from __future__ import annotations

import datetime
import json
from typing import Any

import pytest

from condor.core.errors import AnswerInvalid, AnswerRefused
from condor.core.outcome import InputField
from condor.core.suspend import (
    Answer,
    ReasonCode,
    clarification_resume_schema,
    read_reason_code,
    read_resume,
    resume_schema,
)
from condor.core.suspend.resume import check_value

APPROVAL, CLARIFICATION, RECONCILE = ReasonCode.APPROVAL, ReasonCode.CLARIFICATION, ReasonCode.RECONCILE
TODAY = datetime.date(2026, 11, 30)


def clarification(*fields: InputField) -> dict[str, Any]:
    """The schema of a clarification card."""
    return clarification_resume_schema(fields, TODAY)[0]


DOSE = clarification(InputField(name="dose", label="Dose"))


def read(reason: ReasonCode, data: Any, schema: dict[str, Any] | None = None) -> Answer:
    """An answer to a card of its own kind."""
    return read_resume(reason, resume_schema(reason) if schema is None else schema, data)


def test_yes_is_true_and_nothing_else() -> None:
    """The one answer that lets a tool run."""
    assert read(APPROVAL, {"approved": True}).approved
    assert read(APPROVAL, {"approved": True, "reason": "checked"}).reason == "checked"
    assert not read(APPROVAL, {"approved": False}).approved
    assert not read(APPROVAL, {"approved": False, "reason": "no"}).happened


A19 = [
    *(
        {"approved": said}
        for said in ("true", "on", "yes", "t", 1, 1.0, [True], None, "True", {"approved": True})
    ),
    *({}, [], None, [{"approved": True}], "true", True, 1),
]


@pytest.mark.parametrize("body", A19, ids=json.dumps)
def test_a19_what_is_not_exactly_true_or_false_is_refused(body: object) -> None:
    """No lenient boolean: 422, and the run stays suspended."""
    with pytest.raises(AnswerInvalid) as refusal:
        read(APPROVAL, body)
    assert str(refusal.value).endswith("; the card stays open")
    assert isinstance(refusal.value, AnswerRefused)


@pytest.mark.parametrize("said", ["true", "yes", 1, 1.0, [True], {"approved": True}, None, False])
def test_a_stored_answer_that_was_never_read_is_no_yes(said: Any) -> None:
    """The leaf's own reading is strict too: a row that somebody wrote by hand runs nothing."""
    answer = Answer(reason_code=APPROVAL, body={"approved": said, "reason": said})
    assert not answer.approved
    assert isinstance(answer.reason, str)
    assert not Answer(reason_code=RECONCILE, body={"happened": said}).happened


@pytest.mark.parametrize(
    "more",
    [
        {"approverId": "dr.house"},
        {"role": "admin"},
        {"Approved": True},
        {"approved ": True},
        {"suspendId": "sus_x"},
        {"": 1},
        {"comment": ""},
    ],
    ids=json.dumps,
)
def test_a20_a21_no_other_key_is_taken(more: dict[str, Any]) -> None:
    """Who answered is the session's user; a body cannot say it, nor say ``approved`` in two ways."""
    for approved in (True, False):
        with pytest.raises(AnswerInvalid, match="unknown key"):
            read(APPROVAL, {"approved": approved, **more})


def test_a26_an_answer_of_another_kind_is_refused() -> None:
    """A clarification's answer approves nothing, and an approval answers no clarification."""
    for reason, schema, body in (
        (APPROVAL, None, {"dose": "5 mg"}),
        (CLARIFICATION, DOSE, {"approved": True}),
        (RECONCILE, None, {"approved": True}),
        (APPROVAL, None, {"happened": True, "reason": "seen"}),
    ):
        with pytest.raises(AnswerInvalid):
            read(reason, body, schema)


def test_a26_a_field_called_approved_approves_nothing() -> None:
    """Whatever a tool calls its fields, only an approval card is an approval."""
    schema = clarification(
        InputField(name="approved", type="boolean"), InputField(name="happened", type="boolean")
    )
    answer = read(CLARIFICATION, {"approved": True, "happened": True}, schema)
    assert (answer.approved, answer.happened, answer.reason) == (False, False, "")


@pytest.mark.parametrize(
    "schema", [{}, DOSE, {"properties": {"approved": {"type": "string"}}}, {"properties": {}}]
)
def test_the_shape_of_an_approval_is_fixed(schema: dict[str, Any]) -> None:
    """A damaged or exchanged schema on a stored card makes neither yes nor no of anything."""
    assert read(APPROVAL, {"approved": True}, schema).approved
    for body in ({}, {"approved": "true"}, {"dose": "5 mg"}):
        with pytest.raises(AnswerInvalid):
            read(APPROVAL, body, schema)


def test_a_reconciliation_says_what_and_how_one_knows() -> None:
    """Both are needed; ``happened`` is a strict boolean too."""
    answer = read(RECONCILE, {"happened": True, "reason": "it is in the record"})
    assert (answer.happened, answer.approved, answer.reason) == (True, False, "it is in the record")
    assert not read(RECONCILE, {"happened": False, "reason": "not there"}).happened
    for body in ({"happened": True}, {"happened": 1, "reason": "x"}, {"happened": True, "reason": " \u200b"}):
        with pytest.raises(AnswerInvalid):
            read(RECONCILE, body)


REFUSED: list[tuple[str, str, ReasonCode, dict[str, Any] | None, Any]] = [
    ("the answer is null; send an object", "", APPROVAL, None, None),
    ("the answer is an array; send an object", "", APPROVAL, None, []),
    (
        "the answer holds something that is not JSON (NaN, a lone surrogate, a number beyond 2**53)",
        "",
        APPROVAL,
        None,
        {"approved": True, "reason": "\ud800"},
    ),
    ("unknown key 'by\\u202e'; take approved, reason", "/by\\u202e", APPROVAL, None, {"by\u202e": 1}),
    ("approved is missing", "/approved", APPROVAL, None, {"reason": "x"}),
    ("a text stands where true or false belongs", "/approved", APPROVAL, None, {"approved": "true"}),
    ("a number stands where a text belongs", "/reason", APPROVAL, None, {"approved": True, "reason": 1}),
    (
        "2001 characters are too many; at most 2000",
        "/reason",
        APPROVAL,
        None,
        {"approved": True, "reason": "x" * 2001},
    ),
    ("happened is missing", "/happened", RECONCILE, None, {"reason": "x"}),
    ("write at least 1 character", "/reason", RECONCILE, None, {"happened": True, "reason": ""}),
    ("write at least 1 character", "/dose", CLARIFICATION, DOSE, {"dose": "\u200b\n"}),
    ("dose is missing", "/dose", CLARIFICATION, DOSE, {}),
    ("null stands where a text belongs", "/dose", CLARIFICATION, DOSE, {"dose": None}),
]


@pytest.mark.parametrize(
    ("message", "path", "reason", "schema", "body"),
    REFUSED,
    ids=[f"{row[1]}: {row[0][:30]}" for row in REFUSED],
)
def test_a_fault_is_refused_with_its_place(
    message: str, path: str, reason: ReasonCode, schema: dict[str, Any] | None, body: Any
) -> None:
    """One line says what is wrong and where; it is printable, whatever was sent."""
    with pytest.raises(AnswerInvalid) as refusal:
        read(reason, body, schema)
    where = f" (at {path})" if path else ""
    assert (path, f"{message}{where}; the card stays open") == (refusal.value.path, str(refusal.value))


TEXTS: dict[str, Any] = {"type": "array", "items": {"type": "string"}}
LETTERS: dict[str, Any] = {"type": "string", "oneOf": [{"const": "a"}, {"const": "b"}]}
ONE: dict[str, Any] = {"type": "integer", "oneOf": [{"const": 1}]}
DATE: dict[str, Any] = {"type": "string", "format": "date"}
MOMENT: dict[str, Any] = {"type": "string", "format": "date-time"}
NO_DATE = "that is no date; write it as 2026-11-30"
NO_MOMENT = "that is no date-time; write it as 2026-11-30T09:30:00Z"

#: The shape, the value, the refusal (empty where the value is fine).
FIELD: list[tuple[dict[str, Any], Any, str]] = [
    ({"type": "integer"}, 3, ""),
    ({"type": "integer"}, True, "true or false stands where a whole number belongs"),
    ({"type": "integer"}, 3.0, "a number stands where a whole number belongs"),
    ({"type": "integer", "minimum": 1}, 0, "the number is below 1"),
    ({"type": "number", "maximum": 2.5}, 2.5, ""),
    ({"type": "number", "maximum": 2.5}, 2.6, "the number is above 2.5"),
    ({"type": "number"}, False, "true or false stands where a number belongs"),
    ({"type": "number"}, "3", "a text stands where a number belongs"),
    ({"type": "boolean"}, False, ""),
    ({"type": "boolean"}, 0, "a number stands where true or false belongs"),
    ({"type": "object"}, {"a": 1}, ""),
    ({"type": "object"}, [], "an array stands where an object belongs"),
    ({"type": "any"}, {"a": [1]}, ""),
    ({"type": "array", "items": {"type": "any"}}, [1, None, {"a": 1}], ""),
    (TEXTS, "a", "a text stands where an array belongs"),
    (TEXTS, ["a", 1], "a number stands where a text belongs (at /x/1)"),
    (TEXTS, ["a", "a"], ""),
    ({"type": "array", "minItems": 1}, [], "choose at least one"),
    ({**TEXTS, "uniqueItems": True}, ["a", "a"], "one of them stands twice"),
    (LETTERS, "b", ""),
    (LETTERS, "c", "that is no option; take one of 'a, b'"),
    ({"type": "number", "oneOf": [{"const": 1.0}]}, 1, ""),
    ({"type": "number", "oneOf": [{"const": 1}]}, 1.0, ""),
    (ONE, 2, "that is no option; take one of '1'"),
    (ONE, True, "true or false stands where a whole number belongs"),
    ({"type": "string", "minLength": 2}, "a\u200b", "write at least 2 characters"),
    ({"type": "string", "minLength": 2}, "ab", ""),
    ({"type": "string", "maxLength": 3}, "abcd", "4 characters are too many; at most 3"),
    ({}, "a", ""),
    (DATE, "2026-11-30", ""),
    (DATE, "20261130", NO_DATE),
    (DATE, "2026-W49-1", NO_DATE),
    (DATE, "2026-02-30", NO_DATE),
    (DATE, "2026-11-30T00:00:00Z", NO_DATE),
    (DATE, " 2026-11-30", NO_DATE),
    ({**DATE, "formatMinimum": "2026-11-30"}, "2026-11-29", "the day is before 2026-11-30"),
    ({**DATE, "formatMaximum": "2026-11-30"}, "2026-12-01", "the day is after 2026-11-30"),
    (MOMENT, "2026-11-30T09:30:00Z", ""),
    (MOMENT, "2026-11-30T09:30:00.123456789+05:30", ""),
    (MOMENT, "2026-11-30T09:30:00", NO_MOMENT),
    (MOMENT, "2026-11-30", NO_MOMENT),
    (MOMENT, "2026-11-30T24:00:00Z", NO_MOMENT),
    ({**MOMENT, "formatMaximum": "2026-11-30"}, "2026-12-01T00:00:00Z", "the day is after 2026-11-30"),
]


@pytest.mark.parametrize(("shape", "value", "message"), FIELD)
def test_a_value_has_the_shape_of_its_field(shape: dict[str, Any], value: Any, message: str) -> None:
    """Each type with its bounds, strict: a look-alike is not interpreted."""
    if not message:
        check_value(value, shape, "/x")
        return
    with pytest.raises(AnswerInvalid) as refusal:
        check_value(value, shape, "/x")
    expected = message if "(at " in message else f"{message} (at /x)"
    assert f"{expected}; the card stays open" == str(refusal.value)


HIDDEN = [
    *("UTI\u202e", "a\u2066b", "de\u200blete", "a\ufeff", "a\u200fb", "a\u00adb", "x\u2028y"),
    *(
        "a\x00b",
        "a\x1b[2J",
        "a\rb",
        "a\x7f",
        "a\x85b",
        "de\u200dlete",
        "\u200ca",
        "\u0915\u200d\u200da",
        "a\u061cb",
    ),
    "a\U000e0041b",
]


@pytest.mark.parametrize("text", HIDDEN)
def test_what_cannot_be_seen_is_no_answer(text: str) -> None:
    """In a text, a list of texts and and below an object; one clear message with the place."""
    for shape, value, path in (
        ({"type": "string"}, text, "/x"),
        ({"type": "array", "items": {"type": "string"}}, ["ok", text], "/x/1"),
        ({"type": "object"}, {"a": [text]}, "/x/a/0"),
    ):
        with pytest.raises(
            AnswerInvalid, match=r"U\+[0-9A-F]{4,5} at character \d+ cannot be seen"
        ) as refusal:
            check_value(value, shape, "/x")
        assert refusal.value.path == path
    with pytest.raises(AnswerInvalid, match="cannot be seen"):
        read(CLARIFICATION, {"x": text}, {"properties": {"x": {"type": "string"}}})
    assert not read(APPROVAL, {"approved": False, "reason": text}).approved, (
        "a no is taken, and shown escaped"
    )
    with pytest.raises(AnswerInvalid):
        check_value({text: 1}, {"type": "object"}, "/x")


@pytest.mark.parametrize(
    "text",
    [
        "two\nlines\tand a tab",
        "crlf\r\nline",
        "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645",
        "na\u00a0me \u00e9",
        "\U0001f468\u200d\u2695\ufe0f",
    ],
)
def test_what_people_write_is_an_answer(text: str) -> None:
    """Line breaks, tabs, and joiners where a script needs them."""
    check_value(text, {"type": "string"}, "/x")


def test_an_option_is_its_authors_own_word() -> None:
    """Every option that a form offers can be chosen."""
    check_value("a\u00adb", {"type": "string", "oneOf": [{"const": "a\u00adb"}]}, "/x")


def test_a_long_list_of_options_is_cut() -> None:
    """A refusal stays one short line, whatever the options say."""
    shape = {"type": "string", "oneOf": [{"const": f"option\n{index}"} for index in range(500)]}
    with pytest.raises(AnswerInvalid) as refusal:
        check_value("x", shape, "/x")
    assert len(str(refusal.value)) < 200
    assert "\n" not in str(refusal.value)


def test_a_refusal_quotes_nothing_of_the_answer() -> None:
    """An answer may hold record data; what is sent back or logged does not."""
    canary = "ZZCANARY-7731"
    shapes = [
        {"type": "integer"},
        {"type": "boolean"},
        {"type": "string", "format": "date"},
        {"type": "string", "maxLength": 2},
        {"type": "string", "oneOf": [{"const": "a"}]},
        {"type": "array"},
        {"type": "object"},
    ]
    for shape in shapes:
        schema = {"properties": {"x": shape}, "required": ["x"]}
        with pytest.raises(AnswerInvalid) as refusal:
            read(CLARIFICATION, {"x": canary}, schema)
        assert canary not in str(refusal.value)


@pytest.mark.parametrize(
    ("expected", "stored"),
    [
        (APPROVAL, "approval"),
        (CLARIFICATION, "clarification"),
        (RECONCILE, "reconcile"),
        (RECONCILE, RECONCILE),
        (APPROVAL, "Clarification"),
        (APPROVAL, ""),
        (APPROVAL, None),
        (APPROVAL, {"kind": "clarification"}),
        (APPROVAL, ["clarification"]),
        (APPROVAL, 1),
    ],
)
def test_there_is_one_reader_of_the_reason_code(expected: ReasonCode, stored: object) -> None:
    """What cannot be read is an approval, the strictest; a payload cannot pose as a clarification."""
    assert read_reason_code(stored) is expected
