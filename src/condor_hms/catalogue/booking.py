"""Booking an appointment: the slot and the appointment, in one transaction.

Rule: a slot is taken on the version in which it was free; if somebody took it since, a person looks again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from condor import ArgSpec, RecordMoved, ToolDescriptor, ToolError
from condor_hms.catalogue.hospital import Hospital, reading, reference_of, require
from condor_hms.catalogue.identity import clinician_name
from condor_hms.catalogue.record_write import Call, Composed, record_write, without
from condor_hms.catalogue.scheduling import practitioner_arg
from condor_hms.catalogue.specs import code_arg, patient_arg, record_arg, text_arg
from condor_hms.catalogue.words import moment_text
from condor_hms.catalogue.writing import Edit, record_time

if TYPE_CHECKING:
    from collections.abc import Mapping

    from condor_hms.fhir.port import Resource

__all__ = ["booking_tools", "free_slot", "start_arg", "taken"]

VISITS: Mapping[str, str] = {"in-person": "In person", "video": "Video", "phone": "Phone"}


def booking_tools(hospital: Hospital) -> tuple[ToolDescriptor, ...]:
    """``appointment.book`` over an open record."""
    return (
        record_write(
            hospital,
            "appointment.book",
            _book,
            title="Book an appointment",
            noun="the appointment",
            roles={"doctor", "nurse", "receptionist"},
            editable={"visit", "reason"},
            creates="Appointment",
            alias=("booking", "equal"),
            args=(
                patient_arg(),
                practitioner_arg(),
                record_arg("slot", "Slot", "schedule.slots"),
                start_arg("Start (taken from the slot)"),
                code_arg("visit", "Visit", VISITS),
                text_arg("reason", "Reason"),
            ),
        ),
    )


def start_arg(label: str, *, required: bool = False) -> ArgSpec:
    """When it begins."""
    hint = {"format": "date-time", "min": "now", "max": "now+365d"}
    return ArgSpec(name="start", label=label, type="date-time", required=required, hint=hint)


async def _book(call: Call) -> Composed:
    """Book a free slot of a clinician for a patient."""
    who, practitioner = await call.patient(), str(call.args["practitioner"])
    name = clinician_name(await require(call.hospital, practitioner, "Practitioner"))
    slot = await free_slot(call, call.args["slot"], practitioner)
    start = call.args.get("start")
    if start and str(start)[:16] != slot["start"][:16]:
        raise ToolError(
            f"{reference_of(slot)} begins at {moment_text(slot['start'])}, not at {moment_text(str(start))}",
            effect="none",
            code="other_time",
        )
    when = moment_text(slot["start"])
    return Composed(
        subject=who,
        summary=f"Book {when} with {name}",
        done=f"Booked {when} with {name}",
        new=[_resource(call, slot, who["reference"], practitioner)],
        edits=[taken(slot)],
        before={"slot": slot.get("status")},
        after={"slot": "busy", "appointment": "booked"},
        facts={"when": when, "slot": reference_of(slot)},
    )


async def free_slot(call: Call, reference: object, practitioner: str) -> Resource:
    """A slot of this clinician, free as it was before this call.

    Raises:
        ToolError: it is somebody else's.
        RecordMoved: somebody took it.
    """
    slot = await call.target(reference, "Slot")
    schedule = (slot.get("schedule") or {}).get("reference", "")
    with reading():
        actors = (await call.hospital.fhir.read(schedule)).get("actor") or []
    if practitioner not in [actor.get("reference") for actor in actors]:
        raise ToolError(
            f"{reference_of(slot)} is not a slot of {practitioner}", effect="none", code="other_clinician"
        )
    if slot.get("status") != "free":
        raise RecordMoved(
            f"{reference_of(slot)} is {slot.get('status')}; somebody took or changed it; nothing was written"
        )
    return slot


def taken(slot: Resource) -> Edit:
    """The slot when it is given to somebody."""
    return Edit(before=slot, after=without(slot, status="busy"))


def _resource(call: Call, slot: Resource, patient: str, practitioner: str) -> Resource:
    resource: Resource = {
        "resourceType": "Appointment",
        "status": "booked",
        "start": slot["start"],
        "end": slot["end"],
        "slot": [{"reference": reference_of(slot)}],
        "created": record_time(call.hospital, call.ctx),
        "participant": [
            {"actor": {"reference": patient}, "status": "accepted"},
            {"actor": {"reference": practitioner}, "status": "accepted"},
        ],
    }
    if call.args.get("visit"):
        resource["appointmentType"] = {"text": VISITS.get(call.args["visit"], call.args["visit"])}
    if call.given("reason"):
        resource["description"] = call.given("reason")
    return resource
