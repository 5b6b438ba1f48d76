"""Watching: the log replayed from any number, then live, to the next rest or the end."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest

from condor import PolicyClass, ToolContext, tool
from condor.core.errors import UnknownId
from tests.pump.desk import call, open_desk, read_tool, write_tool

if TYPE_CHECKING:
    from pathlib import Path

    from condor.testing import Ledger
    from tests.pump.desk import Desk

WRITE = call("w", "book.write", record="a", value="x")


async def collected(desk: Desk, run_id: str, **options: Any) -> list[tuple[int, str]]:
    async with asyncio.timeout(10):
        return [(event.seq, event.kind) async for event in desk.condor.watch(run_id, **options)]


async def test_watching_ends_at_the_next_rest(tmp_path: Path, ledger: Ledger) -> None:
    """Parked is a rest; from there a watcher goes on with the number it has."""
    async with open_desk(tmp_path / "home", read_tool(ledger), write_tool(ledger)) as desk:
        run_id = await desk.start(call("r", "book.read"), WRITE)
        first = await collected(desk, run_id)
        assert first[0] == (1, "run.started")
        assert first[-1][1] == "approval.required"
        await desk.answer(await desk.card(run_id), {"approved": True})
        rest = await collected(desk, run_id, after=first[-1][0])
        assert [seq for seq, _ in rest] == list(range(first[-1][0] + 1, first[-1][0] + 1 + len(rest)))
        assert rest[-1][1] == "run.ended"
        assert await collected(desk, run_id) == first + rest
        assert await collected(desk, run_id, after=rest[-1][0]) == []


async def test_following_goes_on_while_parked(tmp_path: Path, ledger: Ledger) -> None:
    """A follower sees one stream over the wait, in order, each event once."""
    async with open_desk(tmp_path / "home", write_tool(ledger)) as desk:
        run_id = await desk.start(WRITE)
        following = asyncio.create_task(collected(desk, run_id, follow=True))
        await desk.rest(run_id)
        await desk.approve(await desk.card(run_id))
        seen = await following
        assert [seq for seq, _ in seen] == list(range(1, len(seen) + 1))
        assert seen[-1][1] == "run.ended"


@pytest.mark.parametrize("after", range(0, 12, 3))
async def test_a_late_joiner_misses_nothing(tmp_path: Path, ledger: Ledger, after: int) -> None:
    """Report 25: whatever number one has, what comes is what comes after it, cards once."""
    async with open_desk(tmp_path / "home", write_tool(ledger)) as desk:
        run = await desk.run(WRITE, call("v", "book.write", record="b", value="y"))
        whole = await collected(desk, run["runId"])
        assert [kind for _, kind in whole].count("approval.required") == 2
        assert await collected(desk, run["runId"], after=after) == [
            (seq, kind) for seq, kind in whole if seq > after
        ]
        await desk.condor.stop(run["runId"])


async def test_many_watch_one_run(tmp_path: Path, ledger: Ledger) -> None:
    """Twenty watchers that join at different times see the same log; none is left behind."""
    gates = [asyncio.Event() for _ in range(4)]

    @tool("gate.read", policy_class=PolicyClass.READ)
    async def gate(ctx: ToolContext, n: int) -> int:
        await gates[n].wait()
        return n

    async with open_desk(tmp_path / "home", gate) as desk:
        steps = [call(f"g{n}", "gate.read", n=n, after=[f"g{n - 1}"] if n else []) for n in range(4)]
        run_id = await desk.start(*steps)
        watchers = []
        for opener in gates:
            watchers += [asyncio.create_task(collected(desk, run_id)) for _ in range(5)]
            await asyncio.sleep(0)
            opener.set()
        seen = await asyncio.gather(*watchers)
        assert all(log == seen[0] for log in seen)
        assert seen[0][-1][1] == "run.ended"
        assert desk.condor._running()._hub._watchers == {}


async def test_a_log_longer_than_a_page(tmp_path: Path, ledger: Ledger) -> None:
    """A run of many steps is replayed whole."""
    async with open_desk(tmp_path / "home", read_tool(ledger)) as desk:
        run = await desk.run(*(call(f"r{n}", "book.read") for n in range(600)))
        seen = await collected(desk, run["runId"])
        assert [seq for seq, _ in seen] == list(range(1, len(seen) + 1))
        assert len(seen) > 1_200


async def test_watching_what_is_not_there(tmp_path: Path, ledger: Ledger) -> None:
    """An unknown run is refused at the first look; so is waiting for it."""
    async with open_desk(tmp_path / "home", read_tool(ledger)) as desk:
        with pytest.raises(UnknownId):
            await collected(desk, "run_none")
        with pytest.raises(UnknownId):
            await desk.condor.wait("run_none")
        with pytest.raises(UnknownId):
            await desk.condor.show("run_none")
        with pytest.raises(UnknownId):
            await desk.condor.suspension("sus_none")


async def test_every_settled_step_was_opened_in_the_log(tmp_path: Path, ledger: Ledger) -> None:
    """Reports 31, 32: over the wait each call is announced once, and has one outcome."""
    async with open_desk(tmp_path / "home", read_tool(ledger), write_tool(ledger)) as desk:
        run = await desk.run(call("r", "book.read"), WRITE, call("s", "book.read", after=["w"]))
        await desk.approve(await desk.card(run["runId"]))
        events = await desk.events(run["runId"])
        for step in ("r", "w", "s"):
            kinds = [event["kind"] for event in events if event.get("stepId") == step]
            assert (kinds.count("step.started"), kinds.count("step.settled")) == (1, 1)
            assert kinds.index("step.started") < kinds.index("step.settled")


@pytest.mark.parametrize("ending", ["approve", "deny", "expire", "stop"])
async def test_every_call_has_one_output_however_it_ends(tmp_path: Path, ledger: Ledger, ending: str) -> None:
    """Report 33: the history holds exactly one outcome a step, whatever became of its card."""
    async with open_desk(tmp_path / "home", write_tool(ledger), ttl_s=60) as desk:
        run = await desk.run(WRITE)
        card = await desk.card(run["runId"])
        match ending:
            case "approve":
                await desk.approve(card)
            case "deny":
                await desk.deny(card)
            case "expire":
                desk.clock.advance(60)
                await desk.condor._running().sweep()
            case _:
                await desk.condor.stop(run["runId"])
        events = await desk.events(run["runId"])
        settled = [event for event in events if event["kind"] == "step.settled"]
        assert [event["stepId"] for event in settled] == ["w"], ending
