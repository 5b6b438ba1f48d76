"""The store beyond one machine: PostgreSQL, any number of processes, each with one connection that writes.

Route of a unit: ``commit`` → ``Grouper`` → ``PostgresWriter``: the whole group in one round trip, each unit a
call of ``apply_unit``, one durable commit → the waiters, and NOTIFY to every other process.

Law: a read is one statement on a small pool, so it sees one moment. Only ``postgres*`` imports asyncpg.
"""

from __future__ import annotations

import heapq
from typing import TYPE_CHECKING, Any, Final

import asyncpg

from condor.core.errors import HomeUnusable, StoreUnavailable
from condor.core.ids import DEFAULT_TENANT
from condor.core.run import RunStatus
from condor.ports.encoding import encode
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
    Conflict,
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
from condor.store import postgres_audit, postgres_seals
from condor.store import postgres_queries as sql
from condor.store.grouper import Grouper
from condor.store.postgres_cards import list_cards
from condor.store.postgres_connect import LOST, Address, address_of, checked, explained
from condor.store.postgres_listener import PostgresListener
from condor.store.postgres_loads import Loads, whole
from condor.store.postgres_migrations import SCHEMA_VERSION, migrate, stored_version
from condor.store.postgres_reader import PostgresReader
from condor.store.postgres_writer import MISS, PostgresWriter, lock_class
from condor.store.sqlite_kernels import kernel_of
from condor.store.sqlite_rows import event_of, run_of, suspension_of
from condor.store.sqlite_tokens import token_of
from condor.store.versions import check_version

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence

    from condor.core.ids import RunId
    from condor.store.postgres_units import Refusal

#: Statuses from which a run goes on by itself after a crash.
_UNFINISHED: Final = [str(status) for status in (RunStatus.CREATED, RunStatus.PLANNING, RunStatus.EXECUTING)]
#: Sorts after every run id.
_LAST: Final = "\U0010ffff"
#: Runs whose chains are read in one go: what a snapshot holds back from being cleaned up.
_CHAINS_A_READ: Final = 200
_SEALS_A_READ: Final = 200
#: Seconds after which a process that was missed is gone: one that lost its connection is back sooner.
GONE_AFTER_S: float = 4.0


class PostgresStore:
    """``ports.store.Store`` on one schema of a PostgreSQL database."""

    def __init__(
        self, address: Address, reader: PostgresReader, faults: Faults, *, works: bool = False
    ) -> None:
        """Of a schema that is there, not opened yet."""
        self._works = works
        self._address = address
        self._reader = reader
        self._loads = Loads(reader)
        self._writer: PostgresWriter | None = None
        self._listener: PostgresListener | None = None
        self._grouper: Grouper | None = None
        self._faults = faults
        self._closed = False

    @classmethod
    async def open(
        cls,
        url: str,
        *,
        faults: Faults = no_faults,
        read_only: bool = False,
        works: bool = False,
        heard: Callable[[Sequence[str] | None], None] | None = None,
    ) -> PostgresStore:
        """Open a schema, creating and migrating it if need be.

        Args:
            url: ``postgresql://user:password@host:port/database``; ``?search_path=NAME`` names another schema
                than ``condor``, and what else libpq knows goes there too (``sslmode``).
            faults: for tests that stop the world at ``writer.before-commit`` or ``writer.after-commit``.
            read_only: create, migrate and write nothing.
            works: this process takes jobs.
            heard: called with the runs that other processes committed something of; with None after the
                connection was lost, when it may have been any.

        Raises:
            HomeUnusable: in one line what is in the way, and what to do; nothing was changed.
        """
        address = address_of(url)
        connection = await checked(address)
        try:
            if read_only:
                version = await stored_version(connection, address.schema, address.name)
                if version == 0:
                    raise HomeUnusable(f"there is nothing in {address.name} yet; start something first")
                check_version(version, address.name, newest=SCHEMA_VERSION, oldest=SCHEMA_VERSION)
            else:
                await migrate(connection, address.schema, address.name)
            store = cls(address, await PostgresReader.open(address), faults, works=works)
        except (OSError, asyncpg.PostgresError, asyncpg.InterfaceError) as error:
            raise HomeUnusable(explained(error, address)) from error
        finally:
            connection.terminate()
        try:
            await store._begin(heard, read_only=read_only)
        except (*LOST, asyncpg.PostgresError) as error:
            await store.close()
            raise HomeUnusable(explained(error, address)) from error
        return store

    async def _begin(self, heard: Callable[[Sequence[str] | None], None] | None, *, read_only: bool) -> None:
        if not read_only:
            self._writer = PostgresWriter(self._address, self._faults, self._conflicts, works=self._works)
            await self._writer.open()
            self._grouper = Grouper(self._writer.hand_over, elsewhere=True)
        if heard is not None:
            own = self._writer.pids if self._writer is not None else frozenset[int]()
            self._listener = PostgresListener(self._address, own, heard)
            await self._listener.open()

    # -- units -------------------------------------------------------------------------------

    async def commit(self, unit: Transition) -> Committed:
        """Make one unit durable; see ``ports.store.Store``."""
        if self._closed or self._grouper is None:
            raise StoreUnavailable("the store is closed" if self._closed else "the store was opened to read")
        return await self._grouper.submit(unit)

    async def _conflicts(self, refused: Sequence[tuple[Transition, Refusal]]) -> Sequence[Conflict]:
        """What the losers of a group are told, after it is there: the runs and cards as they are."""
        run_ids = [unit.run_id for unit, _ in refused]
        card_ids = [card for _, (_, card) in refused if card]
        runs = {row[0]: run_of(row) for row in await self._reader.rows(sql.RUNS_NAMED, run_ids)}
        cards = {row[0]: suspension_of(row) for row in await self._reader.rows(sql.CARDS_NAMED, card_ids)}
        found = []
        for unit, (kind, card_id) in refused:
            run, card = runs.get(unit.run_id), cards.get(card_id)
            found.append(
                Conflict(
                    kind,
                    run=run if run is not None and run.tenant_id == unit.tenant_id else None,
                    suspension=card if card is not None and card.tenant_id == unit.tenant_id else None,
                    claimed=await self._claimed_by(unit) if kind == "claimed" else None,
                )
            )
        return found

    async def _claimed_by(self, unit: Transition) -> Claimed | None:
        claim = unit.create.claim if unit.create is not None else None
        return await self.claimed(claim.principal_id, claim.key) if claim is not None else None

    # -- reads -------------------------------------------------------------------------------

    async def load(self, run_id: str) -> StoredRun | None:
        """Everything a segment needs, as of one moment."""
        return await self._loads.load(run_id)

    async def offered(self, run_id: str) -> tuple[StoredRun | None, Holder]:
        """The same, and who has it."""
        values = (self._lock_class, self._own, GONE_AFTER_S, run_id)
        rows = await self._reader.rows(sql.OFFERED, *values)
        if not rows:
            return None, "nobody"
        holder, *row = rows[0]
        return whole(row), holder

    async def run(self, run_id: str) -> RunRow | None:
        """One run row."""
        rows = await self._reader.rows(sql.RUN_NAMED, run_id)
        return run_of(rows[0]) if rows else None

    async def suspension(self, suspend_id: str) -> SuspensionRow | None:
        """One suspension."""
        rows = await self._reader.rows(sql.CARD_NAMED, suspend_id)
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
        return [suspension_of(row) for row in await list_cards(self._reader, wanted, order, limit, after)]

    async def runs(
        self, *, statuses: Iterable[RunStatus] | None = None, limit: int = 50, before: str = ""
    ) -> Sequence[RunRow]:
        """Runs, newest first."""
        before = before or _LAST
        if statuses is None:
            return [run_of(row) for row in await self._reader.rows(sql.RUNS, before, limit)]
        # A page of each status by its index, then the newest of those: whatever else the table holds.
        pages = [
            await self._reader.rows(sql.RUNS_IN, str(status), before, limit)
            for status in sorted(set(statuses))
        ]
        newest = heapq.nlargest(limit, (row for page in pages for row in page), key=lambda row: row[0])
        return [run_of(row) for row in newest]

    async def runs_of_session(
        self, session_id: str, *, limit: int = 50, before: str = ""
    ) -> Sequence[RunRow]:
        """A session's runs, newest first."""
        rows = await self._reader.rows(sql.OF_SESSION, session_id, before or _LAST, limit)
        return [run_of(row) for row in rows]

    async def last_of_session(self, session_id: str) -> RunRow | None:
        """The newest run of a session."""
        return next(iter(await self.runs_of_session(session_id, limit=1)), None)

    async def claimed(self, principal_id: str, key: str) -> Claimed | None:
        """The run that a key of this principal was used for."""
        rows = await self._reader.rows(sql.CLAIMED, DEFAULT_TENANT, principal_id, key)
        return Claimed(run_id=rows[0][0], digest=rows[0][1]) if rows else None

    async def unfinished(self) -> Sequence[RunId]:
        """Runs that were created, planning or executing, but for those that another living process has."""
        rows = await self._reader.rows(sql.UNFINISHED, self._lock_class, _UNFINISHED, self._own)
        return [run_id for (run_id,) in rows]

    async def orphaned(self) -> Sequence[RunId]:
        """Those of them whose process is gone, and those whose job is."""
        if self._writer is not None:
            await self._errand(MISS, self._lock_class, failed="it was not noted who is missed")
        rows = await self._reader.rows(sql.ORPHANED, self._lock_class, _UNFINISHED, GONE_AFTER_S)
        return [run_id for (run_id,) in rows]

    async def backlog(self) -> Backlog:
        """What waits for workers."""
        ((workers, waiting, oldest_s),) = await self._reader.rows(sql.BACKLOG, self._lock_class, _UNFINISHED)
        return Backlog(workers=workers, waiting=waiting, oldest_s=oldest_s)

    @property
    def _lock_class(self) -> int:
        return lock_class(self._address.schema)

    @property
    def _own(self) -> int:
        """This process's writer; of one that only reads none."""
        return self._writer.writer_id if self._writer is not None else -1

    async def due(self, at: str, limit: int = 100) -> Sequence[SuspensionRow]:
        """Pending suspensions that have expired, the longest expired first."""
        return [suspension_of(row) for row in await self._reader.rows(sql.DUE, at, limit)]

    async def idle(self, before: str, *, limit: int = 100) -> Sequence[RunId]:
        """Suspended runs without an open card that nothing has changed since ``before``."""
        return [run_id for (run_id,) in await self._reader.rows(sql.IDLE, before, limit)]

    async def events(self, run_id: str, *, after: int = 0, limit: int = 1_000) -> Sequence[StoredEvent]:
        """Events with a sequence number above ``after``, in order."""
        return [event_of(row) for row in await self._reader.rows(sql.EVENTS, run_id, after, limit)]

    async def payloads(self, run_id: str, keys: Sequence[str]) -> Mapping[str, bytes]:
        """The payloads that are there."""
        return dict(await self._reader.rows(sql.PAYLOADS_NAMED, run_id, list(keys)))

    async def audit(
        self, wanted: AuditFilter, *, limit: int = 1_000, after: tuple[str, int] = ("", 0)
    ) -> Sequence[AuditRow]:
        """Audit rows by run and sequence."""
        return await postgres_audit.list_audit(self._reader, wanted, limit, after)

    async def audit_chains(self, run_id: str | None = None) -> AsyncIterator[AuditChain]:
        """Every run's chain, each as of one moment."""
        after = ""
        while True:
            page = await postgres_audit.next_chains(self._reader, run_id, after, _CHAINS_A_READ)
            for chain in page:
                yield chain
            if run_id is not None or len(page) < _CHAINS_A_READ:
                return
            after = page[-1].run_id

    async def unsealed(self, limit: int) -> Unsealed:
        """Runs with audit rows that no seal holds, and the last seal."""
        return await postgres_seals.read_unsealed(self._reader, limit)

    async def seals(self, *, after: int = 0) -> AsyncIterator[SealRow]:
        """The tenant's seals, in their order."""
        while page := await postgres_seals.read_seals(self._reader, after, _SEALS_A_READ):
            for row in page:
                yield row
            after = page[-1].seq

    # -- what is no unit ---------------------------------------------------------------------

    async def add_seal(self, row: SealRow, heads: Sequence[RunHead]) -> bool:
        """Keep the next seal; durable when it returns."""
        values = (row.tenant_id, row.seq, row.body.decode(), row.prev_hash, row.hash)
        noted = ([head.run_id for head in heads], [head.seq for head in heads])
        failed = "the seal was not kept"
        return len(await self._errand(postgres_seals.ADD_SEAL, *values, *noted, failed=failed)) == 1

    async def add_token(self, row: TokenRow) -> None:
        """Keep a new token; durable when it returns."""
        named = (row.token_id, row.tenant_id, row.kind, row.hash)
        texts = (row.principal.decode(), encode(sorted(row.scopes)).decode())
        values = (*named, *texts, row.created_at, row.expires_at)
        await self._errand(sql.KEEP, *values, failed="the token was not kept")

    async def token(self, token_hash: str) -> TokenRow | None:
        """The token of a hash."""
        rows = await self._reader.rows(sql.TOKEN_OF, token_hash)
        return token_of(rows[0]) if rows else None

    async def tokens(self, kind: TokenKind) -> Sequence[TokenRow]:
        """Every token of a kind, oldest first."""
        return [token_of(row) for row in await self._reader.rows(sql.TOKENS, kind)]

    async def revoke_token(self, token_id: str, at: str) -> bool:
        """End a token now; durable when it returns."""
        ended = await self._errand(sql.REVOKE, token_id, at, failed="the token was not revoked")
        return len(ended) == 1

    async def add_kernel(self, row: KernelRow) -> bool:
        """Keep the next revision of a tool's kernel; durable when it returns."""
        values = (row.tenant_id, row.tool, row.rev, row.body.decode(), row.prev_hash, row.hash)
        return len(await self._errand(sql.ADD_KERNEL, *values, failed="the kernel was not kept")) == 1

    async def kernels(self) -> Sequence[KernelRow]:
        """Every revision."""
        return [kernel_of(row) for row in await self._reader.rows(sql.KERNELS)]

    async def check_writable(self) -> None:
        """Whether units can be committed now."""
        await self._errand(sql.TOUCH, self._own, failed="the database takes nothing")

    async def erase_payloads(self, run_id: str) -> int:
        """Empty the payloads of a run; the server overwrites them when it next cleans up."""
        return len(await self._errand(sql.ERASE, run_id, failed="the payloads were not erased"))

    async def close(self) -> None:
        """Finish what was handed in, then close."""
        if self._closed:
            return
        self._closed = True
        if self._grouper is not None:
            await self._grouper.drained()
        if self._listener is not None:
            await self._listener.close()
        if self._writer is not None:
            await self._writer.close()
        await self._reader.close()

    async def _errand(self, query: str, *values: object, failed: str) -> Sequence[Any]:
        if self._closed or self._writer is None:
            raise StoreUnavailable("the store is closed" if self._closed else "the store was opened to read")
        found: Sequence[Any] = await self._reader.run(
            lambda connection: connection.fetch(query, *values), failed=failed
        )
        return found
