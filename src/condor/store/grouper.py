"""Group commit: units that are ready together go to the writer together.

Law 1: when the writer is idle it gets everything that waits, one turn of the loop later, so that all
who were woken by the last group are in the next (measured: a tenth to a half more throughput). There is
no timer: lingering for company costs a third.
Law 2: the fate of one waiter is its own. A cancelled one does not take its unit back (it may be on
disk already) and does not disturb the others.

Shared by every store; only applying a group belongs to one.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final, TypeAlias

from condor.core.errors import OurBug

if TYPE_CHECKING:
    from condor.ports.store import Committed, Transition

#: What became of each unit of a group, in its order: durable, or why not.
Verdicts: TypeAlias = "Sequence[Committed | BaseException]"
#: Called by the writer, from any thread, once a group.
Settle: TypeAlias = Callable[[Verdicts], None]
#: Gives a group to the idle writer; returns at once.
HandOver: TypeAlias = "Callable[[Sequence[Transition], Settle], None]"

#: Units in one commit: some 50 ms of work, so that the first of a crowd is not told when the last is.
GROUP_UNITS_MAX: Final = 500


class Grouper:
    """Collects units in the event loop and hands them to one writer, a group at a time."""

    def __init__(self, hand_over: HandOver) -> None:
        self._hand_over = hand_over
        self._waiting: list[tuple[Transition, asyncio.Future[Committed]]] = []
        self._busy = False
        self._loop: asyncio.AbstractEventLoop | None = None
        self._idle: asyncio.Event | None = None

    def submit(self, unit: Transition) -> asyncio.Future[Committed]:
        """Hand in one unit; units are applied in the order in which they were handed in."""
        loop = asyncio.get_running_loop()
        if loop is not self._loop:
            self._move_to(loop)
        future: asyncio.Future[Committed] = loop.create_future()
        self._waiting.append((unit, future))
        if not self._busy:
            self._busy = True
            loop.call_soon(self._turn)
        return future

    async def drained(self) -> None:
        """Until everything that was handed in is settled."""
        if self._loop is not asyncio.get_running_loop():
            return
        while self._busy:
            self._idle = self._idle or asyncio.Event()
            await self._idle.wait()

    def _move_to(self, loop: asyncio.AbstractEventLoop) -> None:
        """A store may outlive its loop (a command after another one), but never serves two."""
        if self._busy and self._loop is not None and not self._loop.is_closed():
            raise OurBug("a store serves one event loop at a time")
        self._loop, self._busy, self._idle = loop, False, None
        self._waiting = []

    def _turn(self) -> None:
        """Send what waits, or rest."""
        if not self._waiting:
            self._busy = False
            if self._idle is not None:
                self._idle.set()
                self._idle = None
            return
        group, self._waiting = self._waiting[:GROUP_UNITS_MAX], self._waiting[GROUP_UNITS_MAX:]
        loop = self._loop
        assert loop is not None, "a group is sent by the loop that gathered it"
        futures = [future for _, future in group]

        def settle(verdicts: Verdicts) -> None:
            try:
                loop.call_soon_threadsafe(self._settled, futures, verdicts)
            except RuntimeError:
                # The loop has gone and nobody waits; what is on disk stays there.
                return

        self._hand_over([unit for unit, _ in group], settle)

    def _settled(self, futures: Sequence[asyncio.Future[Committed]], verdicts: Verdicts) -> None:
        for future, verdict in zip(futures, verdicts, strict=True):
            if future.done():
                continue
            if isinstance(verdict, BaseException):
                future.set_exception(verdict)
            else:
                future.set_result(verdict)
        asyncio.get_running_loop().call_soon(self._turn)
