"""Runs from start to end while every connection is ended again and again: none lost, none doubled."""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest

from condor import Condor
from condor.config import Settings
from condor.core.errors import StoreUnavailable
from condor.testing import Ledger
from tests.pump.desk import ANN, BOB, call, read_tool, write_tool

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

#: Seconds between two ends of everything.
EVERY_S = 0.2
AT_ONCE = 16
#: Longest that one run may take, in seconds; a run that needs longer does not count as ended by itself.
PATIENCE_S = 60.0


async def one(condor: Condor, number: int) -> str:
    """Start, wait for the card, approve, wait for the end; how it ended. Only the answer is ever repeated."""
    steps = [
        call("r", "book.read"),
        call("w", "book.write", record=f"r-{number}", value="x", after=["r"]),
    ]
    run = await condor.start(plan={"steps": steps}, principal=ANN, key=f"k-{number}")
    shown: Any = await condor.wait(run.id)
    (card,) = [card for card in shown["suspensions"] if card["status"] == "pending"]
    await condor.resume(run.id, card["suspendId"], {"approved": True}, principal=BOB)
    return str((await condor.wait(run.id))["status"])


async def check_loss(url: str, folder: Path, end_backends: Callable[[], int], runs: int) -> None:
    ledger = Ledger(folder / "ledger.db")
    tools = [read_tool(ledger), write_tool(ledger)]
    numbers: Iterator[int] = iter(range(runs))
    ends: Counter[str] = Counter()
    ended, done = 0, asyncio.Event()

    async def end_all() -> None:
        nonlocal ended
        while not done.is_set():
            ended += await asyncio.to_thread(end_backends)
            await asyncio.sleep(EVERY_S)

    async def work(condor: Condor) -> None:
        for number in numbers:
            try:
                ends[await asyncio.wait_for(one(condor, number), PATIENCE_S)] += 1
            except (StoreUnavailable, TimeoutError) as error:
                ends[type(error).__name__] += 1

    async with Condor(tools=tools, home=folder, database_url=url, settings=Settings(home=folder)) as condor:
        async with asyncio.TaskGroup() as group:
            ending = group.create_task(end_all())
            await asyncio.gather(*(work(condor) for _ in range(AT_ONCE)))
            done.set()
            await ending
        by_status = Counter([str(row.status) for row in await condor.store.runs(limit=runs + 1)])
        assert all([verdict.kept async for verdict in condor.verify()])
    written = Counter(entry.record for entry in ledger.entries())
    assert ended > runs / 20
    assert ends["succeeded"] >= 0.99 * runs, ends
    assert max(written.values()) == 1, "an effect was made twice"
    assert len(written) >= ends["succeeded"]
    assert by_status["succeeded"] >= ends["succeeded"]
    print(f"{runs} runs, {ended} back ends ended: {dict(ends)}")  # noqa: T201 - `make load` shows it


@pytest.mark.slow
async def test_runs_outlive_their_connections(
    url: str, tmp_path: Path, end_backends: Callable[[], int]
) -> None:
    """A hundred of them; `make load` does a thousand."""
    await check_loss(url, tmp_path, end_backends, 100)


@pytest.mark.load
async def test_a_thousand_runs_outlive_their_connections(
    url: str, tmp_path: Path, end_backends: Callable[[], int]
) -> None:
    """The figure of the issue: none lost, at least 990 end by themselves."""
    await check_loss(url, tmp_path, end_backends, 1_000)
