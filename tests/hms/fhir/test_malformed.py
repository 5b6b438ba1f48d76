"""Malformed writes of every type are refused, with the path of the element; one of each kind and type."""

import json
from pathlib import Path
from typing import Any

import pytest

from condor_hms.fhir.port import FhirStore, Resource, ValidationRefused
from tests.hms.fhir.support import EXAMPLES, HELEN, bundle, changed, put

DATA = Path(__file__).parents[1] / "data"


def example(name: str, kind: str) -> Resource:
    """The resource of a type in an example write, as a new one."""
    found: Resource = next(
        json.loads(json.dumps(entry["resource"]))
        for case in EXAMPLES[name]
        for entry in case["bundle"]["entry"]
        if entry["resource"]["resourceType"] == kind
    )
    found.pop("id", None)
    return found


CONDITION = example("condition.record", "Condition")
PLAN = example("treatment.create", "CarePlan")
PRESSURE = example("vitals.record", "Observation")
VACCINE = example("immunization.record", "Immunization")
REPORTED = example("medication.statement.record", "MedicationStatement")
NOTE = example("note.draft", "DocumentReference")
MESSAGE = example("communication.send", "Communication")
INVOICE = example("billing.invoice.update", "Invoice")
CHARGE = example("billing.invoice.update", "ChargeItem")
IN_ERROR: dict[str, Any] = {
    "coding": [
        {"system": "http://terminology.hl7.org/CodeSystem/condition-ver-status", "code": "entered-in-error"}
    ]
}
BOGUS: dict[str, Any] = {"coding": [{"system": "http://example.org", "code": "bogus"}]}
NOWHERE: dict[str, Any] = {"reference": "Patient/nobody"}
WRONG: dict[str, Any] = {"reference": "Practitioner/dr-okafor"}

#: Resource, the elements that are wrong (None: taken away), the path that must be named.
CASES: list[tuple[Resource, dict[str, Any], str]] = [
    (CONDITION, {"clinicalStatus": BOGUS}, "Condition.clinicalStatus.coding"),
    (CONDITION, {"verificationStatus": BOGUS}, "Condition.verificationStatus.coding"),
    (CONDITION, {"clinicalStatus": None}, "Condition.clinicalStatus"),
    (CONDITION, {"verificationStatus": IN_ERROR}, "Condition.clinicalStatus"),
    (CONDITION, {"abatementDateTime": "2026-11-20"}, "Condition.clinicalStatus"),
    (CONDITION, {"code": None}, "Condition.code"),
    (CONDITION, {"subject": NOWHERE}, "Condition.subject.reference"),
    (CONDITION, {"subject": WRONG}, "Condition.subject.reference"),
    (CONDITION, {"subject": {"display": "John"}}, "Condition.subject.reference"),
    (CONDITION, {"onsetDateTime": "last year"}, "Condition.onsetDateTime"),
    (CONDITION, {"note": []}, "Condition.note"),
    (CONDITION, {"bodyPart": "knee"}, "Condition.bodyPart"),
    (PLAN, {"status": "going"}, "CarePlan.status"),
    (PLAN, {"intent": "directive"}, "CarePlan.intent"),
    (
        PLAN,
        {"activity": [{"detail": {"status": "soon", "description": "x"}}]},
        "CarePlan.activity[0].detail.status",
    ),
    (PLAN, {"activity": [{"detail": {"status": "scheduled"}}]}, "CarePlan.activity[0].detail.description"),
    (PLAN, {"subject": None}, "CarePlan.subject"),
    (PLAN, {"goal": [{"reference": HELEN}]}, "CarePlan.goal[0].reference"),
    (PLAN, {"period": {"start": "2026-12-01", "end": "2026-01-01"}}, "CarePlan.period.end"),
    (PRESSURE, {"status": "done"}, "Observation.status"),
    (PRESSURE, {"component": None}, "Observation.value[x]"),
    (
        PRESSURE,
        {"valueString": "high", "dataAbsentReason": {"text": "not taken"}},
        "Observation.dataAbsentReason",
    ),
    (PRESSURE, {"component": None, "valueQuantity": {"unit": "mm[Hg]"}}, "Observation.valueQuantity.value"),
    (PRESSURE, {"component": None, "valueQuantity": {"value": "148"}}, "Observation.valueQuantity.value"),
    (
        PRESSURE,
        {"component": None, "valueQuantity": {"value": 1, "code": "mg"}},
        "Observation.valueQuantity.system",
    ),
    (PRESSURE, {"code": None}, "Observation.code"),
    (PRESSURE, {"subject": None}, "Observation.subject"),
    (
        PRESSURE,
        {"performer": [WRONG | {"reference": "Slot/slot-oka-1202-0930"}]},
        "Observation.performer[0].reference",
    ),
    (VACCINE, {"status": "given"}, "Immunization.status"),
    (VACCINE, {"vaccineCode": None}, "Immunization.vaccineCode"),
    (VACCINE, {"occurrenceDateTime": None}, "Immunization.occurrence[x]"),
    (VACCINE, {"patient": NOWHERE}, "Immunization.patient.reference"),
    (REPORTED, {"status": "taking"}, "MedicationStatement.status"),
    (
        REPORTED,
        {"medicationCodeableConcept": {"coding": [{"system": "x"}]}},
        "MedicationStatement.medicationCodeableConcept",
    ),
    (REPORTED, {"medicationReference": {"reference": "Medication/x"}}, "MedicationStatement.medication[x]"),
    (
        REPORTED,
        {"informationSource": {"reference": "Slot/slot-oka-1202-0930"}},
        "MedicationStatement.informationSource.reference",
    ),
    (NOTE, {"status": "draft"}, "DocumentReference.status"),
    (NOTE, {"docStatus": "signed"}, "DocumentReference.docStatus"),
    (
        NOTE,
        {"content": [{"attachment": {"contentType": "text/plain"}}]},
        "DocumentReference.content[0].attachment",
    ),
    (
        NOTE,
        {"content": [{"attachment": {"data": "not base64!"}}]},
        "DocumentReference.content[0].attachment.data",
    ),
    (NOTE, {"content": None}, "DocumentReference.content"),
    (NOTE, {"type": None}, "DocumentReference.type"),
    (NOTE, {"author": [{"reference": "Patient/nobody"}]}, "DocumentReference.author[0].reference"),
    (MESSAGE, {"status": "sent"}, "Communication.status"),
    (MESSAGE, {"priority": "high"}, "Communication.priority"),
    (MESSAGE, {"recipient": None}, "Communication.recipient"),
    (MESSAGE, {"payload": None}, "Communication.payload"),
    (MESSAGE, {"recipient": [{"display": "Melissa"}]}, "Communication.recipient[0].reference"),
    (INVOICE, {"status": "paid"}, "Invoice.status"),
    (INVOICE, {"status": "cancelled"}, "Invoice.cancelledReason"),
    (INVOICE, {"totalGross": {"value": 1}}, "Invoice.totalGross.currency"),
    (INVOICE, {"account": {"reference": HELEN}}, "Invoice.account.reference"),
    (CHARGE, {"status": "open"}, "ChargeItem.status"),
    (CHARGE, {"code": None}, "ChargeItem.code"),
    (CHARGE, {"subject": NOWHERE}, "ChargeItem.subject.reference"),
    (CHARGE, {"quantity": {"value": True}}, "ChargeItem.quantity.value"),
]


def malformed(resource: Resource, wrong: dict[str, Any]) -> Resource:
    merged = {**resource, **wrong}
    return {name: part for name, part in merged.items() if part is not None}


@pytest.mark.parametrize(
    ("resource", "wrong", "path"), CASES, ids=lambda part: part if isinstance(part, str) else ""
)
async def test_a_malformed_write_is_refused_with_its_path(
    demo_store: FhirStore, resource: Resource, wrong: dict[str, Any], path: str
) -> None:
    """Named to the element; nothing of it is in the record."""
    kind = resource["resourceType"]
    entry = {"resource": malformed(resource, wrong), "request": {"method": "POST", "url": kind}}
    with pytest.raises(ValidationRefused) as refusal:
        await demo_store.transact(bundle(entry))
    assert path in {issue.path for issue in refusal.value.issues}


@pytest.mark.parametrize(
    "resource",
    [CONDITION, PLAN, PRESSURE, VACCINE, REPORTED, NOTE, MESSAGE, INVOICE, CHARGE],
    ids=lambda row: row["resourceType"],
)
async def test_the_same_write_well_formed_is_accepted(demo_store: FhirStore, resource: Resource) -> None:
    """What is refused above is refused for what is wrong in it."""
    entry = {"resource": resource, "request": {"method": "POST", "url": resource["resourceType"]}}
    result = await demo_store.transact(bundle(entry))
    assert result.outcomes[0].status == "created"


@pytest.mark.parametrize(
    ("reference", "changes", "path"),
    [
        ("Invoice/inv-5002", {"status": "draft"}, "Invoice.status"),
        ("Communication/com-7001", {"payload": [{"contentString": "other"}]}, "Communication.payload"),
        ("Communication/com-7001", {"status": "preparation"}, "Communication.status"),
        (
            "DocumentReference/doc-6001",
            {"subject": {"reference": HELEN}},
            "DocumentReference.subject.reference",
        ),
        ("CarePlan/cp-2001", {"intent": "order"}, "CarePlan.intent"),
        ("Observation/anthro-206fd3f575f7", {"status": "preliminary"}, "Observation.status"),
        ("Observation/anthro-206fd3f575f7", {"code": {"text": "weight"}}, "Observation.code"),
        ("Condition/cond-905b12cb0266", {"subject": {"reference": HELEN}}, "Condition.subject.reference"),
        ("ChargeItem/chg-4001", {"subject": {"reference": HELEN}}, "ChargeItem.subject.reference"),
    ],
)
async def test_what_an_update_may_not_do(
    demo_store: FhirStore, reference: str, changes: dict[str, Any], path: str
) -> None:
    """Another patient, another meaning, a state that is over."""
    resource, version = await changed(demo_store, reference, **changes)
    with pytest.raises(ValidationRefused) as refusal:
        await demo_store.transact(bundle(put(resource, version)))
    assert path in {issue.path for issue in refusal.value.issues}


async def test_an_audit_event_is_never_changed(demo_store: FhirStore) -> None:
    """Append-only; the shapes of the catalogue are accepted."""
    events = [
        row["resource"] for row in json.loads((DATA / "audit_examples.json").read_text(encoding="utf-8"))
    ]
    entries = [{"resource": row, "request": {"method": "POST", "url": row["resourceType"]}} for row in events]
    result = await demo_store.transact(bundle(*entries))
    written = [
        outcome.reference for outcome in result.outcomes if outcome.reference.startswith("AuditEvent/")
    ]
    assert written
    resource, version = await changed(demo_store, written[0], outcome="8")
    with pytest.raises(ValidationRefused, match="never changed"):
        await demo_store.transact(bundle(put(resource, version)))
