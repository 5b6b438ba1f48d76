"""Databases that this version and earlier ones wrote are opened: each run goes on from where it was."""

from __future__ import annotations

import asyncio
import shutil
import subprocess
from typing import TYPE_CHECKING, Any

import pytest

from condor.ports.store import EVERY_CARD
from condor.store.postgres_connect import address_of, checked
from condor.store.postgres_migrations import MIGRATIONS, migrate
from condor.testing import Ledger
from condor.testing.postgres_cluster import find_programs
from tests.golden.desk import (
    AT_WORK,
    ENDED,
    FILES,
    HANDED_OVER,
    PARKED,
    PATIENCE_S,
    opened,
    parked_card,
)
from tests.golden.make import POSTGRES, SQLITE
from tests.pump.desk import BOB

if TYPE_CHECKING:
    from pathlib import Path

    from condor import Condor
    from condor.testing.postgres_cluster import PostgresCluster

SQLITE_FILES = sorted(FILES.glob("sqlite-*.db"))
POSTGRES_FILES = sorted(FILES.glob("postgres-*.sql"))


@pytest.mark.parametrize("path", [SQLITE, POSTGRES], ids=lambda path: path.name)
def test_this_version_has_its_golden_database(path: Path) -> None:
    """A schema that was changed has a new one: `python -m tests.golden.make`."""
    assert path.exists()


@pytest.mark.parametrize("path", SQLITE_FILES, ids=lambda path: path.name)
async def test_a_file_goes_on(path: Path, tmp_path: Path) -> None:
    """The parked run is approved, the one at work finds out about its write, the ended one is as it was."""
    shutil.copy(path, tmp_path / "c.db")
    await check_goes_on(tmp_path, f"sqlite:///{tmp_path / 'c.db'}")


@pytest.mark.parametrize("path", POSTGRES_FILES, ids=lambda path: path.name)
async def test_a_server_goes_on(path: Path, tmp_path: Path, cluster: PostgresCluster) -> None:
    """The same on PostgreSQL, and a run that was handed over is taken up by a process that works itself."""
    await check_goes_on(tmp_path, await restored(path, cluster), handed_over=True)


async def restored(path: Path, cluster: PostgresCluster) -> str:
    """The address of a database with what a golden one holds, in the schema that it was written in."""
    cluster.sql("DROP DATABASE IF EXISTS golden", "CREATE DATABASE golden", database="postgres")
    programs = find_programs()
    assert programs is not None
    url = cluster.url.rpartition("/")[0] + "/golden"
    version = int(path.stem.rpartition("-")[2])
    address = address_of(url)
    connection = await checked(address)
    try:
        await migrate(connection, address.schema, address.name, MIGRATIONS[:version])
        # What a migration put in is in the golden rows too.
        await connection.execute("DELETE FROM condor.writer")
    finally:
        connection.terminate()
    command: list[str] = [str(programs / "psql"), "-X", "-q", "-v", "ON_ERROR_STOP=1", "-f", str(path), url]
    done = await asyncio.to_thread(subprocess.run, command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return url


async def check_goes_on(folder: Path, url: str, *, handed_over: bool = False) -> None:
    gate, entered = asyncio.Event(), asyncio.Event()
    gate.set()
    async with opened(folder, url, seed=9, gate=gate, entered=entered) as condor:
        runs = {name: await run_of(condor, name) for name in (PARKED, ENDED, AT_WORK)}
        assert list(condor.taken_up) == [runs[AT_WORK]]
        assert [verdict.message async for verdict in condor.verify() if not verdict.kept] == []
        ended: Any = await condor.show(runs[ENDED])
        assert (ended["status"], bool(ended["closing"])) == ("succeeded", True)
        if handed_over:
            runs[HANDED_OVER] = await run_of(condor, HANDED_OVER)
            assert (await condor.store.backlog()).waiting == 1
            # No worker is there: who works itself takes it.
            assert await condor._running().take_up_orphans() == 1
        for name in {PARKED, HANDED_OVER} & set(runs):
            card = await parked_card(condor, runs[name])
            await condor.resume(runs[name], card, {"approved": True}, principal=BOB)
        for name in set(runs) - {ENDED}:
            assert (await asyncio.wait_for(condor.wait(runs[name]), PATIENCE_S))["status"] == "succeeded", (
                name
            )
        # Their effects were made here; those of the ended run where it ended.
        written = [entry.record for entry in Ledger(folder / "ledger.db").entries()]
        assert sorted(written) == sorted(set(runs) - {ENDED})
        cards = await condor.store.suspensions(EVERY_CARD)
        assert {card.status for card in cards} == {"approved"}
        await condor.seal()
        assert [verdict.message async for verdict in condor.verify() if not verdict.kept] == []


async def run_of(condor: Condor, name: str) -> str:
    """The run that was started under a name."""
    (row,) = [row for row in await condor.store.runs() if row.session_id == name]
    return row.run_id
