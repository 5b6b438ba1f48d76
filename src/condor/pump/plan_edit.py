"""An edit of a run's plan: which tool may do a step's work, what a person agrees to, and its application.

Law 1: a charge is stored in the transaction of what it pays for. An edit, its event, its audit row, its
charge, the decision it follows from and the step's next attempt are one unit; what is not made costs nothing.
Law 2: one edit at a time. What a person agreed to is held against the plan and the tools as they are when it
is made; after another edit, or with another call of the substitute, it is another contract, and asked anew.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from condor.core.compiler import graph_to_json
from condor.core.compiler.leaves.tool_call import call_digest, call_facts, resolved_input
from condor.core.ids import digest_of
from condor.core.outcome import FULFILLED, StepOutcome, StepStatus, failed, skipped
from condor.core.plan.revision import graph_payload
from condor.core.recovery import (
    BreakerStop,
    Charge,
    GateVerb,
    PlanMutationEvidence,
    decide_plan_mutation,
    evaluate_plan_mutation_gate,
    requery_tools,
    substitute_tool,
)
from condor.core.recovery.substitution import asks_for_another, way_of
from condor.core.run import EventKind
from condor.core.suspend import Origin
from condor.core.values import dataclass
from condor.ports.store import StepRow, SuspensionRow
from condor.pump.breaker import any_succeeded, open_breaker, refund, worked_s
from condor.pump.call import (
    call_of,
    draws_card,
    is_supervised_run,
    refused_stand_ins,
    stand_ins,
    tool_here,
)
from condor.pump.decisions import audit_plan_kept, keep_decision
from condor.pump.plan_mutation_card import edit_contract, held_outcome
from condor.pump.segment import LookAgain, Segment, entry
from condor.pump.staging import LEDGER, Staging

if TYPE_CHECKING:
    from collections.abc import Sequence

    from condor.core.compiler.leaves.tool_call import ToolCallInput
    from condor.core.graph import CompiledGraph, Node
    from condor.core.ids import StepId
    from condor.core.recovery import CallFacts, GateRule, PlanMutationDecision

#: Stages the audit row of an attempt, once.
Audit = Callable[[StepOutcome], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Pass:
    """One leaf on its way through the gate."""

    given: ToolCallInput
    outcome: StepOutcome
    evidence: PlanMutationEvidence
    decision: PlanMutationDecision
    audit: Audit
    #: How the attempt ended is in the log already: a person was asked about the edit.
    told: bool = False

    @property
    def step_id(self) -> StepId:
        """The leaf's step."""
        return self.given.node.step_id


def pass_of(segment: Segment, given: ToolCallInput, outcome: StepOutcome, audit: Audit) -> Pass:
    """A leaf that has just come back."""
    return _pass(segment, given, outcome, audit, supervised=is_supervised_run(segment.state))


def held_pass(segment: Segment, given: ToolCallInput, audit: Audit) -> Pass | None:
    """A leaf that waits for an edit of the plan; None where it waits for none."""
    outcome = held_outcome(segment.state, given.node)
    if outcome is None:
        return None
    return replace(_pass(segment, given, outcome, audit, supervised=True), told=True)


def _pass(
    segment: Segment, given: ToolCallInput, outcome: StepOutcome, audit: Audit, *, supervised: bool
) -> Pass:
    evidence = PlanMutationEvidence(
        status=outcome.status,
        terminal=graph_of(segment).is_terminal(given.node.step_id),
        supervised=supervised,
        needs_replan=outcome.needs_replan,
    )
    decision = decide_plan_mutation(evidence)
    return Pass(given=given, outcome=outcome, evidence=evidence, decision=decision, audit=audit)


# -- what may be done ------------------------------------------------------------------------


def candidates_of(segment: Segment, this: Pass) -> Sequence[CallFacts]:
    """Tools that may do it instead, best first; a read that asks for another way may also be asked again."""
    outcome, given = this.outcome, this.given
    is_read = not segment.ports.toolbox.is_effectful(given.tool)
    if not (this.told or asks_for_another(outcome, effectful=not is_read)):
        return ()
    own = call_facts(given)
    found = requery_tools(
        own, stand_ins(segment.ports, given), absent=outcome.absent or is_read, tried=given.node.tried
    )
    return found or ((own,) if is_read and outcome.needs_replan else ())


def rule_of(this: Pass, found: Sequence[CallFacts]) -> GateRule:
    """The row of the gate that speaks."""
    same = bool(found) and found[0].tool == this.given.tool.name
    way = way_of(() if same else found, same=same)
    return evaluate_plan_mutation_gate(this.decision, replace(this.evidence, way=way))


def charge_of(this: Pass, rule: GateRule, candidate: CallFacts | None) -> Charge:
    """What this pass costs."""
    own = this.given.tool.name
    to_tool = candidate.tool if candidate is not None else ""
    again = to_tool == own
    return Charge(
        step=this.step_id,
        plan_mutations=1,
        replans=int(rule.replan),
        retries=int(again),
        repeats=call_digest(own, resolved_input(this.given)) if again else "",
        decides=digest_of([this.decision.kind, rule.rule_id, own, to_tool]),
    )


def edit_drift(segment: Segment, row: SuspensionRow) -> str | None:
    """Why an edit of the plan is no longer the one that a card showed; None where it is.

    Raises:
        StaleSuspension: this process has not both tools.
    """
    state = segment.state
    node = state.node(row.step_id)
    tool = tool_here(segment.ports, node.tool)
    tool_here(segment.ports, row.tool)
    this = held_pass(segment, call_of(state, segment.ports, node, tool), lambda _: None)
    found = candidates_of(segment, this) if this is not None else ()
    candidate = next((facts for facts in found if facts.tool == row.tool), None)
    if candidate is None:
        return f"{row.tool} may not do this step any more"
    if edit_contract(segment, node, candidate) == row.contract_hash:
        return None
    return f"the plan has been edited since the card was shown, or {row.tool} would be called otherwise"


def decline_edit(segment: Segment, row: SuspensionRow, moves: Staging) -> None:
    """A person said no to an edit: the step ends as it had ended, by a rule of the gate like any other."""
    state = segment.state
    node = state.node(row.step_id)
    outcome = held_outcome(state, node)
    if outcome is None:
        segment.settle(row.step_id, skipped("denied", ""))
        return
    evidence = PlanMutationEvidence(
        status=outcome.status,
        terminal=graph_of(segment).is_terminal(row.step_id),
        supervised=True,
        needs_replan=outcome.needs_replan,
        declined=True,
    )
    decision = decide_plan_mutation(evidence)
    rule = evaluate_plan_mutation_gate(decision, evidence)
    keep_decision(segment, node, decision, rule, rule.verb)
    segment.settle(row.step_id, outcome)
    if rule.verb is GateVerb.NONE:
        audit_plan_kept(segment, node, decision, rule, rule.verb, moves)


# -- verbs -----------------------------------------------------------------------------------


async def apply_edit(
    segment: Segment,
    this: Pass,
    rule: GateRule,
    candidate: CallFacts,
    *,
    card: SuspensionRow | None = None,
) -> bool:
    """Put the tool at the step's coordinate; the step is pending again, under its own id.

    1. charge; 2. the edited graph, under its own name; 3. the step's next attempt; 4. event; 5. audit row:
    one unit. An answer that came between is looked at first, with the charge given back; one that stops the
    run leaves the step as it ended.

    Args:
        card: the approved one, where a person was asked.

    Returns:
        False where the card's edit is not this one any more: it is to be asked anew, and nothing was done.
    """
    state, charge = segment.state, charge_of(this, rule, candidate)
    while True:
        async with segment.editing:
            if state.halt is not None or segment.leaving:
                _leave_as_it_ended(segment, this, rule, candidate)
                return True
            if card is not None and edit_contract(segment, this.given.node, candidate) != card.contract_hash:
                segment.facts.use_up(card.suspend_id)
                return False
            if not _charge(segment, this, rule, candidate, card, charge):
                return True
            keep(segment, this, rule, GateVerb.RETRY_WITH_DIFFERENT_TOOL, candidate)
            if not this.told:
                segment.tell_end(this.step_id, this.outcome)
                this.audit(this.outcome)
                this = replace(this, told=True)
            attempt = state.row(this.step_id).attempt + 1
            graph = substitute_tool(graph_of(segment), this.step_id, candidate, attempt=attempt)
            moves = Staging()
            _stage_edit(segment, this, rule, candidate, graph.by_id[this.step_id], moves, card)
            segment.payload(LEDGER, state.ledger.to_json(), moves)
            segment.payload(graph_payload(graph.revision), graph_to_json(graph), moves)
            try:
                await segment.commit(moves)
            except LookAgain:
                refund(segment, charge)
            else:
                state.revise_graph(graph)
                return True
        await segment.look_again()


def _leave_as_it_ended(segment: Segment, this: Pass, rule: GateRule, candidate: CallFacts) -> None:
    """The run stops: the edit is not made, and the step ends as it had ended."""
    keep(segment, this, rule, GateVerb.HALT, candidate)
    settle(segment, this, this.outcome)


def _charge(
    segment: Segment,
    this: Pass,
    rule: GateRule,
    candidate: CallFacts,
    card: SuspensionRow | None,
    charge: Charge,
) -> bool:
    """Charge for the edit that is made next; False where the breaker opens instead."""
    state = segment.state
    after = state.ledger.charge(charge, worked_s=worked_s(segment), any_succeeded=any_succeeded(segment))
    if not isinstance(after, BreakerStop):
        state.ledger = after
        return True
    if card is not None:
        segment.facts.use_up(card.suspend_id)
    keep(segment, this, rule, GateVerb.HALT, candidate, stop=after.limit)
    trip(segment, this, after)
    return False


def _stage_edit(
    segment: Segment,
    this: Pass,
    rule: GateRule,
    candidate: CallFacts,
    node: Node,
    moves: Staging,
    card: SuspensionRow | None,
) -> None:
    before = graph_of(segment)
    if card is not None:
        moves.use_up(card.suspend_id)
    moves.step(StepRow(step_id=this.step_id, status=StepStatus.PENDING, attempt=node.since))
    segment.event(
        EventKind.PLAN_REVISED,
        moves,
        revision=before.revision + 1,
        verb=GateVerb.RETRY_WITH_DIFFERENT_TOOL,
        stepId=this.step_id,
        coordinate=node.coordinate,
        fromTool=this.given.tool.name,
        toTool=candidate.tool,
        fidelity=node.fidelity,
        decision=this.decision.kind,
        rule=rule.rule_id,
        replan=rule.replan or None,
        graph=graph_payload(before.revision + 1),
    )
    segment.audit(
        entry(
            segment,
            "plan-revised",
            step_id=this.step_id,
            approval_id=this.step_id,
            suspend_id=card.suspend_id if card is not None else None,
            reason_code=f"{this.decision.kind}:{GateVerb.RETRY_WITH_DIFFERENT_TOOL}",
            rule_id=rule.rule_id,
            origin=Origin.PLAN_MUTATION,
            tool=candidate.tool,
            policy_class=candidate.policy_class,
            hitl_tier=candidate.declared_tier,
            contract_hash=edit_contract(segment, this.given.node, candidate),
            actor=card.decided_by if card is not None else None,
        ),
        moves,
    )


def keep(
    segment: Segment,
    this: Pass,
    rule: GateRule,
    verb: GateVerb,
    candidate: CallFacts | None = None,
    *,
    stop: str = "",
) -> None:
    """Keep what was decided, for the end of the attempt and for whoever asks later."""
    refused = () if candidate is not None else refused_stand_ins(segment.ports, this.given, this.outcome)
    keep_decision(segment, this.given.node, this.decision, rule, verb, candidate, stop=stop, refused=refused)


def leave_plan(segment: Segment, this: Pass, rule: GateRule, verb: GateVerb) -> None:
    """The leaf has ended and its own coordinate stays as it is; what hangs on it may still be pruned."""
    settle(segment, this, this.outcome)
    if verb is GateVerb.NONE or graph_of(segment).is_terminal(this.step_id):
        audit_plan_kept(segment, this.given.node, this.decision, rule, verb)


def settle(segment: Segment, this: Pass, outcome: StepOutcome) -> None:
    """The leaf has ended. What stands in for another and does less has done it in part."""
    given = this.given
    if given.node.fidelity == "degraded" and outcome.status is StepStatus.SUCCEEDED:
        outcome = replace(outcome, status=StepStatus.DEGRADED, code="substitute")
    segment.settle(
        this.step_id,
        outcome,
        effectful=segment.ports.toolbox.is_effectful(given.tool),
        drawn_by=draws_card(given),
    )
    if not this.told:
        this.audit(outcome)


def trip(segment: Segment, this: Pass, stop: BreakerStop) -> None:
    """The breaker opens on this leaf; what only asked for another way and got none has failed."""
    outcome = this.outcome
    is_read = not segment.ports.toolbox.is_effectful(this.given.tool)
    if outcome.needs_replan and outcome.status in FULFILLED and is_read:
        unmet = failed("replan_unmet", "the tool kept asking for another way")
        outcome = replace(unmet, value=outcome.value)
    settle(segment, this, outcome)
    open_breaker(segment, stop, this.step_id)


def graph_of(segment: Segment) -> CompiledGraph:
    """The compiled graph, as edited by now."""
    graph = segment.state.graph
    # INVARIANT: a leaf is a node of the compiled graph.
    assert graph is not None, "a leaf without a graph"
    return graph


__all__ = [
    "Audit",
    "Pass",
    "apply_edit",
    "candidates_of",
    "charge_of",
    "decline_edit",
    "edit_drift",
    "graph_of",
    "held_pass",
    "keep",
    "leave_plan",
    "pass_of",
    "rule_of",
    "settle",
    "trip",
]
