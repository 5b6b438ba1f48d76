"""What a store keeps of seals: one after the other, each once, and what is not in them yet."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from condor.core.audit import chain_hash, encode_seal
from condor.core.ids import DEFAULT_TENANT
from condor.ports.store import RunHead, SealRow, Transition
from condor.testing.store_units import all_of, at, creation, entry, run_name

if TYPE_CHECKING:
    from collections.abc import Sequence

    from condor.ports.store import Store
    from condor.testing.store_units import Open


def _seal(number: int, prev: str, heads: Sequence[RunHead], *, second: float = 0) -> SealRow:
    body = encode_seal(DEFAULT_TENANT, at(second), heads)
    return SealRow(seq=number, body=body, prev_hash=prev, hash=chain_hash(prev, number, body))


async def _next(store: Store, limit: int = 100, *, second: float = 0) -> SealRow:
    found = await store.unsealed(limit)
    return _seal(found.last_seq + 1, found.last_hash, found.heads, second=second)


async def check_heads_are_sealed_once_and_again_after_more_rows(open_store: Open) -> None:
    """A page of what is not sealed, in run order; what is sealed comes back when its chain grows."""
    store = await open_store()
    await all_of(store, [creation(number) for number in range(5)])
    first = await store.unsealed(3)
    assert (first.last_seq, first.last_hash) == (0, "")
    runs = [await store.run(run_name(number)) for number in range(3)]
    assert [(head.run_id, head.seq, head.hash) for head in first.heads] == [
        (run.run_id, run.audit_seq, run.audit_head) for run in runs if run is not None
    ]
    row = _seal(1, "", first.heads)
    assert await store.add_seal(row, first.heads)
    rest = await store.unsealed(3)
    assert (rest.last_seq, rest.last_hash) == (1, row.hash)
    assert [head.run_id for head in rest.heads] == [run_name(3), run_name(4)]
    assert await store.add_seal(_seal(2, row.hash, rest.heads), rest.heads)
    assert not (await store.unsealed(3)).heads
    await store.commit(Transition(run_id=run_name(1), at=at(1), audit=[entry(run_name(1))]))
    assert [(head.run_id, head.seq) for head in (await store.unsealed(3)).heads] == [(run_name(1), 2)]
    chains = [chain async for chain in store.audit_chains()]
    assert [(chain.sealed_seq, chain.status) for chain in chains] == [(1, "executing")] * 5


async def check_seals_are_kept_in_order(open_store: Open) -> None:
    """They come back byte for byte, also after the store was opened again, and page by page."""
    store = await open_store()
    assert [row async for row in store.seals()] == []
    rows: list[SealRow] = []
    for number in range(1, 4):
        await store.commit(creation(number))
        found = await store.unsealed(10)
        rows.append(_seal(number, found.last_hash, found.heads, second=number))
        assert await store.add_seal(rows[-1], found.heads)
    await store.close()
    store = await open_store()
    assert [row async for row in store.seals()] == rows
    assert [row async for row in store.seals(after=2)] == rows[2:]


async def check_a_seal_is_made_once(open_store: Open) -> None:
    """Of many that would be the same number one is; none is skipped or replaced; a loser notes nothing."""
    store = await open_store()
    await store.commit(creation(1))
    rows = [await _next(store, second=number) for number in range(10)]
    heads = (await store.unsealed(10)).heads
    fates = await asyncio.gather(*(store.add_seal(row, heads) for row in rows))
    assert sum(fates) == 1
    [kept] = [row async for row in store.seals()]
    assert kept == rows[fates.index(True)]
    late = [RunHead(run_id=run_name(9), seq=9, hash="x")]
    assert not await store.add_seal(_seal(3, kept.hash, late), late)
    assert not await store.add_seal(_seal(1, "", late, second=99), late)
    assert [kept] == [row async for row in store.seals()]
    await store.commit(creation(9))
    assert [head.run_id for head in (await store.unsealed(10)).heads] == [run_name(9)]
