"""Recovery at work: what a leaf's outcome does to the plan of its run.

Law 1: evidence → decision → ledger → gate → verb, in this order, for every leaf. All of it is pure
(``core.recovery``); here it is applied, inside the graph that was compiled.
Law 2: a step is not settled before its gate has spoken, so that nothing that hangs on it is pruned too early.
Law 3: a second model may make a verb stricter, never looser.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from condor.core.outcome import StepStatus
from condor.core.recovery import BreakerStop, Charge, GateVerb, tighten
from condor.core.recovery.substitution import fidelity_of
from condor.ports.deadline import Stragglers, called
from condor.ports.model import Confirmation, PlanMutationQuestion
from condor.pump.breaker import any_succeeded, charged, confirmers_stop, open_breaker, pay, worked_s
from condor.pump.plan_edit import (
    Pass,
    apply_edit,
    candidates_of,
    charge_of,
    held_pass,
    keep,
    leave_plan,
    pass_of,
    rule_of,
    settle,
    trip,
)
from condor.pump.plan_mutation_card import ask_first, hold, latest_edit_card
from condor.pump.staging import Staging
from condor.pump.time_left import left_s

if TYPE_CHECKING:
    from condor.core.compiler.leaves import Suspend
    from condor.core.compiler.leaves.tool_call import ToolCallInput
    from condor.core.outcome import StepOutcome
    from condor.core.recovery import CallFacts, GateRule
    from condor.pump.plan_edit import Audit
    from condor.pump.segment import Segment

_log = logging.getLogger(__name__)
_STRAGGLERS = Stragglers()

#: Seconds that a confirmer may take; then a person is asked.
CONFIRM_S_MAX = 30.0


async def conclude(
    segment: Segment, given: ToolCallInput, outcome: StepOutcome, audit: Audit
) -> Suspend | None:
    """Settle a leaf, or put another tool in its place, or ask a person whether to."""
    this = pass_of(segment, given, outcome, audit)
    stop = _pay_for(segment, given, outcome) if outcome.tokens or outcome.cost_usd else None
    if stop is not None:
        # What the attempt did, it did; it is the run that ends here.
        settle(segment, this, outcome)
        open_breaker(segment, stop, this.step_id)
        return None
    if this.evidence.is_quiet:
        settle(segment, this, outcome)
        return None
    return await _through_the_gate(segment, this)


def _pay_for(segment: Segment, given: ToolCallInput, outcome: StepOutcome) -> BreakerStop | None:
    cost = Charge(step=given.node.step_id, tokens=outcome.tokens, cost_usd=outcome.cost_usd)
    return pay(segment, cost, succeeded=outcome.status is StepStatus.SUCCEEDED)


async def take_up(segment: Segment, given: ToolCallInput, audit: Audit) -> tuple[bool, Suspend | None]:
    """A step that waited for an edit of the plan: apply it if a person agreed, or ask anew.

    Returns:
        Whether there was one, and what to wait for now.
    """
    card = latest_edit_card(segment.state, given.node.step_id)
    this = held_pass(segment, given, audit) if card is not None else None
    if card is None or this is None:
        return False, None
    if card.status != "approved" or card.consumed:
        return True, await _through_the_gate(segment, this)
    found = candidates_of(segment, this)
    candidate = next((facts for facts in found if facts.tool == card.tool), None)
    if candidate is None:
        # What was agreed to is not possible any more: the gate says what is.
        segment.facts.use_up(card.suspend_id)
    elif await apply_edit(segment, this, rule_of(this, found), candidate, card=card):
        return True, None
    return True, await _through_the_gate(segment, this)


# -- the gate --------------------------------------------------------------------------------


async def _through_the_gate(segment: Segment, this: Pass) -> Suspend | None:
    found = candidates_of(segment, this)
    rule = rule_of(this, found)
    if rule.verb in (GateVerb.NONE, GateVerb.SKIP_REMAINING) and not rule.replan:
        keep(segment, this, rule, rule.verb)
        leave_plan(segment, this, rule, rule.verb)
        return None
    candidate = found[0] if found else None
    charge = charge_of(this, rule, candidate)
    stop = segment.state.ledger.charge(
        charge, worked_s=worked_s(segment), any_succeeded=any_succeeded(segment)
    )
    if isinstance(stop, BreakerStop):
        keep(segment, this, rule, GateVerb.HALT, candidate, stop=stop.limit)
        trip(segment, this, stop)
        return None
    if candidate is None:
        keep(segment, this, rule, rule.verb)
        segment.facts.absorb(charged(segment, charge) or Staging())
        leave_plan(segment, this, rule, rule.verb)
        return None
    verb = await _confirmed(segment, this, rule, candidate) if rule.ambiguous else rule.verb
    if isinstance(verb, BreakerStop):
        keep(segment, this, rule, GateVerb.HALT, candidate, stop=verb.limit)
        trip(segment, this, verb)
        return None
    return await _carried_out(segment, this, rule, verb, candidate)


async def _carried_out(
    segment: Segment, this: Pass, rule: GateRule, verb: GateVerb, candidate: CallFacts
) -> Suspend | None:
    """Do what the gate, or who confirmed it, said."""
    if verb is GateVerb.RETRY_WITH_DIFFERENT_TOOL:
        await apply_edit(segment, this, rule, candidate)
        return None
    keep(segment, this, rule, verb, candidate)
    match verb:
        case GateVerb.PARK:
            return _park(segment, this, rule, candidate)
        case GateVerb.HALT:
            trip(segment, this, confirmers_stop(segment))
        case _:
            leave_plan(segment, this, rule, verb)
    return None


async def _confirmed(
    segment: Segment, this: Pass, rule: GateRule, candidate: CallFacts
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
        work = called(confirmer.confirm, question)
        said = await _STRAGGLERS.within(work, min(CONFIRM_S_MAX, left_s(segment)), about)
        cost = Charge(step=this.step_id, tokens=said.tokens, cost_usd=said.cost_usd)
    except Exception:  # noqa: BLE001 - whatever a model does, a person is asked
        _log.warning("the confirmer failed; a person is asked", exc_info=True)
        said, cost = Confirmation(verb=GateVerb.PARK), Charge(step=this.step_id)
    return pay(segment, cost) or tighten(rule.verb, said.verb)


def _park(segment: Segment, this: Pass, rule: GateRule, candidate: CallFacts) -> Suspend:
    if not this.told:
        hold(segment, this.step_id, this.outcome)
        this.audit(this.outcome)
    return ask_first(segment, this.given, this.outcome, rule, candidate)
