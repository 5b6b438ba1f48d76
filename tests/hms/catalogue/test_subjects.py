"""Whom a call is about, from as much of its arguments as there is; a patient who has died is said to have."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from condor import CardEvidence
from condor_hms.breakglass import break_glass_tools
from condor_hms.fhir.errors import Unavailable
from tests.acceptance.test_requests import open_ward
from tests.hms.catalogue.desk import KRISTIN, NICHOLAS, NITROFURANTOIN, Desk

if TYPE_CHECKING:
    from pathlib import Path


#: R12's own change: of an order that stands, and less of it.
LOWER_DOSE: dict[str, Any] = {
    "order": "MedicationRequest/mr-a0ed0aa6c9f6",
    "action": "update",
    "dose_value": 81,
    "dose_unit": "mg",
    "frequency": "QD",
    "reason": "Ticagrelor: aspirin 75-100 mg",
}


async def about(desk: Desk, name: str, args: dict[str, Any]) -> CardEvidence:
    """What the hook of a tool says."""
    tools = {**desk.tools, **{tool.name: tool for tool in break_glass_tools(desk.hospital)}}
    hook = tools[name].subject_of
    assert hook is not None
    said = await hook(desk.context(idempotency_key=""), args)
    assert isinstance(said, CardEvidence)
    return said


async def test_every_tool_that_takes_a_patient_says_which(desk: Desk) -> None:
    """By the one argument alone: name, age, sex, born, record number."""
    tools = (*desk.tools.values(), *break_glass_tools(desk.hospital))
    taking = [tool.name for tool in tools if "patient" in tool.args_by_name]
    assert len(taking) > 25
    for name in taking:
        said = await about(desk, name, {"patient": KRISTIN})
        assert said.subject["reference"] == KRISTIN, name
        assert {"name", "age", "sex", "birthDate", "mrn", "text"} <= set(said.subject)
        assert (await about(desk, name, {})).subject == {}


@pytest.mark.parametrize(
    ("tool", "argument", "kind"),
    [
        ("medication.discontinue", "order", "MedicationRequest"),
        ("allergy.update", "allergy", "AllergyIntolerance"),
        ("document.sign", "document", "DocumentReference"),
        ("appointment.update", "appointment", "Appointment"),
        ("treatment.cancel", "plan", "CarePlan"),
        ("billing.invoice.update", "invoice", "Invoice"),
    ],
)
async def test_a_record_says_whose_it_is(desk: Desk, tool: str, argument: str, kind: str) -> None:
    """Where the call names no patient, what it refers to does."""
    found = (await desk.search(kind))[0]
    said = await about(desk, tool, {argument: f"{kind}/{found['id']}"})
    assert str(said.subject["reference"]).startswith("Patient/")


@pytest.mark.parametrize(
    ("tool", "args"),
    [
        ("report.generate", {"template": "discharge", "output": "pdf"}),
        ("note.draft", {"doc_type": "11506-3", "text": "Seen today."}),
        ("medication.update", LOWER_DOSE),
    ],
)
async def test_one_who_has_died_is_an_alert_on_every_card(
    desk: Desk, tool: str, args: dict[str, Any]
) -> None:
    """On the card of the call, and on the questions before it; as a fact of the subject too."""
    if "order" not in args:
        args = {**args, "patient": NICHOLAS}
    for card in (await desk.preview(tool, args), await about(desk, tool, args)):
        says_deceased(card)


async def test_a_prescription_is_asked_about_under_the_same_warning(desk: Desk) -> None:
    """The card itself is refused (``test_plausible``); a question before it says why it will be."""
    says_deceased(await about(desk, "medication.prescribe", {**NITROFURANTOIN, "patient": NICHOLAS}))


def says_deceased(card: CardEvidence) -> None:
    """Once, as a warning."""
    (alert,) = [row for row in card.alerts if row["id"] == "patient-state"]
    assert alert["severity"] == "warning"
    assert "deceased on 16 Feb 2026, record inactive" in str(alert["summary"])
    assert (card.subject["deceased"], card.subject["active"]) == ("2026-02-16", False)


async def test_two_questions_of_the_clinic_name_two_patients(tmp_path: Path) -> None:
    """R04 and R07 in their own words: the first card of each says whom it is about."""
    async with open_ward(tmp_path) as ward:
        for request, name, alert in (("R04", "Kristin", "critical"), ("R07", "Tamika", "")):
            run = await ward.ask(request)
            (card,) = run["suspensions"]
            assert card["reasonCode"] == "clarification"
            subject = card["evidence"]["subject"]
            severities = [row["severity"] for row in card["evidence"].get("alerts", [])]
            assert severities[:1] == ([alert] if alert else []), "before the dose is known"
            assert (subject["reference"], name in subject["name"]) == (card["toolInput"]["patient"], True)


@pytest.mark.parametrize("silent", ["AllergyIntolerance", "MedicationRequest", "Observation"])
async def test_a_question_says_when_nothing_was_checked(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, silent: str
) -> None:
    """The patient is read and what would speak against the medicine is not: the card is not clear."""
    search = desk.fhir.search

    async def broken(kind: str, *args: Any, **params: Any) -> Any:
        if kind == silent:
            raise Unavailable("the record does not answer")
        return await search(kind, *args, **params)

    monkeypatch.setattr(desk.fhir, "search", broken, raising=False)
    asked = {"patient": KRISTIN, "medication": "Amoxicillin"}
    said = await about(desk, "medication.prescribe", asked)
    assert said.subject["reference"] == KRISTIN
    (alert,) = said.alerts
    assert (alert["id"], alert["severity"]) == ("own-not-checked", "warning")
    assert "Allergies and interactions could not be checked" in str(alert["summary"])
    assert (await about(desk, "medication.prescribe", {"patient": KRISTIN})).alerts == ()
