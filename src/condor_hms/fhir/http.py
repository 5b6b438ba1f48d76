"""A FHIR R4 server over HTTP as a ``FhirStore``.

Rule 1: a write is checked here as the embedded store checks it, then sent as one transaction; the server
holds ``ifMatch`` and ``ifNoneExist``. What it answers with 409 or 412 means: changed since you saw it.
Rule 2: versions are opaque ETags. Every search says ``Cache-Control: no-cache``: a common server gives the
result of an earlier search again for a minute.
Rule 3: a link to a next page is followed on the same server only, and a token goes over TLS only (or to this
machine).
Rule 4: every call ends: in time, in bytes, in pages and in entries. What an answer is not, is refused
(``http_answer``).
"""

from __future__ import annotations

import asyncio
import re
from datetime import UTC, datetime
from typing import TYPE_CHECKING
from urllib.parse import quote

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
from condor_hms.fhir.http_answer import (
    location_of,
    objects,
    page_of,
    reference_of,
    refusal,
    resource_at,
    shaped_as_r4,
    version_of,
)
from condor_hms.fhir.http_query import server_params
from condor_hms.fhir.http_wire import FhirWire
from condor_hms.fhir.matching import matching
from condor_hms.fhir.port import EntryOutcome, TransactionResult
from condor_hms.fhir.references import (
    is_local,
    iter_references,
    parse_reference,
    rewrite_references,
    versionless,
)
from condor_hms.fhir.search import parse_search
from condor_hms.fhir.search_values import patients_of
from condor_hms.fhir.validation import check_content, check_in_record, day_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from datetime import date
    from types import TracebackType
    from typing import Self

    from condor_hms.fhir.bundle import EntryRequest
    from condor_hms.fhir.port import Resource, SearchParams
    from condor_hms.fhir.search import SearchQuery

__all__ = ["HttpFhirStore"]

#: Matches of one search; more are for a narrower question.
_MATCHES_MAX = 10_000
#: Pages of one search, and pages one after the other that bring nothing new.
_PAGES_MAX = 500
_IDLE_PAGES_MAX = 5
#: Bytes of all pages of one search, decompressed.
_BYTES_MAX = 64 * 1024 * 1024


def _utc_now() -> datetime:
    return datetime.now(UTC)


class HttpFhirStore:
    """A ``FhirStore`` behind a base URL such as ``https://fhir.example.org/R4``."""

    def __init__(
        self,
        base_url: str,
        *,
        token: str | None = None,
        timeout_s: float = 15.0,
        read_only: bool = False,
        now: Callable[[], datetime] = _utc_now,
    ) -> None:
        """Nothing is asked yet.

        Args:
            timeout_s: one request in all; a call of many requests has ``http_wire.CALL_TIMEOUTS`` times that.
            read_only: every write is refused here.
            now: the time, aware; what is written is held to its day.

        Raises:
            Unavailable: the URL is none, or a token would go in the clear.
        """
        self._wire = FhirWire(base_url, token=token, timeout_s=timeout_s)
        self._read_only = read_only
        self._clock = now
        self._stands: date | None = None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    def stand_at(self, day: date) -> None:
        """Take this day as today while the clock is behind it: a demonstration record stands at its day."""
        self._stands = day

    async def aclose(self) -> None:
        """Close the connections."""
        await self._wire.aclose()

    async def read(self, reference: str) -> Resource:
        """See ``FhirStore.read``."""
        parse_reference(reference)
        async with self._wire.call(f"read {reference}"):
            return await self._get(reference)

    async def vread(self, reference: str, version: str) -> Resource:
        """See ``FhirStore.vread``."""
        parse_reference(reference)
        if version in ("", ".", ".."):
            raise NotFound(reference, version)
        async with self._wire.call(f"read {reference}"):
            found = await self._get(reference, version)
        if version_of(found) != version:
            raise NotFound(reference, version)
        return found

    async def search(self, resource_type: str, params: SearchParams) -> list[Resource]:
        """See ``FhirStore.search``."""
        query = parse_search(resource_type, params)
        async with self._wire.call(f"search {resource_type}"):
            return await self._matches(resource_type, query)

    async def history(self, reference: str) -> list[Resource]:
        """See ``FhirStore.history``."""
        resource_type, _ = parse_reference(reference)
        async with self._wire.call(f"history {reference}"):
            # A server may answer for nobody with an empty history.
            await self._get(reference)
            missing = NotFound(reference)
            found = await self._pages(f"{reference}/_history", resource_type, [], missing=missing)
        for row in found:
            resource_at(row, reference, f"history {reference}")
        return sorted(found, key=lambda row: str(row["meta"].get("lastUpdated", "")), reverse=True)

    async def versions(self, references: Iterable[str]) -> dict[str, str | None]:
        """See ``FhirStore.versions``."""
        wanted = list(dict.fromkeys(references))
        for reference in wanted:
            parse_reference(reference)
        async with self._wire.call("versions"):
            found = await asyncio.gather(*(self._or_none(reference) for reference in wanted))
        return {
            reference: None if row is None else version_of(row)
            for reference, row in zip(wanted, found, strict=True)
        }

    async def transact(self, bundle: Resource) -> TransactionResult:
        """See ``FhirStore.transact``."""
        if self._read_only:
            raise RequestRefused("transact", "this home is open for reading only")
        entries = parse_bundle(bundle)
        today = day_of(self._clock(), self._stands)
        issues = [
            issue
            for entry in entries
            for issue in check_content(entry.resource, today=today, entry=entry.index)
        ]
        if issues:
            raise ValidationRefused(tuple(issues))
        async with self._wire.call("transact"):
            before = await self._before(entries)
            with shaped_as_r4("a read before the transaction"):
                await self._check(entries, before)
            response = await self._wire.send("POST", "", json=bundle)
            if response.status in (409, 412):
                raise await self._conflict(entries)
            answer = response.resource
            if response.status >= 400:
                raise refusal(response.status, answer)
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
            raise DuplicateMatch(criteria, tuple(reference_of(row) for row in found))
        return found[0] if found else None

    async def _matches(self, resource_type: str, query: SearchQuery) -> list[Resource]:
        found = await self._pages(resource_type, resource_type, server_params(query))
        with shaped_as_r4(f"search {resource_type}"):
            return matching(found, query)

    async def _check(self, entries: Sequence[EntryRequest], before: Sequence[Resource | None]) -> None:
        """Every resource where it will stand: references, states, what may not change."""
        places = {
            entry.full_url: entry.reference
            or (reference_of(now) if now else f"{entry.resource_type}/new-{entry.index}")
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
            if version_of(now) != entry.if_match:
                return VersionConflict(entry.reference, expected=entry.if_match, current=version_of(now))
        try:
            await self._before(entries)
        except FhirError as found:
            return found
        return Unavailable("the server said that something had changed, and nothing has")

    # -- HTTP ---------------------------------------------------------------------------------

    async def _or_none(self, reference: str) -> Resource | None:
        try:
            return await self._get(reference)
        except NotFound:
            return None

    async def _get(self, reference: str, version: str | None = None) -> Resource:
        path = reference if version is None else f"{reference}/_history/{quote(version, safe='')}"
        response = await self._wire.send("GET", path)
        if response.status == 410:
            raise Gone(reference, version)
        if response.status == 404:
            raise NotFound(reference, version)
        found = response.resource
        if response.status >= 400:
            raise refusal(response.status, found)
        return resource_at(found, reference, response.where)

    async def _pages(
        self,
        path: str,
        resource_type: str,
        params: Sequence[tuple[str, str]],
        *,
        missing: FhirError | None = None,
    ) -> list[Resource]:
        """The resources of a search or a history, page after page."""
        query = "&".join(f"{name}={quote(value, safe='')}" for name, value in params)
        url = f"{path}?{query}" if query else path
        found: dict[tuple[str, str], Resource] = {}
        seen: set[str] = set()
        total = entries = size = idle = 0
        while url:
            if url in seen:
                raise Unavailable(f"the pages of {path} go round in a circle")
            seen.add(url)
            response = await self._wire.send("GET", url)
            if response.status in (404, 410):
                raise missing or RequestRefused(path, "the server has no such type")
            bundle = response.resource
            if response.status >= 400:
                raise refusal(response.status, bundle)
            page = page_of(bundle, resource_type, response.where)
            before = len(found)
            for resource in page.resources:
                found[reference_of(resource), version_of(resource)] = resource
            entries, size = entries + page.entries, size + len(response.body)
            if entries > _MATCHES_MAX or size > _BYTES_MAX:
                raise RequestRefused(
                    path,
                    f"more than {_MATCHES_MAX} matches, or {_BYTES_MAX} bytes of them: "
                    "narrow the search or give _count",
                )
            idle = idle + 1 if len(found) == before else 0
            total = max(total, page.total)
            url = self._wire.below(page.next) if page.next else ""
            if url and (idle >= _IDLE_PAGES_MAX or len(seen) >= _PAGES_MAX):
                raise Unavailable(f"the pages of {path} have no end")
        if total > len(found):
            # A part of an answer is another answer.
            raise Unavailable(f"the server gave {len(found)} of {total} matches and no next page")
        return list(found.values())


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
    if entry.if_match != version_of(now):
        raise VersionConflict(reference, expected=entry.if_match, current=version_of(now))
    return now


def _result(
    entries: Sequence[EntryRequest], before: Sequence[Resource | None], answer: Resource
) -> TransactionResult:
    """What became of each entry, by the server's answer."""
    responses = objects(answer, "entry", "the transaction")
    if len(responses) != len(entries):
        raise Unavailable(f"the server answered {len(responses)} of {len(entries)} entries")
    outcomes = []
    for entry, now, row in zip(entries, before, responses, strict=True):
        where = f"the transaction, entry[{entry.index}]"
        status, place, version = location_of(row, where)
        if not status.startswith("2"):
            raise Unavailable(f"the server applied a part of a transaction: {status[:40]}")
        reference = entry.reference or place
        kept = entry.method == "POST" and not status.startswith("201")
        if kept and now is not None:
            reference, version = reference_of(now), version_of(now)
        if not is_local(reference) or not reference.startswith(f"{entry.resource_type}/") or not version:
            raise Unavailable(f"the answer to {where} does not say which {entry.resource_type} it became")
        outcomes.append(
            EntryOutcome(
                reference=reference,
                version=version,
                status="unchanged" if kept else "updated" if now is not None else "created",
            )
        )
    return TransactionResult(outcomes=tuple(outcomes))
