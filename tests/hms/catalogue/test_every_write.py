"""Every tool that does something, with the catalogue's own arguments: its card, its effect, its sentence."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from condor import ToolResult
from tests.hms.catalogue.desk import OKAFOR, Desk

DATA = Path(__file__).parents[1] / "data"
ROWS: dict[str, dict[str, Any]] = {
    row["name"]: row for row in json.loads((DATA / "catalogue.json").read_text(encoding="utf-8"))
}
EXAMPLES: dict[str, list[dict[str, Any]]] = json.loads(
    (DATA / "example_writes.json").read_text(encoding="utf-8")
)
#: Examples whose record is not as the example found it: a completed order, nobody's email address.
CHANGED: dict[str, dict[str, str]] = {
    "order.cancel": {"order": "ServiceRequest/sr-54812d32e02e"},
    "appointment.invite": {"channel": "letter"},
}
CALLS = [
    *(
        (name, {**example["args"], **CHANGED.get(name, {})})
        for name, examples in EXAMPLES.items()
        for example in examples
    ),
    ("treatment.update", {"plan": "CarePlan/cp-2001", "action": "hold"}),
    ("treatment.update", {"plan": "CarePlan/cp-2001", "action": "complete"}),
    (
        "vitals.correct",
        {
            "observation": "Observation/anthro-206fd3f575f7",
            "action": "amend",
            "value": 30,
            "reason": "typed wrong",
        },
    ),
    (
        "note.update",
        {"document": "DocumentReference/doc-6001", "action": "update", "text": "Acute MI, PCI to LAD."},
    ),
    (
        "appointment.update",
        {"appointment": "Appointment/appt-1002", "action": "reschedule", "slot": "Slot/slot-oka-1202-0930"},
    ),
    (
        "allergy.update",
        {"allergy": "AllergyIntolerance/allergy-a3ad6c07c32f", "action": "update", "criticality": "high"},
    ),
    (
        "condition.update",
        {"condition": "Condition/cond-905b12cb0266", "action": "update", "reason": "recurrent"},
    ),
]
#: Said in other words than the catalogue's claims: a stand-in must not sound like the thing itself, and a
#: remark on a problem claims nothing.
OWN_WORDS = {"task.create", "condition.update-update"}
#: States that a resource ends in when its tool takes it out of use; nothing is ever deleted.
ENDS = {
    "remove": {"entered-in-error"},
    "void": {"entered-in-error", "cancelled"},
    "delete": {"entered-in-error"},
    "cancel": {"cancelled", "revoked"},
    "discontinue": {"stopped"},
    "archive": {"superseded"},
}


def case_id(case: tuple[str, dict[str, Any]]) -> str:
    """``allergy.update-remove``."""
    return "-".join([case[0], *([case[1]["action"]] if "action" in case[1] else [])])


def value_of(returned: Any) -> dict[str, Any]:
    """What the tool hands back."""
    value = returned.value if isinstance(returned, ToolResult) else returned
    assert isinstance(value, dict)
    return value


def test_every_tool_that_does_something_is_here() -> None:
    """Each of the 31 tools that write or speak has a call."""
    doing = {name for name, row in ROWS.items() if row["policy_class"] not in ("read", "exec")}
    assert {name for name, _ in CALLS} == doing


@pytest.mark.parametrize("case", CALLS, ids=case_id)
async def test_a_call_is_shown_done_told_and_never_doubled(
    desk: Desk, case: tuple[str, dict[str, Any]]
) -> None:
    """The card names the patient; the record accepts it; a repetition finds it; the sentence claims it."""
    name, args = case
    card = await desk.preview(name, args)
    assert re.search(r", MRN POP-\d{6}", str(card.subject["text"]))
    assert card.summary
    assert card.after is not None
    given = {"approved_by": OKAFOR, "record_versions": dict(card.versions)}
    assert (await desk.reconcile(name, args, **given)).happened is False
    value = value_of(await desk.call(name, args, **given))
    before = await counted(desk)
    again = value_of(await desk.call(name, args, **given, attempt=2))
    assert {**again, "replayed": True} == {**value, "replayed": True}
    assert await counted(desk) == before
    assert (await desk.reconcile(name, args, **given)).value == again
    said = desk.report(name, args, value)
    patterns = ROWS[name]["claim_patterns"]
    claimed = any(re.search(pattern, said, re.IGNORECASE) for pattern in patterns)
    assert claimed or case_id(case) in OWN_WORDS, said
    assert value["reference"] in said


def op_of(case: tuple[str, dict[str, Any]]) -> str:
    return str(case[1].get("action") or ROWS[case[0]]["op"])


@pytest.mark.parametrize("case", [case for case in CALLS if op_of(case) in ENDS], ids=case_id)
async def test_what_is_taken_away_is_a_state(desk: Desk, case: tuple[str, dict[str, Any]]) -> None:
    """Remove, void, cancel, discontinue, archive: the resource is there, and what it was before."""
    value = value_of(await desk.call(*case, approved_by=OKAFOR))
    kept = await desk.fhir.read(value["reference"])
    verification = kept.get("verificationStatus", {}).get("coding", [])
    states = {kept.get("status"), *(coding["code"] for coding in verification)}
    assert states & ENDS[op_of(case)]
    assert len(await desk.fhir.history(value["reference"])) == 2


async def counted(desk: Desk) -> dict[str, int]:
    """How many of each there are that a write could add."""
    kinds = (
        "AllergyIntolerance",
        "Appointment",
        "CarePlan",
        "Communication",
        "Condition",
        "DocumentReference",
    )
    more = ("Flag", "Immunization", "MedicationRequest", "MedicationStatement", "Observation", "Provenance")
    return {kind: len(await desk.search(kind)) for kind in (*kinds, *more, "ServiceRequest", "Task")}
