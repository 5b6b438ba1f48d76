"""Suspend and resume: an answer is read, checked and won before any work; then the run goes on.

Checks in this order: the card exists (404); of who may answer it, that it is open (409); the answer has its
shape (422); the principal may answer (403); the card is still open, and what would run (409). The first
thing an answer *does* is a compare-and-set: of any number of answers one wins, the others are told who.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

from condor.core.audit import AuditEntry, Decision, encode_entry
from condor.core.errors import (
    AnswerRefused,
    NotAnApprover,
    OurBug,
    RunNotSuspendedError,
    UnknownId,
)
from condor.core.ids import StepId, SuspendId, digest_of
from condor.core.outcome import StepOutcome, StepStatus, skipped
from condor.core.run import EventKind, Principal, RunStatus
from condor.core.suspend import Answer, Origin, ReasonCode, read_reason_code, read_resume, resume_schema
from condor.core.values import dataclass
from condor.ports.encoding import decode
from condor.ports.store import Conflict, Decide, StoredRun, SuspensionRow, SuspensionStatus, Transition
from condor.pump.card_drift import drift_of
from condor.pump.phases.fail import readable
from condor.pump.phases.halt import expire, halt_run
from condor.pump.phases.refusals import check_open, lost_error, may_not_answer
from condor.pump.plan_edit import decline_edit
from condor.pump.segment import LookAgain, RunLost, Segment, entry
from condor.pump.staging import Staging
from condor.pump.state import RunState, StateUnreadable, closed_card

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from condor.pump.ports import PumpPorts

_Read = TypeVar("_Read")

#: Each retry means that another answer to the same run won meanwhile.
RACES_MAX = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class ResumeRun:
    """An answer as it reaches the runtime; ``principal`` is the signed-in one."""

    run_id: str | None
    suspend_id: str
    data: object
    principal: Principal


@dataclass(frozen=True, slots=True, kw_only=True)
class Accepted:
    """The answer won."""

    run_id: str
    step_id: StepId
    #: Of the card that was answered; one with which its step asks again has a later one.
    generation: int
    #: To be driven from dispatch; None when the run ended with the answer or is at work already.
    segment: Segment | None
    #: Why the card was stale: the run goes on to ask again, and the answer was not taken.
    stale: str | None = None


async def answer(resume: ResumeRun, ports: PumpPorts) -> Accepted:
    """Take one answer.

    Raises:
        UnknownId: no such card (of this run).
        AnswerRefused: its subclass says why; the card and the run are as they were.
    """
    if (accepted := await _on_what_was_left(resume, ports)) is not None:
        return accepted
    for _ in range(RACES_MAX):
        state, row = await find_card(resume, ports)
        reading = await admitted(resume, state, row, ports, read_answer)
        segment = Segment(state, ports)
        try:
            return await _decide(segment, row, reading, resume.principal)
        except (LookAgain, RunLost):
            continue
        except Conflict as conflict:
            if await stays_lost(conflict, row, ports):
                raise lost_error(conflict, state) from None
    raise OurBug(f"answers to run {resume.run_id} keep overtaking this one")


async def _on_what_was_left(resume: ResumeRun, ports: PumpPorts) -> Accepted | None:
    """Take an answer on the run as it was left here; None where nothing was taken, and the run is to be read.

    Whoever is refused is told so, and why, by who has read the run.
    """
    try:
        state = ports.left.take(resume.run_id)
        row = state.suspensions.get(SuspendId(resume.suspend_id)) if state is not None else None
        if state is None or row is None or may_not_answer(resume.principal, row) is not None:
            return None
        check_open(state, row)
        return await _decide(Segment(state, ports), row, read_answer(resume, state, row), resume.principal)
    except (StateUnreadable, AnswerRefused, Conflict, LookAgain, RunLost):
        return None


async def admitted(
    resume: ResumeRun,
    state: RunState,
    row: SuspensionRow,
    ports: PumpPorts,
    read: Callable[[ResumeRun, RunState, SuspensionRow], _Read],
) -> _Read:
    """What an answer or an edit says, after the checks that each of them passes, in their order.

    Args:
        read: reads it, or refuses its shape.

    Raises:
        AnswerRefused: its subclass says why.
    """
    refusal = may_not_answer(resume.principal, row)
    if refusal is None:
        # Before its form: no form of it counts any more.
        check_open(state, row)
    reading = read(resume, state, row)
    if refusal is not None:
        await _refuse(resume, state, row, ports, refusal)
    return reading


async def find_card(resume: ResumeRun, ports: PumpPorts) -> tuple[RunState, SuspensionRow]:
    """The card that is to be answered, and its run; one whose stored state is corrupt ends as failed.

    Raises:
        UnknownId: there is none.
        RunNotSuspendedError: what is stored of its run cannot be read.
    """
    run_id = resume.run_id
    if run_id is None:
        known = await ports.store.suspension(resume.suspend_id)
        if known is None:
            raise UnknownId("card", resume.suspend_id, "see `condor pending`")
        run_id = known.run_id
    stored = await ports.store.load(run_id)
    if stored is None:
        raise UnknownId("run", run_id)
    row = next((row for row in stored.suspensions if row.suspend_id == resume.suspend_id), None)
    if row is None:
        await _reject(ports, stored, resume.principal, suspend_id=None, why="unknown_card")
        raise UnknownId(
            "card", resume.suspend_id, f"run {run_id} never asked this; see `condor show {run_id} --why`"
        )
    try:
        return await readable(stored, ports), row
    except StateUnreadable:
        raise RunNotSuspendedError(
            f"the stored state of run {run_id} cannot be read; it has ended as failed"
        ) from None


async def _reject(
    ports: PumpPorts, stored: StoredRun, principal: Principal, *, suspend_id: str | None, why: str
) -> None:
    """Audit an attempt to answer that had no right to."""
    run = stored.run
    row = AuditEntry(
        at=ports.at(),
        tenant_id=run.tenant_id,
        run_id=run.run_id,
        session_id=run.session_id,
        suspend_id=suspend_id,
        decision="decision-rejected",
        reason_code=why,
        actor=principal.id,
    )
    await ports.store.commit(
        Transition(run_id=run.run_id, tenant_id=run.tenant_id, at=ports.at(), audit=[encode_entry(row)])
    )


def read_answer(resume: ResumeRun, state: RunState, row: SuspensionRow) -> Answer:
    """The answer, of exactly the card's shape."""
    reason = read_reason_code(row.reason_code)
    schema: Mapping[str, object] = resume_schema(reason)
    if reason is ReasonCode.CLARIFICATION:
        card = state.payload(f"card:{row.suspend_id}") or {}
        schema = card.get("resumeSchema", {"properties": {}})
    return read_resume(reason, schema, resume.data)


async def _refuse(
    resume: ResumeRun, state: RunState, row: SuspensionRow, ports: PumpPorts, refusal: str
) -> NoReturn:
    """Audit who tried to answer a card that they may not answer.

    Raises:
        NotAnApprover: with why they may not.
    """
    stored = await ports.store.load(state.run_id)
    if stored is not None:
        await _reject(ports, stored, resume.principal, suspend_id=row.suspend_id, why="not_an_approver")
    raise NotAnApprover(refusal)


async def stays_lost(conflict: Conflict, row: SuspensionRow, ports: PumpPorts) -> bool:
    """Whether who lost the compare-and-set may be told so; False: the card moved meanwhile, look again.

    A card whose time is over is closed before anybody is told, so that a clock set back revives nothing.
    """
    return conflict.kind != "expired" or await expire(row, ports)


async def _decide(segment: Segment, row: SuspensionRow, given: Answer, principal: Principal) -> Accepted:
    """Win the compare-and-set; what follows from the answer stands in the same unit."""
    state, ports = segment.state, segment.ports
    moves = Staging()
    drift = drift_of(segment, row) if given.approved else None
    decision: SuspensionStatus = "superseded" if drift is not None else _status(given)
    moves.close_card(Decide(suspend_id=row.suspend_id, status=decision, decided_by=principal.id))
    body = {"body": given.body, "by": principal.to_json(), "at": ports.at()}
    segment.payload(f"answer:{row.suspend_id}", body, moves)
    segment.event(
        EventKind.SUSPENSION_CLOSED,
        moves,
        stepId=row.step_id,
        suspendId=row.suspend_id,
        status=decision,
        by=principal.id,
        answer=f"answer:{row.suspend_id}",
    )
    audit_decision(segment, row, _word_of(given, decision), principal, moves, given.reason)
    # Known to the closing text, if the answer ends the run in this same unit.
    state.suspensions[row.suspend_id] = closed_card(row, decision, principal.id)
    ports.faults("answer.checked")
    if decision == "denied":
        aborts = row.origin != Origin.PLAN_MUTATION and _deny_aborts(segment, row)
        _settle_denied(segment, row, moves)
        if aborts:
            halt = {"cause": "denied", "by": principal.to_json(), "stepId": row.step_id}
            await halt_run(segment, halt, moves)
            return Accepted(run_id=state.run_id, step_id=row.step_id, generation=row.generation, segment=None)
    else:
        _reopen(segment, row, given)
    return await go_on(segment, moves, row, stale=drift)


def _status(given: Answer) -> SuspensionStatus:
    if given.reason_code is ReasonCode.APPROVAL:
        return "approved" if given.approved else "denied"
    return "answered"


def _word_of(given: Answer, status: SuspensionStatus) -> Decision:
    words: dict[str, Decision] = {"approved": "approved", "denied": "denied", "superseded": "withdrawn"}
    return words.get(status, "reconciled" if given.reason_code is ReasonCode.RECONCILE else "answered")


def audit_decision(
    segment: Segment,
    row: SuspensionRow,
    decision: Decision,
    principal: Principal,
    moves: Staging,
    reason: str = "",
) -> None:
    """Stage the audit row of what a person decided about a card."""
    facts: Mapping[str, Any] = decode(row.facts)
    policy = facts["policy"]
    segment.audit(
        entry(
            segment,
            decision,
            step_id=row.step_id,
            approval_id=row.step_id,
            suspend_id=row.suspend_id,
            reason_code=row.reason_code,
            origin=row.origin,
            tool=row.tool or None,
            op=facts["op"],
            policy_class=policy.get("policyClass"),
            hitl_tier=policy.get("hitlTier"),
            effective_tier=policy.get("effectiveTier"),
            promotions=tuple(policy.get("promotions", ())),
            rule_id=policy.get("ruleId"),
            contract_hash=row.contract_hash,
            reason_digest=digest_of(reason) if reason else None,
            actor=principal.id,
        ),
        moves,
    )


def _deny_aborts(segment: Segment, row: SuspensionRow) -> bool:
    node = segment.state.node(row.step_id)
    if node.on_deny is not None:
        return node.on_deny == "abort"
    tool = segment.ports.toolbox.find(node.tool)
    return tool is None or tool.on_deny == "abort"


def _settle_denied(segment: Segment, row: SuspensionRow, moves: Staging) -> None:
    """The call is not made; a denied edit of the plan leaves its step as it had ended."""
    if row.origin == Origin.PLAN_MUTATION:
        decline_edit(segment, row, moves)
    else:
        segment.settle(row.step_id, skipped("denied", ""))


def _reopen(segment: Segment, row: SuspensionRow, given: Answer) -> None:
    """The step may go on: pending again, or settled by what a person knows."""
    if given.happened:
        value = {"reconciled": True}
        segment.settle(row.step_id, StepOutcome(status=StepStatus.SUCCEEDED, value=value), effectful=True)
        return
    step = segment.state.row(row.step_id).moved(StepStatus.PENDING, code="")
    segment.state.put_step(step)
    segment.facts.step(step)


async def go_on(
    segment: Segment, moves: Staging, row: SuspensionRow, *, stale: str | None = None
) -> Accepted:
    """Store the decision; what was parked is executing again, what is at work looks again."""
    state = segment.state
    rested = state.status is RunStatus.SUSPENDED
    moves.absorb(segment.take_facts())
    commit = partial(segment.commit, moves, count_answer=True)
    if rested:
        over = segment.ports.hands_over
        await commit(status=RunStatus.EXECUTING, cause="answered", raise_epoch=True, hand_over=over)
    else:
        await commit()
    segment.ports.faults("answer.committed")
    return Accepted(
        run_id=state.run_id,
        step_id=row.step_id,
        generation=row.generation,
        segment=segment if rested else None,
        stale=stale,
    )
