"""The CapabilityStatement against reality: all it says can be asked, and what it does not say cannot."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from condor import Principal
from condor_hms.facade.access import READERS
from condor_hms.fhir.structure import structure_issues
from tests.hms.facade.conftest import DOCTOR
from tests.hms.facade.test_facade import STRICT

if TYPE_CHECKING:
    from tests.hms.facade.conftest import Asker

EVERYBODY = Principal(id="all", roles=frozenset().union(*READERS.values()))
#: A value of each type of search parameter.
VALUES = {"token": "x", "reference": "Patient/x", "date": "ge2026-01-01", "string": "x"}


async def statement(shared: Asker, who: Principal = EVERYBODY) -> dict[str, Any]:
    told = await shared.get("metadata", who=who)
    assert told.status == 200
    found: dict[str, Any] = told.body
    return found


async def test_it_is_one_of_r4(shared: Asker) -> None:
    """Its structure, and what R4 says must be there."""
    said = await statement(shared)
    assert structure_issues(said) == []
    assert (said["fhirVersion"], said["kind"], said["status"]) == ("4.0.1", "instance", "active")
    assert said["implementation"]["url"] == "https://condor.example/fhir"
    nobody = await statement(shared, Principal(id="none"))
    assert structure_issues(nobody) == []
    assert "resource" not in nobody["rest"][0]


async def test_all_it_says_can_be_asked(shared: Asker) -> None:
    """Each interaction and each parameter of each type, strictly."""
    [rest] = (await statement(shared))["rest"]
    assert [row["type"] for row in rest["resource"]] == list(READERS)
    for row in rest["resource"]:
        name = row["type"]
        assert [one["code"] for one in row["interaction"]] == [
            "read",
            "vread",
            "history-instance",
            "search-type",
        ]
        first = (await shared.get(f"{name}?_count=1", who=EVERYBODY)).ids
        own_id = first[0] if first else "none"
        wanted = 200 if first else 404
        for address in (f"{name}/{own_id}", f"{name}/{own_id}/_history", f"{name}/{own_id}/_history/1"):
            assert (await shared.get(address, who=EVERYBODY)).status == wanted, address
        for param in row["searchParam"]:
            value = "555 0100" if param["name"] == "phone" else VALUES[param["type"]]
            asked = f"{name}?{param['name']}={value}&_count=1"
            told = await shared.get(asked, who=EVERYBODY, headers=STRICT)
            assert told.status == 200, (asked, told.body)


async def test_what_it_does_not_say_cannot_be_asked(shared: Asker) -> None:
    """A parameter of another type, a type that is missing, an interaction that is missing."""
    [rest] = (await statement(shared))["rest"]
    known = {row["type"]: {param["name"] for param in row["searchParam"]} for row in rest["resource"]}
    everything = set().union(*known.values())
    for name, params in known.items():
        for other in sorted(everything - params):
            told = await shared.get(f"{name}?{other}=x", who=EVERYBODY, headers=STRICT)
            assert told.issue[:2] == (400, "not-supported"), (name, other)
        for address in (f"{name}/_history", f"{name}/x/$everything", f"{name}/$count"):
            assert (await shared.get(address, who=EVERYBODY)).issue[:2] == (404, "not-supported")
    for name in ("Basic", "Medication", "ValueSet", "Bundle"):
        assert name not in known
        assert (await shared.get(name, who=EVERYBODY)).issue[:2] == (404, "not-supported")


async def test_it_lists_what_the_caller_may_read(shared: Asker) -> None:
    """Of a doctor: no Provenance; each listed type answers, each other is refused."""
    [rest] = (await statement(shared, DOCTOR))["rest"]
    listed = {row["type"] for row in rest["resource"]}
    for name in READERS:
        assert (await shared.get(f"{name}?_count=0")).status == (200 if name in listed else 403)


def test_each_parameter_type_has_a_value() -> None:
    """So that the walk above leaves none out."""
    with pytest.raises(KeyError):
        VALUES["quantity"]
