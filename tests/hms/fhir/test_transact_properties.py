"""Laws of `transact`, over generated Bundles against a model of what the record should hold."""

import asyncio
import shutil
import tempfile
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from condor_hms.fhir.embedded import EmbeddedFhirStore
from condor_hms.fhir.port import FhirError, Resource
from tests.hms.fhir.support import FALLS, allergy, bundle, changed, everything, flag, order, post, put

pytestmark = pytest.mark.slow

#: Each example copies the demonstration file and writes to disk a few times.
law = settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])

keys = st.sampled_from(["a", "b", "c"])
valid = st.builds(
    lambda make, key: post(make(), key), st.sampled_from([allergy, order, flag]), st.one_of(keys, st.none())
)
invalid = st.sampled_from(
    [
        post(flag(status="bogus")),
        post(allergy(code={})),
        post(order(subject={"reference": "Patient/nobody"})),
        put(flag(id="flag-9001"), "99"),
        put(flag(id="absent"), "1"),
        {"resource": flag(), "request": {"method": "DELETE", "url": "Flag/flag-9001"}},
    ]
)


def run(demo_file: Path, body: Callable[[EmbeddedFhirStore], Awaitable[None]]) -> None:
    async def opened(path: Path) -> None:
        async with EmbeddedFhirStore(path) as store:
            await body(store)

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "record.db"
        shutil.copy(demo_file, path)
        asyncio.run(opened(path))


def without_repeated_keys(entries: list[Resource]) -> list[Resource]:
    kept: dict[Any, Resource] = {}
    for place, entry in enumerate(entries):
        condition = entry["request"].get("ifNoneExist", place)
        kept.setdefault((entry["request"]["url"], condition), entry)
    return list(kept.values())


@law
@given(entries=st.lists(valid, min_size=1, max_size=5).map(without_repeated_keys), times=st.integers(2, 4))
def test_a_conditional_create_happens_once(demo_file: Path, entries: list[Resource], times: int) -> None:
    """However often a Bundle is sent, what has a key is there once; what has none, as often as sent."""

    async def body(store: EmbeddedFhirStore) -> None:
        before = await everything(store)
        results = [await store.transact(bundle(*entries)) for _ in range(times)]
        keyed = [place for place, entry in enumerate(entries) if "ifNoneExist" in entry["request"]]
        for place in keyed:
            outcomes = [result.outcomes[place] for result in results]
            assert [outcome.status for outcome in outcomes] == ["created"] + ["unchanged"] * (times - 1)
            assert len({(outcome.reference, outcome.version) for outcome in outcomes}) == 1
        added = len(keyed) + times * (len(entries) - len(keyed))
        after = await everything(store)
        assert len(after) == len(before) + added
        assert before.items() <= after.items()

    run(demo_file, body)


@law
@given(
    good=st.lists(valid, max_size=4).map(without_repeated_keys),
    bad=invalid,
    place=st.integers(0, 4),
)
def test_one_invalid_entry_and_nothing_is_applied(
    demo_file: Path, good: list[Resource], bad: Resource, place: int
) -> None:
    """Whatever is wrong with one entry, and wherever it stands, the record is as it was."""

    async def body(store: EmbeddedFhirStore) -> None:
        before = await everything(store)
        with pytest.raises(FhirError):
            await store.transact(bundle(*good[:place], bad, *good[place:]))
        assert await everything(store) == before

    run(demo_file, body)


@law
@given(seen=st.lists(st.integers(1, 4), min_size=1, max_size=6))
def test_only_the_version_that_is_current_can_be_updated(demo_file: Path, seen: list[int]) -> None:
    """An update is applied exactly if it was made from the current version; versions only go up by one."""

    async def body(store: EmbeddedFhirStore) -> None:
        current = 1
        for place, version in enumerate(seen):
            resource, _ = await changed(store, FALLS, code={"text": f"Falls risk {place}"})
            if version == current:
                await store.transact(bundle(put(resource, str(version))))
                current += 1
            else:
                with pytest.raises(FhirError):
                    await store.transact(bundle(post(flag()), put(resource, str(version))))
            assert await store.versions([FALLS]) == {FALLS: str(current)}
        history = [item["meta"]["versionId"] for item in await store.history(FALLS)]
        assert history == [str(number) for number in range(current, 0, -1)]
        assert len(await store.search("Flag", {})) == 1

    run(demo_file, body)
