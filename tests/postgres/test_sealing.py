"""Many processes seal one database: no head twice, no seal twice, nothing left."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from condor.core.audit import SealedHeads
from condor.runtime import sealing
from condor.runtime.sealing import seal_heads
from condor.testing.store_units import all_of, at, creation

if TYPE_CHECKING:
    from collections.abc import Callable

    import pytest

    from tests.postgres.conftest import OpenStore


async def test_processes_that_seal_at_once_seal_each_head_once(
    opened: OpenStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While runs come, and in small batches; every seal is another one's successor."""
    monkeypatch.setattr(sealing, "SEAL_HEADS_MAX", 7)
    stores = [await opened() for _ in range(4)]

    async def come() -> None:
        for part in range(5):
            await all_of(stores[part % 4], [creation(20 * part + number) for number in range(20)])

    async def seal(number: int) -> int:
        count = 0
        for _ in range(8):
            count += await seal_heads(stores[number], lambda: at(number))
        return count

    coming = asyncio.create_task(come())
    counts = await asyncio.gather(*(seal(number) for number in range(4)))
    await coming
    counts.append(await seal_heads(stores[0], lambda: at(99)))
    heads = SealedHeads()
    async for row in stores[1].seals():
        heads.follow(row)
    assert heads.fault is None
    assert sum(counts) == 100 == len(heads.marks)
    assert {len(marks) for marks in heads.marks.values()} == {1}


async def test_a_seal_whose_back_end_ends_is_there_once(
    opened: OpenStore, end_backends: Callable[[], int]
) -> None:
    """It is done again, and done twice it is done once."""
    store = await opened()
    await all_of(store, [creation(number) for number in range(30)])
    sealed = asyncio.create_task(seal_heads(store, lambda: at(1)))
    for _ in range(3):
        await asyncio.sleep(0.01)
        end_backends()
    assert await sealed + await seal_heads(store, lambda: at(2)) == 30
    assert len([row async for row in store.seals()]) in (1, 2)
