"""Audit rows, chains and seals as the store keeps them."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING

from condor.core.ids import DEFAULT_TENANT, RunId, TenantId
from condor.core.values import dataclass

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditRow:
    """One audit row as stored: ``body`` is the canonical JSON that ``hash`` covers."""

    run_id: RunId
    seq: int
    body: bytes
    prev_hash: str
    hash: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CardMark:
    """What stands in a card's own row of how it ended."""

    suspend_id: str
    status: str
    decided_by: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditChain:
    """What the run row says its chain is, beside the rows that are there, in stored order."""

    run_id: RunId
    #: -1 when rows are there and the run's own row is not.
    audit_seq: int
    audit_head: str
    rows: Sequence[AuditRow]
    #: The run's status as its row says, whatever stands there; ``""`` where the row is missing.
    status: str = ""
    #: Up to which row the sealer noted that it sealed; 0: none.
    sealed_seq: int = 0
    cards: Sequence[CardMark] = ()
    #: Payloads of cards and of what closed them, by key; an erased one is not there.
    payloads: Mapping[str, bytes] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditFilter:
    """Rows to list; None is not looked at."""

    run_id: str | None = None
    rule_id: str | None = None
    decision: str | None = None
    tool: str | None = None
    actor: str | None = None
    #: Recorded at this time or later, at this time or before; RFC 3339 in the stored form.
    since: str | None = None
    until: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RunHead:
    """Where a run's chain stood."""

    run_id: str
    #: Number and hash of its last row.
    seq: int
    hash: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SealRow:
    """One link of the tenant's chain: a batch of runs' heads, never changed."""

    tenant_id: TenantId = DEFAULT_TENANT
    #: 1, 2, 3 … within the tenant.
    seq: int
    #: ``core.audit.encode_seal``.
    body: bytes
    prev_hash: str
    hash: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Unsealed:
    """The end of the tenant's chain, and runs with rows that it does not hold, as of one moment."""

    last_seq: int
    last_hash: str
    heads: Sequence[RunHead]


__all__ = ["AuditChain", "AuditFilter", "AuditRow", "CardMark", "RunHead", "SealRow", "Unsealed"]
