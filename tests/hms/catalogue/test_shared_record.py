"""The pack on a PostgreSQL database: one record for every process that shares the run log."""

from __future__ import annotations

import asyncio
import json
from itertools import count
from typing import TYPE_CHECKING, Any

import pytest

from condor import Condor, CondorError, PackSetup
from condor_hms.fhir.embedded import EmbeddedFhirStore
from condor_hms.fhir.postgres import PostgresFhirStore
from condor_hms.outbox import Message, Outbox, Receipt, SharedLogChannel
from condor_hms.pack import PACK
from tests.hms.catalogue.test_pack import found
from tests.hms.fhir.support import bundle, post

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from condor.testing.postgres_cluster import PostgresCluster


@pytest.fixture
def empty(cluster: PostgresCluster) -> Iterator[str]:
    """A database with nothing in it."""
    cluster.sql("CREATE DATABASE empty", database="postgres")
    yield f"{cluster.url.rpartition('/')[0]}/empty"
    cluster.sql("DROP DATABASE empty WITH (FORCE)", database="postgres")


async def test_processes_that_share_the_run_log_share_the_record(tmp_path: Path, empty: str) -> None:
    """Two homes at once on an empty database: one demonstration; what one writes the other reads."""
    homes = [tmp_path / "one", tmp_path / "two"]

    async def order(condor: Condor, said: str) -> dict[str, Any]:
        doctor = next(person for person in condor.principals if person.id == "dr-okafor")
        run = await condor.start(said, autonomy="autonomous", principal=doctor)
        return await condor.wait(run.id)

    async with (
        Condor(packs=[PACK], home=homes[0], database_url=empty, demo=True) as one,
        Condor(packs=[PACK], home=homes[1], database_url=empty, demo=True) as two,
    ):
        made = [note for condor in (one, two) for note in condor.notes if "made the demonstration" in note]
        assert len(made) == 1
        assert "in the database condor@127.0.0.1" in made[0]
        written = await order(one, "Record an ibuprofen allergy for John Hernandez: angioedema, severe.")
        assert written["status"] == "succeeded", written["closing"]
        read = await order(two, "What is John Hernandez allergic to?")
        assert "ibuprofen" in read["closing"].lower()
    assert not any((home / "hms" / "fhir.db").exists() for home in homes)


async def test_the_setting_says_where_the_record_is(
    tmp_path: Path, empty: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of its own, in the home, or with the run log; anything else is refused without showing it."""
    monkeypatch.setenv("CONDOR_DATABASE_URL", empty)
    monkeypatch.setenv("CONDOR_FHIR_DATABASE_URL", "home")
    async with PACK.open(PackSetup(home=tmp_path / "a", demo=True)):
        assert (tmp_path / "a" / "hms" / "fhir.db").exists()
    monkeypatch.setenv("CONDOR_FHIR_DATABASE_URL", "mysql://ann:hunter2@there/x")
    with pytest.raises(CondorError, match="CONDOR_FHIR_DATABASE_URL: write postgresql://") as refused:
        async with PACK.open(PackSetup(home=tmp_path / "b")):
            pass
    assert "hunter2" not in str(refused.value)
    monkeypatch.setenv("CONDOR_FHIR_DATABASE_URL", "postgresql://ann:hunter2@127.0.0.1:1/x")
    with pytest.raises(CondorError, match="no PostgreSQL answers at ann@") as refused:
        async with PACK.open(PackSetup(home=tmp_path / "b")):
            pass
    assert ("hunter2" in str(refused.value), refused.value.code) == (False, "environment")
    monkeypatch.delenv("CONDOR_FHIR_DATABASE_URL")
    async with PACK.open(PackSetup(home=tmp_path / "b", database_url="")):
        assert (tmp_path / "b" / "hms" / "fhir.db").exists()


async def test_a_record_in_a_file_is_not_exchanged_for_an_empty_one(tmp_path: Path, empty: str) -> None:
    """A home whose run log moved to a database keeps its patients, or is told that they are elsewhere."""
    (tmp_path / "hms").mkdir()
    async with EmbeddedFhirStore(tmp_path / "hms" / "fhir.db") as store:
        await store.load([{"resourceType": "Patient", "id": "own", "name": [{"family": "Own"}]}])
    with pytest.raises(CondorError, match="CONDOR_FHIR_DATABASE_URL=home to go on with it") as refused:
        async with PACK.open(PackSetup(home=tmp_path, database_url=empty, demo=True)):
            pass
    assert refused.value.code == "environment"
    async with PostgresFhirStore(empty) as store:
        assert await store.search("Patient", {}) == []


async def test_reading_only_makes_no_schema(tmp_path: Path, empty: str, cluster: PostgresCluster) -> None:
    """Looking leaves no trace in the database either; what is there is read."""
    looking = PackSetup(home=tmp_path, database_url=empty, demo=True, read_only=True)
    async with PACK.open(looking) as opened:
        with pytest.raises(Exception, match="no record in this database yet"):
            await found(opened, "Helen Coleman")
    assert cluster.sql("SELECT to_regnamespace('condor_fhir') IS NULL", database="empty") == "t"
    async with PACK.open(PackSetup(home=tmp_path, database_url=empty, demo=True)):
        pass
    async with PACK.open(looking) as opened:
        assert (await found(opened, "Helen Coleman"))["patient"]["mrn"] == "POP-000002"  # type: ignore[index]


async def test_a_message_is_carried_once_whoever_carries_it(
    demo_database: str, cluster: PostgresCluster
) -> None:
    """Two processes that both deliver what waits: each key is in the one log once."""
    url = demo_database
    message = Message(key="k1", channel="sms", address="+1", text="Come fasting.")
    async with PostgresFhirStore(url) as one, PostgresFhirStore(url) as other:
        channels = [SharedLogChannel(store) for store in (one, other)]
        receipts = await asyncio.gather(*(channels[number % 2].deliver(message) for number in range(6)))
        assert receipts == [Receipt(id="log-1")] * 6
        numbers = count(1)
        for _ in range(3):
            row = {
                "resourceType": "Communication",
                "status": "preparation",
                "identifier": [{"system": "urn:condor:idem", "value": f"m{next(numbers)}"}],
                "recipient": [{"reference": "Patient/pt-0612cf63eb84"}],
                "medium": [{"coding": [{"system": "urn:condor:channel", "code": "sms"}]}],
                "payload": [{"contentString": "Your prescription is ready."}],
            }
            await one.transact(bundle(post(row)))
        boxes = [
            Outbox(store, {"sms": channel}) for store, channel in zip((one, other), channels, strict=True)
        ]
        await asyncio.gather(*(box.deliver_waiting() for box in boxes))
        assert await one.search("Communication", {"status": "preparation,in-progress"}) == []
    rows = cluster.sql(
        "SELECT key, body FROM condor_fhir.message_log ORDER BY number", database=url.rpartition("/")[2]
    ).splitlines()
    assert [row.partition("|")[0] for row in rows] == ["k1", "m1", "m2", "m3"]
    assert json.loads(rows[0].partition("|")[2])["text"] == "Come fasting."
