"""Short statements on a small pool: reads, and the writes that are no units.

Law 1: each of them may be done twice without harm, so one whose connection is lost is simply done again, for
as long as a caller can be asked to wait; then the store is unavailable.
Law 2: under a name that cannot be stored nothing is stored.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, Final, TypeVar

import asyncpg

from condor.core.errors import StoreUnavailable
from condor.store.postgres_connect import LOST, explained, made_durable, options

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
    """Runs statements until it is closed."""

    def __init__(self, pool: Any, address: Address) -> None:
        self._pool = pool
        self._address = address
        self._closed = False

    @classmethod
    async def open(cls, address: Address) -> PostgresReader:
        """Make the pool, with one connection."""
        pool = await asyncpg.create_pool(
            address.dsn,
            min_size=1,
            max_size=_CONNECTIONS_MAX,
            init=made_durable,
            reset=_kept,
            **options(address),
        )
        return cls(pool, address)

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
                async with self._pool.acquire(timeout=PATIENCE_S) as connection:
                    return await work(connection)
            except _NO_NAME:
                raise
            except LOST as error:
                if asyncio.get_running_loop().time() + pause_s > until:
                    raise StoreUnavailable(f"{failed}: {explained(error, self._address)}") from error
            except asyncpg.PostgresError as error:
                raise StoreUnavailable(f"{failed}: {explained(error, self._address)}") from error
            await asyncio.sleep(pause_s)
            pause_s = min(pause_s * 2, longest_s)

    async def close(self) -> None:
        """Let open reads end, then close."""
        self._closed = True
        try:
            async with asyncio.timeout(_GRACE_S):
                await self._pool.close()
        except (TimeoutError, *LOST):
            self._pool.terminate()


async def _kept(_: object) -> None:
    """Nothing is left behind on a connection, so nothing is reset: a round trip less for each read."""
