"""From a decision to a verb: one literal table, and a second opinion that can only tighten it.

Law 1: the gate is pure. What it says is applied inside the compiled graph by the pump; nothing recompiles.
Law 2: ``continue`` on a failed leaf at the end of the graph does not end the matter: another tool may do it.
Law 3: under supervision every edit parks first.
Law 4: a confirmer is asked only where the fired rule is ambiguous, and whatever it says, the verb is never
less strict than the rule's. (Mission: mutation-gate.plan.ts; confirmMutationWithSeparateModel.)
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from condor.core.ids import exact_word

if TYPE_CHECKING:
    from condor.core.recovery.decision import PlanMutationDecision, PlanMutationDecisionKind
    from condor.core.recovery.evidence import PlanMutationEvidence, Way


class GateVerb(StrEnum):
    """What is done to the compiled graph, from the loosest to the strictest."""

    NONE = "none"
    RETRY_WITH_DIFFERENT_TOOL = "retry-with-different-tool"
    #: Ask a person before the edit.
    PARK = "park"
    #: What hangs on the step alone is not run.
    SKIP_REMAINING = "skip-remaining"
    HALT = "halt"


_STRICTNESS = {verb: rank for rank, verb in enumerate(GateVerb)}


@dataclass(frozen=True, slots=True, kw_only=True)
class GateRule:
    """One row of the gate; None matches anything."""

    rule_id: str
    kinds: frozenset[PlanMutationDecisionKind] | None = None
    needs_replan: bool | None = None
    fulfilled: bool | None = None
    supervised: bool | None = None
    declined: bool | None = None
    ways: frozenset[Way] | None = None
    verb: GateVerb
    #: The pass is a replan, whether or not it finds anything.
    replan: bool = False
    #: The rule alone does not settle it: a confirmer is asked where there is one.
    ambiguous: bool = False
    why: str


_ANY_WAY: frozenset[Way] = frozenset({"same", "degraded", "equal"})
_NO_WAY: frozenset[Way] = frozenset({"none", "same"})
_OTHER_TOOL: frozenset[Way] = frozenset({"degraded", "equal"})
_DEGRADED: frozenset[Way] = frozenset({"degraded"})
_FAILED_ON_THE_WAY: frozenset[PlanMutationDecisionKind] = frozenset({"re-scope-tools", "request-approval"})

GATE_RULES: tuple[GateRule, ...] = (
    GateRule(
        rule_id="stop.breaker-open",
        kinds=frozenset({"stop"}),
        verb=GateVerb.HALT,
        why="the circuit breaker has opened",
    ),
    GateRule(
        rule_id="skip.declined",
        kinds=_FAILED_ON_THE_WAY,
        declined=True,
        verb=GateVerb.SKIP_REMAINING,
        why="a step that others wait for failed, and a person declined that another tool does it",
    ),
    GateRule(
        rule_id="end.declined",
        declined=True,
        verb=GateVerb.NONE,
        why="a person declined that another tool does it",
    ),
    GateRule(
        rule_id="replan.no-way",
        needs_replan=True,
        ways=frozenset({"none"}),
        verb=GateVerb.NONE,
        replan=True,
        why="the tool asked for another way and there is none; asking counts all the same",
    ),
    GateRule(
        rule_id="replan.supervised",
        needs_replan=True,
        supervised=True,
        ways=_ANY_WAY,
        verb=GateVerb.PARK,
        replan=True,
        why="the tool asked for another way; a person is asked first",
    ),
    GateRule(
        rule_id="replan.of-fulfilled",
        needs_replan=True,
        fulfilled=True,
        ways=_ANY_WAY,
        verb=GateVerb.RETRY_WITH_DIFFERENT_TOOL,
        replan=True,
        ambiguous=True,
        why="the tool did what it should and asks for another way all the same",
    ),
    GateRule(
        rule_id="replan.of-failed",
        needs_replan=True,
        ways=_ANY_WAY,
        verb=GateVerb.RETRY_WITH_DIFFERENT_TOOL,
        replan=True,
        why="the tool failed and asked for another way",
    ),
    GateRule(
        rule_id="ask.failed-on-the-way",
        kinds=frozenset({"request-approval"}),
        ways=_OTHER_TOOL,
        verb=GateVerb.PARK,
        replan=True,
        why="a step that others wait for failed; a person is asked before another tool does it",
    ),
    GateRule(
        rule_id="re-scope.degraded",
        kinds=frozenset({"re-scope-tools"}),
        ways=_DEGRADED,
        verb=GateVerb.RETRY_WITH_DIFFERENT_TOOL,
        replan=True,
        ambiguous=True,
        why="a step that others wait for failed, and what stands in for it does less",
    ),
    GateRule(
        rule_id="re-scope.equal",
        kinds=frozenset({"re-scope-tools"}),
        ways=_OTHER_TOOL,
        verb=GateVerb.RETRY_WITH_DIFFERENT_TOOL,
        replan=True,
        why="a step that others wait for failed, and another tool does the same",
    ),
    GateRule(
        rule_id="skip.no-way",
        kinds=_FAILED_ON_THE_WAY,
        ways=_NO_WAY,
        verb=GateVerb.SKIP_REMAINING,
        why="a step that others wait for failed, and nothing stands in for it",
    ),
    GateRule(
        rule_id="skip.not-run",
        kinds=frozenset({"skip"}),
        verb=GateVerb.SKIP_REMAINING,
        why="the step was not run",
    ),
    GateRule(
        rule_id="end.done",
        kinds=frozenset({"continue"}),
        fulfilled=True,
        verb=GateVerb.NONE,
        why="the step did what it should",
    ),
    GateRule(
        rule_id="end.supervised",
        kinds=frozenset({"continue"}),
        supervised=True,
        ways=_OTHER_TOOL,
        verb=GateVerb.PARK,
        why="a last step failed; a person is asked before another tool does it",
    ),
    GateRule(
        rule_id="end.degraded",
        kinds=frozenset({"continue"}),
        ways=_DEGRADED,
        verb=GateVerb.RETRY_WITH_DIFFERENT_TOOL,
        ambiguous=True,
        why="a last step failed, and what stands in for it does less",
    ),
    GateRule(
        rule_id="end.equal",
        kinds=frozenset({"continue"}),
        ways=_OTHER_TOOL,
        verb=GateVerb.RETRY_WITH_DIFFERENT_TOOL,
        why="a last step failed, and another tool does the same",
    ),
    GateRule(rule_id="end.as-it-is", verb=GateVerb.NONE, why="nothing stands in for it"),
)

#: Rules on which a confirmer is heard.
AMBIGUOUS_RULES = frozenset(rule.rule_id for rule in GATE_RULES if rule.ambiguous)


def evaluate_plan_mutation_gate(decision: PlanMutationDecision, evidence: PlanMutationEvidence) -> GateRule:
    """The row that decides (mission: evaluateMutationGate). Total and pure."""
    # INVARIANT: the last row matches everything, so the search always ends in a row.
    return next(rule for rule in GATE_RULES if _matches(rule, decision, evidence))


def _matches(rule: GateRule, decision: PlanMutationDecision, evidence: PlanMutationEvidence) -> bool:
    return (
        (rule.kinds is None or decision.kind in rule.kinds)
        and rule.needs_replan in (None, evidence.needs_replan)
        and rule.fulfilled in (None, evidence.fulfilled)
        and rule.supervised in (None, evidence.supervised)
        and rule.declined in (None, evidence.declined)
        and (rule.ways is None or evidence.way in rule.ways)
    )


def tighten(verb: GateVerb, said: object) -> GateVerb:
    """The stricter of a rule's verb and what a confirmer said.

    What is no verb is taken for doubt, and doubt asks a person.
    """
    word = exact_word(said)
    opinion = next((known for known in GateVerb if known == word), GateVerb.PARK)
    return max(verb, opinion, key=_STRICTNESS.__getitem__)


__all__ = [
    "AMBIGUOUS_RULES",
    "GATE_RULES",
    "GateRule",
    "GateVerb",
    "evaluate_plan_mutation_gate",
    "tighten",
]
