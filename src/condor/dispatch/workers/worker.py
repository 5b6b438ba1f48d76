"""One worker: takes jobs of segments, looks after what nobody else does, and leaves in order.

Law 1: segments and looks have queues and turns of their own, so that long tools hold up no look.
Law 2: a look is a periodic job: of any number of workers one does it; a look that fails is told, and the next
one comes all the same.
Law 3: a job whose worker shows no sign of life is another's.
"""

from __future__ import annotations

import asyncio
import datetime
import logging
from typing import TYPE_CHECKING, Any, Final

from procrastinate import App, BaseRetryStrategy, RetryDecision
from procrastinate.jobs import Status

from condor.core.errors import StoreUnavailable
from condor.dispatch.workers.steady import SteadyJobs, check_reach, connector_of
from condor.ports.jobs import QUEUE, SEGMENT

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from procrastinate import PsycopgConnector
    from procrastinate.jobs import Job

    from condor.ports.dispatcher import Duties, WorkerTimes

_log = logging.getLogger(__name__)

#: The queue of looks, and the one that all others rest on.
LOOKS: Final = "condor-looks"
RETRY_STALLED: Final = "retry-stalled"
#: Looks done at once by one worker: one of each kind, so that none waits for another kind.
_LOOKS_MAX: Final = 5
#: When each look comes, as cron says it; the sixth field is seconds.
_STALLED, _TEND, _SEAL, _IDLE, _OLD = (
    "* * * * * */2",
    "* * * * * */5",
    "* * * * *",
    "*/10 * * * *",
    "17 * * * *",
)
#: Hours that jobs are kept which did not end well; one that did is removed at its end.
_KEPT_H: Final = 24
#: Seconds before a job is done again whose run may have lost its process.
_LATER_S: Final = 2.0
#: Longest such wait where the store takes nothing.
_LATER_S_MAX: Final = 30.0


class LookLater(Exception):
    """The job is neither done nor failed."""


class _Again(BaseRetryStrategy):
    """A job of a segment is done again until there is nothing to do: at first soon, then less often."""

    def get_retry_decision(self, *, exception: BaseException, job: Job) -> RetryDecision:
        wait_s = _LATER_S
        if not isinstance(exception, LookLater):
            wait_s = min(_LATER_S_MAX, 2.0 ** min(job.attempts, 10) / 4)
        return RetryDecision(retry_at=_now() + datetime.timedelta(seconds=wait_s))


async def run_worker(
    duties: Duties,
    dsn: str,
    schema: str,
    *,
    concurrency: int,
    times: WorkerTimes,
    stop: asyncio.Event,
    ready: Callable[[], None] = lambda: None,
) -> None:
    """Work until ``stop`` is set, then leave in order.

    Args:
        dsn: of a PostgreSQL server, as libpq reads it.
        schema: where the jobs are.
        concurrency: runs worked on at once.
        ready: called when jobs are taken.

    Raises:
        HomeUnusable: the jobs cannot be reached.
    """
    await check_reach(dsn, schema)
    # Its own lines tell each job; what a job is about says nothing to people.
    logging.getLogger("procrastinate").setLevel(logging.WARNING)
    connector = connector_of(dsn, schema)
    await connector.open_async()
    try:
        common: dict[str, Any] = {
            "fetch_job_polling_interval": times.poll_s,
            "shutdown_graceful_timeout": times.grace_s,
            "delete_jobs": "always",
            "install_signal_handlers": False,
            "update_heartbeat_interval": times.heartbeat_s,
            "stalled_worker_timeout": times.stalled_s,
        }
        segments = {"queues": [QUEUE], "concurrency": concurrency, "name": "segments"}
        looks = {"queues": [LOOKS], "concurrency": _LOOKS_MAX, "name": "looks"}
        working = [
            asyncio.create_task(_kept(segments_app(connector, duties, stop), {**common, **segments})),
            asyncio.create_task(
                _kept(looks_app(connector, duties, stop, times.stalled_s), {**common, **looks})
            ),
        ]
        try:
            ready()
            await stop.wait()
        finally:
            duties.leave()
            for task in working:
                task.cancel()
            await asyncio.gather(*working, return_exceptions=True)
    finally:
        await connector.close_async()


async def _kept(app: App, options: Mapping[str, Any]) -> None:
    """Run procrastinate's worker; again, if something ends it."""
    while True:
        try:
            await app.run_worker_async(**options)
        except Exception:  # noqa: BLE001 - whatever ended it, there is work to do
            _log.exception("the worker of %s is begun anew", options["name"])
        await asyncio.sleep(1.0)


def segments_app(connector: PsycopgConnector, duties: Duties, stop: asyncio.Event) -> App:
    """The app whose jobs are segments."""
    app = _app(connector, stop)

    @app.task(name=SEGMENT, queue=QUEUE, retry=_Again())
    async def segment(run_id: object = None, epoch: object = None, **_: object) -> None:
        if not isinstance(run_id, str):
            _log.warning("a job that names no run is passed over")
            return
        try:
            end = await duties.work_on(run_id, epoch if isinstance(epoch, int) else None)
        except StoreUnavailable as error:
            raise LookLater from error
        if end == "later":
            raise LookLater

    return app


def looks_app(connector: PsycopgConnector, duties: Duties, stop: asyncio.Event, stalled_s: float) -> App:
    """The app whose jobs are looks."""
    app = _app(connector, stop)

    async def retry_stalled() -> None:
        jobs = app.job_manager
        await jobs.prune_stalled_workers(stalled_s)
        for job in await jobs.get_stalled_jobs(seconds_since_heartbeat=stalled_s):
            if job.id is None:
                continue
            if job.queue == LOOKS or await _passed_on(job, duties):
                # A look comes again by itself; a run has another job.
                await jobs.finish_job_by_id_async(job.id, Status.FAILED, delete_job=True)
            else:
                await jobs.retry_job_by_id_async(job.id, _now())

    async def remove_old() -> None:
        await app.job_manager.delete_old_jobs(
            _KEPT_H, include_failed=True, include_cancelled=True, include_aborted=True
        )

    looks: dict[str, tuple[str, Callable[[], Awaitable[None]]]] = {
        RETRY_STALLED: (_STALLED, retry_stalled),
        "tend": (_TEND, duties.tend),
        "seal": (_SEAL, duties.seal),
        "sweep-idle": (_IDLE, duties.sweep_idle),
        "remove-old-jobs": (_OLD, remove_old),
    }
    for name, (cron, look) in looks.items():
        _add(app, name, cron, look)
    return app


async def _passed_on(job: Job, duties: Duties) -> bool:
    """Whether the run of a worker that shows no sign of life is another's now."""
    run_id, epoch = job.task_kwargs.get("run_id"), job.task_kwargs.get("epoch")
    if not isinstance(run_id, str) or not isinstance(epoch, int):
        return False
    return await duties.pass_on(run_id, epoch)


def _add(app: App, name: str, cron: str, look: Callable[[], Awaitable[None]]) -> None:
    # At most one of a kind waits, and one is at work; the look for workers that are gone waits for none, or
    # one that died at it would never be missed. The names are looks', never runs'.
    lock = None if name == RETRY_STALLED else name

    @app.periodic(cron=cron)
    @app.task(name=name, queue=LOOKS, queueing_lock=name, lock=lock)
    async def looked(timestamp: int) -> None:
        try:
            await look()
        except StoreUnavailable:
            _log.warning("%s: the store takes nothing; the next look comes", name)
        except Exception:  # noqa: BLE001 - a fault of ours in one look costs no later one
            _log.exception("%s failed; the next look comes", name)


def _app(connector: PsycopgConnector, stop: asyncio.Event) -> App:
    app = App(connector=connector)
    app.job_manager = SteadyJobs(connector, stop)
    return app


def _now() -> datetime.datetime:
    return datetime.datetime.now(datetime.UTC)


__all__ = ["LOOKS", "LookLater", "looks_app", "run_worker", "segments_app"]
