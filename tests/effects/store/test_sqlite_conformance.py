"""SQLite keeps the promises of every store."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest

from condor.store.sqlite import SqliteStore
from condor.testing.store_conformance import CHECKS, Check, Open, check_kill

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

CHILD = """
import asyncio, sys
from condor.store.sqlite import SqliteStore
from condor.testing.store_conformance import write_until_killed

async def main():
    await write_until_killed(SqliteStore.open(sys.argv[1]))

asyncio.run(main())
"""


@pytest.fixture
async def open_store(tmp_path: Path) -> AsyncIterator[Open]:
    opened: list[SqliteStore] = []

    async def open_again() -> SqliteStore:
        opened.append(SqliteStore.open(tmp_path / "condor.db"))
        return opened[-1]

    yield open_again
    for store in opened:
        await store.close()


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__.removeprefix("check_"))
async def test_conforms(check: Check, open_store: Open) -> None:
    """Each check's docstring is the promise."""
    await check(open_store)


async def test_kill(open_store: Open, tmp_path: Path) -> None:
    """kill -9 loses nothing that was acknowledged."""
    await check_kill(open_store, [sys.executable, "-c", CHILD, str(tmp_path / "condor.db")])
