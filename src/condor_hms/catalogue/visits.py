"""Visits and stays of a patient, newest first."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from condor import PolicyClass, ToolContext, ToolDescriptor, tool
from condor_hms.catalogue.hospital import Hospital, reading, reference_of, require_patient
from condor_hms.catalogue.identity import identity
from condor_hms.catalogue.specs import patient_arg, since_arg
from condor_hms.catalogue.words import concept_text, day, plural

if TYPE_CHECKING:
    from collections.abc import Mapping

    from condor_hms.fhir.port import Resource

__all__ = ["visit_tools"]

_ROLES = ("doctor", "nurse", "pharmacist", "receptionist", "billing", "admin")
#: v3 ActCode → words.
_KINDS = {
    "AMB": "outpatient visit",
    "IMP": "inpatient stay",
    "EMER": "emergency visit",
    "VR": "virtual visit",
}
_TOLD_MAX = 5
_ROWS_MAX = 100


def visit_tools(hospital: Hospital) -> tuple[ToolDescriptor, ...]:
    """``encounter.list`` over an open record."""

    async def list_visits(_ctx: ToolContext, patient: str, since: str | None = None) -> dict[str, Any]:
        """Visits and stays of a patient, newest first."""
        who = identity(await require_patient(hospital, patient), hospital.today)
        params = {"subject": patient, "_sort": "-date", **({"date": f"ge{since}"} if since else {})}
        with reading():
            found = await hospital.fhir.search("Encounter", params)
        kept = [visit for visit in found if visit.get("status") not in ("entered-in-error", "cancelled")]
        return {
            "patient": who,
            "visits": [_row(visit) for visit in kept[:_ROWS_MAX]],
            "more": max(0, len(kept) - _ROWS_MAX),
        }

    return (
        tool(
            "encounter.list",
            policy_class=PolicyClass.READ,
            title="Visits and stays",
            description=list_visits.__doc__ or "",
            ops={"read"},
            roles=_ROLES,
            args=(patient_arg(), since_arg()),
            noun="the visits and stays",
            report=_report,
        )(list_visits),
    )


def _row(visit: Resource) -> dict[str, Any]:
    period = visit.get("period") or {}
    code = str((visit.get("class") or {}).get("code") or "")
    reasons = [concept_text(reason) for reason in visit.get("reasonCode") or []]
    begun, ended = str(period.get("start") or "")[:10], str(period.get("end") or "")[:10]
    return {
        "reference": reference_of(visit),
        "kind": _KINDS.get(code, code or "visit"),
        "status": visit.get("status", ""),
        "start": begun,
        "end": ended,
        "reason": next((reason for reason in reasons if reason), ""),
    }


def _report(args: Mapping[str, Any], value: Any) -> str:
    rows, name = value["visits"], value["patient"]["name"]
    if not rows:
        return f"{name}: no visits or stays on record."
    count = len(rows) + value["more"]
    said = [
        f"{row['kind']} {_when(row)}" + (f" ({row['reason']})" if row["reason"] else "")
        for row in rows[:_TOLD_MAX]
    ]
    more = f"; {count - _TOLD_MAX} earlier" if count > _TOLD_MAX else ""
    return f"{name}: {plural(count, 'visit or stay', 'visits and stays')}: {'; '.join(said)}{more}."


def _when(row: Mapping[str, Any]) -> str:
    if row["end"] and row["end"] != row["start"]:
        return f"from {day(row['start'])} to {day(row['end'])}"
    return f"on {day(row['start'])}"
