"""The one suspend funnel: every wait of every run passes ``park``.

Law: only ``pump.loop`` calls it, from one line (an import contract and a test hold that), so a first
suspend and a re-suspend cannot differ, and a suspension without its card cannot be written.
"""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING

from condor.core.frames.suspend_card import policy_facts, suspend_card
from condor.core.run import EventKind, RunStatus
from condor.core.suspend import ReasonCode, SuspendRequest, suspend_id
from condor.ports.clock import timestamp
from condor.ports.encoding import encode
from condor.ports.store import SuspensionRow
from condor.pump.segment import Segment, entry
from condor.pump.staging import Staging
from condor.pump.state import waiting_status

if TYPE_CHECKING:
    from collections.abc import Sequence

    from condor.core.compiler.leaves import Suspend

_REQUIRED = {
    ReasonCode.APPROVAL: EventKind.APPROVAL_REQUIRED,
    ReasonCode.CLARIFICATION: EventKind.CLARIFICATION_REQUIRED,
    ReasonCode.RECONCILE: EventKind.RECONCILE_REQUIRED,
}


async def park(segment: Segment, asked: Suspend, *, rests: bool) -> None:
    """Make one wait durable and visible, in one transaction.

    1. persist: the suspension, its card, the step, and the run's status when nothing else can move;
    2. audit: who asked for what under which rule;
    3. frame: the event from which every client draws the card.

    An open suspension with the same contract and reason is adopted: one identity, one card.

    Raises:
        LookAgain: an answer came between; nothing of this was stored.
    """
    request = asked.request
    state = segment.state
    moves = Staging()
    moves.step(state.row(request.step_id).moved(waiting_status(request.reason)))
    if not state.already_asks(request):
        row = _suspension(segment, request)
        moves.open_card(row)
        _draw(segment, request, row, moves)
        _record(segment, request, row, moves)
    status = RunStatus.SUSPENDED if rests and state.status is not RunStatus.SUSPENDED else None
    await segment.commit(moves, status=status, cause="parked")


def _suspension(segment: Segment, request: SuspendRequest) -> SuspensionRow:
    state, ports = segment.state, segment.ports
    generation = state.generation(request.step_id)
    opened = ports.clock.now()
    expires = opened + datetime.timedelta(seconds=ports.suspend_ttl_s)
    return SuspensionRow(
        suspend_id=suspend_id(
            run_id=state.run_id,
            step_id=request.step_id,
            contract_hash=request.contract_hash,
            reason=request.reason,
            generation=generation,
        ),
        run_id=state.run_id,
        tenant_id=state.tenant_id,
        step_id=request.step_id,
        generation=generation,
        reason_code=request.reason.value,
        origin=request.origin.value,
        contract_hash=request.contract_hash,
        tool=request.tool,
        opened_at=timestamp(opened),
        expires_at=timestamp(expires) if request.expires else None,
        facts=encode(_facts(segment, request)),
        tier=request.verdict.effective_tier or "" if request.verdict is not None else "",
        requester=state.requester.id,
        subject=_subject(request),
    )


def _subject(request: SuspendRequest) -> str:
    """``Type/id`` of whom or what the card is about; empty where its evidence names nobody."""
    subject = request.evidence.get("subject")
    reference = subject.get("reference") if isinstance(subject, Mapping) else None
    return reference if isinstance(reference, str) else ""


def _facts(segment: Segment, request: SuspendRequest) -> dict[str, object]:
    """What answering needs besides the card: no record data, no texts."""
    # Four eyes: who wrote the call as it is now does not approve it.
    editors = {"editors": sorted({edit.by for edit in request.edits})} if request.edits else {}
    return {
        "policy": policy_facts(request),
        "op": request.op,
        "requester": segment.state.requester.id,
        "requesterDisplay": segment.state.requester.name,
        "answerRoles": sorted(_answer_roles(segment, request)),
        "requesterMayAnswer": request.requester_may_answer,
        "requesterExcluded": request.requester_excluded,
        "versions": dict(request.versions),
        "evidence": request.evidence_digest,
        "call": request.call_digest,
        "effects": sorted(request.effects),
        "descriptor": request.descriptor_digest,
        **editors,
    }


def _answer_roles(segment: Segment, request: SuspendRequest) -> frozenset[str]:
    """Who may answer; what a question settles goes into later calls, so it takes who may make those too.

    Else a clerk who may look up a patient would choose the patient of a doctor's order.
    """
    own, graph, toolbox = request.answer_roles, segment.state.graph, segment.ports.toolbox
    if request.reason is not ReasonCode.CLARIFICATION or graph is None:
        return own
    fed, effects, reads = {request.step_id}, list[frozenset[str]](), list[frozenset[str]]()
    for node in graph.nodes:  # in topological order
        if not node.uses.isdisjoint(fed):
            fed.add(node.step_id)
            tool = toolbox.find(node.tool)
            if tool is not None and tool.roles:
                (effects if toolbox.is_effectful(tool) else reads).append(tool.roles)
    asked = toolbox.find(request.tool)
    is_read = asked is not None and not toolbox.is_effectful(asked)
    return _who_may_make_most(own, effects, reads, is_read=is_read)


def _who_may_make_most(
    own: frozenset[str], effects: Sequence[frozenset[str]], reads: Sequence[frozenset[str]], *, is_read: bool
) -> frozenset[str]:
    """The roles that may make the most of the calls, whatever their order: effects first, then reads.

    Where a role may make all of them, these are exactly the roles that do.

    Args:
        own: roles of the call that asks; none means everybody.
        effects, reads: roles of the later calls that not everybody may make.
        is_read: it asks for a read: then who may not make it may still answer for a later call. An effect is
            never answered for by who may not make it.
    """
    may = own if own and not is_read else own.union(*effects, *reads)

    def makes(role: str) -> tuple[int, int, bool]:
        return sum(role in roles for roles in effects), sum(role in roles for roles in reads), role in own

    most = max(map(makes, may), default=None)
    return frozenset(role for role in may if makes(role) == most)


def _draw(segment: Segment, request: SuspendRequest, row: SuspensionRow, moves: Staging) -> None:
    card = suspend_card(
        request,
        suspend_id=row.suspend_id,
        run_id=row.run_id,
        generation=row.generation,
        expires_at=row.expires_at,
    )
    segment.payload(f"card:{row.suspend_id}", card, moves)
    segment.event(
        _REQUIRED[request.reason],
        moves,
        id=request.step_id,
        stepId=request.step_id,
        suspendId=row.suspend_id,
        reasonCode=request.reason,
        origin=request.origin,
        generation=row.generation,
        tool=request.tool or None,
        contractHash=row.contract_hash,
        expiresAt=row.expires_at,
        card=f"card:{row.suspend_id}",
    )


def _record(segment: Segment, request: SuspendRequest, row: SuspensionRow, moves: Staging) -> None:
    verdict = request.verdict
    segment.audit(
        entry(
            segment,
            "suspended",
            step_id=request.step_id,
            approval_id=request.step_id,
            suspend_id=row.suspend_id,
            reason_code=request.reason,
            origin=request.origin,
            tool=request.tool or None,
            op=request.op,
            policy_class=verdict.policy_class if verdict else None,
            hitl_tier=request.hitl_tier,
            effective_tier=verdict.effective_tier if verdict else None,
            promotions=verdict.promotions if verdict else (),
            rule_id=verdict.rule_id if verdict else request.gate_rule or None,
            contract_hash=row.contract_hash,
        ),
        moves,
    )
