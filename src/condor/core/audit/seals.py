"""Seals: a tenant's chain, each link of which holds the heads of a batch of runs.

Law 1: a link's hash covers the one before it, its number and its heads, as an audit row's does its body.
Law 2: every head that was ever sealed is held against its run's chain, not the last one only: who writes a
chain anew and waits for the next seal is found by the seal before.

What this cannot see is all of it made anew, seals included: against that stands a checkpoint, kept elsewhere.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Protocol

from condor.core.audit.links import Chain, ChainRow, ChainVerdict, Tampering, chain_hash
from condor.core.ids import canonical_json
from condor.core.values import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from condor.core.ids import Json


class Head(Protocol):
    """Where a run's chain stood; ``ports.store.RunHead`` is one."""

    @property
    def run_id(self) -> str:
        """The run."""
        ...

    @property
    def seq(self) -> int:
        """Number of its last row."""
        ...

    @property
    def hash(self) -> str:
        """Hash of that row."""
        ...


@dataclass(frozen=True, slots=True)
class Mark:
    """A head as a seal holds it."""

    seal: int
    seq: int
    hash: str


def encode_seal(tenant_id: str, at: str, heads: Iterable[Head]) -> bytes:
    """The RFC 8785 bytes of a seal: ``{"at", "heads": [[runId, seq, hash], …], "tenantId"}``."""
    named = [[head.run_id, head.seq, head.hash] for head in heads]
    return canonical_json({"at": at, "heads": named, "tenantId": tenant_id})


class SealedHeads:
    """What a row of seals holds, followed from the first; the first bad one ends it."""

    def __init__(self, expected: Mapping[int, str] | None = None) -> None:
        """Nothing is followed yet.

        Args:
            expected: hashes that some of them must have, by number (of a checkpoint).
        """
        self._expected = expected or {}
        #: Of the last one that holds.
        self.count = 0
        self.hash = ""
        self.at = ""
        #: Every head of every run.
        self.marks: dict[str, list[Mark]] = {}
        #: Hash of every one.
        self.hashes: dict[int, str] = {}
        #: The first that is not the expected one.
        self.first_other: int | None = None
        self.fault: ChainVerdict | None = None

    def follow(self, row: ChainRow) -> None:
        """Take the next one."""
        if self.fault is not None:
            return
        number = self.count + 1
        if row.seq != number:
            self.fault = seal_verdict(number, "seal-broken", f"seal {number} was removed")
            return
        heads = _read(row.body)
        if (
            heads is None
            or row.prev_hash != self.hash
            or row.hash != chain_hash(row.prev_hash, number, row.body)
        ):
            text = f"seal {number} was edited, or does not go on from the one before it"
            self.fault = seal_verdict(number, "seal-broken", text)
            return
        self.at, listed = heads
        self.count, self.hash = number, row.hash
        self.hashes[number] = row.hash
        if self._expected.get(number, row.hash) != row.hash and self.first_other is None:
            self.first_other = number
        for run_id, seq, head in listed:
            self.marks.setdefault(run_id, []).append(Mark(number, seq, head))


def hold_to_marks(chain: Chain, marks: Iterable[Mark], by: str) -> ChainVerdict | None:
    """What a run's chain lacks of what was sealed; None when it has all of it.

    Args:
        chain: whole in itself (``verify_chain``).
        marks: its heads as they were sealed.
        by: whose seals they are, for the message: ``""`` or `` of the checkpoint``.
    """
    for mark in marks:
        where = f"seal {mark.seal}{by} holds row {mark.seq}"
        if mark.seq > len(chain.rows):
            text = (
                f"run {chain.run_id} has {len(chain.rows)} audit rows, and {where}: later ones were removed"
            )
            return _of_run(chain.run_id, len(chain.rows), mark.seq, "rolled-back", text)
        if chain.rows[mark.seq - 1].hash != mark.hash:
            text = f"the chain of run {chain.run_id} was written anew: {where} with another hash"
            return _of_run(chain.run_id, len(chain.rows), mark.seq, "rewritten", text)
    return None


def missing_run(run_id: str, marks: Sequence[Mark], by: str) -> ChainVerdict:
    """A run that was sealed and is not there at all."""
    last = marks[-1]
    text = f"run {run_id} was removed with all its audit rows: seal {last.seal}{by} holds row {last.seq}"
    return _of_run(run_id, 0, None, "run-removed", text)


def seal_verdict(seal: int, what: Tampering, message: str) -> ChainVerdict:
    """A verdict that is about the seals and no single run."""
    return ChainVerdict(run_id="", kept=False, rows=0, first_bad_seq=seal, what=what, message=message)


def _of_run(run_id: str, rows: int, seq: int | None, what: Tampering, message: str) -> ChainVerdict:
    return ChainVerdict(run_id=run_id, kept=False, rows=rows, first_bad_seq=seq, what=what, message=message)


def seal_facts(body: bytes) -> dict[str, Json]:
    """When a seal was made and how many runs it holds; empty where it cannot be read."""
    read = _read(body)
    return {} if read is None else {"at": read[0], "runs": len(read[1])}


def seal_heads_of(body: bytes) -> Sequence[tuple[str, int]]:
    """The runs of a seal, each with its last row; none where it cannot be read."""
    read = _read(body)
    return () if read is None else [(run_id, seq) for run_id, seq, _ in read[1]]


def _read(body: bytes) -> tuple[str, Sequence[tuple[str, int, str]]] | None:
    """Time and heads of a seal; None for what is no seal."""
    try:
        found = json.loads(body)
        heads = [(run_id, seq, head) for run_id, seq, head in found["heads"]]
        at = found["at"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
    whole = all(type(r) is str and type(s) is int and s > 0 and type(h) is str for r, s, h in heads)
    return (at, heads) if whole and type(at) is str else None
