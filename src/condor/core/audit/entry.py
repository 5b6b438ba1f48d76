"""One audit entry: who decided what about which call, in ids, digests and words of closed sets.

Law 1: an entry holds no record data and no reason text; those are payloads, which can be erased.
Law 2: its bytes are RFC 8785, so that any language can check the chain; sequence number, previous
hash and hash are the store's and are not part of them.
"""

from __future__ import annotations

from json.encoder import encode_basestring
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, Literal, get_args

from condor.core.ids import DEFAULT_TENANT, digest_of_bytes
from condor.core.values import dataclass

if TYPE_CHECKING:
    from collections.abc import Mapping

#: What was decided, a closed set.
Decision = Literal[
    "run-started",
    "allowed",
    "suspended",
    "approved",
    "denied",
    "answered",
    "edited",
    "withdrawn",
    "expired",
    "executed",
    "unknown",
    "reconciled",
    "plan-revised",
    "plan-kept",
    "stopped",
    "corrected",
    "decision-rejected",
    "run-ended",
]

DECISIONS: tuple[Decision, ...] = get_args(Decision)

#: What closes a card, and the statuses that its row can have then.
CLOSES: Mapping[str, frozenset[str]] = {
    "approved": frozenset({"approved"}),
    "denied": frozenset({"denied"}),
    "answered": frozenset({"answered"}),
    "reconciled": frozenset({"answered"}),
    "edited": frozenset({"superseded"}),
    "withdrawn": frozenset({"withdrawn", "superseded"}),
    "expired": frozenset({"expired"}),
}


_NO_PAYLOADS: Final[Mapping[str, bytes]] = MappingProxyType({})


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditEntry:
    """One row of the audit, as it is handed to the store; None is left out of its bytes."""

    #: RFC 3339, UTC, milliseconds.
    at: str
    #: Tenant of the run.
    tenant_id: str = DEFAULT_TENANT
    #: Run that this is about; verification holds it against the row's place.
    run_id: str
    #: Session that owns the run.
    session_id: str
    #: Step, for all that is about one call.
    step_id: str | None = None
    #: Equal to the step id, so that a suspend row joins its approve or deny row.
    approval_id: str | None = None
    #: Card that was opened or answered.
    suspend_id: str | None = None
    #: What was decided.
    decision: Decision
    #: ``approval | clarification | reconcile``, or a stable word for why a run ended.
    reason_code: str | None = None
    #: Which gate asked.
    origin: str | None = None
    #: Tool and op of the call.
    tool: str | None = None
    op: str | None = None
    #: What the policy saw: class, declared tier, tier after promotion, promotions, rule.
    policy_class: str | None = None
    hitl_tier: str | None = None
    effective_tier: str | None = None
    promotions: tuple[str, ...] = ()
    rule_id: str | None = None
    #: The run's session for a suspend, the signed-in approver for a decision, or ``system``.
    actor: str | None = None
    #: Digest of exactly what was approved.
    contract_hash: str | None = None
    #: Digest of the reason that a person gave.
    reason_digest: str | None = None
    #: Digest of the payload that the row vouches for (``vouched_payload``), as it was stored.
    payload_digest: str | None = None


def vouched_payload(decision: str, suspend_id: str | None) -> str | None:
    """The key of the payload that a row vouches for: a card as it was opened, or what closed it."""
    if suspend_id is None:
        return None
    if decision == "suspended":
        return f"card:{suspend_id}"
    return f"answer:{suspend_id}" if decision in CLOSES else None


def encode_entry(entry: AuditEntry, payloads: Mapping[str, bytes] = _NO_PAYLOADS) -> bytes:
    """The RFC 8785 bytes of an entry.

    Written out field by field in the order of RFC 8785, because a run has six of them: three times
    as fast as building and sorting a dictionary. A property test holds it to ``canonical_json``.

    Args:
        payloads: as they are stored in the same unit; of the one that it vouches for, it holds the digest.

    Raises:
        ValueError: a text that has no canonical form (a lone surrogate).
    """
    body = payloads.get(vouched_payload(entry.decision, entry.suspend_id) or "")
    named: tuple[tuple[str, str | None], ...] = (
        ('"actor":', entry.actor),
        ('"approvalId":', entry.approval_id),
        ('"at":', entry.at),
        ('"contractHash":', entry.contract_hash),
        ('"decision":', entry.decision),
        ('"effectiveTier":', entry.effective_tier),
        ('"hitlTier":', entry.hitl_tier),
        ('"op":', entry.op),
        ('"origin":', entry.origin),
        ('"payloadDigest":', entry.payload_digest if body is None else digest_of_bytes(body)),
        ('"policyClass":', entry.policy_class),
    )
    parts = [name + encode_basestring(value) for name, value in named if value is not None]
    if entry.promotions:
        parts.append(f'"promotions":[{",".join(map(encode_basestring, entry.promotions))}]')
    named = (
        ('"reasonCode":', entry.reason_code),
        ('"reasonDigest":', entry.reason_digest),
        ('"ruleId":', entry.rule_id),
        ('"runId":', entry.run_id),
        ('"sessionId":', entry.session_id),
        ('"stepId":', entry.step_id),
        ('"suspendId":', entry.suspend_id),
        ('"tenantId":', entry.tenant_id),
        ('"tool":', entry.tool),
    )
    parts += [name + encode_basestring(value) for name, value in named if value is not None]
    return f"{{{','.join(parts)}}}".encode()
