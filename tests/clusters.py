"""The PostgreSQL cluster of a test process, and what is said where it cannot be had."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from condor.testing.postgres_cluster import HOW_TO_GET, find_programs, running_cluster
from tests.needs import needs

if TYPE_CHECKING:
    from collections.abc import Iterator

    from condor.testing.postgres_cluster import PostgresCluster


@pytest.fixture(scope="session")
def cluster() -> Iterator[PostgresCluster]:
    """A running cluster; ``emptied`` gives a test its database."""
    needs(HOW_TO_GET if find_programs() is None else None, "CONDOR_REQUIRE_POSTGRES")
    with running_cluster() as running:
        yield running
