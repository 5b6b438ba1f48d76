"""The sweep ends cards whose time is over and parked runs that nobody can wake, and says why.

Law 1: every end is a compare-and-set like any answer; of an answer and the sweep one wins.
Law 2: a sweep is bounded, and one run that cannot be ended keeps no other from its end.
Law 3: a live card outlives any idle limit.
"""

from __future__ import annotations

import asyncio
import datetime
import logging
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Final

from condor.core.errors import RecordDamaged
from condor.ports.clock import timestamp
from condor.pump.phases.halt import end_idle, expire

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, Mapping

    from condor.core.ids import RunId
    from condor.ports.store import SuspensionRow
    from condor.pump.ports import PumpPorts

_log = logging.getLogger(__name__)

#: Runs that one sweep ends: about a second of work; the next sweep goes on.
SWEPT_MAX: Final = 1_000
#: Runs that are ended side by side, so that they share commits.
_TOGETHER: Final = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class Swept:
    """How many runs a sweep has ended."""

    #: Because a card of theirs was not answered in time.
    expired: int = 0
    #: Because they were parked without an open card for longer than the idle limit.
    idle: int = 0

    def __add__(self, other: Swept) -> Swept:
        """Both together."""
        return Swept(expired=self.expired + other.expired, idle=self.idle + other.idle)


class Sweeper:
    """Ends what nobody will answer any more."""

    def __init__(self, ports: PumpPorts, wake: Callable[[str], None]) -> None:
        """Nothing is swept yet.

        Args:
            wake: told of each run that was ended while it is worked on here.
        """
        self._ports = ports
        self._wake = wake
        #: Runs whose records something else has written over; told once, and left to people.
        self._damaged: set[str] = set()

    async def expired(self) -> int:
        """End the runs of cards whose time is over, the longest over first. How many there were."""
        swept, passed = 0, set(self._damaged)
        while swept < SWEPT_MAX:
            rows = await self._ports.store.due(self._ports.at(), limit=_TOGETHER + len(passed))
            # One card ends its run; the others of the run are withdrawn with it.
            fresh = {row.run_id: row for row in reversed(rows) if row.run_id not in passed}
            if not fresh:
                break
            ended = await self._each(fresh, partial(self._expire, fresh))
            swept += len(ended)
            # Answered meanwhile, or damaged; what is not passed over comes first again.
            passed |= fresh.keys() - ended
        return swept

    async def idle(self, idle_s: float) -> int:
        """End parked runs that no open card holds and that nothing has touched for so long. How many."""
        before = self._ports.clock.now() - datetime.timedelta(seconds=idle_s)
        found = await self._ports.store.idle(timestamp(before), limit=SWEPT_MAX)
        swept = 0
        for first in range(0, len(found), _TOGETHER):
            together = found[first : first + _TOGETHER]
            swept += len(await self._each(together, lambda run_id: end_idle(run_id, idle_s, self._ports)))
        return swept

    async def _expire(self, due: Mapping[RunId, SuspensionRow], run_id: RunId) -> bool:
        return await expire(due[run_id], self._ports)

    async def _each(self, run_ids: Iterable[RunId], end: _End) -> set[RunId]:
        """Which of them were ended."""
        asked = list(run_ids)
        ended = await asyncio.gather(*[self._one(run_id, end) for run_id in asked])
        return {run_id for run_id, done in zip(asked, ended, strict=True) if done}

    async def _one(self, run_id: RunId, end: _End) -> bool:
        try:
            ended = await end(run_id)
        except RecordDamaged:
            if run_id not in self._damaged:
                _log.exception("run %s cannot be swept", run_id)
                self._damaged.add(run_id)
            return False
        if ended:
            self._wake(run_id)
        return ended


if TYPE_CHECKING:
    _End = Callable[[RunId], Awaitable[bool]]

__all__ = ["SWEPT_MAX", "Sweeper", "Swept"]
