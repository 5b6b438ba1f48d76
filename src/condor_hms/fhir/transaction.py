"""Applying a parsed transaction to the tables, inside one open transaction of theirs.

In this order, so that a refusal leaves nothing behind: assign every entry its reference, resolve references
between entries, check each resource where it will stand, write.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from condor_hms.fhir.errors import (
    DuplicateMatch,
    Issue,
    NotFound,
    RequestRefused,
    ValidationRefused,
    VersionConflict,
)
from condor_hms.fhir.own_systems import IDEMPOTENCY_SYSTEM
from condor_hms.fhir.port import EntryOutcome, TransactionResult
from condor_hms.fhir.references import iter_references, rewrite_references, versionless
from condor_hms.fhir.search_values import patients_of
from condor_hms.fhir.validation import check_in_record

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from condor_hms.fhir.bundle import EntryRequest
    from condor_hms.fhir.port import Resource
    from condor_hms.fhir.tables import StoredRow, Tables

__all__ = ["apply_entries", "stamped"]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Placed:
    """An entry that knows which resource it is about."""

    entry: EntryRequest
    reference: str
    #: The current row, None for a create.
    before: StoredRow | None

    @property
    def is_written(self) -> bool:
        """False for a conditional create that found its resource."""
        return self.entry.method == "PUT" or self.before is None


def apply_entries(
    tables: Tables, entries: Sequence[EntryRequest], *, now: str, new_id: Callable[[], str]
) -> TransactionResult:
    """Write every entry or raise; the caller commits or rolls back.

    Args:
        tables: in an open write transaction.
        entries: checked for content already.
        now: becomes `meta.lastUpdated`, an instant.
        new_id: gives the id of each created resource.
    """
    placed = [_place(tables, entry, new_id) for entry in entries]
    targets = {item.entry.full_url: item.reference for item in placed if item.entry.full_url is not None}
    written = [(item, rewrite_references(item.entry.resource, targets)) for item in placed if item.is_written]
    _check(tables, written, {item.reference for item in placed})
    for item, resource in written:
        if item.before is None:
            tables.insert(stamped(resource, item.reference, 1, now))
        else:
            tables.update(item.before, stamped(resource, item.reference, item.before.version + 1, now))
    return TransactionResult(outcomes=tuple(_outcome(item) for item in placed))


def _place(tables: Tables, entry: EntryRequest, new_id: Callable[[], str]) -> _Placed:
    if entry.reference is not None:
        return _Placed(
            entry=entry, reference=entry.reference, before=_row_to_update(tables, entry, entry.reference)
        )
    if entry.if_none_exist is not None:
        assert entry.condition is not None, "INVARIANT: a parsed condition keeps its text"
        matches = tables.search(entry.if_none_exist)
        if len(matches) > 1:
            criteria = f"{entry.resource_type}?{entry.condition}"
            raise DuplicateMatch(criteria, tuple(row.reference for row in matches))
        if matches:
            return _Placed(entry=entry, reference=matches[0].reference, before=matches[0])
    return _Placed(entry=entry, reference=f"{entry.resource_type}/{new_id()}", before=None)


def _row_to_update(tables: Tables, entry: EntryRequest, reference: str) -> StoredRow | None:
    row = tables.get(reference)
    if row is None:
        if entry.if_match is not None:
            raise NotFound(reference)
        return None
    if entry.if_match is None:
        raise RequestRefused(
            f"Bundle.entry[{entry.index}].request.ifMatch",
            f'{reference} exists: say which version this change was made from, W/"version"',
        )
    if entry.if_match != str(row.version):
        raise VersionConflict(reference, expected=entry.if_match, current=str(row.version))
    return row


def _check(tables: Tables, written: Sequence[tuple[_Placed, Resource]], in_bundle: set[str]) -> None:
    mentioned = {
        versionless(target) for _, resource in written for _, target in iter_references(resource, "")
    }
    known = dict.fromkeys(in_bundle, frozenset[str]()) | tables.owners(mentioned)
    known |= {item.reference: patients_of(resource) for item, resource in written}
    issues: list[Issue] = []
    seen: set[tuple[str, str]] = set()
    for item, resource in written:
        before = None if item.before is None else item.before.resource()
        issues.extend(check_in_record(resource, before=before, known=known, entry=item.entry.index))
        issues.extend(_taken_keys(tables, item, resource, seen))
    if issues:
        raise ValidationRefused(tuple(issues))


def _taken_keys(
    tables: Tables, item: _Placed, resource: Resource, seen: set[tuple[str, str]]
) -> Iterator[Issue]:
    """An idempotency key names one resource of a type: two would be one write done twice."""
    own = None if item.before is None else item.before.pk
    for path, param, key in _keys(resource):
        taken = (param, key) in seen
        seen.add((param, key))
        if taken or any(pk != own for pk in tables.holders(param, key, IDEMPOTENCY_SYSTEM)):
            yield Issue(
                path=path,
                rule="idempotency-key",
                message=f"{key[:80]!r} is the key of another {resource['resourceType']}: "
                "create it on the condition that there is none (ifNoneExist)",
                entry=item.entry.index,
            )


def _keys(resource: Resource) -> Iterator[tuple[str, str, str]]:
    """(path, indexed parameter, key); a Provenance, which has no identifier, is found by its tag."""
    resource_type = resource["resourceType"]
    for number, identifier in enumerate(resource.get("identifier") or []):
        if identifier.get("system") == IDEMPOTENCY_SYSTEM and identifier.get("value"):
            yield f"{resource_type}.identifier[{number}]", f"{resource_type}.identifier", identifier["value"]
    if resource_type == "Provenance":
        for number, tag in enumerate((resource.get("meta") or {}).get("tag") or []):
            if tag.get("system") == IDEMPOTENCY_SYSTEM and tag.get("code"):
                yield f"Provenance.meta.tag[{number}]", "Provenance._tag", tag["code"]


def stamped(resource: Resource, reference: str, version: int, now: str) -> Resource:
    """The resource as it is stored: its id, version and time set, everything else of `meta` as given."""
    meta = {**resource.get("meta", {}), "versionId": str(version), "lastUpdated": now}
    rest = {key: value for key, value in resource.items() if key not in ("resourceType", "id", "meta")}
    return {"resourceType": resource["resourceType"], "id": reference.partition("/")[2], "meta": meta, **rest}


def _outcome(item: _Placed) -> EntryOutcome:
    if item.before is None:
        return EntryOutcome(reference=item.reference, version="1", status="created")
    if item.is_written:
        return EntryOutcome(reference=item.reference, version=str(item.before.version + 1), status="updated")
    return EntryOutcome(reference=item.reference, version=str(item.before.version), status="unchanged")
