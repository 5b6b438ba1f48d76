"""A run as AG-UI 1.0 events: the UI message in the other protocol's words, with interrupts at its end.

Law 1: it is told from the same chunks (``ui_message``), so the two cannot differ in what they show.
Law 2: a run that waits ends with an interrupt for every open card. The run that continues it sends the
results of old calls, never a second opener.
Law 3: a card is an open call until it is answered; its answer is its one result.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from condor.core.frames.ui_message import Payloads, UiMessage
from condor.core.run import RunEvent, RunStatus

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from condor.core.frames.ui_message import Chunk
    from condor.core.ids import Json

#: One AG-UI event: a JSON object with a ``type`` in capitals.
AgUiEvent: TypeAlias = "dict[str, Json]"

#: The version of the protocol that is spoken here, as ``RUN_STARTED`` declares it.
PROTOCOL_VERSION = "1.0"
#: The one step of a run: what it did until it rests.
_STEP = "run"
#: Statuses in which the run did not fail and asks for nothing.
_OUTCOMES = {RunStatus.SUCCEEDED: "success", RunStatus.DEGRADED: "success", RunStatus.ABORTED: "cancelled"}
#: What a card asks for, by its reason code; a plan mutation has a reason of its own.
_REASONS = {"approval": "tool_call", "clarification": "input_required", "reconcile": "condor:reconcile"}
_ENCODE = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode


class AgUi:
    """One AG-UI run (a stream) on one run of ours."""

    def __init__(
        self,
        run_id: str,
        *,
        thread_id: str,
        client_run_id: str,
        after: int = 0,
        titles: Mapping[str, str] | None = None,
    ) -> None:
        """Nothing was told yet.

        Args:
            thread_id: the session.
            client_run_id: what the client calls this stream; ours is in the state snapshot.
            after: sequence number of the last event that an earlier stream told; events up to it are
                taken in and not told again.
            titles: what tools are called, for steps to which the plan gives no title.
        """
        self._run_id = run_id
        self._names: AgUiEvent = {"threadId": thread_id, "runId": client_run_id}
        self._after = after
        self._message = UiMessage(run_id, titles=titles)
        self._begun = False
        #: The plan as this stream told it.
        self._plan: Mapping[str, Any] | None = None
        self._said_as: dict[str, Callable[[Any], list[AgUiEvent]]] = {
            "start": _nothing,
            "start-step": _nothing,
            "finish-step": _step_finished,
            "finish": self._finish,
            "text-start": self._text_start,
            "text-delta": self._text_delta,
            "text-end": self._text_end,
            "tool-input-available": self._call,
            "tool-output-available": self._result,
            "tool-output-error": self._error,
            "data-plan": self._data_plan,
        }

    def project(self, event: RunEvent, payload: Payloads) -> list[AgUiEvent]:
        """The events of the next event of the run; the first call opens the stream.

        Args:
            payload: at least what ``ui_message.payload_names`` lists.
        """
        begun = self._begin(event.seq)
        chunks = self._message.project(event, payload)
        return begun + self._said(chunks) if event.seq > self._after else begun

    def finish(self, status: RunStatus, seq: int) -> list[AgUiEvent]:
        """Close the stream where the run rests.

        Args:
            status: the run's status at that rest.
            seq: sequence number of the last event.
        """
        return self._begin(seq) + self._said(self._message.finish(status, seq))

    def _begin(self, seq: int) -> list[AgUiEvent]:
        if self._begun:
            return []
        self._begun = True
        state: AgUiEvent = {
            "runId": self._run_id,
            "runStatus": RunStatus.EXECUTING,
            "seq": max(seq, self._after),
        }
        return [
            {"type": "RUN_STARTED", **self._names, "protocolVersion": PROTOCOL_VERSION},
            {"type": "STATE_SNAPSHOT", "snapshot": state},
            {"type": "STEP_STARTED", "stepName": _STEP},
        ]

    def _said(self, chunks: list[Chunk]) -> list[AgUiEvent]:
        return [
            said for chunk in chunks for said in (self._said_as.get(str(chunk["type"])) or _custom)(chunk)
        ]

    # -- texts and calls ---------------------------------------------------------------------

    def _text_start(self, chunk: Mapping[str, Any]) -> list[AgUiEvent]:
        return [{"type": "TEXT_MESSAGE_START", "messageId": self._text_id(chunk), "role": "assistant"}]

    def _text_delta(self, chunk: Mapping[str, Any]) -> list[AgUiEvent]:
        delta = chunk["delta"]
        return [{"type": "TEXT_MESSAGE_CONTENT", "messageId": self._text_id(chunk), "delta": delta}]

    def _text_end(self, chunk: Mapping[str, Any]) -> list[AgUiEvent]:
        return [{"type": "TEXT_MESSAGE_END", "messageId": self._text_id(chunk)}]

    def _text_id(self, chunk: Mapping[str, Any]) -> str:
        return f"msg_{self._run_id}_{chunk['id']}"

    def _call(self, chunk: Mapping[str, Any]) -> list[AgUiEvent]:
        call_id = chunk["toolCallId"]
        condor = {name: chunk[name] for name in ("title",) if name in chunk}
        condor.update(chunk.get("providerMetadata", {}).get("condor", {}))
        opener: AgUiEvent = {
            "type": "TOOL_CALL_START",
            "toolCallId": call_id,
            "toolCallName": chunk["toolName"],
            "parentMessageId": f"msg_{self._run_id}",
        }
        if condor:
            opener["metadata"] = {"condor": condor}
        return [
            opener,
            {"type": "TOOL_CALL_ARGS", "toolCallId": call_id, "delta": _ENCODE(chunk["input"])},
            {"type": "TOOL_CALL_END", "toolCallId": call_id},
        ]

    def _result(self, chunk: Mapping[str, Any]) -> list[AgUiEvent]:
        call_id = chunk["toolCallId"]
        if self._message.is_open(call_id):
            return []  # an interrupt tells it where the run rests
        return [_call_result(call_id, _ENCODE(chunk["output"]))]

    def _error(self, chunk: Mapping[str, Any]) -> list[AgUiEvent]:
        failed: Json = {"condor": {"failed": True}}
        return [{**_call_result(chunk["toolCallId"], chunk["errorText"]), "metadata": failed}]

    # -- the plan ----------------------------------------------------------------------------

    def _data_plan(self, chunk: Mapping[str, Any]) -> list[AgUiEvent]:
        before, self._plan = self._plan, chunk["data"]
        named: AgUiEvent = {"messageId": f"plan_{self._run_id}", "activityType": "PLAN"}
        if before is None or before["revision"] != self._plan["revision"]:
            return [{"type": "ACTIVITY_SNAPSHOT", **named, "content": cast("Json", self._plan)}]
        patch: list[Json] = [
            {"op": "replace", "path": f"/steps/{index}/status", "value": step["status"]}
            for index, (step, old) in enumerate(zip(self._plan["steps"], before["steps"], strict=True))
            if step["status"] != old["status"]
        ]
        return [{"type": "ACTIVITY_DELTA", **named, "patch": patch}]

    # -- the end -----------------------------------------------------------------------------

    def _finish(self, chunk: Mapping[str, Any]) -> list[AgUiEvent]:
        metadata = chunk["messageMetadata"]
        status = RunStatus(metadata["runStatus"])
        patch: list[Json] = [
            {"op": "replace", "path": f"/{name}", "value": metadata[name]} for name in ("runStatus", "seq")
        ]
        delta: AgUiEvent = {"type": "STATE_DELTA", "delta": patch}
        truth: AgUiEvent = {"runId": self._run_id, **metadata}
        if status is RunStatus.FAILED:
            return [delta, self._run_error(truth)]
        finished: AgUiEvent = {"type": "RUN_FINISHED", **self._names, "metadata": {"condor": truth}}
        if status in _OUTCOMES:
            return [delta, {**finished, "outcome": {"type": _OUTCOMES[status]}}]
        interrupts: list[Json] = [_interrupt(card) for card in self._message.open_cards]
        # INVARIANT: a run is suspended iff something is open.
        assert interrupts, f"run {self._run_id} rests as {status} and waits for nothing"
        return [delta, {**finished, "outcome": {"type": "interrupt", "interrupts": interrupts}}]

    def _run_error(self, truth: AgUiEvent) -> AgUiEvent:
        said = self._message.text or "the run has failed"
        error: AgUiEvent = {"type": "RUN_ERROR", "message": said, "metadata": {"condor": truth}}
        return {**error, "code": self._message.cause or "failed"}


def _nothing(_: Mapping[str, Any]) -> list[AgUiEvent]:
    """The stream was opened with ``RUN_STARTED``."""
    return []


def _step_finished(_: Mapping[str, Any]) -> list[AgUiEvent]:
    return [{"type": "STEP_FINISHED", "stepName": _STEP}]


def _custom(chunk: Mapping[str, Any]) -> list[AgUiEvent]:
    """What AG-UI has no word for: ``data-x`` is ``condor.x``."""
    name = str(chunk["type"]).removeprefix("data-")
    return [{"type": "CUSTOM", "name": f"condor.{name}", "value": chunk["data"]}]


def _call_result(call_id: str, content: str) -> AgUiEvent:
    named: AgUiEvent = {"messageId": f"res_{call_id}", "toolCallId": call_id}
    return {"type": "TOOL_CALL_RESULT", **named, "content": content, "role": "tool"}


def _interrupt(card: Mapping[str, Any]) -> AgUiEvent:
    """One open card as what the run waits for."""
    plan_mutation = card.get("origin") == "plan_mutation"
    asked: AgUiEvent = {
        "id": card["suspendId"],
        "reason": "condor:plan_mutation" if plan_mutation else _REASONS[card["reasonCode"]],
        "toolCallId": card["suspendId"],
        "message": card.get("message") or card.get("headline") or "a person must decide",
        "metadata": {"condor": {**card, "status": "pending"}},
    }
    for theirs, ours in (("responseSchema", "resumeSchema"), ("expiresAt", "expiresAt")):
        if ours in card:
            asked[theirs] = card[ours]
    return asked
