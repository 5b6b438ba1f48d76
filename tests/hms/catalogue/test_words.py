"""How the record is said: orders, dates and amounts, and what is missing in them."""

import datetime
from typing import Any

import pytest

from condor_hms.alerts import lab_number
from condor_hms.catalogue.identity import fold, identity
from condor_hms.catalogue.results import unit_text
from condor_hms.catalogue.terms import MEDICINES, SUBSTANCES, ingredient_key, substance_of
from condor_hms.catalogue.words import amount, concept_text, day, dose_text, joined, order_text, plural
from condor_hms.demo import demo_resources


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (datetime.date(2026, 11, 10), "10 Nov 2026"),
        ("2026-11-10T10:40:00Z", "10 Nov 2026"),
        ("2026-11", "Nov 2026"),
        ("2026", "2026"),
        ("", "date not recorded"),
        (None, "date not recorded"),
        ("2026-13", "2026-13"),
    ],
)
def test_a_date_is_said_as_far_as_it_goes(value: Any, said: str) -> None:
    """A partial date stays partial."""
    assert day(value) == said


@pytest.mark.parametrize(
    ("value", "unit", "said"),
    [
        (500.0, "mg", "500 mg"),
        (0.4, "mg", "0.4 mg"),
        (1, "{tbl}", "1 tablet"),
        (2, "{tbl}", "2 tablets"),
        (1, "{puff}", "1 puff"),
        (1, "[iU]", "1 unit"),
        (10, "[iU]", "10 units"),
        (50, "ug", "50 micrograms"),
        (3, "drops", "3 drops"),
    ],
)
def test_a_dose_is_said_as_it_was_given(value: float, unit: str, said: str) -> None:
    """No float tails; tablets and puffs in the plural they need."""
    assert dose_text(value, unit) == said


def order(**dosage: Any) -> dict[str, Any]:
    return {"medicationCodeableConcept": {"text": "X"}, "dosageInstruction": [dosage]}


@pytest.mark.parametrize(
    ("resource", "said"),
    [
        ({}, "medicine not named"),
        ({"medicationReference": {"display": "Y"}}, "Y"),
        ({"medicationCodeableConcept": {"coding": [{"code": "161"}]}}, "161"),
        (order(text="as directed"), "X: as directed"),
        (order(route={"text": "PO"}, asNeededBoolean=True), "X PO, as needed"),
        (order(timing={"repeat": {"frequency": 1, "period": 8, "periodUnit": "h"}}), "X, every 8 hours"),
        (order(timing={"repeat": {"frequency": 1, "period": 1, "periodUnit": "wk"}}), "X, every week"),
        (
            order(timing={"repeat": {"frequency": 2, "period": 1, "periodUnit": "wk"}}),
            "X, 2 times every week",
        ),
        (order(timing={"repeat": {"frequency": 1, "period": 2, "periodUnit": "d"}}), "X, on alternate days"),
        (order(timing={"repeat": {"frequency": 24, "period": 1, "periodUnit": "d"}}), "X, 24 times daily"),
        (order(timing={"repeat": {"count": 1}}), "X, once only"),
        (order(timing={"repeat": {"boundsDuration": {"value": 5, "unit": "d"}}}), "X, for 5 days"),
        (order(timing={"repeat": {"boundsDuration": {"value": 1.0, "code": "wk"}}}), "X, for 1 week"),
        (
            order(timing={"repeat": {"when": ["HS"], "frequency": 1, "period": 1, "periodUnit": "d"}}),
            "X, at bedtime",
        ),
    ],
)
def test_an_order_says_what_it_holds(resource: dict[str, Any], said: str) -> None:
    """What an order does not state is not said."""
    assert order_text(resource) == said


def test_every_order_and_patient_of_the_record_can_be_said() -> None:
    """No resource of the demonstration record makes the words stumble."""
    for resource in demo_resources():
        if resource["resourceType"] == "MedicationRequest":
            assert order_text(resource)
        if resource["resourceType"] == "Patient":
            assert "MRN POP-" in identity(resource, datetime.date(2026, 11, 30))["text"]


@pytest.mark.parametrize(
    ("code", "unit", "value", "said"),
    [
        ("4548-4", "%", 9, "9.0"),
        ("4548-4", "%", 7.25, "7.25"),
        ("2160-0", "mg/dL", 0.9, "0.90"),
        ("2160-0", "umol/L", 91, "91"),
        ("2823-3", "mmol/L", 5.0, "5.0"),
        ("6301-6", "{INR}", 2, "2.0"),
        ("718-7", "g/dL", 13, "13.0"),
        ("718-7", "g/L", 130, "130"),
        ("10839-9", "ng/mL", 0.012, "0.012"),
        ("29463-7", "kg", 80.0, "80"),
    ],
)
def test_a_laboratory_number_has_the_decimals_of_its_test(
    code: str, unit: str, value: float, said: str
) -> None:
    """The table's decimals where JSON lost them, never fewer than the record has, none in another unit."""
    assert lab_number(code, unit, value) == said


def test_small_words() -> None:
    """Lists, plurals, concepts and folded names."""
    assert [joined([]), joined(["a"]), joined(["a", "b", "c"])] == ["", "a", "a, b and c"]
    assert [plural(1, "allergy", "allergies"), plural(2, "day")] == ["1 allergy", "2 days"]
    assert [amount(7.0), amount(7.25), amount("7")] == ["7", "7.25", "7"]
    assert [concept_text(None), concept_text({"coding": [{}]})] == ["", ""]
    assert fold("O'Brien-Müller, José") == "obrien-muller jose"


def test_codes_of_substances_are_those_of_the_record() -> None:
    """No code is invented: each is in the demonstration record, or is the catalogue's ibuprofen."""
    known = {
        (coding["system"], coding["code"])
        for resource in demo_resources()
        for concept in (resource.get("code"), resource.get("medicationCodeableConcept"))
        if isinstance(concept, dict)
        for coding in concept.get("coding", [])
    } | {("http://www.nlm.nih.gov/research/umls/rxnorm", "5640")}
    assert {substance.coding[:2] for substance in SUBSTANCES.values() if substance.coding} <= known


@pytest.mark.parametrize(
    ("typed", "display", "category"),
    [
        ("ibuprofen", "Ibuprofen", "medication"),
        ("Nurofen", "Ibuprofen", "medication"),
        ("PENICILLIN", "Penicillin", "medication"),
        ("paracetamol", "Acetaminophen", "medication"),
        ("Warfarin", "Warfarin", "medication"),
        ("peanuts", "Peanuts", "food"),
        ("  Zebra   hair ", "Zebra hair", ""),
    ],
)
def test_substances_by_the_names_people_use(typed: str, display: str, category: str) -> None:
    """Brand and other names lead to one substance; an unknown one stays as it was typed."""
    substance = substance_of(typed)
    assert (substance.display, substance.category) == (display, category)


def test_medicines_are_listed_by_their_one_spelling() -> None:
    """A name in the table is its own key: no brand and no form is listed beside its medicine."""
    assert {ingredient_key(name) for name in MEDICINES} == MEDICINES


@pytest.mark.parametrize(
    ("unit", "test", "said"),
    [
        ("{INR}", "INR", ""),
        ("{score}", "Pain score", "score"),
        ("mmol/L", "Potassium", "mmol/L"),
        ("", "x", ""),
    ],
)
def test_a_unit_is_read_without_its_braces(unit: str, test: str, said: str) -> None:
    """An annotation of UCUM is a remark: “INR 1.3”, not “INR 1.3 {INR}”."""
    assert unit_text(unit, test) == said
