"""Bytes for many readers: written once, read by each at its own pace.

Law: what is written is encoded already; a reader adds nothing but its place.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Final, Protocol

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable

_log = logging.getLogger("condor.server")

#: Bytes handed to a connection at once: what its buffer takes without waiting.
_TAKE_BYTES_MAX: Final = 64 * 1024
#: Blocks that wait for one reader of a queue; one that is further behind is let go.
_QUEUE_MAX: Final = 1_000


class Source(Protocol):
    """What a stream is sent from."""

    def take(self) -> bytes:
        """What there is, up to a connection's worth; empty where there is nothing yet."""
        ...

    @property
    def ended(self) -> bool:
        """Nothing is left and nothing more comes."""
        ...

    async def wait(self) -> None:
        """Until there is something, or the end. May be cancelled at any time."""
        ...

    def wake(self) -> None:
        """End the wait."""
        ...


class Feed:
    """A growing list of blocks, and an end."""

    def __init__(self) -> None:
        """Empty."""
        self._blocks: list[bytes] = []
        self._ended = False
        self._readers: set[asyncio.Event] = set()

    def write(self, block: bytes) -> None:
        """Add a block and wake who waits."""
        self._blocks.append(block)
        self._wake()

    def end(self) -> None:
        """Nothing more comes."""
        self._ended = True
        self._wake()

    @property
    def is_over(self) -> bool:
        """Nothing more comes."""
        return self._ended

    def _wake(self) -> None:
        for woken in self._readers:
            woken.set()

    def reader(self) -> FeedReader:
        """A reader at the beginning; to be closed."""
        return FeedReader(self)


class FeedReader:
    """One reader's place in a feed."""

    def __init__(self, feed: Feed) -> None:
        """At the beginning."""
        self._feed = feed
        self._next = 0
        self._woken = asyncio.Event()
        feed._readers.add(self._woken)  # noqa: SLF001 - the two are one structure

    def take(self) -> bytes:
        """What there is, up to a connection's worth."""
        blocks = self._feed._blocks  # noqa: SLF001 - the two are one structure
        first, size = self._next, 0
        while self._next < len(blocks) and size < _TAKE_BYTES_MAX:
            size += len(blocks[self._next])
            self._next += 1
        return blocks[first] if self._next == first + 1 else b"".join(blocks[first : self._next])

    @property
    def ended(self) -> bool:
        """Nothing is left and nothing more comes."""
        return self._feed._ended and self._next >= len(self._feed._blocks)  # noqa: SLF001 - as above

    async def wait(self) -> None:
        """Until there is more, or the end."""
        await self._woken.wait()
        self._woken.clear()

    def wake(self) -> None:
        """End the wait."""
        self._woken.set()

    def close(self) -> None:
        """Read no more."""
        self._feed._readers.discard(self._woken)  # noqa: SLF001 - as above


class Queue:
    """Blocks for one reader, forgotten as they are taken."""

    def __init__(self) -> None:
        """Empty."""
        self._blocks: deque[bytes] = deque()
        self._woken = asyncio.Event()
        self._ended = False

    def write(self, block: bytes) -> None:
        """Add a block; a reader too far behind is let go."""
        if self._ended:
            return
        self._blocks.append(block)
        if len(self._blocks) > _QUEUE_MAX:
            self._blocks.clear()
            self._ended = True
        self._woken.set()

    def end(self) -> None:
        """Nothing more comes."""
        self._ended = True
        self._woken.set()

    def take(self) -> bytes:
        """What there is."""
        taken = b"".join(self._blocks)
        self._blocks.clear()
        return taken

    @property
    def ended(self) -> bool:
        """Nothing is left and nothing more comes."""
        return self._ended and not self._blocks

    async def wait(self) -> None:
        """Until there is more, or the end."""
        await self._woken.wait()
        self._woken.clear()

    def wake(self) -> None:
        """End the wait."""
        self._woken.set()


@asynccontextmanager
async def telling(tell: Callable[[Feed], Awaitable[None]]) -> AsyncIterator[FeedReader]:
    """A feed of one reader, written for as long as it is read."""
    feed = Feed()
    reader = feed.reader()
    async with asyncio.TaskGroup() as group:
        writing = group.create_task(_written(feed, tell))
        try:
            yield reader
        finally:
            writing.cancel()


async def _written(feed: Feed, tell: Callable[[Feed], Awaitable[None]]) -> None:
    try:
        await tell(feed)
    except Exception as fault:  # noqa: BLE001 - a stream that cannot be told ends; nothing else is touched
        _log.error("a stream could not be told", exc_info=fault)
    finally:
        feed.end()


__all__ = ["Feed", "FeedReader", "Queue", "Source", "telling"]
