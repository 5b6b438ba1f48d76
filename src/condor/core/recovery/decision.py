"""What happens to the plan after a leaf: one pure decision of a closed vocabulary.

Law 1: a terminal leaf ends its branch: continue. A failed leaf that others wait for is re-scoped, under
supervision only after a person agreed. A skipped one takes what hangs on it alone with it. What did what it
should, also in part, changes nothing. Only the breaker stops.
Law 2: ``replan-tail`` is no decision and cannot be made one: nothing recompiles in the middle of a run.
(Mission: mutation-decision.types.ts:30, :62.)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, get_args

from condor.core.outcome import StepStatus

if TYPE_CHECKING:
    from condor.core.recovery.evidence import PlanMutationEvidence

PlanMutationDecisionKind = Literal["continue", "request-approval", "re-scope-tools", "skip", "stop"]
PLAN_MUTATION_DECISION_KINDS: tuple[PlanMutationDecisionKind, ...] = get_args(PlanMutationDecisionKind)
#: Never a decision: the tail of a plan is not planned anew.
FORBIDDEN_DECISION_KINDS = frozenset({"replan-tail"})

Reason = Literal[
    "breaker-open",
    "terminal-leaf",
    "failed-supervised",
    "failed-autonomous",
    "skipped",
    "fulfilled",
    "still-open",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanMutationDecision:
    """What is to happen to the plan, and by which line of the law."""

    kind: PlanMutationDecisionKind
    reason: Reason

    def __post_init__(self) -> None:
        """Refuse what is no decision.

        Raises:
            ValueError: a forbidden or unknown kind.
        """
        kind: object = self.kind
        if type(kind) is str and kind in PLAN_MUTATION_DECISION_KINDS:
            return
        if type(kind) is str and kind in FORBIDDEN_DECISION_KINDS:
            raise ValueError(f"{kind} is forbidden: nothing recompiles in the middle of a run")
        raise ValueError(f"{kind!r} is no decision; take {', '.join(PLAN_MUTATION_DECISION_KINDS)}")


_CONTINUE = PlanMutationDecision(kind="continue", reason="fulfilled")
_TERMINAL = PlanMutationDecision(kind="continue", reason="terminal-leaf")
_HELD = PlanMutationDecision(kind="continue", reason="still-open")
_ASK = PlanMutationDecision(kind="request-approval", reason="failed-supervised")
_RE_SCOPE = PlanMutationDecision(kind="re-scope-tools", reason="failed-autonomous")
_SKIP = PlanMutationDecision(kind="skip", reason="skipped")
_STOP = PlanMutationDecision(kind="stop", reason="breaker-open")


def decide_plan_mutation(evidence: PlanMutationEvidence) -> PlanMutationDecision:
    """What happens to the plan after this leaf (mission: evaluateMutationDecision). Total and pure."""
    if evidence.breaker_open:
        return _STOP
    if evidence.terminal:
        return _TERMINAL
    match evidence.status:
        case StepStatus.SUCCEEDED | StepStatus.DEGRADED:
            return _CONTINUE
        case StepStatus.FAILED:
            return _ASK if evidence.supervised else _RE_SCOPE
        case StepStatus.SKIPPED:
            return _SKIP
        case _:
            # While something is open the tail is held, not pruned.
            return _HELD


__all__ = [
    "FORBIDDEN_DECISION_KINDS",
    "PLAN_MUTATION_DECISION_KINDS",
    "PlanMutationDecision",
    "PlanMutationDecisionKind",
    "decide_plan_mutation",
]
