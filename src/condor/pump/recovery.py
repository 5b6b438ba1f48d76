"""Recovery at work: what a leaf's outcome does to the plan of its run.

Law 1: evidence → decision → ledger → gate → verb, in this order, for every leaf. All of it is pure
(``core.recovery``); here it is applied, inside the graph that was compiled.
Law 2: a charge is stored in the transaction of what it pays for. An edit of the plan, its event, its audit
row, its charge and the step's next attempt are one unit.
Law 3: a step is not settled before its gate has spoken, so that nothing that hangs on it is pruned too early.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from condor.core.compiler import graph_to_json
from condor.core.compiler.leaves.tool_call import call_digest, call_facts, resolved_input
from condor.core.ids import digest_of
from condor.core.outcome import FULFILLED, StepOutcome, StepStatus, failed
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
    tighten,
)
from condor.core.recovery.substitution import asks_for_another, fidelity_of, way_of
from condor.core.run import EventKind
from condor.core.suspend import Origin
from condor.ports.deadline import Stragglers
from condor.ports.model import Confirmation, PlanMutationQuestion
from condor.ports.store import StepRow, SuspensionRow
from condor.pump.breaker import any_succeeded, charged, confirmers_stop, open_breaker, pay, worked_s
from condor.pump.call import draws_card, is_supervised_run, refused_stand_ins, stand_ins
from condor.pump.decisions import keep_decision
from condor.pump.plan_mutation_card import ask_first, edit_contract, held_outcome, hold, latest_edit_card
from condor.pump.segment import LookAgain, Segment, entry
from condor.pump.staging import LEDGER, Staging

if TYPE_CHECKING:
    from collections.abc import Sequence

    from condor.core.compiler.leaves import Suspend
    from condor.core.compiler.leaves.tool_call import ToolCallInput
    from condor.core.graph import CompiledGraph, Node
    from condor.core.ids import StepId
    from condor.core.recovery import CallFacts, GateRule, PlanMutationDecision

_log = logging.getLogger(__name__)
_STRAGGLERS = Stragglers()

#: Seconds that a confirmer may take; then a person is asked.
CONFIRM_S_MAX = 30.0

#: Stages the audit row of an attempt, once.
Audit = Callable[[StepOutcome], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Pass:
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
        return self.given.node.step_id


async def conclude(
    segment: Segment, given: ToolCallInput, outcome: StepOutcome, audit: Audit
) -> Suspend | None:
    """Settle a leaf, or put another tool in its place, or ask a person whether to."""
    evidence = PlanMutationEvidence(
        status=outcome.status,
        terminal=_graph(segment).is_terminal(given.node.step_id),
        supervised=is_supervised_run(segment.state),
        needs_replan=outcome.needs_replan,
    )
    decision = decide_plan_mutation(evidence)
    this = _Pass(given=given, outcome=outcome, evidence=evidence, decision=decision, audit=audit)
    cost = Charge(step=given.node.step_id, tokens=outcome.tokens, cost_usd=outcome.cost_usd)
    stop = pay(segment, cost, succeeded=outcome.status is StepStatus.SUCCEEDED)
    if stop is not None:
        # What the attempt did, it did; it is the run that ends here.
        _settle(segment, this, outcome)
        open_breaker(segment, stop, this.step_id)
        return None
    if evidence.is_quiet:
        _settle(segment, this, outcome)
        return None
    return await _through_the_gate(segment, this)


async def take_up(segment: Segment, given: ToolCallInput, audit: Audit) -> tuple[bool, Suspend | None]:
    """A step that waited for an edit of the plan: apply it if a person agreed, or ask anew.

    Returns:
        Whether there was one, and what to wait for now.
    """
    state, node = segment.state, given.node
    card = latest_edit_card(state, node.step_id)
    outcome = held_outcome(state, node) if card is not None else None
    if card is None or outcome is None:
        return False, None
    evidence = PlanMutationEvidence(
        status=outcome.status,
        terminal=_graph(segment).is_terminal(node.step_id),
        supervised=True,
        needs_replan=outcome.needs_replan,
    )
    this = _Pass(
        given=given,
        outcome=outcome,
        evidence=evidence,
        decision=decide_plan_mutation(evidence),
        audit=audit,
        told=True,
    )
    if card.status != "approved" or card.consumed:
        return True, await _through_the_gate(segment, this)
    found = _candidates(segment, this)
    candidate = next((facts for facts in found if facts.tool == card.tool), None)
    rule = _rule(this, found)
    if candidate is None:
        # What was agreed to is not possible any more: the step ends as it had ended.
        segment.facts.consume.append(card.suspend_id)
        _settle(segment, this, outcome)
        return True, None
    _keep(segment, this, rule, GateVerb.RETRY_WITH_DIFFERENT_TOOL, candidate)
    await _apply(segment, this, rule, candidate, card=card)
    return True, None


# -- the gate --------------------------------------------------------------------------------


async def _through_the_gate(segment: Segment, this: _Pass) -> Suspend | None:
    found = _candidates(segment, this)
    rule = _rule(this, found)
    if rule.verb in (GateVerb.NONE, GateVerb.SKIP_REMAINING) and not rule.replan:
        _keep(segment, this, rule, rule.verb)
        _settle(segment, this, this.outcome)
        return None
    candidate = found[0] if found else None
    charge = _charge_of(this, rule, candidate)
    stop = segment.state.ledger.charge(
        charge, worked_s=worked_s(segment), any_succeeded=any_succeeded(segment)
    )
    if isinstance(stop, BreakerStop):
        _keep(segment, this, rule, GateVerb.HALT, candidate, stop=stop.limit)
        _trip(segment, this, stop)
        return None
    if candidate is None:
        _keep(segment, this, rule, rule.verb)
        segment.facts.absorb(charged(segment, charge) or Staging())
        _settle(segment, this, this.outcome)
        return None
    verb = await _confirmed(segment, this, rule, candidate) if rule.ambiguous else rule.verb
    if isinstance(verb, BreakerStop):
        _keep(segment, this, rule, GateVerb.HALT, candidate, stop=verb.limit)
        _trip(segment, this, verb)
        return None
    _keep(segment, this, rule, verb, candidate)
    match verb:
        case GateVerb.PARK:
            return _park(segment, this, rule, candidate)
        case GateVerb.SKIP_REMAINING:
            _settle(segment, this, this.outcome)
        case GateVerb.HALT:
            _trip(segment, this, confirmers_stop(segment))
        case _:
            await _apply(segment, this, rule, candidate)
    return None


def _candidates(segment: Segment, this: _Pass) -> Sequence[CallFacts]:
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


def _rule(this: _Pass, found: Sequence[CallFacts]) -> GateRule:
    same = bool(found) and found[0].tool == this.given.tool.name
    way = way_of(() if same else found, same=same)
    return evaluate_plan_mutation_gate(this.decision, replace(this.evidence, way=way))


def _keep(
    segment: Segment,
    this: _Pass,
    rule: GateRule,
    verb: GateVerb,
    candidate: CallFacts | None = None,
    *,
    stop: str = "",
) -> None:
    refused = () if candidate is not None else refused_stand_ins(segment.ports, this.given, this.outcome)
    keep_decision(segment, this.given.node, this.decision, rule, verb, candidate, stop=stop, refused=refused)


def _charge_of(this: _Pass, rule: GateRule, candidate: CallFacts | None) -> Charge:
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


async def _confirmed(
    segment: Segment, this: _Pass, rule: GateRule, candidate: CallFacts
) -> GateVerb | BreakerStop:
    """The rule's verb, or something stricter that a second model chose; a stop where asking cost too much."""
    confirmer = segment.ports.confirmer
    if confirmer is None:
        return rule.verb
    question = PlanMutationQuestion(
        rule_id=rule.rule_id,
        why=rule.why,
        verb=rule.verb,
        evidence=this.evidence,
        from_tool=this.given.tool.name,
        to_tool=candidate.tool,
        fidelity=fidelity_of(candidate),
    )
    try:
        about = f"the confirmer of {segment.state.run_id}/{this.step_id}"
        said = await _STRAGGLERS.within(confirmer.confirm(question), CONFIRM_S_MAX, about)
        cost = Charge(step=this.step_id, tokens=said.tokens, cost_usd=said.cost_usd)
    except Exception:  # noqa: BLE001 - whatever a model does, a person is asked
        _log.warning("the confirmer failed; a person is asked", exc_info=True)
        said, cost = Confirmation(verb=GateVerb.PARK), Charge(step=this.step_id)
    return pay(segment, cost) or tighten(rule.verb, said.verb)


def _park(segment: Segment, this: _Pass, rule: GateRule, candidate: CallFacts) -> Suspend:
    if not this.told:
        hold(segment, this.step_id, this.outcome)
        this.audit(this.outcome)
    return ask_first(segment, this.given, this.outcome, rule, candidate)


# -- verbs -----------------------------------------------------------------------------------


async def _apply(
    segment: Segment,
    this: _Pass,
    rule: GateRule,
    candidate: CallFacts,
    *,
    card: SuspensionRow | None = None,
) -> None:
    """Put the tool at the step's coordinate; the step is pending again, under its own id.

    1. charge; 2. the edited graph, under its own name; 3. the step's next attempt; 4. event; 5. audit row:
    one unit. An answer that came between is looked at first; one that stops the run leaves the step as it
    ended.
    """
    state, charge = segment.state, _charge_of(this, rule, candidate)
    after = state.ledger.charge(charge, worked_s=worked_s(segment), any_succeeded=any_succeeded(segment))
    if isinstance(after, BreakerStop):
        if card is not None:
            segment.facts.consume.append(card.suspend_id)
        _keep(segment, this, rule, GateVerb.HALT, candidate, stop=after.limit)
        _trip(segment, this, after)
        return
    state.ledger = after
    told = this.told
    while True:
        async with segment.editing:
            if state.halt is not None or segment.leaving:
                break
            if not told:
                segment.tell_end(this.step_id, this.outcome)
                this.audit(this.outcome)
                told = True
            attempt = state.row(this.step_id).attempt + 1
            graph = substitute_tool(_graph(segment), this.step_id, candidate, attempt=attempt)
            moves = Staging()
            _stage_edit(segment, this, rule, candidate, graph.by_id[this.step_id], moves, card)
            segment.payload(LEDGER, state.ledger.to_json(), moves)
            segment.payload(graph_payload(graph.revision), graph_to_json(graph), moves)
            try:
                await segment.commit(moves)
            except LookAgain:
                pass
            else:
                state.revise_graph(graph)
                return
        await segment.look_again()
    _settle(segment, replace(this, told=told), this.outcome)


def _stage_edit(
    segment: Segment,
    this: _Pass,
    rule: GateRule,
    candidate: CallFacts,
    node: Node,
    moves: Staging,
    card: SuspensionRow | None,
) -> None:
    before = _graph(segment)
    if card is not None:
        moves.consume.append(card.suspend_id)
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
            contract_hash=edit_contract(before, this.given.node, candidate.tool),
            actor=card.decided_by if card is not None else None,
        ),
        moves,
    )


def _settle(segment: Segment, this: _Pass, outcome: StepOutcome) -> None:
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


def _trip(segment: Segment, this: _Pass, stop: BreakerStop) -> None:
    """The breaker opens on this leaf; what only asked for another way and got none has failed."""
    outcome = this.outcome
    is_read = not segment.ports.toolbox.is_effectful(this.given.tool)
    if outcome.needs_replan and outcome.status in FULFILLED and is_read:
        unmet = failed("replan_unmet", "the tool kept asking for another way")
        outcome = replace(unmet, value=outcome.value)
    _settle(segment, this, outcome)
    open_breaker(segment, stop, this.step_id)


def _graph(segment: Segment) -> CompiledGraph:
    graph = segment.state.graph
    # INVARIANT: a leaf is a node of the compiled graph.
    assert graph is not None, "a leaf without a graph"
    return graph
