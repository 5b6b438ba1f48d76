"""Procrastinate's own reading and writing of jobs, for which a lost connection is no reason to stop.

Law: nothing here decides about a run. What is not written down of a job (that it was fetched, that it ended)
is done again, and then finds that there is nothing to do.
"""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

import psycopg
from procrastinate import PsycopgConnector
from procrastinate.exceptions import ConnectorException
from procrastinate.manager import JobManager
from psycopg_pool import AsyncConnectionPool

from condor.core.errors import HomeUnusable

if TYPE_CHECKING:
    import datetime
    from collections.abc import Iterable

    from procrastinate.jobs import Job, Status
    from procrastinate.manager import NotificationCallback

_log = logging.getLogger(__name__)

#: Connections of a worker for jobs, beside those that listen: jobs are fetched one by one and end together.
_CONNECTIONS_MAX: Final = 4
#: Seconds that a server has to take a connection, and that a statement waits for one.
_CONNECT_S_MAX: Final = 5
#: Seconds before a database that is away is looked for again.
_AGAIN_S: Final = 1.0
#: Seconds of attempts to connect, ever longer apart, before they begin anew.
_RECONNECT_S: Final = 3.0


async def check_reach(dsn: str, schema: str) -> None:
    """Connect once as jobs are reached.

    Raises:
        HomeUnusable: libpq reads the address differently, or is not let in.
    """
    try:
        connection = await psycopg.AsyncConnection.connect(dsn, **_options(schema))
    except psycopg.Error as error:
        said = str(error).strip().partition("\n")[0]
        password = urlsplit(dsn).password
        if password and password in said:
            said = type(error).__name__
        raise HomeUnusable(
            f"the database answers, but not where jobs are read: {said}; "
            "write CONDOR_DATABASE_URL as libpq reads it, without settings of the server"
        ) from None
    await connection.close()


def connector_of(dsn: str, schema: str) -> PsycopgConnector:
    """How jobs are reached; nothing is connected yet.

    What a power cut takes back of them is done again, so their commits wait for no disk; the commit that
    queues a job is the unit's own, and does.
    """
    return PsycopgConnector(
        conninfo=dsn,
        pool_factory=_pool,
        min_size=1,
        max_size=_CONNECTIONS_MAX,
        timeout=_CONNECT_S_MAX,
        # Given up soon and begun anew, so that it waits no longer between two attempts.
        reconnect_timeout=_RECONNECT_S,
        configure=_autocommit,
        kwargs=_options(schema),
    )


def _options(schema: str) -> dict[str, Any]:
    """Of a connection that reads and writes jobs."""
    return {
        "application_name": "condor worker",
        "connect_timeout": _CONNECT_S_MAX,
        "options": f"-c search_path={schema} -c synchronous_commit=off -c jit=off",
        "keepalives_idle": 4,
        "keepalives_interval": 2,
        "keepalives_count": 3,
    }


async def _autocommit(connection: psycopg.AsyncConnection[Any]) -> None:
    """Each statement of procrastinate's stands for itself: one round trip."""
    await connection.set_autocommit(True)


def _pool(**options: Any) -> AsyncConnectionPool:
    """A pool that does not try a connection before each use: what fails is done again anyway."""
    return AsyncConnectionPool(**{**options, "check": None})


class SteadyJobs(JobManager):
    """Procrastinate's manager, told to go on."""

    def __init__(self, connector: PsycopgConnector, stop: asyncio.Event) -> None:
        """Of an app's connector; after ``stop`` nothing is tried again."""
        super().__init__(connector)
        self._stop = stop
        #: Notifications so far.
        self._heard = 0

    async def fetch_job(self, queues: Iterable[str] | None, worker_id: int) -> Job | None:
        """The next job; None where there is none, or the database is away.

        What is queued while a fetch comes back empty-handed is told before the fetch ends: it is looked for
        again, else it would wait for the next poll.
        """
        while True:
            heard = self._heard
            try:
                job = await super().fetch_job(queues, worker_id)
            except ConnectorException as error:
                if not _is_lost(error):
                    raise
                _log.warning("no jobs are fetched: the database is away")
                await asyncio.sleep(_AGAIN_S)
                return None
            if job is not None or heard == self._heard:
                return job

    async def listen_for_jobs(
        self, *, on_notification: NotificationCallback, queues: Iterable[str] | None = None
    ) -> None:
        """Hear of jobs until cancelled."""

        async def heard(*, channel: str, notification: Any) -> None:
            self._heard += 1
            await on_notification(channel=channel, notification=notification)

        while True:
            try:
                await super().listen_for_jobs(on_notification=heard, queues=queues)
            except (ConnectorException, psycopg.Error) as error:
                if not _is_lost(error):
                    raise
                await asyncio.sleep(_AGAIN_S)

    async def update_heartbeat(self, worker_id: int) -> None:
        """Show a sign of life, if the database can see it."""
        try:
            await super().update_heartbeat(worker_id)
        except ConnectorException as error:
            if not _is_lost(error):
                raise

    async def defer_periodic_job(self, job: Job, periodic_id: str, defer_timestamp: int) -> int | None:
        """Queue a look; None where another worker did, or the database is away: the next one comes."""
        try:
            return await super().defer_periodic_job(job, periodic_id, defer_timestamp)
        except ConnectorException as error:
            if not _is_lost(error):
                raise
            return None

    async def finish_job_by_id_async(self, job_id: int, status: Status, delete_job: bool) -> None:  # noqa: FBT001
        """Write down that a job ended."""
        await self._written(
            lambda: super(SteadyJobs, self).finish_job_by_id_async(job_id, status, delete_job)
        )

    async def retry_job_by_id_async(
        self,
        job_id: int,
        retry_at: datetime.datetime | None,
        priority: int | None = None,
        queue: str | None = None,
        lock: str | None = None,
    ) -> None:
        """Write down that a job is to be done again."""
        again: Any = super().retry_job_by_id_async
        await self._written(lambda: again(job_id, retry_at, priority, queue, lock))

    async def _written(self, write: Any) -> None:
        """Write until it is there: a job of a worker that lives is nobody else's until then."""
        while True:
            try:
                await write()
            except ConnectorException as error:
                if not _is_lost(error):
                    # It was taken for stalled: another worker has it, or it is gone.
                    _log.info("a job was another's meanwhile")
                    return
                if self._stop.is_set():
                    return
                await asyncio.sleep(_AGAIN_S)
            else:
                return


def _is_lost(error: BaseException) -> bool:
    """Whether it is the connection that failed."""
    cause = error if isinstance(error, psycopg.Error) else error.__cause__
    return isinstance(cause, psycopg.OperationalError | psycopg.InterfaceError)


__all__ = ["SteadyJobs", "check_reach", "connector_of"]
