"""The embedded record in an SQLite file.

The writer opens first and makes the tables; a reader can only query. `synchronous=FULL`: what is committed is
on disk.
"""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING, Any

from condor_hms.fhir.errors import RequestRefused
from condor_hms.fhir.tables import LOCK_WAIT_MS, Tables

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

__all__ = ["SqliteTables"]

#: "CFHR": marks the file as ours, so that another database is never mistaken for a record.
_APPLICATION_ID = 0x43464852
_SCHEMA_VERSION = 1

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


class SqliteTables(Tables):
    """A connection to the file."""

    errors = (sqlite3.Error,)

    def __init__(self, path: Path, *, writer: bool) -> None:
        self._db = sqlite3.connect(path, isolation_level=None, timeout=LOCK_WAIT_MS / 1000)
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

    def _scalar(self, sql: str) -> Any:
        return self._db.execute(sql).fetchone()[0]

    def close(self) -> None:
        """See `Tables`."""
        self._db.close()

    def explained(self, error: Exception) -> str:
        """See `Tables`."""
        return f"sqlite: {error}"

    def begin(self) -> None:
        """See `Tables`."""
        self._db.execute("BEGIN IMMEDIATE")

    def begin_read(self) -> None:
        """See `Tables`."""
        self._db.execute("BEGIN")

    def commit(self) -> None:
        """See `Tables`; returns after the write-ahead log is on disk."""
        self._db.execute("COMMIT")

    def rollback(self) -> None:
        """See `Tables`."""
        if self._db.in_transaction:
            self._db.execute("ROLLBACK")

    def _rows(self, sql: str, values: Sequence[Any]) -> list[tuple[Any, ...]]:
        return self._db.execute(sql, values).fetchall()

    def _inserted(self, sql: str, values: Sequence[Any]) -> int:
        pk = self._db.execute(sql, values).lastrowid
        assert pk is not None, "INVARIANT: an insert has a row id"
        return pk

    def _changed(self, sql: str, values: Sequence[Any]) -> int:
        return self._db.execute(sql, values).rowcount

    def _many(self, sql: str, rows: Sequence[Sequence[Any]]) -> None:
        self._db.executemany(sql, rows)
