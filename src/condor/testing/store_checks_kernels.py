"""What a store keeps of tool kernels: revisions in order, each once, none ever changed."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from condor.ports.store import KernelRow

if TYPE_CHECKING:
    from condor.testing.store_units import Open


def _revision(rev: int, *, tool: str = "order.cancel", by: str = "admin") -> KernelRow:
    return KernelRow(
        tool=tool, rev=rev, body=b'{"by":"%s"}' % by.encode(), prev_hash="p" * (rev > 1), hash=f"{by}{rev}"
    )


async def check_kernels_are_kept_in_order(open_store: Open) -> None:
    """Revisions come back by tool and number, also after the store was opened again."""
    store = await open_store()
    assert await store.kernels() == []
    rows = [_revision(1), _revision(2), _revision(1, tool="a.tool")]
    assert [await store.add_kernel(row) for row in rows] == [True] * 3
    await store.close()
    store = await open_store()
    assert [rows[2], rows[0], rows[1]] == list(await store.kernels())


async def check_a_kernel_revision_is_made_once(open_store: Open) -> None:
    """Of many that would be the same revision one is; none is skipped or replaced."""
    store = await open_store()
    fates = await asyncio.gather(*(store.add_kernel(_revision(1, by=f"a{n}")) for n in range(10)))
    assert sum(fates) == 1
    [kept] = await store.kernels()
    assert not await store.add_kernel(_revision(3))
    assert not await store.add_kernel(_revision(1, by="late"))
    assert [kept] == list(await store.kernels())
