"""Walking a resource by dotted paths, with the concrete place of everything found; pure."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

    from condor_hms.fhir.port import Resource

__all__ = ["codings", "concept_code", "concept_texts", "elements_at", "unindexed"]


def elements_at(resource: Resource, path: str) -> Iterator[tuple[str, Any]]:
    """Every element at a dotted path as (concrete path with type and indices, element); walks lists."""
    yield from _walk(resource, path.split("."), str(resource.get("resourceType", "")))


def _walk(element: Any, steps: list[str], place: str) -> Iterator[tuple[str, Any]]:
    if isinstance(element, list):
        for index, item in enumerate(element):
            yield from _walk(item, steps, f"{place}[{index}]")
    elif not steps:
        yield place, element
    elif isinstance(element, dict) and steps[0] in element:
        yield from _walk(element[steps[0]], steps[1:], f"{place}.{steps[0]}")


def unindexed(place: str) -> str:
    """`reaction.severity` of `AllergyIntolerance.reaction[0].severity`."""
    return re.sub(r"\[\d+\]", "", place).partition(".")[2]


def codings(concept: Any) -> list[dict[str, Any]]:
    """The codings of a CodeableConcept; none if it is not one."""
    found = concept.get("coding", []) if isinstance(concept, dict) else []
    return [coding for coding in found if isinstance(coding, dict)] if isinstance(found, list) else []


def concept_code(concept: Any, system: str) -> str | None:
    """The code a CodeableConcept has in a system."""
    return next((coding.get("code") for coding in codings(concept) if coding.get("system") == system), None)


def concept_texts(concept: Any) -> tuple[str, ...]:
    """What a CodeableConcept says in words: its text, then its displays, without repetition."""
    text = concept.get("text") if isinstance(concept, dict) else None
    found = [text, *(coding.get("display") for coding in codings(concept))]
    return tuple(dict.fromkeys(item for item in found if isinstance(item, str) and item.strip()))
