"""Tending: what a process looks after for as long as it lives, whoever asks it for what.

Law: a look that fails is told, and the next look happens all the same.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from typing import TYPE_CHECKING, Final, NoReturn

from condor.core.errors import StoreUnavailable
from condor.runtime.sweeping import SWEPT_MAX

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from condor.ports.clock import Clock
    from condor.ports.jobs import Backlog
    from condor.runtime.runtime import Runtime

_log = logging.getLogger(__name__)

#: Seconds between two looks for expired cards and runs that stand still.
TEND_EVERY_S: Final = 5.0
#: Seconds between two looks for parked runs that nobody can wake: every parked run is looked at.
_IDLE_EVERY_S: Final = 600.0
#: Seconds between two looks for what is not sealed: every run is looked at.
SEAL_EVERY_S: Final = 60.0


async def tend(
    runtime: Runtime,
    clock: Clock,
    *,
    idle_s: float,
    refresh: Callable[[], Awaitable[None]] | None = None,
    seal: Callable[[], Awaitable[int]] | None = None,
) -> NoReturn:
    """Sweep, and take up what stands still or was left, until cancelled.

    Args:
        refresh: reads what other processes may have changed.
        seal: seals what is not sealed.
    """
    idle_looked_at = clock.monotonic()
    seal_looked_at = idle_looked_at + SEAL_EVERY_S
    while True:
        await asyncio.sleep(TEND_EVERY_S)
        try:
            while await runtime.sweep() >= SWEPT_MAX:
                pass
            if (now := clock.monotonic()) >= idle_looked_at:
                idle_looked_at = now + _IDLE_EVERY_S
                await runtime.sweep_idle(idle_s)
            await runtime.retry_stranded()
            await runtime.take_up_orphans()
            if refresh is not None:
                await refresh()
            # Last: whoever waits for the others does not wait for it.
            if seal is not None and (now := clock.monotonic()) >= seal_looked_at:
                seal_looked_at = now + SEAL_EVERY_S
                await seal()
        except StoreUnavailable:
            _log.exception("the store takes nothing; looking again in %g s", TEND_EVERY_S)
        except Exception:  # noqa: BLE001 - a fault of ours in one look costs no later one
            _log.exception("a look after the runs failed; looking again in %g s", TEND_EVERY_S)


async def attend(
    *,
    refresh: Callable[[], Awaitable[None]],
    backlog: Callable[[], Awaitable[Backlog]] | None = None,
) -> NoReturn:
    """What is left to look after where workers tend the runs, until cancelled.

    Args:
        refresh: reads what other processes may have changed.
        backlog: says what waits for workers; told in the log while none is there.
    """
    has_workers = True
    while True:
        try:
            if backlog is not None:
                has_workers = _told(await backlog(), has_workers=has_workers)
            await asyncio.sleep(TEND_EVERY_S)
            await refresh()
        except StoreUnavailable:
            _log.warning("the store cannot be read; looking again in %g s", TEND_EVERY_S)
            await asyncio.sleep(TEND_EVERY_S)
        except Exception:  # noqa: BLE001 - a fault of ours in one look costs no later one
            _log.exception("a look after the kernels failed; looking again in %g s", TEND_EVERY_S)
            await asyncio.sleep(TEND_EVERY_S)


def _told(found: Backlog, *, has_workers: bool) -> bool:
    """Say when the last worker has gone, and when the first one is there; whether one is."""
    if not found.workers and has_workers:
        _log.warning("no worker is there: %d runs wait until one is; start `condor worker`", found.waiting)
    if found.workers and not has_workers:
        _log.warning("a worker is there again: %d runs wait for their turn", found.waiting)
    return found.workers > 0


async def cancelled(task: asyncio.Task[NoReturn]) -> None:
    """End a look-after, and wait until it has ended."""
    task.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await task


__all__ = ["SEAL_EVERY_S", "TEND_EVERY_S", "attend", "cancelled", "tend"]
