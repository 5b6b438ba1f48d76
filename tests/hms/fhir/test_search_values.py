"""How values are normalised on both sides of a search."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from condor_hms.fhir.elements import codings, concept_code, concept_texts
from condor_hms.fhir.references import rewrite_references, versionless
from condor_hms.fhir.search import Equals, parse_search
from condor_hms.fhir.search_values import date_range, index_values, name_words, phone_backwards


@pytest.mark.parametrize(
    ("text", "low", "high"),
    [
        ("2026", "2026-01-01T00:00:00.000", "2026-12-31T23:59:59.999"),
        ("2026-02", "2026-02-01T00:00:00.000", "2026-02-28T23:59:59.999"),
        ("2026-12", "2026-12-01T00:00:00.000", "2026-12-31T23:59:59.999"),
        ("2026-11-30", "2026-11-30T00:00:00.000", "2026-11-30T23:59:59.999"),
        ("2026-11-30T09:30", "2026-11-30T09:30:00.000", "2026-11-30T09:30:59.999"),
        ("2026-11-30T09:30:15Z", "2026-11-30T09:30:15.000", "2026-11-30T09:30:15.999"),
        ("2026-11-30T09:30:15.25Z", "2026-11-30T09:30:15.250", "2026-11-30T09:30:15.250"),
        ("2026-11-30T00:30:00+02:00", "2026-11-29T22:30:00.000", "2026-11-29T22:30:00.999"),
        ("2026-11-30T23:30:00-05:00", "2026-12-01T04:30:00.000", "2026-12-01T04:30:00.999"),
        ("0800", "0800-01-01T00:00:00.000", "0800-12-31T23:59:59.999"),
    ],
)
def test_a_date_is_a_range_in_utc(text: str, low: str, high: str) -> None:
    """A date of less precision covers all moments it may mean; zones are brought to UTC."""
    assert date_range(text) == (low, high)


@pytest.mark.parametrize(
    "text", ["", "tomorrow", "2026-13", "2026-02-30", "26-11-30", "2026-11-30T25:00:00Z"]
)
def test_what_is_no_date_has_no_range(text: str) -> None:
    """A date is never repaired."""
    assert date_range(text) is None


@given(st.dates(), st.dates())
def test_ranges_are_ordered_as_days_are(one: object, other: object) -> None:
    """The text of a range sorts as time does, so that the index can compare it."""
    first, second = date_range(str(one)), date_range(str(other))
    if first is not None and second is not None:
        assert (first[0] < second[0]) == (str(one) < str(other))
        assert first[0] <= first[1]


@pytest.mark.parametrize(
    ("name", "query"),
    [
        ("O'Brien", "obrien"),
        ("O\N{RIGHT SINGLE QUOTATION MARK}Brien", "O'Brien"),
        ("O'Brien", "Brien"),
        ("Smith-Jones", "smith jones"),
        ("Smith-Jones", "Smithjones"),
        ("Smith-Jones", "Smith-Jones"),
        ("Łukasz", "lukasz"),
        ("Sørensen", "sorensen"),
        ("Müller", "Muller"),
        ("Straße", "strasse"),
        ("Núñez", "NUNEZ"),
        ("van der Berg", "Berg"),
        ("李小龙", "李小龙"),
    ],
)
def test_a_name_is_found_as_it_is_typed(name: str, query: str) -> None:
    """Accents, apostrophes and hyphens may be typed or left out."""
    indexed = name_words(name, whole=True)
    words = name_words(query, whole=False)
    assert words
    assert all(any(entry.startswith(word) for entry in indexed) for word in words)


@given(st.text(max_size=40))
def test_a_name_is_always_found_by_itself(name: str) -> None:
    """Whatever is asked as it is written is found, for every text there is."""
    indexed = name_words(name, whole=True)
    assert all(any(entry.startswith(word) for entry in indexed) for word in name_words(name, whole=False))


def test_open_periods_reach_to_the_end_of_time() -> None:
    """A period without an end has not ended."""
    values = index_values({"resourceType": "Flag", "id": "f", "period": {"start": "2026-11-30"}})
    [period] = [value for value in values if value.param == "date"]
    assert period.value.startswith("2026-11-30")
    assert period.qualifier.startswith("9999")
    values = index_values({"resourceType": "Flag", "id": "f", "period": {"end": "2026-11-30"}})
    [period] = [value for value in values if value.param == "date"]
    assert (period.value[:4], period.qualifier[:10]) == ("0000", "2026-11-30")


def test_a_resource_is_indexed_by_what_it_has() -> None:
    """Booleans, codes without a system and emails are told apart; nothing is indexed twice."""
    person = {
        "resourceType": "Practitioner",
        "id": "p",
        "active": True,
        "name": [{"family": "Osei", "prefix": ["Dr"]}, {"text": "Dr Osei"}],
        "identifier": [{"value": "X-1"}, {"system": "urn:a", "value": "X-1"}],
        "telecom": [{"system": "email", "value": "a1234567@b.c"}, {"value": "555 0199 123"}],
        "birthDate": "never",
    }
    found = {(value.param, value.value, value.qualifier) for value in index_values(person)}
    assert found == {
        ("active", "true", ""),
        ("name", "osei", ""),
        ("name", "dr", ""),
        ("identifier", "X-1", ""),
        ("identifier", "X-1", "urn:a"),
        ("phone", "3219910555", ""),
    }
    assert len(index_values(person)) == len(found)


def test_a_type_without_a_row_is_found_by_identifier_and_tag() -> None:
    """The common parameters hold for every type, so that a repeated write is recognised."""
    values = index_values(
        {"resourceType": "Basic", "id": "b", "meta": {"tag": [{"code": "t"}]}, "identifier": [{"value": "i"}]}
    )
    assert {(value.param, value.value) for value in values} == {("_tag", "t"), ("identifier", "i")}


def test_a_token_may_name_its_system_or_none() -> None:
    """`code`, `system|code` and `|code` are three questions."""
    for text, test in (("a", Equals("a")), ("s|a", Equals("a", "s")), ("|a", Equals("a", ""))):
        assert parse_search("Flag", {"status": text}).criteria[0].any_of == (test,)


def test_small_helpers_take_what_foreign_data_has() -> None:
    """Elements that are not what they should be are nothing, not a crash."""
    assert phone_backwards(None) == ""
    assert codings("text") == []
    assert codings({"coding": "x"}) == []
    assert concept_code(None, "s") is None
    assert concept_texts({"text": "A", "coding": [{"display": "A"}, {"display": "B"}]}) == ("A", "B")
    assert versionless("Flag/f/_history/2") == "Flag/f"
    assert rewrite_references([{"reference": "a"}, {"reference": "b"}], {"a": "c"}) == [
        {"reference": "c"},
        {"reference": "b"},
    ]
