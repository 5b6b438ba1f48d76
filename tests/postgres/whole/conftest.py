"""Tests of the whole, done again on PostgreSQL: whatever opens a Condor here opens it there."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.pump.conftest import ledger as ledger  # fixtures of the tests that are done again
from tests.server.conftest import house as house
from tests.simulation.conftest import hospital_home as hospital_home
from tests.simulation.conftest import play as play
from tests.simulation.conftest import zygote as zygote

if TYPE_CHECKING:
    from collections.abc import Iterator

    from condor.testing.postgres_cluster import PostgresCluster


@pytest.fixture(scope="module", autouse=True)
def _on_postgres(cluster: PostgresCluster) -> Iterator[None]:
    """Before anything else: processes that are started here inherit it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CONDOR_DATABASE_URL", cluster.url)
        # The tests that are done again look at the hospital's record past the runtime, in its file.
        patch.setenv("CONDOR_FHIR_DATABASE_URL", "home")
        yield


@pytest.fixture(autouse=True)
def _empty(cluster: PostgresCluster) -> None:
    """Each test begins with an empty database."""
    cluster.emptied()
