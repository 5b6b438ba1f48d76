"""Whatever stands where, the check answers with issues: it never breaks."""

from __future__ import annotations

import copy
import random
from typing import TYPE_CHECKING, Any

import pytest

from condor_hms.fhir.search_values import index_values
from condor_hms.fhir.validation import check_content, check_in_record
from tests.hms.fhir.support import EXAMPLES, TODAY

if TYPE_CHECKING:
    from collections.abc import Iterator

WRITTEN: list[dict[str, Any]] = [
    entry["resource"]
    for examples in EXAMPLES.values()
    for example in examples
    for entry in example["bundle"]["entry"]
]
JUNK: tuple[Any, ...] = (
    *(None, [], {}, 0, -1, 1.5, "x", "", True, False, [None], [[]], ["x"], 10**30, float("nan"), "\ud800"),
    *("5", "2026-13-45", {"a": 1}, {"coding": "x"}, {"coding": [5]}, {"reference": 5}, {"reference": "x"}),
    *({"resourceType": "Patient"}, {"extension": [{}]}, [{"resourceType": "Zed", "id": "a"}], {"value": "5"}),
    *({"start": 5}, {"low": {"value": "x"}}, {"repeat": {"when": 5}}, {"repeat": {"when": [5]}}),
)
KEY_NAMES = """
contained text meta extension identifier note dosageInstruction component valueQuantity period reaction
activity participant lineItem output evidence stage referenceRange language implicitRules id subject patient
modifierExtension _status timing occurrencePeriod content payload
"""
KEYS = KEY_NAMES.split()
#: Resources spoiled for one seed.
SPOILED = 600


def places(element: Any, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    yield at
    if isinstance(element, dict | list):
        parts = element.items() if isinstance(element, dict) else enumerate(element)
        for step, part in parts:
            yield from places(part, (*at, step))


def spoil(resource: dict[str, Any], chance: random.Random) -> None:
    """Put junk into one place, or beside it under a name that means something."""
    at = chance.choice([place for place in places(resource) if place[:1] != ("resourceType",)])
    holder: Any = resource
    for step in at[:-1]:
        holder = holder[step]
    junk = copy.deepcopy(chance.choice(JUNK))
    inner = holder[at[-1]] if at else resource
    if isinstance(inner, dict) and chance.random() < 0.3:
        inner[chance.choice(KEYS)] = junk
    elif at:
        holder[at[-1]] = junk


@pytest.mark.parametrize("seed", range(3))
def test_the_check_never_breaks(seed: int) -> None:
    """One to three spoiled places in what the tools write: issues with paths, or a resource that is fine."""
    chance = random.Random(seed)
    refused = 0
    for _ in range(SPOILED):
        resource = copy.deepcopy(chance.choice(WRITTEN))
        for _ in range(chance.choice((1, 1, 2, 3))):
            spoil(resource, chance)
        issues = check_content(resource, today=TODAY)
        refused += bool(issues)
        assert all(issue.path and issue.message for issue in issues)
        if not issues:
            index_values(resource)
            check_in_record(resource, before=None, known={})
            check_in_record(resource, before=resource, known={})
    assert refused > SPOILED / 2


def test_a_type_that_the_models_break_on_is_refused() -> None:
    """A companion that is a number in quotes breaks the model; it is an issue all the same."""
    flag = {"resourceType": "Flag", "status": "active", "_status": "5", "code": {"text": "x"}}
    (issue,) = check_content({**flag, "subject": {"reference": "Patient/x"}}, today=TODAY)
    assert (issue.path, issue.rule) == ("Flag", "structure")
