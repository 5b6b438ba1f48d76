"""Group commit on SQLite: what shares a commit, and what an error of the disk or a lost waiter does."""

from __future__ import annotations

import asyncio
import sqlite3
import threading
from collections import Counter
from typing import TYPE_CHECKING

import pytest

from condor.core.errors import OurBug, StoreUnavailable
from condor.core.run import EventKind
from condor.ports.store import AuditFilter, Committed, Conflict, Transition
from condor.store.grouper import GROUP_UNITS_MAX
from condor.store.sqlite import SqliteStore
from condor.testing.store_units import (
    all_of,
    at,
    card,
    contents,
    creation,
    decision,
    every_chain_is_whole,
    everything,
    parking,
    run_name,
)

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def texts(number: int, count: int = 1) -> list[Transition]:
    unit = Transition(run_id=run_name(number), at=at(1), events=[(EventKind.TEXT_DELTA, b"{}")])
    return [unit] * count


class Crash(BaseException):
    """What a planted crash raises: nothing that anybody handles."""


class Gate:
    """Faults that hold the writer before its commit until they are told to go on."""

    def __init__(self) -> None:
        self.held = threading.Event()
        self.go = threading.Event()
        self.go.set()
        self.passed: Counter[str] = Counter()
        self.failure: BaseException | None = None

    def __call__(self, point: str) -> None:
        self.passed[point] += 1
        if point == "writer.before-commit":
            self.held.set()
            assert self.go.wait(timeout=30)
            if self.failure is not None:
                raise self.failure


async def test_units_that_wait_together_share_a_commit(opened: Callable[..., SqliteStore]) -> None:
    """64 units that are handed in at once cost one commit, and each is told its own numbers."""
    gate = Gate()
    store = opened(gate)
    await all_of(store, [creation(number) for number in range(64)])
    assert gate.passed == {"writer.before-commit": 1, "writer.after-commit": 1}
    told = await all_of(store, [unit for number in range(64) for unit in texts(number)])
    assert gate.passed["writer.after-commit"] == 2
    assert told == [Committed(first_seq=2, last_seq=2, rev=2, epoch=0, answers=0)] * 64


async def test_a_crowd_is_told_in_parts(opened: Callable[..., SqliteStore]) -> None:
    """A group has a limit; who is beyond it is in the next one."""
    gate = Gate()
    store = opened(gate)
    told = await all_of(store, [creation(number) for number in range(GROUP_UNITS_MAX + 1)])
    assert {type(fate) for fate in told} == {Committed}
    assert gate.passed["writer.after-commit"] == 2


async def test_a_full_disk_fails_every_unit_of_the_group(opened: Callable[..., SqliteStore]) -> None:
    """SQLITE_FULL in the middle of a group: none of it is there, and the store works again afterwards."""
    store = opened()
    await store.commit(creation())
    await store.commit(parking(card()))
    before = await contents(store)

    def fill(connection: sqlite3.Connection) -> None:
        (used,) = connection.execute("PRAGMA page_count").fetchone()
        connection.execute(f"PRAGMA max_page_count = {used}")

    assert store._writer is not None
    store._writer.call(fill)
    large = Transition(run_id=run_name(1), at=at(1), payloads=[("large", b'"' + b"x" * 1_000_000 + b'"')])
    losers = [decision(card(), "loser"), *texts(1, 3), large, creation(2), *texts(99)]
    told = await all_of(store, losers)
    assert [type(fate) for fate in told] == [StoreUnavailable] * len(losers)
    assert all("full" in str(fate) for fate in told)
    assert await contents(store) == before
    store._writer.call(lambda connection: connection.execute("PRAGMA max_page_count = 1000000").close())
    assert [type(fate) for fate in await all_of(store, [decision(card()), large])] == [Committed, Committed]
    await every_chain_is_whole(store)


@pytest.mark.parametrize("failure", [sqlite3.OperationalError("disk I/O error"), Crash("power cut")])
async def test_a_failed_commit_leaves_nothing(
    failure: BaseException, opened: Callable[..., SqliteStore]
) -> None:
    """Whatever ends a commit, its units are not there, its waiters are told, the next group is taken."""
    gate = Gate()
    store = opened(gate)
    await store.commit(creation())
    before = await contents(store)
    gate.failure = failure
    told = await all_of(store, [*texts(1, 3), everything()])
    wanted = StoreUnavailable if isinstance(failure, sqlite3.Error) else type(failure)
    assert [type(fate) for fate in told] == [wanted] * 4
    gate.failure = None
    assert await contents(store) == before
    assert isinstance(await store.commit(everything()), Committed)


async def test_a_loser_is_told_only_after_the_commit(opened: Callable[..., SqliteStore]) -> None:
    """While the winner is not on disk nobody is told that he won."""
    gate = Gate()
    store = opened(gate)
    await store.commit(creation())
    await store.commit(parking(card()))
    gate.held.clear()
    gate.go.clear()
    racers = [asyncio.ensure_future(store.commit(decision(card(), name))) for name in ("a", "b")]
    await asyncio.to_thread(gate.held.wait, 30)
    assert not any(racer.done() for racer in racers)
    gate.failure = sqlite3.OperationalError("disk I/O error")
    gate.go.set()
    told = await asyncio.gather(*racers, return_exceptions=True)
    assert [type(fate) for fate in told] == [StoreUnavailable] * 2
    gate.failure = None
    told = await all_of(store, [decision(card(), "c"), decision(card(), "d")])
    assert [type(fate) for fate in told] == [Committed, Conflict]


async def test_a_cancelled_waiter_disturbs_nobody(opened: Callable[..., SqliteStore]) -> None:
    """Its unit is stored all the same, and the others of its group are told as ever."""
    gate = Gate()
    store = opened(gate)
    await store.commit(creation())
    gate.held.clear()
    gate.go.clear()
    handed_over = [asyncio.ensure_future(store.commit(unit)) for unit in texts(1, 3)]
    await asyncio.to_thread(gate.held.wait, 30)
    waiting = [asyncio.ensure_future(store.commit(unit)) for unit in texts(1, 3)]
    await asyncio.sleep(0)
    for group in (handed_over, waiting):
        group[1].cancel()
    gate.go.set()
    told = await asyncio.gather(*handed_over, *waiting, return_exceptions=True)
    assert [type(fate) for fate in told] == [Committed, asyncio.CancelledError, Committed] * 2
    assert [fate.last_seq for fate in told if isinstance(fate, Committed)] == [2, 4, 5, 7]
    assert len(await store.events(run_name(1))) == 7


async def test_close_waits_for_the_writer(opened: Callable[..., SqliteStore]) -> None:
    """What was handed in is on disk when ``close`` returns, cancelled waiters' units too."""
    gate = Gate()
    store = opened(gate)
    await store.commit(creation())
    gate.held.clear()
    gate.go.clear()
    writes = [asyncio.ensure_future(store.commit(unit)) for unit in texts(1, 3)]
    await asyncio.to_thread(gate.held.wait, 30)
    late = [asyncio.ensure_future(store.commit(unit)) for unit in texts(1, 3)]
    await asyncio.sleep(0)
    closing = asyncio.ensure_future(store.close())
    await asyncio.sleep(0)
    assert not closing.done()
    for write in (*writes, *late):
        write.cancel()
    gate.go.set()
    await closing
    assert len(await opened().events(run_name(1))) == 7


async def test_a_closed_store_says_so(opened: Callable[..., SqliteStore]) -> None:
    """Reads and writes after ``close`` are StoreUnavailable, not errors of the driver."""
    store = opened()
    await store.commit(creation())
    await store.close()
    for late in (store.run("r"), store.load("r"), store.audit(AuditFilter()), store.erase_payloads("r")):
        with pytest.raises(StoreUnavailable, match="closed"):
            await late


def test_a_store_may_outlive_its_loop(path: Path) -> None:
    """One command after the other, each with a loop of its own, on one store."""
    store = SqliteStore.open(path)
    asyncio.run(store.commit(creation(1)))
    asyncio.run(store.commit(creation(2)))
    asyncio.run(store.close())


def test_a_loop_that_ends_before_its_group_harms_nobody(path: Path) -> None:
    """A command that is interrupted leaves a store that works; its unit is on disk."""
    gate = Gate()
    store = SqliteStore.open(path, faults=gate)
    gate.go.clear()

    async def interrupted() -> None:
        task = asyncio.ensure_future(store.commit(creation(1)))
        await asyncio.to_thread(gate.held.wait, 30)
        task.cancel()

    asyncio.run(interrupted())
    gate.go.set()

    async def another() -> None:
        await store.commit(creation(2))
        assert await store.run(run_name(1)) is not None
        await store.close()

    asyncio.run(another())


def test_a_store_serves_one_loop_at_a_time(path: Path) -> None:
    """A second loop is refused while the first one waits."""
    gate = Gate()
    store = SqliteStore.open(path, faults=gate)

    async def first() -> None:
        gate.go.clear()
        task = asyncio.ensure_future(store.commit(creation(1)))
        await asyncio.to_thread(gate.held.wait, 30)
        with pytest.raises(OurBug, match="one event loop at a time"):
            await asyncio.to_thread(asyncio.run, store.commit(creation(2)))
        gate.go.set()
        await task
        await store.close()

    asyncio.run(first())
