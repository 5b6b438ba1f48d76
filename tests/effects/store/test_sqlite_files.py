"""The database file: what is refused and left as it was, who may read beside whom, and what is erased."""

from __future__ import annotations

import asyncio
import os
import shutil
import sqlite3
import sys
import threading
from typing import TYPE_CHECKING

import pytest

from condor.core.errors import HomeUnusable, StoreUnavailable
from condor.ports.store import CardFilter, Transition
from condor.store.migrations import MIGRATIONS, SCHEMA_VERSION, migrate, stored_version
from condor.store.sqlite import SqliteStore
from condor.testing.store_units import at, contents, creation, everything, run_name

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def files_of(path: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in path.parent.iterdir() if not file.name.endswith("-lock")}


def replace_content(path: Path, content: bytes) -> None:
    path.write_bytes(content)


def refused(path: Path, *, read_only: bool = False) -> str:
    """The one line that says why; nothing was changed."""
    before = files_of(path)
    with pytest.raises(HomeUnusable) as caught:
        SqliteStore.open(path, read_only=read_only)
    # SQLite makes an empty log and its index for whoever reads; the database is as it was.
    made = {f"{path.name}-shm", f"{path.name}-wal"} if read_only else set()
    assert {name: content for name, content in files_of(path).items() if name not in made} == before
    assert "\n" not in str(caught.value)
    return str(caught.value)


async def written(path: Path) -> None:
    store = SqliteStore.open(path)
    await store.commit(creation())
    await store.close()


def test_a_database_in_memory_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It would keep no approval; and no file of that name is made either."""
    monkeypatch.chdir(tmp_path)
    with pytest.raises(HomeUnusable, match="name a file"):
        SqliteStore.open(":memory:")
    assert not list(tmp_path.iterdir())


async def test_the_disk_is_asked_for_everything(opened: Callable[..., SqliteStore]) -> None:
    """The writer's settings are those of the durability promise."""
    store = opened()
    assert store._writer is not None
    pragmas = {
        "journal_mode": "wal",
        "synchronous": 2,
        "wal_autocheckpoint": 4000,
        "page_size": 4096,
        "foreign_keys": 0,
        "secure_delete": 1,
    }
    found = {name: store._writer._connection.execute(f"PRAGMA {name}").fetchone()[0] for name in pragmas}
    assert found == pragmas


async def test_a_reader_cannot_write(opened: Callable[..., SqliteStore]) -> None:
    """The loop's connection refuses every statement that writes."""
    store = opened()
    with pytest.raises(sqlite3.OperationalError, match="readonly"):
        store._reader.execute("DELETE FROM run")
    with pytest.raises(sqlite3.OperationalError, match="readonly"):
        store._reader.execute("PRAGMA user_version = 3")


@pytest.mark.parametrize("read_only", [False, True])
async def test_a_newer_database_is_left_alone(path: Path, *, read_only: bool) -> None:
    """It says which version is there, which is read, and what to do."""
    await written(path)
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE meta SET value = 99 WHERE key = 'schema_version'")
    connection.close()
    said = refused(path, read_only=read_only)
    assert f"version 99 and this condor reads up to {SCHEMA_VERSION}: upgrade condor" in said


async def test_an_older_database_is_not_read_before_it_is_brought_forward(path: Path) -> None:
    """A reader migrates nothing and says who does."""
    sqlite3.connect(path).close()
    assert "start condor on it once" in refused(path, read_only=True)


@pytest.mark.parametrize("read_only", [False, True])
def test_what_is_no_database_is_left_alone(path: Path, *, read_only: bool) -> None:
    """A file that is something else stays what it is."""
    path.write_bytes(b"my diary\n" * 1_000)
    assert "not a database" in refused(path, read_only=read_only)


@pytest.mark.parametrize("read_only", [False, True])
def test_a_database_of_another_program_is_left_alone(path: Path, *, read_only: bool) -> None:
    """Another program's tables get none of ours beside them."""
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE diary (entry TEXT)")
    connection.close()
    assert "another program" in refused(path, read_only=read_only)


async def test_a_database_without_version_is_left_alone(path: Path) -> None:
    """Half a database is not guessed at."""
    await written(path)
    with sqlite3.connect(path) as connection:
        connection.execute("DELETE FROM meta WHERE key = 'schema_version'")
    connection.close()
    assert "no schema version" in refused(path)


async def test_a_migration_is_made_whole_or_not_at_all(path: Path) -> None:
    """One that fails leaves the version before it, with everything in it; one that works keeps the rows."""
    await written(path)
    connection = sqlite3.connect(path, isolation_level=None)
    good = "ALTER TABLE step ADD COLUMN note TEXT"
    with pytest.raises(sqlite3.OperationalError, match="nonsense"):
        migrate(connection, SCHEMA_VERSION, [*MIGRATIONS, [good, "nonsense"]])
    assert not connection.in_transaction
    assert stored_version(connection, "condor.db") == SCHEMA_VERSION
    migrate(connection, SCHEMA_VERSION, [*MIGRATIONS, [good]])
    assert stored_version(connection, "condor.db") == SCHEMA_VERSION + 1
    assert connection.execute("SELECT count(*) FROM run").fetchone() == (1,)
    connection.close()


OPEN_COLUMNS = ("subject", "requester", "tool", "origin", "reason_code", "tier", "opened_at")
#: One card as it was written, and one that something else has written over.
OLD_CARDS = """INSERT INTO suspension (suspend_id, run_id, tenant_id, step_id, generation, reason_code,
    origin, contract_hash, tool, opened_at, facts, status, consumed)
    SELECT 'sus_' || n, 'run_1', 'default', 's', 1, 'approval', 'tool_policy', '', 't', '', facts,
        'pending', 0
    FROM (SELECT 0 AS n, '{"requester": "ann", "policy": {"effectiveTier": "high"}}' AS facts
        UNION SELECT 1, 'torn')"""


async def test_a_database_of_the_first_version_is_brought_forward(
    path: Path, opened: Callable[..., SqliteStore]
) -> None:
    """What an older condor wrote is there, and what the newer one adds works on it."""
    await written(path)
    connection = sqlite3.connect(path, isolation_level=None)
    for statement in (
        *(f"DROP TABLE {table}" for table in ("request", "token", "tool_kernel", "seal", "sealed")),
        "DROP INDEX run_by_session",
        "ALTER TABLE run DROP COLUMN worked_ms",
        *(f"DROP INDEX suspension_open_{column}" for column in OPEN_COLUMNS),
        *(f"ALTER TABLE suspension DROP COLUMN {column}" for column in ("tier", "requester", "subject")),
        OLD_CARDS,
        """INSERT INTO payload VALUES ('run_1', 'card:sus_0',
            '{"evidence": {"subject": {"reference": "Patient/pt-1"}}}'), ('run_1', 'card:sus_1', 'torn')""",
        "UPDATE meta SET value = 1 WHERE key = 'schema_version'",
    ):
        connection.execute(statement)
    connection.close()
    store = opened()
    newest = await store.last_of_session("ses_1")
    assert newest is not None
    assert newest.run_id == run_name(1)
    assert await store.claimed("ann", "k") is None
    cards = await store.suspensions(CardFilter(run_id="run_1"))
    assert [(row.tier, row.requester, row.subject) for row in cards] == [
        ("high", "ann", "Patient/pt-1"),
        ("", "", ""),
    ]
    assert list(await store.suspensions(CardFilter(status="pending", tier="high"))) == [cards[0]]


async def test_the_files_are_their_owners_alone(path: Path, opened: Callable[..., SqliteStore]) -> None:
    """They hold record data: nobody else of the machine reads them."""
    await opened().commit(creation())
    modes = {name: path.with_name(name).stat().st_mode & 0o777 for name in files_of(path)}
    assert modes == dict.fromkeys(["condor.db", "condor.db-wal", "condor.db-shm"], 0o600)


async def test_an_erasure_that_the_disk_refuses_is_said(opened: Callable[..., SqliteStore]) -> None:
    """Who asked is told, and the store goes on."""
    store = opened()
    await store.commit(creation())
    assert store._writer is not None
    store._writer.call(lambda connection: connection.execute("PRAGMA query_only = ON").close())
    with pytest.raises(StoreUnavailable, match="not erased"):
        await store.erase_payloads(run_name(1))
    store._writer.call(lambda connection: connection.execute("PRAGMA query_only = OFF").close())
    assert await store.erase_payloads(run_name(1)) == 1


def test_a_directory_that_is_not_there_is_said(tmp_path: Path) -> None:
    """The directory is its owner's to make."""
    with pytest.raises(HomeUnusable, match="cannot write beside"):
        SqliteStore.open(tmp_path / "absent" / "condor.db")
    with pytest.raises(HomeUnusable, match="no database"):
        SqliteStore.open(tmp_path / "absent" / "condor.db", read_only=True)


def test_a_directory_in_the_place_of_the_database_is_said(path: Path) -> None:
    """What cannot be opened is said in a line."""
    path.mkdir()
    with pytest.raises(HomeUnusable, match="for writing"):
        SqliteStore.open(path)


async def test_a_database_has_one_owner(path: Path, opened: Callable[..., SqliteStore]) -> None:
    """A second owner is refused while the first one lives, and not a moment longer."""
    owner = opened()
    with pytest.raises(HomeUnusable, match="in use by process"):
        opened()
    await owner.close()
    await opened().commit(creation())


async def test_a_reader_reads_beside_a_living_owner(opened: Callable[..., SqliteStore]) -> None:
    """It sees what was committed a moment ago, and can change nothing."""
    owner = opened()
    await owner.commit(creation())
    reader = opened(read_only=True)
    assert await contents(reader) == await contents(owner)
    await owner.commit(everything())
    assert await contents(reader) == await contents(owner)
    with pytest.raises(StoreUnavailable, match="opened to read"):
        await reader.commit(everything(2))
    with pytest.raises(StoreUnavailable, match="opened to read"):
        await reader.erase_payloads(run_name(1))
    await owner.close()
    assert (await reader.run(run_name(1))) is not None


async def test_a_reader_reads_after_its_owner(path: Path, opened: Callable[..., SqliteStore]) -> None:
    """A closed home can be read, and its owner comes back to what it left."""
    await written(path)
    before = files_of(path)[path.name]
    reader = opened(read_only=True)
    stored = await reader.load(run_name(1))
    await reader.close()
    assert files_of(path)[path.name] == before
    owner = opened()
    assert await owner.load(run_name(1)) == stored


@pytest.mark.skipif(os.getuid() == 0, reason="root writes everywhere")
async def test_a_directory_that_cannot_be_written_is_read(path: Path) -> None:
    """A backup on a read-only disk can be looked at; to write to it is refused in a line."""
    await written(path)
    path.with_name("condor.db-lock").unlink()
    path.parent.chmod(0o500)
    try:
        store = SqliteStore.open(path, read_only=True)
        assert await store.run(run_name(1)) is not None
        await store.close()
        assert "cannot write beside" in refused(path)
    finally:
        path.parent.chmod(0o700)


READ_AS_NOBODY = """
import asyncio, concurrent.futures.thread, os, sys
from condor.core.errors import HomeUnusable
from condor.store.sqlite import SqliteStore

os.setgroups([])
os.setgid(65534)
os.setuid(65534)

async def main():
    store = SqliteStore.open(sys.argv[1], read_only=True)
    print(len([chain async for chain in store.audit_chains()]))
    await store.close()
    try:
        SqliteStore.open(sys.argv[1])
    except HomeUnusable as refused:
        print(refused)
    try:
        SqliteStore.open(sys.argv[2], read_only=True)
    except HomeUnusable as refused:
        print(refused)

asyncio.run(main())
"""


@pytest.mark.skipif(os.getuid() != 0, reason="needs root, to become nobody")
async def test_nobody_reads_where_nothing_may_be_written(
    path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """The same, for a machine where the tests run as root: a process that may only read."""
    await written(path)
    public = tmp_path_factory.getbasetemp() / "public"
    public.mkdir(exist_ok=True)
    shutil.copy(path, public / "condor.db")
    (public / "condor.db").chmod(0o644)
    shutil.copy(path, public / "closed.db")
    (public / "closed.db").chmod(0o600)
    for directory in (public, *public.parents):
        if directory.stat().st_uid == 0 and "/pytest-of-" in str(directory):
            directory.chmod(0o755)
    child = [sys.executable, "-c", READ_AS_NOBODY, str(public / "condor.db"), str(public / "closed.db")]
    process = await asyncio.create_subprocess_exec(*child, stdout=asyncio.subprocess.PIPE)
    said = (await process.communicate())[0].decode().splitlines()
    assert said[0] == "1"
    assert f"cannot write beside {public / 'condor.db'}" in said[1]
    assert f"cannot read {public / 'closed.db'}" in said[2]
    assert sorted(file.name for file in public.iterdir()) == ["closed.db", "condor.db"]


async def test_erased_means_overwritten(path: Path, opened: Callable[..., SqliteStore]) -> None:
    """After erasing, the bytes are in no file: not in the database, not in its log."""
    store = opened()
    canary = b"canary-Tuberculosis"
    await store.commit(creation())
    for index in range(20):
        value = b'"' + canary * (1 + index * 30) + b'"'
        await store.commit(Transition(run_id=run_name(1), at=at(1), payloads=[(f"k{index % 7}", value)]))
    assert any(canary in content for content in files_of(path).values())
    assert await store.erase_payloads(run_name(1)) == 8
    assert not [name for name, content in files_of(path).items() if canary in content]
    await store.close()
    assert not [name for name, content in files_of(path).items() if canary in content]


async def test_a_broken_database_is_said_to_be_unreadable(
    path: Path, opened: Callable[..., SqliteStore]
) -> None:
    """A read that the disk refuses is StoreUnavailable, in a short read and in a long one."""
    await written(path)
    intact = files_of(path)[path.name]
    # The pages of the tables; the schema itself stands before and after them.
    first, last = 8 * 4096, 16 * 4096
    replace_content(path, intact[:first] + b"\xff" * (last - first) + intact[last:])
    store = opened(read_only=True)
    with pytest.raises(StoreUnavailable, match="malformed"):
        await contents(store)


async def test_an_errand_that_nobody_waits_for_any_more_ends_no_writer(
    opened: Callable[..., SqliteStore],
) -> None:
    """Whoever asked has gone, before the writer came to it or while it was at work; it goes on."""
    store = opened()
    assert store._writer is not None
    begun, go_on = threading.Event(), threading.Event()

    def held(_: sqlite3.Connection) -> None:
        begun.set()
        go_on.wait(10)

    working, waiting = store._writer.call(held), store._writer.call(lambda _: None)
    assert begun.wait(10)
    assert waiting.cancel()
    assert not working.cancel()
    go_on.set()
    await store.commit(creation())
    assert await store.run(run_name(1)) is not None
