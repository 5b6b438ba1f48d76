"""Reading the snapshot that alerts are evaluated on from a FHIR store."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from datetime import date
from typing import TYPE_CHECKING, Any

from condor_hms.alerts.doses import daily_mg_of, dosage_text, single_mg_of
from condor_hms.alerts.identity import patient_identity
from condor_hms.alerts.model import Allergy, LabValue, MedicationRecord, MedicineOrder, Problem
from condor_hms.fhir.elements import concept_code, concept_texts
from condor_hms.fhir.errors import NotFound

if TYPE_CHECKING:
    from collections.abc import Iterable

    from condor_hms.fhir.port import FhirStore, Resource

__all__ = ["CREATININE", "POTASSIUM", "WEIGHT", "load_medication_record"]

CREATININE = "2160-0"
POTASSIUM = "2823-3"
WEIGHT = "29463-7"
#: The tests a prescriber looks at, as a card names them.
_LABS = {CREATININE: "Creatinine", POTASSIUM: "Potassium", WEIGHT: "Weight"}
#: Latest results looked at per test: a few may be cancelled, preliminary or without a number.
_RESULTS_LOOKED_AT = 10
#: Observation.status of a result that may be relied on.
_USABLE = frozenset({"final", "amended", "corrected"})
#: Intents that tell somebody to give a medicine; proposals and plans do not.
_ORDER_INTENTS = "order,original-order,reflex-order,filler-order,instance-order"
_CLINICAL = "http://terminology.hl7.org/CodeSystem/allergyintolerance-clinical"
_VERIFICATION = "http://terminology.hl7.org/CodeSystem/allergyintolerance-verification"
_CONDITION_VERIFICATION = "http://terminology.hl7.org/CodeSystem/condition-ver-status"


async def load_medication_record(store: FhirStore, patient: str, today: date) -> MedicationRecord:
    """Read active orders, allergies, active problems and latest creatinine, potassium and weight.

    Args:
        store: the live record.
        patient: `Patient/id`.
        today: for the patient's age.

    Raises:
        FhirError: the record could not be read; an alert check that cannot read must not pass as clear.
    """
    searches = (
        store.search("MedicationRequest", {"subject": patient, "status": "active", "intent": _ORDER_INTENTS}),
        store.search("AllergyIntolerance", {"patient": patient}),
        store.search("Condition", {"subject": patient, "clinical-status": "active,recurrence,relapse"}),
        *(store.search("Observation", _latest_results(patient, code)) for code in _LABS),
    )
    identity, found_lists = await asyncio.gather(store.read(patient), asyncio.gather(*searches))
    orders, allergies, problems, *results = found_lists
    labs = [lab for code, found in zip(_LABS, results, strict=True) if (lab := _latest(code, found))]
    chosen = {lab.reference for lab in labs}
    lab_results = [item for found in results for item in found if _reference(item) in chosen]
    read = [identity, *orders, *allergies, *problems, *lab_results]
    return MedicationRecord(
        patient=patient_identity(identity, today),
        # A prohibition (`doNotPerform`) is kept as an order too; the patient does not take what it names.
        orders=tuple([await _order(store, order) for order in orders if not order.get("doNotPerform")]),
        allergies=tuple(_allergy(allergy) for allergy in allergies),
        problems=tuple(_problems(problems)),
        labs={lab.loinc: lab for lab in labs},
        versions={_reference(item): item["meta"]["versionId"] for item in read},
    )


def _latest_results(patient: str, loinc: str) -> dict[str, str]:
    return {"subject": patient, "code": loinc, "_sort": "-date", "_count": str(_RESULTS_LOOKED_AT)}


def _reference(resource: Resource) -> str:
    return f"{resource['resourceType']}/{resource['id']}"


async def _order(store: FhirStore, order: Resource) -> MedicineOrder:
    names = await _medicine_names(store, order)
    dosages = order.get("dosageInstruction", [])
    return MedicineOrder(
        reference=_reference(order),
        name=names[0],
        names=names,
        status=order["status"],
        dosage=dosage_text(dosages),
        single_mg=single_mg_of(dosages),
        daily_mg=daily_mg_of(dosages),
    )


async def _medicine_names(store: FhirStore, order: Resource) -> tuple[str, ...]:
    names = concept_texts(order.get("medicationCodeableConcept"))
    target = order.get("medicationReference", {})
    if "display" in target:
        names = (*names, target["display"])
    if target.get("reference", "#").startswith("Medication/"):
        with suppress(NotFound):  # best effort: the order may still carry a display
            names = (*concept_texts((await store.read(target["reference"])).get("code")), *names)
    return names or ("medicine without a name",)


def _allergy(allergy: Resource) -> Allergy:
    names = concept_texts(allergy.get("code")) or ("allergy without a name",)
    return Allergy(
        reference=_reference(allergy),
        name=names[0],
        names=names,
        clinical_status=concept_code(allergy.get("clinicalStatus"), _CLINICAL),
        verification=concept_code(allergy.get("verificationStatus"), _VERIFICATION),
        criticality=allergy.get("criticality"),
    )


def _problems(conditions: Iterable[Resource]) -> Iterable[Problem]:
    for condition in conditions:
        verification = concept_code(condition.get("verificationStatus"), _CONDITION_VERIFICATION)
        if verification not in ("refuted", "entered-in-error"):
            names = concept_texts(condition.get("code")) or ("problem without a name",)
            yield Problem(reference=_reference(condition), name=names[0], names=names)


def _latest(loinc: str, newest_first: list[Resource]) -> LabValue | None:
    for observation in newest_first:
        quantity: dict[str, Any] = observation.get("valueQuantity", {})
        moment = observation.get("effectiveDateTime", "")
        if observation.get("status") in _USABLE and "value" in quantity and len(moment) >= len("YYYY-MM-DD"):
            return LabValue(
                reference=_reference(observation),
                loinc=loinc,
                name=_LABS[loinc],
                value=float(quantity["value"]),
                unit=quantity.get("unit", ""),
                taken_on=date.fromisoformat(moment[:10]),
            )
    return None
