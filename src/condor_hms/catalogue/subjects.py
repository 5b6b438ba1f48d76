"""Whom a call is about, for the cards that no preview fills: questions, and effects of unknown outcome.

Rule: read from the record by the call's own references; where they name nobody, the card says nobody.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from condor import CardEvidence, ToolContext, ToolDescriptor, ToolError
from condor_hms.alerts import Alert
from condor_hms.catalogue.evidence import alert_rows, medication_record
from condor_hms.catalogue.hospital import Hospital, require, require_patient
from condor_hms.catalogue.identity import identity
from condor_hms.catalogue.medicine_list import current_orders
from condor_hms.catalogue.prescribing import alerts_for

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from condor_hms.fhir.port import Resource

__all__ = ["with_subjects"]

_NOT_CHECKED = Alert(
    rule_id="own-not-checked",
    severity="warning",
    summary="Allergies and interactions could not be checked: the record cannot be read",
    action="Check them before it goes on",
    source="the patient's own record",
)
#: Elements of FHIR R4 resources that name the patient, where the type has one.
_ELEMENTS = ("subject", "patient", "for", "beneficiary")


def with_subjects(hospital: Hospital, tool: ToolDescriptor) -> ToolDescriptor:
    """The tool with a hook that says which patient a call of it is about; without one where it takes none."""
    names = [arg.name for arg in tool.args if arg.type == "reference"]
    if not names:
        return tool

    async def subject_of(_ctx: ToolContext, args: Mapping[str, Any]) -> CardEvidence:
        for name in sorted(names, key=lambda name: name != "patient"):
            patient = await _patient_of(hospital, args.get(name))
            if patient:
                who = identity(await require_patient(hospital, patient), hospital.today)
                return CardEvidence(subject=who, alerts=await _alerts(hospital, who, args.get("medication")))
        return CardEvidence()

    return replace(tool, subject_of=subject_of)


async def _alerts(
    hospital: Hospital, who: Mapping[str, Any], medication: object
) -> tuple[dict[str, Any], ...]:
    """What the record says against a medicine that is named, whatever its dose; and of the patient."""
    if not isinstance(medication, str) or not medication.strip():
        return alert_rows((), who)
    patient = str(who["reference"])
    try:
        record = await medication_record(hospital, patient)
        orders = await current_orders(hospital, patient)
    except ToolError:
        # The card of the call itself is not shown without them; a question is, and says so.
        return alert_rows((_NOT_CHECKED,), who)
    return alert_rows(alerts_for(hospital, record, {"medication": medication}), who, orders)


async def _patient_of(hospital: Hospital, reference: object) -> str:
    """``Patient/id`` of a reference, or of what it refers to; empty where there is none."""
    if not isinstance(reference, str):
        return ""
    if reference.startswith("Patient/"):
        return reference
    resource = await require(hospital, reference, reference.partition("/")[0])
    return next((name for name in _named_by(resource) if name.startswith("Patient/")), "")


def _named_by(resource: Resource) -> Iterator[str]:
    for element in _ELEMENTS:
        yield str((resource.get(element) or {}).get("reference") or "")
    for participant in resource.get("participant") or []:
        yield str((participant.get("actor") or {}).get("reference") or "")
