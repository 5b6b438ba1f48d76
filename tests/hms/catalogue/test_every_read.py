"""What the reading tools say of the demonstration record, sentence by sentence."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from condor import NeedInput, ToolError
from tests.hms.catalogue.desk import HELEN, JOHN, MELISSA, NICHOLAS, OKAFOR, Desk

ROWS = json.loads((Path(__file__).parents[1] / "data" / "catalogue.json").read_text(encoding="utf-8"))
OKAFOR_REF, CELECOXIB = "Practitioner/dr-okafor", "MedicationRequest/rxopd-2841d7bb9857"

#: Tool, arguments, what its sentence says.
SAID: list[tuple[str, dict[str, Any], str]] = [
    ("patient.search", {"query": "Melissa Smith"}, "Patient: Melissa Smith, 47 y, female, MRN POP-000035."),
    (
        "patient.summary.card",
        {"patient": MELISSA},
        "4 allergies (penicillin, aspirin, sulfonamide, tree pollen)",
    ),
    ("patient.everything", {"patient": MELISSA}, "On record: "),
    ("allergy.list.card", {"patient": JOHN}, "egg protein"),
    (
        "medication.list.card",
        {"patient": NICHOLAS},
        "Nicholas Bell: 7 active medicines: Atorvastatin 10 mg oral",
    ),
    ("medication.statement.list", {"patient": HELEN}, "no medicines are reported"),
    ("condition.list.card", {"patient": JOHN}, "4 active problems: "),
    (
        "treatment.list.card",
        {"patient": NICHOLAS},
        "1 treatment plan: Post-MI cardiac rehabilitation (active, since 1 Sep 2026: Phase II rehab and Dual "
        "antiplatelet therapy 12 months).",
    ),
    ("labs.search", {"patient": MELISSA, "tests": ["4548-4"]}, "HbA1c 7.2 % on 10 Nov 2026"),
    ("labs.report.search", {"patient": MELISSA, "tests": ["4548-4"]}, "HbA1c 7.2 % on 10 Nov 2026"),
    (
        "vitals.trend.card",
        {"patient": MELISSA, "sign": ["85354-9", "59408-5"]},
        "Blood pressure 141/80 mmHg on 10 Nov 2026, before that 140/86 mmHg on 10 Nov 2026, 137/81 mmHg on "
        "23 Oct 2026, 141/84 mmHg on 22 Sep 2026 (5 readings in all); Oxygen saturation 98.9 % on 23 Oct",
    ),
    (
        "vitals.trend.card",
        {"patient": MELISSA, "sign": "8310-5", "since": "2026-11-29"},
        "no temperature on record",
    ),
    ("imaging.search", {"patient": HELEN}, "2 imaging entries: Chest X-ray PA on 7 Apr 2026"),
    ("imaging.search", {"patient": HELEN, "since": "2026-11-01"}, "no imaging on record"),
    (
        "encounter.list",
        {"patient": MELISSA, "since": "2026-06-01"},
        "7 visits and stays: outpatient visit on 10 Nov",
    ),
    (
        "appointment.search.card",
        {"patient": MELISSA},
        "1 appointment: 1 Dec 2026 09:00 with Dr Okafor (booked, Diabetes follow-up).",
    ),
    (
        "appointment.search.card",
        {"practitioner": OKAFOR_REF, "from": "2026-12-02"},
        "The clinician: 1 appointment: 2 Dec",
    ),
    (
        "schedule.slots",
        {"practitioner": OKAFOR_REF, "from": "2026-12-01"},
        "18 free slots, the first 1 Dec 2026 09:30",
    ),
    (
        "schedule.availability",
        {"practitioner": OKAFOR_REF, "from": "2026-12-01"},
        "free slots, the first 1 Dec 2026",
    ),
    (
        "document.search",
        {"patient": NICHOLAS, "doc_status": "preliminary"},
        "1 document: Discharge summary of 29 Nov 2026 (draft, DocumentReference/doc-6001).",
    ),
    ("document.search", {"patient": MELISSA, "doc_type": ["57133-1"]}, "no such documents on record"),
    (
        "document.read",
        {"document": "DocumentReference/doc-6002"},
        "Progress note of 10 Nov 2026 says: “HbA1c 7.2 %. Continue metformin.”",
    ),
    ("order.status", {"patient": NICHOLAS}, "Nicholas Bell: 9 open orders: Lactate of 15 Feb 2026: active"),
    (
        "order.status",
        {"order": "ServiceRequest/sr-54812d32e02e"},
        "Nicholas Bell: one order: BNP of 15 Feb 2026: active.",
    ),
    (
        "billing.summary.card",
        {"patient": MELISSA},
        "1 invoice: Invoice/inv-5001 draft, 159.50 USD. Open balance 0.00; not billed yet 159.50 USD.",
    ),
    ("billing.summary.card", {"patient": NICHOLAS}, "Open balance 2150.00 USD; not billed yet"),
    ("billing.summary.card", {"patient": HELEN}, "no charges and no invoices on record"),
    (
        "interaction.check",
        {"patient": MELISSA, "medication": "Nitrofurantoin"},
        "Checked Nitrofurantoin for Melissa Smith",
    ),
    ("audit.trail", {"target": CELECOXIB}, "1 version; nobody's doing is on record"),
]


def test_every_reading_tool_is_here() -> None:
    """All 22."""
    reading = {row["name"] for row in ROWS if row["policy_class"] == "read"}
    assert {tool for tool, _, _ in SAID} == reading
    assert len(reading) == 22


@pytest.mark.parametrize(
    ("tool", "args", "said"), SAID, ids=[f"{tool}-{number}" for number, (tool, _, _) in enumerate(SAID)]
)
async def test_what_is_read_is_said(desk: Desk, tool: str, args: dict[str, Any], said: str) -> None:
    """A value that is JSON, and a sentence with the record's own facts."""
    value = await desk.call(tool, args, idempotency_key="")
    assert json.loads(json.dumps(value)) == value
    assert said in desk.report(tool, args, value)


@pytest.mark.parametrize(
    ("tool", "args"),
    [(tool, args) for tool, args, _ in SAID],
    ids=[f"{row[0]}-{i}" for i, row in enumerate(SAID)],
)
async def test_what_is_looked_up_is_not_what_is_shown(desk: Desk, tool: str, args: dict[str, Any]) -> None:
    """Every index of a result is declared as one, and there is no other; nothing shown stands in it alone."""
    value = await desk.call(tool, args)
    lookups = desk.tools[tool].lookups
    assert lookups <= value.keys()
    shown = {name: part for name, part in value.items() if name not in lookups}
    assert not re.search(r'"(by|heldBy)[A-Z]\w*": ', json.dumps(shown))
    for name in ("medicines", "plans", "problems", "allergies", "invoices"):
        assert name not in lookups


@pytest.mark.parametrize("tool", ["appointment.search.card", "order.status"])
async def test_whose_it_is_is_asked(desk: Desk, tool: str) -> None:
    """With nothing to go by, nobody's list is shown."""
    asked = await desk.call(tool, {}, idempotency_key="")
    assert isinstance(asked, NeedInput)
    assert [field.name for field in asked.fields] == ["patient"]


async def test_one_of_several_documents_says_which_it_is(desk: Desk) -> None:
    """Of two notes the one that is read is named: the newest, or one of them; a single one needs no word."""
    older = await desk.fhir.read("DocumentReference/doc-6002")
    newer = {name: part for name, part in older.items() if name not in ("id", "meta", "identifier")}
    newer["date"] = "2026-11-29T08:00:00Z"
    entry = {"resource": newer, "request": {"method": "POST", "url": "DocumentReference"}}
    made = await desk.fhir.transact({"resourceType": "Bundle", "type": "transaction", "entry": [entry]})
    reference = made.outcomes[0].reference
    for document, said in (
        (reference, f"Progress note of 29 Nov 2026, the newest of 2 ({reference}), says: “HbA1c"),
        (
            "DocumentReference/doc-6002",
            "Progress note of 10 Nov 2026, one of 2 (DocumentReference/doc-6002), says: “HbA1c",
        ),
    ):
        args = {"document": document}
        assert desk.report("document.read", args, await desk.call("document.read", args)).startswith(said)


async def test_a_document_that_is_no_text_is_not_read(desk: Desk) -> None:
    """What cannot be read as text says what it is; nothing is made up for it."""
    document = await desk.fhir.read("DocumentReference/doc-6002")
    content = [{"attachment": {"contentType": "application/pdf", "data": "JVBERg=="}}]
    entry = {
        "resource": {**{key: part for key, part in document.items() if key != "meta"}, "content": content},
        "request": {"method": "PUT", "url": "DocumentReference/doc-6002", "ifMatch": 'W/"1"'},
    }
    await desk.fhir.transact({"resourceType": "Bundle", "type": "transaction", "entry": [entry]})
    with pytest.raises(ToolError, match="holds application/pdf; it cannot be read"):
        await desk.call("document.read", {"document": "DocumentReference/doc-6002"})


async def test_the_trail_tells_who_signed_and_why(desk: Desk) -> None:
    """After a stop: the version, the people, the reason; a target that is none is refused."""
    args = {"order": CELECOXIB, "reason_code": "interaction", "reason": "bleeding risk"}
    await desk.call("medication.discontinue", args, approved_by=OKAFOR)
    value = await desk.call("audit.trail", {"target": CELECOXIB})
    assert [row["version"] for row in value["versions"]] == ["2", "1"]
    said = desk.report("audit.trail", {}, value)
    assert (
        "2 versions, 1 entry: update on 30 Nov 2026 09:30 by Dr Amara Okafor (author): interaction: bleeding"
        in said
    )
    with pytest.raises(ToolError, match="names no record"):
        await desk.call("audit.trail", {"target": "celecoxib"})
