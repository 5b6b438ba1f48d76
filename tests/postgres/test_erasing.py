"""Erasing payloads beside units of the same run: they do not cross, and every erasure is noticed."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from condor.ports.store import Transition
from condor.testing.store_units import at, creation, run_name

if TYPE_CHECKING:
    from condor.testing.postgres_cluster import PostgresCluster
    from tests.postgres.conftest import OpenStore

#: Payloads of one unit: enough that two orders of locking would cross.
_KEYS = [(f"k{number}", b'"v"') for number in range(200)]


async def test_units_and_erasures_do_not_wait_for_each_other_crosswise(
    opened: OpenStore, cluster: PostgresCluster
) -> None:
    """Both take the run's row first."""
    crossed = cluster.log().count("deadlock detected")
    units, erasures = await opened(), await opened()
    await units.commit(creation(1))
    done = asyncio.Event()

    async def erase() -> int:
        count = 0
        while not done.is_set():
            count += await erasures.erase_payloads(run_name(1)) > 0
            await asyncio.sleep(0.003)
        return count

    erasing = asyncio.create_task(erase())
    for _ in range(80):
        await units.commit(Transition(run_id=run_name(1), at=at(2), payloads=_KEYS))
    done.set()
    erased = await erasing
    assert erased > 0
    run = await units.run(run_name(1))
    assert run is not None
    assert run.rev == 81 + erased
    assert cluster.log().count("deadlock detected") == crossed
