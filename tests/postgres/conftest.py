"""What the tests on PostgreSQL share: an empty database, stores on it, and back ends to end."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from condor.ports.faults import Faults, no_faults
from condor.store.postgres import PostgresStore

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Sequence
    from typing import Protocol

    from condor.testing.postgres_cluster import PostgresCluster

    class OpenStore(Protocol):
        """Opens stores on the one database; all are closed at the end."""

        async def __call__(
            self,
            faults: Faults = ...,
            *,
            read_only: bool = ...,
            heard: Callable[[Sequence[str] | None], None] | None = ...,
        ) -> PostgresStore: ...


@pytest.fixture
def url(cluster: PostgresCluster) -> str:
    """The address of an empty database."""
    return cluster.emptied()


@pytest.fixture
async def opened(url: str) -> AsyncIterator[OpenStore]:
    stores: list[PostgresStore] = []

    async def open_store(
        faults: Faults = no_faults,
        *,
        read_only: bool = False,
        heard: Callable[[Sequence[str] | None], None] | None = None,
    ) -> PostgresStore:
        stores.append(await PostgresStore.open(url, faults=faults, read_only=read_only, heard=heard))
        return stores[-1]

    yield open_store
    for store in stores:
        await store.close()


@pytest.fixture
def end_backends(cluster: PostgresCluster) -> Callable[[], int]:
    """Terminates every connection of Condor's; how many there were."""

    def end() -> int:
        return int(
            cluster.sql(
                "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity "
                "WHERE application_name = 'condor'",
                database="postgres",
            )
        )

    return end
