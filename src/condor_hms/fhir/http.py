"""A FHIR R4 server over HTTP as a ``FhirStore``.

Rule 1: a write is checked here as the embedded store checks it, then sent as one transaction; the server
holds ``ifMatch`` and ``ifNoneExist``. What it answers with 409 or 412 means: changed since you saw it.
Rule 2: versions are opaque ETags. Every search says ``Cache-Control: no-cache``: a common server gives the
result of an earlier search again for a minute.
Rule 3: a link to a next page is followed on the same server only, and a token goes over TLS only (or to this
machine).
"""

from __future__ import annotations

import asyncio
import re
from typing import TYPE_CHECKING
from urllib.parse import quote, urljoin

from condor_hms.fhir.bundle import parse_bundle
from condor_hms.fhir.errors import (
    DuplicateMatch,
    FhirError,
    Gone,
    Issue,
    NotFound,
    RequestRefused,
    Unavailable,
    ValidationRefused,
    VersionConflict,
)
from condor_hms.fhir.http_address import FhirAddress
from condor_hms.fhir.http_query import server_params
from condor_hms.fhir.matching import matching
from condor_hms.fhir.port import EntryOutcome, TransactionResult
from condor_hms.fhir.references import iter_references, parse_reference, rewrite_references, versionless
from condor_hms.fhir.search import parse_search
from condor_hms.fhir.search_values import patients_of
from condor_hms.fhir.validation import check_content, check_in_record

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from types import TracebackType
    from typing import Self

    import httpx

    from condor_hms.fhir.bundle import EntryRequest
    from condor_hms.fhir.port import Resource, SearchParams
    from condor_hms.fhir.search import SearchQuery

__all__ = ["HttpFhirStore"]

#: Matches of one search; more are for a narrower question.
_MATCHES_MAX = 10_000
#: Requests at one time to one server.
_AT_ONCE = 8
_LOCATION = re.compile(r"(?:^|/)([A-Z][A-Za-z]{2,63}/[A-Za-z0-9.-]{1,64})(?:/_history/([^/?#]+))?$")
_JSON = "application/fhir+json"


class HttpFhirStore:
    """A ``FhirStore`` behind a base URL such as ``https://fhir.example.org/R4``."""

    def __init__(
        self, base_url: str, *, token: str | None = None, timeout_s: float = 15.0, read_only: bool = False
    ) -> None:
        """Nothing is asked yet.

        Args:
            read_only: every write is refused here.

        Raises:
            Unavailable: the URL is none, or a token would go in the clear.
        """
        import httpx

        self._address = FhirAddress.of(base_url, has_token=bool(token))
        self._base = self._address.base
        self._read_only = read_only
        headers = {"accept": _JSON, "cache-control": "no-cache"}
        if token:
            headers["authorization"] = f"Bearer {token}"
        # A token would go along with a redirect, and without TLS to a proxy of the environment.
        self._client = httpx.AsyncClient(
            headers=headers,
            timeout=timeout_s,
            follow_redirects=False,
            trust_env=self._base.startswith("https:"),
        )
        self._gate = asyncio.Semaphore(_AT_ONCE)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Close the connections."""
        await self._client.aclose()

    async def read(self, reference: str) -> Resource:
        """See ``FhirStore.read``."""
        parse_reference(reference)
        return await self._get(reference, missing=NotFound(reference))

    async def vread(self, reference: str, version: str) -> Resource:
        """See ``FhirStore.vread``."""
        parse_reference(reference)
        path = f"{reference}/_history/{quote(version, safe='')}"
        found = await self._get(path, missing=NotFound(reference, version))
        if str((found.get("meta") or {}).get("versionId")) != version:
            raise NotFound(reference, version)
        return found

    async def search(self, resource_type: str, params: SearchParams) -> list[Resource]:
        """See ``FhirStore.search``."""
        query = parse_search(resource_type, params)
        found = await self._pages(resource_type, server_params(query))
        return matching(found, query)

    async def history(self, reference: str) -> list[Resource]:
        """See ``FhirStore.history``."""
        parse_reference(reference)
        # A server may answer for nobody with an empty history.
        await self.read(reference)
        found = await self._pages(f"{reference}/_history", [], missing=NotFound(reference))
        return sorted(
            found, key=lambda row: str((row.get("meta") or {}).get("lastUpdated", "")), reverse=True
        )

    async def versions(self, references: Iterable[str]) -> dict[str, str | None]:
        """See ``FhirStore.versions``."""
        wanted = list(dict.fromkeys(references))
        for reference in wanted:
            parse_reference(reference)
        found = await asyncio.gather(*(self._or_none(reference) for reference in wanted))
        return {
            reference: None if row is None else _version(row)
            for reference, row in zip(wanted, found, strict=True)
        }

    async def transact(self, bundle: Resource) -> TransactionResult:
        """See ``FhirStore.transact``."""
        if self._read_only:
            raise RequestRefused("transact", "this home is open for reading only")
        entries = parse_bundle(bundle)
        issues = [issue for entry in entries for issue in check_content(entry.resource, entry=entry.index)]
        if issues:
            raise ValidationRefused(tuple(issues))
        before = await self._before(entries)
        await self._check(entries, before)
        response = await self._send("POST", "", json=bundle)
        if response.status_code in (409, 412):
            raise await self._conflict(entries)
        answer = _resource_of(response)
        if response.status_code >= 400:
            raise _refusal(response.status_code, answer)
        return _result(entries, before, answer)

    # -- a write, looked at before it is sent ------------------------------------------------

    async def _before(self, entries: Sequence[EntryRequest]) -> list[Resource | None]:
        """What each entry is about, as it is now."""
        return list(await asyncio.gather(*map(self._now, entries)))

    async def _now(self, entry: EntryRequest) -> Resource | None:
        if entry.reference is not None:
            return _to_update(entry, entry.reference, await self._or_none(entry.reference))
        if entry.if_none_exist is None:
            return None
        found = await self._matches(entry.resource_type, entry.if_none_exist)
        if len(found) > 1:
            criteria = f"{entry.resource_type}?{entry.condition}"
            raise DuplicateMatch(criteria, tuple(_reference(row) for row in found))
        return found[0] if found else None

    async def _matches(self, resource_type: str, query: SearchQuery) -> list[Resource]:
        return matching(await self._pages(resource_type, server_params(query)), query)

    async def _check(self, entries: Sequence[EntryRequest], before: Sequence[Resource | None]) -> None:
        """Every resource where it will stand: references, states, what may not change."""
        places = {
            entry.full_url: entry.reference
            or (_reference(now) if now else f"{entry.resource_type}/new-{entry.index}")
            for entry, now in zip(entries, before, strict=True)
            if entry.full_url is not None
        }
        written = [
            (entry, now, rewrite_references(entry.resource, places))
            for entry, now in zip(entries, before, strict=True)
            if entry.method == "PUT" or now is None
        ]
        own = set(places.values()) | {entry.reference for entry in entries if entry.reference}
        mentioned = {
            versionless(target)
            for _, _, resource in written
            for _, target in iter_references(resource, "")
            if re.fullmatch(r"[A-Z][A-Za-z]{2,63}/[A-Za-z0-9.-]{1,64}", versionless(target))
        }
        others = sorted(mentioned - own)
        found = await asyncio.gather(*(self._or_none(reference) for reference in others))
        known = dict.fromkeys(own, frozenset[str]()) | {
            reference: patients_of(row)
            for reference, row in zip(others, found, strict=True)
            if row is not None
        }
        for entry, _, resource in written:
            if entry.reference is not None or entry.full_url is not None:
                place = entry.reference or places[str(entry.full_url)]
                known[place] = patients_of(resource)
        issues: list[Issue] = []
        for entry, now, resource in written:
            issues += check_in_record(resource, before=now, known=known, entry=entry.index)
        if issues:
            raise ValidationRefused(tuple(issues))

    async def _conflict(self, entries: Sequence[EntryRequest]) -> FhirError:
        """Which resource moved between the look and the write."""
        for entry in entries:
            if entry.reference is None or entry.if_match is None:
                continue
            now = await self._or_none(entry.reference)
            if now is None:
                return NotFound(entry.reference)
            if _version(now) != entry.if_match:
                return VersionConflict(entry.reference, expected=entry.if_match, current=_version(now))
        try:
            await self._before(entries)
        except FhirError as found:
            return found
        return Unavailable("the server said that something had changed, and nothing has")

    # -- HTTP ---------------------------------------------------------------------------------

    async def _or_none(self, reference: str) -> Resource | None:
        try:
            return await self.read(reference)
        except NotFound:
            return None

    async def _get(self, path: str, *, missing: FhirError) -> Resource:
        response = await self._send("GET", path)
        if response.status_code == 410 and isinstance(missing, NotFound):
            raise Gone(missing.reference, missing.version)
        if response.status_code in (404, 410):
            raise missing
        found = _resource_of(response)
        if response.status_code >= 400:
            raise _refusal(response.status_code, found)
        return found

    async def _pages(
        self, path: str, params: Sequence[tuple[str, str]], *, missing: FhirError | None = None
    ) -> list[Resource]:
        """The resources of a search or a history, page after page."""
        query = "&".join(f"{name}={quote(value, safe='')}" for name, value in params)
        url = f"{path}?{query}" if query else path
        found: dict[tuple[str, str], Resource] = {}
        total = 0
        while url:
            page = await self._get(
                url, missing=missing or RequestRefused(path, "the server has no such type")
            )
            for entry in page.get("entry") or []:
                resource = entry.get("resource")
                if isinstance(resource, dict) and (entry.get("search") or {}).get("mode") != "outcome":
                    found[_reference(resource), _version(resource)] = resource
            if len(found) > _MATCHES_MAX:
                raise RequestRefused(
                    path, f"more than {_MATCHES_MAX} matches: narrow the search or give _count"
                )
            total = max(total, int(page.get("total") or 0))
            url = self._next(page)
        if total > len(found):
            # A part of an answer is another answer.
            raise Unavailable(f"the server gave {len(found)} of {total} matches and no next page")
        return list(found.values())

    def _next(self, page: Resource) -> str:
        links = [str(link.get("url")) for link in page.get("link") or [] if link.get("relation") == "next"]
        return self._address.below(links[0]) if links else ""

    async def _send(self, method: str, path: str, json: Resource | None = None) -> httpx.Response:
        import httpx

        url = urljoin(self._base, path) if path else self._base.rstrip("/")
        headers = {"content-type": _JSON} if json is not None else None
        async with self._gate:
            try:
                response = await self._client.request(method, url, json=json, headers=headers)
            except httpx.HTTPError as error:
                raise Unavailable(f"{type(error).__name__}: {error}"[:200]) from error
        if response.status_code == 429 or response.status_code >= 500 or response.is_redirect:
            raise Unavailable(f"the FHIR server answered {response.status_code}")
        return response


def _to_update(entry: EntryRequest, reference: str, now: Resource | None) -> Resource | None:
    """What an update is made from; see ``FhirStore.transact``."""
    if now is None:
        if entry.if_match is not None:
            raise NotFound(reference)
        return None
    if entry.if_match is None:
        raise RequestRefused(
            f"Bundle.entry[{entry.index}].request.ifMatch",
            f'{reference} exists: say which version this change was made from, W/"version"',
        )
    if entry.if_match != _version(now):
        raise VersionConflict(reference, expected=entry.if_match, current=_version(now))
    return now


def _resource_of(response: httpx.Response) -> Resource:
    try:
        found = response.json()
    except ValueError as error:
        raise Unavailable(f"the FHIR server answered {response.status_code} without JSON") from error
    if not isinstance(found, dict):
        raise Unavailable(f"the FHIR server answered {response.status_code} with no resource")
    return found


def _reference(resource: Resource) -> str:
    return f"{resource.get('resourceType')}/{resource.get('id')}"


def _version(resource: Resource) -> str:
    return str((resource.get("meta") or {}).get("versionId", ""))


def _refusal(status: int, outcome: Resource) -> FhirError:
    """An OperationOutcome as one of our errors."""
    said = [
        (str((issue.get("expression") or issue.get("location") or [""])[0]), _told(issue))
        for issue in outcome.get("issue") or []
    ]
    if status in (401, 403):
        return RequestRefused("server", f"access is refused ({status}): check CONDOR_FHIR_TOKEN")
    if status in (400, 422) and any(path for path, _ in said):
        return ValidationRefused(
            tuple(Issue(path=path or "Bundle", rule="server", message=text) for path, text in said)
        )
    text = "; ".join(text for _, text in said) or "no reason given"
    return RequestRefused("server", f"{status}: {text}"[:300])


def _told(issue: Resource) -> str:
    details = (issue.get("details") or {}).get("text")
    return str(details or issue.get("diagnostics") or issue.get("code") or "refused")


def _result(
    entries: Sequence[EntryRequest], before: Sequence[Resource | None], answer: Resource
) -> TransactionResult:
    """What became of each entry, by the server's answer."""
    responses = answer.get("entry") or []
    if len(responses) != len(entries):
        raise Unavailable(f"the server answered {len(responses)} of {len(entries)} entries")
    outcomes = []
    for entry, now, row in zip(entries, before, responses, strict=True):
        response, resource = row.get("response") or {}, row.get("resource") or {}
        status = str(response.get("status", ""))
        if not status.startswith("2"):
            raise Unavailable(f"the server applied a part of a transaction: {status[:40]}")
        place = _LOCATION.search(str(response.get("location", "")))
        reference = entry.reference or (place[1] if place else "") or _reference(resource)
        etag = str(response.get("etag", "")).removeprefix("W/").strip('"')
        version = etag or (place[2] if place and place[2] else "") or _version(resource)
        kept = entry.method == "POST" and not status.startswith("201")
        if kept and now is not None:
            reference, version = _reference(now), _version(now)
        outcomes.append(
            EntryOutcome(
                reference=reference,
                version=version,
                status="unchanged" if kept else "updated" if now is not None else "created",
            )
        )
    return TransactionResult(outcomes=tuple(outcomes))
