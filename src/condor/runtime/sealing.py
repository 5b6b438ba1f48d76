"""Sealing: runs' heads go into the tenant's chain, a batch a seal; and the verdict on all of it.

Law 1: a seal is a compare-and-set on the one before, so that of any number of processes one adds it, and a
look that was interrupted is made again.
Law 2: a batch is bounded, and a look ends: what comes meanwhile is the next look's.
Law 3: seals are read before the chains that are held against them; chains only grow.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from itertools import chain as joined
from typing import TYPE_CHECKING, Final

from condor.core.audit import (
    Checkpoint,
    SealedHeads,
    chain_hash,
    checkpoint_line,
    encode_seal,
    hold_records,
    hold_to_checkpoint,
    hold_to_marks,
    missing_run,
    seal_facts,
    seal_verdict,
    signed_bytes,
    verify_chain,
)
from condor.core.errors import HomeUnusable
from condor.core.ids import DEFAULT_TENANT
from condor.ports.clock import timestamp
from condor.ports.store import SealRow

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from condor.core.audit import Against, ChainVerdict
    from condor.core.ids import Json
    from condor.ports.clock import Clock
    from condor.ports.store import AuditChain, Store

#: Heads in one seal: some 50 KB.
SEAL_HEADS_MAX: Final = 500
#: Seals that one look adds; the next look goes on.
SEALS_MAX: Final = 200
#: Runs that are not sealed yet and are counted one by one.
_UNSEALED_MAX: Final = 10_000
_OF_CHECKPOINT: Final = " of the checkpoint"


async def seal_heads(store: Store, at: Callable[[], str]) -> int:
    """Seal every run's head that is not sealed yet; how many were.

    Raises:
        StoreUnavailable: the store is away, or takes nothing.
    """
    sealed = 0
    for _ in range(SEALS_MAX):
        found = await store.unsealed(SEAL_HEADS_MAX)
        if not found.heads:
            break
        number = found.last_seq + 1
        body = encode_seal(DEFAULT_TENANT, at(), found.heads)
        row = SealRow(
            seq=number,
            body=body,
            prev_hash=found.last_hash,
            hash=chain_hash(found.last_hash, number, body),
        )
        # False: another process was first; what is left after it is looked for again.
        if await store.add_seal(row, found.heads):
            sealed += len(found.heads)
    return sealed


class Sealing(ABC):
    """What a process does with seals."""

    _clock: Clock

    async def seal(self) -> int:
        """Seal every run's head that is not sealed yet; how many were."""
        return await seal_heads(self._stored(), lambda: timestamp(self._clock.now()))

    async def sealed(self) -> dict[str, Json]:
        """How far the audit is sealed: the last seal, and how many runs have rows beyond it.

        ``unsealedRuns`` is counted to a bound; beyond it ``isAtLeast`` is true.
        """
        store = self._stored()
        found = await store.unsealed(_UNSEALED_MAX + 1)
        last: dict[str, Json] | None = None
        async for row in store.seals(after=max(found.last_seq - 1, 0)):
            last = {"seq": row.seq, "hash": row.hash, **seal_facts(row.body)}
            break
        return {
            "seals": found.last_seq,
            "last": last,
            "unsealedRuns": min(len(found.heads), _UNSEALED_MAX),
            "isAtLeast": len(found.heads) > _UNSEALED_MAX,
        }

    async def verify(
        self, run_id: str | None = None, *, against: Against | None = None
    ) -> AsyncIterator[ChainVerdict]:
        """The verdict on every run's chain, and what the seals and a checkpoint say against all of them.

        Args:
            run_id: only of this run; its seals are looked for all the same.
            against: a checkpoint that was kept elsewhere (``core.audit.read_checkpoint``).
        """
        store = self._stored()
        seals = await _followed(store, SealedHeads(against.expected() if against is not None else None))
        for fault in (seals.fault, hold_to_checkpoint(seals, against) if against is not None else None):
            if fault is not None:
                yield fault
        wanted = dict.fromkeys(joined(seals.marks, against.sealed.marks if against is not None else ()), True)
        async for chain in store.audit_chains(run_id):
            wanted.pop(chain.run_id, None)
            yield await self._verdict(chain, seals, against)
        for missing in wanted if run_id is None else [run_id] * (run_id in wanted):
            yield _missing(missing, seals, against)

    async def checkpoint(
        self, key: str, sign: Callable[[bytes], str], *, brief: bool = False
    ) -> AsyncIterator[bytes]:
        """The lines of a checkpoint on what is sealed now.

        Args:
            key: public part of the key that signs.
            sign: the signature on what it is given.
            brief: without the seals; what is found with it is not named.

        Raises:
            HomeUnusable: the seals do not hold together; nothing is signed.
        """
        seals = await _followed(self._stored(), SealedHeads())
        if seals.fault is not None:
            # Never signed: whoever verifies would be told that it is whole.
            raise HomeUnusable(f"no checkpoint is made: {seals.fault.message}; see `condor audit verify`")
        stated = Checkpoint(
            tenant_id=DEFAULT_TENANT,
            at=timestamp(self._clock.now()),
            seals=seals.count,
            hash=seals.hash,
            runs=len(seals.marks),
            key=key,
        )
        yield checkpoint_line(stated, sign(signed_bytes(stated)))
        if brief:
            return
        async for row in self._stored().seals():
            if row.seq > seals.count:
                return
            yield row.body

    async def _verdict(self, chain: AuditChain, seals: SealedHeads, against: Against | None) -> ChainVerdict:
        verdict = verify_chain(chain)
        if not verdict.kept:
            return verdict
        if chain.sealed_seq > max((mark.seq for mark in seals.marks.get(chain.run_id, ())), default=0):
            # Sealed since the seals were read, or noted as sealed by somebody else.
            await _followed(self._stored(), seals)
        marks = seals.marks.get(chain.run_id, [])
        if seals.fault is None and chain.sealed_seq > max((mark.seq for mark in marks), default=0):
            text = f"row {chain.sealed_seq} of run {chain.run_id} is noted as sealed, and no seal holds it"
            return seal_verdict(seals.count, "seal-broken", text)
        if against is not None:
            stated = against.sealed.marks.get(chain.run_id, ())
            found = hold_to_marks(chain, stated, _OF_CHECKPOINT)
            if found is not None:
                return found
        return hold_to_marks(chain, marks, "") or hold_records(chain) or verdict

    @abstractmethod
    def _stored(self) -> Store:
        """The open store."""


async def _followed(store: Store, seals: SealedHeads) -> SealedHeads:
    """Follow the seals on from where they are."""
    async for row in store.seals(after=seals.count):
        seals.follow(row)
    return seals


def _missing(run_id: str, seals: SealedHeads, against: Against | None) -> ChainVerdict:
    if run_id in seals.marks:
        return missing_run(run_id, seals.marks[run_id], "")
    assert against is not None, "it was one of the two"
    return missing_run(run_id, against.sealed.marks[run_id], _OF_CHECKPOINT)


__all__ = ["SEAL_HEADS_MAX", "Sealing", "seal_heads"]
