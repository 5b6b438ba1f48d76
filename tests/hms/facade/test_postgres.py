"""The facade over the record in PostgreSQL: it knows a store by its verbs, and nothing of where it is."""

from __future__ import annotations

from typing import Any

import pytest

from condor_hms.fhir.postgres import PostgresFhirStore
from tests.hms.facade.conftest import Asker
from tests.hms.fhir.support import CELECOXIB, MELISSA, bundle, changed, put

pytestmark = pytest.mark.slow


def without_times(value: Any) -> Any:
    """A resource without when it was loaded."""
    if isinstance(value, dict):
        return {name: without_times(part) for name, part in value.items() if name != "lastUpdated"}
    return [without_times(part) for part in value] if isinstance(value, list) else value


async def test_it_answers_the_same(demo_database: str, shared: Asker) -> None:
    """Resources, pages and versions, as from a file."""
    async with PostgresFhirStore(demo_database) as store:
        asker = Asker(store)
        assert without_times((await asker.get(MELISSA)).body) == without_times(
            (await shared.get(MELISSA)).body
        )
        address = f"Observation?patient={MELISSA}&_sort=-date&_count=30"
        pages = []
        for one in (asker, shared):
            told = await one.get(address)
            rest = await one.get(str(told.link("next")))
            pages.append((without_times(told.body), without_times(rest.body)))
        assert pages[0] == pages[1]
        resource, version = await changed(store, CELECOXIB, status="on-hold")
        await store.transact(bundle(put(resource, version)))
        history = (await asker.get(f"{CELECOXIB}/_history")).body
        assert [entry["resource"]["status"] for entry in history["entry"]] == ["on-hold", "active"]
        assert (await asker.get(f"{CELECOXIB}/_history/1")).body["status"] == "active"
