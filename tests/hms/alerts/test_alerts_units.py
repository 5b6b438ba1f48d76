"""Names, doses, rules and identities: the parts that alerts are made of."""

from datetime import date
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from condor_hms.alerts import (
    FREQUENCIES,
    Allergy,
    MedicationRecord,
    MedicineOrder,
    PatientIdentity,
    ProposedMedication,
    check_allergy,
    check_medication,
    demo_rules,
    parse_rules,
    patient_identity,
)
from condor_hms.alerts.doses import daily_mg_of, dosage_text, single_mg_of
from condor_hms.alerts.names import core_words, is_denial, mentions, normalise
from condor_hms.alerts.rules import RulesRefused

TODAY = date(2026, 11, 30)
SOMEBODY = patient_identity({"id": "x"}, TODAY)


def dose(value: float | None, unit: str = "mg", **others: Any) -> dict[str, Any]:
    quantity = {"unit": unit, "code": unit} | ({} if value is None else {"value": value})
    return {"doseAndRate": [{"doseQuantity": quantity}], **others}


def every(frequency: int, period: float, unit: str) -> dict[str, Any]:
    return {"timing": {"repeat": {"frequency": frequency, "period": period, "periodUnit": unit}}}


def order(name: str, **others: Any) -> MedicineOrder:
    return MedicineOrder(
        reference=f"MedicationRequest/{name}", name=name, names=(name,), status="active", **others
    )


def allergy(name: str, clinical: str | None = "active", verification: str = "confirmed") -> Allergy:
    return Allergy(
        reference="AllergyIntolerance/a",
        name=name,
        names=(name,),
        clinical_status=clinical,
        verification=verification,
    )


@pytest.mark.parametrize(
    ("text", "name", "expected"),
    [
        ("Aspirin 325 mg", "aspirin", True),
        ("Celecoxib (Celebrex)", "celecoxib", True),
        ("ENOXAPARIN", "heparin", False),
        ("Acetylsalicylic acid", "aspirin", True),
        ("Paracetamol", "acetaminophen", True),
        ("Trimethoprim-Sulfamethoxazole", "trimethoprim/sulfamethoxazole", True),
        ("sulfamethoxazole and trimethoprim", "trimethoprim/sulfamethoxazole", True),
        ("sulfamethoxazole", "trimethoprim/sulfamethoxazole", False),
        ("Potassium chloride 20 mEq", "potassium chloride", True),
        ("Potassium citrate", "potassium chloride", False),
        ("Énalapril", "enalapril", True),
        ("CKD", "ckd", True),
        ("Chronic kidney disease, unspecified", "chronic kidney disease", True),
    ],
)
def test_whole_words_name_a_medicine(text: str, name: str, expected: bool) -> None:
    """Part of a word is another medicine; brand names and spellings are the same one."""
    assert mentions(text, name) is expected


@given(st.text(max_size=60))
def test_normalising_twice_is_normalising_once(text: str) -> None:
    """Both sides of a comparison may be normalised any number of times."""
    assert normalise(normalise(text)) == normalise(text)


def test_denials_and_forms_are_left_out() -> None:
    """`No known penicillin allergy` is none; a strength does not make another medicine."""
    assert is_denial("No known allergy")
    assert not is_denial("Aspirin")
    assert core_words("Amoxicillin 500 mg oral capsule") == " amoxicillin "
    assert core_words("500 mg") == ""


@pytest.mark.parametrize(
    ("dosages", "single", "daily", "text"),
    [
        ([dose(500, **every(2, 1, "d"))], 500.0, 1000.0, "500 mg 2 a day"),
        ([dose(1, "g", **every(1, 8, "h"))], 1000.0, 3000.0, "1 g 3 a day"),
        ([dose(35.0, **every(1, 1, "wk"))], 35.0, 5.0, "35 mg every 7 days"),
        ([dose(250, "ug", **every(1, 1, "d"))], 0.25, 0.25, "250 ug 1 a day"),
        ([dose(2, "{tbl}", **every(1, 1, "d"))], None, None, "2 {tbl} 1 a day"),
        ([dose(500)], 500.0, None, "500 mg"),
        ([dose(500, **every(4, 1, "d"), asNeededBoolean=True)], 500.0, None, "500 mg 4 a day as needed"),
        ([dose(None, text="10ug IV")], None, None, "10ug IV"),
        (
            [dose(10, **every(1, 1, "d")), dose(20, **every(1, 1, "d"))],
            20.0,
            30.0,
            "10 mg 1 a day; 20 mg 1 a day",
        ),
        ([dose(10, **every(1, 1, "d")), dose(20)], 20.0, None, "10 mg 1 a day; 20 mg"),
        ([], None, None, ""),
    ],
)
def test_doses_are_read_or_unknown(
    dosages: list[dict[str, Any]], single: float | None, daily: float | None, text: str
) -> None:
    """What is not stated is None: no unit is converted by guess, no frequency is assumed."""
    assert (single_mg_of(dosages), daily_mg_of(dosages), dosage_text(dosages)) == (
        single if single is None else pytest.approx(single),
        daily if daily is None else pytest.approx(daily),
        text,
    )


def test_the_frequencies_of_the_tools_are_known() -> None:
    """Every code that a tool offers has its number of doses a day; once only has none."""
    assert set(FREQUENCIES) == set(["QD", "BID", "TID", "QID", "Q4H", "Q6H", "Q8H", "QOD", "HS", "ONCE"])
    assert FREQUENCIES["ONCE"] is None


@pytest.mark.parametrize(
    ("recorded", "expected"),
    [
        (allergy("Substance with penicillin structure"), ["alg-01"]),
        (allergy("Penicillins"), ["alg-01"]),
        (allergy("Penicillin", verification="unconfirmed"), ["alg-01"]),
        (allergy("Penicillin", verification="refuted"), []),
        (allergy("Penicillin", clinical=None, verification="entered-in-error"), []),
        (allergy("Penicillin", clinical="resolved"), []),
        (allergy("Penicillin", clinical="inactive"), []),
        (allergy("No known penicillin allergy"), []),
        (allergy("Amoxicillin"), ["own-allergy-same"]),
        (allergy("Allergy to amoxicillin"), ["own-allergy-same"]),
        (allergy("Ampicillin"), ["own-allergy-class"]),
        (allergy("Sulfonamide"), []),
        (allergy("Latex"), []),
    ],
)
def test_only_allergies_that_count_speak_against_a_medicine(recorded: Allergy, expected: list[str]) -> None:
    """Refuted, resolved and erroneous allergies are silent; a denial names no allergen."""
    record = MedicationRecord(patient=SOMEBODY, allergies=(recorded,))
    alerts = check_medication(
        record, ProposedMedication(medication="Amoxicillin 500 mg"), demo_rules(), TODAY
    )
    assert [alert.rule_id for alert in alerts] == expected


def test_a_group_by_effect_is_no_class_of_allergy() -> None:
    """Spironolactone and co-trimoxazole both raise potassium; an allergy to one is none to the other."""
    record = MedicationRecord(patient=SOMEBODY, orders=(order("Spironolactone"),))
    assert check_allergy(record, "Trimethoprim/sulfamethoxazole", demo_rules()) == ()
    assert len(check_allergy(record, "Spironolactone", demo_rules())) == 1


def test_one_drug_is_no_pair_with_itself() -> None:
    """Sertraline twice is a duplicate; sertraline and citalopram is a pair, whichever stands first."""
    record = MedicationRecord(patient=SOMEBODY, orders=(order("Sertraline (Zoloft)"),))
    same = check_medication(record, ProposedMedication(medication="sertraline"), demo_rules(), TODAY)
    assert "ddi-07" not in [alert.rule_id for alert in same]
    for standing, new in (("Sertraline", "citalopram"), ("Citalopram", "sertraline")):
        record = MedicationRecord(patient=SOMEBODY, orders=(order(standing),))
        pair = check_medication(record, ProposedMedication(medication=new), demo_rules(), TODAY)
        assert [alert.rule_id for alert in pair] == ["ddi-07"]


@pytest.mark.parametrize(
    ("daily", "expected"),
    [(81.0, []), (100.0, []), (100.1, [("ddi-01", "critical")]), (None, [("ddi-01", "warning")])],
)
def test_a_dose_condition_looks_at_the_drug_it_names(
    daily: float | None, expected: list[tuple[str, str]]
) -> None:
    """The limit is aspirin's whichever of the two is new; an unknown dose is a warning, not silence."""
    record = MedicationRecord(patient=SOMEBODY, orders=(order("Aspirin", daily_mg=daily),))
    new = ProposedMedication(medication="ticagrelor", dose_value=90, dose_unit="mg", frequency_per_day=2)
    alerts = check_medication(record, new, demo_rules(), TODAY)
    assert [(alert.rule_id, alert.severity) for alert in alerts] == expected


@pytest.mark.parametrize(
    ("section", "row", "said"),
    [
        ("drug_drug", {"severity": "fatal"}, "severity 'fatal'"),
        ("drug_drug", {"a": "@unheard"}, "no drug class '@unheard'"),
        ("drug_drug", {"when": "a.weekly_mg > 1"}, "condition 'a.weekly_mg > 1'"),
        ("drug_condition", {"lab": {"loinc": "2823-3", "op": "~", "value": 5}}, "'~' is not one of"),
        ("drug_condition", {}, "either a condition or a lab"),
    ],
)
def test_a_rule_that_is_not_understood_is_refused(section: str, row: dict[str, Any], said: str) -> None:
    """A rule that were skipped silently is an alert that never comes."""
    base = {"id": "x-1", "severity": "info", "a": "b", "b": "c", "drug": "d"}
    data = {"version": "v", "classes": {}, "drug_drug": [], "drug_allergy": [], "drug_condition": []}
    with pytest.raises(RulesRefused, match=f"x-1: .*{said}"):
        parse_rules(data | {"dose_limits": []} | {section: [base | row]})


def test_the_demonstration_rules_are_all_there() -> None:
    """24 rules, ids unique."""
    rules = demo_rules()
    groups = (rules.pairs, rules.allergies, rules.conditions, rules.doses)
    ids = [rule.verdict.rule_id for group in groups for rule in group]
    assert (len(ids), len(set(ids))) == (24, 24)


@pytest.mark.parametrize(
    ("birth_date", "age", "years"),
    [
        ("1979-04-01", "47 y", 47),
        ("1979-11-30", "47 y", 47),
        ("1979-12-01", "46 y", 46),
        ("2024-11-30", "2 y", 2),
        ("2024-12-01", "23 mo", 1),
        ("2026-10-30", "1 mo", 0),
        ("2026-11-18", "12 d", 0),
        ("2026-11-30", "0 d", 0),
        ("2004-02-29", "22 y", 22),
        ("1979", "about 47 y", 47),
        ("1979-04", "about 47 y", 47),
        ("2027-01-01", "age not recorded", None),
        ("197", "age not recorded", None),
        ("unknown", "age not recorded", None),
        (None, "age not recorded", None),
    ],
)
def test_ages_are_told_as_a_prescriber_needs_them(
    birth_date: str | None, age: str, years: int | None
) -> None:
    """Months below two years, days below one month; a date that is none is not made up."""
    patient = {"id": "x"} | ({} if birth_date is None else {"birthDate": birth_date})
    identity = patient_identity(patient, TODAY)
    assert (identity.age, identity.age_years) == (age, years)


def test_an_identity_says_what_is_missing() -> None:
    """What the record does not have is said, never left out silently."""
    assert str(SOMEBODY) == "name not recorded, age not recorded, sex not recorded, no MRN"
    person = patient_identity(
        {
            "id": "x",
            "name": [
                {"use": "old", "family": "Before"},
                {"use": "nickname", "given": ["Nick"]},
                {"use": "official", "given": ["Nicholas", "J."], "family": "Bell"},
            ],
            "gender": "male",
            "birthDate": "1944-04-28",
            "deceasedDateTime": "2026-02-16",
            "identifier": [
                {"value": "no-type"},
                {"use": "old", "type": {"coding": [{"code": "MR"}]}, "value": "OLD-1"},
                {"type": {"coding": [{"code": "MR"}]}, "value": "POP-000055"},
            ],
        },
        TODAY,
    )
    assert isinstance(person, PatientIdentity)
    assert str(person) == "Nicholas J. Bell, 82 y, male, MRN POP-000055, deceased"
    assert str(patient_identity({"id": "x", "name": [{"text": "A. Nyone"}]}, TODAY)).startswith("A. Nyone,")
