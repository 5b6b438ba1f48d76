"""Bundles of the facade: a page of matches, a page of versions, each with its links; pure.

Law: a page goes on after the last entry of the page before, wherever that stands by now: what is written in
between makes no entry come twice. Where that entry matches no more, the page is gone and says so.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from condor_hms.facade.answers import Refusal, etag, outcome
from condor_hms.facade.asked import Page

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from condor_hms.facade.asked import Asked
    from condor_hms.fhir.port import Resource

__all__ = ["history_bundle", "search_bundle", "version_of"]


def search_bundle(found: Sequence[Resource], asked: Asked, *, base_url: str, resource_type: str) -> Resource:
    """A page of matches.

    Args:
        found: all of them, in order.

    Raises:
        Refusal: the page is gone.
    """
    begin, end = _cut(found, asked, _id)
    entries: list[dict[str, Any]] = [
        {
            "fullUrl": f"{base_url}/{resource_type}/{resource['id']}",
            "resource": resource,
            "search": {"mode": "match"},
        }
        for resource in found[begin:end]
    ]
    if asked.left_out:
        entries.append({"resource": _left_out(asked), "search": {"mode": "outcome"}})
    links = _links(f"{base_url}/{resource_type}", asked, found, end, _id)
    return _bundle("searchset", len(found), links, entries)


def history_bundle(
    versions: Sequence[Resource], asked: Asked, *, base_url: str, reference: str, first: str
) -> Resource:
    """A page of versions.

    Args:
        versions: all that are asked for, newest first.
        first: the version that created the resource.

    Raises:
        Refusal: the page is gone.
    """
    resource_type = reference.partition("/")[0]
    begin, end = _cut(versions, asked, version_of)
    entries = []
    for version in versions[begin:end]:
        is_first = version_of(version) == first
        response = {"status": "201" if is_first else "200", "etag": etag(version)}
        changed = (version.get("meta") or {}).get("lastUpdated")
        entries.append(
            {
                "fullUrl": f"{base_url}/{reference}",
                "resource": version,
                "request": {
                    "method": "POST" if is_first else "PUT",
                    "url": resource_type if is_first else reference,
                },
                "response": {**response, "lastModified": changed} if changed else response,
            }
        )
    links = _links(f"{base_url}/{reference}/_history", asked, versions, end, version_of)
    return _bundle("history", len(versions), links, entries)


def version_of(resource: Resource) -> str:
    """The version that a resource is."""
    return str((resource.get("meta") or {}).get("versionId", ""))


def _id(resource: Resource) -> str:
    return str(resource["id"])


def _cut(rows: Sequence[Resource], asked: Asked, mark: Callable[[Resource], str]) -> tuple[int, int]:
    """Where the page begins and ends."""
    if asked.is_count:
        return len(rows), len(rows)
    begin = _after(rows, asked.page, mark)
    return begin, min(begin + asked.page.size, len(rows))


def _after(rows: Sequence[Resource], page: Page, mark: Callable[[Resource], str]) -> int:
    if not page.given:
        return 0
    if page.given <= len(rows) and mark(rows[page.given - 1]) == page.last:
        return page.given
    place = next((place for place, row in enumerate(rows) if mark(row) == page.last), None)
    if place is None:
        raise Refusal(410, "deleted", "the record has changed and this page is gone: begin at the first page")
    return place + 1


def _links(
    address: str, asked: Asked, rows: Sequence[Resource], end: int, mark: Callable[[Resource], str]
) -> list[dict[str, str]]:
    links = [{"relation": "self", "url": f"{address}?{asked.query()}"}]
    if end < len(rows):
        following = Page(size=asked.page.size, given=end, last=mark(rows[end - 1]))
        links.append({"relation": "next", "url": f"{address}?{asked.query(following)}"})
    return links


def _left_out(asked: Asked) -> Resource:
    names = ", ".join(f"{name[:80]!a}" for name in asked.left_out)
    return outcome(
        "warning",
        "not-supported",
        f"left out, for this server does not know it: {names}; the self link says what was asked. With the "
        "header Prefer: handling=strict such a search is refused",
    )


def _bundle(
    kind: str, total: int, links: list[dict[str, str]], entries: Sequence[dict[str, Any]]
) -> Resource:
    found: Resource = {"resourceType": "Bundle", "type": kind, "total": total, "link": links}
    return {**found, "entry": list(entries)} if entries else found
