"""Messages to patients and colleagues: the exact text, approved, through the outbox.

Rule 1: a message is in the record before it leaves, and “sent” is said only where the carrier gave a receipt.
Rule 2: nobody is written to without an address on record; the card shows who, where (masked) and every word.
"""

from __future__ import annotations

import datetime
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

from condor import (
    ArgSpec,
    CardEvidence,
    PolicyClass,
    Reconciled,
    ToolContext,
    ToolDescriptor,
    ToolError,
    ToolResult,
    tool,
)
from condor_hms.catalogue.appointments import appointment_row, participant
from condor_hms.catalogue.booking import start_arg
from condor_hms.catalogue.contacts import CHANNELS, Contact, consent_text, contact_of
from condor_hms.catalogue.hospital import Hospital, reading, reference_of, require
from condor_hms.catalogue.mentioned import mentioned
from condor_hms.catalogue.plausible import refuse_after_death
from condor_hms.catalogue.record_write import Call, Composed, call_of, composed_card
from condor_hms.catalogue.scheduling import practitioner_arg
from condor_hms.catalogue.shown import check_shown
from condor_hms.catalogue.specs import code_arg, patient_arg, record_arg, text_arg
from condor_hms.catalogue.writing import find_own, person, write
from condor_hms.fhir.errors import FhirError
from condor_hms.outbox.outbox import ADDRESS_SYSTEM, CHANNEL_SYSTEM, Outbox

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence

    from condor_hms.fhir.port import Resource

__all__ = ["message_tools"]

#: Channel → v3 ParticipationMode.
_MEDIA = {
    "sms": ("SMSWRIT", "SMS message"),
    "email": ("EMAILWRIT", "email"),
    "portal": ("ONLINEWRIT", "online written"),
    "letter": ("MAILWRIT", "mail"),
}
_MODE = "http://terminology.hl7.org/CodeSystem/v3-ParticipationMode"
#: Length of an invitation, in minutes, as the slots are.
_MINUTES = 30


def message_tools(hospital: Hospital) -> tuple[ToolDescriptor, ...]:
    """``communication.send``, ``appointment.remind`` and ``appointment.invite`` over an open record."""
    channel = code_arg("channel", "Channel", CHANNELS, required=True)
    staff = {"doctor", "nurse", "receptionist"}
    appointment = record_arg("appointment", "Appointment", "appointment.search.card")
    return (
        _comms(
            hospital,
            "communication.send",
            _message,
            title="Send a message to a patient or colleague",
            noun="the message",
            roles={*staff, "pharmacist"},
            alias=("outbound-message", "equal"),
            editable={"message"},
            args=(
                record_arg("recipient", "Recipient", "patient.search"),
                channel,
                text_arg("message", "Message", required=True, max_length=1000),
            ),
        ),
        _comms(
            hospital,
            "appointment.remind",
            _reminder,
            title="Send an appointment reminder",
            noun="the reminder",
            roles=staff,
            args=(appointment, channel),
        ),
        _comms(
            hospital,
            "appointment.invite",
            _invitation,
            title="Send an appointment invitation",
            noun="the invitation",
            roles=staff,
            args=(patient_arg(), practitioner_arg(), start_arg("Start", required=True), channel),
        ),
    )


def _comms(
    hospital: Hospital,
    name: str,
    compose: Callable[[Call], Awaitable[Composed]],
    *,
    title: str,
    noun: str,
    roles: Collection[str],
    args: Sequence[ArgSpec],
    alias: tuple[str | None, Literal["equal", "degraded"] | None] = (None, None),
    editable: Collection[str] = (),
) -> ToolDescriptor:
    async def run(ctx: ToolContext, **given: Any) -> ToolResult:
        composed = await compose(call_of(hospital, ctx, given))
        if await _own_message(hospital, ctx, name) is None:
            check_shown(ctx, composed_card(composed))
        await write(hospital, ctx, new=composed.new)
        return await _delivered(hospital, ctx, composed, given)

    async def show(ctx: ToolContext, **given: Any) -> CardEvidence:
        return composed_card(await compose(call_of(hospital, ctx, given)))

    async def reconcile(ctx: ToolContext, **given: Any) -> Reconciled:
        try:
            own = await _own_message(hospital, ctx, name)
            if own is None:
                return Reconciled(happened=False)
            composed = await compose(call_of(hospital, ctx, given))
        except ToolError as error:
            if error.may_retry:
                return Reconciled(happened=None)
            raise
        return Reconciled(happened=True, value=(await _delivered(hospital, ctx, composed, given)).value)

    return tool(
        name,
        policy_class=PolicyClass.COMMS,
        title=title,
        description=" ".join((compose.__doc__ or "").split()),
        ops={"send"},
        roles=roles,
        approver_roles=roles,
        alias_group=alias[0],
        alias_fidelity=alias[1],
        editable=editable,
        idempotent=True,
        ui_card=True,
        args=args,
        noun=noun,
        report=_report,
        preview=show,
        reconcile=reconcile,
    )(run)


async def _own_message(hospital: Hospital, ctx: ToolContext, name: str) -> Resource | None:
    """The Communication of an earlier try; an invitation's stands beside its appointment."""
    key = f"{ctx.idempotency_key}:1" if name == "appointment.invite" else ctx.idempotency_key
    return await find_own(hospital, "Communication", key)


async def _delivered(
    hospital: Hospital, ctx: ToolContext, composed: Composed, given: Mapping[str, Any]
) -> ToolResult:
    """Hand the message over, and say what became of it."""
    kind = composed.new[0]["resourceType"]
    own = await find_own(
        hospital,
        "Communication",
        ctx.idempotency_key if kind == "Communication" else f"{ctx.idempotency_key}:1",
    )
    assert own is not None, "INVARIANT: the message was written in this call or an earlier one"
    outbox = Outbox(hospital.fhir, hospital.channels, now=lambda: ctx.now)
    try:
        row = await outbox.deliver(reference_of(own))
    except FhirError:
        # It stays in the outbox with its key, and is tried again.
        row = own
    status = str(row.get("status"))
    value = {
        **composed.facts,
        "reference": reference_of(row),
        "status": status,
        "sent": status == "completed",
        "channel": given["channel"],
        "patient": composed.subject.get("text", ""),
        "done": composed.done,
        "why": str((row.get("statusReason") or {}).get("text") or ""),
    }
    if status == "stopped":
        raise ToolError(
            f"{composed.done} {value['how']} was not sent: {value['why']} ({value['reference']})",
            effect="none",
            code="not_sent",
        )
    return ToolResult(outcome="succeeded" if status == "completed" else "degraded", value=value)


def _report(args: Mapping[str, Any], value: Any) -> str:
    if value["sent"]:
        return f"{value['done']} sent {value['how']} ({value['reference']})."
    return f"{value['done']} queued {value['how']}: no receipt from the carrier yet ({value['reference']})."


async def _message(call: Call) -> Composed:
    """Send a message to a patient or a colleague by SMS, email, portal or letter."""
    reference, text = str(call.args["recipient"]), call.given("message")
    kind = reference.partition("/")[0]
    if kind not in ("Patient", "Practitioner"):
        raise ToolError(
            f"{reference[:60]!a} is neither a patient nor a colleague; nothing was sent",
            effect="none",
            code="bad_recipient",
        )
    contact = contact_of(
        await require(call.hospital, reference, kind), str(call.args["channel"]), call.hospital.today
    )
    beside = await mentioned(call.hospital, reference, text) if kind == "Patient" else []
    composed = await _composed(call, contact, text, what="Message")
    return replace(composed, context=(*composed.context, *beside))


async def _composed(
    call: Call,
    contact: Contact,
    text: str,
    *,
    what: str,
    before: Sequence[Resource] = (),
    about: Sequence[str] = (),
) -> Composed:
    """The message, its card, and what stands before it in the same transaction."""
    channel, how = str(call.args["channel"]), f"by {contact.label} to {contact.name}"
    resource = await _resource(call, contact, text)
    if about:
        resource["about"] = [{"reference": reference} for reference in about]
    refuse_after_death(contact.who, before)
    return Composed(
        subject=contact.who,
        summary=f"{what} {how}: “{text}”",
        done=what,
        new=[*before, resource],
        after={"to": f"{contact.name}, {contact.masked}", "channel": CHANNELS[channel], "text": text},
        context=(
            {"label": "Recipient", "text": f"{contact.name}, {contact.masked}"},
            {"label": "Exact text", "text": text},
            {"label": "Contact consent", "text": await consent_text(call.hospital, contact.reference)},
        ),
        facts={"message": text, "how": how},
    )


async def _resource(call: Call, contact: Contact, text: str) -> Resource:
    channel = str(call.args["channel"])
    code, display = _MEDIA[channel]
    resource: Resource = {
        "resourceType": "Communication",
        "identifier": [{"system": ADDRESS_SYSTEM, "value": contact.address}],
        "status": "preparation",
        "medium": [
            {
                "coding": [
                    {"system": _MODE, "code": code, "display": display},
                    {"system": CHANNEL_SYSTEM, "code": channel},
                ],
                "text": CHANNELS[channel],
            }
        ],
        "recipient": [{"reference": contact.reference}],
        "sender": await person(call.hospital, call.ctx.principal),
        "payload": [{"contentString": text}],
    }
    if contact.reference.startswith("Patient/"):
        resource["subject"] = {"reference": contact.reference}
    return resource


async def _reminder(call: Call) -> Composed:
    """Remind a patient of an appointment, from a fixed text."""
    appointment = await require(call.hospital, call.args["appointment"], "Appointment")
    row = await appointment_row(call.hospital, appointment)
    if row["status"] != "booked":
        raise ToolError(
            f"{row['reference']} is {row['status']}; there is nothing to be reminded of",
            effect="none",
            code="not_booked",
        )
    patient = await require(call.hospital, participant(appointment, "Patient"), "Patient")
    contact = contact_of(patient, str(call.args["channel"]), call.hospital.today)
    text = f"Reminder: your appointment is on {row['said']} with {row['with']}."
    return await _composed(call, contact, text, what="Reminder", about=[row["reference"]])


async def _invitation(call: Call) -> Composed:
    """Propose an appointment to a patient and invite them to it."""
    patient = await require(call.hospital, call.args["patient"], "Patient")
    practitioner, start = str(call.args["practitioner"]), str(call.args["start"])
    await require(call.hospital, practitioner, "Practitioner")
    proposed: Resource = {
        "resourceType": "Appointment",
        "status": "proposed",
        "start": start,
        "end": _end_of(start),
        "participant": [
            {"actor": {"reference": reference_of(patient)}, "status": "needs-action"},
            {"actor": {"reference": practitioner}, "status": "accepted"},
        ],
    }
    row = await appointment_row(call.hospital, {**proposed, "id": "new"})
    contact = contact_of(patient, str(call.args["channel"]), call.hospital.today)
    text = (
        f"You are invited to an appointment on {row['said']} with {row['with']}. Please confirm or decline."
    )
    with reading():
        return await _composed(
            call,
            contact,
            text,
            what="Invitation",
            before=[proposed],
        )


def _end_of(start: str) -> str:
    try:
        moment = datetime.datetime.fromisoformat(start)
    except ValueError as error:
        raise ToolError(f"{start[:40]!a} is no time: give 2026-12-07T10:00:00Z", effect="none") from error
    end = moment + datetime.timedelta(minutes=_MINUTES)
    return end.isoformat().replace("+00:00", "Z")
