"""Pages over a record that changes between them: whatever stays is given once, nothing is given twice."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

from hypothesis import given
from hypothesis import strategies as st

from condor_hms.facade.answers import Refusal
from condor_hms.facade.asked import asked_of, pairs_of
from condor_hms.facade.bundles import search_bundle

BASE = "https://condor.example/fhir"
#: What happens between two pages: a row comes at a place, or the row at a place goes.
CHANGES = st.lists(st.tuples(st.sampled_from(["come", "go"]), st.integers(0, 60)), max_size=3)


def row(number: int) -> dict[str, Any]:
    return {"resourceType": "Patient", "id": f"p{number}"}


@given(
    count=st.integers(0, 40),
    size=st.integers(1, 12),
    between=st.lists(CHANGES, max_size=12),
)
def test_what_stays_is_given_once(count: int, size: int, between: list[list[tuple[str, int]]]) -> None:
    """Rows come and go anywhere; the walk ends, or says that its page is gone."""
    rows = [row(number) for number in range(count)]
    stayed = {str(each["id"]) for each in rows}
    given_ids: list[str] = []
    query, new, turns = f"_count={size}", count, iter(between)
    while True:
        asked = asked_of("Patient", pairs_of(query), base_url=BASE, is_strict=True)
        try:
            bundle = search_bundle(rows, asked, base_url=BASE, resource_type="Patient")
        except Refusal as gone:
            assert gone.status == 410
            assert given_ids[-1] not in {each["id"] for each in rows}
            return
        page = [entry["resource"]["id"] for entry in bundle.get("entry", [])]
        assert len(page) <= size
        given_ids += page
        following = next((link["url"] for link in bundle["link"] if link["relation"] == "next"), None)
        if following is None:
            break
        query = urlsplit(following).query
        for what, place in next(turns, []):
            if what == "come":
                rows.insert(min(place, len(rows)), row(new))
                new += 1
            elif rows:
                stayed.discard(rows.pop(place % len(rows))["id"])
    assert len(given_ids) == len(set(given_ids))
    assert stayed <= set(given_ids)
