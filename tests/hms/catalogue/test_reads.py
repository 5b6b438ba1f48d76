"""Reading: the figures of the demonstration record, said so that a clinician can use them."""

from typing import Any

import pytest

from condor import ToolError
from tests.hms.catalogue.desk import FRANCES, HELEN, JOHN, KRISTIN, MELISSA, NICHOLAS, ROBIN, Desk


async def told(desk: Desk, tool: str, **args: Any) -> tuple[Any, str]:
    value = await desk.call(tool, args)
    return value, desk.report(tool, args, value)


async def test_the_summary_of_r01(desk: Desk) -> None:
    """Four allergies by name, four active medicines, problems and latest values."""
    value, said = await told(desk, "patient.summary.card", patient=MELISSA)
    assert "Melissa Smith, 47 y, female, MRN POP-000035." in said
    assert "4 allergies (penicillin, aspirin, sulfonamide, tree pollen)." in said
    assert (
        "4 active medicines (Sliding scale insulin subcutaneous; Metformin 500 mg oral, twice daily; "
        "Atorvastatin 10 mg oral, once daily; Amlodipine 5 mg oral, once daily)." in said
    )
    assert "4 active problems (Type 2 diabetes (DM); Dyslipidemia; Obesity, unspecified; Hypertension" in said
    assert "HbA1c 7.2 % on 10 Nov 2026 (high)" in said
    assert "Blood pressure 141/" in said
    assert value["allergyStatus"] == "recorded"


async def test_the_results_of_r01(desk: Desk) -> None:
    """The latest HbA1c first, those before it with their dates."""
    value, said = await told(desk, "labs.search", patient=MELISSA, tests=["4548-4"])
    assert said == (
        "Melissa Smith: HbA1c 7.2 % on 10 Nov 2026 (high), before that 7.1 % on 10 Nov 2026 (high), "
        "8.9 % on 23 Oct 2026 (high), 7.3 % on 22 Sep 2026 (high)."
    )
    assert value["latest"]["4548-4"]["value"] == 7.2
    assert len(value["results"]) == 6


async def test_results_within_dates_and_none(desk: Desk) -> None:
    """Bounds hold on both ends; a test without a result is said to have none."""
    window = {"since": "2026-09-01", "until": "2026-10-31"}
    value, _ = await told(desk, "labs.search", patient=MELISSA, tests=["4548-4"], **window)
    assert [row["date"] for row in value["results"]] == ["2026-10-23", "2026-09-22"]
    _, said = await told(desk, "labs.search", patient=KRISTIN, tests=["6301-6"])
    assert said == "Kristin Bailey: INR: no result on record."
    value, said = await told(desk, "labs.search", patient=MELISSA)
    assert len(value["latest"]) > 1
    assert "HbA1c 7.2 % on 10 Nov 2026 (high)" in said


async def test_the_medicines_and_which_name_means_which_order(desk: Desk) -> None:
    """A name leads to an order where exactly one active order has it."""
    value, said = await told(desk, "medication.list.card", patient=HELEN)
    assert value["byIngredient"]["celecoxib"]["reference"] == "MedicationRequest/rxopd-2841d7bb9857"
    assert said.startswith("Helen Coleman: 10 active medicines: Oseltamivir 75 mg oral, twice daily; ")


async def test_two_orders_of_one_medicine_are_ambiguous(desk: Desk) -> None:
    """Albuterol and salbutamol are one medicine: neither name chooses between the two orders."""
    value, _ = await told(desk, "medication.list.card", patient=ROBIN)
    names = {row["name"] for row in value["medicines"]}
    assert {"Albuterol", "Salbutamol"} <= names
    assert not {"albuterol", "salbutamol"} & set(value["byIngredient"])
    assert value["byIngredient"]["fluticasone salmeterol"] == value["byIngredient"]["fluticasone/salmeterol"]


async def test_medicines_of_one_status(desk: Desk) -> None:
    """Other statuses are listed with status and date and lead to no order by name."""
    value, said = await told(desk, "medication.list.card", patient=MELISSA, status="stopped")
    assert (value["medicines"], value["byIngredient"]) == ([], {})
    assert said == "Melissa Smith: no stopped medicines on record."
    value, said = await told(desk, "medication.list.card", patient=MELISSA, status="all")
    assert len(value["medicines"]) == 24
    assert "(completed, " in said


@pytest.mark.parametrize(
    ("patient", "status", "said"),
    [
        (
            MELISSA,
            "recorded",
            "Melissa Smith: 4 allergies: penicillin (high criticality, eruption of skin, mild);",
        ),
        (HELEN, "no known allergies", "Helen Coleman: allergies: no known allergies."),
    ],
)
async def test_allergies_as_recorded(desk: Desk, patient: str, status: str, said: str) -> None:
    """Entries with criticality and reaction, or the denial that is coded."""
    value, report = await told(desk, "allergy.list.card", patient=patient)
    assert value["status"] == status
    assert report.startswith(said)


async def test_silence_about_allergies_is_not_a_denial(desk: Desk) -> None:
    """A patient without any entry has allergies “not recorded”."""
    bundle = {
        "resourceType": "Bundle",
        "type": "transaction",
        "entry": [
            {
                "resource": {"resourceType": "Patient", "active": True, "name": [{"family": "New"}]},
                "request": {"method": "POST", "url": "Patient"},
            }
        ],
    }
    patient = (await desk.fhir.transact(bundle)).outcomes[0].reference
    _, said = await told(desk, "allergy.list.card", patient=patient)
    assert said == "New: allergies: not recorded."
    _, said = await told(desk, "patient.summary.card", patient=patient)
    assert said == (
        "New, age not recorded, sex not recorded, no MRN. Allergies: not recorded. "
        "No active medicines on record. No active problems on record."
    )


async def test_problems(desk: Desk) -> None:
    """Active problems with their beginning; resolved ones when asked for."""
    _, said = await told(desk, "condition.list.card", patient=JOHN)
    assert said.startswith("John Hernandez: 4 active problems: ")
    assert "CKD (since 10 Aug 2018)" in said
    value, _ = await told(desk, "condition.list.card", patient=MELISSA, clinical_status="resolved")
    assert [row["text"] for row in value["problems"]] == ["UTI"]


async def test_interactions_are_computed_from_the_record(desk: Desk) -> None:
    """Ibuprofen for somebody on celecoxib, a sulfonamide allergy and CKD: each alert with its source."""
    value, said = await told(
        desk, "interaction.check", patient=HELEN, medication="Ibuprofen", dose_value=400, dose_unit="mg"
    )
    assert value["worst"] == "warning"
    assert (
        "Warning: Increased GI bleeding (Venlafaxine 75 mg oral, once daily and Escitalopram 10 mg oral"
        in said
    )
    issue = value["issues"][0]
    assert (issue["resourceType"], issue["severity"]) == ("DetectedIssue", "moderate")
    assert issue["implicated"]


async def test_no_alert_is_no_clearance(desk: Desk) -> None:
    """Where no rule knows the medicine, that is what is said."""
    value, said = await told(desk, "interaction.check", patient=MELISSA, medication="Nitrofurantoin")
    assert value["alerts"] == []
    assert said.startswith("Checked Nitrofurantoin for Melissa Smith: no alert (demonstration rules")
    assert "no rule names Nitrofurantoin" in said


async def test_a_deceased_patient_is_an_alert(desk: Desk) -> None:
    """A check for somebody who has died says so."""
    value, said = await told(desk, "interaction.check", patient=NICHOLAS, medication="Nitrofurantoin")
    assert value["alerts"][0]["id"] == "patient-state"
    assert "deceased on 16 Feb 2026" in said


@pytest.mark.parametrize(
    "tool",
    [
        "patient.summary.card",
        "labs.search",
        "allergy.list.card",
        "medication.list.card",
        "condition.list.card",
    ],
)
@pytest.mark.parametrize(
    "patient", ["pt-0612cf63eb84", "Patient/nobody", "Organization/hospital-main", "", None]
)
async def test_a_patient_is_a_patient_of_the_record(desk: Desk, tool: str, patient: Any) -> None:
    """No other reference, no bare id, nobody who is not there."""
    with pytest.raises(ToolError) as refusal:
        await desk.call(tool, {"patient": patient})
    assert refusal.value.code in ("bad_reference", "not_in_record")


async def test_results_are_compact(desk: Desk) -> None:
    """What goes to a model or a card is small: the summary of a patient fits in a few thousand bytes."""
    value, _ = await told(desk, "patient.summary.card", patient=FRANCES)
    assert len(str(value)) < 9_000
