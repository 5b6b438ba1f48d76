"""What a patient says they take. It is no list of orders, and is never taken for one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from condor import ArgSpec, PolicyClass, ToolContext, ToolDescriptor, tool
from condor_hms.catalogue.denials import refuse_doubt
from condor_hms.catalogue.hospital import Hospital, reading, reference_of, require_patient
from condor_hms.catalogue.identity import identity
from condor_hms.catalogue.medicine_names import plain_name
from condor_hms.catalogue.record_write import Call, Composed, record_write
from condor_hms.catalogue.specs import CLINICIANS, code_arg, patient_arg, text_arg
from condor_hms.catalogue.words import concept_text, plural
from condor_hms.catalogue.writing import record_time

if TYPE_CHECKING:
    from collections.abc import Mapping

    from condor_hms.fhir.port import Resource

__all__ = ["reported_medicine_tools"]

#: Statements that say that something is taken.
_STATUSES = "active,intended,on-hold,unknown"
#: MedicationStatement.status → what the form asks.
_TAKING = {"active": "Yes", "intended": "Will start", "stopped": "Stopped", "unknown": "Unknown"}


def reported_medicine_tools(hospital: Hospital) -> tuple[ToolDescriptor, ...]:
    """``medication.statement.list`` and ``medication.statement.record`` over an open record."""

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
        record_write(
            hospital,
            "medication.statement.record",
            _record,
            title="Record a reported medicine",
            noun="the reported medicine",
            roles={"doctor", "nurse", "pharmacist"},
            creates="MedicationStatement",
            editable={"dosage", "status"},
            args=(
                patient_arg(),
                ArgSpec(
                    name="medication", label="Medicine", type="string", required=True, hint={"min_length": 2}
                ),
                text_arg("dosage", "How taken"),
                code_arg("status", "Taking now", _TAKING, required=True, vs="medication-statement-status"),
            ),
        ),
    )


async def _record(call: Call) -> Composed:
    """Record a medicine that the patient says they take; it is history, not an order."""
    who, status = await call.patient(), str(call.args["status"])
    name = plain_name(call.given("medication"), "Medicine")
    refuse_doubt("medicine", name)
    resource: Resource = {
        "resourceType": "MedicationStatement",
        "status": status,
        "medicationCodeableConcept": {"text": name},
        "subject": {"reference": who["reference"]},
        "dateAsserted": record_time(call.hospital, call.ctx),
        "informationSource": {"reference": who["reference"]},
    }
    if call.given("dosage"):
        resource["dosage"] = [{"text": call.given("dosage")}]
    words = f"{_row_text(resource)} ({_TAKING[status].lower() if status != 'active' else 'taking it now'})"
    return Composed(
        subject=who,
        summary=f"Record as reported: {words}",
        done=f"Medication history recorded: {words}",
        new=[resource],
        after={"reported": words},
        facts={"medicine": name},
    )


def _name(statement: Resource) -> str:
    name = concept_text(statement.get("medicationCodeableConcept"))
    return name or (statement.get("medicationReference") or {}).get("display", "") or "medicine not named"


def _row_text(statement: Resource) -> str:
    """``Fish oil: 1 capsule daily``."""
    dosage = next((item["text"] for item in statement.get("dosage") or [] if item.get("text")), "")
    return f"{_name(statement)}: {dosage}" if dosage else _name(statement)


def _row(statement: Resource) -> dict[str, Any]:
    return {
        "reference": reference_of(statement),
        "name": _name(statement),
        "text": _row_text(statement),
        "status": statement.get("status", ""),
    }


def _report(args: Mapping[str, Any], value: Any) -> str:
    name, rows = value["patient"]["name"], value["reported"]
    if not rows:
        return f"{name}: no medicines are reported; what is ordered could not be read."
    said = "; ".join(row["text"] for row in rows)
    return f"{name} reports {plural(len(rows), 'medicine')}, which are not orders: {said}."
