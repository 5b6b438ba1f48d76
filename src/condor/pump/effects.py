"""Effects: journalled, entered once, and found out about when their outcome is unknown.

Law 1: an effect is journalled as started, with its idempotency key, before its tool is entered.
Law 2: an effect of unknown outcome runs again only under the same key and only if its tool is
idempotent or its absence is proven; else the outside system is asked; else a person.
"""

from __future__ import annotations

from dataclasses import replace

from condor.core.compiler.leaves import Execute, NeedEvidence, Suspend, check_leaf
from condor.core.compiler.leaves.tool_call import (
    ToolCallInput,
    ask_for_input,
    call_digest,
    reconcile_request,
    resolved_input,
    tool_call_leaf,
)
from condor.core.errors import ToolError
from condor.core.ids import Digest
from condor.core.outcome import NeedInput, StepOutcome, StepStatus, classify_step_outcome, failed
from condor.core.recovery import Charge
from condor.core.run import EventKind, Principal
from condor.core.suspend import idempotency_key
from condor.core.values import dataclass
from condor.pump.breaker import charged
from condor.pump.call import decided_by, invocation_of, what_came_of_it
from condor.pump.recovery import conclude
from condor.pump.retries import may_try_again
from condor.pump.segment import Segment, entry
from condor.pump.staging import Staging
from condor.pump.time_left import FIND_OUT_S_MIN, is_time_left, left_s

#: How often one effect may be entered under its key: the first time, and twice after an unknown
#: outcome (once after a crash, once after a timeout of that). Then a person is asked.
EFFECT_ATTEMPTS_MAX = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class _Effect:
    """An effect that is journalled: what it takes to enter it, again if need be."""

    given: ToolCallInput
    key: str
    versions: dict[str, str]
    contract_hash: Digest
    op: str | None
    approved_by: Principal | None


async def run_effect(segment: Segment, given: ToolCallInput, leaf: Execute, *, seen: int) -> Suspend | None:
    """Journal the intent, then enter the tool.

    Args:
        seen: answers that were known when the leaf decided; one more, and it decides again.
    """
    state, step_id = segment.state, given.node.step_id
    segment.ports.faults("step.decided")
    approver: Principal | None = None
    if leaf.approval is not None:
        approver = decided_by(state, state.suspensions[leaf.approval])
    key = idempotency_key(
        run_id=state.run_id, step_id=step_id, tool=given.tool.name, resolved_input=resolved_input(given)
    )
    effect = _Effect(
        given=given,
        key=key,
        versions=dict(leaf.versions),
        contract_hash=leaf.contract_hash,
        op=leaf.op,
        approved_by=approver,
    )
    await _journal(segment, effect, leaf, seen=seen)
    return await _enter(segment, effect)


async def _journal(segment: Segment, effect: _Effect, leaf: Execute, *, seen: int) -> None:
    given, step_id = effect.given, effect.given.node.step_id
    moves = Staging()
    moves.step(replace(segment.state.row(step_id), status=StepStatus.STARTED, key=effect.key, code=""))
    if leaf.approval is not None:
        moves.use_up(leaf.approval)
    args = given.node.payload("args")
    segment.payload(
        args,
        {
            "args": leaf.args,
            "answers": given.answers,
            "versions": effect.versions,
            "contractHash": effect.contract_hash,
            "op": effect.op,
            "approvedBy": effect.approved_by.to_json() if effect.approved_by else None,
        },
        moves,
    )
    segment.event(
        EventKind.STEP_STARTED,
        moves,
        stepId=step_id,
        tool=given.tool.name,
        args=args,
        attempt=given.node.since if given.node.since > 1 else None,
    )
    if leaf.verdict.allowed and leaf.approval is None:
        segment.audit(
            entry(
                segment,
                "allowed",
                step_id=step_id,
                approval_id=step_id,
                tool=given.tool.name,
                op=leaf.op,
                policy_class=leaf.verdict.policy_class,
                hitl_tier=given.tool.hitl_tier,
                effective_tier=leaf.verdict.effective_tier,
                promotions=leaf.verdict.promotions,
                rule_id=leaf.verdict.rule_id,
                contract_hash=effect.contract_hash,
            ),
            moves,
        )
    segment.ports.faults("intent.staged")
    await segment.commit(moves, seen=seen)
    segment.ports.faults("intent.committed")


async def _enter(segment: Segment, effect: _Effect) -> Suspend | None:
    """Enter the tool; what comes of it is a fact, whatever was answered meanwhile."""
    given, step_id = effect.given, effect.given.node.step_id
    returned = await segment.ports.toolbox.invoke(
        invocation_of(
            segment.state,
            given,
            approved_by=effect.approved_by,
            key=effect.key,
            versions=effect.versions,
            left_s=left_s(segment),
        )
    )
    segment.ports.faults("tool.returned")
    outcome = classify_step_outcome(returned, effectful=True)
    if isinstance(outcome, NeedInput):
        segment.note_step(segment.state.row(step_id).moved(StepStatus.PENDING))
        return ask_for_input(given, outcome)
    if outcome.record_moved:
        return await _ask_again(segment, effect, outcome)
    if outcome.status is StepStatus.UNKNOWN:
        return await _resolve(segment, effect, outcome)
    spent = await may_try_again(segment, given, outcome) if outcome.may_retry else None
    if spent is not None:
        return await _enter_again(segment, effect, spent)
    asked = await _conclude(segment, effect, outcome, decision="executed")
    segment.ports.faults("outcome.staged")
    return asked


async def _conclude(
    segment: Segment, effect: _Effect, outcome: StepOutcome, *, decision: str
) -> Suspend | None:
    step_id = effect.given.node.step_id

    def audit(ended: StepOutcome) -> None:
        segment.audit(
            entry(
                segment,
                decision,
                step_id=step_id,
                approval_id=step_id,
                tool=effect.given.tool.name,
                op=effect.op,
                contract_hash=effect.contract_hash,
                reason_code=what_came_of_it(ended),
                actor=effect.approved_by.id if effect.approved_by else segment.state.requester.id,
            )
        )

    return await conclude(segment, effect.given, outcome, audit)


async def _ask_again(segment: Segment, effect: _Effect, outcome: StepOutcome) -> Suspend | None:
    """The record moved and nothing was written: a new card shows what it is now."""
    given, step_id = effect.given, effect.given.node.step_id
    segment.note_step(segment.state.row(step_id).moved(StepStatus.PENDING, code=outcome.code))
    fresh = replace(given, approval=None, evidence=None)
    leaf = check_leaf(tool_call_leaf(fresh), step_id)
    if isinstance(leaf, NeedEvidence):
        await segment.commit()  # the preview may take its time, and the outcome is known
        try:
            call = invocation_of(segment.state, given, left_s=left_s(segment))
            fresh = replace(fresh, evidence=await segment.ports.toolbox.preview(call))
        except ToolError as error:
            return await _conclude(segment, effect, failed(error.code, str(error)), decision="executed")
        leaf = check_leaf(tool_call_leaf(fresh), step_id)
    if isinstance(leaf, Suspend):
        return Suspend(request=replace(leaf.request, message=outcome.message))
    # Nobody was asked the first time (a routine write): the step fails with what moved.
    return await _conclude(segment, effect, failed(outcome.code, outcome.message), decision="executed")


# -- unknown outcomes ------------------------------------------------------------------------


async def resume_effect(segment: Segment, given: ToolCallInput) -> Suspend | None:
    """A journalled effect without an outcome: this process or another died in between."""
    step_id = given.node.step_id
    stored = segment.state.payload(given.node.payload("args"))
    row = segment.state.row(step_id)
    if stored is None or row.key is None:
        return reconcile_request(
            given, Digest(""), "what was called has been erased; only the record can tell"
        )
    approved = stored.get("approvedBy")
    effect = _Effect(
        given=replace(given, args=stored["args"], answers=stored.get("answers", {})),
        key=row.key,
        versions=stored["versions"],
        contract_hash=Digest(stored["contractHash"]),
        op=stored["op"],
        approved_by=Principal.from_json(approved) if approved else None,
    )
    crashed = StepOutcome(
        status=StepStatus.UNKNOWN,
        code="interrupted",
        message="the process ended before the outcome was known",
    )
    return await _resolve(segment, effect, crashed)


async def _resolve(segment: Segment, effect: _Effect, outcome: StepOutcome) -> Suspend | None:
    """Find out what happened: the same key again, else the outside system, else a person."""
    given, step_id = effect.given, effect.given.node.step_id
    row = segment.state.row(step_id)
    if row.status is not StepStatus.UNKNOWN or row.code != outcome.code:
        _note_unknown(segment, effect, outcome)
        await segment.commit()
    retry = Charge(step=step_id, retries=1, repeats=call_digest(given.tool.name, resolved_input(given)))
    may_again = row.attempt - given.node.since + 1 < EFFECT_ATTEMPTS_MAX and is_time_left(segment)
    spent = charged(segment, retry) if may_again and given.tool.idempotent else None
    if spent is not None:
        return await _enter_again(segment, effect, spent)
    answer = await segment.ports.toolbox.reconcile(
        invocation_of(
            segment.state,
            given,
            approved_by=effect.approved_by,
            key=effect.key,
            versions=effect.versions,
            left_s=max(left_s(segment), FIND_OUT_S_MIN),
        )
    )
    if answer.happened is True:
        done = StepOutcome(status=StepStatus.SUCCEEDED, value=answer.value)
        return await _conclude(segment, effect, done, decision="reconciled")
    spent = charged(segment, retry) if may_again and answer.happened is False else None
    if spent is not None:
        return await _enter_again(segment, effect, spent)
    if answer.happened is False:
        return await _conclude(segment, effect, failed(outcome.code, outcome.message), decision="reconciled")
    return reconcile_request(
        given, effect.contract_hash, f"It is not known whether this happened: {outcome.message}."
    )


def _note_unknown(segment: Segment, effect: _Effect, outcome: StepOutcome) -> None:
    step_id = effect.given.node.step_id
    row = segment.state.row(step_id).moved(StepStatus.UNKNOWN, code=outcome.code)
    segment.state.put_step(row)
    segment.facts.step(row)
    segment.event(EventKind.STEP_SETTLED, stepId=step_id, status=StepStatus.UNKNOWN, code=outcome.code)
    segment.audit(
        entry(
            segment,
            "unknown",
            step_id=step_id,
            approval_id=step_id,
            tool=effect.given.tool.name,
            op=effect.op,
            contract_hash=effect.contract_hash,
            reason_code=outcome.code,
            actor="system",
        )
    )


async def _enter_again(segment: Segment, effect: _Effect, spent: Staging) -> Suspend | None:
    """The same effect under the same key: its tool is idempotent, or its absence is proven.

    Args:
        spent: the charge, stored with the attempt that it pays for.
    """
    step_id = effect.given.node.step_id
    row = replace(
        segment.state.row(step_id), status=StepStatus.STARTED, attempt=segment.state.row(step_id).attempt + 1
    )
    spent.step(row)
    segment.event(
        EventKind.STEP_STARTED, spent, stepId=step_id, tool=effect.given.tool.name, attempt=row.attempt
    )
    if segment.state.halt is not None:
        return reconcile_request(
            effect.given, effect.contract_hash, "the run was stopped before this was known"
        )
    await segment.commit(spent)
    return await _enter(segment, effect)
