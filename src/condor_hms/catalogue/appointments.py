"""Appointments: which there are, moving one, cancelling one.

Rule: an appointment and its slot change together: no slot stays taken for nobody, none is given away twice.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from condor import (
    ArgSpec,
    InputField,
    NeedInput,
    PolicyClass,
    ToolContext,
    ToolDescriptor,
    ToolError,
    tool,
)
from condor_hms.catalogue.booking import free_slot, taken
from condor_hms.catalogue.hospital import Hospital, reading, reference_of, require, require_patient
from condor_hms.catalogue.identity import clinician_name, identity
from condor_hms.catalogue.record_write import Call, Composed, record_write, without
from condor_hms.catalogue.specs import code_arg, date_arg, patient_arg, record_arg
from condor_hms.catalogue.words import moment_text, plural
from condor_hms.catalogue.writing import Edit

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from condor_hms.fhir.port import Resource

__all__ = ["appointment_row", "appointment_tools", "participant"]

_ACTIONS = {"reschedule": "Reschedule", "cancel": "Cancel"}
_REASONS = {"pat": "Patient", "prov": "Provider", "maint": "Equipment", "other": "Other"}
_REASON_SYSTEM = "http://terminology.hl7.org/CodeSystem/appointment-cancellation-reason"
#: States in which it is still to come.
_COMING = ("proposed", "pending", "booked", "arrived", "checked-in", "waitlist")
_MONTHS = (
    *("January", "February", "March", "April", "May", "June", "July", "August", "September", "October"),
    *("November", "December"),
)


def appointment_tools(hospital: Hospital) -> tuple[ToolDescriptor, ...]:
    """``appointment.search.card`` and ``appointment.update`` over an open record."""

    async def search(_ctx: ToolContext, **given: Any) -> dict[str, Any] | NeedInput:
        """Appointments of a patient or a clinician, in the order of time."""
        patient, practitioner = given.get("patient"), given.get("practitioner")
        if not patient and not practitioner:
            return _whose()
        who = identity(await require_patient(hospital, patient), hospital.today) if patient else None
        params: dict[str, Any] = {"_sort": "date"}
        params |= {"patient": patient} if patient else {}
        params |= {"practitioner": practitioner} if practitioner else {}
        dates = [f"{op}{given[name]}" for name, op in (("from", "ge"), ("to", "le")) if given.get(name)]
        if dates:
            params["date"] = dates
        with reading():
            found = await hospital.fhir.search("Appointment", params)
        rows = [
            await appointment_row(hospital, row) for row in found if row.get("status") != "entered-in-error"
        ]
        coming = [
            row
            for row in rows
            if row["status"] in _COMING and row["start"][:10] >= hospital.today.isoformat()
        ]
        return {"patient": who, "appointments": rows, **_named(coming)}

    return (
        tool(
            "appointment.search.card",
            policy_class=PolicyClass.READ,
            title="Appointments",
            description=search.__doc__ or "",
            ops={"read"},
            lookups={"next", "only", "byStart"},
            roles=("doctor", "nurse", "receptionist", "admin"),
            ui_card=True,
            args=_search_args(),
            noun="the appointments",
            report=_report,
        )(search),
        record_write(
            hospital,
            "appointment.update",
            _update,
            title="Reschedule or cancel an appointment",
            noun="the change of the appointment",
            roles={"doctor", "nurse", "receptionist"},
            target=("appointment", "Appointment"),
            ops=set(_ACTIONS),
            op_arg="action",
            editable={"cancel_reason"},
            args=(
                record_arg("appointment", "Appointment", "appointment.search.card"),
                code_arg("action", "Action", _ACTIONS, required=True),
                ArgSpec(
                    name="slot",
                    label="New slot",
                    type="reference",
                    hint={"lookup": {"tool": "schedule.slots"}},
                    required_if={"action": ("reschedule",)},
                ),
                code_arg("cancel_reason", "Cancel reason", _REASONS, required_if={"action": ("cancel",)}),
            ),
        ),
    )


def _named(coming: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Which one is meant: the next, the only one, or by its start (``2026-12-01T09:00``)."""
    found: dict[str, list[Mapping[str, Any]]] = {}
    for row in coming:
        found.setdefault(str(row["start"])[:16], []).append(row)
    return {
        "next": coming[0] if coming else None,
        "only": coming[0] if len(coming) == 1 else None,
        "byStart": {start: same[0] for start, same in found.items() if len(same) == 1},
    }


def _search_args() -> tuple[ArgSpec, ...]:
    return (
        ArgSpec(
            name="patient",
            label="Patient",
            type="reference",
            hint={"lookup": {"tool": "patient.search", "target": "Patient"}},
        ),
        record_arg("practitioner", "Clinician", required=False),
        date_arg("from", "From", "today-1y", "today+1y"),
        date_arg("to", "To", "today-1y", "today+1y"),
    )


def _whose() -> NeedInput:
    spec = patient_arg()
    field = InputField(name="patient", label=spec.label, type=spec.type, hint=spec.hint)
    return NeedInput(fields=(field,), message="Whose appointments?")


def participant(appointment: Resource, kind: str) -> str:
    """The reference of its first participant of a type; empty without one."""
    references = [
        (part.get("actor") or {}).get("reference", "") for part in appointment.get("participant") or []
    ]
    return next((reference for reference in references if reference.startswith(f"{kind}/")), "")


async def appointment_row(hospital: Hospital, appointment: Resource) -> dict[str, Any]:
    """One appointment: when, with whom, what for; ``said`` as a message to a patient says it."""
    start, clinician = str(appointment.get("start") or ""), participant(appointment, "Practitioner")
    with_whom = clinician_name(await require(hospital, clinician, "Practitioner")) if clinician else ""
    return {
        "reference": reference_of(appointment),
        "status": appointment.get("status", ""),
        "start": start,
        "when": moment_text(start) if start else "no time yet",
        "said": _said(start) if start else "",
        "with": with_whom,
        "clinician": clinician,
        "patient": participant(appointment, "Patient"),
        "slot": next((slot.get("reference", "") for slot in appointment.get("slot") or []), ""),
        "what": str(appointment.get("description") or ""),
    }


def _said(start: str) -> str:
    """``1 December at 09:00``."""
    return f"{int(start[8:10])} {_MONTHS[int(start[5:7]) - 1]} at {start[11:16]}"


def _report(args: Mapping[str, Any], value: Any) -> str:
    rows = value["appointments"]
    name = value["patient"]["name"] if value["patient"] else "The clinician"
    if not rows:
        return f"{name}: no appointments found."
    said = [
        f"{row['when']} with {row['with'] or 'nobody named'} ({row['status']}"
        + (f", {row['what']})" if row["what"] else ")")
        for row in rows
    ]
    return f"{name}: {plural(len(rows), 'appointment')}: {'; '.join(said)}."


async def _update(call: Call) -> Composed:
    """Move an appointment to another free slot, or cancel it with a reason; its slot goes along."""
    appointment = await call.target(call.args["appointment"], "Appointment")
    if appointment.get("status") != "booked":
        raise ToolError(
            f"{reference_of(appointment)} is {appointment.get('status')}, not booked; nothing was written",
            effect="none",
            code="not_booked",
        )
    row = await appointment_row(call.hospital, appointment)
    patient = await call.subject_of({"subject": {"reference": row["patient"]}})
    freed = [
        Edit(before=slot, after=without(slot, status="free")) for slot in await _slots(call, appointment)
    ]
    if call.args["action"] == "cancel":
        return _cancelled(call, appointment, row, patient, freed)
    slot = await free_slot(call, call.args["slot"], row["clinician"])
    after = without(
        appointment,
        start=slot["start"],
        end=slot["end"],
        slot=[{"reference": reference_of(slot)}],
    )
    when = moment_text(slot["start"])
    return Composed(
        subject=patient,
        summary=f"Move {row['when']} with {row['with']} to {when}",
        done=f"Appointment rescheduled from {row['when']} to {when}",
        edits=[Edit(before=appointment, after=after), *freed, taken(slot)],
        before={"appointment": row["when"]},
        after={"appointment": when},
        facts={"when": when},
    )


async def _slots(call: Call, appointment: Resource) -> list[Resource]:
    references = [str(slot.get("reference")) for slot in appointment.get("slot") or []]
    return [await call.target(reference, "Slot") for reference in references]


def _cancelled(
    call: Call,
    appointment: Resource,
    row: Mapping[str, Any],
    patient: Mapping[str, Any],
    freed: list[Edit],
) -> Composed:
    code = str(call.args["cancel_reason"])
    display = _REASONS[code]
    concept = {"coding": [{"system": _REASON_SYSTEM, "code": code, "display": display}], "text": display}
    after = without(appointment, status="cancelled", cancelationReason=concept)
    return Composed(
        subject=patient,
        summary=f"Cancel {row['when']} with {row['with']} (reason: {display.lower()})",
        done=f"Appointment cancelled: {row['when']} with {row['with']}",
        edits=[Edit(before=appointment, after=after), *freed],
        reason=code,
        before={"appointment": row["when"], "status": "booked"},
        after={"appointment": row["when"], "status": "cancelled", "reason": display},
        facts={"when": row["when"]},
    )
