"""What speaks against a medicine for a patient, before anybody orders it.

Rule: computed from the live record by the rules of this pack. That no rule fired is said together with what
the rules cover; it never says that a medicine is safe.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from condor import ArgSpec, PolicyClass, ToolContext, ToolDescriptor, tool
from condor_hms.catalogue.evidence import alert_rows, alerts_sentence, medication_record, rules_note
from condor_hms.catalogue.hospital import Hospital, require_patient
from condor_hms.catalogue.identity import identity
from condor_hms.catalogue.medicine_list import current_orders
from condor_hms.catalogue.prescribing import alerts_for
from condor_hms.catalogue.specs import DOSE_UNIT_HINT, DOSE_VALUE_HINT, patient_arg

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["interaction_tools"]

#: Alert severity → DetectedIssue.severity.
_ISSUE_SEVERITY = {"critical": "high", "warning": "moderate", "info": "low"}


def interaction_tools(hospital: Hospital) -> tuple[ToolDescriptor, ...]:
    """``interaction.check`` over an open record."""

    async def check(
        _ctx: ToolContext,
        patient: str,
        medication: str,
        dose_value: float | None = None,
        dose_unit: str | None = None,
    ) -> dict[str, Any]:
        """Check a medicine against the patient's orders, allergies, problems and latest results."""
        who = identity(await require_patient(hospital, patient), hospital.today)
        record = await medication_record(hospital, patient)
        order = {"medication": medication, "dose_value": dose_value, "dose_unit": dose_unit}
        orders = await current_orders(hospital, patient)
        rows = alert_rows(alerts_for(hospital, record, order), who, orders)
        return {
            "patient": who,
            "medication": medication,
            "alerts": list(rows),
            "worst": rows[0]["severity"] if rows else None,
            "issues": [_issue(row, patient) for row in rows],
            "rules": rules_note(hospital.rules, medication),
        }

    return (
        tool(
            "interaction.check",
            policy_class=PolicyClass.READ,
            title="Check interactions",
            description=check.__doc__ or "",
            ops={"read"},
            roles={"doctor", "pharmacist", "nurse"},
            args=(
                patient_arg(),
                ArgSpec(name="medication", label="Medicine", type="string", required=True),
                ArgSpec(name="dose_value", label="Dose", type="decimal", hint=DOSE_VALUE_HINT),
                ArgSpec(name="dose_unit", label="Dose unit", type="code", hint=DOSE_UNIT_HINT),
            ),
            noun="the interaction check",
            report=_report,
        )(check),
    )


def _issue(row: Mapping[str, Any], patient: str) -> dict[str, Any]:
    """An alert in the shape of a FHIR DetectedIssue."""
    return {
        "resourceType": "DetectedIssue",
        "status": "final",
        "severity": _ISSUE_SEVERITY[row["severity"]],
        "code": {"text": row["id"]},
        "patient": {"reference": patient},
        "detail": f"{row['summary']} (source: {row['source']})",
        "implicated": [{"reference": item["reference"], "display": item["text"]} for item in row["evidence"]],
        "mitigation": [{"action": {"text": row["action"]}}],
    }


def _report(args: Mapping[str, Any], value: Any) -> str:
    said = alerts_sentence(value["alerts"]) or "no alert"
    return f"Checked {value['medication']} for {value['patient']['name']}: {said} ({value['rules']})."
