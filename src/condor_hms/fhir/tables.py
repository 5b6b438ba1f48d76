"""The SQLite tables of the embedded store and the statements on them; one `Tables` belongs to one thread.

Rule: `resource` holds what is current, `resource_history` what was; a version number is never used twice.
"""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import orjson

from condor_hms.fhir.errors import RequestRefused
from condor_hms.fhir.search_sql import compile_select
from condor_hms.fhir.search_values import index_values

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from condor_hms.fhir.port import Resource
    from condor_hms.fhir.search import SearchQuery

__all__ = ["StoredRow", "Tables"]

#: "CFHR": marks the file as ours, so that another database is never mistaken for a record.
_APPLICATION_ID = 0x43464852
_SCHEMA_VERSION = 1
#: Wait for another process' write before giving up. Its writes take milliseconds.
_BUSY_MS = 5_000
#: Matches handed over by one search. Above it the caller must narrow the search: a cut list would be a lie.
_MATCHES_MAX = 10_000
#: References in one `IN (…)`; SQLite allows 32,766 variables.
_CHUNK = 500

_SCHEMA = """
CREATE TABLE resource (
  pk INTEGER PRIMARY KEY, reference TEXT NOT NULL UNIQUE, type TEXT NOT NULL,
  version INTEGER NOT NULL, body BLOB NOT NULL
);
CREATE INDEX resource_by_type ON resource (type);
CREATE TABLE resource_history (
  pk INTEGER NOT NULL, version INTEGER NOT NULL, body BLOB NOT NULL, PRIMARY KEY (pk, version)
);
CREATE TABLE search_value (
  param TEXT NOT NULL, value TEXT NOT NULL, pk INTEGER NOT NULL, qualifier TEXT NOT NULL,
  PRIMARY KEY (param, value, pk, qualifier)
) WITHOUT ROWID;
CREATE INDEX search_value_by_resource ON search_value (pk, param, value, qualifier);
"""


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


class Tables:
    """A connection to the file. The writer opens first and makes the tables; readers can only query."""

    def __init__(self, path: Path, *, writer: bool) -> None:
        self._db = sqlite3.connect(path, isolation_level=None, timeout=_BUSY_MS / 1000)
        try:
            is_new = self._is_new()
            self._db.execute("PRAGMA journal_mode=WAL")
            self._db.execute("PRAGMA synchronous=FULL")
            if not writer:
                self._db.execute("PRAGMA wal_autocheckpoint=0")
                self._db.execute("PRAGMA query_only=ON")
            elif is_new:
                self._create()
        except BaseException:
            self._db.close()
            raise

    def _is_new(self) -> bool:
        """Whether the file is empty; refuses one that is not ours before anything in it is touched."""
        if self._scalar("SELECT count(*) FROM sqlite_master") == 0:
            return True
        marks = (self._scalar("PRAGMA application_id"), self._scalar("PRAGMA user_version"))
        if marks != (_APPLICATION_ID, _SCHEMA_VERSION):
            raise RequestRefused("open", "this file is not a record of this version: give another path")
        return False

    def _create(self) -> None:
        self.begin()
        try:
            if self._is_new():  # another process may have been faster
                for statement in _SCHEMA.split(";"):
                    self._db.execute(statement)
                self._db.execute(f"PRAGMA application_id={_APPLICATION_ID}")
                self._db.execute(f"PRAGMA user_version={_SCHEMA_VERSION}")
                self.commit()
        finally:
            self.rollback()

    def _scalar(self, sql: str, values: tuple[Any, ...] = ()) -> Any:
        return self._db.execute(sql, values).fetchone()[0]

    def close(self) -> None:
        """Close the connection."""
        self._db.close()

    def begin(self) -> None:
        """Take the write lock."""
        self._db.execute("BEGIN IMMEDIATE")

    def begin_read(self) -> None:
        """Everything read until `rollback` is of one moment."""
        self._db.execute("BEGIN")

    def commit(self) -> None:
        """Make the transaction durable: returns after the write-ahead log is on disk."""
        self._db.execute("COMMIT")

    def rollback(self) -> None:
        """Undo what is not committed; harmless outside a transaction."""
        if self._db.in_transaction:
            self._db.execute("ROLLBACK")

    def get(self, reference: str) -> StoredRow | None:
        """The current row of `Type/id`."""
        row = self._db.execute(
            "SELECT pk, reference, version, body FROM resource WHERE reference = ?", (reference,)
        ).fetchone()
        return None if row is None else _row(row)

    def old_versions(self, pk: int) -> list[tuple[int, bytes]]:
        """Superseded (version, body), newest first."""
        return self._db.execute(
            "SELECT version, body FROM resource_history WHERE pk = ? ORDER BY version DESC", (pk,)
        ).fetchall()

    def old_version(self, pk: int, version: int) -> bytes | None:
        """One superseded body."""
        row = self._db.execute(
            "SELECT body FROM resource_history WHERE pk = ? AND version = ?", (pk, version)
        ).fetchone()
        return None if row is None else bytes(row[0])

    def versions(self, references: Iterable[str]) -> dict[str, int]:
        """Current version numbers of those that exist."""
        wanted = list(references)
        found: dict[str, int] = {}
        for start in range(0, len(wanted), _CHUNK):
            chunk = wanted[start : start + _CHUNK]
            marks = ",".join("?" * len(chunk))
            sql = f"SELECT reference, version FROM resource WHERE reference IN ({marks})"  # noqa: S608 - marks only
            found.update(self._db.execute(sql, chunk))
        return found

    def insert(self, resource: Resource) -> None:
        """Add a resource that carries its id and `meta.versionId`."""
        reference = f"{resource['resourceType']}/{resource['id']}"
        cursor = self._db.execute(
            "INSERT INTO resource (reference, type, version, body) VALUES (?, ?, ?, ?)",
            (reference, resource["resourceType"], int(resource["meta"]["versionId"]), orjson.dumps(resource)),
        )
        assert cursor.lastrowid is not None, "INVARIANT: an insert has a row id"
        self._index(cursor.lastrowid, resource)

    def update(self, before: StoredRow, resource: Resource) -> None:
        """Supersede a row by a resource that carries the next `meta.versionId`."""
        self._db.execute(
            "INSERT INTO resource_history (pk, version, body) VALUES (?, ?, ?)",
            (before.pk, before.version, before.body),
        )
        self._db.execute(
            "UPDATE resource SET version = ?, body = ? WHERE pk = ?",
            (int(resource["meta"]["versionId"]), orjson.dumps(resource), before.pk),
        )
        self._db.execute("DELETE FROM search_value WHERE pk = ?", (before.pk,))
        self._index(before.pk, resource)

    def _index(self, pk: int, resource: Resource) -> None:
        prefix = resource["resourceType"]
        self._db.executemany(
            "INSERT INTO search_value (param, value, pk, qualifier) VALUES (?, ?, ?, ?)",
            [(f"{prefix}.{item.param}", item.value, pk, item.qualifier) for item in index_values(resource)],
        )

    def search(self, query: SearchQuery) -> list[StoredRow]:
        """Current rows that match; raises `RequestRefused` above the number one search hands over."""
        sql, values = compile_select(query, limit=_MATCHES_MAX + 1)
        rows = self._db.execute(sql, values).fetchall()
        if len(rows) > _MATCHES_MAX:
            raise RequestRefused(
                f"{query.resource_type}?",
                f"more than {_MATCHES_MAX} matches: narrow the search or give _count",
            )
        return [_row(row) for row in rows]


def _row(row: tuple[int, str, int, bytes]) -> StoredRow:
    return StoredRow(pk=row[0], reference=row[1], version=row[2], body=row[3])
