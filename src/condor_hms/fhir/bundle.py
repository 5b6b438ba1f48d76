"""What a transaction Bundle asks for, entry by entry; pure.

Rule 1: only POST and PUT. A DELETE is refused: removal is a state, so that history stays readable.
Rule 2: no two entries may name the same resource, full URL or condition: their order would matter.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from condor_hms.fhir.errors import RequestRefused
from condor_hms.fhir.references import parse_reference
from condor_hms.fhir.search import SearchQuery, parse_query_string

if TYPE_CHECKING:
    from condor_hms.fhir.port import Resource

__all__ = ["ENTRIES_MAX", "EntryRequest", "parse_bundle"]

#: Entries of one Bundle. A hospital write has 2 to 10; no write may hold the lock for long.
ENTRIES_MAX = 200

_ETAG = re.compile(r'(?:W/)?"([^"]+)"')
_REQUEST_KEYS = frozenset({"method", "url", "ifNoneExist", "ifMatch"})


@dataclass(frozen=True, slots=True, kw_only=True)
class EntryRequest:
    """One entry of a transaction, parsed once."""

    #: Place in the Bundle.
    index: int
    #: What to do.
    method: Literal["POST", "PUT"]
    #: The FHIR type of the resource.
    resource_type: str
    #: The resource as sent.
    resource: Resource
    #: PUT: `Type/id`; POST: None, the store assigns it.
    reference: str | None
    #: The entry's `fullUrl`, by which other entries refer to it.
    full_url: str | None
    #: POST: create only if nothing matches this.
    if_none_exist: SearchQuery | None
    #: POST: the condition as sent, for messages.
    condition: str | None
    #: PUT: the version the caller saw, without `W/""`.
    if_match: str | None


def parse_bundle(bundle: Resource) -> tuple[EntryRequest, ...]:
    """Understand a transaction; raises `RequestRefused` that says which entry and what to do."""
    if (
        not isinstance(bundle, dict)
        or bundle.get("resourceType") != "Bundle"
        or bundle.get("type") != "transaction"
    ):
        raise RequestRefused(
            "Bundle.type", "a write is a Bundle of type transaction, applied whole or not at all"
        )
    entries = bundle.get("entry")
    if not isinstance(entries, list) or not 1 <= len(entries) <= ENTRIES_MAX:
        raise RequestRefused("Bundle.entry", f"give 1 to {ENTRIES_MAX} entries")
    parsed = tuple(_parse_entry(index, entry) for index, entry in enumerate(entries))
    _refuse_overlap(parsed)
    return parsed


def _parse_entry(index: int, entry: Any) -> EntryRequest:
    where = f"Bundle.entry[{index}]"
    request = entry.get("request") if isinstance(entry, dict) else None
    if not isinstance(request, dict) or any(not isinstance(value, str) for value in request.values()):
        raise RequestRefused(
            f"{where}.request", "an entry says what to do: give request.method and request.url"
        )
    unknown = sorted(request.keys() - _REQUEST_KEYS)
    if unknown:
        raise RequestRefused(
            f"{where}.request.{unknown[0][:80]}", "this store does not understand it: leave it out"
        )
    method, url = request.get("method", ""), request.get("url", "")
    if method == "DELETE":
        raise RequestRefused(
            f"{where}.request.method",
            "DELETE is never done: removal is a state, so PUT the resource with its entered-in-error, "
            "stopped or cancelled status",
        )
    resource = entry.get("resource")
    if not isinstance(resource, dict) or not isinstance(resource.get("resourceType"), str):
        raise RequestRefused(f"{where}.resource", "an entry carries a resource with its resourceType")
    full_url = entry.get("fullUrl")
    if full_url is not None and (not isinstance(full_url, str) or not full_url):
        raise RequestRefused(f"{where}.fullUrl", "give a URL such as urn:uuid:… or leave it out")
    match method:
        case "POST":
            return _parse_post(index, url, request, resource, full_url)
        case "PUT":
            return _parse_put(index, url, request, resource, full_url)
        case _:
            raise RequestRefused(
                f"{where}.request.method", f"{method[:80]!r} is not done here: give POST or PUT"
            )


def _parse_post(
    index: int, url: str, request: dict[str, str], resource: Resource, full_url: str | None
) -> EntryRequest:
    where = f"Bundle.entry[{index}].request"
    resource_type: str = resource["resourceType"]
    if url != resource_type or re.fullmatch(r"[A-Z][A-Za-z]{2,63}", url) is None:
        raise RequestRefused(
            f"{where}.url", f"{url[:80]!r} does not fit the resource: POST goes to {resource_type[:80]!r}"
        )
    if "ifMatch" in request:
        raise RequestRefused(f"{where}.ifMatch", "a POST has no version to match: use PUT")
    condition = request.get("ifNoneExist")
    query = None
    if condition is not None:
        query = parse_query_string(resource_type, condition, where=f"{where}.ifNoneExist")
    return EntryRequest(
        index=index,
        method="POST",
        resource_type=resource_type,
        resource=resource,
        reference=None,
        full_url=full_url,
        if_none_exist=query,
        condition=condition,
        if_match=None,
    )


def _parse_put(
    index: int, url: str, request: dict[str, str], resource: Resource, full_url: str | None
) -> EntryRequest:
    where = f"Bundle.entry[{index}]"
    resource_type, resource_id = parse_reference(url, where=f"{where}.request.url")
    if resource["resourceType"] != resource_type:
        raise RequestRefused(f"{where}.resource.resourceType", f"it must be {resource_type}, as in the url")
    if resource.get("id") != resource_id:
        raise RequestRefused(f"{where}.resource.id", f"it must be {resource_id!r}, as in the url")
    if "ifNoneExist" in request:
        raise RequestRefused(f"{where}.request.ifNoneExist", "a PUT names its resource: use ifMatch")
    version = None
    if "ifMatch" in request:
        match = _ETAG.fullmatch(request["ifMatch"])
        if match is None:
            raise RequestRefused(f"{where}.request.ifMatch", 'give the version that was read as W/"version"')
        version = match.group(1)
    return EntryRequest(
        index=index,
        method="PUT",
        resource_type=resource_type,
        resource=resource,
        reference=url,
        full_url=full_url,
        if_none_exist=None,
        condition=None,
        if_match=version,
    )


def _refuse_overlap(entries: tuple[EntryRequest, ...]) -> None:
    seen: dict[tuple[str, object], int] = {}
    for entry in entries:
        for what, value in (
            ("resource", entry.reference),
            ("fullUrl", entry.full_url),
            ("ifNoneExist", entry.if_none_exist),
        ):
            if value is None:
                continue
            first = seen.setdefault((what, value), entry.index)
            if first != entry.index:
                raise RequestRefused(
                    f"Bundle.entry[{entry.index}]",
                    f"same {what} as entry {first}: one entry for one resource",
                )
