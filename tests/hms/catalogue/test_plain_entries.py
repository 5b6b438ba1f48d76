"""What is written says what was meant: no denial, doubt or other person as an entry; no time to come."""

import datetime

import pytest

from condor import ToolError
from condor_hms.catalogue.denials import doubt_in
from condor_hms.catalogue.terms import MEDICINES, PROBLEMS, SUBSTANCES
from tests.hms.catalogue.desk import NOW, Desk

LATER, SOON = datetime.timedelta(hours=2), datetime.timedelta(minutes=3)

NO_ENTRIES = {
    "no hyperkalaemia": "no",
    "denies hypertension": "denies",
    "possible hyperkalaemia": "possible",
    "?hyperkalaemia": "?",
    "father's diabetes": "father's",
    "Robin's asthma": "Robin's",
    "maternal aunt with stroke": "maternal",
    "stroke excluded": "excluded",
    "PE ruled out": "ruled out",
    "right knee OA not left": "not",
    "without asthma": "without",
    "history of stroke": "history",
}
#: Names that hold such a word, or look as if.
ENTRIES = (
    "Migraine without aura",
    "Type 2 diabetes mellitus without complications",
    "Triple negative breast cancer",
    "non-Hodgkin lymphoma",
    "Child-Pugh A cirrhosis",
    "absence seizures",
    "Crohn's disease",
)


@pytest.mark.parametrize(("text", "word"), NO_ENTRIES.items())
async def test_no_tool_writes_an_entry_that_denies_itself(desk: Desk, text: str, word: str) -> None:
    """The same for a problem, an allergy and a reported medicine, from whatever plan; nothing is written."""
    doubt = doubt_in(text)
    assert doubt is not None
    assert doubt.word == word
    patient = (await desk.search("Patient", name="Coleman"))[0]["id"]
    given = {"patient": f"Patient/{patient}"}
    calls = {
        "condition.record": {"problem": text, "verification": "confirmed"},
        "allergy.record": {"substance": text, "category": "food", "criticality": "low"},
        "medication.statement.record": {"medication": text, "status": "active"},
    }
    for tool, args in calls.items():
        with pytest.raises(ToolError, match="nothing was written") as refusal:
            await desk.call(tool, {**given, **args})
        assert refusal.value.effect == "none"
        assert f"“{word.lower()}”" in str(refusal.value).lower()


@pytest.mark.parametrize("text", sorted({*ENTRIES, *PROBLEMS, *SUBSTANCES, *MEDICINES}))
def test_a_name_is_a_name(text: str) -> None:
    """Every problem, substance and medicine of the tables, and diseases that are called so."""
    assert doubt_in(text) is None


async def test_nothing_was_measured_at_a_time_to_come(desk: Desk) -> None:
    """Some minutes are a matter of clocks; a time later today is refused, and nothing is written."""
    patient = (await desk.search("Patient", name="Smith"))[0]["id"]
    before = len(await desk.search("Observation"))
    given = {"patient": f"Patient/{patient}", "heart_rate": 72}
    day = desk.hospital.today.isoformat()
    with pytest.raises(ToolError, match=r"is still to come .* nothing was written") as refusal:
        await desk.call("vitals.record", {**given, "taken_at": f"{day}T{NOW + LATER:%H:%M}:00Z"})
    assert refusal.value.effect == "none"
    assert len(await desk.search("Observation")) == before
    soon = await desk.call("vitals.record", {**given, "taken_at": f"{day}T{NOW + SOON:%H:%M}:00Z"})
    assert soon["reference"].startswith("Observation/")


async def test_on_a_day_that_does_not_pass_the_time_of_day_is_not_held_against_it(desk: Desk) -> None:
    """A demonstration is tried at any hour; the next day is still to come."""
    object.__setattr__(desk.hospital, "day_stands", True)
    patient = (await desk.search("Patient", name="Smith"))[0]["id"]
    given = {"patient": f"Patient/{patient}", "heart_rate": 72}
    today = desk.hospital.today
    said = await desk.call("vitals.record", {**given, "taken_at": f"{today.isoformat()}T23:40:00Z"})
    assert said["reference"].startswith("Observation/")
    tomorrow = today + datetime.timedelta(days=1)
    with pytest.raises(ToolError, match="is still to come"):
        await desk.call("vitals.record", {**given, "taken_at": f"{tomorrow.isoformat()}T09:00:00Z"})


async def test_one_of_several_documents_is_never_meant_by_its_kind(desk: Desk) -> None:
    """With a second one of the kind there is no “only” one; the newest is still the latest."""
    patient = (await desk.search("Patient", name="Melissa Smith"))[0]["id"]
    who = {"patient": f"Patient/{patient}"}
    note = {**who, "doc_type": "11506-3", "text": "HbA1c 7.2 %."}
    kind = {**who, "doc_type": "11506-3"}
    while not (found := await desk.call("document.search", kind))["documents"]:
        await desk.call("note.draft", note, idempotency_key="key-first")
    if len(found["documents"]) == 1:
        assert found["only"] == found["documents"][0]
        await desk.call("note.draft", note, idempotency_key="key-second")
        found = await desk.call("document.search", kind)
    assert found["only"] is None
    assert found["latest"] == found["documents"][0]


async def test_an_appointment_is_the_one_that_was_said(desk: Desk) -> None:
    """By the time it starts, or because it is the only one that is to come."""
    patient = (await desk.search("Patient", name="Melissa Smith"))[0]["id"]
    found = await desk.call("appointment.search.card", {"patient": f"Patient/{patient}"})
    coming = [row for row in found["appointments"] if row["start"][:10] >= desk.hospital.today.isoformat()]
    assert found["byStart"].keys() == {row["start"][:16] for row in coming}
    assert "2026-12-01T09:00" in found["byStart"]
    assert "2026-12-01T10:00" not in found["byStart"]
    assert found["only"] == (coming[0] if len(coming) == 1 else None)
