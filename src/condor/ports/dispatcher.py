"""The dispatcher port: where the segments of runs are worked on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from condor.core.values import dataclass

if TYPE_CHECKING:
    from collections.abc import Coroutine

    from condor.ports.jobs import JobEnd


class Dispatcher(Protocol):
    """Starts work and forgets it: the store alone is the truth, a lost job changes nothing."""

    def dispatch(self, name: str, work: Coroutine[Any, Any, None]) -> None:
        """Begin ``work`` soon; it handles its own errors."""
        ...

    async def drain(self, grace_s: float) -> None:
        """Wait for work to finish, at most ``grace_s`` seconds, then cancel the rest."""
        ...


class Duties(Protocol):
    """What a worker does when its turn comes; each of them may be done twice without harm."""

    async def work_on(self, run_id: str, epoch: int | None = None) -> JobEnd:
        """Do a job: work on a run, if nobody else does, until it rests.

        Args:
            epoch: of the run when the job was queued; None: it does not say.

        Raises:
            StoreUnavailable: it is to be done again.
        """
        ...

    async def pass_on(self, run_id: str, epoch: int) -> bool:
        """The worker of a job shows no sign of life: its run is another's. False: the job is as well."""
        ...

    async def tend(self) -> None:
        """End the runs of expired cards, and queue those whose process or job is gone."""
        ...

    async def sweep_idle(self) -> None:
        """End parked runs that nobody can wake."""
        ...

    async def seal(self) -> None:
        """Seal what is not sealed."""
        ...

    def leave(self) -> None:
        """Begin nothing new; runs are handed over as soon as what is in flight has finished."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerTimes:
    """How often a worker says and looks, in seconds."""

    #: Between two signs of life.
    heartbeat_s: float
    #: Without one, after which its jobs are another's.
    stalled_s: float
    #: Between two looks for jobs of which no notification came.
    poll_s: float
    #: That runs have when it stops; then they are cancelled and handed over.
    grace_s: float
