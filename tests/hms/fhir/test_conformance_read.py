"""What any `FhirStore` answers when it is asked."""

import pytest

from condor_hms.fhir.port import FhirStore, NotFound, RequestRefused
from tests.hms.fhir.support import CELECOXIB, HELEN, JOHN, MELISSA, bundle, changed, flag, post, put


async def test_a_resource_is_read_with_its_version(store: FhirStore) -> None:
    """What is read says which version it is, so that a write can say what it was made from."""
    patient = await store.read(MELISSA)
    assert patient["name"][0]["family"] == "Smith"
    assert await store.versions([MELISSA]) == {MELISSA: patient["meta"]["versionId"]}


async def test_an_absent_resource_is_not_found(store: FhirStore) -> None:
    """Absence is an error of its own and names the reference."""
    with pytest.raises(NotFound, match="Patient/nobody is not in the record"):
        await store.read("Patient/nobody")
    with pytest.raises(NotFound):
        await store.history("Patient/nobody")
    with pytest.raises(NotFound, match="version '99'"):
        await store.vread(MELISSA, "99")
    with pytest.raises(NotFound):
        await store.vread(MELISSA, "not-a-version")
    assert await store.versions(["Patient/nobody"]) == {"Patient/nobody": None}


@pytest.mark.parametrize(
    "reference", ["pt-0612cf63eb84", "Patient/", "patient/x", "", "Patient/a b", "Patient/x/y"]
)
async def test_a_reference_is_type_and_id(store: FhirStore, reference: str) -> None:
    """A bare id is refused with advice, wherever a reference is asked for."""
    for call in (store.read(reference), store.history(reference), store.vread(reference, "1")):
        with pytest.raises(RequestRefused, match="give Type/id"):
            await call
    with pytest.raises(RequestRefused, match="give Type/id"):
        await store.versions([reference])


async def test_history_tells_every_version(store: FhirStore) -> None:
    """Nothing that was ever written is lost; newest first, and each can be read as it was."""
    for status in ("on-hold", "active", "stopped"):
        resource, version = await changed(store, CELECOXIB, status=status)
        await store.transact(bundle(put(resource, version)))
    history = await store.history(CELECOXIB)
    assert [item["status"] for item in history] == ["stopped", "active", "on-hold", "active"]
    assert len({item["meta"]["versionId"] for item in history}) == 4
    for item in history:
        assert await store.vread(CELECOXIB, item["meta"]["versionId"]) == item
    assert await store.read(CELECOXIB) == history[0]


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("Melissa Smith", ["Smith"]),
        ("smith, melissa", ["Smith"]),
        ("SMI mel", ["Smith"]),
        ("Mélissa Smïth", ["Smith"]),
        ("hernandez", ["Hernandez", "Hernandez"]),
        ("Hernández John", ["Hernandez"]),
        ("mason", ["Mason", "Mason", "Mason"]),
        ("elissa", []),
        ("Melissa Hernandez", []),
        ("o'henry", []),
    ],
)
async def test_patients_are_found_by_name(store: FhirStore, query: str, found: list[str]) -> None:
    """Words in any order, each the beginning of a word of the name; case and accents do not matter."""
    matches = await store.search("Patient", {"name": query})
    assert found == [match["name"][0]["family"] for match in matches]


@pytest.mark.parametrize(
    "params",
    [
        {"identifier": "POP-000035"},
        {"identifier": "pop-000035"},
        {"identifier": "http://hospital.example.org/identifiers/mrn|POP-000035"},
        {"phone": "(508) 747-5899"},
        {"phone": "+1 508 747 5899"},
        {"phone": "747-5899"},
        {"birthdate": "1979-04-01"},
        {"birthdate": ["ge1979-04-01", "le1979-04-01"]},
        {"birthdate": "1979"},
        {"_id": "pt-0612cf63eb84"},
        {"name": "smith", "birthdate": "1979-04"},
    ],
)
async def test_a_patient_is_found_by_identifier_phone_and_birth_date(
    store: FhirStore, params: dict[str, str]
) -> None:
    """Whatever an operator has at hand finds the one patient it belongs to."""
    assert [match["id"] for match in await store.search("Patient", params)] == ["pt-0612cf63eb84"]


@pytest.mark.parametrize(
    "params",
    [
        {"identifier": "POP-0000"},
        {"identifier": "urn:other|POP-000035"},
        {"phone": "5899"},
        {"birthdate": "gt1979-04-01", "name": "Melissa Smith"},
        {"birthdate": "lt1979-04-01", "name": "Melissa Smith"},
        {"name": "smith", "birthdate": "1979-05"},
    ],
)
async def test_what_does_not_fit_is_not_found(store: FhirStore, params: dict[str, str]) -> None:
    """Part of an identifier, another system or a date next door is not the patient."""
    assert await store.search("Patient", params) == []


async def test_a_patients_record_is_searched_by_reference(store: FhirStore) -> None:
    """The searches of a patient summary give what belongs to the patient and nothing else."""
    allergies = await store.search("AllergyIntolerance", {"patient": MELISSA})
    assert len(allergies) == 4
    orders = await store.search(
        "MedicationRequest", {"subject": MELISSA, "status": "active,on-hold", "intent": "order"}
    )
    assert sorted(item["medicationCodeableConcept"]["text"] for item in orders) == [
        "Amlodipine",
        "Atorvastatin",
        "Metformin",
        "Sliding scale insulin",
    ]
    problems = await store.search("Condition", {"subject": MELISSA, "clinical-status": "active"})
    assert len(problems) == 4
    flags = await store.search("Flag", {"patient": HELEN, "status": "active"})
    assert [item["id"] for item in flags] == ["flag-9001"]


async def test_results_are_sorted_cut_and_limited_by_date(store: FhirStore) -> None:
    """The last results of a test, newest first."""
    params = {"subject": MELISSA, "category": "laboratory", "code": "4548-4", "_sort": "-date"}
    results = await store.search("Observation", params)
    dates = [item["effectiveDateTime"] for item in results]
    assert dates == sorted(dates, reverse=True)
    assert results[0]["valueQuantity"]["value"] == 7.2
    assert await store.search("Observation", params | {"_count": "1"}) == results[:1]
    assert (
        await store.search("Observation", params | {"date": ["ge2026-11-10", "le2026-11-10"]}) == results[:2]
    )
    assert await store.search("Observation", params | {"date": "ge2026-11-11"}) == []
    coded = await store.search("Observation", params | {"code": "http://loinc.org|4548-4"})
    assert coded == results
    assert await store.search("Observation", params | {"code": "http://snomed.info/sct|4548-4"}) == []


@pytest.mark.parametrize(
    ("resource_type", "params", "said"),
    [
        ("Patient", {"nmae": "Smith"}, r"Patient\?nmae: unknown search parameter"),
        ("Patient", {"name:exact": "Smith"}, "unknown search parameter"),
        ("AllergyIntolerance", {"subject": MELISSA}, "unknown search parameter"),
        ("Observation", {"subject": "pt-0612cf63eb84"}, "give Type/id"),
        ("Observation", {"subject": MELISSA, "_sort": "-value"}, "cannot sort by '-value'"),
        ("Observation", {"subject": MELISSA, "_count": "0"}, "not a count"),
        ("Observation", {"subject": MELISSA, "_count": "many"}, "not a count"),
        ("Observation", {"subject": MELISSA, "date": "last week"}, "not a date"),
        ("Observation", {"subject": MELISSA, "date": "2026-02-31"}, "not a date"),
        ("Observation", {"subject": MELISSA, "code": "http://loinc.org|"}, "without a code"),
        ("Patient", {"name": "  "}, "none of them empty"),
        ("Patient", {"name": "--"}, "no word"),
        ("Patient", {"phone": "none"}, "no digits"),
        ("Patient", {"identifier": "a,,b"}, "none of them empty"),
        ("Patient", {"_id": "Patient/x"}, "without the type"),
        ("patient", {}, "not a resource type"),
        ("Patient; DROP TABLE resource", {}, "not a resource type"),
    ],
)
async def test_a_search_that_is_not_understood_is_refused(
    store: FhirStore, resource_type: str, params: dict[str, str], said: str
) -> None:
    """A filter that were ignored would answer another question than the one asked."""
    with pytest.raises(RequestRefused, match=said):
        await store.search(resource_type, params)


async def test_what_is_returned_belongs_to_the_caller(store: FhirStore) -> None:
    """Changing a returned resource changes nothing in the record."""
    (await store.read(JOHN))["name"] = "changed"
    assert (await store.read(JOHN))["name"][0]["family"] == "Hernandez"


async def test_what_is_too_long_to_look_for_is_kept_and_never_met_by_chance(store: FhirStore) -> None:
    """A value that no index holds is stored whole; a question of that length is refused, not cut."""
    long = "\N{GREEK SMALL LETTER OMEGA}" * 3000
    made = await store.transact(bundle(post(flag(identifier=[{"system": "urn:test", "value": long}]))))
    stored = await store.read(made.outcomes[0].reference)
    assert stored["identifier"][0]["value"] == long
    assert await store.search("Flag", {"identifier": f"urn:test|{long[:200]}"}) == []
    for bad in (long, "a\0b", "a\nb", "\ud800"):
        with pytest.raises(RequestRefused, match=r"Flag\?identifier: a value has at most 250 characters"):
            await store.search("Flag", {"identifier": f"urn:test|{bad}"})
