"""What cannot be is refused in one line, and nothing is written."""

from __future__ import annotations

from typing import Any

import pytest

from condor import ToolError
from tests.hms.catalogue.desk import KRISTIN, MELISSA, NICHOLAS, NITROFURANTOIN, OKAFOR, Desk

TAKEN = "2026-11-30T08:00:00Z"
SLOT = {"slot": "Slot/slot-oka-1202-1000", "practitioner": "Practitioner/dr-okafor", "visit": "in-person"}
ASPIRIN, PLAN = "MedicationRequest/mr-a0ed0aa6c9f6", "CarePlan/cp-2003"
DOSE = {"action": "update", "dose_unit": "mg", "frequency": "QD", "reason": "as asked"}
CASES: list[tuple[str, dict[str, Any], str]] = [
    (
        "vitals.record",
        {"patient": MELISSA, "systolic": 80, "diastolic": 130, "taken_at": TAKEN},
        "above the dia",
    ),
    (
        "vitals.record",
        {"patient": MELISSA, "systolic": 120, "diastolic": 120, "taken_at": TAKEN},
        "above the dia",
    ),
    (
        "condition.record",
        {"patient": KRISTIN, "problem": "Asthma", "verification": "confirmed", "onset": "1999-01-01"},
        "before the birth of Kristin Bailey",
    ),
    (
        "immunization.record",
        {"patient": KRISTIN, "vaccine": "140", "given_on": "2005-01-01"},
        "before the birth",
    ),
    (
        "allergy.record",
        {
            "patient": KRISTIN,
            "substance": "wheat",
            "category": "food",
            "criticality": "low",
            "onset": "1999-01-01",
        },
        "before the birth",
    ),
    ("vitals.record", {"patient": NICHOLAS, "heart_rate": 70, "taken_at": TAKEN}, "deceased on 16 Feb 2026"),
    ("order.lab.create", {"patient": NICHOLAS, "tests": ["4548-4"], "priority": "routine"}, "deceased on"),
    ("appointment.book", {"patient": NICHOLAS, "start": "2026-12-02T10:00:00Z", **SLOT}, "deceased on"),
    (
        "appointment.invite",
        {
            "patient": NICHOLAS,
            "practitioner": "Practitioner/dr-okafor",
            "start": "2026-12-07T10:00:00Z",
            "channel": "letter",
        },
        "deceased on",
    ),
    ("immunization.record", {"patient": NICHOLAS, "vaccine": "140", "given_on": "2026-11-29"}, "deceased on"),
    ("medication.prescribe", {**NITROFURANTOIN, "patient": NICHOLAS}, "more of a medicine after that"),
    (
        "prescription.renew",
        {"order": ASPIRIN, "quantity": 30, "valid_until": "2027-01-30"},
        "more of a medicine after that",
    ),
    ("medication.update", {**DOSE, "order": ASPIRIN, "dose_value": 500}, "more of a medicine after that"),
    # 300 mg three times a day is less at once and more a day.
    (
        "medication.update",
        {**DOSE, "order": ASPIRIN, "dose_value": 300, "frequency": "TID"},
        "more of a medicine after that",
    ),
    # A tablet is no weight; a dose as needed is none of a day.
    (
        "medication.update",
        {**DOSE, "order": ASPIRIN, "dose_value": 1, "dose_unit": "{tbl}"},
        "more of a medicine after that",
    ),
    (
        "medication.update",
        {**DOSE, "order": "MedicationRequest/mr-84f3f707b8c0", "dose_value": 100},
        "more of a medicine after that",
    ),
    (
        "treatment.create",
        {"patient": NICHOLAS, "title": "Rehabilitation", "activities": ["walking"]},
        "more of a treatment plan after that",
    ),
    (
        "treatment.update",
        {"plan": PLAN, "action": "update", "activity": "walking"},
        "more of a treatment plan after that",
    ),
]


@pytest.mark.parametrize(
    ("tool", "args", "said"), CASES, ids=lambda case: case if isinstance(case, str) else ""
)
async def test_what_cannot_be_is_refused(desk: Desk, tool: str, args: dict[str, Any], said: str) -> None:
    """On the card and in the call."""
    with pytest.raises(ToolError, match=said):
        await desk.preview(tool, args)
    with pytest.raises(ToolError, match="nothing was written"):
        await desk.call(tool, args, approved_by=OKAFOR)


async def test_what_documents_stays_possible(desk: Desk) -> None:
    """A note about somebody who has died, and a vaccination of the time before."""
    note = {"patient": NICHOLAS, "doc_type": "11506-3", "text": "Died at home; family informed."}
    assert (await desk.preview("note.draft", note)).summary
    given = {"patient": NICHOLAS, "vaccine": "140", "given_on": "2026-01-10"}
    assert (await desk.preview("immunization.record", given)).summary


ENDING = [
    ("medication.discontinue", {"order": ASPIRIN, "reason_code": "completed"}, "stopped"),
    ("medication.update", {"order": ASPIRIN, "action": "hold", "reason": "died"}, "on-hold"),
    ("medication.update", {**DOSE, "order": ASPIRIN, "dose_value": 81}, "stopped"),
    ("treatment.update", {"plan": PLAN, "action": "hold"}, "on-hold"),
    ("treatment.update", {"plan": PLAN, "action": "complete"}, "completed"),
    ("treatment.cancel", {"plan": PLAN, "reason": "died"}, "revoked"),
]


@pytest.mark.parametrize(
    ("tool", "args", "state"), ENDING, ids=lambda part: part if type(part) is str else ""
)
async def test_what_ends_or_lessens_stays_possible(
    desk: Desk, tool: str, args: dict[str, Any], state: str
) -> None:
    """After the death too, on a card that says so; a lower dose takes the place of the order (R12)."""
    card = await desk.preview(tool, args)
    assert "deceased on 16 Feb 2026" in str([row["summary"] for row in card.alerts])
    await desk.call(tool, args, approved_by=OKAFOR, record_versions=dict(card.versions))
    assert (await desk.fhir.read(str(args.get("order") or args.get("plan"))))["status"] == state


async def test_what_is_on_hold_is_not_resumed(desk: Desk) -> None:
    """Held before or after the death, it stays so."""
    await desk.call(
        "medication.update", {"order": ASPIRIN, "action": "hold", "reason": "x"}, approved_by=OKAFOR
    )
    resumed = {"order": ASPIRIN, "action": "resume", "reason": "better"}
    for attempt in (desk.preview, desk.call):
        with pytest.raises(ToolError, match="more of a medicine after that"):
            await attempt("medication.update", resumed, idempotency_key="key-2")
    assert (await desk.fhir.read(ASPIRIN))["status"] == "on-hold"
