"""A run that ends its process is not taken up for ever; one that a process lets go of is not charged."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from condor import PolicyClass, ToolContext, bootstrap, tool
from condor.core.recovery import BreakerStop, CircuitBreakerLedger, Limits, ledger_from_json
from tests.pump.desk import call, open_desk

if TYPE_CHECKING:
    from pathlib import Path

#: What ends the process: a read, a planner, a preview or a report of a write, a writer.
POISON = """
import asyncio, os, sys
from condor import Condor, HitlTier, PolicyClass, ToolContext, tool

home, what = sys.argv[1:3]

def end(*_args, **_kwargs):
    print("entered", flush=True)
    os._exit(9)

async def ends(ctx: ToolContext):
    end()

async def ok(ctx: ToolContext):
    return "fine"

class Planner:
    async def plan(self, request):
        end()

class Writer:
    def write(self, request):
        end()

tools = [
    tool("ok.read", policy_class=PolicyClass.READ)(ok),
    tool("ok.write", policy_class=PolicyClass.MUTATE, hitl_tier=HitlTier.LOW, report=end)(ok),
    tool("read", policy_class=PolicyClass.READ)(ends),
    tool("preview", policy_class=PolicyClass.MUTATE, hitl_tier=HitlTier.HIGH, preview=ends)(ok),
]
steps = [{"id": "r", "tool": what if what in ("read", "preview") else "ok.read", "args": {}}]
if what == "report":
    # What was written is stored before the read begins, and told at the end.
    steps = [{"id": "w", "tool": "ok.write", "args": {}}, {**steps[0], "after": ["w"]}]

async def main():
    options = {"planner": {"planner": Planner()}, "writer": {"writer": Writer()}}.get(what, {})
    async with Condor(tools=tools, home=home, database_url="", **options) as condor:
        runs = [row.run_id for row in await condor._stored().runs(limit=9)]
        if not runs:
            start = {"request": "x"} if what == "planner" else {"plan": {"steps": steps}}
            runs = [(await condor.start(**start, autonomy="autonomous")).id]
        end = await condor.wait(runs[0])
        print(end["status"], end["budget"]["stop"]["limit"], end["budget"]["take_ups"]["used"])
        print(end["closing"])

asyncio.run(main())
"""


@pytest.mark.parametrize("what", ["planner", "preview", "read", "report", "writer"])
def test_a_run_that_ends_its_process_is_stopped(
    tmp_path: Path, what: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After so many restarts it ends, typed; whatever ended the process is not entered again."""
    monkeypatch.setenv("CONDOR_TAKE_UPS_MAX", "1")
    seen, errors = [], ""
    for _ in range(3):
        done = subprocess.run(
            [sys.executable, "-c", POISON, str(tmp_path), what],
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        seen.append((done.returncode, done.stdout))
        errors = done.stderr
    assert seen[:2] == [(9, "entered\n")] * 2, (seen, errors)
    code, said = seen[2]
    status = "degraded" if what == "report" else "failed"
    assert (code, said.splitlines()[0]) == (0, f"{status} take_ups_max 1"), errors
    assert "1 of at most 1 restarts without progress were used up" in said


async def test_a_process_that_goes_in_order_is_no_end_of_a_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However often its planner is interrupted by restarts, a run is not the one that ended the process."""
    monkeypatch.setattr(bootstrap, "_GRACE_S", 0.01)
    let_go = asyncio.Event()

    class Planner:
        def __init__(self) -> None:
            self.asked: asyncio.Queue[None] = asyncio.Queue()

        async def plan(self, request: Any) -> object:
            self.asked.put_nowait(None)
            await let_go.wait()
            return {"steps": [call("r", "ok.read")]}

    @tool("ok.read", policy_class=PolicyClass.READ)
    async def ok(ctx: ToolContext) -> str:
        return "read"

    planner, run_id, limits = Planner(), None, {"take_ups_max": 1}
    options: dict[str, Any] = {"planner": planner, "limits": limits, "check": False}
    for seed in range(4):
        async with open_desk(tmp_path / "home", ok, seed=seed, **options) as desk:
            run_id = run_id or (await desk.condor.start("anything")).id
            await planner.asked.get()
    let_go.set()
    assert run_id is not None
    async with open_desk(tmp_path / "home", ok, planner=planner, seed=8, limits=limits) as desk:
        end = await desk.rest(run_id)
        assert (end["status"], end["budget"]["take_ups"]["used"]) == ("succeeded", 1)


def test_progress_begins_the_count_anew() -> None:
    """Restarts in a row count, what was stored of them survives, and what was done in between clears them."""
    ledger = CircuitBreakerLedger(limits=Limits(take_ups_max=2))
    for done, times in (("a", 1), ("a", 2), ("b", 1), ("b", 2)):
        taken = ledger.taken_up(done)
        assert isinstance(taken, CircuitBreakerLedger)
        assert taken.used()["take_ups_max"] == times
        ledger = ledger_from_json(taken.to_json(), ledger.limits)
        assert ledger == taken
    stop = ledger.taken_up("b", any_succeeded=True)
    assert stop == BreakerStop(limit="take_ups_max", used=2, most=2, outcome="degraded")
    assert ledger.given_back().taken_up("b") == ledger
    assert ledger.tripped(stop).taken_up("c") == stop
