"""Edit before approve: a person changes a call on its card. The card is superseded, and the call asks again.

Law 1: an edit runs nothing and approves nothing; the same funnel draws the card of the edited call.
Law 2: it is a compare-and-set like every answer: of an edit and an answer one wins, the other is told who.
Law 3: an edit that the tool cannot show is refused while the card still stands.

Checks in this order: the card exists (404); of who may answer it, that it is open (409); the edit has its
shape (422); the principal may answer the card (403); it is the card of a call and allows edits (409); then
the edited call as a whole (422), and that the card is still open (409).
"""

from __future__ import annotations

import math
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from condor.core.compiler.leaves.tool_call import edit_form_of, was_denied
from condor.core.errors import EditInvalid, NotEditable, OurBug, RefusedInput, ToolError
from condor.core.ids import digest_of
from condor.core.outcome import StepStatus
from condor.core.run import EventKind
from condor.core.suspend import Origin, apply_edit, read_edit
from condor.core.values import dataclass
from condor.ports.store import Conflict, Decide, SuspensionRow
from condor.pump.call import call_of, changes_of, invocation_of, tool_here
from condor.pump.phases.refusals import lost_error
from condor.pump.phases.suspend_resume import (
    RACES_MAX,
    Accepted,
    ResumeRun,
    admitted,
    audit_decision,
    find_card,
    go_on,
    stays_lost,
)
from condor.pump.segment import LookAgain, RunLost, Segment
from condor.pump.staging import Staging

if TYPE_CHECKING:
    from collections.abc import Mapping

    from condor.core.compiler.leaves.tool_call import ToolCallInput
    from condor.core.ids import Json
    from condor.core.run import Principal
    from condor.pump.ports import PumpPorts
    from condor.pump.state import RunState


@dataclass(frozen=True, slots=True, kw_only=True)
class EditCall:
    """An edit as it reaches the runtime."""

    suspend_id: str
    #: Arguments to change, by name; null takes one out.
    args: object
    #: The signed-in principal.
    principal: Principal
    #: The caller's name for this edit: sent again under it, the same edit changes nothing more.
    key: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Edited:
    """The edit is stored."""

    #: Of the superseded card.
    accepted: Accepted
    #: False where the same edit was taken before under the same key.
    is_new: bool = True


async def edit_call(wanted: EditCall, ports: PumpPorts) -> Edited:
    """Take one edit.

    Raises:
        UnknownId: no such card.
        AnswerRefused: its subclass says why; the card and the run are as they were.
        RefusedInput: the key was used for another edit of this card.
    """
    resume = ResumeRun(
        run_id=None, suspend_id=wanted.suspend_id, data=wanted.args, principal=wanted.principal
    )
    for _ in range(RACES_MAX):
        state, row = await find_card(resume, ports)
        before = _taken_before(wanted, state, row)
        if before is not None:
            return before
        given, changes = await admitted(resume, state, row, ports, partial(_read, ports))
        if given is None or changes is None:
            raise NotEditable(_why_not(row))
        await _check_edited(given, changes, state, ports)
        segment = Segment(state, ports)
        try:
            accepted = await _supersede(segment, row, changes, wanted)
        except (LookAgain, RunLost):
            continue
        except Conflict as conflict:
            if await stays_lost(conflict, row, ports):
                raise lost_error(conflict, state) from None
            continue
        return Edited(accepted=accepted)
    raise OurBug(f"answers to card {wanted.suspend_id} keep overtaking this edit")


def _taken_before(wanted: EditCall, state: RunState, row: SuspensionRow) -> Edited | None:
    """The same edit, sent again by who made it, under its key."""
    if wanted.key is None or not changes_of(state, row) or row.decided_by != wanted.principal.id:
        return None
    stored = state.payload(f"answer:{row.suspend_id}")
    if stored.get("key") != digest_of(wanted.key):
        return None
    if stored["edit"] != wanted.args:
        raise RefusedInput(
            "the idempotency key was used for another edit of this card; take a new one",
            code="idempotency_key_reused",
        )
    accepted = Accepted(run_id=state.run_id, step_id=row.step_id, generation=row.generation, segment=None)
    return Edited(accepted=accepted, is_new=False)


def _call(state: RunState, ports: PumpPorts, row: SuspensionRow) -> ToolCallInput | None:
    """The call on the card; None where the card is about something else."""
    if row.origin != Origin.TOOL_POLICY:
        return None
    node = state.node(row.step_id)
    tool = tool_here(ports, row.tool)
    return call_of(state, ports, node, tool) if node.tool == row.tool else None


def _read(
    ports: PumpPorts, resume: ResumeRun, state: RunState, row: SuspensionRow
) -> tuple[ToolCallInput | None, Mapping[str, Json] | None]:
    """The call on the card and its changes; None where nothing may be changed."""
    given = _call(state, ports, row)
    schema = edit_form_of(given)[0] if given is not None else {}
    return given, read_edit(schema, resume.data) if schema else None


def _why_not(row: SuspensionRow) -> str:
    if row.origin == Origin.TOOL_POLICY:
        return f"{row.tool} allows no edit on its card; deny it with a reason, and ask anew"
    return f"this card is no approval of a call ({row.origin}); answer it as it is"


async def _check_edited(
    given: ToolCallInput, changes: Mapping[str, Json], state: RunState, ports: PumpPorts
) -> None:
    """Refuse an edit that changes nothing, that a person has declined, or that the tool cannot show."""
    args = apply_edit(given.args, changes)
    if args == given.args:
        raise EditInvalid("the edit changes nothing: these are the arguments that the card shows")
    edited = replace(given, args=args)
    if was_denied(edited):
        raise EditInvalid("a person has declined exactly this call in this run")
    if given.tool.preview is not None:
        try:
            await ports.toolbox.preview(invocation_of(state, edited, left_s=math.inf))
        except ToolError as fault:
            raise EditInvalid(f"the call as edited cannot be shown: {fault}") from fault


async def _supersede(
    segment: Segment, row: SuspensionRow, changes: Mapping[str, Json], wanted: EditCall
) -> Accepted:
    """Win the compare-and-set: the card is superseded and its step asks again, in one unit."""
    editor, moves = wanted.principal, Staging()
    moves.close_card(Decide(suspend_id=row.suspend_id, status="superseded", decided_by=editor.id))
    body: dict[str, object] = {"edit": changes, "by": editor.to_json(), "at": segment.ports.at()}
    if wanted.key is not None:
        body["key"] = digest_of(wanted.key)
    segment.payload(f"answer:{row.suspend_id}", body, moves)
    segment.event(
        EventKind.SUSPENSION_CLOSED,
        moves,
        stepId=row.step_id,
        suspendId=row.suspend_id,
        status="superseded",
        cause="edited",
        by=editor.id,
        answer=f"answer:{row.suspend_id}",
    )
    audit_decision(segment, row, "edited", editor, moves)
    # Another input is another effect: the key of the call as it was is not the key of this one.
    step = replace(segment.state.row(row.step_id).moved(StepStatus.PENDING, code=""), key=None)
    segment.state.suspensions[row.suspend_id] = replace(row, status="superseded", decided_by=editor.id)
    segment.state.put_step(step)
    segment.facts.step(step)
    segment.ports.faults("answer.checked")
    return await go_on(segment, moves, row)


__all__ = ["EditCall", "Edited", "edit_call"]
