"""Short statements on a small pool: reads, and the writes that are no units.

Law 1: each of them may be done twice without harm, so one whose connection is lost is simply done again, for
as long as a caller can be asked to wait; then the store is unavailable.
Law 2: under a name that cannot be stored nothing is stored.
"""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING, Any, Final, TypeVar

import asyncpg

from condor.core.errors import StoreUnavailable
from condor.store.postgres_connect import LOST, connect, explained

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from condor.store.postgres_connect import Address

_T = TypeVar("_T")

#: Connections that read: more only wait for the same processors.
_CONNECTIONS_MAX: Final = 4
#: Seconds that a caller waits for a database that is not there.
PATIENCE_S: Final = 2.0
#: Seconds before the first attempt to come back; doubled up to the last.
BACKOFF_S: Final = (0.02, 1.0)
#: Seconds that open reads have when the store is closed.
_GRACE_S: Final = 5.0

#: The driver's word for what it cannot encode, and the server's for a NUL.
_NO_NAME: Final = (ValueError, asyncpg.CharacterNotInRepertoireError)


class PostgresReader:
    """Runs statements until it is closed.

    A few connections and no pool of the driver's: its bookkeeping, a task for each release among it, costs a
    short read as much as the read.
    """

    def __init__(self, address: Address) -> None:
        self._address = address
        self._free = asyncio.Semaphore(_CONNECTIONS_MAX)
        #: The one that was used last is used next: its statements are prepared.
        self._idle: list[Any] = []
        self._closed = False

    @classmethod
    async def open(cls, address: Address) -> PostgresReader:
        """Make the first connection.

        Raises:
            what the driver raises.
        """
        reader = cls(address)
        reader._idle.append(await connect(address))
        return reader

    async def rows(self, query: str, *values: object) -> Sequence[Any]:
        """The rows of one statement, which sees one moment."""
        try:
            found: Sequence[Any] = await self.run(lambda connection: connection.fetch(query, *values))
        except _NO_NAME:
            return ()
        return found

    async def run(
        self, work: Callable[[Any], Awaitable[_T]], failed: str = "the database cannot be read"
    ) -> _T:
        """Do something with a connection; again, if the connection is lost.

        Raises:
            StoreUnavailable: the database is away, or refuses.
        """
        until = asyncio.get_running_loop().time() + PATIENCE_S
        pause_s, longest_s = BACKOFF_S
        while True:
            if self._closed:
                raise StoreUnavailable("the store is closed")
            try:
                return await self._once(work)
            except _NO_NAME:
                raise
            except LOST as error:
                if asyncio.get_running_loop().time() + pause_s > until:
                    raise StoreUnavailable(f"{failed}: {explained(error, self._address)}") from error
            except asyncpg.PostgresError as error:
                raise StoreUnavailable(f"{failed}: {explained(error, self._address)}") from error
            await asyncio.sleep(pause_s)
            pause_s = min(pause_s * 2, longest_s)

    async def _once(self, work: Callable[[Any], Awaitable[_T]]) -> _T:
        async with self._free:
            connection = self._still_open() or await connect(self._address)
            try:
                return await work(connection)
            finally:
                if self._closed:
                    connection.terminate()
                elif not connection.is_closed():
                    self._idle.append(connection)

    def _still_open(self) -> Any:
        """An idle connection; None where there is none."""
        while self._idle:
            connection = self._idle.pop()
            if not connection.is_closed():
                return connection
        return None

    async def close(self) -> None:
        """Let open reads end, then close."""
        self._closed = True
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_GRACE_S):
                for _ in range(_CONNECTIONS_MAX):
                    await self._free.acquire()
        while self._idle:
            with contextlib.suppress(*LOST, asyncpg.PostgresError):
                await self._idle.pop().close(timeout=PATIENCE_S)
