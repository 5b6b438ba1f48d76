"""What may not be written: each malformed write is refused with the path of the element at fault."""

import subprocess
import sys
from typing import Any

import pytest

from condor_hms.demo import demo_resources
from condor_hms.fhir.port import FhirStore, Resource, ValidationRefused
from condor_hms.fhir.structure import preload, shape_issues, structure_issues
from condor_hms.fhir.validation import check_content
from condor_hms.fhir.value_sets import VALUE_SETS
from tests.hms.fhir.support import (
    CELECOXIB,
    CLINICAL,
    FALLS,
    JOHN,
    TODAY,
    UCUM,
    VERIFICATION,
    WHEAT,
    allergy,
    bundle,
    changed,
    concept,
    dosage,
    everything,
    flag,
    order,
    post,
    provenance,
    put,
)


def without(resource: Resource, *names: str) -> Resource:
    return {key: value for key, value in resource.items() if key not in names}


def dosed(**quantity: Any) -> Resource:
    return order(dosageInstruction=[dosage(doseAndRate=[{"doseQuantity": quantity}])])


def timed(**repeat: Any) -> Resource:
    return order(dosageInstruction=[dosage(timing={"repeat": repeat})])


MALFORMED: list[tuple[str, Resource, str]] = [
    # An allergy to nothing.
    ("required", without(allergy(), "code"), "AllergyIntolerance.code"),
    ("empty", allergy(code={}), "AllergyIntolerance.code"),
    ("empty", allergy(code={"text": "  "}), "AllergyIntolerance.code.text"),
    ("empty", allergy(code={"coding": []}), "AllergyIntolerance.code.coding"),
    ("required", allergy(code={"coding": [{"system": "http://snomed.info/sct"}]}), "AllergyIntolerance.code"),
    # Value sets.
    ("value-set", allergy(criticality="bogus"), "AllergyIntolerance.criticality"),
    ("value-set", allergy(category=["medication", "drug"]), "AllergyIntolerance.category[1]"),
    ("value-set", allergy(type="Allergy"), "AllergyIntolerance.type"),
    (
        "value-set",
        allergy(clinicalStatus=concept(CLINICAL, "gone")),
        "AllergyIntolerance.clinicalStatus.coding",
    ),
    ("value-set", allergy(clinicalStatus={"text": "Active"}), "AllergyIntolerance.clinicalStatus.coding"),
    (
        "value-set",
        allergy(verificationStatus=concept("urn:other", "confirmed")),
        "AllergyIntolerance.verificationStatus.coding",
    ),
    (
        "value-set",
        allergy(reaction=[{"manifestation": [{"text": "Rash"}], "severity": "bad"}]),
        "AllergyIntolerance.reaction[0].severity",
    ),
    ("value-set", order(status="bogus"), "MedicationRequest.status"),
    ("value-set", order(status="Active"), "MedicationRequest.status"),
    ("value-set", order(intent="prescription"), "MedicationRequest.intent"),
    ("value-set", order(priority="high"), "MedicationRequest.priority"),
    (
        "value-set",
        timed(frequency=2, period=1, periodUnit="day"),
        "MedicationRequest.dosageInstruction[0].timing.repeat.periodUnit",
    ),
    ("value-set", flag(status="bogus"), "Flag.status"),
    (
        "value-set",
        provenance(JOHN, entity=[{"role": "cause", "what": {"reference": JOHN}}]),
        "Provenance.entity[0].role",
    ),
    # Required elements and cardinalities of R4.
    ("structure", without(order(), "status"), "MedicationRequest.status"),
    ("structure", without(order(), "intent"), "MedicationRequest.intent"),
    ("structure", without(order(), "subject"), "MedicationRequest.subject"),
    ("structure", without(order(), "medicationCodeableConcept"), "MedicationRequest.medication[x]"),
    (
        "structure",
        order(medicationReference={"reference": "Medication/m"}),
        "MedicationRequest.medication[x]",
    ),
    ("structure", without(allergy(), "patient"), "AllergyIntolerance.patient"),
    ("structure", allergy(reaction=[{"severity": "mild"}]), "AllergyIntolerance.reaction[0].manifestation"),
    ("structure", without(flag(), "code"), "Flag.code"),
    ("structure", without(provenance(JOHN), "recorded"), "Provenance.recorded"),
    ("structure", without(provenance(JOHN), "agent"), "Provenance.agent"),
    ("structure", provenance(JOHN, agent=[{"type": {"text": "author"}}]), "Provenance.agent[0].who"),
    ("required", provenance(JOHN, agent=[{"who": {"type": "Practitioner"}}]), "Provenance.agent[0].who"),
    ("structure", without(provenance(JOHN), "target"), "Provenance.target"),
    # Elements and types.
    ("structure", order(dose="100 mg"), "MedicationRequest.dose"),
    ("structure", allergy(substance={"text": "Ibuprofen"}), "AllergyIntolerance.substance"),
    ("structure", order(authoredOn="30/11/2026"), "MedicationRequest.authoredOn"),
    ("structure", order(authoredOn="2026-02-31"), "MedicationRequest.authoredOn"),
    ("structure", order(authoredOn="2026-11-30T09:30:00"), "MedicationRequest.authoredOn"),
    ("structure", order(doNotPerform="false"), "MedicationRequest.doNotPerform"),
    ("structure", order(subject="Patient/pt-65e78d9ba50c"), "MedicationRequest.subject"),
    ("structure", order(subject={"reference": 7}), "MedicationRequest.subject.reference"),
    ("structure", allergy(code="Ibuprofen"), "AllergyIntolerance.code"),
    ("structure", allergy(code='{"text": "Ibuprofen"}'), "AllergyIntolerance.code"),
    ("structure", allergy(category="medication"), "AllergyIntolerance.category"),
    (
        "structure",
        dosed(value="100", unit="mg"),
        "MedicationRequest.dosageInstruction[0].doseAndRate[0].doseQuantity.value",
    ),
    # Empty things, and things that are not JSON.
    ("empty", allergy(reaction=[]), "AllergyIntolerance.reaction"),
    ("empty", order(dosageInstruction=[{}]), "MedicationRequest.dosageInstruction[0]"),
    ("empty", order(reasonCode=[{"text": ""}]), "MedicationRequest.reasonCode[0].text"),
    ("empty", order(note=None), "MedicationRequest.note"),
    (
        "shape",
        dosed(value=float("nan"), unit="mg"),
        "MedicationRequest.dosageInstruction[0].doseAndRate[0].doseQuantity.value",
    ),
    ("shape", allergy(code={"text": "x" * 1_000_001}), "AllergyIntolerance.code.text"),
    (
        "shape",
        dosed(value=2**63, unit="mg"),
        "MedicationRequest.dosageInstruction[0].doseAndRate[0].doseQuantity.value",
    ),
    ("shape", allergy(code={1: "Ibuprofen"}), "AllergyIntolerance.code"),
    ("shape", allergy(category=[["food"]]), "AllergyIntolerance.category[0]"),
    ("shape", allergy(code={"text": b"Ibuprofen"}), "AllergyIntolerance.code.text"),
    # References: type, form and existence.
    ("reference", order(subject={"reference": "pt-65e78d9ba50c"}), "MedicationRequest.subject.reference"),
    ("reference", order(subject={"reference": "Patient/nobody"}), "MedicationRequest.subject.reference"),
    (
        "reference",
        order(subject={"reference": "Practitioner/dr-okafor"}),
        "MedicationRequest.subject.reference",
    ),
    ("reference", order(subject={"reference": "Group/ward"}), "MedicationRequest.subject.reference"),
    ("reference", order(subject={"display": "John Hernandez"}), "MedicationRequest.subject.reference"),
    (
        "reference",
        order(subject={"reference": "https://elsewhere.example/Patient/1"}),
        "MedicationRequest.subject.reference",
    ),
    ("reference", order(subject={"reference": "#p"}), "MedicationRequest.subject.reference"),
    ("reference", order(requester={"reference": "#nobody"}), "MedicationRequest.requester.reference"),
    (
        "reference",
        order(requester={"reference": "Practitioner/dr-who"}),
        "MedicationRequest.requester.reference",
    ),
    (
        "reference",
        order(priorPrescription={"reference": WHEAT}),
        "MedicationRequest.priorPrescription.reference",
    ),
    (
        "reference",
        order(reasonReference=[{"reference": JOHN}]),
        "MedicationRequest.reasonReference[0].reference",
    ),
    ("reference", allergy(patient={"reference": CELECOXIB}), "AllergyIntolerance.patient.reference"),
    ("reference", flag(subject={"reference": "Patient/nobody"}), "Flag.subject.reference"),
    ("reference", provenance("urn:uuid:none"), "Provenance.target[0].reference"),
    ("reference", provenance(JOHN, "Patient/nobody"), "Provenance.target[1].reference"),
    # Invariants of R4.
    ("ait-1", without(allergy(), "clinicalStatus"), "AllergyIntolerance.clinicalStatus"),
    (
        "ait-2",
        allergy(verificationStatus=concept(VERIFICATION, "entered-in-error")),
        "AllergyIntolerance.clinicalStatus",
    ),
    (
        "tim-2",
        timed(frequency=2, period=1),
        "MedicationRequest.dosageInstruction[0].timing.repeat.periodUnit",
    ),
    (
        "tim-5",
        timed(frequency=2, period=-1, periodUnit="d"),
        "MedicationRequest.dosageInstruction[0].timing.repeat.period",
    ),
    (
        "tim-10",
        timed(frequency=2, period=1, periodUnit="d", timeOfDay=["08:00:00"], when=["MORN"]),
        "MedicationRequest.dosageInstruction[0].timing.repeat.when",
    ),
    ("per-1", flag(period={"start": "2026-11-30", "end": "2026-11-29"}), "Flag.period.end"),
    (
        "qty-3",
        dosed(value=100, code="mg"),
        "MedicationRequest.dosageInstruction[0].doseAndRate[0].doseQuantity.system",
    ),
    # Ours: a dose is a dose, an order says who gives it and how it is taken.
    (
        "dose",
        dosed(value=0, unit="mg"),
        "MedicationRequest.dosageInstruction[0].doseAndRate[0].doseQuantity.value",
    ),
    (
        "dose",
        dosed(value=-5, unit="mg"),
        "MedicationRequest.dosageInstruction[0].doseAndRate[0].doseQuantity.value",
    ),
    (
        "dose",
        dosed(unit="mg", system=UCUM),
        "MedicationRequest.dosageInstruction[0].doseAndRate[0].doseQuantity.value",
    ),
    (
        "dose",
        dosed(value=100),
        "MedicationRequest.dosageInstruction[0].doseAndRate[0].doseQuantity.unit",
    ),
    ("required", without(order(), "requester"), "MedicationRequest.requester"),
    ("required", without(order(), "dosageInstruction"), "MedicationRequest.dosageInstruction"),
    ("required", order(dosageInstruction=[{"asNeededBoolean": True}]), "MedicationRequest.dosageInstruction"),
    # What would change the meaning of the resource, and is not understood.
    (
        "modifier",
        order(modifierExtension=[{"url": "urn:x", "valueBoolean": True}]),
        "MedicationRequest.modifierExtension",
    ),
    ("modifier", allergy(implicitRules="urn:x"), "AllergyIntolerance.implicitRules"),
    # A type that FHIR does not have, and types without a write profile: structure.
    ("structure", {"resourceType": "Alergy", "code": {"text": "x"}}, "resourceType"),
    ("structure", {"resourceType": "Element", "id": "x"}, "resourceType"),
    ("structure", {"resourceType": "Condition", "code": {"text": "x"}}, "Condition.subject"),
]


@pytest.mark.parametrize(("rule", "resource", "path"), MALFORMED, ids=[f"{r}-{p}" for r, _, p in MALFORMED])
async def test_a_malformed_write_is_refused_with_its_path(
    store: FhirStore, rule: str, resource: Resource, path: str
) -> None:
    """The refusal names the element and the rule; nothing is applied, not even the good entry beside it."""
    before = await everything(store)
    with pytest.raises(ValidationRefused) as refused:
        await store.transact(bundle(post(flag(), "good"), post(resource)))
    assert (path, rule, 1) in [(issue.path, issue.rule, issue.entry) for issue in refused.value.issues]
    assert str(refused.value).startswith("refused: ")
    assert "\n" not in str(refused.value)
    assert await everything(store) == before


CHANGES: list[tuple[str, str, dict[str, Any], str]] = [
    ("fixed", CELECOXIB, {"subject": {"reference": "Patient/pt-bf0d2c068a08"}}, "subject.reference"),
    ("fixed", CELECOXIB, {"medicationCodeableConcept": {"text": "Warfarin"}}, "medicationCodeableConcept"),
    ("fixed", CELECOXIB, {"intent": "plan"}, "intent"),
    ("transition", CELECOXIB, {"status": "draft"}, "status"),
    ("fixed", WHEAT, {"patient": {"reference": "Patient/pt-bf0d2c068a08"}}, "patient.reference"),
    ("fixed", FALLS, {"subject": {"reference": JOHN}}, "subject.reference"),
]


@pytest.mark.parametrize(("rule", "reference", "changes", "path"), CHANGES)
async def test_what_a_resource_is_does_not_change(
    store: FhirStore, rule: str, reference: str, changes: dict[str, Any], path: str
) -> None:
    """An order does not move to another patient and does not become another medicine."""
    resource, version = await changed(store, reference, **changes)
    with pytest.raises(ValidationRefused) as refused:
        await store.transact(bundle(put(resource, version)))
    [issue] = refused.value.issues
    assert (issue.rule, issue.path) == (rule, f"{resource['resourceType']}.{path}")
    assert (await store.versions([reference]))[reference] == version


@pytest.mark.parametrize("end", ["stopped", "completed", "cancelled", "entered-in-error"])
async def test_an_ended_order_stays_ended(store: FhirStore, end: str) -> None:
    """A stopped order is never active again; only that it was an error may still be said."""
    resource, version = await changed(store, CELECOXIB, status=end)
    await store.transact(bundle(put(resource, version)))
    for following in ("active", "on-hold", end):
        resource, version = await changed(store, CELECOXIB, status=following)
        with pytest.raises(ValidationRefused, match=f"cannot go from {end} to {following}"):
            await store.transact(bundle(put(resource, version)))
    resource, version = await changed(store, CELECOXIB, status="entered-in-error")
    if end == "entered-in-error":
        with pytest.raises(ValidationRefused, match="it is final"):
            await store.transact(bundle(put(resource, version)))
    else:
        await store.transact(bundle(put(resource, version)))


async def test_a_provenance_is_never_changed(store: FhirStore) -> None:
    """What was witnessed stays as it was witnessed."""
    result = await store.transact(bundle(post(provenance(JOHN))))
    resource, version = await changed(store, result.outcomes[0].reference, recorded="2020-01-01T00:00:00Z")
    with pytest.raises(ValidationRefused, match="never changed"):
        await store.transact(bundle(put(resource, version)))


async def test_all_issues_of_a_bundle_are_told_at_once(store: FhirStore) -> None:
    """Whoever corrects a write sees everything that is wrong with it, and with which entry."""
    with pytest.raises(ValidationRefused) as refused:
        await store.transact(
            bundle(post(allergy(criticality="x", type="y")), post(flag(status="z")), post(flag()))
        )
    found = [(issue.entry, issue.path) for issue in refused.value.issues]
    assert sorted(found) == [
        (0, "AllergyIntolerance.criticality"),
        (0, "AllergyIntolerance.type"),
        (1, "Flag.status"),
    ]


async def test_an_old_order_without_a_dose_can_still_be_stopped(store: FhirStore) -> None:
    """What we demand of a new order is not demanded of one that is already there."""
    reference = "MedicationRequest/rxopd-0bde0e981838"
    resource, version = await changed(store, reference, status="stopped")
    assert "doseAndRate" not in resource["dosageInstruction"][0]
    result = await store.transact(bundle(put(resource, version)))
    assert result.outcomes[0].status == "updated"


def test_the_demonstration_record_is_valid() -> None:
    """What is loaded without checks would have passed them: structure, and the profiles of what we write."""
    for resource in demo_resources():
        assert shape_issues(resource) == []
        assert structure_issues(resource) == []
        assert check_content(resource, today=TODAY) == []


def test_primitives_with_companions_may_be_null() -> None:
    """FHIR JSON keeps primitives and their companion in step with nulls; nowhere else is a null allowed."""
    name = {"given": ["Ana", None], "_given": [None, {"id": "second"}]}
    assert shape_issues({"resourceType": "Patient", "name": [name]}) == []
    lonely = shape_issues({"resourceType": "Patient", "name": [{"given": ["Ana", None]}]})
    assert [issue.path for issue in lonely] == ["Patient.name[0].given[1]"]


def test_deep_data_is_refused_before_it_is_walked() -> None:
    """Nesting is limited, so that no request can exhaust the stack."""
    deep: Resource = {"resourceType": "Basic"}
    inner = deep
    for _ in range(40):
        inner["extension"] = {"url": "x"}
        inner = inner["extension"]
    assert {issue.rule for issue in check_content(deep, today=TODAY)} == {"shape"}


def test_issues_are_limited() -> None:
    """A refusal stays readable whatever is sent."""
    assert len(shape_issues({"resourceType": "Basic", "extension": [""] * 1000})) == 20
    preload(["Flag"])


def test_value_sets_are_closed_and_named() -> None:
    """Each set has a system and at least two codes, none of them blank."""
    for name, value_set in VALUE_SETS.items():
        assert name == value_set.name
        assert value_set.system.startswith("http")
        assert len(value_set.codes) >= 2


def test_whoever_only_reads_does_not_load_the_models() -> None:
    """The models of fhir.resources take half a second to import; a read-only command does not pay it."""
    script = (
        "import sys, condor_hms.fhir.embedded, condor_hms.alerts, condor_hms.demo\n"
        "sys.exit(any(name.split('.')[0] in ('fhir', 'fhir_core', 'pydantic') for name in sys.modules))"
    )
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 0
