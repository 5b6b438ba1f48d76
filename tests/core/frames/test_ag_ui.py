"""The AG-UI projection: openers, interrupts, continuation, and the three ways to end."""

from __future__ import annotations

import json
from typing import Any

import pytest

from condor.core.frames.ag_ui import AgUi
from condor.core.run import EventKind, RunStatus
from tests.core.frames.logs import RUN, Log, only


def types(events: list[dict[str, Any]]) -> list[str]:
    """What was said, in order."""
    return [event["type"] for event in events]


def parked() -> Log:
    """A run with one finished read and one open card."""
    log = Log()
    log.plan({"id": "s1"}, {"id": "s2", "after": ["s1"]})
    log.begin("s1", patient="p1")
    log.settle("s1", "succeeded", {"found": 1})
    log.ask("s2", message="", expiresAt="2026-12-01T09:00:00.000Z")
    return log


def test_a_stream_opens_with_the_clients_names_and_our_state() -> None:
    """The client's run id is the stream's; ours is in the state."""
    assert Log().ag_ui("succeeded")[:3] == [
        {"type": "RUN_STARTED", "threadId": "ses_1", "runId": "theirs", "protocolVersion": "1.0"},
        {"type": "STATE_SNAPSHOT", "snapshot": {"runId": RUN, "runStatus": "executing", "seq": 1}},
        {"type": "STEP_STARTED", "stepName": "run"},
    ]


def test_a_stream_of_nothing_is_still_opened_and_closed() -> None:
    """Whoever asks gets a whole run."""
    stream = AgUi(RUN, thread_id="ses_1", client_run_id="theirs")
    assert types(stream.finish(RunStatus.SUCCEEDED, 0)) == [
        "RUN_STARTED", "STATE_SNAPSHOT", "STEP_STARTED", "STEP_FINISHED", "STATE_DELTA", "RUN_FINISHED",
    ]  # fmt: skip


def test_a_call_is_opened_argued_ended_and_answered() -> None:
    """Arguments and results travel as JSON text, inside the run's one message."""
    log = Log()
    log.plan({"id": "s1", "title": "Look"})
    log.begin("s1", name="Anna", password="x")
    log.settle("s1", "succeeded", None)
    called = only(
        log.ag_ui("succeeded"), "TOOL_CALL_START", "TOOL_CALL_ARGS", "TOOL_CALL_END", "TOOL_CALL_RESULT"
    )
    assert called == [
        {
            "type": "TOOL_CALL_START",
            "toolCallId": "call_run_1_3",
            "toolCallName": "t",
            "parentMessageId": "msg_run_1",
            "metadata": {"condor": {"title": "Look", "stepId": "s1"}},
        },
        {"type": "TOOL_CALL_ARGS", "toolCallId": "call_run_1_3", "delta": '{"name":"Anna","password":"•••"}'},
        {"type": "TOOL_CALL_END", "toolCallId": "call_run_1_3"},
        {
            "type": "TOOL_CALL_RESULT",
            "messageId": "res_call_run_1_3",
            "toolCallId": "call_run_1_3",
            "content": "null",
            "role": "tool",
        },
    ]


def test_a_call_that_failed_is_marked() -> None:
    """The text alone could be taken for a result."""
    log = Log()
    log.begin("s1")
    log.settle("s1", "failed", message="no")
    [result] = only(log.ag_ui("failed"), "TOOL_CALL_RESULT")
    assert (result["content"], result["metadata"]) == ("no", {"condor": {"failed": True}})


def test_a_parked_run_ends_with_an_interrupt_for_its_card() -> None:
    """The card's call is open: it has no result, and the interrupt carries the card."""
    log = parked()
    events = log.ag_ui("suspended")
    card = {**log.payloads["card:sus_s2"], "status": "pending"}
    assert [event["toolCallId"] for event in only(events, "TOOL_CALL_RESULT")] == ["call_run_1_3"]
    assert events[-1]["outcome"] == {
        "type": "interrupt",
        "interrupts": [
            {
                "id": "sus_s2",
                "reason": "tool_call",
                "toolCallId": "sus_s2",
                "message": "Do it",
                "metadata": {"condor": card},
                "responseSchema": {"type": "object"},
                "expiresAt": "2026-12-01T09:00:00.000Z",
            }
        ],
    }


@pytest.mark.parametrize(
    ("code", "origin", "reason"),
    [
        ("approval", "tool_policy", "tool_call"),
        ("approval", "planned_approval", "tool_call"),
        ("approval", "plan_mutation", "condor:plan_mutation"),
        ("clarification", "tool_input", "input_required"),
        ("reconcile", "reconcile", "condor:reconcile"),
    ],
)
def test_an_interrupt_says_what_kind_of_answer_it_takes(code: str, origin: str, reason: str) -> None:
    """By the card's reason code, and by its origin where a plan is edited."""
    log = Log()
    log.ask("s1", code, origin=origin, message="Say it.")
    [interrupt] = log.ag_ui("suspended")[-1]["outcome"]["interrupts"]
    assert (interrupt["reason"], interrupt["message"]) == (reason, "Say it.")
    assert "expiresAt" not in interrupt


def test_every_open_card_is_an_interrupt() -> None:
    """And none that was answered."""
    log = Log()
    log.ask("s1")
    log.ask("s2")
    log.ask("s3")
    log.close("s2", "approved", {"approved": True})
    interrupts = log.ag_ui("suspended")[-1]["outcome"]["interrupts"]
    assert [interrupt["id"] for interrupt in interrupts] == ["sus_s1", "sus_s3"]


def test_an_erased_card_still_interrupts() -> None:
    """With what the history knows; no schema is made up."""
    log = Log()
    log.ask("s1")
    log.payloads.clear()
    [interrupt] = log.ag_ui("suspended")[-1]["outcome"]["interrupts"]
    assert (interrupt["id"], interrupt["message"]) == ("sus_s1", "a person must decide")
    assert "responseSchema" not in interrupt


def test_the_continuing_run_sends_the_old_calls_result_and_no_second_opener() -> None:
    """What the earlier stream told is not told again."""
    log = parked()
    rested = len(log.events)
    log.close("s2", "approved", {"approved": True})
    log.begin("s2")
    log.settle("s2", "succeeded")
    log.say("Done.")
    log.end("succeeded")
    events = log.ag_ui("succeeded", after=rested)
    assert types(events) == [
        "RUN_STARTED",
        "STATE_SNAPSHOT",
        "STEP_STARTED",
        "TOOL_CALL_RESULT",
        "TOOL_CALL_START",
        "TOOL_CALL_ARGS",
        "TOOL_CALL_END",
        "TOOL_CALL_RESULT",
        "TEXT_MESSAGE_START",
        "TEXT_MESSAGE_CONTENT",
        "TEXT_MESSAGE_END",
        "ACTIVITY_SNAPSHOT",
        "STEP_FINISHED",
        "STATE_DELTA",
        "RUN_FINISHED",
    ]
    assert events[1]["snapshot"]["seq"] == rested
    assert events[3]["toolCallId"] == "sus_s2"
    assert json.loads(events[3]["content"])["status"] == "approved"


def test_the_plan_is_told_whole_then_by_what_changed() -> None:
    """A revision is told whole again."""
    log = Log()
    log.plan({"id": "s1"}, {"id": "s2"})
    log.settle("s2", "skipped")
    log.add(EventKind.PLAN_REVISED, revision=2, verb="skip-remaining", stepId="s1", graph="graph")
    log.settle("s1", "failed")
    events = log.ag_ui("failed")
    assert [event["content"]["revision"] for event in only(events, "ACTIVITY_SNAPSHOT")] == [1, 2]
    assert [event["patch"] for event in only(events, "ACTIVITY_DELTA")] == [
        [{"op": "replace", "path": "/steps/0/status", "value": "failed"}]
    ]


def test_what_the_protocol_has_no_word_for_is_custom() -> None:
    """Under a name of ours."""
    log = Log()
    log.add(EventKind.BREAKER_STOPPED, limit="replans")
    [custom] = only(log.ag_ui("failed"), "CUSTOM")
    assert custom == {"type": "CUSTOM", "name": "condor.breaker-stopped", "value": {"limit": "replans"}}


@pytest.mark.parametrize(
    ("status", "outcome"), [("succeeded", "success"), ("degraded", "success"), ("aborted", "cancelled")]
)
def test_an_end_that_is_no_failure(status: str, outcome: str) -> None:
    """The truth stands beside it."""
    log = Log()
    log.end(status)
    assert log.ag_ui(status)[-1] == {
        "type": "RUN_FINISHED",
        "threadId": "ses_1",
        "runId": "theirs",
        "metadata": {"condor": {"runId": RUN, "runStatus": status, "seq": 2}},
        "outcome": {"type": outcome},
    }


def test_a_failed_run_is_an_error_with_the_closing_text() -> None:
    """Its code is the stable word for why."""
    log = Log(request="request")
    log.say("This is not understood.")
    log.end("failed", "request_not_understood")
    error = log.ag_ui("failed")[-1]
    assert (error["type"], error["message"]) == ("RUN_ERROR", "This is not understood.")
    assert error["code"] == "request_not_understood"


def test_a_failure_without_a_word_is_still_one() -> None:
    """Nothing is left empty."""
    error = Log().ag_ui("failed")[-1]
    assert (error["message"], error["code"]) == ("the run has failed", "failed")


def test_a_run_cannot_wait_for_nothing() -> None:
    """INVARIANT: suspended iff something is open."""
    with pytest.raises(AssertionError, match="waits for nothing"):
        Log().ag_ui("suspended")
