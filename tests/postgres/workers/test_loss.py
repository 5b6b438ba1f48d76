"""Workers outlive their connections: every back end is ended again and again, those for jobs too."""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import TYPE_CHECKING, TypeVar

import pytest

from condor.core.errors import StoreUnavailable
from tests.postgres.workers.crew import PATIENCE_S, Crew, parked, step
from tests.simulation.restart_server import ANN, OPERATORS

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from condor import Condor
    from condor.testing.postgres_cluster import PostgresCluster

pytestmark = pytest.mark.slow
_T = TypeVar("_T")

#: Seconds between two ends of everything, and how often.
_EVERY_S, _TIMES = 0.4, 5
_RUNS = 24

_END = """SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
    WHERE application_name IN ('condor', 'condor worker')"""


async def test_workers_outlive_their_connections(crew: Crew, cluster: PostgresCluster) -> None:
    """Runs from start to end meanwhile: none is lost, each write is made once, nobody is begun anew."""
    async with crew.server() as condor:
        workers = [await crew.worker() for _ in range(2)]
        ended = 0

        async def end_all() -> None:
            nonlocal ended
            for _ in range(_TIMES):
                await asyncio.sleep(_EVERY_S)
                ended += int(await asyncio.to_thread(cluster.sql, _END, database="postgres"))

        async with asyncio.TaskGroup() as group:
            group.create_task(end_all())
            runs = [group.create_task(_one(condor, number)) for number in range(_RUNS)]
        assert ended > 5 * _TIMES
        assert Counter([run.result() for run in runs]) == {"succeeded": _RUNS}
        assert all(crew.is_there(pid) for pid in workers), crew.log()[-4000:]
        written = Counter(entry.record for entry in crew.ledger.entries())
        assert set(written.values()) == {1}
        assert len(written) == _RUNS
        verdicts = [verdict async for verdict in condor.verify()]
        assert all(verdict.kept for verdict in verdicts)


async def _one(condor: Condor, number: int) -> str:
    """Start, approve, see the end; what the server could not take is asked again, under the same key."""
    await asyncio.sleep(number * _EVERY_S * _TIMES / _RUNS)
    plan = {"steps": [step("a", "once.write", record=f"r{number}")]}
    run = await _insisted(lambda: condor.start(plan=plan, principal=ANN, key=f"k{number}"))
    (card,) = await _insisted(lambda: parked(condor, run.id))
    answer = {"approved": True}
    await _insisted(lambda: condor.resume(run.id, card["suspendId"], answer, principal=OPERATORS[0]))
    shown = await _insisted(lambda: asyncio.wait_for(condor.wait(run.id), PATIENCE_S))
    return str(shown["status"])


async def _insisted(ask: Callable[[], Awaitable[_T]]) -> _T:
    for _ in range(20):
        try:
            return await ask()
        except StoreUnavailable:
            await asyncio.sleep(0.1)
    return await ask()
