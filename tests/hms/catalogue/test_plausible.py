"""What cannot be is refused in one line, and nothing is written."""

from __future__ import annotations

from typing import Any

import pytest

from condor import ToolError
from tests.hms.catalogue.desk import KRISTIN, MELISSA, NICHOLAS, OKAFOR, Desk

TAKEN = "2026-11-30T08:00:00Z"
SLOT = {"slot": "Slot/slot-oka-1202-1000", "practitioner": "Practitioner/dr-okafor", "visit": "in-person"}
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
