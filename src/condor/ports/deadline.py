"""Waiting for foreign code: it gets its time and no more, whatever it does with its cancellation.

Law 1: who waits goes on at the deadline. Work that does not end when it is cancelled is abandoned: it runs on
unheard, and its end is logged.
Law 2: a moment is given to unwind, so that what behaves leaves nothing behind.
Law 3: whatever foreign code raises is an ``Exception`` here. It ends no process, and is no silence.
"""

from __future__ import annotations

import asyncio
import logging
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Collection, Iterator

_T = TypeVar("_T")
_log = logging.getLogger(__name__)

#: Seconds that cancelled work may take to unwind before it is abandoned.
UNWIND_S = 0.5


class OutOfTime(TimeoutError):
    """The time that was given is over; a ``TimeoutError`` of the work's own is another."""


class EscapedCancellation(Exception):
    """Foreign code ended with a cancellation that nobody asked for."""

    def __init__(self) -> None:
        """Say so."""
        super().__init__("it was cancelled, and not by Condor")


class EscapedExit(Exception):
    """Foreign code raised what is no ``Exception``: SystemExit, KeyboardInterrupt, a BaseException."""

    def __init__(self, raised: BaseException) -> None:
        """Keep what it raised."""
        super().__init__(type(raised).__name__)
        self.raised = raised


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
            OutOfTime: its time is over.
            asyncio.CancelledError: the caller was cancelled.
            EscapedCancellation: the work let a cancellation of its own escape.
            EscapedExit: the work raised what is no ``Exception``.
            Exception: what the work raised.
        """
        loop = asyncio.get_running_loop()
        told: asyncio.Future[_T] = loop.create_future()
        stint = _Stint(self, told, seconds, about)
        token = _STINT.set(stint)
        task = loop.create_task(_tell(work, told), name=about)
        _STINT.reset(token)
        try:
            return await told
        except (OutOfTime, asyncio.CancelledError):
            if not task.done():
                await self.leave({task}, about)
            raise
        finally:
            stint.deadline.cancel()

    async def leave(self, tasks: Collection[asyncio.Future[Any]], about: str) -> None:
        """Cancel, wait a moment, and abandon what does not end."""
        for task in tasks:
            task.cancel()
        _, left = await asyncio.wait(tasks, timeout=UNWIND_S)
        for task in left:
            # A loop that closes waits for every task that it knows, also for one that never ends.
            asyncio.tasks._unregister_task(task)  # type: ignore[arg-type]  # noqa: SLF001 - made for this
            self.abandon(task, about)
        for task in set(tasks) - left:
            _hear(task)

    def abandon(self, work: asyncio.Future[Any], about: str) -> None:
        """Go on without work that does not end."""
        _log.warning("%s does not end although it was cancelled; it is abandoned", about)
        self._about[work] = about
        work.add_done_callback(self._ended)

    def _ended(self, work: asyncio.Future[Any]) -> None:
        about = self._about.pop(work)
        _hear(work)
        _log.warning("%s has ended after it was abandoned; what came of it is not looked at", about)


class _Stint:
    """Work that is being waited for, as code deep inside of it finds it."""

    __slots__ = ("_about", "_loop", "_stragglers", "_told", "deadline")

    def __init__(self, stragglers: Stragglers, told: asyncio.Future[Any], seconds: float, about: str) -> None:
        self._stragglers, self._told, self._about = stragglers, told, about
        self._loop = told.get_loop()
        self.deadline = self._loop.call_later(seconds, _over, told)

    @contextmanager
    def stopped(self) -> Iterator[None]:
        left = self.deadline.when() - self._loop.time()
        self.deadline.cancel()
        try:
            yield
        finally:
            if not self._told.done():
                self.deadline = self._loop.call_later(max(0.0, left), _over, self._told)

    def abandon(self, work: asyncio.Future[Any]) -> None:
        self._stragglers.abandon(work, self._about)


_STINT: ContextVar[_Stint | None] = ContextVar("stint", default=None)


@contextmanager
def not_counted() -> Iterator[None]:
    """Time in here is not of the work that is being waited for: it has not begun yet."""
    stint = _STINT.get()
    if stint is None:
        yield
        return
    with stint.stopped():
        yield


def runs_on(work: asyncio.Future[Any]) -> None:
    """Say, of work that is cancelled, that a part of it cannot be."""
    stint = _STINT.get()
    if stint is not None:
        stint.abandon(work)


async def called(function: Callable[..., Awaitable[_T]], *args: Any, **kwargs: Any) -> _T:
    """What a foreign function comes to; that it is called at all is a part of the work."""
    return await function(*args, **kwargs)


async def contained(work: Awaitable[_T]) -> _T:
    """What the work comes to, as a task of its own; a task must raise nothing that ends the loop.

    Raises:
        EscapedCancellation, EscapedExit, Exception: as ``Stragglers.within``.
    """
    try:
        return await work
    except BaseException as error:
        seen = _as_exception(error)
        if seen is None or seen is error:
            raise
        raise seen from error


def _hear(task: asyncio.Future[Any]) -> None:
    """Take the exception of work that nobody waits for, so that the loop does not complain of it."""
    if not task.cancelled():
        task.exception()


async def _tell(work: Awaitable[_T], told: asyncio.Future[_T]) -> None:
    """Say what the work came to, unless it is too late."""
    try:
        value = await work
    except BaseException as error:
        seen = _as_exception(error)
        if seen is None:
            raise
        if not told.done():
            told.set_exception(seen)
    else:
        if not told.done():
            told.set_result(value)


def _as_exception(error: BaseException) -> Exception | None:
    """What the caller of foreign code sees of its end; None: its task was cancelled, or thrown away."""
    if isinstance(error, Exception):
        return error
    task = _this_task()
    if task is None:
        return None
    if isinstance(error, asyncio.CancelledError):
        return None if task.cancelling() else EscapedCancellation()
    return EscapedExit(error)


def _this_task() -> asyncio.Task[Any] | None:
    """None where a coroutine is closed by whoever throws it away (its GeneratorExit is not its own)."""
    try:
        return asyncio.current_task()
    except RuntimeError:
        return None


def _over(told: asyncio.Future[Any]) -> None:
    if not told.done():
        told.set_exception(OutOfTime())


__all__ = [
    "UNWIND_S",
    "EscapedCancellation",
    "EscapedExit",
    "OutOfTime",
    "Stragglers",
    "called",
    "contained",
    "not_counted",
    "runs_on",
]
