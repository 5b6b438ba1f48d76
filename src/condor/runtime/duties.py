"""What a worker does when its turn comes: the runtime's part of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from condor.ports.dispatcher import WorkerTimes
from condor.runtime.sweeping import SWEPT_MAX

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from condor.config import Settings
    from condor.ports.jobs import JobEnd
    from condor.runtime.runtime import Runtime


class RuntimeDuties:
    """``ports.dispatcher.Duties`` of one runtime."""

    def __init__(self, runtime: Runtime, seal: Callable[[], Awaitable[int]], *, idle_s: float) -> None:
        """Of an open runtime."""
        self._runtime = runtime
        self._seal = seal
        self._idle_s = idle_s

    async def work_on(self, run_id: str, epoch: int | None = None) -> JobEnd:
        """Do a job."""
        return await self._runtime.work_on(run_id, epoch)

    async def pass_on(self, run_id: str, epoch: int) -> bool:
        """Fence off a worker that shows no sign of life."""
        return await self._runtime.pass_on(run_id, epoch)

    async def tend(self) -> None:
        """End what has expired; queue what nobody has."""
        while await self._runtime.sweep() >= SWEPT_MAX:
            pass
        await self._runtime.hand_over_orphans()

    async def sweep_idle(self) -> None:
        """End what nobody can wake."""
        await self._runtime.sweep_idle(self._idle_s)

    async def seal(self) -> None:
        """Seal what is not sealed."""
        await self._seal()

    def leave(self) -> None:
        """Hand everything over."""
        self._runtime.leave()


def times_of(settings: Settings) -> WorkerTimes:
    """How often a worker says and looks."""
    return WorkerTimes(
        heartbeat_s=settings.worker_heartbeat_s,
        stalled_s=settings.worker_stalled_s,
        poll_s=settings.worker_poll_s,
        grace_s=settings.worker_grace_s,
    )


__all__ = ["RuntimeDuties", "times_of"]
