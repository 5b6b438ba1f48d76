"""What is said where a database cannot be used: one line, what to do, and never a password."""

from __future__ import annotations

import logging
import socket
import sys
from typing import TYPE_CHECKING
from urllib.parse import quote

import pytest

from condor import Condor
from condor.config import Settings
from condor.core.errors import HomeUnusable
from condor.store import postgres_connect
from condor.store.postgres import PostgresStore
from condor.store.postgres_migrations import SCHEMA_VERSION
from condor.testing.postgres_cluster import GATED_PASSWORD, GATED_USER, USER
from condor.testing.store_units import contents, creation

if TYPE_CHECKING:
    from pathlib import Path

    from condor.testing.postgres_cluster import PostgresCluster
    from tests.postgres.conftest import OpenStore

SECRET = "hunter2:%/@"


async def refusal(url: str, *, read_only: bool = False) -> str:
    with pytest.raises(HomeUnusable) as caught:
        await PostgresStore.open(url, read_only=read_only)
    told = str(caught.value)
    assert "\n" not in told
    assert SECRET not in told
    assert quote(SECRET, safe="") not in told
    return told


async def test_a_server_that_is_not_there() -> None:
    """Nobody listens: where, and what to look at."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
        told = await refusal(f"postgresql://ann:{quote(SECRET, safe='')}@127.0.0.1:{port}/condor")
    assert told == (
        f"no PostgreSQL answers at ann@127.0.0.1:{port}/condor (connection refused); "
        "is it running, and is the port right?"
    )


async def test_a_name_that_is_not_there() -> None:
    """A host that nobody knows."""
    told = await refusal("postgresql://ann@nowhere.invalid/condor")
    assert told.startswith("no PostgreSQL answers at ann@nowhere.invalid/condor (")


async def test_a_server_that_does_not_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    """Somebody listens and says nothing: it is given up in time."""
    monkeypatch.setattr(postgres_connect, "CONNECT_S_MAX", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        told = await refusal(f"postgresql://ann@127.0.0.1:{silent.getsockname()[1]}/condor?sslmode=disable")
    assert "within 0.2 s; check host, port and firewall" in told


async def test_a_wrong_password(cluster: PostgresCluster) -> None:
    """The user may not come in; neither password is told."""
    wrong = f"postgresql://{GATED_USER}:{quote(SECRET, safe='')}@127.0.0.1:{cluster.port}/condor"
    assert await refusal(wrong) == (
        f"PostgreSQL does not let {GATED_USER}@127.0.0.1:{cluster.port}/condor in: "
        "check user and password in CONDOR_DATABASE_URL"
    )
    assert "does not let" in await refusal(f"postgresql://{GATED_USER}@127.0.0.1:{cluster.port}/condor")
    assert "does not let" in await refusal(f"postgresql://nobody@127.0.0.1:{cluster.port}/condor")


async def test_a_database_that_is_not_there(cluster: PostgresCluster) -> None:
    """It says how to make it."""
    told = await refusal(f"postgresql://{USER}@127.0.0.1:{cluster.port}/elsewhere")
    assert told == (
        f"PostgreSQL has no database {USER}@127.0.0.1:{cluster.port}/elsewhere; make it: createdb elsewhere"
    )


async def test_a_user_without_rights(cluster: PostgresCluster) -> None:
    """Who may make nothing is told which right is wanting; with a schema of their own it works."""
    address = f"postgresql://{GATED_USER}:{quote(GATED_PASSWORD, safe='')}@127.0.0.1:{cluster.port}/condor"
    told = await refusal(f"{address}?search_path=theirs")
    assert "has not the rights that Condor needs: permission denied for database condor" in told
    assert GATED_PASSWORD not in told
    cluster.sql(f"CREATE SCHEMA theirs AUTHORIZATION {GATED_USER}")
    store = await PostgresStore.open(f"{address}?search_path=theirs")
    await store.commit(creation())
    await store.close()
    cluster.sql("DROP SCHEMA theirs CASCADE")


async def test_a_server_that_is_too_old(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its version, and the oldest that will do."""
    monkeypatch.setattr(postgres_connect, "OLDEST_SERVER", 99)
    assert "; Condor needs 99 or newer" in await refusal(url)


async def test_a_database_that_is_not_unicode(cluster: PostgresCluster) -> None:
    """What people write would not fit."""
    cluster.sql("CREATE DATABASE latin ENCODING 'LATIN1' TEMPLATE template0 LOCALE 'C'", database="postgres")
    told = await refusal(f"postgresql://{USER}@127.0.0.1:{cluster.port}/latin")
    assert "has encoding LATIN1; make a database with ENCODING 'UTF8'" in told


@pytest.mark.parametrize(
    "address",
    [
        f"postgresql://ann:{SECRET}@host:port/condor",
        f"postgresql://ann:{quote(SECRET, safe='')}@host/condor?search_path=Not%20One",
        f"postgresql://ann:{quote(SECRET, safe='')}@host:99999/condor",
        f"postgresql://ann:{quote(SECRET, safe='')}@127.0.0.1:1/condor?sslmode=perhaps",
        f"mysql://ann:{SECRET}@host/condor",
        f"postgresql+asyncpg://ann:{SECRET}@host/condor",
        SECRET,
    ],
)
async def test_an_address_that_cannot_be_read(address: str, tmp_path: Path) -> None:
    """It is not repeated, for it may hold a password."""
    with pytest.raises(HomeUnusable) as caught:
        async with Condor(database_url=address, home=tmp_path, settings=Settings(home=tmp_path)):
            pass
    told = str(caught.value)
    assert "hunter2" not in told
    assert "\n" not in told


async def test_no_password_is_logged(cluster: PostgresCluster, caplog: pytest.LogCaptureFixture) -> None:
    """At the most talkative level, driver included, with a connection that is lost as well."""
    caplog.set_level(logging.DEBUG)
    cluster.sql(f"CREATE SCHEMA theirs AUTHORIZATION {GATED_USER}")
    address = f"postgresql://{GATED_USER}:{quote(GATED_PASSWORD, safe='')}@127.0.0.1:{cluster.port}/condor"
    store = await PostgresStore.open(f"{address}?search_path=theirs", heard=lambda _: None)
    await store.commit(creation())
    cluster.sql(f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = '{GATED_USER}'")
    await store.commit(creation(2))
    assert "lost the database" in caplog.text or "connected to the database" in caplog.text
    assert GATED_PASSWORD not in caplog.text
    assert quote(GATED_PASSWORD, safe="") not in caplog.text
    assert GATED_PASSWORD not in repr(vars(store))
    await store.close()
    cluster.sql("DROP SCHEMA theirs CASCADE")


async def test_a_driver_that_is_not_installed(
    url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What to install."""
    monkeypatch.setitem(sys.modules, "asyncpg", None)
    for name in [name for name in sys.modules if name.startswith("condor.store.postgres")]:
        monkeypatch.delitem(sys.modules, name)
    with pytest.raises(HomeUnusable, match=r"^a PostgreSQL database needs asyncpg: install condor-runtime"):
        async with Condor(database_url=url, home=tmp_path):
            pass


async def test_a_newer_schema_is_left_as_it_is(url: str, cluster: PostgresCluster, opened: OpenStore) -> None:
    """Refused by who writes and by who reads, with what to do."""
    store = await opened()
    await store.commit(creation())
    before = await contents(store)
    await store.close()
    cluster.sql(f"INSERT INTO condor.schema_version VALUES ({SCHEMA_VERSION + 1})")
    try:
        for read_only in (False, True):
            told = await refusal(url, read_only=read_only)
            assert f"has schema version {SCHEMA_VERSION + 1} and this condor reads up to" in told
            assert "nothing was changed" in told
    finally:
        cluster.sql(f"DELETE FROM condor.schema_version WHERE version > {SCHEMA_VERSION}")
        cluster.sql("INSERT INTO condor.schema_version VALUES (1) ON CONFLICT DO NOTHING")
    assert before == await contents(await opened())


async def test_a_schema_of_another_program_is_left_as_it_is(cluster: PostgresCluster) -> None:
    """Tables that are not ours: nothing is put beside them."""
    cluster.sql("CREATE SCHEMA foreign_one", "CREATE TABLE foreign_one.run (id integer)")
    told = await refusal(f"{cluster.url}?search_path=foreign_one")
    assert "schema foreign_one of" in told
    assert "holds tables of another program" in told
    assert cluster.sql("SELECT count(*) FROM pg_tables WHERE schemaname = 'foreign_one'") == "1"
    cluster.sql("DROP SCHEMA foreign_one CASCADE")


async def test_who_reads_makes_nothing(cluster: PostgresCluster) -> None:
    """An empty database stays empty."""
    told = await refusal(f"{cluster.url}?search_path=not_yet", read_only=True)
    assert "start something first" in told
    assert cluster.sql("SELECT count(*) FROM pg_namespace WHERE nspname = 'not_yet'") == "0"


async def test_many_processes_may_migrate_at_once(cluster: PostgresCluster) -> None:
    """Eight that open an empty schema together make it once."""
    import asyncio

    url = f"{cluster.url}?search_path=together"
    stores = await asyncio.gather(*(PostgresStore.open(url) for _ in range(8)))
    await asyncio.gather(*(store.commit(creation(number)) for number, store in enumerate(stores)))
    assert len(await stores[0].runs()) == 8
    for store in stores:
        await store.close()
    cluster.sql("DROP SCHEMA together CASCADE")


async def test_a_commit_is_durable_whatever_the_database_says(cluster: PostgresCluster) -> None:
    """A database set to acknowledge before the disk has it does not get its way; a stricter one does."""
    for setting, kept in (("off", "on"), ("local", "on"), ("remote_apply", "remote_apply")):
        cluster.sql(f"ALTER DATABASE condor SET synchronous_commit = {setting}")
        try:
            connection = await postgres_connect.connect(postgres_connect.address_of(cluster.url))
            assert kept == await connection.fetchval("SHOW synchronous_commit")
            await connection.close()
        finally:
            cluster.sql("ALTER DATABASE condor RESET synchronous_commit")
