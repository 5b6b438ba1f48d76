"""Group commit: units that are ready together go to the writer together.

Law 1: when the writer is idle it gets everything that waits, one turn of the loop later, so that all
who were woken by the last group are in the next (measured: a tenth to a half more throughput). There is
no timer: lingering for company costs a third.
Law 2: the fate of one waiter is its own. A cancelled one does not take its unit back (it may be on
disk already) and does not disturb the others.
Law 3: a writer in another process is kept at work while the loop works: what waits when a group is settled
goes to it before those of the group are woken, and of a group that everybody was in, half are woken a turn
later than the others; so callers fall into crowds that take turns. But only while a group takes no longer
than the loop works for all of them between two of their units. Where a commit is dearer (a slow disk, few
callers) Law 1 stands, for then it is the number of commits that counts. Nothing waits for a crowd that may
not come. Measured on PostgreSQL at 2, 4 and 16 at once: 13, 19 and 14 % more runs a second, at 1 and at 64
no difference to speak of; where a commit takes 6 ms no less, while taking turns whatever it costs lost 7 %.
On SQLite, whose writer is a thread that shares the interpreter with the loop, there was no gain.

Shared by every store; only applying a group belongs to one.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from time import thread_time
from typing import TYPE_CHECKING, Final, TypeAlias

from condor.core.errors import OurBug

if TYPE_CHECKING:
    from condor.ports.store import Committed, Transition

#: What became of each unit of a group, in its order: durable, or why not.
Verdicts: TypeAlias = "Sequence[Committed | BaseException]"
#: Called by the writer, once a group: from any thread, or, where it works elsewhere, from the loop's.
Settle: TypeAlias = Callable[[Verdicts], None]
#: Gives a group to the idle writer; returns at once.
HandOver: TypeAlias = "Callable[[Sequence[Transition], Settle], None]"
#: Who waits, and what each is to be told.
_Told: TypeAlias = "list[tuple[asyncio.Future[Committed], Committed | BaseException]]"

#: Units in one commit: some 50 ms of work, so that the first of a crowd is not told when the last is.
GROUP_UNITS_MAX: Final = 500
#: What the last group counts for in the measure of how much the loop works.
_NEW_SHARE: Final = 0.125


class Grouper:
    """Collects units in the event loop and hands them to one writer, a group at a time."""

    def __init__(
        self, hand_over: HandOver, *, elsewhere: bool = False, worked: Callable[[], float] = thread_time
    ) -> None:
        """Of one writer.

        Args:
            hand_over: gives it a group.
            elsewhere: it works in another process, and settles in the loop's own thread.
            worked: seconds that the calling thread has been at work.
        """
        self._hand_over = hand_over
        self._elsewhere = elsewhere
        self._worked = worked
        self._waiting: list[tuple[Transition, asyncio.Future[Committed]]] = []
        self._busy = False
        self._loop: asyncio.AbstractEventLoop | None = None
        self._idle: asyncio.Event | None = None
        self._sent_at = 0.0
        self._worked_at = 0.0
        #: Seconds that the loop works for one unit.
        self._work_s = 0.0

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
        self._worked_at = self._worked()

    def _turn(self) -> None:
        """Send what waits, or rest."""
        if self._waiting:
            self._send()
            return
        self._busy = False
        if self._idle is not None:
            self._idle.set()
            self._idle = None

    def _send(self) -> None:
        """Give what waits to the writer, which is idle."""
        group, self._waiting = self._waiting[:GROUP_UNITS_MAX], self._waiting[GROUP_UNITS_MAX:]
        loop = self._loop
        assert loop is not None, "a group is sent by the loop that gathered it"
        futures = [future for _, future in group]

        def settle(verdicts: Verdicts) -> None:
            if self._elsewhere:
                # A loop that was closed under the writer's feet has nobody who waits.
                if not loop.is_closed():
                    self._settled(futures, verdicts)
                return
            try:
                loop.call_soon_threadsafe(self._settled, futures, verdicts)
            except RuntimeError:
                # The loop has gone and nobody waits; what is on disk stays there.
                return

        self._sent_at = loop.time()
        self._hand_over([unit for unit, _ in group], settle)

    def _settled(self, futures: Sequence[asyncio.Future[Committed]], verdicts: Verdicts) -> None:
        loop = self._loop
        assert loop is not None, "a group is settled in the loop that gathered it"
        told = list(zip(futures, verdicts, strict=True))
        if not (self._elsewhere and self._is_quick(loop.time(), len(told))):
            self._wake(told)
        elif self._waiting or len(told) == 1:
            self._send_and_wake(told)
        else:
            half = len(told) // 2
            _tell(told[:half])
            loop.call_soon(self._send_and_wake, told[half:])

    def _send_and_wake(self, told: _Told) -> None:
        """Have the writer at work before these are."""
        if self._waiting:
            self._send()
            _tell(told)
        else:
            self._wake(told)

    def _wake(self, told: _Told) -> None:
        """Tell these, and look a turn later what there is to send."""
        assert self._loop is not None, "a group is settled in the loop that gathered it"
        _tell(told)
        self._loop.call_soon(self._turn)

    def _is_quick(self, now: float, units: int) -> bool:
        """Whether the group took no longer than the loop works for its callers and for those who wait."""
        worked = self._worked()
        self._work_s += _NEW_SHARE * ((worked - self._worked_at) / units - self._work_s)
        self._worked_at = worked
        return now - self._sent_at <= self._work_s * (units + len(self._waiting))


def _tell(told: _Told) -> None:
    for future, verdict in told:
        if future.done():
            continue
        if isinstance(verdict, BaseException):
            future.set_exception(verdict)
        else:
            future.set_result(verdict)
