"""References between resources: what one looks like, where they stand, how they are rewritten.

Rule: a literal reference is `Type/id` (or `Type/id/_history/version`); a bare id says nothing about its type.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from condor_hms.fhir.errors import RequestRefused

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

__all__ = ["is_local", "iter_references", "parse_reference", "rewrite_references", "versionless"]

# FHIR R4 datatypes: id is [A-Za-z0-9\-\.]{1,64}; resource types are upper camel case.
_LOCAL = re.compile(r"([A-Z][A-Za-z]{2,63})/([A-Za-z0-9\-.]{1,64})")
_VERSION_SUFFIX = re.compile(r"/_history/[A-Za-z0-9\-.]{1,64}\Z")
#: Quoted foreign text is cut to this many characters.
_QUOTE_CHARS_MAX = 80


def parse_reference(reference: str, *, where: str = "reference") -> tuple[str, str]:
    """Split `Type/id` into its type and id; raises `RequestRefused` for anything else, bare ids included."""
    match = _LOCAL.fullmatch(reference)
    if match is None:
        raise RequestRefused(
            where, f"{reference[:_QUOTE_CHARS_MAX]!r} is not a reference: give Type/id, such as Patient/pt-1"
        )
    return match.group(1), match.group(2)


def is_local(reference: str) -> bool:
    """Whether this is a `Type/id` (without a version suffix) of the same record."""
    return _LOCAL.fullmatch(reference) is not None


def versionless(reference: str) -> str:
    """The reference without its `/_history/…` suffix."""
    return _VERSION_SUFFIX.sub("", reference)


def iter_references(element: Any, path: str) -> Iterator[tuple[str, str]]:
    """Every literal reference below an element, as (path of the Reference element, reference text)."""
    if isinstance(element, dict):
        target = element.get("reference")
        if isinstance(target, str):
            yield path, target
        for key, value in element.items():
            if isinstance(value, dict | list):
                yield from iter_references(value, f"{path}.{key}")
    elif isinstance(element, list):
        for index, item in enumerate(element):
            yield from iter_references(item, f"{path}[{index}]")


def rewrite_references(element: Any, targets: Mapping[str, str]) -> Any:
    """A copy of the element in which every reference that is a key of `targets` is replaced by its value."""
    if isinstance(element, dict):
        copied = {key: rewrite_references(value, targets) for key, value in element.items()}
        target = copied.get("reference")
        if isinstance(target, str) and target in targets:
            copied["reference"] = targets[target]
        return copied
    if isinstance(element, list):
        return [rewrite_references(item, targets) for item in element]
    return element
