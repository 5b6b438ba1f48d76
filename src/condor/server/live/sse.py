"""Server-sent events on a connection: headers, keep-alive, caps, and readers that do not keep up.

Law 1: a stream that its client has left is noticed and let go; its run is not touched.
Law 2: what is open is bounded, for each principal and in total; a reader that does not read is dropped.
"""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from contextlib import AsyncExitStack, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from starlette.responses import Response

from condor.server.problems import Refused

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from contextlib import AbstractAsyncContextManager

    from starlette.types import Receive, Scope, Send

    from condor.server.auth import Caller
    from condor.server.live.feed import Source
    from condor.server.metrics import Metrics

_log = logging.getLogger("condor.server")

#: Seconds of silence after which a comment keeps proxies from closing the connection.
KEEP_ALIVE_S: Final = 15.0
KEEP_ALIVE: Final = b": keep-alive\n\n"
#: The same for a page, whose EventSource hears no comment: it knows a dead line by the lack of it.
ALIVE: Final = b"event: alive\ndata: {}\n\n"
ALIVE_S: Final = 5.0

SSE_HEADERS: Final = {
    "content-type": "text/event-stream; charset=utf-8",
    "cache-control": "no-cache",
    "x-accel-buffering": "no",
}
#: What says to an AI SDK client which protocol this is.
UI_HEADERS: Final = {**SSE_HEADERS, "x-vercel-ai-ui-message-stream": "v1"}


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamCaps:
    """How many streams may be open."""

    #: Of one principal: some browsers with some tabs each.
    each: int = 100
    #: Of all: a connection costs some 30 KB.
    total: int = 5_000
    #: Seconds of silence between two comments.
    keep_alive_s: float = KEEP_ALIVE_S
    #: Seconds of silence between two `alive` events, where a page follows changes.
    alive_s: float = ALIVE_S
    #: Seconds that one reader may hold up its own stream before it is dropped.
    send_s: float = 20.0


class Streams:
    """Every open stream of the server."""

    def __init__(self, caps: StreamCaps, metrics: Metrics) -> None:
        """None is open."""
        self.caps, self._metrics = caps, metrics
        self._by: Counter[str] = Counter()
        #: The session or token that each was opened with.
        self._open: dict[Source, str] = {}
        self._cut: set[Source] = set()
        self._closing = False

    @contextmanager
    def place(self, who: str) -> Iterator[None]:
        """A place for one more stream.

        Raises:
            Refused: ``too_many_streams``.
        """
        if self._by[who] >= self.caps.each or self._by.total() >= self.caps.total:
            raise Refused("too_many_streams")
        self._by[who] += 1
        try:
            yield
        finally:
            self._by[who] -= 1
            if not self._by[who]:
                del self._by[who]

    @contextmanager
    def sending(self, kind: str, source: Source, token_id: str = "") -> Iterator[None]:
        """One stream while it is sent."""
        self._open[source] = token_id
        self._metrics.streams(kind, 1)
        try:
            yield
        finally:
            self._metrics.streams(kind, -1)
            self._open.pop(source, None)
            self._cut.discard(source)

    def dropped(self, kind: str) -> None:
        """A reader was too slow."""
        self._metrics.dropped(kind)
        _log.warning("a reader did not keep up; its stream is dropped", extra={"facts": {"stream": kind}})

    def is_over(self, source: Source) -> bool:
        """Whether a stream ends whatever it has to say."""
        return self._closing or source in self._cut

    def cut(self, token_id: str) -> None:
        """End the streams of a session or token that counts no more."""
        for source, opened_with in self._open.items():
            if opened_with == token_id:
                self._cut.add(source)
                source.wake()

    def close(self) -> None:
        """End every stream: the server is going."""
        self._closing = True
        for source in self._open:
            source.wake()


class EventStream(Response):
    """An answer that is a stream."""

    def __init__(
        self,
        open_source: Callable[[], AbstractAsyncContextManager[Source]],
        streams: Streams,
        *,
        caller: Caller,
        kind: str,
        headers: Mapping[str, str] = SSE_HEADERS,
        says_alive: bool = False,
    ) -> None:
        """Nothing is opened yet.

        Args:
            open_source: opens what is sent, for as long as it is sent.
            caller: whose stream it is, and with what it was opened.
            kind: of a closed set, for the metrics.
            says_alive: silence is broken by an event, often, for a page; else by a comment, for proxies.
        """
        super().__init__()
        self._open_source, self._streams = open_source, streams
        self._caller, self._kind, self._stream_headers = caller, kind, headers
        self._says_alive = says_alive

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send it to its end, or until its client leaves."""
        async with AsyncExitStack() as stack:
            stack.enter_context(self._streams.place(self._caller.principal.id))
            source = await stack.enter_async_context(self._open_source())
            stack.enter_context(self._streams.sending(self._kind, source, self._caller.token_id))
            raw = [(name.encode(), value.encode()) for name, value in self._stream_headers.items()]
            await send({"type": "http.response.start", "status": 200, "headers": raw})
            if scope["method"] == "HEAD":
                await send({"type": "http.response.body", "body": b""})
                return
            async with asyncio.TaskGroup() as group:
                left = _Left()
                watch = group.create_task(_watch(receive, source, left))
                try:
                    await self._send(source, left, send)
                finally:
                    watch.cancel()

    async def _send(self, source: Source, left: _Left, send: Send) -> None:
        caps = self._streams.caps
        silence_s, word = (caps.alive_s, ALIVE) if self._says_alive else (caps.keep_alive_s, KEEP_ALIVE)
        while not (left.gone or self._streams.is_over(source)):
            block = source.take()
            if block:
                if not await self._sent(block, send):
                    return
            elif source.ended:
                break
            else:
                try:
                    async with asyncio.timeout(silence_s):
                        await source.wait()
                except TimeoutError:
                    if not await self._sent(word, send):
                        return
        if not left.gone:
            await send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _sent(self, block: bytes, send: Send) -> bool:
        """Hand a block over; False where its reader does not read."""
        try:
            async with asyncio.timeout(self._streams.caps.send_s):
                await send({"type": "http.response.body", "body": block, "more_body": True})
        except TimeoutError:
            # The answer is left unfinished: the server closes the connection.
            self._streams.dropped(self._kind)
            return False
        return True


class _Left:
    """Whether the client has gone."""

    gone = False


async def _watch(receive: Receive, source: Source, left: _Left) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
    left.gone = True
    source.wake()


__all__ = ["KEEP_ALIVE", "SSE_HEADERS", "UI_HEADERS", "EventStream", "StreamCaps", "Streams"]
