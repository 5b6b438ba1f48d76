"""The one connection of a process that writes units, a group in one round trip.

Law 1: a group is one transaction, committed by the end of its pipeline; nobody is told anything before that.
Runs are taken in the order of their ids, so that two processes do not wait for each other crosswise.
Law 2: what a unit's own values are to blame for ends that unit alone: its group is done again, one by one.
Law 3: a connection that is lost leaves no doubt. The next one raises the writer's fence, which waits for a
commit under way and undoes what comes after, and then reads whether the group is there and what it was told.
Law 4: a process that lives holds a lock that others can see, so that nobody takes its runs from it.
"""

from __future__ import annotations

import asyncio
import logging
import random
from typing import TYPE_CHECKING, Any, Final, NamedTuple
from zlib import crc32

import asyncpg

from condor.core.errors import CondorError, OurBug, StoreUnavailable
from condor.store.postgres_apply import FENCED
from condor.store.postgres_connect import LOST, connect, explained
from condor.store.postgres_reader import BACKOFF_S, PATIENCE_S
from condor.store.postgres_units import APPLY, OF_GROUP, arguments_of, committed_of, heard_of, refusal_of

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from condor.ports.faults import Faults
    from condor.ports.store import Committed, Conflict, Transition
    from condor.store.grouper import Settle, Verdicts
    from condor.store.postgres_connect import Address
    from condor.store.postgres_units import Arguments, Refusal

_log = logging.getLogger(__name__)

#: Times that a group is sent which others are in the way of, or whose connection is lost.
_SENDINGS_MAX: Final = 40
#: Seconds that a group waits whose fate is not known.
_DOUBT_S_MAX: Final = 30.0
#: Seconds, at most, before a group is sent again that others were in the way of.
_YIELD_S_MAX: Final = 0.02

#: Others are in the way; nothing of the group is there, and it may be sent again.
_IN_THE_WAY: Final = (
    asyncpg.DeadlockDetectedError,
    asyncpg.SerializationError,
    asyncpg.UniqueViolationError,
)
#: A unit holds what no column takes; nothing of its group is there. The driver's own word for it, before it
#: sends anything, is a ValueError.
_UNSTORABLE: Final = (
    ValueError,
    asyncpg.DataError,
    asyncpg.IntegrityConstraintViolationError,
    asyncpg.ProgramLimitExceededError,
)

_REGISTER: Final = "INSERT INTO writer (works) VALUES ($1) RETURNING writer_id"
_ALIVE: Final = "SELECT pg_advisory_lock_shared($1, $2)"
_RAISE_FENCE: Final = """INSERT INTO writer (writer_id, fence, works) VALUES ($1, $2, $3)
    ON CONFLICT (writer_id) DO UPDATE SET fence = greatest(writer.fence, $2 - 1) + 1, gone_at = NULL
    RETURNING fence, group_no, told"""
#: Writers whose lock somebody holds.
LIVING: Final = """SELECT objid::bigint::integer FROM pg_locks WHERE locktype = 'advisory' AND granted
    AND objsubid = 2 AND classid::bigint = $1
    AND database = (SELECT oid FROM pg_database WHERE datname = current_database())"""
#: Who is missed for the first time. ``orphaned`` asks for it at each look.
MISS: Final = f"""UPDATE writer SET gone_at = now()
    WHERE gone_at IS NULL AND writer_id > 0 AND writer_id NOT IN ({LIVING})"""
#: A writer that is gone for a day comes back to nothing; its clock stays.
_FORGET: Final = """WITH forgotten AS (
        DELETE FROM writer WHERE gone_at < now() - interval '1 day' RETURNING clock
    )
    UPDATE writer SET clock = greatest(clock, (SELECT max(clock) FROM forgotten))
    WHERE writer_id = 0 AND EXISTS (SELECT FROM forgotten)"""
#: Who leaves is gone at once; nobody need look twice.
_LEAVE: Final = "UPDATE writer SET gone_at = now() - interval '1 minute' WHERE writer_id = $1"


def _one_more(error: StoreUnavailable) -> StoreUnavailable:
    """One for each waiter: an exception that is raised twice tangles its tracebacks."""
    more = StoreUnavailable(str(error))
    more.in_doubt = error.in_doubt
    return more


class _Ready(NamedTuple):
    """A unit that can be sent."""

    place: int
    unit: Transition
    arguments: Arguments


def lock_class(schema: str) -> int:
    """First half of the locks of a schema's writers; no two schemas of a database share it, in practice."""
    return crc32(f"condor writer {schema}".encode()) & 0x7FFF_FFFF


class PostgresWriter:
    """Applies groups, one after the other, until it is closed."""

    def __init__(
        self,
        address: Address,
        faults: Faults,
        look_up: Callable[[Sequence[tuple[Transition, Refusal]]], Awaitable[Sequence[Conflict]]],
        *,
        works: bool = False,
    ) -> None:
        """Not connected yet; ``works``: its process takes jobs."""
        self._address = address
        self._works = works
        self._faults = faults
        self._look_up = look_up
        self._connection: Any = None
        self._statement: Any = None
        self._connecting = asyncio.Lock()
        self._lost = asyncio.Event()
        self._closed = False
        self._keeping: asyncio.Task[None] | None = None
        self._work: asyncio.Task[None] | None = None
        self._fence = 0
        self._group_no = 0
        #: The last group that is there, as the last connection found it, and what its units were told.
        self._found: tuple[int, str] = (0, "")
        self.writer_id = 0
        #: Back ends that ever wrote for this process: what they say is known here.
        self.pids: set[int] = set()

    async def open(self) -> None:
        """Register, and stay connected from here on.

        Raises:
            what the driver raises.
        """
        connection = await connect(self._address)
        try:
            self.writer_id = await connection.fetchval(_REGISTER, self._works)
            await self._use(connection)
            key = lock_class(self._address.schema)
            await connection.execute("BEGIN")
            await connection.execute(MISS.replace("$1", str(key)))
            await connection.execute(_FORGET)
            await connection.execute("COMMIT")
        except BaseException:
            connection.terminate()
            raise
        self._keeping = asyncio.create_task(self._keep(), name="condor-store-connection")

    def hand_over(self, group: Sequence[Transition], settle: Settle) -> None:
        """Apply a group; ``settle`` is called once, when its fate is known."""
        self._work = asyncio.get_running_loop().create_task(self._carry_out(group, settle))

    async def close(self) -> None:
        """Leave; groups are done."""
        self._closed = True
        if self._keeping is not None:
            self._keeping.cancel()
            await asyncio.gather(self._keeping, return_exceptions=True)
        connection, self._connection = self._connection, None
        if connection is None or connection.is_closed():
            return
        try:
            await connection.execute(_LEAVE, self.writer_id)
            await connection.close(timeout=PATIENCE_S)
        except (*LOST, asyncpg.PostgresError):
            connection.terminate()

    # -- groups ------------------------------------------------------------------------------

    async def _carry_out(self, group: Sequence[Transition], settle: Settle) -> None:
        try:
            verdicts = await self._apply(group)
        except BaseException as error:  # noqa: BLE001 - every waiter is told, of a planted crash too
            verdicts = [error] * len(group)
        settle(verdicts)

    async def _apply(self, group: Sequence[Transition]) -> Verdicts:
        """The fate of each unit of a group."""
        verdicts: list[Committed | BaseException | None] = [None] * len(group)
        ready: list[_Ready] = []
        for place, unit in enumerate(group):
            try:
                ready.append(_Ready(place, unit, arguments_of(unit, self.writer_id)))
            except CondorError as error:
                verdicts[place] = error
            except (AttributeError, TypeError, ValueError, LookupError) as error:
                verdicts[place] = OurBug(f"a unit of run {unit.run_id} is malformed: {error!r}")
        ready.sort(key=lambda one: one.unit.run_id)
        refused: list[tuple[int, Transition, Refusal]] = []
        for (place, unit, _), word in zip(ready, await self._settled(ready), strict=True):
            if isinstance(word, BaseException):
                verdicts[place] = word
            elif (committed := committed_of(word)) is not None:
                verdicts[place] = committed
            elif isinstance(why := refusal_of(word, unit), Exception):
                verdicts[place] = why
            else:
                refused.append((place, unit, why))
        if refused:
            conflicts = await self._looked_up([(unit, why) for _, unit, why in refused])
            for (place, _, _), conflict in zip(refused, conflicts, strict=True):
                verdicts[place] = conflict
        # INVARIANT: each unit was ready or was refused above.
        return [verdict for verdict in verdicts if verdict is not None]

    async def _looked_up(self, refused: Sequence[tuple[Transition, Refusal]]) -> Sequence[BaseException]:
        try:
            return await self._look_up(refused)
        except StoreUnavailable as error:
            # Nothing of them is there, and what stood in the way cannot be told.
            return [StoreUnavailable(str(error)) for _ in refused]

    async def _settled(self, ready: Sequence[_Ready]) -> Sequence[str | BaseException]:
        """What each unit was told, or what befell it."""
        if not ready:
            return []
        try:
            return await self._told(ready)
        except _UNSTORABLE as error:
            if len(ready) > 1:
                return [word for one in ready for word in await self._settled([one])]
            return [OurBug(f"a unit of run {ready[0].unit.run_id} cannot be stored: {error!r}")]
        except StoreUnavailable as error:
            return [_one_more(error) for _ in ready]
        except asyncpg.PostgresError as error:
            why = explained(error, self._address)
            return [StoreUnavailable(f"the database did not take the transaction: {why}") for _ in ready]

    async def _told(self, ready: Sequence[_Ready]) -> Sequence[str]:
        """Send a group until it is there or cannot be; what the function said of each unit."""
        for _ in range(_SENDINGS_MAX):
            await self._connected(PATIENCE_S)
            self._group_no += 1
            try:
                return await self._sent(ready)
            except ValueError:
                raise
            except LOST as error:
                self._drop(error)
                if (told := await self._found_out()) is not None:
                    return told
                if isinstance(error, TimeoutError):
                    # It waited for what does not come, and is undone.
                    break
            except _IN_THE_WAY as error:
                if isinstance(error, asyncpg.UniqueViolationError) and len(ready) > 1:
                    raise
                await asyncio.sleep(random.uniform(0, _YIELD_S_MAX))  # noqa: S311 - it breaks a tie
            except asyncpg.PostgresError as error:
                if error.sqlstate != FENCED:
                    raise
                self._drop(error)
        raise StoreUnavailable(
            f"the database at {self._address.name} did not take the transaction; try again"
        )

    async def _sent(self, ready: Sequence[_Ready]) -> Sequence[str]:
        """One round trip: every unit, and the commit."""
        calls = [one.arguments for one in ready]
        for arguments in calls:
            arguments[OF_GROUP:] = self._fence, None, None
        calls[-1][OF_GROUP:] = self._fence, self._group_no, heard_of([one.unit for one in ready])
        self._faults("writer.before-commit")
        rows = await self._statement.fetchmany(calls)
        self._faults("writer.after-commit")
        return [row[0] for row in rows]

    async def _found_out(self) -> Sequence[str] | None:
        """What became of the group whose connection was lost; None where nothing of it is there.

        Raises:
            StoreUnavailable: the database does not come back; whether the group is there is not known.
        """
        try:
            await self._connected(_DOUBT_S_MAX)
        except StoreUnavailable as error:
            unknown = "whether what was under way is stored is not known: look again before repeating it"
            doubt = StoreUnavailable(f"{error}; {unknown}")
            doubt.in_doubt = True
            raise doubt from None
        group_no, told = self._found
        return told.splitlines() if group_no == self._group_no else None

    # -- the connection ----------------------------------------------------------------------

    async def _connected(self, patience_s: float) -> None:
        """Be connected, within so many seconds.

        Raises:
            StoreUnavailable: the database is away.
        """
        if self._connection is not None and not self._connection.is_closed():
            return
        until = asyncio.get_running_loop().time() + patience_s
        pause_s, longest_s = BACKOFF_S
        while True:
            try:
                await self._connect_once()
            except (*LOST, asyncpg.PostgresError) as error:
                if asyncio.get_running_loop().time() + pause_s > until:
                    why = explained(error, self._address)
                    raise StoreUnavailable(f"the database did not take the transaction: {why}") from error
            else:
                return
            await asyncio.sleep(pause_s)
            pause_s = min(pause_s * 2, longest_s)

    async def _connect_once(self) -> None:
        async with self._connecting:
            if self._connection is not None and not self._connection.is_closed():
                return
            connection = await connect(self._address)
            try:
                await self._use(connection)
            except BaseException:
                connection.terminate()
                raise
            _log.info("connected to the database at %s again", self._address.name)

    async def _use(self, connection: Any) -> None:
        """Write over this connection from here on: be seen to live, and overtake the one before."""
        # Plans of the function are made early and kept; none of its statements may walk a table.
        await connection.execute("SET enable_seqscan = off")
        await connection.execute(_ALIVE, lock_class(self._address.schema), self.writer_id)
        raised = await connection.fetchrow(_RAISE_FENCE, self.writer_id, self._fence + 1, self._works)
        self._fence, *found = raised
        self._found = (found[0], found[1])
        self._group_no = max(self._group_no, found[0])
        self._statement = await connection.prepare(APPLY)
        self.pids.add(connection.get_server_pid())
        self._lost.clear()
        self._connection = connection
        connection.add_termination_listener(lambda _: self._lost.set())

    def _drop(self, error: BaseException) -> None:
        """Stop using a connection."""
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.terminate()
        _log.warning("lost the database: %s", explained(error, self._address))

    async def _keep(self) -> None:
        """Come back although nothing is to be written, for others look whether this process lives."""
        while True:
            await self._lost.wait()
            try:
                await self._connected(0.0)
            except StoreUnavailable:
                await asyncio.sleep(BACKOFF_S[1])


__all__ = ["LIVING", "PostgresWriter", "lock_class"]
