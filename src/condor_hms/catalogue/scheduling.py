"""Free time of a clinician: slots as they are kept, and time computed where a server keeps none.

Rule: only what is in the future can be booked; a day is the record's day.
"""

from __future__ import annotations

import datetime
from typing import TYPE_CHECKING, Any

from condor import ArgSpec, PolicyClass, ToolContext, ToolDescriptor, tool
from condor_hms.catalogue.hospital import Hospital, reading, reference_of, require
from condor_hms.catalogue.identity import clinician_name
from condor_hms.catalogue.words import day, plural

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from condor_hms.fhir.port import Resource

__all__ = ["practitioner_arg", "scheduling_tools"]

_ROLES = ("doctor", "nurse", "receptionist")
#: Slots handed back; a person chooses among the first few.
_ROWS_MAX = 50
_TOLD_MAX = 3
#: Length of computed time, and the hours in which it is looked for where a schedule names none.
_STEP = datetime.timedelta(minutes=30)
_OPENS, _CLOSES = datetime.time(9), datetime.time(17)
#: Days that are looked at where no last day was said.
_DAYS_MAX = 14


def scheduling_tools(hospital: Hospital) -> tuple[ToolDescriptor, ...]:
    """``schedule.slots`` and ``schedule.availability`` over an open record."""

    async def list_slots(_ctx: ToolContext, practitioner: str, **dates: str) -> dict[str, Any]:
        """Free slots of a clinician from a day on, earliest first."""
        who = await require(hospital, practitioner, "Practitioner")
        found: list[Resource] = []
        for schedule in await _schedules(hospital, practitioner):
            params: dict[str, str | list[str]] = {"schedule": reference_of(schedule), "status": "free"}
            params["start"] = [f"ge{dates['from']}", *([f"le{dates['to']}"] if dates.get("to") else [])]
            with reading():
                found += await hospital.fhir.search("Slot", params)
        rows = [{"slot": reference_of(slot), "start": slot["start"], "end": slot["end"]} for slot in found]
        return _value(who, rows)

    async def compute(_ctx: ToolContext, practitioner: str, **dates: str) -> dict[str, Any]:
        """Free time of a clinician, computed from planned hours and booked appointments."""
        who = await require(hospital, practitioner, "Practitioner")
        with reading():
            booked = await hospital.fhir.search(
                "Appointment", {"practitioner": practitioner, "date": f"ge{dates['from']}"}
            )
        taken = [
            (appointment["start"], appointment["end"])
            for appointment in booked
            if appointment.get("status") not in ("cancelled", "noshow", "entered-in-error")
            and appointment.keys() >= {"start", "end"}
        ]
        rows: list[dict[str, Any]] = []
        for schedule in await _schedules(hospital, practitioner):
            rows += _free_time(schedule, datetime.date.fromisoformat(dates["from"]), taken)
        return _value(who, rows)

    shared = {
        "policy_class": PolicyClass.READ,
        "ops": {"read"},
        "roles": _ROLES,
        "alias_group": "free-slots",
        "alias_fidelity": "equal",
        "lookups": {"byStart"},
        "report": _report,
    }
    return (
        tool(
            "schedule.slots",
            title="Free slots",
            description=list_slots.__doc__ or "",
            args=(practitioner_arg(), _date_arg("from", "From", required=True), _date_arg("to", "To")),
            noun="the free slots",
            returns={"/byStart/START/slot": "the free slot that starts then, as 2026-12-01T09:30"},
            **shared,  # type: ignore[call-overload]
        )(list_slots),
        tool(
            "schedule.availability",
            title="Free time (computed)",
            description=compute.__doc__ or "",
            args=(practitioner_arg(), _date_arg("from", "From", required=True)),
            noun="the free time",
            **shared,  # type: ignore[call-overload]
        )(compute),
    )


def practitioner_arg() -> ArgSpec:
    """The clinician a tool is about."""
    return ArgSpec(name="practitioner", label="Clinician", type="reference", required=True)


def _date_arg(name: str, label: str, *, required: bool = False) -> ArgSpec:
    hint = {"format": "date", "min": "today", "max": "today+180d"}
    return ArgSpec(name=name, label=label, type="date", required=required, hint=hint)


async def _schedules(hospital: Hospital, practitioner: str) -> list[Resource]:
    with reading():
        return await hospital.fhir.search("Schedule", {"actor": practitioner})


def _free_time(
    schedule: Resource, first: datetime.date, taken: Sequence[tuple[str, str]]
) -> list[dict[str, Any]]:
    """Half hours of the planned days that no appointment overlaps."""
    horizon = schedule.get("planningHorizon") or {}
    start, end = str(horizon.get("start", ""))[:10], str(horizon.get("end", ""))[:10]
    if not start or not end:
        return []
    begins = max(first, datetime.date.fromisoformat(start))
    last = min(datetime.date.fromisoformat(end), begins + datetime.timedelta(days=_DAYS_MAX))
    rows = []
    moment = datetime.datetime.combine(begins, _OPENS)
    while moment.date() <= last:
        if moment.time() >= _CLOSES or moment.weekday() >= 5:
            moment = datetime.datetime.combine(moment.date() + datetime.timedelta(days=1), _OPENS)
            continue
        from_, to = (f"{time:%Y-%m-%dT%H:%M:%S}Z" for time in (moment, moment + _STEP))
        if not any(begun < to and from_ < ended for begun, ended in taken):
            rows.append({"start": from_, "end": to})
        moment += _STEP
    return rows


def _value(practitioner: Resource, rows: list[dict[str, Any]]) -> dict[str, Any]:
    rows = sorted(rows, key=lambda row: str(row["start"]))
    return {
        "practitioner": reference_of(practitioner),
        "name": clinician_name(practitioner),
        "free": rows[:_ROWS_MAX],
        "byStart": {str(row["start"])[:16]: row for row in rows},
        "more": max(0, len(rows) - _ROWS_MAX),
    }


def _report(args: Mapping[str, Any], value: Any) -> str:
    free = value["free"]
    count = len(free) + value["more"]
    if not free:
        return f"{value['name']} has no free time from {day(args.get('from'))} on."
    said = ", ".join(f"{day(row['start'])} {row['start'][11:16]}" for row in free[:_TOLD_MAX])
    return f"{value['name']} has {plural(count, 'free slot')}, the first {said}."
