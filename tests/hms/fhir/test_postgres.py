"""What only the record in PostgreSQL promises: shared by processes, over connections that are lost."""

from __future__ import annotations

import asyncio
import json
import signal
import subprocess
import sys
import threading
import time
from typing import TYPE_CHECKING

import asyncpg
import pytest

from condor.core.errors import HomeUnusable
from condor_hms.demo import demo_resources, load_demo
from condor_hms.fhir.port import RequestRefused, Unavailable, ValidationRefused
from condor_hms.fhir.postgres import PostgresFhirStore
from tests.hms.fhir.support import (
    CELECOXIB,
    IDEM,
    JOHN,
    allergy,
    bundle,
    changed,
    everything,
    flag,
    post,
    post_tagged,
    provenance,
    put,
)

if TYPE_CHECKING:
    from condor.testing.postgres_cluster import PostgresCluster

URN = "urn:uuid:90fc6c64-3b01-5865-ba47-0f940e790959"
WRITE = bundle(post(allergy(), "k1", full_url=URN), post_tagged(provenance(URN), "k1"))
SESSIONS = "FROM pg_stat_activity WHERE application_name = 'condor' AND pid <> pg_backend_pid()"


def sql(cluster: PostgresCluster, url: str, statement: str) -> str:
    return cluster.sql(statement, database=url.rpartition("/")[2])


@pytest.mark.slow
async def test_many_processes_open_and_fill_one_record(cluster: PostgresCluster) -> None:
    """All at once on an empty database: the tables are made once, the demonstration is loaded once."""
    cluster.sql("CREATE DATABASE fresh", database="postgres")
    url = f"{cluster.url.rpartition('/')[0]}/fresh"
    opened = await asyncio.gather(
        *(asyncio.to_thread(PostgresFhirStore, url) for _ in range(4)), return_exceptions=True
    )
    stores = [store for store in opened if isinstance(store, PostgresFhirStore)]
    try:
        assert opened == stores
        assert sorted(await asyncio.gather(*(store.load(demo_resources()) for store in stores)))[-1] == 1971
        for store in stores:
            assert len(await store.search("Patient", {})) == 12
            assert await load_demo(store) == 0
    finally:
        for store in stores:
            store.close()
    assert sql(cluster, url, "SELECT count(*) FROM condor_fhir.resource") == "1971"


@pytest.mark.slow
async def test_writers_of_many_processes_make_one_of_each(demo_database: str) -> None:
    """Two processes' stores, many callers, one key: one allergy; one version, many changes: one wins."""
    url = demo_database
    async with PostgresFhirStore(url) as one, PostgresFhirStore(url) as other:
        results = await asyncio.gather(*(store.transact(WRITE) for store in (one, other) for _ in range(10)))
        statuses = [result.outcomes[0].status for result in results]
        assert sorted(statuses) == ["created"] + ["unchanged"] * 19
        assert len({result.outcomes[0].reference for result in results}) == 1
        resource, version = await changed(one, CELECOXIB, status="stopped")
        ends = await asyncio.gather(
            *(store.transact(bundle(put(resource, version))) for store in (one, other) for _ in range(5)),
            return_exceptions=True,
        )
        assert sum(not isinstance(end, BaseException) for end in ends) == 1
        assert len(await one.history(CELECOXIB)) == 2
        assert await everything(one) == await everything(other)


async def test_a_key_is_held_once_by_the_database_itself(
    demo_database: str, cluster: PostgresCluster
) -> None:
    """Refused with the path; and by an index, for whoever does not ask for the record's lock."""
    url = demo_database
    async with PostgresFhirStore(url) as store:
        await store.transact(WRITE)
        again = post(allergy(identifier=[{"system": IDEM, "value": "k1"}]))
        with pytest.raises(ValidationRefused, match=r"AllergyIntolerance.identifier\[0\].*ifNoneExist"):
            await store.transact(bundle(again))
        twice = post(flag(identifier=[{"system": IDEM, "value": "k2"}]))
        with pytest.raises(ValidationRefused, match=r"Flag.identifier\[0\]"):
            await store.transact(bundle(twice, twice))
        assert len(await store.search("AllergyIntolerance", {"identifier": f"{IDEM}|k1"})) == 1
    for param in ("AllergyIntolerance.identifier", "Provenance._tag"):
        row = f"('{param}', 'k1', 1, '{IDEM}')"
        with pytest.raises(RuntimeError, match="search_value_one_per_key"):
            sql(cluster, url, f"INSERT INTO condor_fhir.search_value VALUES {row}")


async def test_a_lost_connection_is_made_again(demo_database: str, cluster: PostgresCluster) -> None:
    """Between calls nobody notices; in the middle of a write it is begun again, and done once."""
    url = demo_database
    broken: list[str] = []

    def faults(point: str) -> None:
        if point == "fhir.before-commit" and not broken:
            broken.append(sql(cluster, url, f"SELECT count(pg_terminate_backend(pid)) {SESSIONS}"))

    async with PostgresFhirStore(url, faults=faults) as store:
        sql(cluster, url, f"SELECT count(pg_terminate_backend(pid)) {SESSIONS}")
        assert len(await store.search("Patient", {})) == 12
        # COMMIT was sent: nobody knows, and the caller looks.
        with pytest.raises(Unavailable, match="was lost"):
            await store.transact(WRITE)
        assert broken == ["2"]
        result = await store.transact(WRITE)
        assert {outcome.status for outcome in result.outcomes} == {"created"}


async def test_a_connection_lost_before_the_commit_is_no_failure(
    demo_database: str, cluster: PostgresCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The server forgot the transaction; the same work on a new connection is the first."""
    url = demo_database
    async with PostgresFhirStore(url) as store:
        tables = store._write_tables
        holders = tables.holders
        broken: list[str] = []

        def break_off(param: str, value: str, qualifier: str) -> list[int]:
            if not broken:
                broken.append(sql(cluster, url, f"SELECT count(pg_terminate_backend(pid)) {SESSIONS}"))
            return holders(param, value, qualifier)

        monkeypatch.setattr(tables, "holders", break_off)
        result = await store.transact(WRITE)
        assert [outcome.status for outcome in result.outcomes] == ["created", "created"]
        assert len(await store.search("AllergyIntolerance", {"identifier": f"{IDEM}|k1"})) == 1


async def test_a_writer_that_stands_still_is_told(
    demo_database: str, cluster: PostgresCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The lock is waited for so long and not longer; readers wait for nobody."""
    monkeypatch.setattr("condor_hms.fhir.postgres_tables.LOCK_WAIT_MS", 100)
    url = demo_database
    async with PostgresFhirStore(url) as store:
        lock = store._write_tables._lock  # type: ignore[attr-defined]
        other = await asyncpg.connect(url)
        try:
            await other.execute(f"BEGIN; SELECT pg_advisory_xact_lock({lock})")
            with pytest.raises(Unavailable, match="others were writing"):
                await store.transact(WRITE)
            assert len(await store.search("Patient", {})) == 12
        finally:
            await other.close()
        assert (await store.transact(WRITE)).outcomes[0].status == "created"


async def test_a_writer_that_is_stopped_in_the_middle_loses_the_lock(
    demo_database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another writes meanwhile; whoever was stopped is told that nobody knows, and looks."""
    monkeypatch.setattr("condor_hms.fhir.postgres_tables._IDLE_MS", 200)
    reached, go_on = threading.Event(), threading.Event()

    def stopped(point: str) -> None:
        if point == "fhir.before-commit" and not reached.is_set():
            reached.set()
            go_on.wait(30)

    async with (
        PostgresFhirStore(demo_database, faults=stopped) as one,
        PostgresFhirStore(demo_database) as other,
    ):
        first = asyncio.create_task(one.transact(WRITE))
        await asyncio.to_thread(reached.wait, 30)
        result = await other.transact(WRITE)
        go_on.set()
        with pytest.raises(Unavailable, match="was lost"):
            await first
        assert [outcome.status for outcome in result.outcomes] == ["created", "created"]
        again = await one.transact(WRITE)
        assert [outcome.status for outcome in again.outcomes] == ["unchanged", "unchanged"]


KILLED = """
import asyncio, json, os, signal, sys
from condor_hms.fhir.postgres import PostgresFhirStore

def faults(point):
    if point == sys.argv[2]:
        os.kill(os.getpid(), signal.SIGKILL)

async def main():
    async with PostgresFhirStore(sys.argv[1], faults=faults) as store:
        await store.transact(json.loads(sys.stdin.read()))

asyncio.run(main())
"""


@pytest.mark.slow
@pytest.mark.parametrize("point", ["fhir.before-commit", "fhir.after-commit"])
async def test_kill_9_leaves_a_whole_record(demo_database: str, point: str) -> None:
    """Killed before the commit it wrote nothing, after it everything; the lock goes with its process."""
    url = demo_database
    ended = await asyncio.to_thread(
        subprocess.run,
        [sys.executable, "-c", KILLED, url, point],
        input=json.dumps(WRITE).encode(),
        check=False,
    )
    assert ended.returncode == -signal.SIGKILL
    async with PostgresFhirStore(url) as store:
        begun = time.perf_counter()
        again = await store.transact(WRITE)
        assert time.perf_counter() - begun < 2
        expected = "created" if point == "fhir.before-commit" else "unchanged"
        assert [outcome.status for outcome in again.outcomes] == [expected, expected]


async def test_what_is_in_the_way_is_told_without_a_password(cluster: PostgresCluster) -> None:
    """Nobody there; no tables and none to be made; tables of another version, which are left as they are."""
    with pytest.raises(HomeUnusable, match=r"no PostgreSQL answers at ann@127\.0\.0\.1:1/x") as refused:
        PostgresFhirStore("postgresql://ann:hunter2@127.0.0.1:1/x")
    assert "hunter2" not in str(refused.value)
    cluster.sql("CREATE DATABASE other", database="postgres")
    url = f"{cluster.url.rpartition('/')[0]}/other"
    with pytest.raises(Unavailable, match="no record in this database yet"):
        PostgresFhirStore(url, create=False)
    assert sql(cluster, url, "SELECT to_regnamespace('condor_fhir') IS NULL") == "t"
    PostgresFhirStore(url).close()
    sql(cluster, url, "UPDATE condor_fhir.record_version SET version = 7")
    with pytest.raises(RequestRefused, match="is of version 7"):
        PostgresFhirStore(url)


async def test_two_records_of_one_database_are_apart(demo_database: str) -> None:
    """`search_path` names another record, as it names another run log."""
    url = demo_database
    async with PostgresFhirStore(f"{url}?search_path=other") as other, PostgresFhirStore(url) as store:
        assert await other.search("Patient", {}) == []
        await other.load([{"resourceType": "Patient", "id": "x"}])
        assert len(await store.search("Patient", {})) == 12
    with pytest.raises(Unavailable, match="closed"):
        await store.read(JOHN)
