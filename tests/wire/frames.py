"""One frame of every kind, and a stream of the kinds of event that no scenario brings about yet."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from condor.core.frames.ag_ui import AgUi
from condor.core.frames.ui_message import UiMessage
from condor.core.run import EventKind, RunEvent, RunStatus
from condor.testing import MORNING

if TYPE_CHECKING:
    from collections.abc import Mapping

RUN = "run_made"
NODE = {"id": "s1", "kind": "tool", "after": [], "tool": "chart.append", "title": "Write a note"}
PAYLOADS: dict[str, Any] = {
    "graph": {"revision": 1, "nodes": [NODE]},
    "text:1": {"text": "The note "},
    "text:2": {"text": "was not written."},
    "closing": {
        "text": "The note was not written.\n⚠ Not completed: the note was not written.",
        "notices": [
            {"kind": "not-completed", "stepId": "s1", "text": "⚠ Not completed: the note was not written."}
        ],
    },
}


def made_log() -> list[RunEvent]:
    """A log by hand: a text in pieces to which the guard appends."""
    at = MORNING.isoformat(timespec="milliseconds").replace("+00:00", "Z")
    told: list[tuple[EventKind, dict[str, Any]]] = [
        (EventKind.RUN_STARTED, {"sessionId": "ses_made", "autonomy": "autonomous", "requester": "ann"}),
        (EventKind.PLAN_READY, {"revision": 1, "graph": "graph", "plan": "plan", "steps": 1}),
        (EventKind.TEXT_DELTA, {"id": "closing", "text": "text:1"}),
        (EventKind.TEXT_DELTA, {"id": "closing", "text": "text:2"}),
        (EventKind.TEXT_DONE, {"text": "closing"}),
        (EventKind.CLAIM_CORRECTED, {"kind": "not-completed", "stepId": "s1", "index": 0, "text": "closing"}),
        (EventKind.RUN_ENDED, {"status": "failed", "cause": "nothing-reached"}),
    ]
    return [
        RunEvent(run_id=RUN, seq=seq, kind=kind, at=at, facts=facts)
        for seq, (kind, facts) in enumerate(told, start=1)
    ]


def made_streams() -> dict[str, Any]:
    """The log by hand on both wires, as the files of the scenarios have it."""
    events = made_log()
    message, ag_ui = UiMessage(RUN), AgUi(RUN, thread_id="ses_made", client_run_id="stream_1")
    projections: list[tuple[str, UiMessage | AgUi]] = [("uiMessage", message), ("agUi", ag_ui)]
    stream: dict[str, Any] = {"runStatus": RunStatus.FAILED, "seq": len(events)}
    for name, projection in projections:
        said = [frame for event in events for frame in projection.project(event, PAYLOADS.get)]
        stream[name] = [*said, *projection.finish(RunStatus.FAILED, len(events))]
    return {"shows": "By hand: a streamed text.", "streams": [stream]}


def every_frame(made: Mapping[str, Any]) -> dict[str, Any]:
    """The first frame of each type on each wire; calls of cards and of tools apart."""
    found: dict[str, dict[str, Any]] = {"uiMessage": {}, "agUi": {}}
    for path in sorted(made):
        for stream in made[path]["streams"]:
            for wire, frames in found.items():
                for frame in stream[wire]:
                    frames.setdefault(_kind(frame), frame)
    return {wire: dict(sorted(frames.items())) for wire, frames in found.items()}


def _kind(frame: Mapping[str, Any]) -> str:
    output = frame.get("output")
    if frame.get("toolName") == "__suspend__":
        return f"{frame['type']} (card)"
    if isinstance(output, dict) and "suspendId" in output:
        return f"{frame['type']} ({output['reasonCode']}, {output['status']})"
    named = frame.get("name") if frame["type"] == "CUSTOM" else frame.get("outcome", {}).get("type")
    detail = frame.get("finishReason") or named
    return f"{frame['type']} ({detail})" if detail else str(frame["type"])
