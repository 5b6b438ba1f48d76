"""The PostgreSQL cluster of a test process, and what is said where it cannot be had."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from condor.testing.postgres_cluster import HOW_TO_GET, find_programs, running_cluster

if TYPE_CHECKING:
    from collections.abc import Iterator

    from condor.testing.postgres_cluster import PostgresCluster

#: With one of these set a missing PostgreSQL is a failure, not a reason to skip.
REQUIRED_BY = ("CI", "CONDOR_REQUIRE_POSTGRES")


@pytest.fixture(scope="session")
def cluster() -> Iterator[PostgresCluster]:
    """A running cluster; ``emptied`` gives a test its database."""
    if find_programs() is None:
        if any(os.environ.get(name) for name in REQUIRED_BY):
            pytest.fail(HOW_TO_GET)
        pytest.skip(HOW_TO_GET)
    with running_cluster() as running:
        yield running
