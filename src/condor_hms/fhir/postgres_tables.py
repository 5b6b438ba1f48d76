"""The embedded record in a schema of a PostgreSQL database, shared by any number of processes.

Rule 1: writers go one after the other, as they do on a file: a transaction takes the record's advisory lock
first and gives it back when it ends, however it ends. A process that stops in the middle loses it after
``_IDLE_MS``.
Rule 2: what the lock promises the tables hold as well: a reference, and an idempotency key of a type, exist
once; a row is changed only at the version that was read.
Rule 3: a connection that was lost before COMMIT was sent did nothing, and the work is begun again; after it,
nobody knows, and the caller looks.

asyncpg runs in an event loop of this thread's own, which stands still between statements.
"""

from __future__ import annotations

import asyncio
import re
import zlib
from dataclasses import replace
from itertools import count
from typing import TYPE_CHECKING, Any, Final, TypeVar

from condor.store.postgres_connect import FAILED, LOST, Address, address_of, checked, connect, explained
from condor_hms.fhir.errors import RequestRefused, Unavailable
from condor_hms.fhir.tables import LOCK_WAIT_MS, Tables

if TYPE_CHECKING:
    from collections.abc import Coroutine, Sequence

__all__ = ["PostgresTables", "record_address"]

T = TypeVar("T")

_SCHEMA_VERSION: Final = 1
#: First half of the record's advisory locks: "FHIR". The second is its schema's.
_LOCK_CLASS: Final = 0x46484952
#: A transaction that says nothing for so long is of a process that was stopped; a statement takes
#: milliseconds.
_IDLE_MS: Final = 10_000
#: Seconds to say goodbye to the server.
_CLOSE_S_MAX: Final = 2.0
#: Texts of statements that are kept; `IN (…)` has many lengths.
_TEXTS_MAX: Final = 500

#: Values compare by their bytes, whatever the database's own collation.
_SCHEMA: Final = (
    "CREATE TABLE record_version (version integer NOT NULL)",
    f"INSERT INTO record_version VALUES ({_SCHEMA_VERSION})",
    """CREATE TABLE resource (
        pk bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, reference text COLLATE "C" NOT NULL UNIQUE,
        type text COLLATE "C" NOT NULL, version bigint NOT NULL, body bytea NOT NULL
    ) WITH (fillfactor = 80)""",
    "CREATE INDEX resource_by_type ON resource (type)",
    """CREATE TABLE resource_history (
        pk bigint NOT NULL, version bigint NOT NULL, body bytea NOT NULL, PRIMARY KEY (pk, version)
    )""",
    """CREATE TABLE search_value (
        param text COLLATE "C" NOT NULL, value text COLLATE "C" NOT NULL, pk bigint NOT NULL,
        qualifier text COLLATE "C" NOT NULL, PRIMARY KEY (param, value, pk, qualifier)
    )""",
    "CREATE INDEX search_value_by_resource ON search_value (pk, param)",
    # What a demonstration's carrier was given.
    """CREATE TABLE message_log (
        number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, key text COLLATE "C" NOT NULL UNIQUE,
        body text NOT NULL
    )""",
    # One resource of a type per key; its Provenance is found by its tag, which others carry too.
    """CREATE UNIQUE INDEX search_value_one_per_key ON search_value (param, value)
        WHERE qualifier = 'urn:condor:idem' AND (param LIKE '%.identifier' OR param = 'Provenance._tag')""",
)

#: SQLSTATE of errors that mean something here (PostgreSQL, Appendix A).
_LOCK_NOT_AVAILABLE: Final = "55P03"
_UNIQUE_VIOLATION: Final = "23505"
_HAS_SCHEMA: Final = "SELECT count(*) FROM pg_namespace WHERE nspname = $1"
_HAS_TABLES: Final = """SELECT count(*) FROM pg_class
    WHERE relname = 'record_version' AND relnamespace IN (SELECT oid FROM pg_namespace WHERE nspname = $1)"""


def record_address(url: str) -> Address:
    """The record's schema: beside the run log's, in the same database.

    Raises:
        condor.core.errors.HomeUnusable: the address cannot be read; its password is not told.
    """
    address = address_of(url)
    return replace(address, schema=f"{address.schema[:58]}_fhir")


class PostgresTables(Tables):
    """A connection to the database, made again when it was lost."""

    errors = FAILED

    def __init__(self, address: Address, *, writer: bool, create: bool = True) -> None:
        """Connect; the first writer of all makes the tables.

        Args:
            address: see `record_address`.
            writer: False: every transaction of it only reads.
            create: make the tables where there are none, else that is refused.

        Raises:
            condor.core.errors.HomeUnusable: in one line why the database cannot be used.
            Unavailable: there are no tables, and none were to be made.
        """
        self._address = address
        self._writer = writer
        self._loop = asyncio.new_event_loop()
        self._texts: dict[str, str] = {}
        self._db: Any = None
        #: In a transaction; and whether its COMMIT was sent.
        self._within = self._committing = False
        try:
            self._db = self._wait(checked(address))
            self._wait(self._settle())
            self._open(create=create)
        except BaseException:
            self.close()
            raise

    def _open(self, *, create: bool) -> None:
        if self._known_version():
            return
        if not create:
            raise Unavailable("there is no record in this database yet")
        schema = self._address.schema
        self._wait(self._db.execute(f"BEGIN; SELECT pg_advisory_xact_lock({self._lock})"))
        try:
            if not self._known_version():  # another process may have been faster
                if not self._wait(self._db.fetchval(_HAS_SCHEMA, schema)):
                    self._wait(self._db.execute(f'CREATE SCHEMA "{schema}"'))
                for statement in _SCHEMA:
                    self._wait(self._db.execute(statement))
                self._wait(self._db.execute("COMMIT"))
        finally:
            self.rollback()

    def _known_version(self) -> bool:
        """Whether the tables are there; refuses those of another version before anything is touched."""
        # The catalog is read: a session's own memory of it can be older than the lock that it waited for.
        if not self._wait(self._db.fetchval(_HAS_TABLES, self._address.schema)):
            return False
        version = self._wait(self._db.fetchval("SELECT version FROM record_version"))
        if version != _SCHEMA_VERSION:
            raise RequestRefused(
                "open",
                f"the record in schema {self._address.schema!r} is of version {version}, not of "
                f"{_SCHEMA_VERSION}: use the Condor that it is of, or another schema",
            )
        return True

    @property
    def _lock(self) -> str:
        half = zlib.crc32(self._address.schema.encode()) & 0x7FFFFFFF
        return f"{_LOCK_CLASS}, {half}"

    def _wait(self, work: Coroutine[Any, Any, T]) -> T:
        return self._loop.run_until_complete(work)

    async def _settle(self) -> None:
        await self._db.execute(
            f"SET lock_timeout = {LOCK_WAIT_MS}; SET idle_in_transaction_session_timeout = {_IDLE_MS}"
            + ("" if self._writer else "; SET default_transaction_read_only = on")
        )

    def _connected(self) -> Any:
        """The connection; a new one where the last was lost, but never in the middle of a transaction."""
        if not self._within and (self._db is None or self._db.is_closed()):
            self._db = self._wait(connect(self._address))
            self._wait(self._settle())
        return self._db

    def close(self) -> None:
        """See `Tables`."""
        self._within = False
        try:
            if self._db is not None:
                self._wait(self._db.close(timeout=_CLOSE_S_MAX))
        except self.errors:
            self._drop()
        self._loop.close()

    def _drop(self) -> None:
        if self._db is not None:
            self._db.terminate()
            self._db = None
            # The driver closes its socket in the loop's next turn.
            self._wait(asyncio.sleep(0))

    def explained(self, error: Exception) -> str:
        """See `Tables`; nothing of the address but its name."""
        if _state(error) == _LOCK_NOT_AVAILABLE:
            return f"others were writing to {self._address.name} for {LOCK_WAIT_MS / 1000:g} s"
        if isinstance(error, LOST) and not isinstance(error, OSError):
            return f"the connection to {self._address.name} was lost"
        return explained(error, self._address)

    def renewed(self, error: Exception) -> bool:
        """See `Tables`; also where a key was taken by somebody who did not ask for the lock."""
        if _state(error) == _UNIQUE_VIOLATION:
            return True
        if not isinstance(error, LOST) or self._committing:
            return False
        self._drop()
        return True

    # -- transactions ------------------------------------------------------------------------

    def begin(self) -> None:
        """See `Tables`."""
        db, self._within = self._connected(), True
        self._wait(db.execute(f"BEGIN; SELECT pg_advisory_xact_lock({self._lock})"))

    def begin_read(self) -> None:
        """See `Tables`."""
        db, self._within = self._connected(), True
        self._wait(db.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"))

    def commit(self) -> None:
        """See `Tables`; the connection commits with `synchronous_commit` at least `on`."""
        self._committing = True
        self._wait(self._db.execute("COMMIT"))
        self._committing = self._within = False

    def rollback(self) -> None:
        """See `Tables`."""
        self._committing = self._within = False
        if self._db is None or self._db.is_closed() or not self._db.is_in_transaction():
            return
        try:
            self._wait(self._db.execute("ROLLBACK"))
        except self.errors:
            self._drop()

    def log_message(self, key: str, body: str) -> int:
        """Keep a message once for its key; its number."""
        kept = self._rows("SELECT number FROM message_log WHERE key = ?", (key,))
        sql = "INSERT INTO message_log (key, body) VALUES (?, ?) RETURNING number"
        number: int = (kept or self._rows(sql, (key, body)))[0][0]
        return number

    # -- statements --------------------------------------------------------------------------

    def _rows(self, sql: str, values: Sequence[Any]) -> list[tuple[Any, ...]]:
        found = self._wait(self._connected().fetch(self._text(sql), *values))
        return [tuple(row) for row in found]

    def _inserted(self, sql: str, values: Sequence[Any]) -> int:
        pk = self._wait(self._connected().fetchval(self._text(f"{sql} RETURNING pk"), *values))
        assert isinstance(pk, int), "INVARIANT: an insert returns its key"
        return pk

    def _changed(self, sql: str, values: Sequence[Any]) -> int:
        status: str = self._wait(self._connected().execute(self._text(sql), *values))
        return int(status.rpartition(" ")[2])

    def _many(self, sql: str, rows: Sequence[Sequence[Any]]) -> None:
        self._wait(self._connected().executemany(self._text(sql), rows))

    def _text(self, sql: str) -> str:
        """A statement with `$1, $2, …` for its values; our statements have no other question marks."""
        known = self._texts.get(sql)
        if known is None:
            numbers = count(1)
            known = re.sub(r"\?", lambda _: f"${next(numbers)}", sql)
            if len(self._texts) < _TEXTS_MAX:
                self._texts[sql] = known
        return known


def _state(error: Exception) -> str | None:
    state: str | None = getattr(error, "sqlstate", None)
    return state
