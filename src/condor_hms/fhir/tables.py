"""The tables of the embedded record and the statements on them, whatever database they are in.

Rule 1: `resource` holds what is current, `resource_history` what was; a version number is never used twice.
Rule 2: a statement is written once, with `?` for a value; a dialect says how it is run, and how the tables
are made. One `Tables` belongs to one thread.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import orjson

from condor_hms.fhir.errors import RequestRefused, VersionConflict
from condor_hms.fhir.search_sql import compile_select
from condor_hms.fhir.search_values import index_values

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from condor_hms.fhir.port import Resource
    from condor_hms.fhir.search import SearchQuery

__all__ = ["LOCK_WAIT_MS", "StoredRow", "Tables"]

#: Wait for another process' write before giving up. Its writes take milliseconds.
LOCK_WAIT_MS = 5_000
#: Matches handed over by one search. Above it the caller must narrow the search: a cut list would be a lie.
_MATCHES_MAX = 10_000
#: References in one `IN (…)`; SQLite allows 32,766 variables.
_CHUNK = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredRow:
    """A current resource as stored."""

    #: Row key.
    pk: int
    #: `Type/id`.
    reference: str
    #: Version number, from 1.
    version: int
    #: The resource as JSON bytes, `meta` included.
    body: bytes

    def resource(self) -> Resource:
        """The resource as data of the caller's own."""
        loaded: Resource = orjson.loads(self.body)
        return loaded


class Tables(ABC):
    """A connection to the record. Between `begin` and `commit` nobody else writes, in any process."""

    #: What the driver raises when a statement cannot be done.
    errors: ClassVar[tuple[type[Exception], ...]]

    # -- a dialect ---------------------------------------------------------------------------

    @abstractmethod
    def begin(self) -> None:
        """Take the write lock; what is read from here on is what the last writer left."""

    @abstractmethod
    def begin_read(self) -> None:
        """Everything read until `rollback` is of one moment."""

    @abstractmethod
    def commit(self) -> None:
        """Make the transaction durable: returns after it is on disk."""

    @abstractmethod
    def rollback(self) -> None:
        """Undo what is not committed; harmless outside a transaction."""

    @abstractmethod
    def close(self) -> None:
        """Close the connection."""

    @abstractmethod
    def explained(self, error: Exception) -> str:
        """An error of the driver in one line."""

    def renewed(self, error: Exception) -> bool:
        """Whether work that broke off by this error did nothing and may be begun again, once."""
        return False

    @abstractmethod
    def _rows(self, sql: str, values: Sequence[Any]) -> list[tuple[Any, ...]]:
        """The rows of a query."""

    @abstractmethod
    def _inserted(self, sql: str, values: Sequence[Any]) -> int:
        """Insert one `resource`; its `pk`."""

    @abstractmethod
    def _changed(self, sql: str, values: Sequence[Any]) -> int:
        """Run a statement; how many rows it changed."""

    @abstractmethod
    def _many(self, sql: str, rows: Sequence[Sequence[Any]]) -> None:
        """Run a statement once a row."""

    # -- the statements ----------------------------------------------------------------------

    def get(self, reference: str) -> StoredRow | None:
        """The current row of `Type/id`."""
        rows = self._rows(
            "SELECT pk, reference, version, body FROM resource WHERE reference = ?", (reference,)
        )
        return _row(rows[0]) if rows else None

    def old_versions(self, pk: int) -> list[tuple[int, bytes]]:
        """Superseded (version, body), newest first."""
        rows = self._rows(
            "SELECT version, body FROM resource_history WHERE pk = ? ORDER BY version DESC", (pk,)
        )
        return [(version, body) for version, body in rows]

    def old_version(self, pk: int, version: int) -> bytes | None:
        """One superseded body."""
        rows = self._rows("SELECT body FROM resource_history WHERE pk = ? AND version = ?", (pk, version))
        return bytes(rows[0][0]) if rows else None

    def versions(self, references: Iterable[str]) -> dict[str, int]:
        """Current version numbers of those that exist."""
        wanted = list(references)
        found: dict[str, int] = {}
        for start in range(0, len(wanted), _CHUNK):
            chunk = wanted[start : start + _CHUNK]
            marks = ",".join("?" * len(chunk))
            sql = f"SELECT reference, version FROM resource WHERE reference IN ({marks})"  # noqa: S608 - marks only
            found.update({reference: version for reference, version in self._rows(sql, chunk)})
        return found

    def owners(self, references: Iterable[str]) -> dict[str, frozenset[str]]:
        """Whose each of those is that exist: `Patient/id`; empty where a resource is nobody's."""
        wanted = list(references)
        found: dict[str, frozenset[str]] = {}
        for start in range(0, len(wanted), _CHUNK):
            chunk = wanted[start : start + _CHUNK]
            marks = ",".join("?" * len(chunk))
            join = "LEFT JOIN search_value s ON s.pk = r.pk AND s.param = r.type || '.patient'"
            where = f"WHERE r.reference IN ({marks})"
            sql = f"SELECT r.reference, s.value FROM resource r {join} {where}"  # noqa: S608 - marks only
            for reference, patient in self._rows(sql, chunk):
                own = frozenset() if patient is None else frozenset({patient})
                found[reference] = found.get(reference, frozenset()) | own
        return found

    def holders(self, param: str, value: str, qualifier: str) -> list[int]:
        """`pk` of the current resources that have this indexed value."""
        sql = "SELECT pk FROM search_value WHERE param = ? AND value = ? AND qualifier = ?"
        return [pk for (pk,) in self._rows(sql, (param, value, qualifier))]

    def insert(self, resource: Resource) -> None:
        """Add a resource that carries its id and `meta.versionId`."""
        reference = f"{resource['resourceType']}/{resource['id']}"
        pk = self._inserted(
            "INSERT INTO resource (reference, type, version, body) VALUES (?, ?, ?, ?)",
            (reference, resource["resourceType"], int(resource["meta"]["versionId"]), orjson.dumps(resource)),
        )
        self._index(pk, resource)

    def update(self, before: StoredRow, resource: Resource) -> None:
        """Supersede a row by a resource that carries the next `meta.versionId`.

        Raises:
            VersionConflict: the row is not as `before`; cannot happen while the write lock is kept.
        """
        self._changed(
            "INSERT INTO resource_history (pk, version, body) VALUES (?, ?, ?)",
            (before.pk, before.version, before.body),
        )
        changed = self._changed(
            "UPDATE resource SET version = ?, body = ? WHERE pk = ? AND version = ?",
            (int(resource["meta"]["versionId"]), orjson.dumps(resource), before.pk, before.version),
        )
        if changed != 1:
            raise VersionConflict(before.reference, expected=str(before.version), current="another")
        self._changed("DELETE FROM search_value WHERE pk = ?", (before.pk,))
        self._index(before.pk, resource)

    def _index(self, pk: int, resource: Resource) -> None:
        prefix = resource["resourceType"]
        self._many(
            "INSERT INTO search_value (param, value, pk, qualifier) VALUES (?, ?, ?, ?)",
            [(f"{prefix}.{item.param}", item.value, pk, item.qualifier) for item in index_values(resource)],
        )

    def search(self, query: SearchQuery) -> list[StoredRow]:
        """Current rows that match; raises `RequestRefused` above the number one search hands over."""
        sql, values = compile_select(query, limit=_MATCHES_MAX + 1)
        rows = self._rows(sql, values)
        if len(rows) > _MATCHES_MAX:
            raise RequestRefused(
                f"{query.resource_type}?",
                f"more than {_MATCHES_MAX} matches: narrow the search or give _count",
            )
        return [_row(row) for row in rows]


def _row(row: tuple[Any, ...]) -> StoredRow:
    return StoredRow(pk=row[0], reference=row[1], version=row[2], body=row[3])
