"""SQLite and PostgreSQL keep the promises of every store."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest

from condor.store.postgres import PostgresStore
from condor.store.sqlite import SqliteStore
from condor.testing.store_conformance import CHECKS, Check, Open, check_kill

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from condor.ports.store import Store
    from condor.testing.postgres_cluster import PostgresCluster

STORES = ("sqlite", "postgres")

CHILD = """
import asyncio, sys
from condor.store.postgres import PostgresStore
from condor.store.sqlite import SqliteStore
from condor.testing.store_conformance import write_until_killed

async def main(place):
    is_url = place.startswith("postgresql:")
    await write_until_killed(await PostgresStore.open(place) if is_url else SqliteStore.open(place))

asyncio.run(main(sys.argv[1]))
"""


@pytest.fixture(params=STORES)
def place(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Where the database of this test is: a path, or an address."""
    if request.param == "sqlite":
        return str(tmp_path / "condor.db")
    cluster: PostgresCluster = request.getfixturevalue("cluster")
    return cluster.emptied()


@pytest.fixture
async def open_store(place: str) -> AsyncIterator[Open]:
    opened: list[Store] = []

    async def open_again() -> Store:
        is_url = place.startswith("postgresql:")
        opened.append(await PostgresStore.open(place) if is_url else SqliteStore.open(place))
        return opened[-1]

    yield open_again
    for store in opened:
        await store.close()


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__.removeprefix("check_"))
async def test_conforms(check: Check, open_store: Open) -> None:
    """Each check's docstring is the promise."""
    await check(open_store)


async def test_kill(open_store: Open, place: str) -> None:
    """kill -9 loses nothing that was acknowledged."""
    await check_kill(open_store, [sys.executable, "-c", CHILD, place])
