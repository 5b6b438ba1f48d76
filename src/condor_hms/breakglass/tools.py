"""The emergency read, and the queue in which each one is reviewed.

Law 1: it is never held up: it is a read, and reading never asks.
Law 2: it is never silent: who, whom and why are in the record before anything is shown. Where that cannot be
written, nothing is shown. The run's audit chain has the read under a tool name of its own.
Law 3: who read does not review.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from condor import PolicyClass, ToolContext, ToolDescriptor, ToolError, tool
from condor_hms.breakglass.notes import FINDINGS, REVIEW, access_event, review_task, reviewed
from condor_hms.catalogue import with_cards
from condor_hms.catalogue.everything import whole_record, whole_record_sentence
from condor_hms.catalogue.hospital import reading, reference_of, require, require_patient
from condor_hms.catalogue.identity import identity
from condor_hms.catalogue.record_write import Call, Composed, record_write
from condor_hms.catalogue.specs import code_arg, patient_arg, record_arg, text_arg
from condor_hms.catalogue.words import moment_text, plural
from condor_hms.catalogue.writing import Edit, clock_time, person, witness_url, write

if TYPE_CHECKING:
    from collections.abc import Mapping

    from condor_hms.catalogue.hospital import Hospital
    from condor_hms.fhir.port import Resource

__all__ = ["break_glass_tools"]

#: Who may have to see a record that their role does not open.
_READERS = ("doctor", "nurse", "pharmacist")
_REVIEWERS = ("auditor",)
#: Characters of a reason: a word is none, a page is read by nobody.
_REASON_CHARS_MIN, _REASON_CHARS_MAX = 10, 500
_TOLD_MAX = 20


def break_glass_tools(hospital: Hospital) -> tuple[ToolDescriptor, ...]:
    """``patient.breakglass``, ``breakglass.list`` and ``breakglass.close`` over an open record."""
    return with_cards(hospital, (_read_tool(hospital), _list_tool(hospital), _close_tool(hospital)))


def _read_tool(hospital: Hospital) -> ToolDescriptor:
    async def break_glass(ctx: ToolContext, patient: str, reason: str) -> dict[str, Any]:
        """The whole record of a patient in an emergency: with a reason, on record, reviewed after."""
        why = " ".join(reason.split())
        if not _REASON_CHARS_MIN <= len(why) <= _REASON_CHARS_MAX:
            raise ToolError(
                f"an emergency read needs its reason in {_REASON_CHARS_MIN} to {_REASON_CHARS_MAX} "
                "characters; nothing was read",
                effect="none",
                code="bad_reason",
            )
        subject = identity(await require_patient(hospital, patient), hospital.today)
        task = await _put_on_record(hospital, ctx, subject, why)
        return {**await whole_record(hospital, subject), "review": task, "reason": why}

    return tool(
        "patient.breakglass",
        policy_class=PolicyClass.READ,
        title="Emergency read (break-glass)",
        description=break_glass.__doc__ or "",
        ops={"read"},
        roles=_READERS,
        args=(
            patient_arg(),
            text_arg(
                "reason",
                "Why you must see it now",
                required=True,
                min_length=_REASON_CHARS_MIN,
                max_length=_REASON_CHARS_MAX,
            ),
        ),
        noun="the emergency read",
        report=_read_report,
    )(break_glass)


async def _put_on_record(hospital: Hospital, ctx: ToolContext, subject: Mapping[str, Any], why: str) -> str:
    """Write the AuditEvent and the review, once for this step of the run, however often it is tried."""
    own = replace(ctx, idempotency_key=f"{ctx.run_id}:{ctx.step_id}:breakglass")
    who, now = await person(hospital, ctx.principal), clock_time(ctx)
    roles = tuple(sorted(ctx.principal.roles))
    event = access_event(
        who, roles, str(subject["reference"]), why, now=now, run=str(ctx.run_id), step=str(ctx.step_id)
    )
    task = review_task(who, subject, why, witness_url(own.idempotency_key), now=now)
    written = await write(hospital, own, new=[task], witness=event, reason=f"emergency read: {why}")
    return written[0].reference


def _read_report(args: Mapping[str, Any], value: Any) -> str:
    said = f"Emergency read on record, to be reviewed ({value['review']}): {value['reason']}."
    return f"{said} {whole_record_sentence(value)}"


def _list_tool(hospital: Hospital) -> ToolDescriptor:
    async def list_reviews(_ctx: ToolContext) -> dict[str, Any]:
        """The emergency reads that wait for a review, the oldest first."""
        queue = {"code": "|".join((REVIEW["system"], REVIEW["code"])), "status": "requested,in-progress"}
        with reading():
            rows = await hospital.fhir.search("Task", {**queue, "_sort": "authored-on"})
        return {"reviews": [_review_row(row) for row in rows]}

    return tool(
        "breakglass.list",
        policy_class=PolicyClass.READ,
        title="Emergency reads to review",
        description=list_reviews.__doc__ or "",
        ops={"read"},
        roles=(*_REVIEWERS, "admin"),
        args=(),
        noun="the emergency reads",
        report=_list_report,
    )(list_reviews)


def _review_row(task: Resource) -> dict[str, Any]:
    return {
        "reference": reference_of(task),
        "when": str(task.get("authoredOn") or ""),
        "what": str(task.get("description") or ""),
        "event": str((task.get("focus") or {}).get("reference") or ""),
    }


def _list_report(args: Mapping[str, Any], value: Any) -> str:
    rows = value["reviews"]
    if not rows:
        return "No emergency read waits for a review."
    told = [f"{row['reference']} on {moment_text(row['when'])}: {row['what']}" for row in rows[:_TOLD_MAX]]
    more = f"; {len(rows) - _TOLD_MAX} more" if len(rows) > _TOLD_MAX else ""
    return f"{plural(len(rows), 'emergency read')} to review: {'; '.join(told)}{more}."


def _close_tool(hospital: Hospital) -> ToolDescriptor:
    return record_write(
        hospital,
        "breakglass.close",
        _close,
        title="Close a review",
        noun="the review",
        roles=_REVIEWERS,
        # Under supervision a card waits, and auditors answer none.
        approver_roles=("doctor",),
        ops=("update",),
        target=("review", "Task"),
        args=(
            record_arg("review", "Review", "breakglass.list"),
            code_arg("finding", "Finding", FINDINGS, required=True),
            text_arg("comment", "What was found", required=True, min_length=3, max_length=_REASON_CHARS_MAX),
        ),
    )


async def _close(call: Call) -> Composed:
    """Close the review of an emergency read with what was found."""
    task = await call.target(call.given("review"), "Task")
    codes = (task.get("code") or {}).get("coding") or []
    if not any(REVIEW.items() <= coding.items() for coding in codes):
        raise ToolError(
            f"{reference_of(task)} is no review of an emergency read; nothing was written",
            effect="none",
            code="not_a_review",
        )
    who = await person(call.hospital, call.ctx.principal)
    await _refuse_own_read(call, task.get("requester") or {})
    finding, comment = call.given("finding"), call.given("comment")
    after = reviewed(task, who, finding, comment, now=clock_time(call.ctx))
    patient = await require(call.hospital, (task.get("for") or {}).get("reference"), "Patient")
    return Composed(
        subject=identity(patient, call.hospital.today),
        summary=f"Close the review: {FINDINGS[finding].lower()}",
        done=f"Review closed as {FINDINGS[finding].lower()}: {comment}",
        known="" if task.get("status") != "completed" else f"{reference_of(task)} is closed already",
        edits=() if task.get("status") == "completed" else [Edit(before=task, after=after)],
        reason=comment,
        state="open → closed",
        before={"status": task.get("status")},
        after={"status": "completed", "finding": finding, "comment": comment},
        facts={"finding": finding},
    )


async def _refuse_own_read(call: Call, reader: Mapping[str, Any]) -> None:
    """Who read neither reviews nor approves the review."""
    for someone in (call.ctx.principal, call.ctx.approved_by):
        who = {} if someone is None else await person(call.hospital, someone)
        if any(name in who and who[name] == reader.get(name) for name in ("reference", "identifier")):
            raise ToolError("who read cannot review it; nothing was written", effect="none", code="own_read")
