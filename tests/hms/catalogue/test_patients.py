"""Finding a patient: one person, or a question."""

import pytest

from condor import NeedInput, ToolError
from tests.hms.catalogue.desk import FRANCES, MELISSA, Desk


async def test_a_full_name_that_is_one_person_is_found(desk: Desk) -> None:
    """The name as recorded finds the patient, with everything that tells two people apart."""
    found = await desk.call("patient.search", {"query": "Melissa Smith"})
    assert found == {
        "patient": {
            "reference": MELISSA,
            "name": "Melissa Smith",
            "birthDate": "1979-04-01",
            "age": 47,
            "sex": "female",
            "mrn": "POP-000035",
            "text": "Melissa Smith, 47 y, female, MRN POP-000035",
        }
    }
    said = desk.report("patient.search", {}, found)
    assert said == "Patient: Melissa Smith, 47 y, female, MRN POP-000035."


@pytest.mark.parametrize(
    "query",
    [
        "melissa  SMITH",
        "Smith, Melissa",
        "Smith",
        "POP-000035",
        "pop-000035",
        "Melissa Smith POP-000035",
        "(508) 747-5899",
        "508-747-5899",
    ],
)
async def test_other_ways_to_say_who(desk: Desk, query: str) -> None:
    """Case, order, the family name of only one person, the record number and the phone number."""
    found = await desk.call("patient.search", {"query": query})
    assert found["patient"]["reference"] == MELISSA


async def test_a_shared_name_is_a_question_with_two_identifiers_each(desk: Desk) -> None:
    """Nobody is chosen among three Masons; the form offers them and nobody else."""
    asked = await desk.call("patient.search", {"query": "Mason"})
    assert isinstance(asked, NeedInput)
    [field] = asked.fields
    assert asked.message == "3 patients match “Mason”. Which one?"
    assert field.name == "patient"
    assert field.hint["enum"] == [
        {"value": "Patient/pt-8018b33a4bbe", "label": "Cynthia Mason, 39 y, female, MRN POP-000023"},
        {"value": FRANCES, "label": "Frances Mason, 59 y, female, MRN POP-000024"},
        {"value": "Patient/pt-7b9efe220e71", "label": "Leonard Mason, 64 y, male, MRN POP-000022"},
    ]


async def test_the_answer_is_the_patient(desk: Desk) -> None:
    """What a person chose is read from the record again."""
    found = await desk.call("patient.search", {"query": "Mason"}, answers={"patient": FRANCES})
    assert found["patient"]["text"] == "Frances Mason, 59 y, female, MRN POP-000024"


@pytest.mark.parametrize("answer", ["Patient/nobody", "Mason", "Practitioner/dr-okafor"])
async def test_an_answer_that_is_nobody_is_asked_again(desk: Desk, answer: str) -> None:
    """A made-up reference is no patient, whoever sends it."""
    asked = await desk.call("patient.search", {"query": "Mason"}, answers={"patient": answer})
    assert isinstance(asked, NeedInput)
    assert asked.fields[0].name == "query"


@pytest.mark.parametrize("query", ["Nobody Atall", "Mason, Helen", "POP-999999", "Melissa POP-000024", "%%"])
async def test_no_match_asks_for_another_name(desk: Desk, query: str) -> None:
    """Nothing near is offered in place of what was typed; a name and a number must agree."""
    asked = await desk.call("patient.search", {"query": query})
    assert isinstance(asked, NeedInput)
    assert [field.name for field in asked.fields] == ["query"]


async def test_the_new_query_is_what_counts(desk: Desk) -> None:
    """An answer to “which name?” replaces the text of the plan."""
    found = await desk.call("patient.search", {"query": "Nobody"}, answers={"query": "Helen Coleman"})
    assert found["patient"]["name"] == "Helen Coleman"


@pytest.mark.parametrize("query", ["Mel", "Hel Cole", "Melissa", "John"])
async def test_half_a_name_is_confirmed(desk: Desk, query: str) -> None:
    """One match by the beginning of a word, or by a given name alone, is shown before it counts."""
    asked = await desk.call("patient.search", {"query": query})
    assert isinstance(asked, NeedInput)
    assert "Is this the patient?" in asked.message
    assert len(asked.fields[0].hint["enum"]) == 1  # type: ignore[arg-type]


async def test_the_date_of_birth_narrows_and_must_agree(desk: Desk) -> None:
    """A wrong date of birth is no match."""
    found = await desk.call("patient.search", {"query": "Mason", "birth_date": "1967-08-13"})
    assert found["patient"]["reference"] == FRANCES
    asked = await desk.call("patient.search", {"query": "Frances Mason", "birth_date": "1967-08-14"})
    assert isinstance(asked, NeedInput)
    assert asked.message.startswith("No patient matches “Frances Mason”, born 14 Aug 1967.")
    with pytest.raises(ToolError, match="not a date"):
        await desk.call("patient.search", {"query": "Mason", "birth_date": "13.8.67"})


async def test_a_person_recorded_as_deceased_is_said_to_be(desk: Desk) -> None:
    """Nobody acts on a closed record without being told."""
    found = await desk.call("patient.search", {"query": "Nicholas Bell"})
    assert found["patient"]["note"] == "deceased on 16 Feb 2026, record inactive"
    assert "deceased on 16 Feb 2026" in desk.report("patient.search", {}, found)
