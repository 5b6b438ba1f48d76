"""A planner's candidate that cannot be run is mended once, before anything is compiled; never more."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest

from condor.core.errors import RequestNotUnderstood
from condor.core.recovery import CircuitBreakerLedger
from condor.runtime.driving import Driving
from tests.pump.desk import ANN, call, open_desk, read_tool

if TYPE_CHECKING:
    from pathlib import Path

    from condor.ports.model import PlanningRequest, RepairRequest
    from condor.testing import Ledger

GOOD = {"steps": [call("r", "book.read")]}
BAD = {"steps": [call("r", "book.reed")]}


class Planner:
    """Plans once."""

    def __init__(self, candidate: Any) -> None:
        self.candidate = candidate

    async def plan(self, request: PlanningRequest) -> object:
        return self.candidate


class Repairer(Planner):
    """Plans once, and mends once more than it should be asked to."""

    def __init__(self, candidate: Any, *repairs: Any) -> None:
        super().__init__(candidate)
        self.repairs, self.asked = list(repairs), []  # type: ignore[var-annotated]

    async def repair(self, request: RepairRequest) -> object:
        self.asked.append(request)
        repair = self.repairs.pop(0)
        if isinstance(repair, Exception):
            raise repair
        return repair


async def planned(tmp_path: Path, ledger: Ledger, planner: Any) -> tuple[Any, list[Any]]:
    """A run of a request with this planner, and its events."""
    async with open_desk(tmp_path / "home", read_tool(ledger), planner=planner) as desk:
        run = await desk.condor.start("read the book", principal=ANN)
        return await desk.rest(run.id), await desk.events(run.id)


async def test_a_candidate_is_repaired_once(tmp_path: Path, ledger: Ledger) -> None:
    """The planner is told what is wrong and where; the log says that it was mended; no budget is touched."""
    planner = Repairer(BAD, GOOD)
    end, events = await planned(tmp_path, ledger, planner)
    assert (end["status"], end["plan"]) == ("succeeded", GOOD)
    (asked,) = planner.asked
    assert (asked.candidate, asked.fault.code, asked.fault.path) == (BAD, "unknown_tool", "/steps/0/tool")
    assert asked.asked.text == "read the book"
    (ready,) = [event for event in events if event["kind"] == "plan.ready"]
    assert (ready["repaired"], ready["revision"]) == ("unknown_tool", 1)
    assert end["budget"]["plan_mutations"]["used"] == CircuitBreakerLedger().plan_mutations


async def test_a_second_repair_is_not_asked_for(tmp_path: Path, ledger: Ledger) -> None:
    """One shot: a repair that cannot be run either is refused, and the run says why."""
    planner = Repairer(BAD, {"steps": []}, GOOD)
    end, _ = await planned(tmp_path, ledger, planner)
    assert (end["status"], len(planner.asked)) == ("failed", 1)
    assert "a plan needs at least one step" in end["closing"]


@pytest.mark.parametrize(
    "fault", [RequestNotUnderstood("I cannot"), RuntimeError("away"), ValueError("x")], ids=repr
)
async def test_a_planner_that_cannot_repair_says_so(tmp_path: Path, ledger: Ledger, fault: Exception) -> None:
    """What it raises ends the run with a reason."""
    end, _ = await planned(tmp_path, ledger, Repairer(BAD, fault))
    assert end["status"] == "failed"
    assert end["closing"]


async def test_a_planner_without_repair_is_not_asked(tmp_path: Path, ledger: Ledger) -> None:
    """Only a planner that offers it."""
    end, _ = await planned(tmp_path, ledger, Planner(BAD))
    assert end["status"] == "failed"
    assert "no tool is called 'book.reed'" in end["closing"]


async def test_a_good_plan_is_left_alone(tmp_path: Path, ledger: Ledger) -> None:
    """Nothing to mend."""
    planner = Repairer(GOOD)
    end, events = await planned(tmp_path, ledger, planner)
    assert (end["status"], planner.asked) == ("succeeded", [])
    assert "repaired" not in next(event for event in events if event["kind"] == "plan.ready")


async def test_a_process_that_leaves_asks_no_second_time(
    tmp_path: Path, ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The run is left as it is; whoever takes it up asks anew."""
    asked = asyncio.Event()

    async def nobody_takes_it(_driving: Driving, _segment: object) -> None:
        """A file has one owner; where workers are, it is handed over."""

    monkeypatch.setattr(Driving, "_hand_back", nobody_takes_it)

    class Slow:
        times = 0

        async def plan(self, request: PlanningRequest) -> object:
            self.times += 1
            asked.set()
            if self.times == 1:
                await asyncio.Event().wait()
            return GOOD

    first, second = Slow(), Slow()
    second.times = 1
    async with open_desk(tmp_path / "home", read_tool(ledger), planner=first, check=False) as desk:
        run = await desk.condor.start("read the book", principal=ANN)
        async with asyncio.timeout(10):
            await asked.wait()
            driving = desk.condor._running()._driving
            driving.live[run.id].segment.leave()
            while run.id in driving.live:  # noqa: ASYNC110 - nobody is told that it is left
                await asyncio.sleep(0.01)
        assert (first.times, [event["kind"] for event in await desk.events(run.id)][1:]) == (1, [])
    async with open_desk(tmp_path / "home", read_tool(ledger), planner=second, seed=1) as desk:
        end = await desk.rest(run.id)
        assert (end["status"], second.times) == ("succeeded", 2)
