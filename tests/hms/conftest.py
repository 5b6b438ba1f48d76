"""The demonstration record in PostgreSQL: loaded once, put back for each test."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from condor_hms.demo import demo_resources
from condor_hms.fhir.postgres import PostgresFhirStore
from tests.hms.fhir_server.process import TOKEN, started_server

if TYPE_CHECKING:
    from condor.testing.postgres_cluster import PostgresCluster


#: What was loaded, to put back; every loaded resource is of version 1.
_KEEP = (
    "CREATE SCHEMA loaded",
    "CREATE TABLE loaded.resource AS TABLE condor_fhir.resource",
    "CREATE TABLE loaded.search_value AS TABLE condor_fhir.search_value",
    "CREATE INDEX ON loaded.resource (pk)",
    "CREATE INDEX ON loaded.search_value (pk)",
    "ANALYZE",
)
_PUT_BACK = """BEGIN;
    CREATE TEMPORARY TABLE touched AS SELECT pk FROM condor_fhir.resource
        WHERE version > 1 OR pk > (SELECT max(pk) FROM loaded.resource);
    DELETE FROM condor_fhir.search_value WHERE pk IN (SELECT pk FROM touched);
    DELETE FROM condor_fhir.resource WHERE pk IN (SELECT pk FROM touched);
    INSERT INTO condor_fhir.resource OVERRIDING SYSTEM VALUE
        SELECT * FROM loaded.resource WHERE pk IN (SELECT pk FROM touched);
    INSERT INTO condor_fhir.search_value
        SELECT * FROM loaded.search_value WHERE pk IN (SELECT pk FROM touched);
    DELETE FROM condor_fhir.resource_history;
    TRUNCATE condor_fhir.message_log RESTART IDENTITY;
    COMMIT"""


@pytest.fixture(scope="session")
def _loaded(cluster: PostgresCluster) -> str:
    cluster.sql("CREATE DATABASE demo", database="postgres")
    url = f"{cluster.url.rpartition('/')[0]}/demo"

    async def fill() -> None:
        async with PostgresFhirStore(url) as store:
            await store.load(demo_resources())

    asyncio.run(fill())
    cluster.sql(*_KEEP, database="demo")
    return url


@pytest.fixture
def demo_database(cluster: PostgresCluster, _loaded: str) -> str:
    """The address of a database with the demonstration record, as it was loaded."""
    cluster.sql(_PUT_BACK, database="demo")
    return _loaded


@pytest.fixture
def record(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """The kind of record that a hospital is opened on; its parameter."""
    kind: str = request.param
    if kind == "http":
        monkeypatch.setenv("CONDOR_FHIR_BASE_URL", started_server().reset())
        monkeypatch.setenv("CONDOR_FHIR_TOKEN", TOKEN)
    elif kind == "postgres":
        monkeypatch.setenv("CONDOR_FHIR_DATABASE_URL", request.getfixturevalue("demo_database"))
    return kind
