"""The UI message: what each event says, and that nothing is opened twice, orphaned, doubled or leaked."""

from __future__ import annotations

from typing import Any

import pytest

from condor.core.frames.ui_message import UiMessage, payload_names
from condor.core.run import TERMINAL, EventKind, RunStatus
from tests.core.frames.logs import AT, RUN, Log, only

OURS = {"dynamic": True, "providerExecuted": True}


def opened(call: str, tool: str, given: Any, step: str) -> dict[str, Any]:
    """A call's first chunk."""
    named = {"type": "tool-input-available", "toolCallId": call, "toolName": tool, "input": given}
    return {**named, **OURS, "providerMetadata": {"condor": {"stepId": step}}}


def test_every_kind_of_event_is_told() -> None:
    """A kind that is added is either told or fails here."""
    assert set(UiMessage(RUN)._told_by) == set(EventKind)


@pytest.mark.parametrize(("started", "status"), [({}, "executing"), ({"request": "request"}, "planning")])
def test_a_message_begins_with_whose_it_is(started: dict[str, str], status: str) -> None:
    """One globally unique id a run; a run of a request is planned first."""
    log = Log(**started)
    assert log.told_by(UiMessage(RUN)) == [
        {
            "type": "start",
            "messageId": "msg_run_1",
            "messageMetadata": {"runId": RUN, "runStatus": status, "seq": 1},
        },
        {"type": "start-step"},
    ]


@pytest.mark.parametrize("status", [*sorted(TERMINAL), RunStatus.SUSPENDED])
def test_a_message_ends_where_the_run_rests(status: RunStatus) -> None:
    """The reason is a client's word; the truth is the run's status."""
    reasons = {
        "succeeded": "stop",
        "degraded": "stop",
        "failed": "error",
        "suspended": "other",
        "aborted": "other",
    }
    assert UiMessage(RUN).finish(status, 7) == [
        {"type": "finish-step"},
        {
            "type": "finish",
            "finishReason": reasons[status],
            "messageMetadata": {"runStatus": status, "seq": 7},
        },
    ]


def test_a_stream_is_not_closed_while_the_run_goes_on() -> None:
    """A closed stream without a rest would read as an end."""
    with pytest.raises(AssertionError, match="run_1 is executing"):
        UiMessage(RUN).finish(RunStatus.EXECUTING, 1)


# -- calls -----------------------------------------------------------------------------------


def test_a_call_is_opened_and_closed_with_what_the_tool_said() -> None:
    """A null output is an output."""
    log = Log()
    log.begin("s1", "chart.read", patient="p1")
    log.settle("s1", "succeeded", None)
    assert log.chunks() == [
        opened("call_run_1_2", "chart.read", {"patient": "p1"}, "s1"),
        {"type": "tool-output-available", "toolCallId": "call_run_1_2", "output": None, **OURS},
    ]


def test_a_call_has_its_title() -> None:
    """The plan's, else the tool's."""
    log = Log()
    log.plan({"id": "s1", "title": "Look it up"}, {"id": "s2", "tool": "u"})
    log.begin("s1", "t")
    log.begin("s2", "u")
    titled = only(log.told_by(UiMessage(RUN, titles={"t": "T", "u": "U"})), "tool-input-available")
    assert [chunk["title"] for chunk in titled] == ["Look it up", "U"]


@pytest.mark.parametrize(
    ("settled", "said"),
    [
        ({"status": "failed", "message": "no such chart", "code": "x"}, "no such chart"),
        ({"status": "failed", "code": "lab_down"}, "lab_down"),
        ({"status": "failed"}, "no reason was given"),
        ({"status": "skipped", "message": "nothing to do"}, "skipped: nothing to do"),
    ],
)
def test_a_call_that_failed_says_why(settled: dict[str, str], said: str) -> None:
    """In the tool's words, else in a stable one."""
    log = Log()
    log.begin("s1")
    log.settle("s1", **settled)
    assert log.chunks()[1:] == [
        {"type": "tool-output-error", "toolCallId": "call_run_1_2", "errorText": said, **OURS}
    ]


def test_a_degraded_call_has_an_output() -> None:
    """It did something."""
    log = Log()
    log.begin("s1")
    log.settle("s1", "degraded", {"partly": True})
    assert log.chunks()[1]["output"] == {"partly": True}


def test_a_step_that_was_never_opened_is_never_closed() -> None:
    """A skipped step has no part: an orphan would end a client's stream."""
    log = Log()
    log.settle("s1", "skipped", code="denied")
    assert log.chunks() == []


def test_an_unknown_outcome_says_so_and_a_retry_is_another_call() -> None:
    """Two calls, each closed once, whatever is found out later."""
    log = Log()
    log.begin("s1")
    log.add(EventKind.STEP_SETTLED, stepId="s1", status="unknown", code="timeout")
    log.add(EventKind.STEP_STARTED, stepId="s1", tool="t", attempt=2)
    log.settle("s1", "succeeded", 1)
    log.settle("s1", "succeeded", 2)
    assert [(chunk["type"], chunk["toolCallId"]) for chunk in log.chunks()] == [
        ("tool-input-available", "call_run_1_2"),
        ("tool-output-error", "call_run_1_2"),
        ("tool-input-available", "call_run_1_4"),
        ("tool-output-available", "call_run_1_4"),
    ]
    assert log.chunks()[1]["errorText"] == "it is not known whether this happened (timeout)"


def test_a_call_that_was_interrupted_is_closed_before_the_next_is_opened() -> None:
    """A process that died in a read leaves no part open."""
    log = Log()
    log.begin("s1")
    log.begin("s1")
    kinds = [chunk["type"] for chunk in log.chunks()]
    assert kinds == ["tool-input-available", "tool-output-error", "tool-input-available"]


@pytest.mark.parametrize("reason", ["approval", "clarification", "reconcile"])
def test_a_call_that_gives_way_to_a_card_is_closed(reason: str) -> None:
    """The tool asked back, or the record moved: the card's two chunks still stand side by side."""
    log = Log()
    log.begin("s1")
    log.ask("s1", reason)
    kinds = [(chunk["type"], chunk["toolCallId"]) for chunk in log.chunks()[1:]]
    assert kinds == [
        ("tool-output-error", "call_run_1_2"),
        ("tool-input-available", "sus_s1"),
        ("tool-output-available", "sus_s1"),
    ]


def test_what_a_run_left_open_is_closed_at_its_end() -> None:
    """A run that failed for a reason of ours leaves no part that waits for ever."""
    log = Log()
    log.begin("s1")
    log.ask("s2")
    log.end("failed", "bug")
    *_, call, card, _, _ = log.message("failed")
    assert call["errorText"] == "the run ended before the outcome of this was known"
    assert (card["toolCallId"], card["output"]["status"]) == ("sus_s2", "withdrawn")


def test_arguments_are_masked() -> None:
    """In the call as on the card."""
    log = Log()
    log.begin("s1", user="ann", password="hunter2", deep=[{"apiToken": "x"}])
    assert log.chunks()[0]["input"] == {"user": "ann", "password": "•••", "deep": [{"apiToken": "•••"}]}


def test_a_tools_own_card_is_a_block() -> None:
    """Drawn anew, it takes its own place."""
    log = Log()
    log.settle("s1", "succeeded", {"rows": []})
    log.add(EventKind.CARD_RENDERED, stepId="s1", tool="list.card", block="result:s1")
    assert log.chunks() == [
        {
            "type": "data-ui-block",
            "id": "card_s1",
            "data": {"tool": "list.card", "stepId": "s1", "block": {"rows": []}},
        }
    ]


# -- cards -----------------------------------------------------------------------------------


def test_a_card_is_two_chunks_and_its_answer_updates_it_in_place() -> None:
    """The whole card again, with its status, the answer and who gave it."""
    log = Log()
    log.ask("s1")
    log.close("s1", "approved", {"approved": True, "reason": "fine"})
    card = log.payloads["card:sus_s1"]
    answered = {
        "status": "approved",
        "resumeData": {"approved": True, "reason": "fine"},
        "decidedBy": "bob",
        "decidedByDisplay": "Bob Ode",
        "decidedAt": AT,
    }
    assert log.chunks() == [
        {
            "type": "tool-input-available",
            "toolCallId": "sus_s1",
            "toolName": "__suspend__",
            "input": {"stepId": "s1", "reasonCode": "approval"},
            **OURS,
        },
        {
            "type": "tool-output-available",
            "toolCallId": "sus_s1",
            "output": {**card, "status": "pending"},
            **OURS,
        },
        {"type": "tool-output-available", "toolCallId": "sus_s1", "output": {**card, **answered}, **OURS},
    ]


def test_a_withdrawn_card_has_no_answer() -> None:
    """Nobody answered it; who withdrew it is named."""
    log = Log()
    log.ask("s1")
    log.close("s1", "withdrawn")
    shown = log.chunks()[-1]["output"]
    assert (shown["status"], shown["decidedBy"], shown["decidedByDisplay"]) == ("withdrawn", "bob", "bob")
    assert "resumeData" not in shown


def test_an_answer_is_masked() -> None:
    """A clarification may ask for a secret."""
    log = Log()
    log.ask("s1", "clarification")
    log.close("s1", "answered", {"password": "hunter2"})
    assert log.chunks()[-1]["output"]["resumeData"] == {"password": "•••"}


def test_a_card_that_was_never_shown_is_not_closed() -> None:
    """An orphan would end a client's stream."""
    log = Log()
    log.close("s1", "approved", {"approved": True})
    assert log.chunks() == []


@pytest.mark.parametrize(
    ("reason", "closed", "body", "status"),
    [
        ("approval", "approved", {"approved": True}, "pending"),
        ("clarification", "answered", {"dose": "5 mg"}, "pending"),
        ("approval", "withdrawn", None, "suspended"),
        ("reconcile", "withdrawn", None, "unknown"),
    ],
)
def test_the_plan_knows_which_steps_wait(reason: str, closed: str, body: Any, status: str) -> None:
    """An answered step may go on; one whose card was withdrawn stands as it stood."""
    log = Log()
    log.plan({"id": "s1"}, {"id": "s2"})
    log.ask("s1", reason)
    log.ask("s2")
    log.close("s1", closed, body)
    plan = only(log.message("suspended"), "data-plan")[-1]
    assert [step["status"] for step in plan["data"]["steps"]] == [status, "suspended"]


# -- texts -----------------------------------------------------------------------------------


def deltas(chunks: list[dict[str, Any]]) -> list[str]:
    """What was streamed."""
    return [chunk["delta"] for chunk in only(chunks, "text-delta")]


def streamed(log: Log, *parts: str) -> None:
    """A text in pieces."""
    for number, part in enumerate(parts):
        log.payloads[f"text:{number}"] = {"text": part}
        log.add(EventKind.TEXT_DELTA, id="closing", text=f"text:{number}")


def test_a_text_is_begun_told_and_ended() -> None:
    """Also an empty one, without an empty piece."""
    log = Log()
    log.say("Done.")
    assert log.chunks() == [
        {"type": "text-start", "id": "closing"},
        {"type": "text-delta", "id": "closing", "delta": "Done."},
        {"type": "text-end", "id": "closing"},
    ]
    silent = Log()
    silent.say("")
    assert [chunk["type"] for chunk in silent.chunks()] == ["text-start", "text-end"]


def test_what_was_streamed_is_not_repeated() -> None:
    """The end brings only what was appended."""
    log = Log()
    streamed(log, "It is ", "done.")
    log.say("It is done.\n⚠ Not completed: the note.")
    assert deltas(log.chunks()) == ["It is ", "done.", "\n⚠ Not completed: the note."]
    assert len(only(log.chunks(), "text-start")) == len(only(log.chunks(), "text-end")) == 1


def test_a_text_that_reads_otherwise_is_told_whole() -> None:
    """What was said cannot be unsaid; what holds is said too."""
    log = Log()
    streamed(log, "It is done.")
    log.say("It is not done.")
    assert deltas(log.chunks()) == ["It is done.", "\n\nIt is not done."]


def test_a_text_that_never_ended_ends_with_the_message() -> None:
    """A process that died in the closing leaves no text open."""
    log = Log()
    streamed(log, "It is ")
    kinds = [chunk["type"] for chunk in log.message("failed")[2:]]
    assert kinds == ["text-start", "text-delta", "text-end", "finish-step", "finish"]


def test_each_correction_is_told_apart() -> None:
    """With the words that stand in the text."""
    log = Log()
    log.say(
        "x",
        {"kind": "not-completed", "stepId": "s1", "text": "a"},
        {"kind": "correction", "stepId": "s2", "text": "b"},
    )
    assert [chunk["data"] for chunk in only(log.chunks(), "data-claim-correction")] == [
        {"kind": "not-completed", "stepId": "s1", "text": "a"},
        {"kind": "correction", "stepId": "s2", "text": "b"},
    ]


# -- plan ------------------------------------------------------------------------------------


def test_a_revision_is_told_with_the_plan_it_made() -> None:
    """First the edit, then the plan; an edit without a new graph is told alone."""
    log = Log()
    log.plan({"id": "s1"})
    log.add(EventKind.PLAN_REVISED, revision=2, verb="retry-with-different-tool", stepId="s1", graph="graph")
    log.add(EventKind.PLAN_REVISED, revision=2, verb="halt", stepId="s1")
    assert [(chunk["type"], chunk["data"]["revision"]) for chunk in log.chunks()] == [
        ("data-plan", 1),
        ("data-plan-revised", 2),
        ("data-plan", 2),
        ("data-plan-revised", 2),
    ]


def test_a_breaker_says_what_it_stopped_at() -> None:
    """Its facts, as they stand."""
    log = Log()
    log.add(EventKind.BREAKER_STOPPED, limit="replans", spent=2)
    assert log.chunks() == [{"type": "data-breaker-stopped", "data": {"limit": "replans", "spent": 2}}]


def test_a_long_plan_stays_linear() -> None:
    """2,000 steps: the plan is told twice, and each step has its two chunks."""
    log = Log()
    steps = [f"s{number}" for number in range(2_000)]
    log.plan(*({"id": step} for step in steps))
    for step in steps:
        log.begin(step)
        log.settle(step, "succeeded")
    log.end("succeeded")
    chunks = log.message("succeeded")
    assert len(only(chunks, "data-plan")) == 2
    assert len(chunks) == 2 + 2 * 2_000 + 2 + 2


# -- erased ----------------------------------------------------------------------------------


def test_an_erased_run_is_told_without_its_contents() -> None:
    """Every placeholder says what it is, and no chunk is missing."""
    log = Log()
    log.plan({"id": "s1"}, {"id": "s2"}, {"id": "s3"})
    log.begin("s1", name="Anna")
    log.settle("s1", "succeeded", {"name": "Anna"})
    log.add(EventKind.CARD_RENDERED, stepId="s1", tool="t", block="result:s1")
    log.begin("s2")
    log.settle("s2", "failed", code="lab_down", message="Anna is not known")
    log.ask("s3", toolInput={"name": "Anna"})
    log.close("s3", "denied", {"approved": False, "reason": "Anna"})
    log.say("Anna", {"kind": "not-executed", "stepId": "s3", "text": "Anna"})
    whole = [chunk["type"] for chunk in log.message("aborted")]
    log.payloads.clear()
    chunks = log.message("aborted")
    assert [chunk["type"] for chunk in chunks] == whole
    assert "Anna" not in repr(chunks)
    erased = {"erased": True}
    assert only(chunks, "data-plan")[0]["data"] == {"revision": 1, "steps": [], **erased}
    assert only(chunks, "tool-input-available")[0]["input"] == erased
    assert only(chunks, "tool-output-available")[0]["output"] == erased
    assert only(chunks, "data-ui-block")[0]["data"]["block"] == erased
    assert only(chunks, "tool-output-error")[0]["errorText"] == "failed (lab_down); the details were erased"
    assert deltas(chunks) == ["(erased)"]
    assert only(chunks, "data-claim-correction")[0]["data"]["text"] == "(erased)"


def test_an_erased_card_keeps_what_the_history_knows() -> None:
    """Ids, reason and hash stand in the event; the answer's place is kept."""
    log = Log()
    log.ask("s1")
    log.close("s1", "denied", {"approved": False})
    log.payloads.clear()
    _, pending, denied = log.chunks()
    assert pending["output"] == {
        "kind": "approval",
        "runId": RUN,
        "suspendId": "sus_s1",
        "stepId": "s1",
        "contractHash": "sha256:00",
        "reasonCode": "approval",
        "origin": "tool_policy",
        "generation": 1,
        "toolName": "t",
        "erased": True,
        "status": "pending",
    }
    assert denied["output"]["resumeData"] == {"erased": True}
    assert denied["output"]["decidedByDisplay"] == "bob"


def test_an_event_names_its_payloads() -> None:
    """What a server has to read before it projects; a retry's arguments are those of the first call."""
    log = Log()
    log.plan({"id": "s1"})
    log.add(EventKind.STEP_STARTED, stepId="s1", tool="t", attempt=2)
    log.add(EventKind.STEP_SETTLED, stepId="s1", status="unknown", code="timeout")
    log.ask("s1")
    log.close("s1", "withdrawn")
    log.end("aborted")
    named = [payload_names(event) for event in log.events]
    assert named == [(), ("graph",), ("args:s1",), (), ("card:sus_s1",), (), ()]
