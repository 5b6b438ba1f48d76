"""WHAT HAPPENS TO THE PLAN WHEN A STEP GOES WRONG?

Evidence → ``decide_plan_mutation`` → the gate → a verb inside the compiled graph, all of it pure, and all of
it paid for from ``CircuitBreakerLedger``, so that it ends. It knows nothing of approvals of record writes.
"""

from condor.core.recovery.decision import (
    FORBIDDEN_DECISION_KINDS,
    PLAN_MUTATION_DECISION_KINDS,
    PlanMutationDecision,
    decide_plan_mutation,
)
from condor.core.recovery.evidence import PlanMutationEvidence
from condor.core.recovery.gate import GATE_RULES, GateRule, GateVerb, evaluate_plan_mutation_gate, tighten
from condor.core.recovery.ledger import BreakerStop, Charge, CircuitBreakerLedger, ledger_from_json
from condor.core.recovery.limits import DEFAULT_LIMITS, LIMITS, Limits, limits_from
from condor.core.recovery.splice import PlanMutationSeamNotImplementedError, SpliceVerb, apply_splice
from condor.core.recovery.substitution import CallFacts, requery_tools, substitute_tool

__all__ = [
    "DEFAULT_LIMITS",
    "FORBIDDEN_DECISION_KINDS",
    "GATE_RULES",
    "LIMITS",
    "PLAN_MUTATION_DECISION_KINDS",
    "BreakerStop",
    "CallFacts",
    "Charge",
    "CircuitBreakerLedger",
    "GateRule",
    "GateVerb",
    "Limits",
    "PlanMutationDecision",
    "PlanMutationEvidence",
    "PlanMutationSeamNotImplementedError",
    "SpliceVerb",
    "apply_splice",
    "decide_plan_mutation",
    "evaluate_plan_mutation_gate",
    "ledger_from_json",
    "limits_from",
    "requery_tools",
    "substitute_tool",
    "tighten",
]
