"""Recording an allergy: once, with a substance, and with a look at what the patient is taking.

Rule 1: an allergy to nothing protects nobody: a blank substance is refused here and by the record.
Rule 2: an active allergy to the same substance is not recorded twice; the entry that is there is named.
Rule 3: what the patient takes that goes against the new allergy is said at once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from condor import (
    ArgSpec,
    CardEvidence,
    HitlTier,
    PolicyClass,
    Reconciled,
    ToolContext,
    ToolDescriptor,
    ToolError,
    ToolResult,
    tool,
)
from condor_hms.alerts import check_allergy
from condor_hms.catalogue.allergy_list import allergy_row
from condor_hms.catalogue.evidence import (
    alert_rows,
    allergies_of,
    allergy_text,
    clinical_context,
    is_active_allergy,
    is_denied,
    medication_record,
)
from condor_hms.catalogue.hospital import Hospital, reference_of, require_patient
from condor_hms.catalogue.identity import identity
from condor_hms.catalogue.medicine_list import current_orders
from condor_hms.catalogue.specs import choice, patient_arg
from condor_hms.catalogue.terms import REACTIONS, Substance, ingredient_key, substance_of
from condor_hms.catalogue.words import joined
from condor_hms.catalogue.writing import Written, create, identified, person, reconcile_created, record_time

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from condor_hms.fhir.port import Resource

__all__ = ["allergy_record_tools"]

_CATEGORIES = {
    "medication": "Medicine",
    "food": "Food",
    "environment": "Environment",
    "biologic": "Biologic",
}
_CRITICALITIES = {"low": "Low", "high": "High", "unable-to-assess": "Unable to assess"}
_SEVERITIES = {"mild": "Mild", "moderate": "Moderate", "severe": "Severe"}
_HL7 = "http://terminology.hl7.org/CodeSystem/allergyintolerance-"


def allergy_record_tools(hospital: Hospital) -> tuple[ToolDescriptor, ...]:
    """``allergy.record`` over an open record."""

    async def record(ctx: ToolContext, **entry: Any) -> dict[str, Any] | ToolResult:
        """Record an allergy: substance, category, criticality, and the reaction where it is known."""
        patient = identity(await require_patient(hospital, entry.get("patient")), hospital.today)
        substance = _substance(entry)
        existing = await allergies_of(hospital, patient["reference"])
        known = _already(existing, substance)
        if known is not None and not identified(known, ctx.idempotency_key):
            return ToolResult(outcome="skipped", value=_known_text(known))
        resource = _resource(entry, substance)
        resource["recordedDate"] = record_time(hospital, ctx)
        resource["recorder"] = await person(hospital, ctx.principal)
        notes = await _notes(hospital, patient, substance, existing)
        return _value(entry, patient, notes, await create(hospital, ctx, resource))

    async def show(_ctx: ToolContext, **entry: Any) -> CardEvidence:
        return await _evidence(hospital, entry)

    async def reconcile(ctx: ToolContext, **entry: Any) -> Reconciled:
        patient = identity(await require_patient(hospital, entry.get("patient")), hospital.today)
        existing = await allergies_of(hospital, patient["reference"])
        notes = await _notes(hospital, patient, _substance(entry), existing)
        return await reconcile_created(
            hospital, ctx, "AllergyIntolerance", lambda written: _value(entry, patient, notes, written)
        )

    return (
        tool(
            "allergy.record",
            policy_class=PolicyClass.MUTATE,
            hitl_tier=HitlTier.LOW,
            title="Record an allergy",
            description=record.__doc__ or "",
            ops={"create"},
            roles={"doctor", "nurse", "pharmacist"},
            idempotent=True,
            args=_arguments(),
            metadata={"mutating": True},
            noun="the allergy entry",
            report=_report,
            preview=show,
            reconcile=reconcile,
        )(record),
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
        ArgSpec(
            name="category",
            label="Category",
            type="code",
            required=True,
            hint={"enum": choice(_CATEGORIES), "radio": True, "vs": "allergy-intolerance-category"},
        ),
        ArgSpec(
            name="criticality",
            label="Criticality",
            type="code",
            required=True,
            hint={"enum": choice(_CRITICALITIES), "radio": True, "vs": "allergy-intolerance-criticality"},
        ),
        ArgSpec(
            name="manifestations",
            label="Reaction",
            type="array",
            hint={"multi": True, "enum": choice(REACTIONS)},
        ),
        ArgSpec(
            name="severity",
            label="Severity",
            type="code",
            hint={"enum": choice(_SEVERITIES), "radio": True, "vs": "reaction-event-severity"},
        ),
        ArgSpec(
            name="onset",
            label="First noticed",
            type="date",
            hint={"format": "date", "min": "today-100y", "max": "today"},
        ),
    )


def _substance(entry: Mapping[str, Any]) -> Substance:
    text = str(entry.get("substance") or "").strip()
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
        "clinicalStatus": _status("clinical", "active", "Active"),
        "verificationStatus": _status("verification", "confirmed", "Confirmed"),
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


def _status(kind: str, code: str, display: str) -> dict[str, Any]:
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


def _value(
    entry: Mapping[str, Any],
    patient: Mapping[str, Any],
    notes: Sequence[Mapping[str, Any]],
    written: Written,
) -> dict[str, Any]:
    return {
        **written.to_json(),
        "allergy": _in_words(entry, _substance(entry)),
        "patient": patient["text"],
        "name": patient["name"],
        "alerts": list(notes),
    }


def _report(args: Mapping[str, Any], value: Any) -> str:
    said = [
        f"Allergy recorded: {value['allergy']} for {value['patient']}, {value['reference']} "
        f"version {value['version']}."
    ]
    for row in value["alerts"]:
        medicines = [
            item["text"] for item in row["evidence"] if item["reference"].startswith("MedicationRequest/")
        ]
        if medicines:
            # The alert opens with the medicine; the sentence has said it.
            why = row["summary"].rpartition(" now: ")[2].rstrip(".")
            said.append(f"Note: {value['name']} is on {joined(medicines)} ({why}).")
        else:
            said.append(f"Note: {row['summary'].rstrip('.')}.")
    return " ".join(said)


async def _evidence(hospital: Hospital, entry: Mapping[str, Any]) -> CardEvidence:
    patient = identity(await require_patient(hospital, entry.get("patient")), hospital.today)
    substance = _substance(entry)
    existing = await allergies_of(hospital, patient["reference"])
    record = await medication_record(hospital, patient["reference"])
    before = [allergy_row(row)["text"] for row in existing if is_active_allergy(row)]
    known = _already(existing, substance)
    context = await clinical_context(hospital, record, medication=substance.display)
    if known is not None:
        context = ({"label": "Duplicate", "text": _known_text(known)}, *context)
    words = _in_words(entry, substance)
    return CardEvidence(
        subject=patient,
        summary=f"Allergy to {words}",
        before={"allergies": before},
        after={"allergies": before if known is not None else [*before, words]},
        alerts=tuple(await _notes(hospital, patient, substance, existing)),
        context=context,
    )
