"""Recording an allergy: once, never empty, with what the patient takes against it."""

from typing import Any

import pytest

from condor import ToolError, ToolResult
from condor_hms.catalogue.shown import SHOWN
from tests.hms.catalogue.desk import CASTILLO, HELEN, JOHN, MELISSA, OKAFOR, Desk

RECORD = "allergy.record"
IBUPROFEN: dict[str, Any] = {
    "patient": JOHN,
    "substance": "Ibuprofen",
    "category": "medication",
    "criticality": "high",
    "manifestations": ["41291007"],
    "severity": "severe",
}


async def allergies(desk: Desk, patient: str) -> list[dict[str, Any]]:
    return await desk.search("AllergyIntolerance", patient=patient)


async def test_the_entry_of_r02(desk: Desk) -> None:
    """The catalogue's entry, and one sentence that also says what he is taking."""
    value = await desk.call(RECORD, IBUPROFEN)
    [entry] = [row for row in await allergies(desk, JOHN) if row["code"]["text"] == "Ibuprofen"]
    rxnorm = {"system": "http://www.nlm.nih.gov/research/umls/rxnorm", "code": "5640", "display": "Ibuprofen"}
    assert entry["code"]["coding"] == [rxnorm]
    assert (entry["criticality"], entry["category"], entry["type"]) == ("high", ["medication"], "allergy")
    assert entry["reaction"][0]["severity"] == "severe"
    assert entry["recorder"] == {"reference": "Practitioner/dr-okafor", "display": "Dr Amara Okafor"}
    assert desk.report(RECORD, IBUPROFEN, value) == (
        "Allergy recorded: ibuprofen (high criticality, angioedema, severe) for John Hernandez, 73 y, male, "
        f"MRN POP-000056 (AllergyIntolerance/{entry['id']} version 1). Note: John Hernandez is on Celecoxib "
        "200 mg oral, once daily (celecoxib is of the same class (nsaid) as ibuprofen)."
    )


async def test_a_repetition_is_the_same_entry(desk: Desk) -> None:
    """The own entry is no duplicate of itself."""
    first = await desk.call(RECORD, IBUPROFEN)
    again = await desk.call(RECORD, IBUPROFEN, attempt=2)
    assert again == {**first, "replayed": True}
    assert len(await allergies(desk, JOHN)) == 4
    answer = await desk.reconcile(RECORD, IBUPROFEN)
    assert (answer.happened, answer.value) == (True, again)


@pytest.mark.parametrize("substance", ["Penicillin", "penicillin ", "Substance with penicillin structure"])
async def test_an_allergy_is_not_recorded_twice(desk: Desk, substance: str) -> None:
    """By code or by name, the entry that is there is named and nothing is written."""
    again = {**IBUPROFEN, "patient": MELISSA, "substance": substance}
    result = await desk.call(RECORD, again)
    assert isinstance(result, ToolResult)
    assert result.outcome == "skipped"
    assert result.value == (
        "already on record: AllergyIntolerance/allergy-25bf7f039ebf, penicillin (high criticality, "
        "eruption of skin, mild)"
    )
    assert len(await allergies(desk, MELISSA)) == 4
    card = await desk.preview(RECORD, again)
    assert card.context[0]["label"] == "Duplicate"
    assert card.before == card.after


@pytest.mark.parametrize("substance", ["", "  ", "x", None])
async def test_an_allergy_to_nothing_is_refused(desk: Desk, substance: str | None) -> None:
    """The incident that this rule comes from: an empty allergy that protects nobody."""
    with pytest.raises(ToolError, match="needs a substance") as refusal:
        await desk.call(RECORD, {**IBUPROFEN, "substance": substance})
    assert refusal.value.effect == "none"
    assert len(await allergies(desk, JOHN)) == 3


async def test_a_substance_without_a_code_is_recorded_by_its_text(desk: Desk) -> None:
    """No code is invented; a severity without a reaction is kept as a note; the onset is kept."""
    entry = {
        "patient": JOHN,
        "substance": "Zebrafenib",
        "category": "medication",
        "criticality": "unable-to-assess",
        "severity": "moderate",
        "onset": "2019-05-03",
    }
    await desk.call(RECORD, entry, principal=CASTILLO)
    [stored] = [row for row in await allergies(desk, JOHN) if row["code"]["text"] == "Zebrafenib"]
    assert stored["code"] == {"text": "Zebrafenib"}
    assert stored["onsetDateTime"] == "2019-05-03"
    assert stored["note"][0]["text"].startswith("Severity of the reaction: moderate")
    assert stored["recorder"]["reference"] == "Practitioner/rn-castillo"


async def test_a_denial_that_no_longer_holds_is_said(desk: Desk) -> None:
    """A record that says “no known allergies” beside a new allergy contradicts itself."""
    value = await desk.call(
        RECORD, {**IBUPROFEN, "patient": HELEN, "substance": "Latex", "category": "environment"}
    )
    said = desk.report(RECORD, {}, value)
    assert (
        "Note: The record also says “no known allergies” (AllergyIntolerance/allergy-d79ff85cc0d9)." in said
    )


@pytest.mark.parametrize(
    ("change", "path"),
    [
        ({"category": "drug"}, r"AllergyIntolerance\.category"),
        ({"criticality": "extreme"}, r"AllergyIntolerance\.criticality"),
        ({"severity": "awful"}, r"AllergyIntolerance\.reaction\[0\]\.severity"),
        ({"onset": "long ago"}, r"AllergyIntolerance\.onsetDateTime"),
    ],
)
async def test_what_the_record_refuses_is_told_with_its_place(
    desk: Desk, change: dict[str, Any], path: str
) -> None:
    """A refusal of the record names the element, and nothing was written."""
    with pytest.raises(ToolError, match=path) as refusal:
        await desk.call(RECORD, {**IBUPROFEN, **change})
    assert (refusal.value.effect, refusal.value.may_retry) == ("none", False)
    assert len(await allergies(desk, JOHN)) == 3


async def test_a_reaction_outside_the_list_is_refused(desk: Desk) -> None:
    """A code that nobody can read is not written."""
    with pytest.raises(ToolError, match="not a reaction of the list"):
        await desk.call(RECORD, {**IBUPROFEN, "manifestations": ["12345"]})


async def test_the_card_shows_before_and_after(desk: Desk) -> None:
    """Where the entry is asked for, the card shows the list and the medicine against it."""
    card = await desk.preview(RECORD, IBUPROFEN, approved_by=OKAFOR)
    assert card.summary == "Allergy to ibuprofen (high criticality, angioedema, severe)"
    assert len(card.after["allergies"]) == len(card.before["allergies"]) + 1  # type: ignore[index,call-overload,arg-type]
    assert card.alerts[0]["id"] == "own-allergy-class"
    assert set(card.versions) == {SHOWN}
