"""What one process commits another one hears, at once and without asking; what it missed it looks up."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from condor.core.ids import RunId
from condor.core.run import EventKind
from condor.ports.store import Expect, Transition
from condor.testing.store_units import all_of, at, creation, run_name

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from condor.testing.postgres_cluster import PostgresCluster
    from tests.postgres.conftest import OpenStore

#: Seconds within which a word arrives, on a busy machine; nobody asks for it.
HEARD_S_MAX = 5.0


class Ear:
    """Keeps what it hears."""

    def __init__(self) -> None:
        self.runs: list[str] = []
        self.doubts = 0
        self._woken = asyncio.Event()

    def __call__(self, run_ids: Sequence[str] | None) -> None:
        if run_ids is None:
            self.doubts += 1
        self.runs += run_ids or ()
        self._woken.set()

    async def until(self, heard: Callable[[], bool]) -> None:
        async with asyncio.timeout(HEARD_S_MAX):
            while not heard():
                self._woken.clear()
                await self._woken.wait()


def text(number: int, second: float = 1) -> Transition:
    return Transition(run_id=run_name(number), at=at(second), events=[(EventKind.TEXT_DELTA, b"{}")])


async def test_what_another_commits_is_heard(opened: OpenStore) -> None:
    """Every run of a group, in one word; never what was refused alone, never one's own."""
    mine, theirs = Ear(), Ear()
    here, there = await opened(heard=mine), await opened(heard=theirs)
    await here.commit(creation(1))
    await theirs.until(lambda: theirs.runs == [run_name(1)])
    refused = Transition(run_id=run_name(1), at=at(1), expect=Expect(rev=99))
    await asyncio.gather(here.commit(refused), return_exceptions=True)
    await all_of(here, [text(1), creation(2), creation(3)])
    await theirs.until(lambda: len(theirs.runs) == 4)
    assert theirs.runs == [run_name(1), run_name(1), run_name(2), run_name(3)]
    assert mine.runs == []
    await there.commit(text(1))
    await mine.until(lambda: mine.runs == [run_name(1)])
    assert (mine.doubts, theirs.doubts) == (0, 0)


async def test_a_large_group_is_heard_whole(opened: OpenStore) -> None:
    """More runs than one notification takes."""
    ear = Ear()
    await opened(heard=ear)
    store = await opened()
    await all_of(store, [creation(number) for number in range(400)])
    await ear.until(lambda: len(ear.runs) >= 400)
    assert sorted(ear.runs) == [run_name(number) for number in range(400)]


async def test_who_only_reads_hears_too(opened: OpenStore) -> None:
    """A reader beside the writers."""
    store, ear = await opened(), Ear()
    await opened(read_only=True, heard=ear)
    await store.commit(creation())
    await ear.until(lambda: ear.runs == [run_name(1)])


async def test_what_was_missed_is_looked_up(opened: OpenStore, cluster: PostgresCluster) -> None:
    """While nobody listens something is committed: it is told as soon as somebody listens again."""
    ear = Ear()
    listening = await opened(heard=ear)
    store = await opened()
    await store.commit(creation(1, second=0))
    await store.commit(creation(2, second=500))
    await ear.until(lambda: len(ear.runs) == 2)
    listener = listening._listener
    assert listener is not None
    again, gate = listener._listen, asyncio.Event()

    async def later() -> None:
        await gate.wait()
        await again()

    listener._listen = later  # type: ignore[method-assign]
    cluster.sql(f"SELECT pg_terminate_backend({listener._connection.get_server_pid()})", database="postgres")
    await asyncio.wait_for(listener._lost.wait(), HEARD_S_MAX)
    await store.commit(creation(3, second=501))
    # Its clock is behind the others'.
    await store.commit(creation(4, second=460))
    assert len(ear.runs) == 2
    gate.set()
    await ear.until(lambda: {run_name(3), run_name(4)} <= set(ear.runs))
    assert ear.doubts == 1
    assert run_name(1) not in ear.runs[2:], "what is long past is not told again"
    await store.commit(Transition(run_id=RunId(run_name(1)), at=at(502), events=text(1).events))
    await ear.until(lambda: ear.runs[-1] == run_name(1))
