"""Plain functions of foreign code: each call has a thread to itself, which nobody waits for.

Law 1: a call that hangs costs no other its thread. What waits for room has not begun: its time does not run,
and where there is none in the end it is refused, with nothing done.
Law 2: threads are daemons: a process ends beside those that never do.
"""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import os
import threading
from collections import deque
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any, TypeVar

from condor.core.errors import ToolError
from condor.ports.deadline import not_counted, runs_on

if TYPE_CHECKING:
    from collections.abc import Callable

_T = TypeVar("_T")

#: Calls at work at once in one process; a further one waits for room. 32 runs of 16 steps each.
BUSY_MAX = 512
#: Calls that were given up and hang on; each keeps a thread until the process ends.
HUNG_MAX = 2_000
#: Seconds that a call waits for room.
ROOM_S_MAX = 30.0
#: Threads that are kept for the next call: to start one takes four times as long as to wake one.
IDLE_MAX = 32


class _Room:
    """How many threads there are; used from every loop and thread of the process."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.busy = 0
        self.hung = 0
        self._waiting: deque[asyncio.Future[None]] = deque()

    async def take(self) -> None:
        """Take room for one call, or wait for it.

        Raises:
            ToolError: there is none.
        """
        with self._lock:
            if self.hung >= HUNG_MAX:
                raise _refusal(f"{self.hung} earlier calls of plain functions hang")
            if self.busy < BUSY_MAX:
                self.busy += 1
                return
            given: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._waiting.append(given)
        try:
            with not_counted():
                await asyncio.wait_for(asyncio.shield(given), ROOM_S_MAX)
        except TimeoutError:
            if not self._is_given_up(given):
                raise _refusal(
                    f"{BUSY_MAX} calls of plain functions were at work for {ROOM_S_MAX:g} s"
                ) from None
        except asyncio.CancelledError:
            if self._is_given_up(given):
                self.free()
            raise

    def free(self) -> None:
        """A call has ended, or is given up: its room is the next one's."""
        with self._lock:
            while self._waiting:
                given = self._waiting.popleft()
                try:
                    given.get_loop().call_soon_threadsafe(given.set_result, None)
                except RuntimeError:  # its loop is closed
                    continue
                return
            self.busy -= 1

    def _is_given_up(self, given: asyncio.Future[None]) -> bool:
        """Stop waiting; whether room was given in the same moment."""
        with self._lock:
            try:
                self._waiting.remove(given)
            except ValueError:
                return True
            return False

    def count_hung(self, more: int) -> None:
        """One more call hangs, or one less."""
        with self._lock:
            self.hung += more


_ROOM = _Room()


def _refusal(why: str) -> ToolError:
    return ToolError(
        f"no thread is free: {why}. It was not entered; give the calls that they wait for a timeout, "
        "or restart the process",
        retryable=True,
        effect="none",
        code="no_thread",
    )


class _Work:
    """One call in its thread."""

    def __init__(self, call: Callable[[], Any]) -> None:
        self._call = call
        self._context = contextvars.copy_context()
        self._loop = asyncio.get_running_loop()
        self._lock = threading.Lock()
        self._is_hung = False
        self._has_ended = False
        self.value: Any = None
        self.error: BaseException | None = None
        self.ended: asyncio.Future[None] = self._loop.create_future()

    def run(self, thread: _Thread) -> bool:
        """In a thread; whether it is kept for another call."""
        try:
            self.value = self._context.run(self._call)
        except BaseException as error:  # noqa: BLE001 - whoever waits for it is told
            self.error = error
        with self._lock:
            self._has_ended = True
        is_kept = not self._is_hung and len(_IDLE) < IDLE_MAX
        if is_kept:
            _IDLE.append(thread)  # before anybody is told, who might have the next call
        if self._is_hung:
            _ROOM.count_hung(-1)
        else:
            _ROOM.free()
        with contextlib.suppress(RuntimeError):  # the loop is closed: nobody waits
            self._loop.call_soon_threadsafe(self.ended.set_result, None)
        return is_kept

    def give_up(self) -> None:
        """Nobody waits for it any more."""
        with self._lock:
            if self._has_ended:
                return
            self._is_hung = True
        _ROOM.count_hung(1)
        _ROOM.free()
        runs_on(self.ended)


class _Thread(threading.Thread):
    """Does one call after the other, never two: what waits for it has no other before it."""

    def __init__(self) -> None:
        super().__init__(name="condor-plain-function", daemon=True)
        self._calls: SimpleQueue[_Work] = SimpleQueue()

    def do(self, work: _Work) -> None:
        """Hand it a call; it has none."""
        self._calls.put(work)

    def run(self) -> None:
        """Until it is not kept."""
        while self._calls.get().run(self):
            pass


#: Threads without a call.
_IDLE: deque[_Thread] = deque()


def _forget() -> None:
    """A process that was forked has none of its parent's threads."""
    _IDLE.clear()
    _ROOM.__init__()  # type: ignore[misc]


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)


def _hand_to_a_thread(work: _Work) -> None:
    try:
        _IDLE.pop().do(work)
    except IndexError:
        thread = _Thread()
        thread.do(work)
        thread.start()


async def in_thread(function: Callable[..., _T], /, *args: Any, **kwargs: Any) -> _T:
    """What a plain function returns, from a thread of its own; the loop goes on meanwhile.

    Cancelled, it goes on at once; the function may run on, and is then told of as abandoned.

    Raises:
        ToolError: no thread is free; the function was not called.
        BaseException: what the function raised.
    """
    await _ROOM.take()
    work = _Work(lambda: function(*args, **kwargs))
    try:
        _hand_to_a_thread(work)
    except RuntimeError as fault:
        _ROOM.free()
        raise _refusal(f"the system gives no more ({fault})") from fault
    try:
        await asyncio.shield(work.ended)
    except asyncio.CancelledError:
        work.give_up()
        raise
    if work.error is not None:
        raise work.error
    value: _T = work.value
    return value


__all__ = ["BUSY_MAX", "HUNG_MAX", "IDLE_MAX", "ROOM_S_MAX", "in_thread"]
