"""The facade: one request of other software becomes one question to the record store, or a refusal.

Law 1: it holds the store's reading verbs and no other; there is no path to a write.
Law 2: total. Whatever is asked, the answer is FHIR: a resource, a Bundle or an OperationOutcome.
Law 3: what was read is logged by who, what and how many; never a value of the record or of a search.
"""

from __future__ import annotations

import logging
import re
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Protocol

from condor.ports.mounts import MountAnswer
from condor_hms.facade.access import READERS, may_read, may_see
from condor_hms.facade.answers import (
    Refusal,
    accepts,
    chosen,
    etag,
    json_answer,
    last_modified,
    refusal_answer,
    version_headers,
)
from condor_hms.facade.asked import asked_of, pairs_of
from condor_hms.facade.bundles import history_bundle, search_bundle, version_of
from condor_hms.facade.capability import capability_statement
from condor_hms.fhir.errors import FhirError, Gone, NotFound, RequestRefused, Unavailable
from condor_hms.fhir.search_values import date_range

if TYPE_CHECKING:
    from collections.abc import Sequence

    from condor.ports.mounts import MountRequest
    from condor_hms.facade.asked import Asked
    from condor_hms.fhir.port import Resource, SearchParams

__all__ = ["RecordFacade"]

_log = logging.getLogger("condor.record")
_ID = re.compile(r"[A-Za-z0-9\-.]{1,64}")
_STRICT = re.compile(r'(?:^|[,;\s])handling\s*=\s*"?strict"?(?:$|[,;\s])', re.IGNORECASE)
_FORM_TYPE = "application/x-www-form-urlencoded"
#: FHIR issue type by HTTP status, of what the server itself refuses.
_SERVER_CODES = {401: "login", 403: "forbidden", 404: "not-found", 408: "timeout", 413: "too-long"}
_READS = "GET, HEAD"


class _Reads(Protocol):
    """What the facade needs of a ``FhirStore``."""

    async def read(self, reference: str) -> Resource: ...

    async def vread(self, reference: str, version: str) -> Resource: ...

    async def search(self, resource_type: str, params: SearchParams) -> list[Resource]: ...

    async def history(self, reference: str) -> list[Resource]: ...


class RecordFacade:
    """A ``Mount`` at ``/fhir``."""

    path = "/fhir"
    #: `code` is a search parameter here, and a sign-in code nowhere.
    query_names = frozenset({"code"})

    def __init__(self, fhir: _Reads) -> None:
        """Nothing is asked yet."""
        self._fhir = fhir

    async def answer(self, request: MountRequest) -> MountAnswer:
        """See ``Mount.answer``."""
        try:
            return await self._answer(request)
        except Refusal as refusal:
            return refusal_answer(refusal)
        except FhirError as error:
            return refusal_answer(_refused(error))

    def refusal(self, status: int, message: str) -> MountAnswer:
        """See ``Mount.refusal``."""
        code = _SERVER_CODES.get(status, "exception" if status >= 500 else "invalid")
        headers = {"www-authenticate": "Bearer"} if status == 401 else {}
        return refusal_answer(Refusal(status, code, message, headers=headers))

    async def _answer(self, request: MountRequest) -> MountAnswer:
        segments = request.path.removesuffix("/").split("/")
        pairs = pairs_of(request.query, request.form)
        _check_method(request, segments)
        if not accepts(request.headers.get("accept", ""), chosen(pairs, "_format")):
            raise Refusal(
                406, "not-supported", "this server has JSON of FHIR R4 alone: accept application/fhir+json"
            )
        is_pretty = chosen(pairs, "_pretty") == "true"
        match segments:
            case ["metadata"]:
                statement = capability_statement(request.principal, request.base_url)
                return json_answer(statement, is_pretty=is_pretty)
            case [resource_type] | [resource_type, "_search"] if resource_type in READERS:
                _check_role(request, resource_type)
                return json_answer(await self._search(request, resource_type, pairs), is_pretty=is_pretty)
            case [resource_type, resource_id, *rest] if resource_type in READERS and _ID.fullmatch(
                resource_id
            ):
                _check_role(request, resource_type)
                return await self._instance(
                    request, f"{resource_type}/{resource_id}", rest, pairs, is_pretty=is_pretty
                )
        raise _nothing_here(segments)

    async def _instance(
        self,
        request: MountRequest,
        reference: str,
        rest: Sequence[str],
        pairs: Sequence[tuple[str, str]],
        *,
        is_pretty: bool,
    ) -> MountAnswer:
        match rest:
            case []:
                found = await self._fhir.read(reference)
            case ["_history"]:
                return json_answer(await self._history(request, reference, pairs), is_pretty=is_pretty)
            case ["_history", version] if _ID.fullmatch(version):
                found = await self._fhir.vread(reference, version)
            case _:
                raise _nothing_here([reference, *rest])
        if not may_see(request.principal, found):
            raise NotFound(reference)
        _note(request, "vread" if rest else "read", reference, 1)
        headers = version_headers(found)
        if _is_known(request, found):
            return MountAnswer(status=304, headers=headers)
        return json_answer(found, headers=headers, is_pretty=is_pretty)

    async def _search(
        self, request: MountRequest, resource_type: str, pairs: Sequence[tuple[str, str]]
    ) -> Resource:
        asked = asked_of(resource_type, pairs, base_url=request.base_url, is_strict=_is_strict(request))
        matches = await self._fhir.search(resource_type, asked.params)
        found = [resource for resource in matches if may_see(request.principal, resource)]
        bundle = search_bundle(found, asked, base_url=request.base_url, resource_type=resource_type)
        _note(request, "search-type", resource_type, len(bundle.get("entry", ())), names=sorted(asked.params))
        return bundle

    async def _history(
        self, request: MountRequest, reference: str, pairs: Sequence[tuple[str, str]]
    ) -> Resource:
        resource_type = reference.partition("/")[0]
        asked = asked_of(
            resource_type, pairs, base_url=request.base_url, is_strict=_is_strict(request), known={}
        )
        versions = await self._fhir.history(reference)
        seen = [version for version in versions if may_see(request.principal, version)]
        if not seen:
            raise NotFound(reference)
        bundle = history_bundle(
            _since(seen, asked),
            asked,
            base_url=request.base_url,
            reference=reference,
            first=version_of(versions[-1]),
        )
        _note(request, "history-instance", reference, len(bundle.get("entry", ())))
        return bundle


def _check_method(request: MountRequest, segments: Sequence[str]) -> None:
    if request.method in ("GET", "HEAD"):
        return
    if request.method != "POST" or len(segments) != 2 or segments[1] != "_search":
        allow = f"{_READS}, POST" if len(segments) == 2 and segments[1] == "_search" else _READS
        raise Refusal(
            405,
            "not-supported",
            "this interface reads only: a change goes through a run of Condor, where a person approves it",
            headers={"allow": allow},
        )
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != _FORM_TYPE:
        # Read without its body, the search would ask for everything.
        raise Refusal(415, "not-supported", f"_search takes {_FORM_TYPE}")


def _check_role(request: MountRequest, resource_type: str) -> None:
    if not may_read(request.principal, resource_type):
        roles = ", ".join(sorted(READERS[resource_type]))
        raise Refusal(403, "forbidden", f"{resource_type} is read by: {roles}")


def _nothing_here(segments: Sequence[str]) -> Refusal:
    known = {"metadata", *READERS}
    if segments[0].partition("/")[0] in known:
        return Refusal(404, "not-supported", "there is no such interaction here: see metadata")
    return Refusal(404, "not-supported", "there is no such type here: see metadata")


def _is_strict(request: MountRequest) -> bool:
    return _STRICT.search(request.headers.get("prefer", "")) is not None


def _is_known(request: MountRequest, found: Resource) -> bool:
    """Whether the caller has this version already (If-None-Match, If-Modified-Since)."""
    known = request.headers.get("if-none-match")
    if known is not None:
        return known.strip() == "*" or etag(found).removeprefix("W/") in [
            mark.strip().removeprefix("W/") for mark in known.split(",")
        ]
    moment, given = last_modified(found), request.headers.get("if-modified-since", "")
    if moment is None or not given:
        return False
    try:
        seen = parsedate_to_datetime(given)
    except ValueError:
        return False
    return seen.tzinfo is not None and moment <= seen


def _since(versions: Sequence[Resource], asked: Asked) -> list[Resource]:
    said = chosen(asked.kept, "_since")
    if not said:
        return list(versions)
    bounds = date_range(said)
    if bounds is None or "T" not in said:
        raise Refusal(400, "invalid", "_since is an instant: 2026-11-30T09:30:00Z")
    kept = []
    for version in versions:
        written = date_range(str((version.get("meta") or {}).get("lastUpdated", "")))
        if written is None or written[1] >= bounds[0]:
            kept.append(version)
    return kept


def _refused(error: FhirError) -> Refusal:
    """An error of the record as an answer."""
    match error:
        case Gone():
            return Refusal(410, "deleted", f"{error.reference} was deleted")
        case NotFound():
            return Refusal(
                404, "not-found", f"{error.reference} is not in the record, or not in this version"
            )
        case RequestRefused():
            code = "too-costly" if "more than" in str(error) else "invalid"
            return Refusal(400, code, str(error))
        case Unavailable():
            # Its reason may hold a path or an address.
            return Refusal(503, "transient", "the record does not answer now: try again")
        case _:
            return Refusal(500, "exception", "the record answered a read with a refusal of a write")


def _note(request: MountRequest, interaction: str, what: str, count: int, **more: object) -> None:
    facts = {"who": request.principal.id, "interaction": interaction, "what": what, "count": count, **more}
    _log.info("the record was read", extra={"facts": facts})
