"""The decision and the gate: closed vocabularies, total and pure, and a second opinion that only tightens."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from condor.core.graph import CompiledGraph
from condor.core.ids import Digest
from condor.core.outcome import StepStatus
from condor.core.recovery import (
    FORBIDDEN_DECISION_KINDS,
    GATE_RULES,
    PLAN_MUTATION_DECISION_KINDS,
    GateVerb,
    PlanMutationDecision,
    PlanMutationEvidence,
    PlanMutationSeamNotImplementedError,
    SpliceVerb,
    apply_splice,
    decide_plan_mutation,
    evaluate_plan_mutation_gate,
    tighten,
)
from condor.core.recovery.gate import AMBIGUOUS_RULES
from tests.core.strategies import Liar, Thrower, json_values

evidences = st.builds(
    PlanMutationEvidence,
    status=st.sampled_from(StepStatus),
    terminal=st.booleans(),
    supervised=st.booleans(),
    needs_replan=st.booleans(),
    breaker_open=st.booleans(),
    way=st.sampled_from(["none", "same", "degraded", "equal"]),
)
LOOSE = {GateVerb.NONE, GateVerb.RETRY_WITH_DIFFERENT_TOOL}


def seen(status: StepStatus, **rest: Any) -> PlanMutationEvidence:
    """Evidence of a leaf that others wait for, in an autonomous run, unless said otherwise."""
    return PlanMutationEvidence(**{"status": status, "terminal": False, "supervised": False, **rest})


@pytest.mark.parametrize(
    ("evidence", "kind"),
    [
        (seen(StepStatus.FAILED, terminal=True), "continue"),
        (seen(StepStatus.SKIPPED, terminal=True, supervised=True), "continue"),
        (seen(StepStatus.FAILED, supervised=True), "request-approval"),
        (seen(StepStatus.FAILED), "re-scope-tools"),
        (seen(StepStatus.SKIPPED), "skip"),
        (seen(StepStatus.SUCCEEDED), "continue"),
        (seen(StepStatus.DEGRADED), "continue"),
        (seen(StepStatus.SUSPENDED), "continue"),
        (seen(StepStatus.UNKNOWN), "continue"),
        (seen(StepStatus.SUCCEEDED, breaker_open=True), "stop"),
    ],
)
def test_the_table_of_decisions(evidence: PlanMutationEvidence, kind: str) -> None:
    """One line of the law each."""
    assert decide_plan_mutation(evidence).kind == kind


@given(evidences)
def test_every_leaf_has_one_decision_and_one_rule(evidence: PlanMutationEvidence) -> None:
    """Total, pure, and of the closed set."""
    decision = decide_plan_mutation(evidence)
    assert decision == decide_plan_mutation(evidence)
    assert decision.kind in PLAN_MUTATION_DECISION_KINDS
    rule = evaluate_plan_mutation_gate(decision, evidence)
    assert rule in GATE_RULES
    assert (rule.verb is GateVerb.HALT) == evidence.breaker_open


@given(evidences)
def test_under_supervision_every_edit_parks_first(evidence: PlanMutationEvidence) -> None:
    """No rule edits the plan of a watched run without a person; none parks an unwatched one."""
    rule = evaluate_plan_mutation_gate(decide_plan_mutation(evidence), evidence)
    if rule.verb is GateVerb.RETRY_WITH_DIFFERENT_TOOL:
        assert not evidence.supervised
        assert evidence.way != "none"
    if rule.verb is GateVerb.PARK:
        assert evidence.supervised
    if evidence.is_quiet:
        assert (rule.verb, rule.replan) == (GateVerb.NONE, False)


@given(evidences)
def test_never_around_a_human_s_no(evidence: PlanMutationEvidence) -> None:
    """Of a declined edit nothing is left: no edit, no second question."""
    declined = replace(evidence, declined=True, breaker_open=False)
    rule = evaluate_plan_mutation_gate(decide_plan_mutation(declined), declined)
    assert rule.rule_id in {"skip.declined", "end.declined"}
    assert rule.verb in {GateVerb.NONE, GateVerb.SKIP_REMAINING}


@given(evidences)
def test_a_replan_is_counted_whatever_comes_of_it(evidence: PlanMutationEvidence) -> None:
    """A tool that asks for another way is charged, also where there is none."""
    rule = evaluate_plan_mutation_gate(decide_plan_mutation(evidence), evidence)
    if evidence.needs_replan and not evidence.breaker_open:
        assert rule.replan


def test_every_rule_is_named_once_and_can_fire() -> None:
    """No dead rows; the ambiguous ones are named."""
    names = [rule.rule_id for rule in GATE_RULES]
    assert len(set(names)) == len(names)
    assert {"replan.of-fulfilled", "re-scope.degraded", "end.degraded"} == AMBIGUOUS_RULES
    fired = set()
    for status in StepStatus:
        for bits in range(32):
            for way in ("none", "same", "degraded", "equal"):
                flags = [bool(bits >> bit & 1) for bit in range(5)]
                evidence = PlanMutationEvidence(
                    status=status,
                    terminal=flags[0],
                    supervised=flags[1],
                    needs_replan=flags[2],
                    breaker_open=flags[3],
                    declined=flags[4],
                    way=way,
                )
                fired.add(evaluate_plan_mutation_gate(decide_plan_mutation(evidence), evidence).rule_id)
    assert set(names) == fired


@pytest.mark.parametrize("kind", sorted(FORBIDDEN_DECISION_KINDS))
def test_the_forbidden_kind_cannot_be_constructed(kind: Any) -> None:
    """Nothing recompiles in the middle of a run."""
    with pytest.raises(ValueError, match="forbidden"):
        PlanMutationDecision(kind=kind, reason="fulfilled")


@pytest.mark.parametrize("kind", ["", "Continue", "replan", None, 1, Liar()], ids=repr)
def test_no_other_kind_can_be_constructed(kind: Any) -> None:
    """The vocabulary is closed."""
    with pytest.raises(ValueError, match="no decision"):
        PlanMutationDecision(kind=kind, reason="fulfilled")


@given(
    st.sampled_from(GateVerb),
    st.one_of(st.sampled_from(GateVerb), json_values, st.builds(Liar), st.builds(Thrower)),
)
def test_a_second_opinion_only_tightens(verb: GateVerb, said: object) -> None:
    """Never looser than the rule; what is no verb asks a person at least."""
    order = list(GateVerb)
    got = tighten(verb, said)
    assert order.index(got) >= order.index(verb)
    if not isinstance(said, GateVerb) and got in LOOSE:
        assert isinstance(said, str)


def test_splicing_is_not_built() -> None:
    """A documented contract that always raises."""
    graph = CompiledGraph(nodes=(), digest=Digest("x"))
    for kind in ("insert-step", "replace-subplan"):
        verb = SpliceVerb(kind=kind, coordinate=0, plan={"steps": []})  # type: ignore[arg-type]
        with pytest.raises(PlanMutationSeamNotImplementedError):
            apply_splice(graph, verb)


def test_deciding_takes_no_time() -> None:
    """Decision and gate of a failed leaf: under 200 µs at the 99th percentile."""
    evidence = seen(StepStatus.FAILED, way="equal")
    took = []
    for _ in range(2_000):
        begun = time.perf_counter()
        evaluate_plan_mutation_gate(decide_plan_mutation(evidence), evidence)
        took.append(time.perf_counter() - begun)
    assert sorted(took)[int(len(took) * 0.99)] < 200e-6
