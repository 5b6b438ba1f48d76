"""A small ward: tools that do what tools do, people, and runs whose streams are recorded at every rest."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from condor import (
    ArgSpec,
    Condor,
    HitlTier,
    PolicyClass,
    Principal,
    RecordMoved,
    ToolContext,
    ToolDescriptor,
    ToolError,
    ToolResult,
    tool,
)
from condor.config import Settings
from condor.core.frames.ag_ui import AgUi
from condor.core.frames.ui_message import UiMessage, payload_names
from condor.core.run import RunEvent, RunStatus
from condor.ports.encoding import decode
from condor.testing import SeededClock
from tests.wire.orders import Orders

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping
    from pathlib import Path

#: Who asks, and who decides.
OKAFOR = Principal(id="dr-okafor", roles=frozenset({"doctor"}), display="Dr Okafor")
OSEI = Principal(id="pharm-osei", roles=frozenset({"doctor", "pharmacist"}), display="Osei, pharmacist")

#: Longest that anything here may take, in seconds; only a bug waits for it.
PATIENCE_S = 10.0
#: Seconds after which a card expires.
TTL_S = 3600.0

Json = dict[str, Any]


def reads() -> list[ToolDescriptor]:
    """What can be looked up."""

    @tool("patient.search", policy_class=PolicyClass.READ, title="Find the patient")
    async def search(ctx: ToolContext, name: str) -> Json:
        return {"patientId": "pat_1", "name": name, "deceased": None}

    @tool("allergy.list.card", policy_class=PolicyClass.READ, title="Check allergies", ui_card=True)
    async def allergies(ctx: ToolContext, patient: str) -> Json:
        return {"title": "Allergies", "rows": [{"substance": "Penicillin", "severity": "high"}]}

    @tool("lab.read", policy_class=PolicyClass.READ, title="Read the lab results")
    async def lab(ctx: ToolContext, patient: str) -> Json:
        raise ToolError("the laboratory does not answer", effect="none", code="lab_down")

    @tool("lab.fetch", policy_class=PolicyClass.READ, title="Fetch the lab results", alias_group="labs")
    async def fetch(ctx: ToolContext, patient: str) -> Json:
        raise ToolError("the laboratory does not answer", effect="none", code="lab_down")

    @tool("lab.report", policy_class=PolicyClass.READ, title="Read the lab reports", alias_group="labs")
    async def report(ctx: ToolContext, patient: str) -> Json:
        return {"report": f"Reports of {patient}"}

    @tool("scan.find", policy_class=PolicyClass.READ, title="Find a scan")
    async def scan(ctx: ToolContext, patient: str) -> ToolResult:
        return ToolResult(value={"scans": []}, needs_replan=True)

    @tool("reminder.clear", policy_class=PolicyClass.READ, title="Look for reminders")
    async def reminders(ctx: ToolContext, patient: str) -> None:
        return None

    return [search, allergies, lab, fetch, report, scan, reminders]


def writes() -> list[ToolDescriptor]:
    """What can be done; two of them fail at their first call."""
    calls: set[str] = set()

    def first(name: str) -> bool:
        known = name in calls
        calls.add(name)
        return not known

    @tool("chart.append", policy_class=PolicyClass.MUTATE, hitl_tier=HitlTier.LOW, title="Write a note")
    async def append(ctx: ToolContext, text: str) -> Json:
        return {"noteId": "note_1"}

    @tool(
        "portal.reset", policy_class=PolicyClass.MUTATE, hitl_tier=HitlTier.HIGH, title="Reset portal access"
    )
    async def reset(ctx: ToolContext, user: str, password: str) -> Json:
        return {"user": user}

    @tool("chart.sign", policy_class=PolicyClass.MUTATE, hitl_tier=HitlTier.HIGH, title="Sign the chart")
    async def sign(ctx: ToolContext, chart: str) -> Json:
        if first("chart.sign"):
            raise RecordMoved("the chart was changed by somebody else")
        return {"chart": chart, "signed": True}

    @tool(
        "order.place",
        policy_class=PolicyClass.COMMS,
        title="Send the order",
        noun="the order to the pharmacy",
    )
    async def order(ctx: ToolContext, drug: str) -> Json:
        raise ConnectionError("the line broke")

    @tool("chart.flag", policy_class=PolicyClass.EXEC, title="Flag the chart", idempotent=True)
    async def flag(ctx: ToolContext, chart: str) -> Json:
        if first("chart.flag"):
            raise ConnectionError("the line broke")
        return {"flagged": chart}

    @tool(
        "diet.order",
        policy_class=PolicyClass.MUTATE,
        hitl_tier=HitlTier.HIGH,
        title="Order a diet",
        noun="the diet",
        editable={"diet", "days"},
        args=(
            ArgSpec(name="patient", label="Patient", required=True),
            ArgSpec(name="diet", label="Diet", required=True, hint={"enum": ["full", "soft"], "radio": True}),
            ArgSpec(name="days", label="Days", type="integer", hint={"min": 1, "max": 30}),
        ),
    )
    async def diet(ctx: ToolContext, patient: str, diet: str, days: int = 1) -> Json:
        return {"dietId": "diet_1"}

    return [append, reset, sign, order, flag, diet, prescribe()]


def prescribe() -> ToolDescriptor:
    """The write that matters."""

    @tool(
        "medication.prescribe",
        policy_class=PolicyClass.MUTATE,
        hitl_tier=HitlTier.HIGH,
        title="Prescribe medication",
        noun="the prescription",
        ops={"create"},
        args=(
            ArgSpec(name="patient", label="Patient", required=True),
            ArgSpec(name="drug", label="Medication", required=True),
            ArgSpec(name="dose", label="Dose", required=True, hint={"enum": ["250 mg", "500 mg"]}),
        ),
        report=lambda args, value: f"Prescribed {args['drug']} {args['dose']}.",
    )
    async def call(ctx: ToolContext, patient: str, drug: str, dose: str) -> Json:
        return {"prescriptionId": "rx_1", "status": "active"}

    return call


class Ward:
    """One open Condor, one run in it, and what its streams said at every rest."""

    def __init__(self, condor: Condor, clock: SeededClock) -> None:
        self.condor = condor
        self.clock = clock
        self.run_id = ""
        self.session_id = ""
        #: ``{"runStatus", "seq", "uiMessage", "agUi"}`` of each rest.
        self.streams: list[Json] = []

    async def start(self, *steps: Json, request: str | None = None, autonomy: str = "guarded") -> Json:
        """Begin the run; its snapshot at its first rest."""
        plan = {"steps": list(steps)} if request is None else None
        run = await self.condor.start(request, plan=plan, principal=OKAFOR, autonomy=autonomy)
        self.run_id, self.session_id = run.id, run.session_id
        return await self.rest()

    async def rest(self) -> Json:
        """Follow the run to its rest as a stream does, record what was said; the snapshot."""
        after = self.streams[-1]["seq"] if self.streams else 0
        events: list[RunEvent] = []
        live, said = self._message(), []
        async with asyncio.timeout(PATIENCE_S):
            async for event in self.condor.watch(self.run_id):
                events.append(event)
                said += live.project(event, (await self.payloads([event])).get)
            shown: Any = await self.condor.wait(self.run_id)
        payloads = await self.payloads(events)
        status, seq = RunStatus(shown["status"]), events[-1].seq
        self.streams.append(
            {
                "runStatus": status,
                "seq": seq,
                "uiMessage": told(self._message(), events, payloads, status, seq),
                "agUi": told(self._ag_ui(after), events, payloads, status, seq),
            }
        )
        # What a client saw that followed the run is what a client sees that comes late.
        assert [*said, *live.finish(status, seq)] == self.streams[-1]["uiMessage"]
        if after:
            self.streams[-1]["agUiReplay"] = told(self._ag_ui(0), events, payloads, status, seq)
        return dict(shown)

    def _titles(self) -> dict[str, str]:
        return {tool.name: tool.title for tool in self.condor.tools}

    def _message(self) -> UiMessage:
        return UiMessage(self.run_id, titles=self._titles())

    def _ag_ui(self, after: int) -> AgUi:
        stream_id = f"stream_{len(self.streams) + 1}"
        return AgUi(
            self.run_id,
            thread_id=self.session_id,
            client_run_id=stream_id,
            after=after,
            titles=self._titles(),
        )

    async def payloads(self, events: list[RunEvent]) -> Mapping[str, Any]:
        """What the projection of these events asks for, as it is stored now."""
        names = sorted({name for event in events for name in payload_names(event)})
        found = await self.condor._stored().payloads(self.run_id, names)
        return {name: decode(body) for name, body in found.items()}

    async def answer(self, step_id: str, data: Json, principal: Principal = OSEI) -> Json:
        """Answer the open card of a step; the snapshot at the next rest."""
        card = await self._card(step_id)
        await self.condor.resume(self.run_id, card["suspendId"], data, principal=principal)
        return await self.rest()

    async def edit(self, step_id: str, args: Json, principal: Principal = OSEI) -> Json:
        """Edit the call on the open card of a step; the snapshot at the next rest."""
        card = await self._card(step_id)
        await self.condor.edit(card["suspendId"], args, principal=principal)
        return await self.rest()

    async def _card(self, step_id: str) -> Json:
        """The open card of a step, looked at for a minute."""
        shown: Any = await self.condor.show(self.run_id)
        self.clock.advance(60)
        return next(
            card for card in shown["suspensions"] if (card["stepId"], card["status"]) == (step_id, "pending")
        )

    async def approve(self, step_id: str) -> Json:
        """Say yes."""
        return await self.answer(step_id, {"approved": True})


def told(
    projection: UiMessage | AgUi,
    events: list[RunEvent],
    payloads: Mapping[str, Any],
    status: RunStatus,
    seq: int,
) -> list[Json]:
    """A whole stream."""
    said = [chunk for event in events for chunk in projection.project(event, payloads.get)]
    return [*said, *projection.finish(status, seq)]


@asynccontextmanager
async def open_ward(home: Path, seed: int) -> AsyncIterator[Ward]:
    """A ward whose clock stands still and whose ids the seed decides."""
    clock = SeededClock(seed)
    settings = Settings(home=home, suspend_ttl_s=TTL_S)
    async with Condor(
        tools=[*reads(), *writes()], settings=settings, home=home, clock=clock, planner=Orders(), tend=False
    ) as condor:
        yield Ward(condor, clock)
