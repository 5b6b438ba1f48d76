"""The SQLite tables of the embedded store and the statements on them; one `Tables` belongs to one thread.

Rule: `resource` holds what is current, `resource_history` what was; a version number is never used twice.
"""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import orjson

from condor_hms.fhir.errors import RequestRefused
from condor_hms.fhir.search import Compare, Criterion, Equals, SearchQuery, StartsWith, Test, index_values

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from condor_hms.fhir.port import Resource

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
  param TEXT NOT NULL, value TEXT NOT NULL, pk INTEGER NOT NULL, high TEXT NOT NULL,
  PRIMARY KEY (param, value, pk, high)
) WITHOUT ROWID;
CREATE INDEX search_value_by_resource ON search_value (pk, param, value, high);
"""

#: The most selective kinds first: the first condition drives the search, the others are looked up per match.
_DRIVER_ORDER = ("reference", "phone", "name", "folded", "token", "date")


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
            self._db.execute("PRAGMA journal_mode=WAL")
            self._db.execute("PRAGMA synchronous=FULL")
            if writer:
                self._create()
            else:
                self._db.execute("PRAGMA wal_autocheckpoint=0")
                self._db.execute("PRAGMA query_only=ON")
        except BaseException:
            self._db.close()
            raise

    def _create(self) -> None:
        self.begin()
        try:
            application_id = self._scalar("PRAGMA application_id")
            tables = self._scalar("SELECT count(*) FROM sqlite_master")
            if tables == 0:
                for statement in _SCHEMA.split(";"):
                    self._db.execute(statement)
                self._db.execute(f"PRAGMA application_id={_APPLICATION_ID}")
                self._db.execute(f"PRAGMA user_version={_SCHEMA_VERSION}")
            elif application_id != _APPLICATION_ID or self._scalar("PRAGMA user_version") != _SCHEMA_VERSION:
                raise RequestRefused("open", "this file is not a record of this version: give another path")
            self.commit()
        except BaseException:
            self.rollback()
            raise

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
            found.update(
                self._db.execute(
                    f"SELECT reference, version FROM resource WHERE reference IN ({marks})", chunk
                )
            )
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
            "INSERT INTO search_value (param, value, pk, high) VALUES (?, ?, ?, ?)",
            [(f"{prefix}.{item.param}", item.value, pk, item.high) for item in index_values(resource)],
        )

    def search(self, query: SearchQuery) -> list[StoredRow]:
        """Current rows that match; raises `RequestRefused` above the number one search hands over."""
        sql, values = _select(query)
        rows = self._db.execute(sql, values).fetchall()
        if len(rows) > _MATCHES_MAX:
            raise RequestRefused(
                f"{query.resource_type}?",
                f"more than {_MATCHES_MAX} matches: narrow the search or give _count",
            )
        return [_row(row) for row in rows]


def _row(row: tuple[int, str, int, bytes]) -> StoredRow:
    return StoredRow(pk=row[0], reference=row[1], version=row[2], body=row[3])


def _select(query: SearchQuery) -> tuple[str, list[Any]]:
    ordered = sorted(query.criteria, key=lambda criterion: _DRIVER_ORDER.index(criterion.kind))
    values: list[Any] = []
    where: list[str] = []
    for place, criterion in enumerate(ordered):
        condition = _condition(criterion, values, query.resource_type)
        if place == 0:
            where.append(f"r.pk IN (SELECT s.pk FROM search_value s WHERE {condition})")
        else:
            where.append(f"EXISTS (SELECT 1 FROM search_value s WHERE s.pk = r.pk AND {condition})")
    if not ordered:
        where.append("r.type = ?")
        values.append(query.resource_type)
    order = "r.pk"
    if query.sort is not None:
        direction, pick = ("DESC", "max") if query.sort.descending else ("ASC", "min")
        order = f"(SELECT {pick}(s.value) FROM search_value s WHERE s.pk = r.pk AND s.param = ?) {direction}, r.pk {direction}"
        values.append(f"{query.resource_type}.{query.sort.param}")
    values.append(_MATCHES_MAX + 1 if query.count is None else query.count)
    sql = f"SELECT r.pk, r.reference, r.version, r.body FROM resource r WHERE {' AND '.join(where)}"  # noqa: S608
    return f"{sql} ORDER BY {order} LIMIT ?", values


def _condition(criterion: Criterion, values: list[Any], resource_type: str) -> str:
    """SQL of one criterion over `s`; the text is made of constants, every foreign value is bound."""
    values.append(f"{resource_type}.{criterion.param}")
    tests = " OR ".join(_test(test, values) for test in criterion.any_of)
    return f"s.param = ? AND ({tests})"


def _test(test: Test, values: list[Any]) -> str:
    match test:
        case Equals(value):
            values.append(value)
            return "s.value = ?"
        case StartsWith(prefix):
            # U+10FFFF sorts after every other character in SQLite's byte order.
            values.extend((prefix, prefix + "\U0010ffff"))
            return "s.value >= ? AND s.value < ?"
        case Compare("eq", low, high):
            values.extend((low, high))
            return "s.value >= ? AND s.high <= ?"
        case Compare("ge", low, _):
            values.append(low)
            return "s.high >= ?"
        case Compare("gt", _, high):
            values.append(high)
            return "s.high > ?"
        case Compare("le", _, high):
            values.append(high)
            return "s.value <= ?"
        case Compare(_, low, _):
            values.append(low)
            return "s.value < ?"
