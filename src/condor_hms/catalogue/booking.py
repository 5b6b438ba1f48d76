"""Booking an appointment: the slot and the appointment, in one transaction.

Rule: a slot is taken on the version in which it was free; if somebody took it since, a person looks again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from condor import (
    ArgSpec,
    CardEvidence,
    HitlTier,
    PolicyClass,
    Reconciled,
    RecordMoved,
    ToolContext,
    ToolDescriptor,
    ToolError,
    tool,
)
from condor_hms.catalogue.hospital import (
    Hospital,
    reading,
    reference_of,
    require,
    require_patient,
    version_of,
)
from condor_hms.catalogue.identity import identity
from condor_hms.catalogue.scheduling import practitioner_arg
from condor_hms.catalogue.specs import choice, patient_arg
from condor_hms.catalogue.words import day
from condor_hms.catalogue.writing import Written, create_all, find_own, reconcile_created, record_time
from condor_hms.fhir.errors import VersionConflict

if TYPE_CHECKING:
    from collections.abc import Mapping

    from condor_hms.fhir.port import Resource

__all__ = ["booking_tools"]

_VISITS = {"in-person": "In person", "video": "Video", "phone": "Phone"}


def booking_tools(hospital: Hospital) -> tuple[ToolDescriptor, ...]:
    """``appointment.book`` over an open record."""

    async def book(
        ctx: ToolContext, patient: str, practitioner: str, slot: str, **rest: Any
    ) -> dict[str, Any]:
        """Book a free slot of a clinician for a patient."""
        who = identity(await require_patient(hospital, patient), hospital.today)
        await require(hospital, practitioner, "Practitioner")
        kept = await _slot(hospital, slot, practitioner)
        written = await _written(hospital, ctx, kept, patient, practitioner, rest)
        return _value(who, kept, written)

    async def show(
        _ctx: ToolContext, patient: str, practitioner: str, slot: str, **rest: Any
    ) -> CardEvidence:
        who = identity(await require_patient(hospital, patient), hospital.today)
        kept = await _slot(hospital, slot, practitioner)
        return CardEvidence(
            subject=who,
            summary=f"Book {_when(kept)} with {practitioner}",
            before={"slot": kept.get("status")},
            after={"slot": "busy", "appointment": "booked"},
            versions={slot: version_of(kept)},
        )

    async def reconcile(
        ctx: ToolContext, patient: str, practitioner: str, slot: str, **rest: Any
    ) -> Reconciled:
        who = identity(await require_patient(hospital, patient), hospital.today)
        kept = await require(hospital, slot, "Slot")
        return await reconcile_created(
            hospital, ctx, "Appointment", lambda written: _value(who, kept, written)
        )

    return (
        tool(
            "appointment.book",
            policy_class=PolicyClass.MUTATE,
            hitl_tier=HitlTier.LOW,
            title="Book an appointment",
            description=book.__doc__ or "",
            ops={"create"},
            roles={"doctor", "nurse", "receptionist"},
            alias_group="booking",
            alias_fidelity="equal",
            idempotent=True,
            metadata={"mutating": True},
            args=_arguments(),
            noun="the appointment",
            report=_report,
            preview=show,
            reconcile=reconcile,
        )(book),
    )


def _arguments() -> tuple[ArgSpec, ...]:
    return (
        patient_arg(),
        practitioner_arg(),
        ArgSpec(
            name="slot",
            label="Slot",
            type="reference",
            required=True,
            hint={"lookup": {"tool": "schedule.slots"}},
        ),
        ArgSpec(
            name="start",
            label="Start (taken from the slot)",
            type="date-time",
            hint={"format": "date-time", "min": "now", "max": "now+365d"},
        ),
        ArgSpec(name="visit", label="Visit", type="code", hint={"enum": choice(_VISITS), "radio": True}),
        ArgSpec(name="reason", label="Reason", type="string", hint={"textarea": True}),
    )


async def _slot(hospital: Hospital, slot: str, practitioner: str) -> Resource:
    """The slot, which must be one of this clinician's.

    Raises:
        ToolError: it is somebody else's.
    """
    kept = await require(hospital, slot, "Slot")
    schedule = (kept.get("schedule") or {}).get("reference", "")
    with reading():
        actors = (await hospital.fhir.read(schedule)).get("actor") or []
    if practitioner not in [actor.get("reference") for actor in actors]:
        raise ToolError(f"{slot} is not a slot of {practitioner}", effect="none", code="other_clinician")
    return kept


async def _written(
    hospital: Hospital,
    ctx: ToolContext,
    kept: Resource,
    patient: str,
    practitioner: str,
    rest: Mapping[str, Any],
) -> Written:
    slot = reference_of(kept)
    own = await find_own(hospital, "Appointment", ctx.idempotency_key)
    if own is not None:
        return Written(reference=reference_of(own), version=version_of(own), replayed=True)
    seen = ctx.record_versions.get(slot, version_of(kept))
    if kept.get("status") != "free" or seen != version_of(kept):
        raise RecordMoved(f"{slot} is {kept.get('status')}; somebody took or changed it; nothing was written")
    taken = {
        "fullUrl": slot,
        "resource": {**{key: part for key, part in kept.items() if key != "meta"}, "status": "busy"},
        "request": {"method": "PUT", "url": slot, "ifMatch": f'W/"{seen}"'},
    }
    appointment = _resource(hospital, ctx, kept, patient, practitioner, rest)
    try:
        return (await create_all(hospital, ctx, [appointment], also=[taken]))[0]
    except VersionConflict as conflict:
        raise RecordMoved(f"{slot} was taken by somebody else; nothing was written") from conflict


def _resource(
    hospital: Hospital,
    ctx: ToolContext,
    kept: Resource,
    patient: str,
    practitioner: str,
    rest: Mapping[str, Any],
) -> Resource:
    resource: Resource = {
        "resourceType": "Appointment",
        "status": "booked",
        "start": kept["start"],
        "end": kept["end"],
        "slot": [{"reference": reference_of(kept)}],
        "created": record_time(hospital, ctx),
        "participant": [
            {"actor": {"reference": patient}, "status": "accepted"},
            {"actor": {"reference": practitioner}, "status": "accepted"},
        ],
    }
    if rest.get("visit"):
        resource["appointmentType"] = {"text": _VISITS.get(rest["visit"], rest["visit"])}
    if rest.get("reason"):
        resource["description"] = rest["reason"].strip()
    return resource


def _when(slot: Resource) -> str:
    return f"{day(slot['start'])} {slot['start'][11:16]}"


def _value(who: Mapping[str, Any], slot: Resource, written: Written) -> dict[str, Any]:
    return {**written.to_json(), "when": _when(slot), "slot": reference_of(slot), "patient": who["text"]}


def _report(args: Mapping[str, Any], value: Any) -> str:
    return f"Booked {value['when']} for {value['patient']} ({value['reference']})."
