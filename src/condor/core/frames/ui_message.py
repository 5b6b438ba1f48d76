"""A run as one AI SDK UI message: its events, replayed and then live, as chunks that every version takes.

Law 1: a stream is the whole message from its ``start``. One projection serves one stream, event by event
in order, and ``finish`` closes it where the run rests.
Law 2: what was never opened is never closed, and what was opened is closed once; a card alone is told
again, in place, when it is answered.
Law 3: only keys of the strict schema (ai 6.0.0); what is absent is left out. An erased payload leaves an
honest placeholder.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

from condor.core.frames.masking import masked, masked_text
from condor.core.frames.plan_revised import PlanView, plan_kept_data, plan_revised_data
from condor.core.outcome import FULFILLED, StepStatus
from condor.core.run import TERMINAL, EventKind, RunEvent, RunStatus

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from condor.core.ids import Json

#: One chunk of the stream: a JSON object with a ``type``.
Chunk: TypeAlias = "dict[str, Json]"
#: A payload of the run by its name; None when it was erased or never written.
Payloads: TypeAlias = "Callable[[str], Any]"

#: The tool name under which a card travels.
SUSPEND_TOOL = "__suspend__"
#: What stands where a payload was erased.
ERASED: dict[str, Json] = {"erased": True}
#: Without ``providerExecuted`` a client runs the call itself; without ``dynamic`` it wants to know the tool.
_OURS: dict[str, Json] = {"dynamic": True, "providerExecuted": True}

#: How each end of a run reads to a client that knows no more; the truth is ``messageMetadata.runStatus``.
_FINISH_REASONS = {RunStatus.SUCCEEDED: "stop", RunStatus.DEGRADED: "stop", RunStatus.FAILED: "error"}
#: What is said of a call that gives way to a card.
_GAVE_WAY = {
    EventKind.APPROVAL_REQUIRED: "not done: the record has changed, so a person is asked again",
    EventKind.CLARIFICATION_REQUIRED: "not done: the tool needs to be told more first",
    EventKind.RECONCILE_REQUIRED: "it is not known whether this happened; a person is asked",
}
#: Ends of a card after which its step may go on; after the others it stands as it stood.
_REOPENS = frozenset({"approved", "answered", "superseded"})
#: Facts of a card's event that a card shows too; what is left of a card whose payload was erased.
_CARD_FACTS = (
    "suspendId", "stepId", "contractHash", "reasonCode", "origin", "generation", "expiresAt",
)  # fmt: skip
#: Facts that name the payloads a kind of event is shown with.
_NAMES_PAYLOAD: dict[EventKind, tuple[str, ...]] = {
    EventKind.PLAN_READY: ("graph",),
    EventKind.PLAN_REVISED: ("graph",),
    EventKind.STEP_SETTLED: ("result",),
    EventKind.CARD_RENDERED: ("block",),
    EventKind.APPROVAL_REQUIRED: ("card",),
    EventKind.CLARIFICATION_REQUIRED: ("card",),
    EventKind.RECONCILE_REQUIRED: ("card",),
    EventKind.SUSPENSION_CLOSED: ("answer",),
    EventKind.TEXT_DELTA: ("text",),
    EventKind.TEXT_DONE: ("text",),
    EventKind.CLAIM_CORRECTED: ("text",),
}


def payload_names(event: RunEvent) -> tuple[str, ...]:
    """The payloads that the projection of this event asks for; to be read before it is projected."""
    if event.kind is EventKind.STEP_STARTED:
        return (_args_name(event),)
    named = (event.facts.get(fact) for fact in _NAMES_PAYLOAD.get(event.kind, ()))
    return tuple(str(name) for name in named if name)


def _args_name(event: RunEvent) -> str:
    # A second attempt names no arguments: they are those of the first.
    return str(event.facts.get("args") or f"args:{event.facts['stepId']}")


class UiMessage:
    """One stream of one run."""

    def __init__(self, run_id: str, *, titles: Mapping[str, str] | None = None) -> None:
        """Nothing was told yet.

        Args:
            titles: what tools are called, for steps to which the plan gives no title.
        """
        self._run_id = run_id
        self._plan = PlanView(titles or {})
        #: Calls that were opened and not closed, by step.
        self._calls: dict[str, str] = {}
        #: Cards that nobody has answered, by suspend id, in the order they were opened.
        self._cards: dict[str, Chunk] = {}
        #: Texts that were begun and not ended, by id: what was streamed of each.
        self._texts: dict[str, list[str]] = {}
        #: Why the run ended, in a stable word; empty while it goes on.
        self.cause = ""
        #: The last text that was told whole; empty before.
        self.text = ""
        #: Every kind of event, and how it is told.
        self._told_by: dict[EventKind, Callable[[RunEvent, Payloads], list[Chunk]]] = {
            EventKind.RUN_STARTED: self._run_started,
            EventKind.PLAN_READY: self._plan_ready,
            EventKind.PLAN_REVISED: self._plan_revised,
            EventKind.STEP_STARTED: self._step_started,
            EventKind.STEP_SETTLED: self._step_settled,
            EventKind.CARD_RENDERED: self._card_rendered,
            EventKind.APPROVAL_REQUIRED: self._required,
            EventKind.CLARIFICATION_REQUIRED: self._required,
            EventKind.RECONCILE_REQUIRED: self._required,
            EventKind.SUSPENSION_CLOSED: self._suspension_closed,
            EventKind.BREAKER_STOPPED: self._breaker_stopped,
            EventKind.TEXT_DELTA: self._text_delta,
            EventKind.TEXT_DONE: self._text_done,
            EventKind.CLAIM_CORRECTED: self._claim_corrected,
            EventKind.RUN_ENDED: self._run_ended,
        }

    @property
    def open_cards(self) -> list[Chunk]:
        """The cards that can be answered, in the order they were opened."""
        return list(self._cards.values())

    def is_open(self, suspend_id: str) -> bool:
        """Whether this is a card that can be answered."""
        return suspend_id in self._cards

    def project(self, event: RunEvent, payload: Payloads) -> list[Chunk]:
        """The chunks of the next event.

        Args:
            payload: at least what ``payload_names`` lists.
        """
        return self._told_by[event.kind](event, payload)

    def finish(self, status: RunStatus, seq: int) -> list[Chunk]:
        """Close the stream where the run rests.

        Args:
            status: the run's status at that rest.
            seq: sequence number of the last event.
        """
        # INVARIANT: a stream is closed only where its run rests.
        assert status in TERMINAL or status is RunStatus.SUSPENDED, f"run {self._run_id} is {status}"
        chunks: list[Chunk] = [{"type": "text-end", "id": text_id} for text_id in self._texts]
        self._texts.clear()
        if status in TERMINAL:
            chunks += self._close_what_is_left()
            self._plan.end()
        chunks += self._plan_news()
        chunks.append({"type": "finish-step"})
        metadata: Chunk = {"runStatus": status, "seq": seq}
        reason = _FINISH_REASONS.get(status, "other")
        chunks.append({"type": "finish", "finishReason": reason, "messageMetadata": metadata})
        return chunks

    def _close_what_is_left(self) -> list[Chunk]:
        """A run that ended for a reason of ours leaves calls and cards without an event of their own."""
        said = "the run ended before the outcome of this was known"
        chunks = [_failed_call(call_id, said) for call_id in self._calls.values()]
        chunks += [_told_card({**card, "status": "withdrawn"}) for card in self._cards.values()]
        self._calls.clear()
        self._cards.clear()
        return chunks

    # -- the run and its plan ----------------------------------------------------------------

    def _run_started(self, event: RunEvent, _: Payloads) -> list[Chunk]:
        status = RunStatus.PLANNING if "request" in event.facts else RunStatus.EXECUTING
        metadata: Chunk = {"runId": self._run_id, "runStatus": status, "seq": event.seq}
        start: Chunk = {"type": "start", "messageId": f"msg_{self._run_id}", "messageMetadata": metadata}
        return [start, {"type": "start-step"}]

    def _run_ended(self, event: RunEvent, _: Payloads) -> list[Chunk]:
        self.cause = str(event.facts.get("cause", ""))
        return []

    def _plan_ready(self, event: RunEvent, payload: Payloads) -> list[Chunk]:
        self._plan.adopt(payload(_word(event, "graph")), event.facts["revision"])
        return self._plan_news()

    def _plan_revised(self, event: RunEvent, payload: Payloads) -> list[Chunk]:
        revised: Chunk = {"type": "data-plan-revised", "data": plan_revised_data(event)}
        if "graph" not in event.facts:
            # A tail that is taken out: its steps are told at the rest, so that many tails stay linear.
            return [revised]
        self._plan.adopt(payload(_word(event, "graph")), event.facts["revision"])
        return [revised, *self._plan_news()]

    def _plan_news(self) -> list[Chunk]:
        news = self._plan.news()
        return [] if news is None else [{"type": "data-plan", "id": "plan", "data": news}]

    def _breaker_stopped(self, event: RunEvent, _: Payloads) -> list[Chunk]:
        return [{"type": "data-breaker-stopped", "data": dict(event.facts)}]

    # -- steps -------------------------------------------------------------------------------

    def _step_started(self, event: RunEvent, payload: Payloads) -> list[Chunk]:
        step_id, tool = _word(event, "stepId"), _word(event, "tool")
        chunks = self._give_way(step_id, "it failed or was interrupted, and is tried again")
        # The sequence number makes it unique over attempts, the run id over runs.
        call_id = self._calls[step_id] = f"call_{self._run_id}_{event.seq}"
        self._plan.put(step_id, StepStatus.STARTED)
        called = payload(_args_name(event))
        opened: Chunk = {
            "type": "tool-input-available",
            "toolCallId": call_id,
            "toolName": tool,
            "input": ERASED if called is None else masked(called["args"]),
            **_OURS,
            "providerMetadata": {"condor": {"stepId": step_id}},
        }
        title = self._plan.title_of(step_id, tool)
        if title:
            opened["title"] = title
        return [*chunks, opened]

    def _step_settled(self, event: RunEvent, payload: Payloads) -> list[Chunk]:
        step_id, status = _word(event, "stepId"), StepStatus(_word(event, "status"))
        self._plan.put(step_id, status)
        kept = plan_kept_data(event)
        told: list[Chunk] = [{"type": "data-plan-kept", "data": kept}] if kept else []
        call_id = self._calls.pop(step_id, None)
        if call_id is None:
            return told
        result = payload(_word(event, "result")) if "result" in event.facts else {}
        if status in FULFILLED:
            output = ERASED if result is None else _shown(result)
            return [
                {"type": "tool-output-available", "toolCallId": call_id, "output": output, **_OURS},
                *told,
            ]
        return [_failed_call(call_id, _why(status, str(event.facts.get("code", "")), result)), *told]

    def _give_way(self, step_id: str, said: str) -> list[Chunk]:
        call_id = self._calls.pop(step_id, None)
        return [] if call_id is None else [_failed_call(call_id, said)]

    def _card_rendered(self, event: RunEvent, payload: Payloads) -> list[Chunk]:
        step_id, result = _word(event, "stepId"), payload(_word(event, "block"))
        data: Chunk = {
            "tool": event.facts["tool"],
            "stepId": step_id,
            "block": ERASED if result is None else _shown(result),
        }
        return [{"type": "data-ui-block", "id": f"card_{step_id}", "data": data}]

    # -- cards -------------------------------------------------------------------------------

    def _required(self, event: RunEvent, payload: Payloads) -> list[Chunk]:
        step_id, suspend_id = _word(event, "stepId"), _word(event, "suspendId")
        chunks = self._give_way(step_id, _GAVE_WAY[event.kind])
        waits = event.kind is EventKind.RECONCILE_REQUIRED
        self._plan.put(step_id, StepStatus.UNKNOWN if waits else StepStatus.SUSPENDED)
        stored = payload(_word(event, "card"))
        card = self._cards[suspend_id] = dict(stored) if stored is not None else self._erased_card(event)
        asked: Chunk = {"stepId": step_id, "reasonCode": event.facts["reasonCode"]}
        opened: Chunk = {"type": "tool-input-available", "toolCallId": suspend_id, "toolName": SUSPEND_TOOL}
        return [*chunks, {**opened, "input": asked, **_OURS}, _told_card({**card, "status": "pending"})]

    def _erased_card(self, event: RunEvent) -> Chunk:
        facts = {name: event.facts[name] for name in _CARD_FACTS if name in event.facts}
        named: Chunk = {"kind": event.facts["reasonCode"], "runId": self._run_id, **facts}
        return {**named, "toolName": event.facts.get("tool", ""), **ERASED}

    def _suspension_closed(self, event: RunEvent, payload: Payloads) -> list[Chunk]:
        step_id, suspend_id = _word(event, "stepId"), _word(event, "suspendId")
        card = self._cards.pop(suspend_id, None)
        if card is None:
            return []
        if event.facts["status"] in _REOPENS:
            self._plan.put(step_id, StepStatus.PENDING)
        told: Chunk = {**card, "status": event.facts["status"]}
        answer = payload(_word(event, "answer")) if "answer" in event.facts else {}
        if answer is None:
            told["resumeData"] = ERASED
        elif "body" in answer:
            told["resumeData"] = masked(answer["body"])
        elif "edit" in answer:
            told["edit"] = masked(answer["edit"])
        told["decidedBy"] = event.facts["by"]
        told["decidedByDisplay"] = ((answer or {}).get("by") or {}).get("display") or event.facts["by"]
        told["decidedAt"] = event.at
        return [_told_card(told)]

    # -- texts -------------------------------------------------------------------------------

    def _text_delta(self, event: RunEvent, payload: Payloads) -> list[Chunk]:
        text_id, delta = _text_id(event), _text_of(event, payload)
        chunks: list[Chunk] = [] if text_id in self._texts else [{"type": "text-start", "id": text_id}]
        self._texts.setdefault(text_id, []).append(delta)
        return [*chunks, *_delta(text_id, delta)]

    def _text_done(self, event: RunEvent, payload: Payloads) -> list[Chunk]:
        text_id, text = _text_id(event), _text_of(event, payload)
        self.text = text
        chunks: list[Chunk] = [] if text_id in self._texts else [{"type": "text-start", "id": text_id}]
        told = "".join(self._texts.pop(text_id, ()))
        # Observers only append; a text that reads otherwise is told whole on a line of its own.
        rest = text[len(told) :] if text.startswith(told) else f"\n\n{text}"
        return [*chunks, *_delta(text_id, rest), {"type": "text-end", "id": text_id}]

    def _claim_corrected(self, event: RunEvent, payload: Payloads) -> list[Chunk]:
        closing = payload(_word(event, "text"))
        text = "(erased)" if closing is None else closing["notices"][event.facts["index"]]["text"]
        data: Chunk = {"kind": event.facts["kind"], "stepId": event.facts["stepId"], "text": text}
        return [{"type": "data-claim-correction", "data": data}]


def _word(event: RunEvent, fact: str) -> str:
    return str(event.facts[fact])


def _told_card(card: Chunk) -> Chunk:
    return {"type": "tool-output-available", "toolCallId": card["suspendId"], "output": card, **_OURS}


def _failed_call(call_id: str, said: str) -> Chunk:
    return {"type": "tool-output-error", "toolCallId": call_id, "errorText": said, **_OURS}


def _why(status: StepStatus, code: str, result: Mapping[str, Any] | None) -> str:
    """Why a call did not do what it should, in one line."""
    if status is StepStatus.UNKNOWN:
        return f"it is not known whether this happened ({code})"
    if result is None:
        return f"{status} ({code}); the details were erased"
    said = masked_text(str(result.get("message") or code or "no reason was given"))
    return f"skipped: {said}" if status is StepStatus.SKIPPED else said


def _shown(result: Mapping[str, Any]) -> Json:
    """What the post-tool stage shows of a result."""
    return masked(result["shown"] if "shown" in result else result.get("value"))


def _text_id(event: RunEvent) -> str:
    return str(event.facts.get("id", "closing"))


def _text_of(event: RunEvent, payload: Payloads) -> str:
    stored = payload(_word(event, "text"))
    return "(erased)" if stored is None else str(stored["text"])


def _delta(text_id: str, delta: str) -> list[Chunk]:
    return [{"type": "text-delta", "id": text_id, "delta": delta}] if delta else []
