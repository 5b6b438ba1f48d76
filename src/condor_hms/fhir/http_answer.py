"""What a FHIR server answered, read strictly; pure.

Law 1: an answer is what was asked for, or it is refused: the type, the id and a version, all of them.
Law 2: JSON that two readers read in two ways is none: a key twice, NaN, a lone surrogate, endless nesting.
Law 3: a refusal says what is wrong and where; it is always ``Unavailable``.
"""

from __future__ import annotations

import json
import math
import re
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NoReturn

import orjson

from condor_hms.fhir.errors import FhirError, Issue, RequestRefused, Unavailable, ValidationRefused

if TYPE_CHECKING:
    from collections.abc import Iterator

    from condor_hms.fhir.port import Resource

__all__ = [
    "Page",
    "location_of",
    "objects",
    "page_of",
    "read_json",
    "reference_of",
    "refusal",
    "resource_at",
    "shaped_as_r4",
    "version_of",
]

_LOCATION = re.compile(r"(?:^|/)([A-Z][A-Za-z]{2,63}/[A-Za-z0-9.-]{1,64})(?:/_history/([^/?#]+))?$")
_MEDIA_TYPE = re.compile(r"\s*application/(?:fhir\+json|json)\s*(?:;.*)?", re.IGNORECASE)
_REFERENCE = re.compile(r"[A-Z][A-Za-z]{2,63}/[A-Za-z0-9.-]{1,64}")
_QUOTE_CHARS_MAX = 80


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """One page of a search or of a history."""

    resources: tuple[Resource, ...]
    #: Entries on it, those that are no match too.
    entries: int
    #: Matches on all pages, as the server says; 0 where it does not.
    total: int
    #: The link to the next page as given; empty on the last.
    next: str


def read_json(body: bytes, media_type: str, where: str) -> Resource:
    """A body as a JSON object.

    Args:
        where: which request it answers.

    Raises:
        Unavailable: it is none, with what is wrong.
    """
    if not _MEDIA_TYPE.fullmatch(media_type):
        raise _bad(where, f"it is {media_type[:_QUOTE_CHARS_MAX] or 'of no media type'}, not FHIR JSON")
    try:
        found = json.loads(body, object_pairs_hook=_unique, parse_constant=_no_constant, parse_float=_finite)
        # Refuses lone surrogates, integers beyond 64 bits, and more than 254 levels.
        orjson.dumps(found)
    except RecursionError:
        raise _bad(where, "its JSON nests too deep") from None
    except (ValueError, TypeError) as fault:
        raise _bad(where, f"it is without JSON that can be kept: {str(fault)[:_QUOTE_CHARS_MAX]}") from None
    if not isinstance(found, dict):
        raise _bad(where, "it is no resource")
    return found


def resource_at(found: Resource, reference: str, where: str) -> Resource:
    """The resource that was asked for.

    Raises:
        Unavailable: it is another one, or without a version.
    """
    if reference_of(found) != reference:
        raise _bad(where, f"it is {reference_of(found)[:_QUOTE_CHARS_MAX]}, not {reference}")
    if not version_of(found):
        raise _bad(where, f"{reference} is without meta.versionId")
    return found


def page_of(bundle: Resource, resource_type: str, where: str) -> Page:
    """A page; what a server includes or remarks beside the matches is left out.

    Raises:
        Unavailable: it is none, or an entry is of another type, without id or without a version.
    """
    if bundle.get("resourceType") != "Bundle":
        raise _bad(where, f"it is {str(bundle.get('resourceType'))[:_QUOTE_CHARS_MAX]}, not a Bundle")
    entries = objects(bundle, "entry", where)
    kept = []
    for index, entry in enumerate(entries):
        place = f"{where}, entry[{index}]"
        resource = entry.get("resource")
        mode = _object(entry, "search", place).get("mode")
        if resource is None or mode in ("outcome", "include"):
            continue
        if not isinstance(resource, dict):
            raise _bad(place, "its resource is no object")
        found_type = resource.get("resourceType")
        if found_type == "OperationOutcome" and mode is None:
            continue
        if found_type != resource_type or not _REFERENCE.fullmatch(reference_of(resource)):
            raise _bad(place, f"it is {reference_of(resource)[:_QUOTE_CHARS_MAX]}, not a {resource_type}")
        kept.append(resource_at(resource, reference_of(resource), place))
    total = bundle.get("total", 0)
    if not isinstance(total, int) or isinstance(total, bool) or total < 0:
        raise _bad(where, "its total is no number of matches")
    links = [link for link in objects(bundle, "link", where) if link.get("relation") == "next"]
    following = links[0].get("url") if links else ""
    if not isinstance(following, str) or len(links) > 1:
        raise _bad(where, "its next page is no single address")
    return Page(resources=tuple(kept), entries=len(entries), total=total, next=following)


@contextmanager
def shaped_as_r4(what: str) -> Iterator[None]:
    """Looking through the content of answers.

    Raises:
        Unavailable: one is so unlike R4 that it cannot be looked through.
    """
    try:
        yield
    except (AttributeError, TypeError, KeyError, IndexError, ValueError) as fault:
        raise _bad(what, f"a resource is not shaped as R4 has it ({type(fault).__name__})") from fault


def objects(parent: Resource, name: str, where: str) -> list[Resource]:
    """A list of objects; empty where it is left out.

    Raises:
        Unavailable: it is something else.
    """
    found = parent.get(name, [])
    if not isinstance(found, list):
        raise _bad(where, f"its {name} is no list")
    for index, row in enumerate(found):
        if not isinstance(row, dict):
            raise _bad(where, f"its {name}[{index}] is no object")
    return found


def _object(parent: Resource, name: str, where: str) -> Resource:
    found = parent.get(name, {})
    if not isinstance(found, dict):
        raise _bad(where, f"its {name} is no object")
    return found


def location_of(row: Resource, where: str) -> tuple[str, str, str]:
    """Status, reference and version of one entry of a transaction's answer; the latter empty if not said.

    Raises:
        Unavailable: it is not shaped so.
    """
    response, resource = _object(row, "response", where), _object(row, "resource", where)
    place = _LOCATION.search(str(response.get("location", "")))
    reference = place[1] if place else reference_of(resource)
    etag = str(response.get("etag", "")).removeprefix("W/").strip('"')
    version = etag or (place[2] if place and place[2] else "") or version_of(resource)
    return str(response.get("status", "")), reference, version


def reference_of(resource: Resource) -> str:
    """``Type/id`` of a resource; what is no text in it is left empty."""
    kind, own = resource.get("resourceType"), resource.get("id")
    return f"{kind if isinstance(kind, str) else ''}/{own if isinstance(own, str) else ''}"


def version_of(resource: Resource) -> str:
    """Its version; empty where it has none."""
    meta = resource.get("meta")
    version = meta.get("versionId", "") if isinstance(meta, dict) else ""
    return version if isinstance(version, str) else ""


def refusal(status: int, outcome: Resource) -> FhirError:
    """An OperationOutcome as one of our errors."""
    issues = outcome.get("issue")
    said = [
        (_first(issue.get("expression")) or _first(issue.get("location")), _told(issue))
        for issue in (issues if isinstance(issues, list) else [])
        if isinstance(issue, dict)
    ]
    if status in (400, 422) and any(path for path, _ in said):
        return ValidationRefused(
            tuple(Issue(path=path or "Bundle", rule="server", message=text) for path, text in said)
        )
    text = "; ".join(text for _, text in said) or "no reason given"
    return RequestRefused("server", f"{status}: {text}"[:300])


def _first(found: Any) -> str:
    return str(found[0]) if isinstance(found, list) and found else ""


def _told(issue: Resource) -> str:
    details = issue.get("details")
    text = details.get("text") if isinstance(details, dict) else None
    return str(text or issue.get("diagnostics") or issue.get("code") or "refused")


def _bad(where: str, what: str) -> Unavailable:
    return Unavailable(f"the answer to {where} is refused: {what}")


def _unique(pairs: list[tuple[str, Any]]) -> Resource:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"{twice[:_QUOTE_CHARS_MAX]!r} is said twice")
    return found


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no number")


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError("a number is out of range")
    return value
