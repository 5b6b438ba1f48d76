"""Runs with three gates each, answered at two servers while servers and workers are killed at random.

Nothing is lost, nothing doubled, nothing done without its approval, judged by the outside ledger, by what
clients were told, and by the audit. `make workers` is the figure of it: hundreds of runs.
"""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

import pytest

from condor import Condor
from condor.config import Settings
from condor.core.run import TERMINAL
from condor.testing import SeededClock
from tests.postgres.workers.crew import QUICK, REST_S_MAX, Crew
from tests.postgres.workers.killing import Trial
from tests.postgres.workers.process import CrewPack
from tests.pump.desk import Desk, check_everything
from tests.simulation.test_restarts import _judge, _reconcile

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.slow

#: One seed a day finds what another does not: `make workers SEED=7`.
SEED = int(os.environ.get("CONDOR_WORKERS_SEED", "1"))


async def check_trial(crew: Crew, *, runs: int, kills: int, seed: int, env: dict[str, str]) -> str:
    """Play a trial and judge it; its figures."""
    begun = time.monotonic()
    trial = Trial(crew, runs=runs, kills=kills, seed=seed, env=env)
    async with crew.server(tend=False) as condor:
        told = await trial.play(condor)
    await crew.close()
    took_s = time.monotonic() - begun
    assert (told.kills, len(told.runs)) == (kills, runs)
    assert trial.rested_s < REST_S_MAX, "not at rest in time"
    home: Path = crew.folder / "judge"
    async with Condor(
        packs=[CrewPack(crew.folder)],
        home=home,
        database_url=crew.url,
        settings=Settings(home=home),
        tend=False,
    ) as condor:
        desk = Desk(condor, SeededClock())
        assert condor.taken_up == ()
        rows = await condor.store.runs(limit=10 * runs)
        assert sorted(row.run_id for row in rows) == sorted(told.runs.values()), "a run was lost or doubled"
        await check_everything(desk)
        ended = [(await desk.events(row.run_id))[-1] for row in rows if row.status == "failed"]
        # A run all of whose first calls were declined has reached nothing; nothing else may fail one.
        assert {event["cause"] for event in ended} <= {"nothing-reached"}, crew.log()[-8000:]
        before = await _judge(desk, told, crew.ledger)
        asked = await _reconcile(desk, told, crew.ledger)
        await check_everything(desk)
        after = await _judge(desk, told, crew.ledger)
        assert set(after) <= {str(status) for status in TERMINAL}, after
    ways = {way: trial.ways.count(way) for way in sorted(set(trial.ways))}
    return (
        f"{runs} runs, {kills} kills ({ways}), {len(told.won)} answers taken, {told.late} late, {told.cut} "
        f"requests cut off; at rest {trial.rested_s:.1f} s after the last kill, {took_s:.0f} s in all; "
        f"{dict(before)}, then {asked} reconciled: {dict(after)}, {crew.ledger.count()} writes"
    )


async def test_nothing_is_lost_or_doubled(crew: Crew) -> None:
    """A slice: forty runs, five kills, the quickest signs of life."""
    await check_trial(crew, runs=40, kills=5, seed=SEED, env=QUICK)


@pytest.mark.load
@pytest.mark.parametrize("seed", range(SEED, SEED + 4))
async def test_hundreds_of_runs(crew: Crew, seed: int) -> None:
    """As workers are configured: signs of life every 2 s, missed after 8."""
    print(await check_trial(crew, runs=300, kills=20, seed=seed, env={}))  # noqa: T201 - the figure
