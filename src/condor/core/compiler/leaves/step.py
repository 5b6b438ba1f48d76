"""What a leaf may say: a closed set, checked where it is taken.

Law: suspending is a returned value, so no retry wrapper can swallow it and no exception handler can
mistake it; a leaf that returns anything else is a ``LeafContractError``, never a silent failure.
"""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING, TypeAlias

from condor.core.errors import LeafContractError, show
from condor.core.values import dataclass

if TYPE_CHECKING:
    from collections.abc import Mapping

    from condor.core.ids import Digest, Json, SuspendId
    from condor.core.outcome import StepOutcome
    from condor.core.policy.verdict import PolicyVerdict
    from condor.core.suspend.payload import SuspendRequest


@dataclass(frozen=True, slots=True, kw_only=True)
class Execute:
    """Run the tool now, with exactly this."""

    args: Mapping[str, Json]
    op: str | None
    verdict: PolicyVerdict
    #: Empty for a read.
    contract_hash: Digest
    #: Record versions the approver saw.
    versions: Mapping[str, str] = field(default_factory=dict)
    #: The approval that this execution uses up; None where none was needed.
    approval: SuspendId | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class NeedEvidence:
    """Read the record for the card, then ask again."""

    args: Mapping[str, Json]


@dataclass(frozen=True, slots=True, kw_only=True)
class Suspend:
    """Wait for a person."""

    request: SuspendRequest


@dataclass(frozen=True, slots=True, kw_only=True)
class Settle:
    """The step ends here without running anything."""

    outcome: StepOutcome


LeafStep: TypeAlias = Execute | NeedEvidence | Suspend | Settle
_LEAF_STEPS = (Execute, NeedEvidence, Suspend, Settle)


def check_leaf(returned: object, step_id: str) -> LeafStep:
    """What a leaf returned, if it is a ``LeafStep``.

    Raises:
        LeafContractError: it is not; the run fails with this reason.
    """
    if isinstance(returned, _LEAF_STEPS):
        return returned
    raise LeafContractError(f"the leaf of step {step_id} returned {show(returned)}, which is no leaf step")
