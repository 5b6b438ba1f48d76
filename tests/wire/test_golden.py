"""The golden streams are what the code says today, and hold what both wires promise."""

from __future__ import annotations

import json
from collections import Counter
from functools import cache
from typing import TYPE_CHECKING, Any

import pytest

from condor.core.run import EventKind
from tests.wire.frames import made_log
from tests.wire.golden import WIRE, make_golden

if TYPE_CHECKING:
    from collections.abc import Iterator

golden = cache(make_golden)

PATHS = sorted(path.relative_to(WIRE).as_posix() for path in WIRE.rglob("*.json"))
STREAMS = [path for path in PATHS if path.startswith("streams/")]


def streams(path: str) -> Iterator[Any]:
    """The streams of a golden file."""
    yield from json.loads((WIRE / path).read_text(encoding="utf-8"))["streams"]


def test_no_file_is_missing_or_left_over() -> None:
    """Every scenario has its file."""
    assert sorted(golden()) == PATHS


@pytest.mark.parametrize("path", PATHS)
def test_nothing_has_drifted(path: str) -> None:
    """A change of the wire is seen in review: ``python -m tests.wire.golden`` writes it down."""
    assert golden()[path] == (WIRE / path).read_text(encoding="utf-8")


@pytest.mark.parametrize("path", STREAMS)
def test_the_grammar_of_a_message(path: str) -> None:
    """One start, one step, one finish; a card's two chunks stand side by side; nothing is orphaned."""
    for stream in streams(path):
        chunks = stream["uiMessage"]
        kinds = [chunk["type"] for chunk in chunks]
        assert kinds[:2] == ["start", "start-step"]
        assert kinds[-2:] == ["finish-step", "finish"]
        assert not {"start", "start-step", "finish-step", "finish", "error", "abort"} & set(kinds[2:-2])
        opened: Counter[str] = Counter()
        for chunk, following in zip(chunks, [*chunks[1:], {}], strict=True):
            if chunk["type"] == "tool-input-available":
                opened[chunk["toolCallId"]] += 1
                if chunk["toolName"] == "__suspend__":
                    assert following["toolCallId"] == chunk["toolCallId"]
                    assert following["output"]["status"] == "pending"
            elif chunk["type"].startswith("tool-output"):
                assert opened[chunk["toolCallId"]] == 1


@pytest.mark.parametrize("path", STREAMS)
def test_nothing_is_null_but_what_a_tool_said(path: str) -> None:
    """Absent optional keys are left out: no chunk has a null of its own."""
    for stream in streams(path):
        for chunk in stream["uiMessage"]:
            absent = [key for key, value in chunk.items() if value is None]
            assert absent in ([], ["output"])


@pytest.mark.parametrize("path", STREAMS)
def test_a_later_message_begins_as_the_earlier_did(path: str) -> None:
    """What a client has seen stays as it was; a replay only grows, and cards change in place."""
    before: list[Any] = []
    for stream in streams(path):
        chunks = stream["uiMessage"][:-3]  # the plan at the rest, finish-step, finish
        assert chunks[: len(before)] == before
        before = chunks


def told(path: str, kind: str) -> list[Any]:
    """What the last stream of a file says of a kind, the same on both wires."""
    *_, last = streams(path)
    chunks = [chunk["data"] for chunk in last["uiMessage"] if chunk["type"] == f"data-{kind}"]
    replay = last.get("agUiReplay", last["agUi"])
    assert chunks == [event["value"] for event in replay if event.get("name") == f"condor.{kind}"]
    return chunks


@pytest.mark.parametrize(
    ("path", "verbs"),
    [
        ("streams/substituted.json", [("retry-with-different-tool", "re-scope.equal", 2)]),
        ("streams/plan-asked.json", [("retry-with-different-tool", "end.supervised", 2)]),
        ("streams/plan-kept.json", [("skip-remaining", "skip.declined", 1)]),
        ("streams/failed-read.json", [("skip-remaining", "skip.no-way", 1)]),
        (
            "streams/breaker.json",
            [("retry-with-different-tool", "replan.of-fulfilled", revision) for revision in (2, 3)],
        ),
    ],
)
def test_each_edit_of_a_plan_is_told_once_with_its_rule(path: str, verbs: list[Any]) -> None:
    """As ``data-plan-revised`` and as ``condor.plan-revised``."""
    assert [(one["verb"], one["rule"], one["revision"]) for one in told(path, "plan-revised")] == verbs


def test_a_decision_to_leave_the_plan_alone_is_told() -> None:
    """As ``data-plan-kept`` and as ``condor.plan-kept``, with its rule and why."""
    why = "nothing stands in for it"
    wanted = {"stepId": "lab", "decision": "continue", "rule": "end.as-it-is", "why": why}
    assert told("streams/as-it-is.json", "plan-kept") == [wanted]


def test_a_breaker_says_what_it_met() -> None:
    """The ceiling, what was used of it, and how the run ends."""
    (stop,) = told("streams/breaker.json", "breaker-stopped")
    assert {name: stop[name] for name in ("limit", "used", "most", "unit", "outcome", "stepId")} == {
        "limit": "replans_max", "used": 2, "most": 2, "unit": "replans", "outcome": "degraded",
        "stepId": "scan",
    }  # fmt: skip


def test_no_secret_is_on_any_wire() -> None:
    """What was typed into a secret argument is nowhere in what is said of the run."""
    assert "correct horse" not in (WIRE / "streams/secrets.json").read_text(encoding="utf-8")


def test_every_kind_of_event_is_told_in_some_stream() -> None:
    """Kinds that no run brings about yet are in the log by hand."""
    by_hand = {event.kind for event in made_log()}
    by_runs = {
        EventKind.STEP_STARTED,
        EventKind.STEP_SETTLED,
        EventKind.CARD_RENDERED,
        EventKind.APPROVAL_REQUIRED,
        EventKind.CLARIFICATION_REQUIRED,
        EventKind.RECONCILE_REQUIRED,
        EventKind.SUSPENSION_CLOSED,
        EventKind.PLAN_REVISED,
        EventKind.BREAKER_STOPPED,
    }
    assert by_hand | by_runs == set(EventKind)
