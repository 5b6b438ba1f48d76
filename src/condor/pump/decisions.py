"""What recovery decided, kept for whoever asks later; and the tail of a step that is taken out of the plan.

Law 1: every decision that is more than "go on" is kept with its rule: what `show` tells of it, and what the
end of the attempt says in the log. One that leaves the plan as it is has an audit row too.
Law 2: an applied edit of the plan is told once, as ``plan.revised`` and as an audit row. Taking a tail out
edits no node and makes no revision: the event names the steps that are not run.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from condor.core.outcome import skipped
from condor.core.recovery import (
    GateVerb,
    PlanMutationEvidence,
    decide_plan_mutation,
    evaluate_plan_mutation_gate,
)
from condor.core.run import SYSTEM, EventKind
from condor.core.suspend import Origin
from condor.pump.call import is_supervised_run
from condor.pump.segment import entry
from condor.pump.staging import decision_payload

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from condor.core.graph import Node
    from condor.core.ids import StepId
    from condor.core.recovery import CallFacts, GateRule, PlanMutationDecision
    from condor.core.recovery.substitution import Refusal
    from condor.pump.segment import Segment
    from condor.pump.staging import Staging


def keep_decision(
    segment: Segment,
    node: Node,
    decision: PlanMutationDecision,
    rule: GateRule,
    verb: GateVerb,
    candidate: CallFacts | None = None,
    *,
    stop: str = "",
    refused: Sequence[tuple[str, Refusal]] = (),
) -> None:
    """Stage what was decided about one attempt of a step.

    Args:
        stop: the ceiling that stood in the way.
        refused: the tools that might have stood in and may not, each with the reason.
    """
    attempt = segment.state.attempt(node.step_id)
    kept: dict[str, object] = {
        "stepId": node.step_id,
        "attempt": attempt,
        "decision": decision.kind,
        "rule": rule.rule_id,
        "verb": verb,
        "fromTool": node.tool,
    }
    if candidate is not None:
        kept["toTool"] = candidate.tool
    if stop:
        kept["stop"] = stop
    elif verb is not rule.verb:
        kept["ruleVerb"] = rule.verb
    if refused:
        kept["refused"] = [{"tool": tool, "because": because} for tool, because in refused]
    segment.payload(decision_payload(node.step_id, attempt), kept)


def audit_plan_kept(
    segment: Segment,
    node: Node,
    decision: PlanMutationDecision,
    rule: GateRule,
    verb: GateVerb,
    into: Staging | None = None,
) -> None:
    """Stage the audit row of a decision that edits nothing, after the one of the attempt that it is about."""
    segment.audit(
        entry(
            segment,
            "plan-kept",
            step_id=node.step_id,
            approval_id=node.step_id,
            reason_code=f"{decision.kind}:{verb}",
            rule_id=rule.rule_id,
            origin=Origin.PLAN_MUTATION,
            tool=node.tool or None,
            actor=SYSTEM.id,
        ),
        into,
    )


def prune(segment: Segment, blocked: Sequence[tuple[Node, StepId]]) -> None:
    """Take steps out of the plan that can no longer run; one edit for each step that they hang on.

    Args:
        blocked: in the order of the graph, each with the step for whose sake it cannot run.
    """
    root_of: dict[StepId, StepId] = {}
    tails: dict[StepId, list[StepId]] = {}
    for node, culprit in blocked:
        root = root_of[node.step_id] = root_of.get(culprit, culprit)
        tails.setdefault(root, []).append(node.step_id)
    for root, tail in tails.items():
        _tell_pruned(segment, root, tail)
    for node, culprit in blocked:
        segment.settle(node.step_id, skipped("upstream", f"because {culprit} did not succeed"))


def _tell_pruned(segment: Segment, root: StepId, tail: Sequence[StepId]) -> None:
    state = segment.state
    # INVARIANT: a blocked step is one of the compiled graph.
    assert state.graph is not None, "a tail without a graph"
    kind, rule_id = _why_pruned(segment, root)
    segment.event(
        EventKind.PLAN_REVISED,
        revision=state.graph.revision,
        verb=GateVerb.SKIP_REMAINING,
        stepId=root,
        coordinate=state.node(root).coordinate,
        decision=kind,
        rule=rule_id,
        skips=list(tail),
    )
    segment.audit(
        entry(
            segment,
            "plan-revised",
            step_id=root,
            approval_id=root,
            reason_code=f"{kind}:{GateVerb.SKIP_REMAINING}",
            rule_id=rule_id,
            origin=Origin.PLAN_MUTATION,
            tool=state.node(root).tool or None,
            actor=SYSTEM.id,
        )
    )
    # A tail may go in two pieces: the second waited for something that was still at work.
    name = f"decision:{root}:tail"
    before: Mapping[str, list[str]] = state.payload(name) or {"skips": []}
    segment.payload(
        name,
        {
            "stepId": root,
            "attempt": state.attempt(root),
            "decision": kind,
            "rule": rule_id,
            "verb": GateVerb.SKIP_REMAINING,
            "skips": [*before["skips"], *tail],
        },
    )


def _why_pruned(segment: Segment, root: StepId) -> tuple[str, str]:
    """Decision and rule: those that the gate spoke of this step, else what they say of its status."""
    state = segment.state
    kept = state.payload(decision_payload(root, state.attempt(root)))
    if kept is not None and kept["verb"] == GateVerb.SKIP_REMAINING:
        return str(kept["decision"]), str(kept["rule"])
    evidence = PlanMutationEvidence(
        status=state.statuses[root], terminal=False, supervised=is_supervised_run(state)
    )
    decision = decide_plan_mutation(evidence)
    return decision.kind, evaluate_plan_mutation_gate(decision, evidence).rule_id


__all__ = ["audit_plan_kept", "keep_decision", "prune"]
