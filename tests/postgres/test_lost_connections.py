"""Connections that are lost, at any moment: nothing acknowledged is lost, nothing is done twice."""

from __future__ import annotations

import asyncio
import signal
import time
from collections import Counter
from typing import TYPE_CHECKING, Any

import asyncpg
import pytest

from condor.core.errors import StoreUnavailable
from condor.core.run import EventKind
from condor.ports.store import Committed, Conflict, Transition
from condor.store import postgres_writer
from condor.testing.store_units import (
    all_of,
    at,
    card,
    contents,
    creation,
    decision,
    entry,
    every_chain_is_whole,
    parking,
    run_name,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from condor.store.postgres import PostgresStore
    from condor.testing.postgres_cluster import PostgresCluster
    from tests.postgres.conftest import OpenStore


def marked(number: int, mark: str) -> Transition:
    return Transition(
        run_id=run_name(number),
        at=at(1),
        events=[(EventKind.TEXT_DELTA, f'"{mark}"'.encode())],
        audit=[entry(run_name(number), step_id=mark)],
    )


async def marks(store: PostgresStore, number: int) -> Counter[str]:
    events = await store.events(run_name(number), after=1, limit=1_000_000)
    assert [event.seq for event in events] == list(range(2, len(events) + 2))
    return Counter(event.facts.decode().strip('"') for event in events)


class Interposed:
    """Stands before the writer's statement: does something after the group was sent, or before."""

    def __init__(self, store: PostgresStore, act: Callable[[Any], Any], *, before: bool) -> None:
        assert store._writer is not None
        self._writer = store._writer
        self._statement, self._act, self._before = self._writer._statement, act, before
        self._writer._statement = self

    async def fetchmany(self, calls: Sequence[Any]) -> Any:
        self._writer._statement = self._statement
        if self._before:
            await self._act(self._writer._connection)
        rows = await self._statement.fetchmany(calls)
        await self._act(self._writer._connection)
        return rows


async def cut(connection: Any) -> None:
    """The line is dead, and the server has not noticed."""
    connection.terminate()
    raise asyncpg.ConnectionDoesNotExistError("connection was closed in the middle of operation")


async def test_an_answer_that_is_lost_is_found_out(opened: OpenStore) -> None:
    """Committed, and the line went dead before anybody was told: told the same, done once, losers too."""
    store = await opened()
    await all_of(store, [creation(1), creation(2)])
    await store.commit(parking(card(2)))
    Interposed(store, cut, before=False)
    units = [marked(1, "a"), marked(1, "b"), decision(card(2), "ann"), decision(card(2), "ben")]
    told = await all_of(store, units)
    assert [type(fate) for fate in told] == [Committed, Committed, Committed, Conflict]
    assert isinstance(told[3], Conflict)
    assert told[3].suspension is not None
    assert told[3].suspension.decided_by == "ann"
    assert told[:2] == [
        Committed(first_seq=2, last_seq=2, rev=2, epoch=0, answers=0),
        Committed(first_seq=3, last_seq=3, rev=3, epoch=0, answers=0),
    ]
    assert await marks(store, 1) == {"a": 1, "b": 1}
    assert await store.commit(marked(1, "c")) == Committed(first_seq=4, last_seq=4, rev=4, epoch=0, answers=0)
    await every_chain_is_whole(store)


async def test_a_group_that_was_not_stored_is_sent_again(
    opened: OpenStore, end_backends: Callable[[], int]
) -> None:
    """The back end is ended before it began: the next one does it."""
    store = await opened()
    await store.commit(creation())

    async def end(_: Any) -> None:
        await asyncio.to_thread(end_backends)

    Interposed(store, end, before=True)
    assert await store.commit(marked(1, "a")) == Committed(first_seq=2, last_seq=2, rev=2, epoch=0, answers=0)
    assert await marks(store, 1) == {"a": 1}


async def test_a_group_that_comes_late_is_undone(
    opened: OpenStore, url: str, cluster: PostgresCluster
) -> None:
    """The line is dead while the back end still waits for a lock: what it does afterwards does not count."""
    store = await opened()
    await store.commit(creation())
    other = await asyncpg.connect(url)
    held = other.transaction()
    await held.start()
    await other.execute("SELECT FROM condor.run FOR UPDATE")
    writing = asyncio.ensure_future(store.commit(marked(1, "a")))
    await until_waiting(cluster, 1)
    assert store._writer is not None
    # The client is gone; the server does not look, for its back end is busy waiting.
    store._writer._connection._transport.abort()
    await until_waiting(cluster, 2)
    await held.rollback()
    await other.close()
    assert await writing == Committed(first_seq=2, last_seq=2, rev=2, epoch=0, answers=0)
    assert await marks(store, 1) == {"a": 1}
    await every_chain_is_whole(store)


async def until_waiting(cluster: PostgresCluster, count: int) -> None:
    """So many back ends wait for a lock."""
    look = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'"
    async with asyncio.timeout(20):
        while await asyncio.to_thread(cluster.sql, look) != str(count):  # noqa: ASYNC110 - it tells nobody
            await asyncio.sleep(0.01)


@pytest.mark.slow
async def test_back_ends_are_terminated_all_the_time(
    opened: OpenStore, end_backends: Callable[[], int]
) -> None:
    """Every 50 ms, under 16 writers of 8 runs: every unit is acknowledged, there, and there once."""
    store = await opened(heard=lambda _: None)
    await all_of(store, [creation(number) for number in range(8)])
    ended, done = 0, asyncio.Event()

    async def end_all() -> None:
        nonlocal ended
        while not done.is_set():
            ended += await asyncio.to_thread(end_backends)
            await asyncio.sleep(0.05)

    async def write(writer: int) -> None:
        for number in range(30):
            committed = await store.commit(marked(writer % 8, f"{writer}-{number}"))
            (event,) = await store.events(run_name(writer % 8), after=committed.last_seq - 1, limit=1)
            assert event.facts == f'"{writer}-{number}"'.encode()

    async with asyncio.TaskGroup() as group:
        ending = group.create_task(end_all())
        await asyncio.gather(*(write(writer) for writer in range(16)))
        done.set()
        await ending
    assert ended > 10
    for number in range(8):
        wanted = {f"{writer}-{n}": 1 for writer in (number, number + 8) for n in range(30)}
        assert await marks(store, number) == wanted
    await every_chain_is_whole(store)


@pytest.mark.slow
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGQUIT])
async def test_a_server_that_is_away(
    opened: OpenStore, cluster: PostgresCluster, how: signal.Signals, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Said within seconds, in one line; when it is back, also from a crash, all that was told is there."""
    monkeypatch.setattr(postgres_writer, "_DOUBT_S_MAX", 0.5)
    store = await opened()
    await store.commit(creation())
    told = await all_of(store, [marked(1, f"m{number}") for number in range(50)])
    await asyncio.to_thread(cluster.stop, how)
    try:
        for work in (store.commit(marked(1, "lost")), store.run(run_name(1)), store.check_writable()):
            begun = time.monotonic()
            with pytest.raises(StoreUnavailable) as caught:
                await work
            assert "no PostgreSQL answers at condor@127.0.0.1" in str(caught.value)
            assert "\n" not in str(caught.value)
            assert time.monotonic() - begun < 5
    finally:
        # In this thread: a server ends with the thread that started it.
        cluster.start()
    assert isinstance(await store.commit(marked(1, "after")), Committed)
    wanted = {f"m{number}": 1 for number, fate in enumerate(told) if isinstance(fate, Committed)}
    assert len(wanted) == 50
    assert await marks(store, 1) == {**wanted, "after": 1}
    await every_chain_is_whole(store)


async def test_a_doubt_that_stays_is_said(
    opened: OpenStore, cluster: PostgresCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The line is dead after the commit and nothing comes back: it is not said that nothing happened."""
    monkeypatch.setattr(postgres_writer, "_DOUBT_S_MAX", 0.2)
    store = await opened()
    await store.commit(creation())
    away = True
    again = store._writer._connect_once  # type: ignore[union-attr]

    async def connect_once() -> None:
        if away:
            raise ConnectionRefusedError(111, "refused")
        await again()

    monkeypatch.setattr(store._writer, "_connect_once", connect_once)
    Interposed(store, cut, before=False)
    with pytest.raises(StoreUnavailable, match="is not known: look again before repeating it"):
        await store.commit(marked(1, "a"))
    with pytest.raises(StoreUnavailable):
        await store.commit(marked(1, "b"))
    away = False
    await store.commit(marked(1, "c"))
    assert await marks(store, 1) == {"a": 1, "c": 1}


async def test_a_full_disk_fails_every_unit_of_the_group(opened: OpenStore, cluster: PostgresCluster) -> None:
    """What the server says of its disk in the middle of a group: none of it is there, and it is said."""
    store = await opened()
    await store.commit(creation())
    await store.commit(parking(card()))
    before = await contents(store)
    cluster.sql(
        """CREATE FUNCTION condor.full_disk() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
            RAISE EXCEPTION 'could not extend file: No space left on device' USING ERRCODE = '53100';
        END $$""",
        "CREATE TRIGGER full_disk BEFORE INSERT ON condor.audit EXECUTE FUNCTION condor.full_disk()",
    )
    try:
        losers = [marked(1, "a"), decision(card(), "ann"), creation(2)]
        told = await all_of(store, losers)
        assert [type(fate) for fate in told] == [StoreUnavailable] * 3
        assert all("No space left on device" in str(fate) for fate in told)
        assert before == await contents(store)
    finally:
        cluster.sql("DROP FUNCTION condor.full_disk CASCADE")
    assert [type(fate) for fate in await all_of(store, losers)] == [Committed] * 3
    await every_chain_is_whole(store)
