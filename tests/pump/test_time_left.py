"""A run's wall time: every call gets what is left of it, and what has no time is not entered."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, Any

import pytest

from condor import CardEvidence, HitlTier, PolicyClass, Reconciled, ToolContext, tool
from condor.pump import time_left
from tests.pump.desk import call, open_desk

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

#: The least that may be set.
ONE_SECOND = {"wall_time_s_max": 1}


class RealTime:
    """Wall and ids as they were seeded, monotonic time as it is."""

    def __init__(self, clock: Any) -> None:
        self._clock = clock

    def __getattr__(self, name: str) -> Any:
        return getattr(self._clock, name)

    def monotonic(self) -> float:
        return time.monotonic()


@pytest.fixture
def clock() -> Iterator[Any]:
    """Monotonic time that goes on."""
    from condor.testing import SeededClock

    yield RealTime(SeededClock(0))


async def test_a_read_is_cut_to_what_is_left_of_its_run(tmp_path: Path, clock: Any) -> None:
    """A tool that may take six seconds in a run that may take one."""

    @tool("slow.read", policy_class=PolicyClass.READ, timeout_s=6)
    async def slow(ctx: ToolContext) -> None:
        assert ctx.deadline - time.monotonic() <= 1
        await asyncio.Event().wait()

    async with open_desk(tmp_path / "home", slow, clock=clock, limits=ONE_SECOND) as desk:
        begun = time.monotonic()
        end = await desk.run(call("r", "slow.read"), call("s", "slow.read", after=["r"]))
        assert time.monotonic() - begun < 2
        assert end["status"] == "failed"
        assert end["budget"]["stop"]["limit"] == "wall_time_s_max"
        assert end["steps"][0]["code"] == "timeout"
        assert end["budget"]["wall_time_s"]["used"] < 1.5


@pytest.mark.parametrize("happened", [True, False, None])
async def test_a_write_that_is_cut_is_unknown_and_found_out_about(
    tmp_path: Path, clock: Any, happened: bool | None
) -> None:
    """As any timed-out write: never failed for the run's want of time, and not entered again."""
    entered: list[int] = []

    async def asked(ctx: ToolContext) -> Reconciled:
        return Reconciled(happened=happened)

    @tool(
        "slow.write",
        policy_class=PolicyClass.MUTATE,
        hitl_tier=HitlTier.LOW,
        timeout_s=6,
        idempotent=True,
        reconcile=asked,
    )
    async def slow(ctx: ToolContext) -> None:
        entered.append(1)
        await asyncio.Event().wait()

    async with open_desk(tmp_path / "home", slow, clock=clock, limits=ONE_SECOND) as desk:
        begun = time.monotonic()
        end = await desk.run(call("w", "slow.write"), autonomy="autonomous")
        assert time.monotonic() - begun < 2.5
        assert end["budget"]["stop"]["limit"] == "wall_time_s_max"
        wanted = {True: "succeeded", False: "failed", None: "unknown"}[happened]
        assert (end["steps"][0]["status"], len(entered)) == (wanted, 1)


async def test_what_has_no_time_is_not_entered(
    tmp_path: Path, clock: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A write whose preview used up the time: neither journalled nor entered, and the breaker says why."""
    monkeypatch.setattr(time_left, "ENTRY_S_MIN", 0.5)

    async def look(ctx: ToolContext) -> CardEvidence:
        await asyncio.sleep(0.6)
        return CardEvidence(summary="seen")

    @tool("w.write", policy_class=PolicyClass.MUTATE, hitl_tier=HitlTier.LOW, preview=look)
    async def write(ctx: ToolContext) -> None:
        raise AssertionError("it ran")

    async def nap(ctx: ToolContext) -> str:
        await asyncio.sleep(0.6)
        return "slept"

    @tool("late.read", policy_class=PolicyClass.READ)
    async def late(ctx: ToolContext) -> None:
        raise AssertionError("it ran")

    first = tool("nap.read", policy_class=PolicyClass.READ)(nap)
    async with open_desk(tmp_path / "home", write, late, first, clock=clock, limits=ONE_SECOND) as desk:
        for last in ("w.write", "late.read"):
            end = await desk.run(call("n", "nap.read"), call("x", last, after=["n"]), autonomy="autonomous")
            stop = end["budget"]["stop"]
            assert (end["status"], stop["limit"]) == ("degraded", "wall_time_s_max")
            assert stop["used"] <= stop["most"] == 1
            assert {step["id"]: step["status"] for step in end["steps"]} == {
                "n": "succeeded",
                "x": "skipped",
            }
            assert "allowed" not in await desk.decisions(end["runId"])


async def test_planners_are_cut_too(tmp_path: Path, clock: Any) -> None:
    """They may take minutes; a run that may take a second does not wait for them."""

    class Planner:
        async def plan(self, request: Any) -> object:
            await asyncio.Event().wait()
            return {}

    async with open_desk(tmp_path / "home", planner=Planner(), clock=clock, limits=ONE_SECOND) as desk:
        begun = time.monotonic()
        end = await desk.rest((await desk.condor.start("anything")).id)
        assert time.monotonic() - begun < 2
        assert "gave no plan within" in end["closing"]
