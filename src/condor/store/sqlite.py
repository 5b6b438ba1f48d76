"""The embedded store: one SQLite file, one writer that commits in groups, readers that cannot write.

Route of a unit: ``commit`` → ``Grouper`` (event loop) → ``SqliteWriter`` (its thread): BEGIN IMMEDIATE,
each unit checked and written, COMMIT with ``synchronous=FULL`` → one call back into the loop a group.

Law: a short read is a point read on a connection of the loop's own, its cursor always exhausted (an
unfinished one keeps an old snapshot); a long read runs in a thread with a connection of its own.
"""

from __future__ import annotations

import asyncio
import heapq
import sqlite3
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import IO, TYPE_CHECKING, Final, TypeVar

from condor.core.errors import HomeUnusable, StoreUnavailable
from condor.core.ids import DEFAULT_TENANT
from condor.core.run import RunStatus
from condor.ports.faults import Faults, no_faults
from condor.ports.store import (
    EVERY_CARD,
    AuditChain,
    AuditFilter,
    AuditRow,
    Backlog,
    CardFilter,
    CardOrder,
    Claimed,
    Committed,
    Holder,
    KernelRow,
    RunHead,
    RunRow,
    SealRow,
    StoredEvent,
    StoredRun,
    SuspensionRow,
    TokenKind,
    TokenRow,
    Transition,
    Unsealed,
)
from condor.store.grouper import Grouper
from condor.store.sqlite_audit import list_audit, next_chains
from condor.store.sqlite_cards import is_short, list_cards
from condor.store.sqlite_files import lock_owner, open_reader, open_writer
from condor.store.sqlite_kernels import KERNELS, add_kernel, kernel_of
from condor.store.sqlite_rows import (
    EVENT,
    PAYLOAD,
    RUN,
    STEP,
    SUSPENSION,
    Raw,
    event_of,
    run_of,
    step_of,
    suspension_of,
)
from condor.store.sqlite_seals import add_seal, read_seals, read_unsealed
from condor.store.sqlite_tokens import TOKEN_OF, TOKENS, add_token, revoke_token, token_of
from condor.store.sqlite_writer import SqliteWriter

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence

    from condor.core.ids import RunId

_T = TypeVar("_T")

_RUN: Final = f"{RUN} WHERE run_id = ?"
_STEPS: Final = f"{STEP} WHERE run_id = ? ORDER BY step_id"
_CARD: Final = f"{SUSPENSION} WHERE suspend_id = ?"
_RUN_CARDS: Final = f"{SUSPENSION} WHERE run_id = ? ORDER BY opened"
_PAYLOADS: Final = f"{PAYLOAD} WHERE run_id = ?"
_EVENTS: Final = f"{EVENT} WHERE run_id = ? AND seq > ? ORDER BY seq LIMIT ?"
_RUNS: Final = f"{RUN} WHERE run_id < ? ORDER BY run_id DESC LIMIT ?"
_RUNS_IN: Final = f"{RUN} WHERE status = ? AND run_id < ? ORDER BY run_id DESC LIMIT ?"
_IDS_IN: Final = "SELECT run_id FROM run WHERE status = ? ORDER BY run_id"
_CLOCK: Final = "(SELECT value FROM meta WHERE key = 'clock')"
#: Without a hint SQLite takes the index on status, and sorts all that is pending.
_DUE: Final = (
    f"{SUSPENSION} INDEXED BY suspension_due WHERE status = 'pending' AND expires_at <= max(?, {_CLOCK}) "
    "ORDER BY expires_at LIMIT ?"
)
_IDLE: Final = """SELECT run_id FROM run WHERE status = 'suspended' AND updated_at <= ?
    AND NOT EXISTS (SELECT 1 FROM suspension INDEXED BY suspension_by_run
        WHERE suspension.run_id = run.run_id AND suspension.status = 'pending') ORDER BY run_id LIMIT ?"""
_OF_SESSION: Final = f"{RUN} WHERE session_id = ? AND run_id < ? ORDER BY run_id DESC LIMIT ?"
_CLAIMED: Final = "SELECT run_id, digest FROM request WHERE tenant_id = ? AND principal_id = ? AND key = ?"
_ERASE: Final = "DELETE FROM payload WHERE run_id = ?"
_REVISE: Final = "UPDATE run SET rev = rev + 1 WHERE run_id = ?"

#: Statuses from which a run goes on by itself after a crash.
_UNFINISHED: Final = (RunStatus.CREATED, RunStatus.PLANNING, RunStatus.EXECUTING)
#: Sorts after every run id.
_LAST: Final = "\U0010ffff"
#: Runs whose chains are read in one go: what a snapshot of the reader holds back from being checkpointed.
_CHAINS_A_READ: Final = 200
_SEALS_A_READ: Final = 200


class SqliteStore:
    """``ports.store.Store`` on one SQLite file."""

    def __init__(
        self, path: Path, reader: sqlite3.Connection, writer: SqliteWriter | None, lock: IO[str] | None
    ) -> None:
        self._path = path
        self._reader = reader
        self._writer = writer
        self._lock = lock
        self._grouper = Grouper(writer.hand_over) if writer is not None else None
        self._closed = False

    @classmethod
    def open(cls, path: str | Path, *, faults: Faults = no_faults, read_only: bool = False) -> SqliteStore:
        """Open a database, creating and migrating it if need be.

        Args:
            path: the file; its directory must exist.
            faults: for tests that stop the world at ``writer.before-commit`` or ``writer.after-commit``.
            read_only: read beside a living owner; creates, migrates and writes nothing.

        Raises:
            HomeUnusable: not a database or none of a file, not ours, of a newer version, owned by another
                process, or a directory that does not let us; nothing was changed.
        """
        if str(path) == ":memory:":
            raise HomeUnusable("a database in memory loses every approval with its process; name a file")
        path = Path(path).absolute()
        if read_only:
            return cls(path, open_reader(path), None, None)
        lock = lock_owner(path)
        try:
            connection = open_writer(path)
            reader = open_reader(path)
        except BaseException:
            lock.close()
            raise
        return cls(path, reader, SqliteWriter(connection, faults), lock)

    async def commit(self, unit: Transition) -> Committed:
        """Make one unit durable; see ``ports.store.Store``."""
        if self._closed or self._grouper is None:
            raise StoreUnavailable("the store is closed" if self._closed else "the store was opened to read")
        return await self._grouper.submit(unit)

    async def load(self, run_id: str) -> StoredRun | None:
        """Everything a segment needs, as of one moment."""
        return self._read(self._load, run_id)

    def _load(self, run_id: str) -> StoredRun | None:
        execute = self._reader.execute
        key = (run_id,)
        execute("BEGIN")
        try:
            run = execute(_RUN, key).fetchone()
            if run is None:
                return None
            return StoredRun(
                run=run_of(run),
                steps=[step_of(row, run_id) for row in execute(_STEPS, key).fetchall()],
                suspensions=[suspension_of(row) for row in execute(_RUN_CARDS, key).fetchall()],
                payloads=dict(execute(_PAYLOADS, key).fetchall()),
            )
        finally:
            execute("COMMIT")

    async def run(self, run_id: str) -> RunRow | None:
        """One run row."""
        rows = self._rows(_RUN, (run_id,))
        return run_of(rows[0]) if rows else None

    async def suspension(self, suspend_id: str) -> SuspensionRow | None:
        """One suspension."""
        rows = self._rows(_CARD, (suspend_id,))
        return suspension_of(rows[0]) if rows else None

    async def suspensions(
        self,
        wanted: CardFilter = EVERY_CARD,
        *,
        order: CardOrder = "oldest",
        limit: int = 50,
        after: str = "",
    ) -> Sequence[SuspensionRow]:
        """Suspensions in the order they were opened; after an ``after`` that does not exist: none."""
        listed = partial(list_cards, wanted=wanted, order=order, limit=limit, after=after)
        rows = self._read(listed, self._reader) if is_short(wanted) else await self._read_long(listed)
        return [suspension_of(row) for row in rows]

    async def runs(
        self, *, statuses: Iterable[RunStatus] | None = None, limit: int = 50, before: str = ""
    ) -> Sequence[RunRow]:
        """Runs, newest first."""
        before = before or _LAST
        if statuses is None:
            return [run_of(row) for row in self._rows(_RUNS, (before, limit))]
        # A page of each status by its index, then the newest of those: whatever else the table holds.
        pages = [self._rows(_RUNS_IN, (str(status), before, limit)) for status in sorted(set(statuses))]
        return [run_of(row) for row in heapq.nlargest(limit, (row for page in pages for row in page))]

    async def runs_of_session(
        self, session_id: str, *, limit: int = 50, before: str = ""
    ) -> Sequence[RunRow]:
        """A session's runs, newest first."""
        return [run_of(row) for row in self._rows(_OF_SESSION, (session_id, before or _LAST, limit))]

    async def last_of_session(self, session_id: str) -> RunRow | None:
        """The newest run of a session."""
        return next(iter(await self.runs_of_session(session_id, limit=1)), None)

    async def claimed(self, principal_id: str, key: str) -> Claimed | None:
        """The run that a key of this principal was used for."""
        rows = self._rows(_CLAIMED, (DEFAULT_TENANT, principal_id, key))
        return Claimed(run_id=rows[0][0], digest=rows[0][1]) if rows else None

    async def add_token(self, row: TokenRow) -> None:
        """Keep a new token; durable when it returns."""
        await self._errand(partial(add_token, row), "the token was not kept")

    async def token(self, token_hash: str) -> TokenRow | None:
        """The token of a hash."""
        rows = self._rows(TOKEN_OF, (token_hash,))
        return token_of(rows[0]) if rows else None

    async def tokens(self, kind: TokenKind) -> Sequence[TokenRow]:
        """Every token of a kind, oldest first."""
        return [token_of(row) for row in self._rows(TOKENS, (kind,))]

    async def revoke_token(self, token_id: str, at: str) -> bool:
        """End a token now; durable when it returns."""
        return await self._errand(partial(revoke_token, token_id, at), "the token was not revoked")

    async def add_kernel(self, row: KernelRow) -> bool:
        """Keep the next revision of a tool's kernel; durable when it returns."""
        return await self._errand(partial(add_kernel, row), "the kernel was not kept")

    async def kernels(self) -> Sequence[KernelRow]:
        """Every revision."""
        return [kernel_of(row) for row in self._rows(KERNELS, ())]

    async def unfinished(self) -> Sequence[RunId]:
        """Runs that were created, planning or executing."""
        found = [run_id for status in _UNFINISHED for (run_id,) in self._rows(_IDS_IN, (str(status),))]
        return sorted(found)

    async def orphaned(self) -> Sequence[RunId]:
        """None: nobody shares the file."""
        return ()

    async def offered(self, run_id: str) -> tuple[StoredRun | None, Holder]:
        """A file has one owner: this process, or nobody."""
        return await self.load(run_id), "nobody"

    async def backlog(self) -> Backlog:
        """Nothing: a file has no workers."""
        return Backlog()

    async def due(self, at: str, limit: int = 100) -> Sequence[SuspensionRow]:
        """Pending suspensions that have expired, the longest expired first."""
        return [suspension_of(row) for row in self._rows(_DUE, (at, limit))]

    async def idle(self, before: str, *, limit: int = 100) -> Sequence[RunId]:
        """Suspended runs without an open card that nothing has changed since ``before``."""
        rows = await self._read_long(lambda reader: reader.execute(_IDLE, (before, limit)).fetchall())
        return [run_id for (run_id,) in rows]

    async def events(self, run_id: str, *, after: int = 0, limit: int = 1_000) -> Sequence[StoredEvent]:
        """Events with a sequence number above ``after``, in order."""
        return [event_of(row) for row in self._rows(_EVENTS, (run_id, after, limit))]

    async def payloads(self, run_id: str, keys: Sequence[str]) -> Mapping[str, bytes]:
        """The payloads that are there."""
        query = f"{_PAYLOADS} AND key = ?"
        return {key: value for wanted in keys for key, value in self._rows(query, (run_id, wanted))}

    async def audit(
        self, wanted: AuditFilter, *, limit: int = 1_000, after: tuple[str, int] = ("", 0)
    ) -> Sequence[AuditRow]:
        """Audit rows by run and sequence."""
        return await self._read_long(partial(list_audit, wanted=wanted, limit=limit, after=after))

    async def audit_chains(self, run_id: str | None = None) -> AsyncIterator[AuditChain]:
        """Every run's chain, each as of one moment."""
        after = ""
        while True:
            page = await self._read_long(
                partial(next_chains, run_id=run_id, after=after, limit=_CHAINS_A_READ)
            )
            for chain in page:
                yield chain
            if run_id is not None or len(page) < _CHAINS_A_READ:
                return
            after = page[-1].run_id

    async def unsealed(self, limit: int) -> Unsealed:
        """Runs with audit rows that no seal holds, and the last seal."""
        return await self._read_long(partial(read_unsealed, limit=limit))

    async def add_seal(self, row: SealRow, heads: Sequence[RunHead]) -> bool:
        """Keep the next seal; durable when it returns."""
        return await self._errand(partial(add_seal, row, heads), "the seal was not kept")

    async def seals(self, *, after: int = 0) -> AsyncIterator[SealRow]:
        """The tenant's seals, in their order."""
        while page := await self._read_long(partial(read_seals, after=after, limit=_SEALS_A_READ)):
            for row in page:
                yield row
            after = page[-1].seq

    async def check_writable(self) -> None:
        """Whether units can be committed now."""
        await self._errand(_touch, "the database takes nothing")

    async def erase_payloads(self, run_id: str) -> int:
        """Empty the payloads of a run, in the file and in the write-ahead log too."""
        return await self._errand(partial(_erase, run_id), "the payloads were not erased")

    async def close(self) -> None:
        """Finish what was handed in, then close."""
        if self._closed:
            return
        self._closed = True
        if self._grouper is not None:
            await self._grouper.drained()
        self._reader.close()
        if self._writer is not None:
            # Last, so that it is the writer that checkpoints and clears the log.
            await asyncio.to_thread(self._writer.close)
        if self._lock is not None:
            self._lock.close()

    async def _errand(self, errand: Callable[[sqlite3.Connection], _T], failed: str) -> _T:
        """Let the writer do something of its own kind, between groups."""
        if self._closed or self._writer is None:
            raise StoreUnavailable("the store is closed" if self._closed else "the store was opened to read")
        try:
            return await asyncio.wrap_future(self._writer.call(errand))
        except sqlite3.Error as error:
            raise StoreUnavailable(f"{failed}: {error}") from error

    def _rows(self, query: str, values: Sequence[object]) -> list[Raw]:
        return self._read(lambda: self._reader.execute(query, values).fetchall())

    def _read(self, read: Callable[..., _T], *values: object) -> _T:
        try:
            return read(*values)
        except sqlite3.Error as error:
            raise StoreUnavailable(f"the database cannot be read: {error}") from error

    async def _read_long(self, read: Callable[[sqlite3.Connection], _T]) -> _T:
        if self._closed:
            raise StoreUnavailable("the store is closed")

        def in_thread() -> _T:
            # Opened and closed by the thread: a reader that is cancelled leaves it to end by itself.
            with closing(open_reader(self._path)) as connection:
                return read(connection)

        try:
            return await asyncio.to_thread(in_thread)
        except sqlite3.Error as error:
            raise StoreUnavailable(f"the database cannot be read: {error}") from error


def _touch(connection: sqlite3.Connection) -> None:
    # A change that changes nothing is written and synced all the same.
    connection.execute("UPDATE meta SET value = value WHERE key = 'clock'")


def _erase(run_id: str, connection: sqlite3.Connection) -> int:
    connection.execute("BEGIN IMMEDIATE")
    count = connection.execute(_ERASE, (run_id,)).rowcount
    if count:
        connection.execute(_REVISE, (run_id,))
    connection.execute("COMMIT")
    # Best effort: a reader in the middle of a read keeps the log until the next checkpoint.
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    return count
