"""What others have written as FHIR R4 is not refused; every example of the catalogue is accepted, once."""

import copy
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from condor_hms.fhir.port import FhirStore, Resource, VersionConflict
from condor_hms.fhir.profiles import PROFILES
from condor_hms.fhir.validation import check_content
from tests.hms.fhir.support import EXAMPLES, IDEM, TODAY

#: Third-party examples (licences beside them); read where they are, no part of this repository.
CLINIC = Path(__file__).parents[4] / "shared" / "clinic" / "data"
CORPORA = {"synthea-r4": 1614, "hl7-r4-examples": 442}
WRITES = [(name, number) for name, examples in EXAMPLES.items() for number in range(len(examples))]


def resources_of(folder: Path) -> Iterator[Resource]:
    for path in sorted(folder.iterdir()):
        text = path.read_text(encoding="utf-8")
        if path.suffix == ".ndjson":
            yield from (json.loads(line) for line in text.splitlines())
        else:
            yield from (entry["resource"] for entry in json.loads(text)["entry"])


@pytest.mark.parametrize("corpus", CORPORA)
def test_foreign_resources_are_not_refused(corpus: str) -> None:
    """Structure, value sets, invariants and our own musts: no false refusal, of whatever type."""
    if not (CLINIC / corpus).is_dir():
        pytest.skip(f"the third-party examples are not at {CLINIC / corpus}")
    found = list(resources_of(CLINIC / corpus))
    refused = [(row["id"], str(issue)) for row in found for issue in check_content(row, today=TODAY)]
    assert refused == []
    assert len(found) == CORPORA[corpus]
    assert {row["resourceType"] for row in found} & set(PROFILES)


def test_every_type_that_the_examples_write_has_a_profile() -> None:
    """A type that a tool writes is checked beyond its structure."""
    written = {
        entry["resource"]["resourceType"]
        for examples in EXAMPLES.values()
        for example in examples
        for entry in example["bundle"]["entry"]
    }
    assert written <= set(PROFILES)


async def bundle_of(store: FhirStore, name: str, number: int) -> Resource:
    """An example with the versions that this record has, and its key as the tag of what it changes."""
    bundle: dict[str, Any] = copy.deepcopy(EXAMPLES[name][number]["bundle"])
    key = f"{name}:{number}"
    for entry in bundle["entry"]:
        request, resource = entry["request"], entry["resource"]
        resource["meta"] = {**resource.get("meta", {}), "tag": [{"system": IDEM, "code": key}]}
        if "ifMatch" in request:
            version = (await store.versions([request["url"]]))[request["url"]]
            request["ifMatch"] = f'W/"{version}"'
        if resource["resourceType"] == "Provenance":
            request["ifNoneExist"] = f"_tag={IDEM}|{key}"
    return bundle


@pytest.mark.parametrize(("name", "number"), WRITES)
async def test_an_example_write_is_accepted_and_never_doubled(
    store: FhirStore, name: str, number: int
) -> None:
    """A replayed create finds what is there; a replayed update is refused as changed, and known as ours."""
    bundle = await bundle_of(store, name, number)
    first = await store.transact(bundle)
    for entry, outcome in zip(bundle["entry"], first.outcomes, strict=True):
        stored = await store.read(outcome.reference)
        assert outcome.status == ("updated" if entry["request"]["method"] == "PUT" else "created")
        assert stored.get("status") == entry["resource"].get("status")
    if any("ifMatch" in entry["request"] for entry in bundle["entry"]):
        with pytest.raises(VersionConflict) as conflict:
            await store.transact(bundle)
        assert f'W/"{conflict.value.expected}"' in {
            entry["request"].get("ifMatch") for entry in bundle["entry"]
        }
        now = await store.read(conflict.value.reference)
        assert {"system": IDEM, "code": f"{name}:{number}"} in now["meta"]["tag"]
    else:
        again = await store.transact(bundle)
        assert [outcome.status for outcome in again.outcomes] == ["unchanged"] * len(bundle["entry"])
        assert [outcome.reference for outcome in again.outcomes] == [one.reference for one in first.outcomes]
