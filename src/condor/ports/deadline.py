"""Waiting for foreign code: it gets its time and no more, whatever it does with its cancellation.

Law 1: who waits goes on at the deadline. Work that does not end when it is cancelled is abandoned: it runs on
unheard, and its end is logged.
Law 2: a moment is given to unwind, so that what behaves leaves nothing behind.
"""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Awaitable, Collection

_T = TypeVar("_T")
_log = logging.getLogger(__name__)

#: Seconds that cancelled work may take to unwind before it is abandoned.
UNWIND_S = 0.5


class EscapedCancellation(Exception):
    """Foreign code ended with a cancellation that nobody asked for."""


class Stragglers:
    """Abandoned work, each with what it was about, while it runs on."""

    def __init__(self) -> None:
        """None yet."""
        self._about: dict[asyncio.Future[Any], str] = {}

    def __contains__(self, about: str) -> bool:
        return about in self._about.values()

    async def within(self, work: Awaitable[_T], seconds: float, about: str) -> _T:
        """What the work comes to in its time.

        Args:
            about: names it in the log and to ``in``.

        Raises:
            TimeoutError: its time is over.
            asyncio.CancelledError: the caller was cancelled.
            EscapedCancellation: the work let a cancellation of its own escape.
            Exception: what the work raised; SystemExit too.
        """
        loop = asyncio.get_running_loop()
        told: asyncio.Future[_T] = loop.create_future()
        task = loop.create_task(_tell(work, told), name=about)
        deadline = loop.call_later(seconds, _over, told)
        try:
            return await told
        except (TimeoutError, asyncio.CancelledError):
            if not task.done():
                await self.leave({task}, about)
            raise
        finally:
            deadline.cancel()

    async def leave(self, tasks: Collection[asyncio.Future[Any]], about: str) -> None:
        """Cancel, wait a moment, and abandon what does not end."""
        for task in tasks:
            task.cancel()
        _, left = await asyncio.wait(tasks, timeout=UNWIND_S)
        for task in left:
            _log.warning("%s does not end although it was cancelled; it is abandoned", about)
            self._about[task] = about
            # A loop that closes waits for every task that it knows, also for one that never ends.
            asyncio.tasks._unregister_task(task)  # type: ignore[arg-type]  # noqa: SLF001 - made for this
            task.add_done_callback(self._ended)
        for task in set(tasks) - left:
            _hear(task)

    def _ended(self, task: asyncio.Future[Any]) -> None:
        about = self._about.pop(task)
        _hear(task)
        _log.warning("%s has ended after it was abandoned; what came of it is not looked at", about)


def _hear(task: asyncio.Future[Any]) -> None:
    """Take the exception of work that nobody waits for, so that the loop does not complain of it."""
    if not task.cancelled():
        task.exception()


async def _tell(work: Awaitable[_T], told: asyncio.Future[_T]) -> None:
    """Say what the work came to, unless it is too late; a task of its own must not raise SystemExit."""
    try:
        value = await work
    except asyncio.CancelledError:
        task = asyncio.current_task()
        if task is None or task.cancelling():
            raise
        if not told.done():
            told.set_exception(EscapedCancellation())
    except (Exception, SystemExit) as error:  # noqa: BLE001 - every way it can end is told
        if not told.done():
            told.set_exception(error)
    else:
        if not told.done():
            told.set_result(value)


def _over(told: asyncio.Future[Any]) -> None:
    if not told.done():
        told.set_exception(TimeoutError())


__all__ = ["UNWIND_S", "EscapedCancellation", "Stragglers"]
