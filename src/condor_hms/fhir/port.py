"""The port to a patient record: what the tools need from any FHIR R4 store.

Rule 1: a write is one transaction Bundle; it is applied whole or not at all.
Rule 2: a reference is always `Type/id`; a bare id is refused, never guessed.
Rule 3: nothing is ever deleted; removal is a state of the resource (`entered-in-error`, `stopped`, …).
Rule 4: an unknown search parameter is refused, never ignored: an ignored filter answers another question.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias

from condor_hms.fhir.errors import (
    DuplicateMatch,
    FhirError,
    Issue,
    NotFound,
    RequestRefused,
    Unavailable,
    ValidationRefused,
    VersionConflict,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

__all__ = [
    "DuplicateMatch",
    "EntryOutcome",
    "FhirError",
    "FhirStore",
    "Issue",
    "NotFound",
    "RequestRefused",
    "Resource",
    "SearchParams",
    "TransactionResult",
    "Unavailable",
    "ValidationRefused",
    "VersionConflict",
    "WriteStatus",
]

#: A FHIR resource (or Bundle) as plain JSON data. What a store returns belongs to the caller.
Resource: TypeAlias = dict[str, Any]

#: Search parameters by name. A sequence repeats the parameter (AND); a comma inside a value means OR.
SearchParams: TypeAlias = "Mapping[str, str | Sequence[str]]"

#: What happened to one entry; `unchanged` = `ifNoneExist` matched a resource that was there before.
WriteStatus: TypeAlias = Literal["created", "updated", "unchanged"]


@dataclass(frozen=True, slots=True, kw_only=True)
class EntryOutcome:
    """What became of one entry of a transaction Bundle."""

    #: `Type/id`, server-assigned for a create.
    reference: str
    #: The version now current, opaque: compare it, never count with it.
    version: str
    #: See `WriteStatus`.
    status: WriteStatus


@dataclass(frozen=True, slots=True, kw_only=True)
class TransactionResult:
    """The outcomes of a transaction, one per entry, in the Bundle's order."""

    #: Same length and order as `Bundle.entry`.
    outcomes: tuple[EntryOutcome, ...]


class FhirStore(Protocol):
    """A FHIR R4 record. Every method raises a `FhirError` and nothing else for what can go wrong outside.

    Durability promise: when `transact` returns, its Bundle is on disk and a crash cannot undo it. When it
    raises anything but `Unavailable`, nothing of it was applied. When it is cancelled or raises
    `Unavailable`, the caller must look (by the idempotency identifier or tag) before repeating it.
    """

    async def read(self, reference: str) -> Resource:
        """The current version of `Type/id`, with `meta.versionId`. Raises `NotFound`."""
        ...

    async def vread(self, reference: str, version: str) -> Resource:
        """One version of `Type/id` as it was. Raises `NotFound`."""
        ...

    async def search(self, resource_type: str, params: SearchParams) -> list[Resource]:
        """All current resources that match every parameter; all pages, in `_sort` order.

        `name` takes words in any order, each the beginning of a word of the name, accents and case aside.
        Raises `RequestRefused` for an unknown parameter, a bare id, or more matches than one search gives.
        """
        ...

    async def history(self, reference: str) -> list[Resource]:
        """Every version of `Type/id`, newest first. Raises `NotFound`."""
        ...

    async def transact(self, bundle: Resource) -> TransactionResult:
        """Apply a transaction Bundle whole or not at all.

        Entries are POST (`ifNoneExist`: a search query such as `identifier=system|value` or
        `_tag=system|code`) and PUT (`ifMatch`: `W/"version"` of the version the caller saw, required when the
        resource exists). `urn:uuid:` full URLs resolve inside the Bundle. `meta.tag` is kept exactly as
        given: a tag of an earlier version does not stay, so a tag tells who wrote *this* version.

        A POST whose condition matches is `unchanged` whatever its body says, as R4 has it: a key stands for
        one body. A POST without a condition is a new resource each time, also beside one that is unchanged.

        Raises `RequestRefused`, `ValidationRefused`, `NotFound` (PUT with `ifMatch` of an absent resource),
        `VersionConflict`, `DuplicateMatch`, `Unavailable`.
        """
        ...

    async def versions(self, references: Iterable[str]) -> dict[str, str | None]:
        """The current version of each `Type/id` at one moment; None where there is no such resource."""
        ...
