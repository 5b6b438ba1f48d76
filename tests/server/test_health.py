"""What monitors read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from condor.core.errors import StoreUnavailable
from condor.ports.jobs import Backlog

if TYPE_CHECKING:
    import pytest

    from tests.server.support import House


async def test_numbers_are_told_while_the_store_is_away(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of workers nobody can tell then, and no old number is told as today's; readiness says what is wrong."""
    away = False

    async def backlog() -> Backlog:
        if away:
            raise StoreUnavailable("the database is away")
        return Backlog(workers=2, waiting=1, oldest_s=0.5)

    monkeypatch.setattr(house.condor, "_driven", "workers")
    monkeypatch.setattr(house.condor.store, "backlog", backlog)
    monitor = await house.signed_in("ann")
    there = (await monitor.get("/metrics")).text
    assert "condor_workers 2.0" in there
    away = True
    told = await monitor.get("/metrics")
    assert told.status_code == 200
    assert "condor_workers NaN" in told.text
    assert "condor_runs_waiting NaN" in told.text
    assert (await monitor.get("/readyz")).status_code == 503
