"""Cards as the store keeps them, and the filter by which they are listed."""

from __future__ import annotations

from typing import Literal

from condor.core.ids import DEFAULT_TENANT, RunId, StepId, SuspendId, TenantId
from condor.core.values import dataclass

SuspensionStatus = Literal["pending", "approved", "denied", "answered", "superseded", "withdrawn", "expired"]

#: By the time they were opened.
CardOrder = Literal["oldest", "newest"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SuspensionRow:
    """One suspension as stored; the card itself is the payload ``card:<suspend_id>``."""

    suspend_id: SuspendId
    run_id: RunId
    tenant_id: TenantId = DEFAULT_TENANT
    step_id: StepId
    generation: int
    #: ``approval | clarification | reconcile``.
    reason_code: str
    #: ``tool_policy | tool_input | planned_approval | plan_mutation | reconcile``.
    origin: str
    contract_hash: str
    tool: str
    opened_at: str
    #: None: never.
    expires_at: str | None
    #: JSON without record data: policy verdict, op, who may answer, record versions shown.
    facts: bytes
    #: Effective tier; ``""`` where the policy did not gate.
    tier: str = ""
    #: Id of the principal that asked for the run.
    requester: str = ""
    #: ``Type/id`` of whom or what the card is about; ``""`` where its evidence names nobody.
    subject: str = ""
    status: SuspensionStatus = "pending"
    decided_by: str | None = None
    decided_at: str | None = None
    #: The approval was used for its one execution.
    consumed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Decide:
    """Close one suspension: a compare-and-set on *pending*, with expiry inside it."""

    suspend_id: SuspendId
    status: SuspensionStatus
    decided_by: str
    #: False for the sweep and for withdrawals, which may close an expired card.
    refuse_expired: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class CardFilter:
    """Cards to list; None is not looked at."""

    status: SuspensionStatus | None = None
    run_id: str | None = None
    #: ``approval | clarification | reconcile``.
    reason_code: str | None = None
    origin: str | None = None
    tool: str | None = None
    #: Effective tier: ``high | low``.
    tier: str | None = None
    #: Id of the principal that asked for the run.
    requester: str | None = None
    #: ``Type/id``, as ``Patient/pt-0612cf63eb84``.
    subject: str | None = None
    #: RFC 3339 in UTC with milliseconds: opened at this time or later, at this time or before.
    opened_from: str | None = None
    opened_until: str | None = None


#: All of them.
EVERY_CARD = CardFilter()
#: What waits for a person.
OPEN_CARDS = CardFilter(status="pending")

__all__ = [
    "EVERY_CARD",
    "OPEN_CARDS",
    "CardFilter",
    "CardOrder",
    "Decide",
    "SuspensionRow",
    "SuspensionStatus",
]
