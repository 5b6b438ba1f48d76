"""Whole runs of PostgreSQL: those that are asked for together are read together, each for its own caller."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, cast

import asyncpg
import pytest

from condor.core.errors import StoreUnavailable
from condor.store.postgres_loads import Loads
from condor.store.postgres_queries import LOAD, LOAD_EACH

if TYPE_CHECKING:
    from condor.store.postgres_reader import PostgresReader

KNOWN = [f"run_{number:03}" for number in range(80)]


def row_of(run_id: str) -> list[Any]:
    """As ``LOAD`` gives it."""
    at = "2026-11-30T09:31:02.114Z"
    head = [run_id, "t", "ses", "executing", 1, 1, 1, 0, 1, "head", b"{}", "guarded", None, at, at, 0]
    return [*head, [("look", "succeeded", 1, None, "")], [], [("plan", run_id.encode())]]


class Reader:
    """Rows of the runs that there are."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, object]] = []
        self.fault: BaseException | None = None
        self.begun = asyncio.Event()

    async def rows(self, query: str, *values: Any) -> list[list[Any]]:
        (named,) = values
        self.asked.append((query, named))
        self.begun.set()
        await asyncio.sleep(0)
        if self.fault is not None:
            raise self.fault
        wanted = named if query == LOAD_EACH else [named]
        return [row_of(run_id) for run_id in reversed(wanted) if run_id in KNOWN]


@pytest.fixture
def reader() -> Reader:
    return Reader()


@pytest.fixture
def loads(reader: Reader) -> Loads:
    return Loads(cast("PostgresReader", reader))


async def test_what_is_asked_for_in_one_turn_is_read_together(reader: Reader, loads: Loads) -> None:
    names = ["run_003", "run_001", "nobody's", "run_001"]
    found = await asyncio.gather(*(loads.load(name) for name in names))
    assert [run and run.payloads for run in found] == [
        {"plan": b"run_003"},
        {"plan": b"run_001"},
        None,
        {"plan": b"run_001"},
    ]
    assert reader.asked == [(LOAD_EACH, names)]
    # What one caller does to its run is nothing to another.
    assert found[1] is not None
    assert found[3] is not None
    assert found[1].payloads is not found[3].payloads


async def test_what_is_asked_for_later_is_read_later(reader: Reader, loads: Loads) -> None:
    """No moment is before a question: a statement that is under way takes nobody in."""
    first = asyncio.create_task(loads.load("run_000"))
    await reader.begun.wait()
    assert await loads.load("run_000") is not None
    assert await first is not None
    assert [named for _, named in reader.asked] == ["run_000", "run_000"]


async def test_a_crowd_is_read_in_parts(reader: Reader, loads: Loads) -> None:
    found = await asyncio.gather(*(loads.load(run_id) for run_id in KNOWN))
    assert [run.run.run_id for run in found if run is not None] == KNOWN
    assert [len(cast("list[str]", named)) for _, named in reader.asked] == [32, 32, 16]


@pytest.mark.parametrize("gone", [0, 1, 2])
async def test_who_is_cancelled_does_not_disturb_the_others(loads: Loads, gone: int) -> None:
    """The one that asked first neither."""
    asking = [asyncio.create_task(loads.load(run_id)) for run_id in KNOWN[:3]]
    await asyncio.sleep(0)
    asking[gone].cancel()
    found = await asyncio.gather(*asking, return_exceptions=True)
    assert asking[gone].cancelled()
    stays = [run.run.run_id for run in found if not isinstance(run, BaseException) and run is not None]
    assert stays == [run_id for place, run_id in enumerate(KNOWN[:3]) if place != gone]


async def test_one_alone_is_asked_for_by_itself(reader: Reader, loads: Loads) -> None:
    for run_id in KNOWN[:2]:
        found = await loads.load(run_id)
        assert found is not None
        assert found.run.run_id == run_id
    assert reader.asked == [(LOAD, run_id) for run_id in KNOWN[:2]]


async def test_a_database_that_is_away_is_told_to_each(reader: Reader, loads: Loads) -> None:
    reader.fault = StoreUnavailable("the database is away")
    told = await asyncio.gather(*(loads.load(run_id) for run_id in KNOWN[:2]), return_exceptions=True)
    assert [str(one) for one in told] == ["the database is away"] * 2
    assert told[0] is not told[1]


async def test_a_run_that_cannot_be_read_disturbs_no_other(reader: Reader, loads: Loads) -> None:
    """The statement for all is refused; each is asked for by itself then."""
    broken, rows = KNOWN[1], reader.rows

    async def damaged(query: str, *values: Any) -> list[list[Any]]:
        if broken in values[0]:
            raise StoreUnavailable("refused") from asyncpg.DataCorruptedError("a damaged page")
        return await rows(query, *values)

    reader.rows = damaged  # type: ignore[method-assign]
    told = await asyncio.gather(*(loads.load(run_id) for run_id in KNOWN[:3]), return_exceptions=True)
    assert [isinstance(one, StoreUnavailable) for one in told] == [False, True, False]


async def test_a_fault_of_ours_is_told(reader: Reader, loads: Loads) -> None:
    reader.fault = TypeError("ours")
    with pytest.raises(TypeError, match="ours"):
        await loads.load(KNOWN[0])


@pytest.mark.parametrize("name", ["run\x00", "run_\ud800", "rün", 7])
async def test_what_names_no_run_is_asked_for_alone(reader: Reader, loads: Loads, name: Any) -> None:
    """The driver refuses some of them, with all that is sent beside them."""
    alone, *found = await asyncio.gather(*(loads.load(one) for one in (name, *KNOWN[:2])))
    assert alone is None
    assert None not in found
    assert reader.asked == [(LOAD, name), (LOAD_EACH, KNOWN[:2])]
