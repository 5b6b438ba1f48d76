"""What only the embedded store promises: its file, its threads, its fault points, its speed."""

import asyncio
import json
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from condor_hms.demo import demo_resources, load_demo
from condor_hms.fhir.embedded import EmbeddedFhirStore
from condor_hms.fhir.port import RequestRefused, Unavailable
from condor_hms.fhir.sqlite_tables import SqliteTables
from condor_hms.fhir.tables import Tables
from tests.hms.fhir.support import (
    JOHN,
    MELISSA,
    allergy,
    bundle,
    everything,
    flag,
    order,
    post,
    post_tagged,
    provenance,
)

URN = "urn:uuid:90fc6c64-3b01-5865-ba47-0f940e790959"
WRITE = bundle(post(allergy(), "k1", full_url=URN), post_tagged(provenance(URN), "k1"))


async def loaded(path: Path, **options: Callable[..., object]) -> EmbeddedFhirStore:
    store = EmbeddedFhirStore(path, **options)  # type: ignore[arg-type]
    await load_demo(store)
    return store


async def test_the_demonstration_record_is_loaded_once(tmp_path: Path) -> None:
    """Loading again, after a restart too, adds nothing and changes nothing."""
    async with EmbeddedFhirStore(tmp_path / "record.db") as store:
        assert await load_demo(store) == 1971
        await store.transact(WRITE)
        before = await everything(store)
        assert await load_demo(store) == 0
    async with EmbeddedFhirStore(tmp_path / "record.db") as store:
        assert await load_demo(store) == 0
        assert await store.load(demo_resources()) == 0
        assert await everything(store) == before


async def test_a_load_that_breaks_leaves_nothing(tmp_path: Path) -> None:
    """The load is one transaction: a record is never half there."""
    async with EmbeddedFhirStore(tmp_path / "record.db") as store:
        broken = [*demo_resources()[:50], {"resourceType": "Patient", "id": "x", "meta": "no object"}]
        with pytest.raises(AttributeError):
            await store.load(broken)
        assert await everything(store) == {}
        assert await load_demo(store) == 1971


@pytest.mark.parametrize("point", ["fhir.before-commit", "fhir.after-commit"])
async def test_a_failure_at_a_fault_point_leaves_a_whole_record(tmp_path: Path, point: str) -> None:
    """Before the commit nothing is there, after it everything is; the store goes on either way."""
    armed = [point]

    def faults(at: str) -> None:
        if at in armed:
            armed.clear()
            raise RuntimeError(at)

    store = await loaded(tmp_path / "record.db", faults=faults)
    async with store:
        with pytest.raises(RuntimeError, match=point):
            await store.transact(WRITE)
        again = await store.transact(WRITE)
        expected = "created" if point == "fhir.before-commit" else "unchanged"
        assert [outcome.status for outcome in again.outcomes] == [expected, expected]


KILLED = """
import asyncio, json, os, signal, sys
from pathlib import Path
from condor_hms.fhir.embedded import EmbeddedFhirStore

def faults(point):
    if point == sys.argv[2]:
        os.kill(os.getpid(), signal.SIGKILL)

async def main():
    async with EmbeddedFhirStore(Path(sys.argv[1]), faults=faults) as store:
        await store.transact(json.loads(sys.stdin.read()))

asyncio.run(main())
"""


@pytest.mark.slow
@pytest.mark.parametrize("point", ["fhir.before-commit", "fhir.after-commit"])
async def test_kill_9_leaves_a_whole_record(tmp_path: Path, point: str) -> None:
    """Killed before the commit it wrote nothing, after it everything; a retry ends in the same record."""
    path = tmp_path / "record.db"
    async with await loaded(path) as store:
        before = await everything(store)
    ended = await asyncio.to_thread(
        subprocess.run,
        [sys.executable, "-c", KILLED, str(path), point],
        input=json.dumps(WRITE).encode(),
        check=False,
    )
    assert ended.returncode == -signal.SIGKILL
    async with EmbeddedFhirStore(path) as store:
        after = await everything(store)
        added = 0 if point == "fhir.before-commit" else 2
        assert len(after) == len(before) + added
        expected = "created" if point == "fhir.before-commit" else "unchanged"
        again = await store.transact(WRITE)
        assert [outcome.status for outcome in again.outcomes] == [expected, expected]
        assert len(await everything(store)) == len(before) + 2
    with sqlite3.connect(path) as db:
        assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    db.close()


async def test_writers_at_the_same_time_make_one_of_each(tmp_path: Path) -> None:
    """Two processes' stores on one file, many callers, one key: exactly one allergy is made."""
    path = tmp_path / "record.db"
    async with await loaded(path) as one, EmbeddedFhirStore(path) as other:
        results = await asyncio.gather(*(store.transact(WRITE) for store in (one, other) for _ in range(10)))
        statuses = [result.outcomes[0].status for result in results]
        assert sorted(statuses) == ["created"] + ["unchanged"] * 19
        assert len({result.outcomes[0].reference for result in results}) == 1
        assert await everything(one) == await everything(other)


async def test_a_reader_opens_while_another_process_writes(tmp_path: Path) -> None:
    """Opening a record that exists takes no lock: whoever only looks does not wait for a writer."""
    path = tmp_path / "record.db"
    async with await loaded(path):
        db = sqlite3.connect(path, isolation_level=None)
        db.execute("BEGIN IMMEDIATE")
        try:
            started = time.perf_counter()
            async with EmbeddedFhirStore(path) as other:
                assert len(await other.search("Patient", {})) == 12
            assert time.perf_counter() - started < 2
        finally:
            db.close()


async def test_time_and_ids_come_from_outside(tmp_path: Path) -> None:
    """With a given clock and ids the same writes make the same record, byte for byte."""
    numbers = iter(range(100))
    store = await loaded(
        tmp_path / "record.db",
        now=lambda: datetime(2026, 11, 30, 9, 30, tzinfo=UTC),
        new_id=lambda: f"n-{next(numbers)}",
    )
    async with store:
        result = await store.transact(WRITE)
        assert [item.reference for item in result.outcomes] == ["AllergyIntolerance/n-0", "Provenance/n-1"]
        meta = (await store.read("AllergyIntolerance/n-0"))["meta"]
        assert meta == {"versionId": "1", "lastUpdated": "2026-11-30T09:30:00.000Z"}
        # What was loaded keeps the time it was recorded at.
        assert (await store.search("Condition", {}))[0]["meta"]["lastUpdated"] < "2026-11-30"


async def test_a_closed_store_does_not_answer(tmp_path: Path) -> None:
    """Closing twice is harmless; a call after it says so instead of hanging."""
    store = EmbeddedFhirStore(tmp_path / "record.db")
    store.close()
    store.close()
    with pytest.raises(Unavailable, match="closed"):
        await store.read(JOHN)


def test_a_file_that_is_not_ours_is_refused(tmp_path: Path) -> None:
    """Another database is neither read as a record nor written to; a folder that is not there is told."""
    path = tmp_path / "other.db"
    with sqlite3.connect(path) as db:
        db.execute("CREATE TABLE other (a)")
    db.close()
    before = path.read_bytes()
    with pytest.raises(RequestRefused, match="not a record of this version"):
        EmbeddedFhirStore(path)
    assert path.read_bytes() == before
    (tmp_path / "text.db").write_text("not a database " * 100)
    with pytest.raises(Unavailable, match="cannot open"):
        EmbeddedFhirStore(tmp_path / "text.db")
    with pytest.raises(Unavailable, match="cannot open"):
        EmbeddedFhirStore(tmp_path / "none" / "record.db")


async def test_a_full_disk_is_told_and_leaves_nothing(tmp_path: Path) -> None:
    """A write that SQLite cannot make is Unavailable; the record stays whole and goes on later."""
    async with await loaded(tmp_path / "record.db") as store:
        before = await everything(store)
        db = sqlite(store._write_tables)._db

        def pages(limit: int) -> None:
            db.execute(f"PRAGMA max_page_count={limit}")

        await store._writing(lambda _: pages(1))
        with pytest.raises(Unavailable, match="full"):
            await store.transact(bundle(*(post(order(note=[{"text": "x" * 9000}])) for _ in range(20))))
        await store._writing(lambda _: pages(1_000_000))
        assert await everything(store) == before
        await store.transact(bundle(post(flag())))


def sqlite(tables: Tables) -> SqliteTables:
    """The tables of an embedded record are SQLite's."""
    assert isinstance(tables, SqliteTables)
    return tables


async def test_readers_cannot_write(tmp_path: Path) -> None:
    """The reading connection is query-only: no search can change the record."""
    async with EmbeddedFhirStore(tmp_path / "record.db") as store:
        with pytest.raises(Unavailable, match="readonly"):
            await store._reading(lambda tables: sqlite(tables)._db.execute("DELETE FROM resource"))


async def test_it_is_fast_enough(tmp_path: Path) -> None:
    """Ten times slower than measured would be felt: loading, a summary of five searches, a write."""
    started = time.perf_counter()
    store = await loaded(tmp_path / "record.db")
    load_s = time.perf_counter() - started
    async with store:
        await store.transact(bundle(post(flag(), "warm"), post_tagged(provenance(JOHN), "warm")))
        summaries, writes = [], []
        for place in range(10):
            started = time.perf_counter()
            await asyncio.gather(
                store.search("AllergyIntolerance", {"patient": MELISSA}),
                store.search("MedicationRequest", {"subject": MELISSA, "status": "active"}),
                store.search("Condition", {"subject": MELISSA, "clinical-status": "active"}),
                store.search("Observation", {"subject": MELISSA, "category": "laboratory", "_count": "10"}),
                store.search("Observation", {"subject": MELISSA, "category": "vital-signs", "_count": "10"}),
            )
            summaries.append(time.perf_counter() - started)
            started = time.perf_counter()
            await store.transact(
                bundle(post(flag(), f"k{place}"), post_tagged(provenance(JOHN), f"k{place}"))
            )
            writes.append(time.perf_counter() - started)
    assert load_s < 6
    assert min(summaries) < 0.1
    assert min(writes) < 0.05
