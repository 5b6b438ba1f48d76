"""The demonstration record in PostgreSQL: loaded once, copied for each test."""

from __future__ import annotations

import asyncio
from itertools import count
from typing import TYPE_CHECKING

import pytest

from condor_hms.demo import demo_resources
from condor_hms.fhir.postgres import PostgresFhirStore

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from condor.testing.postgres_cluster import PostgresCluster


@pytest.fixture(scope="session")
def _demo_template(cluster: PostgresCluster) -> str:
    cluster.sql("CREATE DATABASE demo", database="postgres")

    async def fill() -> None:
        async with PostgresFhirStore(_in_database(cluster, "demo")) as store:
            await store.load(demo_resources())

    asyncio.run(fill())
    return "demo"


@pytest.fixture
def demo_database(cluster: PostgresCluster, _demo_template: str) -> Iterator[Callable[[], str]]:
    """Makes databases with the demonstration record, and gives their addresses; they go at the end."""
    numbers, made = count(1), list[str]()

    def make() -> str:
        made.append(f"copy_{next(numbers)}")
        cluster.sql(f"CREATE DATABASE {made[-1]} TEMPLATE {_demo_template}", database="postgres")
        return _in_database(cluster, made[-1])

    yield make
    for name in made:
        cluster.sql(f"DROP DATABASE {name} WITH (FORCE)", database="postgres")


def _in_database(cluster: PostgresCluster, name: str) -> str:
    return f"{cluster.url.rpartition('/')[0]}/{name}"
