"""A desk for tests: Condor over a real file, an outside ledger, people, and what must always hold."""

from __future__ import annotations

import asyncio
import json
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from condor import Condor, HitlTier, PolicyClass, Principal, Reconciled, ToolContext, ToolDescriptor, tool
from condor.config import Settings
from condor.core.run import TERMINAL, RunStatus
from condor.ports.faults import Faults, no_faults
from condor.ports.store import AuditFilter
from condor.testing import Ledger, SeededClock

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence
    from pathlib import Path

    from condor.ports.model import Planner

#: Who asks.
ANN = Principal(id="ann", roles=frozenset({"clerk"}), display="Ann Ito")
#: Who decides.
BOB = Principal(id="bob", roles=frozenset({"manager"}), display="Bob Ode")
CAT = Principal(id="cat", roles=frozenset({"manager"}), display="Cat Moe")
AUDITOR = Principal(id="aud", roles=frozenset({"auditor", "manager"}))
ADMIN = Principal(id="adm", roles=frozenset({"admin", "manager"}))
ROBOT = Principal(id="bot", roles=frozenset({"manager", "clerk"}), kind="program")

#: Longest that anything here may take, in seconds; only a bug waits for it.
PATIENCE_S = 40.0

Json = dict[str, Any]


def call(step_id: str, tool_name: str, *, after: Sequence[str] = (), **rest: Any) -> Json:
    """A tool step; ``on_deny`` and ``title`` stand beside the arguments."""
    step: Json = {"id": step_id, "tool": tool_name, "after": list(after)}
    for key, name in (("on_deny", "onDeny"), ("title", "title")):
        if key in rest:
            step[name] = rest.pop(key)
    return {**step, "args": rest}


def ask(step_id: str, title: str, *, after: Sequence[str] = (), **rest: Any) -> Json:
    """A planned approval."""
    return {"id": step_id, "approval": {"title": title}, "after": list(after), **rest}


def nested(step_id: str, *steps: Json, after: Sequence[str] = ()) -> Json:
    """A plan inside the plan."""
    return {"id": step_id, "plan": {"steps": list(steps)}, "after": list(after)}


def found(step_id: str, path: str = "") -> Json:
    """A reference to an earlier result."""
    return {"$from": step_id, "path": path} if path else {"$from": step_id}


def read_tool(ledger: Ledger, name: str = "book.read") -> ToolDescriptor:
    """Reads a record of the ledger."""

    @tool(name, policy_class=PolicyClass.READ)
    async def read(ctx: ToolContext, record: str = "a") -> dict[str, Any]:
        return {"record": record, "version": ledger.version(record), "missing": None}

    return read


def write_tool(
    ledger: Ledger,
    name: str = "book.write",
    *,
    tier: HitlTier = HitlTier.HIGH,
    reconciles: bool = False,
    **options: Any,
) -> ToolDescriptor:
    """Writes a record of the ledger: an effect that can be counted, kept single only if ``idempotent``.

    Args:
        reconciles: bring a hook that asks the ledger by the idempotency key.
    """
    once = options.get("idempotent", False)

    async def asked(ctx: ToolContext, record: str, value: str) -> Reconciled:
        entry = ledger.find(ctx.idempotency_key)
        return Reconciled(happened=entry is not None, value={"number": entry.number} if entry else None)

    if reconciles:
        options["reconcile"] = asked

    @tool(name, policy_class=PolicyClass.MUTATE, hitl_tier=tier, **options)
    async def write(ctx: ToolContext, record: str, value: str) -> dict[str, Any]:
        key = ctx.idempotency_key
        return {"number": ledger.write(record, value, key=key, once=once, faults=ctx.faults)}

    return write


class Desk:
    """One open Condor and shorthand for what tests do with it."""

    def __init__(self, condor: Condor, clock: SeededClock) -> None:
        self.condor = condor
        self.clock = clock

    async def start(self, *steps: Json, principal: Principal = ANN, **rest: Any) -> str:
        """Start a run of a plan."""
        return (await self.condor.start(plan={"steps": list(steps)}, principal=principal, **rest)).id

    async def seen(self, run_id: str, kind: str, *, count: int = 1) -> None:
        """Until the log of a run has so many events of a kind."""
        async with asyncio.timeout(PATIENCE_S):
            async for event in self.condor.watch(run_id, follow=True):
                count -= event.kind == kind
                if count <= 0:
                    return

    async def rest(self, run_id: str) -> Any:
        """The snapshot at the run's next rest."""
        async with asyncio.timeout(PATIENCE_S):
            return await self.condor.wait(run_id)

    async def run(self, *steps: Json, **rest: Any) -> Any:
        """Start a run; its snapshot at its first rest."""
        return await self.rest(await self.start(*steps, **rest))

    async def cards(self, run_id: str) -> list[Any]:
        """The open cards of a run."""
        shown: Any = await self.condor.show(run_id)
        return [card for card in shown["suspensions"] if card["status"] == "pending"]

    async def card(self, run_id: str, step_id: str | None = None) -> Any:
        """The one open card (of a step)."""
        cards = [card for card in await self.cards(run_id) if step_id in (None, card["stepId"])]
        assert len(cards) == 1, [(card["stepId"], card["reasonCode"]) for card in cards]
        return cards[0]

    async def answer(self, card: Any, data: object, principal: Principal = BOB) -> None:
        """Answer a card, without waiting for what follows."""
        await self.condor.resume(card["runId"], card["suspendId"], data, principal=principal)

    async def approve(self, card: Any, principal: Principal = BOB) -> Any:
        """Say yes; the snapshot at the next rest."""
        await self.answer(card, {"approved": True}, principal)
        return await self.rest(card["runId"])

    async def deny(self, card: Any, principal: Principal = BOB, reason: str = "no") -> Any:
        """Say no; the snapshot at the next rest."""
        await self.answer(card, {"approved": False, "reason": reason}, principal)
        return await self.rest(card["runId"])

    async def events(self, run_id: str) -> list[Any]:
        """The whole log of a run."""
        stored = await self.condor._stored().events(run_id, limit=100_000)
        return [{"seq": event.seq, "kind": str(event.kind), **json.loads(event.facts)} for event in stored]

    async def audit(self, run_id: str, **wanted: str) -> list[Any]:
        """The audit rows of a run as JSON."""
        rows = await self.condor.audit(AuditFilter(run_id=run_id, **wanted), limit=100_000)
        return [json.loads(row.body) for row in rows]

    async def decisions(self, run_id: str) -> list[str]:
        """What the audit of a run says happened, in order."""
        return [row["decision"] for row in await self.audit(run_id)]


@asynccontextmanager
async def open_desk(
    home: Path,
    *tools: ToolDescriptor,
    clock: SeededClock | None = None,
    seed: int = 0,
    faults: Faults = no_faults,
    ttl_s: float = 3600.0,
    planner: Planner | None = None,
    check: bool = True,
    limits: dict[str, Any] | None = None,
    **options: Any,
) -> AsyncIterator[Desk]:
    """Open Condor on a home; on the way out everything that must hold of every run is checked."""
    clock = clock or SeededClock(seed)
    settings = Settings(home=home, suspend_ttl_s=ttl_s, **(limits or {}))
    async with Condor(
        tools=tools, settings=settings, home=home, clock=clock, faults=faults, planner=planner, **options
    ) as condor:
        desk = Desk(condor, clock)
        yield desk
        if check:
            await check_everything(desk)


async def check_everything(desk: Desk) -> None:
    """What holds of every run at rest, whatever was done to it."""
    async for verdict in desk.condor.verify():
        assert verdict.kept, verdict
    for row in await desk.condor._stored().runs(limit=100_000):
        await check_run(desk, row.run_id)


async def check_run(desk: Desk, run_id: str) -> None:
    """Events without gaps, one end, cards as the status says, no effect without its permission."""
    shown: Any = await desk.condor.show(run_id)
    events = await desk.events(run_id)
    kinds = [event["kind"] for event in events]
    assert [event["seq"] for event in events] == list(range(1, len(events) + 1))
    opened = [card for card in shown["suspensions"] if card["status"] == "pending"]
    status = RunStatus(shown["status"])
    if status in TERMINAL:
        assert opened == []
        assert (kinds[-1], kinds.count("run.ended")) == ("run.ended", 1)
        assert shown["closing"]
        assert {step["status"] for step in shown["steps"]}.isdisjoint({"pending", "started", "suspended"})
    else:
        assert "run.ended" not in kinds
    if status is RunStatus.SUSPENDED:
        assert opened, "a run that waits says for what"
    drawn = [event["suspendId"] for event in events if event["kind"].endswith(".required")]
    assert sorted(drawn) == sorted(card["suspendId"] for card in shown["suspensions"])
    closed = [event["suspendId"] for event in events if event["kind"] == "suspension.closed"]
    assert len(set(closed)) == len(closed)
    steps = [card["stepId"] for card in opened]
    assert len(set(steps)) == len(steps), "one step waits for one thing"
    await _check_permissions(desk, run_id)


async def _check_permissions(desk: Desk, run_id: str) -> None:
    granted: dict[str, int] = {}
    for row in await desk.audit(run_id):
        step, effectful = row.get("stepId"), row.get("policyClass") != "read"
        if row["decision"] in ("approved", "allowed"):
            granted[step] = granted.get(step, 0) + 1
        if row["decision"] == "executed" and effectful:
            granted[step] = granted.get(step, 0) - 1
            assert granted[step] >= 0, f"{step} ran without permission, or twice on one"
