"""Whether another verb may tell the same effect: a dose that was changed was also saved."""

from __future__ import annotations

from typing import TYPE_CHECKING

from condor.core.observers.claim_rules import DEFAULT_CLAIM_RULES

if TYPE_CHECKING:
    from condor.core.observers.claim_known import Known
    from condor.core.observers.claims import Claim

#: Said of every effect: "the payment was recorded".
_KEPT = frozenset(
    ("recorded", "saved", "documented", "entered", "registered", "logged", "made", "processed", "completed")
)
#: Who makes one of these sends it.
_ON_PAPER = frozenset(("referral", "order", "lab", "imaging"))
_SENT = frozenset(("sent", "submitted", "transmitted"))
#: Only what there was before is done this to.
_ALTERS = frozenset(("changed", "modified", "moved", "rescheduled", "postponed", "amended"))
_RECORDED = frozenset(rule.id for rule in DEFAULT_CLAIM_RULES if rule.in_records)


def is_like(claim: Claim, known: Known) -> bool:
    """Whether texts call its effect so too: a dose that was changed was also saved."""
    if not _KEPT.isdisjoint(claim.phrase):
        return True
    if not _SENT.isdisjoint(claim.phrase) and not _ON_PAPER.isdisjoint(known.objects):
        return "created" in known.kinds
    if "ran" in known.kinds and any(rule.id == "changed" for rule in claim.rules):
        return True
    if "changed" not in known.kinds and not _ALTERS.isdisjoint(claim.phrase):
        return False
    return any(rule.in_records for rule in claim.rules) and not known.kinds.isdisjoint(_RECORDED)
