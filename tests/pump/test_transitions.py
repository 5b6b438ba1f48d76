"""Every row of RUN_TRANSITIONS is made to happen by a real run; no run makes any other."""

from __future__ import annotations

import asyncio
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest

from condor import PolicyClass, ToolContext, tool
from condor.core.errors import RequestNotUnderstood, RunNotSuspendedError
from condor.core.run import RUN_TRANSITIONS, check_transition
from condor.pump import leaf_runner, segment
from condor.pump.phases import admit, fail
from condor.pump.phases import plan as plan_phase
from tests.pump.desk import ANN, call, open_desk, write_tool

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from pathlib import Path

    from condor.ports.model import PlanningRequest
    from condor.testing import Ledger
    from tests.pump.desk import Desk

WRITE = call("w", "book.write", record="a", value="x")
SLOW = call("s", "gate.read")


class World:
    """What a scenario plays with."""

    def __init__(self, home: Path, ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
        self.home, self.ledger, self.monkeypatch = home, ledger, monkeypatch
        self.gate = asyncio.Event()
        self.plan: object = {"steps": [WRITE]}

    async def plan_for(self, request: PlanningRequest) -> object:
        if isinstance(self.plan, Exception):
            raise self.plan
        if self.plan is None:
            await asyncio.Event().wait()
        return self.plan

    def open(self, **options: Any) -> Any:
        gate = self.gate

        @tool("gate.read", policy_class=PolicyClass.READ)
        async def gate_read(ctx: ToolContext) -> None:
            await gate.wait()

        class Planner:
            plan = staticmethod(self.plan_for)

        tools = (gate_read, write_tool(self.ledger))
        return open_desk(self.home, *tools, planner=Planner(), ttl_s=60, **options)


async def _planned(world: World, desk: Desk) -> None:
    run = await desk.condor.start("write", principal=ANN)
    await desk.rest(run.id)
    await desk.condor.stop(run.id)


async def _not_planned(world: World, desk: Desk) -> None:
    world.plan = RequestNotUnderstood("no")
    await desk.rest((await desk.condor.start("dance", principal=ANN)).id)


async def _bug_while_planning(world: World, desk: Desk) -> None:
    world.monkeypatch.setattr(plan_phase, "parse_plan", lambda _: 1 / 0)
    end = await desk.rest((await desk.condor.start("write", principal=ANN)).id)
    assert end["closing"] == "The run has failed: a fault of Condor (ZeroDivisionError)."


async def _stopped_while_planning(world: World, desk: Desk) -> None:
    world.plan = None
    run = await desk.condor.start("write", principal=ANN)
    await desk.condor.stop(run.id, principal=ANN)
    await desk.rest(run.id)


async def _parked(world: World, desk: Desk) -> None:
    await desk.condor.stop((await desk.run(WRITE))["runId"])


async def _succeeded(world: World, desk: Desk) -> None:
    world.gate.set()
    await desk.run(SLOW)


async def _degraded(world: World, desk: Desk) -> None:
    world.gate.set()
    run = await desk.run(SLOW, {**WRITE, "onDeny": "skip"})
    await desk.deny(await desk.card(run["runId"]))


async def _nothing_reached(world: World, desk: Desk) -> None:
    run = await desk.run({**WRITE, "onDeny": "skip"})
    await desk.deny(await desk.card(run["runId"]))


async def _bug(world: World, desk: Desk) -> None:
    world.monkeypatch.setattr(leaf_runner, "tool_call_leaf", lambda _: None)
    await desk.run(WRITE)


async def _busy(world: World, desk: Desk) -> Any:
    """A run with a card open and a step at work."""
    run_id = await desk.start(SLOW, WRITE)
    await desk.seen(run_id, "approval.required")
    return await desk.card(run_id)


async def _denied_at_work(world: World, desk: Desk) -> None:
    card = await _busy(world, desk)
    await desk.answer(card, {"approved": False})
    world.gate.set()
    await desk.rest(card["runId"])


async def _stopped_at_work(world: World, desk: Desk) -> None:
    card = await _busy(world, desk)
    await desk.condor.stop(card["runId"])
    world.gate.set()
    await desk.rest(card["runId"])


async def _expired_at_work(world: World, desk: Desk) -> None:
    card = await _busy(world, desk)
    desk.clock.advance(60)
    await desk.condor._running().sweep()
    world.gate.set()
    await desk.rest(card["runId"])


async def _answered(world: World, desk: Desk) -> None:
    run = await desk.run(WRITE)
    await desk.approve(await desk.card(run["runId"]))


async def _denied(world: World, desk: Desk) -> None:
    run = await desk.run(WRITE)
    await desk.deny(await desk.card(run["runId"]))


async def _expired(world: World, desk: Desk) -> None:
    run = await desk.run(WRITE)
    desk.clock.advance(60)
    await desk.condor._running().sweep()
    assert (await desk.rest(run["runId"]))["status"] == "aborted"


async def _idle(world: World, desk: Desk) -> None:
    run = await desk.run(WRITE)
    with closing(sqlite3.connect(world.home / "condor.db")) as database, database:
        database.execute("UPDATE suspension SET status = 'withdrawn'")
    desk.clock.advance(60)
    assert await desk.condor._running().sweep_idle(60) == 1
    assert (await desk.rest(run["runId"]))["status"] == "aborted"


async def _corrupt(world: World, desk: Desk) -> None:
    card = await desk.card((await desk.run(WRITE))["runId"])
    with closing(sqlite3.connect(world.home / "condor.db")) as database, database:
        database.execute("UPDATE payload SET value = '{}' WHERE key = 'graph'")
        # Else the answer is taken on what this process remembers of the run.
        database.execute("UPDATE run SET rev = rev + 1")
    with pytest.raises(RunNotSuspendedError):
        await desk.answer(card, {"approved": True})


SCENARIOS: dict[tuple[str, str, str], Callable[[World, Desk], Awaitable[None]]] = {
    ("created", "planning", "admitted"): _planned,
    ("planning", "executing", "planned"): _planned,
    ("planning", "failed", "not-planned"): _not_planned,
    ("planning", "failed", "bug"): _bug_while_planning,
    ("planning", "aborted", "stopped"): _stopped_while_planning,
    ("executing", "suspended", "parked"): _parked,
    ("executing", "succeeded", "nothing-left"): _succeeded,
    ("executing", "degraded", "nothing-left"): _degraded,
    ("executing", "failed", "nothing-reached"): _nothing_reached,
    ("executing", "failed", "bug"): _bug,
    ("executing", "aborted", "denied"): _denied_at_work,
    ("executing", "aborted", "stopped"): _stopped_at_work,
    ("executing", "aborted", "expired"): _expired_at_work,
    ("suspended", "executing", "answered"): _answered,
    ("suspended", "failed", "corrupt"): _corrupt,
    ("suspended", "aborted", "denied"): _denied,
    ("suspended", "aborted", "stopped"): _parked,
    ("suspended", "aborted", "expired"): _expired,
    ("suspended", "aborted", "idle"): _idle,
}
#: Rows of mechanisms that have tests of their own.
ELSEWHERE = {
    ("planning", "failed", "breaker"),
    ("executing", "degraded", "breaker"),
    ("executing", "failed", "breaker"),
}


def test_every_row_has_its_scenario() -> None:
    """A row that nothing makes happen is a row that nobody has seen work."""
    table = {
        (old.value, new.value, cause)
        for old, targets in RUN_TRANSITIONS.items()
        for new, causes in targets.items()
        for cause in causes
    }
    assert table - ELSEWHERE == set(SCENARIOS)


@pytest.mark.parametrize("row", SCENARIOS, ids=" ".join)
async def test_a_run_makes_the_transition(
    row: tuple[str, str, str], tmp_path: Path, ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Through the pump and the store, with everything that must hold afterwards."""
    made: set[tuple[str, str, str]] = set()

    def watched(old: Any, new: Any, cause: Any) -> None:
        made.add((str(old), str(new), cause))
        check_transition(old, new, cause)

    for module in (segment, admit, fail):
        monkeypatch.setattr(module, "check_transition", watched)
    world = World(tmp_path / "home", ledger, monkeypatch)
    # A run is idle only after a card was closed behind the audit's back, and that is accused.
    tampered = row[2] == "idle"
    async with world.open(check=not tampered) as desk:
        await SCENARIOS[row](world, desk)
        found = [verdict.what async for verdict in desk.condor.verify()]
    assert found == (["card-edited"] if tampered else [None])
    assert row in made
