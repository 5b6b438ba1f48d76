"""What a patient says they take. It is no list of orders, and is never taken for one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from condor import PolicyClass, ToolContext, ToolDescriptor, tool
from condor_hms.catalogue.hospital import Hospital, reading, reference_of, require_patient
from condor_hms.catalogue.identity import identity
from condor_hms.catalogue.specs import CLINICIANS, patient_arg
from condor_hms.catalogue.words import concept_text, plural

if TYPE_CHECKING:
    from collections.abc import Mapping

    from condor_hms.fhir.port import Resource

__all__ = ["reported_medicine_tools"]

#: Statements that say that something is taken.
_STATUSES = "active,intended,on-hold,unknown"


def reported_medicine_tools(hospital: Hospital) -> tuple[ToolDescriptor, ...]:
    """``medication.statement.list`` over an open record."""

    async def list_reported(_ctx: ToolContext, patient: str) -> dict[str, Any]:
        """What the patient says they take; reported, not ordered."""
        who = identity(await require_patient(hospital, patient), hospital.today)
        with reading():
            found = await hospital.fhir.search(
                "MedicationStatement", {"subject": patient, "status": _STATUSES}
            )
        return {"patient": who, "reported": [_row(statement) for statement in found]}

    return (
        tool(
            "medication.statement.list",
            policy_class=PolicyClass.READ,
            title="Reported medicines",
            description=list_reported.__doc__ or "",
            ops={"read"},
            roles=CLINICIANS,
            alias_group="medication-list",
            alias_fidelity="degraded",
            args=(patient_arg(),),
            noun="the reported medicines",
            report=_report,
        )(list_reported),
    )


def _row(statement: Resource) -> dict[str, Any]:
    name = concept_text(statement.get("medicationCodeableConcept"))
    named = name or (statement.get("medicationReference") or {}).get("display", "") or "medicine not named"
    dosage = next((item["text"] for item in statement.get("dosage") or [] if item.get("text")), "")
    return {
        "reference": reference_of(statement),
        "name": named,
        "text": f"{named}: {dosage}" if dosage else named,
        "status": statement.get("status", ""),
    }


def _report(args: Mapping[str, Any], value: Any) -> str:
    name, rows = value["patient"]["name"], value["reported"]
    if not rows:
        return f"{name}: no medicines are reported; what is ordered could not be read."
    said = "; ".join(row["text"] for row in rows)
    return f"{name} reports {plural(len(rows), 'medicine')}, which are not orders: {said}."
