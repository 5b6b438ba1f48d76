"""Whole runs: those that are asked for in one turn of the loop are read by one statement.

Law 1: the statement is sent after its callers asked, so that no moment is before a question.
Law 2: the fate of one caller is its own: who is cancelled, names no run, or asks for one that cannot be read,
does not disturb others. A statement that is refused is asked again for each run by itself.

A round trip costs the event loop four times what a run does that comes with it (measured: 65 µs for a run
alone, 17 for each of eight together).
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import asyncpg

from condor.core.errors import StoreUnavailable
from condor.ports.store import StoredRun
from condor.store.postgres_connect import LOST
from condor.store.postgres_queries import LOAD, LOAD_EACH
from condor.store.sqlite_rows import run_of, step_of, suspension_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from condor.store.postgres_reader import PostgresReader

    #: A row of ``LOAD``; None where there is no such run.
    Row: TypeAlias = Sequence[Any] | None
    #: A run, and who is to be told.
    _Asked: TypeAlias = tuple[str, asyncio.Future[Row]]

#: Runs in one statement, so that the first of a crowd does not wait for the last: some 2 ms.
_RUNS_A_READ: Final = 32


class Loads:
    """Gathers what is asked for."""

    def __init__(self, reader: PostgresReader) -> None:
        self._reader = reader
        #: Who joined the first that asked, while it waits for them; None: nobody has asked yet.
        self._joined: list[_Asked] | None = None
        #: Held, or the garbage collector may take one that is under way.
        self._reading: set[asyncio.Task[None]] = set()

    async def load(self, run_id: str) -> StoredRun | None:
        """A run with all that belongs to it, as of one moment.

        Raises:
            StoreUnavailable: the database is away, or refuses.
        """
        if not (isinstance(run_id, str) and run_id.isascii() and run_id.isprintable()):
            # It names no run, and may be none of what the driver takes.
            row = await self._alone(run_id)
        elif self._joined is None:
            row = await self._first(run_id)
        else:
            told: asyncio.Future[Row] = asyncio.get_running_loop().create_future()
            self._joined.append((run_id, told))
            row = await told
        return whole(row) if row is not None else None

    async def _alone(self, run_id: str) -> Row:
        return next(iter(await self._reader.rows(LOAD, run_id)), None)

    async def _first(self, run_id: str) -> Row:
        """Ask with those who join within a turn."""
        joined = self._joined = []
        try:
            await asyncio.sleep(0)
        except asyncio.CancelledError:
            self._begin(joined)
            raise
        finally:
            self._joined = None
        if not joined:
            return await self._alone(run_id)
        told: asyncio.Future[Row] = asyncio.get_running_loop().create_future()
        self._begin([(run_id, told), *joined])
        return await told

    def _begin(self, asked: Sequence[_Asked]) -> None:
        for first in range(0, len(asked), _RUNS_A_READ):
            task = asyncio.create_task(self._read(asked[first : first + _RUNS_A_READ]))
            self._reading.add(task)
            task.add_done_callback(self._reading.discard)

    async def _read(self, asked: Sequence[_Asked]) -> None:
        try:
            rows = await self._reader.rows(LOAD_EACH, [run_id for run_id, _ in asked])
        except Exception as error:  # noqa: BLE001 - whoever asked is told
            for run_id, told in asked:
                if _is_refused(error):
                    await self._tell_alone(run_id, told)
                elif not told.done():
                    # One for each: an exception that is raised twice tangles its tracebacks.
                    away = isinstance(error, StoreUnavailable)
                    told.set_exception(StoreUnavailable(str(error)) if away else error)
            return
        except BaseException:
            for _, told in asked:
                told.cancel()
            raise
        found = {row[0]: row for row in rows}
        for run_id, told in asked:
            if not told.done():
                told.set_result(found.get(run_id))

    async def _tell_alone(self, run_id: str, told: asyncio.Future[Row]) -> None:
        try:
            row = await self._alone(run_id)
        except Exception as error:  # noqa: BLE001 - whoever asked is told
            if not told.done():
                told.set_exception(error)
        else:
            if not told.done():
                told.set_result(row)


def _is_refused(error: Exception) -> bool:
    """Whether the database is there, and did not do it: one of the runs may be to blame."""
    return isinstance(error.__cause__, asyncpg.PostgresError) and not isinstance(error.__cause__, LOST)


def whole(row: Sequence[Any]) -> StoredRun:
    """A row of ``LOAD``."""
    *run, steps, cards, payloads = row
    return StoredRun(
        run=run_of(tuple(run)),
        steps=[step_of(step, run[0]) for step in steps],
        suspensions=[suspension_of(card) for card in cards],
        payloads=dict(payloads),
    )
