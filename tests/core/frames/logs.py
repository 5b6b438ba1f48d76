"""Event logs by hand: one call an event, with the payloads it names."""

from __future__ import annotations

from typing import Any

from condor.core.frames.ag_ui import AgUi
from condor.core.frames.ui_message import UiMessage, payload_names
from condor.core.run import EventKind, RunEvent, RunStatus

RUN = "run_1"
AT = "2026-11-30T09:00:00.000Z"


class Log:
    """The log of one run while it is written; its payloads may be erased."""

    def __init__(self, **started: Any) -> None:
        self.events: list[RunEvent] = []
        self.payloads: dict[str, Any] = {}
        self.add(EventKind.RUN_STARTED, sessionId="ses_1", autonomy="guarded", requester="ann", **started)

    def add(self, kind: EventKind, **facts: Any) -> None:
        """One event."""
        seq = len(self.events) + 1
        self.events.append(RunEvent(run_id=RUN, seq=seq, kind=kind, at=AT, facts=facts))

    def plan(self, *nodes: dict[str, Any]) -> None:
        """The plan: nodes without ``kind`` and ``after`` get theirs."""
        whole = [{"kind": "tool", "tool": "t", "after": [], **node} for node in nodes]
        self.payloads["graph"] = {"revision": 1, "nodes": whole}
        self.add(EventKind.PLAN_READY, revision=1, steps=len(nodes), plan="plan", graph="graph")

    def begin(self, step: str, tool: str = "t", **args: Any) -> None:
        """A call is opened."""
        self.payloads[f"args:{step}"] = {"args": args}
        self.add(EventKind.STEP_STARTED, stepId=step, tool=tool, args=f"args:{step}")

    def settle(self, step: str, status: str, value: Any = None, *, code: str = "", message: str = "") -> None:
        """A step has ended."""
        self.payloads[f"result:{step}"] = {"value": value, **({"message": message} if message else {})}
        facts: dict[str, Any] = {"code": code} if code else {}
        self.add(EventKind.STEP_SETTLED, stepId=step, status=status, result=f"result:{step}", **facts)

    def ask(self, step: str, reason: str = "approval", *, card: str | None = None, **shown: Any) -> str:
        """A card; its id."""
        suspend_id = card or f"sus_{step}"
        facts: dict[str, Any] = {
            "stepId": step,
            "suspendId": suspend_id,
            "reasonCode": reason,
            "origin": shown.pop("origin", "tool_policy"),
            "generation": 1,
            "contractHash": "sha256:00",
        }
        self.payloads[f"card:{suspend_id}"] = {
            "kind": reason,
            "runId": RUN,
            **facts,
            "resumeSchema": {"type": "object"},
            "headline": "Do it",
            **shown,
        }
        kind = EventKind(f"{reason}.required")
        self.add(kind, id=step, tool="t", card=f"card:{suspend_id}", **facts)
        return suspend_id

    def close(self, step: str, status: str, body: Any = None, *, card: str | None = None) -> None:
        """A card is answered, or withdrawn when there is no body."""
        suspend_id = card or f"sus_{step}"
        facts: dict[str, Any] = {}
        if body is not None:
            facts["answer"] = f"answer:{suspend_id}"
            self.payloads[facts["answer"]] = {"body": body, "by": {"id": "bob", "display": "Bob Ode"}}
        self.add(
            EventKind.SUSPENSION_CLOSED, stepId=step, suspendId=suspend_id, status=status, by="bob", **facts
        )

    def say(self, text: str, *notices: dict[str, Any]) -> None:
        """The closing text."""
        self.payloads["closing"] = {"text": text, "notices": list(notices)}
        self.add(EventKind.TEXT_DONE, text="closing")
        for index, notice in enumerate(notices):
            facts = {"kind": notice["kind"], "stepId": notice["stepId"], "index": index, "text": "closing"}
            self.events.append(
                RunEvent(
                    run_id=RUN,
                    seq=len(self.events) + 1,
                    kind=EventKind.CLAIM_CORRECTED,
                    at=AT,
                    facts=facts,
                )
            )

    def end(self, status: str, cause: str = "nothing-left") -> None:
        """The run has ended."""
        self.add(EventKind.RUN_ENDED, status=status, cause=cause)

    # -- reading it --------------------------------------------------------------------------

    def told_by(self, projection: UiMessage | AgUi) -> list[dict[str, Any]]:
        """What a projection says of the events, each with no payload but those it announces."""
        said: list[Any] = []
        for event in self.events:
            announced = {name: self.payloads.get(name) for name in payload_names(event)}
            said += projection.project(event, announced.__getitem__)
        return said

    def chunks(self) -> list[dict[str, Any]]:
        """The UI message so far, without its first two chunks."""
        return self.told_by(UiMessage(RUN))[2:]

    def message(self, status: str) -> list[dict[str, Any]]:
        """The whole stream, at rest."""
        projection = UiMessage(RUN)
        return [*self.told_by(projection), *projection.finish(RunStatus(status), len(self.events))]

    def ag_ui(self, status: str, *, after: int = 0) -> list[dict[str, Any]]:
        """The whole AG-UI stream, at rest."""
        projection = AgUi(RUN, thread_id="ses_1", client_run_id="theirs", after=after)
        return [*self.told_by(projection), *projection.finish(RunStatus(status), len(self.events))]


def only(frames: list[dict[str, Any]], *types: str) -> list[dict[str, Any]]:
    """The frames of some types."""
    return [frame for frame in frames if frame["type"] in types]
