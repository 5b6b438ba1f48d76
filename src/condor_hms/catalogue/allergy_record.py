"""Recording an allergy: once, with a substance, and with a look at what the patient is taking.

Rule 1: an allergy to nothing protects nobody: a blank substance is refused here and by the record.
Rule 2: an active allergy to the same substance is not recorded twice; the entry that is there is named.
Rule 3: what the patient takes that goes against the new allergy is said at once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from condor import ArgSpec, ToolDescriptor, ToolError
from condor_hms.alerts import check_allergy
from condor_hms.catalogue.allergy_list import allergy_row
from condor_hms.catalogue.denials import refuse_doubt
from condor_hms.catalogue.evidence import (
    alert_rows,
    allergies_of,
    allergy_text,
    clinical_context,
    is_active_allergy,
    is_denied,
    medication_record,
)
from condor_hms.catalogue.hospital import Hospital, reference_of
from condor_hms.catalogue.medicine_list import current_orders
from condor_hms.catalogue.medicine_names import plain_name
from condor_hms.catalogue.plausible import refuse_before_birth
from condor_hms.catalogue.record_write import Call, Composed, record_write
from condor_hms.catalogue.specs import choice, code_arg, date_arg, patient_arg
from condor_hms.catalogue.terms import REACTIONS, Substance, ingredient_key, substance_of
from condor_hms.catalogue.words import joined
from condor_hms.catalogue.writing import identified, person, record_time

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from condor_hms.fhir.port import Resource

__all__ = ["CRITICALITIES", "allergy_record_tools", "allergy_status_concept"]

_CATEGORIES = {
    "medication": "Medicine",
    "food": "Food",
    "environment": "Environment",
    "biologic": "Biologic",
}
CRITICALITIES = {"low": "Low", "high": "High", "unable-to-assess": "Unable to assess"}
_SEVERITIES = {"mild": "Mild", "moderate": "Moderate", "severe": "Severe"}
_HL7 = "http://terminology.hl7.org/CodeSystem/allergyintolerance-"


def allergy_record_tools(hospital: Hospital) -> tuple[ToolDescriptor, ...]:
    """``allergy.record`` over an open record."""
    return (
        record_write(
            hospital,
            "allergy.record",
            _record,
            title="Record an allergy",
            noun="the allergy entry",
            roles={"doctor", "nurse", "pharmacist"},
            editable={"criticality", "manifestations", "severity", "onset"},
            creates="AllergyIntolerance",
            args=_arguments(),
        ),
    )


async def _record(call: Call) -> Composed:
    """Record an allergy: substance, category, criticality, and the reaction where it is known."""
    substance = _substance(call.args)
    refuse_doubt("substance", substance.display)
    patient = await call.patient()
    refuse_before_birth(patient, call.args.get("onset"), "The onset")
    key = call.ctx.idempotency_key
    existing = [
        row for row in await allergies_of(call.hospital, patient["reference"]) if not identified(row, key)
    ]
    known = _already(existing, substance)
    resource = _resource(call.args, substance)
    resource["recordedDate"] = record_time(call.hospital, call.ctx)
    resource["recorder"] = await person(call.hospital, call.ctx.principal)
    record = await medication_record(call.hospital, patient["reference"])
    notes = await _notes(call.hospital, patient, substance, existing)
    before = [allergy_row(row)["text"] for row in existing if is_active_allergy(row)]
    words = _in_words(call.args, substance)
    return Composed(
        subject=patient,
        summary=f"Allergy to {words}",
        done=f"Allergy recorded: {words}",
        new=[resource],
        before={"allergies": before},
        after={"allergies": before if known is not None else [*before, words]},
        alerts=notes,
        context=await clinical_context(call.hospital, record, medication=substance.display),
        known="" if known is None else _known_text(known),
        notes=[_told(patient["name"], row) for row in notes],
        facts={"allergy": words, "name": patient["name"]},
    )


def _arguments() -> tuple[ArgSpec, ...]:
    return (
        patient_arg(),
        ArgSpec(
            name="substance",
            label="Substance",
            type="string",
            required=True,
            hint={"min_length": 2, "lookup": {"terminology": "SNOMED CT/RxNorm"}},
        ),
        code_arg("category", "Category", _CATEGORIES, required=True, vs="allergy-intolerance-category"),
        code_arg(
            "criticality", "Criticality", CRITICALITIES, required=True, vs="allergy-intolerance-criticality"
        ),
        ArgSpec(
            name="manifestations",
            label="Reaction",
            type="array",
            hint={"multi": True, "enum": choice(REACTIONS)},
        ),
        code_arg("severity", "Severity", _SEVERITIES, vs="reaction-event-severity"),
        date_arg("onset", "First noticed", "today-100y", "today"),
    )


def _substance(entry: Mapping[str, Any]) -> Substance:
    text = plain_name(str(entry.get("substance") or ""), "Substance")
    if len(text) < 2:
        raise ToolError(
            "an allergy needs a substance; nothing was written", effect="none", code="no_substance"
        )
    return substance_of(text)


def _already(allergies: Sequence[Resource], substance: Substance) -> Resource | None:
    """An active allergy to the same substance, by code or by name."""
    for allergy in allergies:
        if is_active_allergy(allergy) and _is_same(allergy, substance):
            return allergy
    return None


def _is_same(allergy: Resource, substance: Substance) -> bool:
    concept = allergy.get("code") or {}
    codes = {(coding.get("system"), coding.get("code")) for coding in concept.get("coding") or []}
    if substance.coding is not None and substance.coding[:2] in codes:
        return True
    names = {ingredient_key(allergy_text(allergy)), ingredient_key(str(concept.get("text") or ""))}
    return bool(names & {ingredient_key(substance.display)} - {""})


def _known_text(allergy: Resource) -> str:
    return f"already on record: {reference_of(allergy)}, {allergy_row(allergy)['text']}"


def _resource(entry: Mapping[str, Any], substance: Substance) -> Resource:
    """The entry as FHIR, but for who recorded it and when."""
    code: dict[str, Any] = {"text": substance.display}
    if substance.coding is not None:
        system, value, display = substance.coding
        code["coding"] = [{"system": system, "code": value, "display": display}]
    resource: dict[str, Any] = {
        "resourceType": "AllergyIntolerance",
        "clinicalStatus": allergy_status_concept("clinical", "active", "Active"),
        "verificationStatus": allergy_status_concept("verification", "confirmed", "Confirmed"),
        "type": "allergy",
        "category": [entry["category"]],
        "criticality": entry["criticality"],
        "code": code,
        "patient": {"reference": entry["patient"]},
    }
    if entry.get("onset"):
        resource["onsetDateTime"] = entry["onset"]
    shown = [_manifestation(value) for value in entry.get("manifestations") or []]
    severity = entry.get("severity")
    if shown:
        resource["reaction"] = [{"manifestation": shown, **({"severity": severity} if severity else {})}]
    elif severity:
        # FHIR states a severity only of a reaction that is named.
        resource["note"] = [{"text": f"Severity of the reaction: {severity}; the reaction was not stated"}]
    return resource


def allergy_status_concept(kind: str, code: str, display: str) -> dict[str, Any]:
    """``clinical`` or ``verification`` status of an allergy."""
    return {"coding": [{"system": f"{_HL7}{kind}", "code": code, "display": display}], "text": display}


def _manifestation(code: str) -> dict[str, Any]:
    label = REACTIONS.get(code)
    if label is None:
        raise ToolError(f"{code!a} is not a reaction of the list", effect="none", code="bad_reaction")
    return {"coding": [{"system": "http://snomed.info/sct", "code": code, "display": label}], "text": label}


async def _notes(
    hospital: Hospital, patient: Mapping[str, Any], substance: Substance, existing: Sequence[Resource]
) -> list[dict[str, Any]]:
    """What must be looked at after the entry: medicines against it, a denial that no longer holds."""
    record = await medication_record(hospital, patient["reference"])
    orders = await current_orders(hospital, patient["reference"])
    rows = list(alert_rows(check_allergy(record, substance.display, hospital.rules), patient, orders))
    rows.extend(
        {
            "id": f"own-denial@{reference_of(allergy)}",
            "severity": "info",
            "summary": f"The record also says “{allergy_text(allergy)}” ({reference_of(allergy)})",
            "action": "Correct that entry",
            "source": "the patient's own record",
            "evidence": [{"reference": reference_of(allergy), "text": allergy_text(allergy)}],
        }
        for allergy in existing
        if is_denied(allergy)
    )
    return rows


def _in_words(entry: Mapping[str, Any], substance: Substance) -> str:
    """``ibuprofen (high criticality, angioedema, severe)``."""
    shown = [REACTIONS.get(code, code).lower() for code in entry.get("manifestations") or []]
    remarks = [f"{entry['criticality']} criticality", *shown]
    remarks += [entry["severity"]] if entry.get("severity") else []
    return f"{substance.display[:1].lower()}{substance.display[1:]} ({', '.join(remarks)})"


def _told(name: str, row: Mapping[str, Any]) -> str:
    """What is said of an alert after the entry."""
    medicines = [
        item["text"] for item in row["evidence"] if item["reference"].startswith("MedicationRequest/")
    ]
    if not medicines:
        return f"Note: {row['summary'].rstrip('.')}."
    # The alert opens with the medicine; the sentence has said it.
    why = row["summary"].rpartition(" now: ")[2].rstrip(".")
    return f"Note: {name} is on {joined(medicines)} ({why})."
