"""Hears what other processes commit, by NOTIFY; nobody polls.

Law 1: what was said while the connection was lost is looked up in the log when it is back, from a moment
before the last that was heard of: clocks of processes differ.
Law 2: what this process committed itself is not told again.
"""

from __future__ import annotations

import asyncio
import datetime
import logging
from typing import TYPE_CHECKING, Any, Final

import asyncpg

from condor.ports.clock import timestamp
from condor.store.postgres_apply import CHANNEL
from condor.store.postgres_connect import LOST, connect, explained
from condor.store.postgres_reader import BACKOFF_S

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Sequence

    from condor.store.postgres_connect import Address

_log = logging.getLogger(__name__)

#: Seconds that the clocks of two processes may be apart.
_CLOCKS_APART_S: Final = 60.0
#: Runs that are looked at again at once; whoever missed more reads the lists anew.
_MISSED_MAX: Final = 10_000

_LATEST: Final = "SELECT max(clock) FROM writer"
_MISSED: Final = "SELECT DISTINCT run_id FROM event WHERE at >= $1 LIMIT $2"


class PostgresListener:
    """A connection that listens until it is closed."""

    def __init__(
        self, address: Address, own: Container[int], heard: Callable[[Sequence[str] | None], None]
    ) -> None:
        """Nothing is heard before ``open``.

        Args:
            own: process ids of back ends whose words are known here.
            heard: called with the runs that something was committed of; with None where that is not known,
                and anything may have been.
        """
        self._address = address
        self._own = own
        self._heard = heard
        self._latest = ""
        self._connection: Any = None
        self._lost = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    async def open(self) -> None:
        """Listen from here on.

        Raises:
            what the driver raises.
        """
        await self._listen()
        self._task = asyncio.create_task(self._keep(), name="condor-store-listener")

    async def close(self) -> None:
        """Listen no more."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
        if self._connection is not None:
            self._connection.terminate()

    async def _keep(self) -> None:
        pause_s, longest_s = BACKOFF_S
        while True:
            await self._lost.wait()
            try:
                await self._listen()
                await self._catch_up()
            except (*LOST, asyncpg.PostgresError) as error:
                _log.warning("hears nothing of the database: %s", explained(error, self._address))
                await asyncio.sleep(pause_s)
                pause_s = min(pause_s * 2, longest_s)
            else:
                pause_s = BACKOFF_S[0]

    async def _listen(self) -> None:
        connection = await connect(self._address)
        try:
            await connection.add_listener(CHANNEL, self._said)
            if not self._latest:
                self._latest = await connection.fetchval(_LATEST) or ""
        except BaseException:
            connection.terminate()
            raise
        self._lost.clear()
        self._connection = connection
        connection.add_termination_listener(lambda _: self._lost.set())

    async def _catch_up(self) -> None:
        """Tell what was said while nobody listened."""
        self._heard(None)
        since = _before(self._latest)
        missed = await self._connection.fetch(_MISSED, since, _MISSED_MAX)
        self._heard([run_id for (run_id,) in missed])

    def _said(self, _connection: object, pid: int, _channel: str, payload: object) -> None:
        at, *run_ids = str(payload).split(" ")
        self._latest = max(self._latest, at)
        if pid not in self._own:
            self._heard(run_ids)


def _before(at: str) -> str:
    """The time from which on somebody may have written what was not heard; all time where none is known."""
    try:
        moment = datetime.datetime.fromisoformat(at)
    except ValueError:
        return ""
    return timestamp(moment - datetime.timedelta(seconds=_CLOCKS_APART_S))
