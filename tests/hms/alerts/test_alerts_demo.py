"""The alerts of the demonstration requests, computed from the record that is shipped."""

import asyncio
from datetime import date
from pathlib import Path

import pytest

from condor_hms.alerts import (
    CREATININE,
    POTASSIUM,
    WEIGHT,
    Alert,
    MedicationRecord,
    ProposedMedication,
    check_allergy,
    check_medication,
    check_orders,
    demo_rules,
    frequency_per_day,
    load_medication_record,
)
from condor_hms.demo import demo_today, load_demo
from condor_hms.fhir.embedded import EmbeddedFhirStore
from condor_hms.fhir.port import NotFound, RequestRefused

TODAY = date(2026, 11, 30)
ASPIRIN_325 = "MedicationRequest/mr-a0ed0aa6c9f6"

PATIENTS = {
    "Melissa Smith": "Patient/pt-0612cf63eb84",
    "John Hernandez": "Patient/pt-65e78d9ba50c",
    "Helen Coleman": "Patient/pt-bf0d2c068a08",
    "Kristin Bailey": "Patient/pt-af9c28587165",
    "Nicholas Bell": "Patient/pt-a664c9335e57",
    "Tamika Jackson": "Patient/pt-32b8c2988e1c",
    "Frances Mason": "Patient/pt-0b48e58a786b",
}


@pytest.fixture(scope="module")
def records(tmp_path_factory: pytest.TempPathFactory) -> dict[str, MedicationRecord]:
    """Every patient of the requests as alerts see them."""

    async def read() -> dict[str, MedicationRecord]:
        async with EmbeddedFhirStore(tmp_path_factory.mktemp("alerts") / "record.db") as store:
            await load_demo(store)
            return {
                name: await load_medication_record(store, reference, demo_today())
                for name, reference in PATIENTS.items()
            }

    return asyncio.run(read())


def proposed(text: str, *, replaces: str = "") -> ProposedMedication:
    """`amoxicillin 500 mg TID` as the tools would give it; dose and frequency may be left out."""
    name, *rest = text.split(" ")
    return ProposedMedication(
        medication=name.replace("_", " "),
        dose_value=float(rest[0]) if rest else None,
        dose_unit=rest[1] if rest else None,
        frequency_per_day=frequency_per_day(rest[2]) if len(rest) > 2 else None,
        replaces=frozenset({replaces} - {""}),
    )


def told(alerts: tuple[Alert, ...]) -> list[tuple[str, str]]:
    return [(alert.rule_id, alert.severity) for alert in alerts]


def test_the_record_is_read_as_it_stands(records: dict[str, MedicationRecord]) -> None:
    """Who, active orders, allergies, problems, latest results with their dates, and all versions."""
    melissa = records["Melissa Smith"]
    assert str(melissa.patient) == "Melissa Smith, 47 y, female, MRN POP-000035"
    assert sorted(order.name for order in melissa.orders) == [
        "Amlodipine",
        "Atorvastatin",
        "Metformin",
        "Sliding scale insulin",
    ]
    assert sorted(allergy.name for allergy in melissa.allergies) == [
        "Aspirin",
        "Substance with penicillin structure",
        "Sulfonamide",
        "Tree pollen",
    ]
    assert len(melissa.problems) == 4
    creatinine, weight = melissa.labs[CREATININE], melissa.labs[WEIGHT]
    assert (creatinine.value, creatinine.unit, creatinine.taken_on) == (0.74, "mg/dL", date(2026, 10, 23))
    assert (weight.value, weight.unit, weight.taken_on) == (77.2, "kg", date(2026, 11, 10))
    assert POTASSIUM not in melissa.labs
    metformin = next(order for order in melissa.orders if order.name == "Metformin")
    assert (metformin.single_mg, metformin.daily_mg, metformin.dosage) == (500.0, 1000.0, "500 mg 2 a day")
    assert len(melissa.versions) == 1 + 4 + 4 + 4 + 2
    assert set(melissa.versions.values()) == {"1"}


def test_r03_nitrofurantoin_for_melissa_smith_fires_no_rule(records: dict[str, MedicationRecord]) -> None:
    """No rule speaks against it; her four allergies are context for the card, not alerts."""
    melissa = records["Melissa Smith"]
    assert check_medication(melissa, proposed("Nitrofurantoin 100 mg BID"), demo_rules(), TODAY) == ()
    assert len([allergy for allergy in melissa.allergies if allergy.is_active]) == 4


def test_r04_amoxicillin_for_kristin_bailey_is_critical(records: dict[str, MedicationRecord]) -> None:
    """An unconfirmed penicillin allergy speaks against amoxicillin all the same."""
    kristin = records["Kristin Bailey"]
    assert str(kristin.patient) == "Kristin Bailey, 15 y, female, MRN POP-000007"
    [alert] = check_medication(kristin, proposed("amoxicillin 500 mg TID"), demo_rules(), TODAY)
    assert (alert.rule_id, alert.severity) == ("alg-01", "critical")
    assert [item.reference for item in alert.evidence] == ["AllergyIntolerance/allergy-f505cd4b32e5"]
    assert "unconfirmed" in alert.evidence[0].name


def test_r02_ibuprofen_allergy_surfaces_celecoxib(records: dict[str, MedicationRecord]) -> None:
    """John Hernandez is on celecoxib: a medicine of the same class as the new allergy."""
    [alert] = check_allergy(records["John Hernandez"], "Ibuprofen", demo_rules())
    assert (alert.rule_id, alert.severity) == ("own-allergy-class", "warning")
    assert alert.summary == "On Celecoxib now: celecoxib is of the same class (nsaid) as ibuprofen"
    assert [item.reference for item in alert.evidence] == ["MedicationRequest/rxopd-9d32703ea963"]


@pytest.mark.parametrize(
    ("substance", "expected"),
    [
        ("Celecoxib", [("own-allergy-same", "critical")]),
        ("Celebrex", [("own-allergy-same", "critical")]),
        ("Aspirin", [("alg-04", "critical")]),
        ("Sulfonamide antibiotic", [("alg-03", "critical")]),
        ("Egg", []),
        ("Penicillin", []),
        ("No known sulfonamide allergy", []),
    ],
)
def test_a_new_allergy_is_held_against_active_orders(
    records: dict[str, MedicationRecord], substance: str, expected: list[tuple[str, str]]
) -> None:
    """Same ingredient, a rule, or the same class; each order is told once."""
    assert told(check_allergy(records["John Hernandez"], substance, demo_rules())) == expected


@pytest.mark.parametrize(
    ("patient", "medicine", "expected"),
    [
        # Allergies.
        ("Melissa Smith", "ibuprofen", [("alg-04", "critical")]),
        ("Melissa Smith", "Bactrim_DS", [("alg-02", "critical")]),
        ("Melissa Smith", "sulfamethoxazole/trimethoprim", [("alg-02", "critical")]),
        ("Melissa Smith", "Celebrex", [("alg-03", "critical"), ("alg-04", "critical")]),
        ("Melissa Smith", "aspirin", [("alg-05", "critical")]),
        ("Melissa Smith", "co-amoxiclav", [("alg-01", "critical")]),
        ("Frances Mason", "amoxicillin 500 mg TID", []),
        # Interactions: classes, and one class with itself.
        ("Helen Coleman", "sertraline 50 mg QD", [("ddi-07", "warning"), ("ddi-08", "warning")]),
        ("Helen Coleman", "linezolid 600 mg BID", [("ddi-05", "critical")]),
        ("Helen Coleman", "warfarin 5 mg QD", [("ddi-02", "critical")]),
        ("Melissa Smith", "simvastatin 40 mg QD", [("ddi-12", "warning")]),
        ("Melissa Smith", "simvastatin 20 mg QD", []),
        ("Melissa Smith", "simvastatin", [("ddi-12", "warning")]),
        ("Frances Mason", "spironolactone 25 mg QD", [("ddi-13", "warning")]),
        # Conditions and results.
        ("John Hernandez", "spironolactone 25 mg QD", [("cnd-02", "critical")]),
        ("Tamika Jackson", "naproxen 250 mg BID", [("cnd-01", "warning")]),
        ("Tamika Jackson", "spironolactone 25 mg QD", []),
        ("Tamika Jackson", "amlodipine 5 mg QD", []),
        # Doses.
        ("Tamika Jackson", "metformin 1000 mg TID", [("dos-02", "warning")]),
        ("Tamika Jackson", "metformin 850 mg TID", []),
        ("Tamika Jackson", "paracetamol 1 g Q4H", [("dos-03", "critical")]),
        ("Tamika Jackson", "paracetamol 1 g QID", []),
        ("Helen Coleman", "paracetamol 1 g QID", [("dos-03", "critical"), ("own-duplicate", "info")]),
        ("Tamika Jackson", "ticagrelor 180 mg ONCE", []),
        ("Tamika Jackson", "ticagrelor 180 mg BID", [("dos-01", "critical")]),
        ("Tamika Jackson", "ticagrelor 360 mg ONCE", [("dos-01", "critical")]),
        ("Tamika Jackson", "metformin 2 {tbl} BID", [("dos-02", "info")]),
        # The same medicine is a duplicate, not an interaction with itself.
        (
            "Helen Coleman",
            "escitalopram 10 mg QD",
            [("ddi-07", "warning"), ("ddi-08", "warning"), ("own-duplicate", "info")],
        ),
    ],
)
def test_what_speaks_against_a_medicine(
    records: dict[str, MedicationRecord], patient: str, medicine: str, expected: list[tuple[str, str]]
) -> None:
    """True and false positives over the demonstration record, the most severe first."""
    assert told(check_medication(records[patient], proposed(medicine), demo_rules(), TODAY)) == expected


def test_r12_aspirin_with_ticagrelor(records: dict[str, MedicationRecord]) -> None:
    """81 mg is no alert of its own; 325 mg is. Either way the overdosed ticagrelor is told."""
    nicholas, rules = records["Nicholas Bell"], demo_rules()
    low = check_medication(nicholas, proposed("aspirin 81 mg QD", replaces=ASPIRIN_325), rules, TODAY)
    assert told(low) == [("dos-01", "critical")]
    assert [item.reference for item in low[0].evidence] == ["MedicationRequest/mr-5ee6dcdf2860"]
    high = check_medication(nicholas, proposed("aspirin 325 mg QD", replaces=ASPIRIN_325), rules, TODAY)
    assert told(high) == [("ddi-01", "critical"), ("dos-01", "critical")]
    unknown = check_medication(nicholas, proposed("aspirin 81 mg", replaces=ASPIRIN_325), rules, TODAY)
    assert told(unknown) == [("dos-01", "critical"), ("ddi-01", "warning")]
    assert "daily dose of aspirin not known" in unknown[1].summary


def test_a_replaced_order_no_longer_counts(records: dict[str, MedicationRecord]) -> None:
    """A change of dose is not a duplicate of the order it replaces; without saying so it is one."""
    nicholas, rules = records["Nicholas Bell"], demo_rules()
    again = check_medication(nicholas, proposed("aspirin 81 mg QD"), rules, TODAY)
    assert ("own-duplicate", "info") in told(again)
    change = check_medication(nicholas, proposed("aspirin 81 mg QD", replaces=ASPIRIN_325), rules, TODAY)
    assert ("own-duplicate", "info") not in told(change)


def test_standing_orders_are_checked_each_rule_once(records: dict[str, MedicationRecord]) -> None:
    """What R05 worries about: one alert with all the orders it rests on."""
    alerts = check_orders(records["Helen Coleman"], demo_rules(), TODAY)
    assert told(alerts) == [("ddi-08", "warning"), ("ddi-07", "warning")]
    assert sorted(item.name.split()[0] for item in alerts[0].evidence) == [
        "Celecoxib",
        "Escitalopram",
        "Venlafaxine",
    ]
    john = check_orders(records["John Hernandez"], demo_rules(), TODAY)
    assert told(john) == [("alg-03", "critical"), ("cnd-01", "warning")]
    nicholas = check_orders(records["Nicholas Bell"], demo_rules(), TODAY)
    assert told(nicholas) == [("ddi-01", "critical"), ("dos-01", "critical")]
    assert check_orders(records["Melissa Smith"], demo_rules(), TODAY) == ()


def test_a_result_is_told_with_its_age(records: dict[str, MedicationRecord]) -> None:
    """A potassium of half a year ago is evidence, and says that it is old."""
    [alert] = check_medication(
        records["John Hernandez"], proposed("spironolactone 25 mg QD"), demo_rules(), TODAY
    )
    assert [item.name for item in alert.evidence] == ["Potassium 5.2 mmol/L on 2026-06-26 (157 days ago)"]


def test_every_alert_has_an_action_and_a_source(records: dict[str, MedicationRecord]) -> None:
    """An alert that does not say what to do, or where it comes from, cannot be acted on."""
    for record in records.values():
        for alert in check_orders(record, demo_rules(), TODAY):
            assert all((alert.summary, alert.action, alert.source, alert.evidence))


async def test_a_record_that_cannot_be_read_is_an_error(tmp_path: Path) -> None:
    """A check that cannot read must not pass as clear."""
    async with EmbeddedFhirStore(tmp_path / "record.db") as store:
        with pytest.raises(NotFound):
            await load_medication_record(store, "Patient/nobody", TODAY)
        with pytest.raises(RequestRefused):
            await load_medication_record(store, "nobody", TODAY)


CODED = {"system": "http://terminology.hl7.org/CodeSystem/condition-ver-status", "code": "refuted"}


async def test_odd_records_are_read_as_they_are(tmp_path: Path) -> None:
    """A medicine by reference, an order without a name, a refuted problem, results that cannot be used."""
    john = {"reference": "Patient/p"}
    ordered = {"resourceType": "MedicationRequest", "status": "active", "intent": "order", "subject": john}
    result = {"resourceType": "Observation", "code": {"coding": [{"code": POTASSIUM}]}, "subject": john}
    active = {"coding": [{"code": "active"}]}
    async with EmbeddedFhirStore(tmp_path / "record.db") as store:
        await store.load(
            [
                {"resourceType": "Patient", "id": "p"},
                {"resourceType": "Medication", "id": "m", "code": {"text": "Warfarin"}},
                ordered | {"id": "1", "medicationReference": {"reference": "Medication/m"}},
                ordered
                | {"id": "2", "medicationReference": {"reference": "Medication/x", "display": "Lisinopril"}},
                ordered | {"id": "3", "medicationReference": {"reference": "#contained"}},
                ordered | {"id": "4", "intent": "proposal", "medicationCodeableConcept": {"text": "Digoxin"}},
                ordered | {"id": "5", "doNotPerform": True, "medicationCodeableConcept": {"text": "Digoxin"}},
                {"resourceType": "Condition", "id": "c", "subject": john, "clinicalStatus": active}
                | {"verificationStatus": {"coding": [CODED]}, "code": {"text": "CKD"}},
                result
                | {"id": "a", "status": "entered-in-error", "effectiveDateTime": "2026-11-29"}
                | {"valueQuantity": {"value": 9.9, "unit": "mmol/L"}},
                result | {"id": "b", "status": "final", "effectiveDateTime": "2026-11-28"},
                result
                | {"id": "c", "status": "final", "effectiveDateTime": "2026-11-27T08:00:00Z"}
                | {"valueQuantity": {"value": 4.1, "unit": "mmol/L"}},
            ]
        )
        record = await load_medication_record(store, "Patient/p", TODAY)
    assert [order.name for order in record.orders] == ["Warfarin", "Lisinopril", "medicine without a name"]
    assert record.problems == ()
    assert (record.labs[POTASSIUM].reference, record.labs[POTASSIUM].value) == ("Observation/c", 4.1)
    assert "Observation/a" not in record.versions
    alerts = check_medication(record, proposed("ibuprofen 400 mg TID"), demo_rules(), TODAY)
    assert told(alerts) == [("ddi-02", "critical"), ("ddi-09", "warning")]
