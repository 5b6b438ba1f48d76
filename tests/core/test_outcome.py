"""The one classifier of what a tool did: a table, and the ends of a run."""

from __future__ import annotations

import asyncio
import math
from typing import Any

import pytest

from condor.core.errors import RecordMoved, ToolError
from condor.core.outcome import (
    FULFILLED,
    SETTLED,
    InputField,
    NeedInput,
    StepOutcome,
    StepStatus,
    TimedOut,
    ToolResult,
    classify_step_outcome,
    failed,
    is_json,
    run_end,
    skipped,
    unknown,
)

OK, DEG, NO = StepStatus.SUCCEEDED, StepStatus.DEGRADED, StepStatus.FAILED
SKIP, UNKNOWN = StepStatus.SKIPPED, StepStatus.UNKNOWN


class Silent(Exception):
    """An exception that cannot say what it is."""

    def __str__(self) -> str:
        raise RuntimeError


class Bare(ToolError):
    """A tool author's error that forgot its parent."""

    def __init__(self) -> None:
        Exception.__init__(self, "bare")


def odd(**changes: Any) -> ToolError:
    """An error whose author set something odd on it."""
    error = ToolError("x", effect="none")
    for name, value in changes.items():
        setattr(error, name, value)
    return error


SAME: list[tuple[str, object, StepOutcome]] = [
    ("JSON", {"id": 1}, StepOutcome(status=OK, value={"id": 1})),
    ("nothing", None, StepOutcome(status=OK)),
    ("false", False, StepOutcome(status=OK, value=False)),
    ("a result", ToolResult(value=[1]), StepOutcome(status=OK, value=[1])),
    ("a degraded result", ToolResult(outcome="degraded", value=1), StepOutcome(status=DEG, value=1)),
    (
        "a result that failed",
        ToolResult(outcome="failed", value="no slot"),
        StepOutcome(status=NO, value="no slot", code="tool_said_so", message="no slot"),
    ),
    (
        "a result that was skipped",
        ToolResult(outcome="skipped", value={"why": 1}),
        StepOutcome(status=SKIP, value={"why": 1}, code="tool_said_so"),
    ),
    ("a wish", ToolResult(value=1, needs_replan=True), StepOutcome(status=OK, value=1, needs_replan=True)),
    ("a wish that is none", ToolResult(needs_replan="yes"), StepOutcome(status=OK)),  # type: ignore[arg-type]
    ("proven absence", ToolError("no bed", effect="none"), failed("tool_error", "no bed")),
    (
        "proven absence, worth another try",
        ToolError("busy", effect="none", retryable=True, code="busy"),
        failed("busy", "busy", may_retry=True),
    ),
    (
        "the record moved",
        RecordMoved("version 4, not 3"),
        StepOutcome(status=NO, code="record_moved", message="version 4, not 3", record_moved=True),
    ),
    ("a retry that is no yes", odd(may_retry="no"), failed("tool_error", "x")),
    ("a code that is no word", odd(code="Patient Ann Smith"), failed("tool_error", "x")),
    ("a code that is no text", odd(code=404), failed("tool_error", "x")),
]


@pytest.mark.parametrize(("name", "returned", "expected"), SAME, ids=[row[0] for row in SAME])
def test_what_a_tool_knows_is_what_is_reported(name: str, returned: object, expected: StepOutcome) -> None:
    """A tool that says what it did is believed, whatever its class."""
    for effectful in (True, False):
        assert expected == classify_step_outcome(returned, effectful=effectful), name


DOUBT: list[tuple[str, object, str, str, bool]] = [
    # What came, code, message, whether a read may be tried again.
    ("an error", ToolError("gone"), "tool_error", "gone", False),
    ("a retryable error", ToolError("gone", retryable=True, code="net"), "net", "gone", True),
    ("an effect that is no word", odd(effect="None"), "tool_error", "x", False),
    ("an effect that is nothing", odd(effect=None), "tool_error", "x", False),
    ("an error without its parent", Bare(), "tool_error", "bare", False),
    ("any other exception", ValueError("bad"), "tool_raised", "ValueError: bad", False),
    ("an exception without words", Silent(), "tool_raised", "Silent: (it cannot say what)", False),
    ("a cancellation", asyncio.CancelledError(), "tool_raised", "CancelledError", False),
    ("an exit", SystemExit(1), "tool_raised", "SystemExit: 1", False),
    (
        "a group, even of proven absences",
        ExceptionGroup("two", [ToolError("x", effect="none")]),
        "tool_raised",
        "ExceptionGroup: two (1 sub-exception)",
        False,
    ),
    ("a surrogate in the words", ValueError("a\ud800b"), "tool_raised", "ValueError: a?b", False),
    ("too many words", ValueError("x" * 9_000), "tool_raised", "ValueError: " + "x" * 2_000, False),
    ("silence", TimedOut(seconds=2.5), "timeout", "no answer within 2.5 s", True),
    ("an object", object(), "bad_result", "the tool answered something that is not JSON (object)", False),
    ("bytes", b"{}", "bad_result", "the tool answered something that is not JSON (bytes)", False),
    ("NaN", math.nan, "bad_result", "the tool answered something that is not JSON (float)", False),
    (
        "a result that is no JSON",
        ToolResult(value={1}),  # type: ignore[arg-type]
        "bad_result",
        "the tool answered something that is not JSON (ToolResult)",
        False,
    ),
    (
        "an outcome that is none",
        ToolResult(outcome="done"),  # type: ignore[arg-type]
        "bad_result",
        "the tool answered something that is not JSON (ToolResult)",
        False,
    ),
    *(
        (
            f"a question that cannot be asked ({name})",
            need,
            "bad_result",
            "the tool answered something that is not JSON (NeedInput)",
            False,
        )
        for name, need in {
            "no fields": NeedInput(fields=()),
            "words": NeedInput(fields=("dose",)),  # type: ignore[arg-type]
            "one word": NeedInput(fields="dose"),  # type: ignore[arg-type]
            "no name": NeedInput(fields=(InputField(name=" "),)),
            "a name that is no text": NeedInput(fields=(InputField(name=1),)),  # type: ignore[arg-type]
            "a label that is no JSON": NeedInput(fields=(InputField(name="x", label="\ud800"),)),
            "a message that is no text": NeedInput(fields=(InputField(name="x"),), message=1),  # type: ignore[arg-type]
            "a message that is no JSON": NeedInput(fields=(InputField(name="x"),), message="\ud800"),
        }.items()
    ),
]


@pytest.mark.parametrize(
    ("name", "returned", "code", "message", "may_retry"), DOUBT, ids=[row[0] for row in DOUBT]
)
def test_what_nobody_knows_is_unknown_for_an_effect(
    name: str, returned: object, code: str, message: str, may_retry: bool
) -> None:
    """An effect that may have happened is never called failed; a read that went wrong failed."""
    expected = unknown(code, message)
    assert expected == classify_step_outcome(returned, effectful=True), name
    expected = failed(code, message, may_retry=may_retry)
    assert expected == classify_step_outcome(returned, effectful=False), name


def test_a_question_is_handed_on() -> None:
    """A tool that asks has written nothing; a malformed hint does not spoil its question."""
    need = NeedInput(
        fields=(InputField(name="dose", label="Dose", hint={"enum": math.nan}),), message="how much?"
    )
    for effectful in (True, False):
        assert classify_step_outcome(need, effectful=effectful) is need


def test_a_failure_message_is_cut() -> None:
    """What a tool writes about its failure is a paragraph at most."""
    got = classify_step_outcome(ToolResult(outcome="failed", value="x" * 9_000), effectful=True)
    assert isinstance(got, StepOutcome)
    assert len(got.message) == 2_000


def test_the_statuses_fall_apart_into_open_and_settled() -> None:
    """Unknown is neither failed nor done; only success carries a result on."""
    assert {OK, DEG, NO, SKIP} == SETTLED
    assert {OK, DEG} == FULFILLED
    assert set(StepStatus) - SETTLED == {
        StepStatus.PENDING,
        StepStatus.STARTED,
        StepStatus.SUSPENDED,
        StepStatus.UNKNOWN,
    }


def test_the_three_ways_to_say_an_end() -> None:
    """Each has its status and its reason, and none its value."""
    assert failed("c", "m", may_retry=True) == StepOutcome(
        status=NO, code="c", message="m", may_retry=True, absent=True
    )
    assert skipped("c", "m") == StepOutcome(status=SKIP, code="c", message="m")
    assert unknown("c", "m") == StepOutcome(status=UNKNOWN, code="c", message="m")


def test_what_is_json() -> None:
    """What can be stored and hashed, and nothing else."""
    assert all(map(is_json, [None, 1, 1.5, "x", [], {}, {"a": (1, [None])}]))
    assert not any(map(is_json, [math.inf, 2**53, "\ud800", {1: 1}, {1}, b"", object(), ToolResult()]))


@pytest.mark.parametrize(
    ("expected", "statuses", "sinks"),
    [
        ("succeeded", {"a": OK, "b": OK}, ["b"]),
        ("degraded", {"a": NO, "b": OK}, ["b"]),
        ("degraded", {"a": OK, "b": DEG}, ["b"]),
        ("degraded", {"a": OK, "b": OK, "c": SKIP}, ["b", "c"]),
        ("degraded", {"a": UNKNOWN, "b": OK}, ["b"]),
        ("failed", {"a": OK, "b": NO}, ["b"]),
        ("failed", {"a": OK, "b": SKIP}, ["b"]),
        ("failed", {"a": OK, "b": UNKNOWN}, ["b"]),
        ("failed", {"a": SKIP}, ["a"]),
    ],
)
def test_how_a_run_ends(expected: str, statuses: dict[str, StepStatus], sinks: list[str]) -> None:
    """Succeeded when all did, failed when nothing that was asked for was reached, degraded between."""
    assert expected == run_end(statuses, sinks)
