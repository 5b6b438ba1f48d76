"""Whether a resource is what a search asked for, decided here and not by whoever answered; pure.

Rule: a server may ignore a parameter, or read it more widely. What it gives is looked through again with the
same values and tests that the embedded store searches by.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from condor_hms.fhir.search import Compare, Equals, StartsWith
from condor_hms.fhir.search_values import index_values

if TYPE_CHECKING:
    from collections.abc import Iterable

    from condor_hms.fhir.port import Resource
    from condor_hms.fhir.search import SearchQuery, Test
    from condor_hms.fhir.search_values import IndexValue

__all__ = ["matching"]


def matching(resources: Iterable[Resource], query: SearchQuery) -> list[Resource]:
    """Those that pass every criterion, in the order asked for (else as written), cut to the count."""
    found = [(resource, index_values(resource)) for resource in resources]
    kept = [(resource, values) for resource, values in found if _passes(resource, values, query)]
    kept.sort(key=lambda pair: _written(pair[0]))
    if query.sort is not None:
        name, newest_first = query.sort.param, query.sort.descending
        pick = max if newest_first else min

        def moment(pair: tuple[Resource, list[IndexValue]]) -> tuple[bool, str]:
            dates = [value.value for value in pair[1] if value.param == name]
            return (bool(dates), pick(dates) if dates else "")

        if newest_first:
            kept.reverse()
        kept.sort(key=moment, reverse=newest_first)
    return [resource for resource, _ in kept][: query.count]


def _written(resource: Resource) -> tuple[str, str]:
    return str((resource.get("meta") or {}).get("lastUpdated", "")), str(resource.get("id", ""))


def _passes(resource: Resource, values: list[IndexValue], query: SearchQuery) -> bool:
    if resource.get("resourceType") != query.resource_type:
        return False
    for criterion in query.criteria:
        if criterion.kind == "id":
            if not any(
                isinstance(test, Equals) and test.value == resource.get("id") for test in criterion.any_of
            ):
                return False
            continue
        own = [value for value in values if value.param == criterion.param]
        if not any(_meets(value, test) for value in own for test in criterion.any_of):
            return False
    return True


def _meets(value: IndexValue, test: Test) -> bool:
    match test:
        case Equals(wanted, system):
            return value.value == wanted and system in (None, value.qualifier)
        case StartsWith(prefix):
            return value.value.startswith(prefix)
        case Compare("eq", low, high):
            return value.value >= low and value.qualifier <= high
        case Compare("ge", low, _):
            return value.qualifier >= low
        case Compare("gt", _, high):
            return value.qualifier > high
        case Compare("le", _, high):
            return value.value <= high
        case Compare(_, low, _):
            return value.value < low
