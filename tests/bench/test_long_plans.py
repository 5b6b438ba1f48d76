"""A step of a long plan costs what a step of a short one does."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import pytest

from condor import PolicyClass, ToolContext, tool
from tests.pump.desk import call, open_desk

if TYPE_CHECKING:
    from pathlib import Path


@tool("quick.read", policy_class=PolicyClass.READ)
async def quick(ctx: ToolContext, n: int) -> dict[str, int]:
    """Reads nothing."""
    return {"n": n}


async def cpu_ms_of_a_step(home: Path, steps: int, *, chained: bool) -> float:
    """CPU of one run, by step."""
    plan = [
        call(f"s{n}", "quick.read", n=n, after=[f"s{n - 1}"] if chained and n else []) for n in range(steps)
    ]
    async with open_desk(home, quick, check=False) as desk:
        begun = time.process_time()
        end: Any = await desk.run(*plan, autonomy="autonomous")
        assert end["status"] == "succeeded"
        return (time.process_time() - begun) * 1_000 / steps


@pytest.mark.slow
@pytest.mark.parametrize("chained", [True, False], ids=["chain", "wide"])
async def test_2000_steps_cost_within_twice_a_step_of_200(tmp_path: Path, *, chained: bool) -> None:
    """No work of one step grows with the plan: the best of each, since a busy machine only ever adds."""
    short, long = float("inf"), float("inf")
    for attempt in range(4):
        for n in range(3):
            home = tmp_path / f"short{attempt}-{n}"
            short = min(short, await cpu_ms_of_a_step(home, 200, chained=chained))
        long = min(long, await cpu_ms_of_a_step(tmp_path / f"long{attempt}", 2_000, chained=chained))
        if long < 2 * short:
            break
    assert long < 2 * short
