"""What streams are sent from, and readers that do not keep up; without a socket."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from condor.core.run import Principal
from condor.server.auth import Caller
from condor.server.live import EventStream, Feed, Queue, StreamCaps, Streams, telling
from condor.server.metrics import Metrics
from tests.server.support import PATIENCE_S

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

ANN = Caller(principal=Principal(id="ann"), by="session", token_id="tok_1")
SCOPE: dict[str, Any] = {"type": "http", "method": "GET"}


async def never() -> dict[str, Any]:
    """A client that stays and says nothing."""
    return await asyncio.get_running_loop().create_future()  # type: ignore[no-any-return]


def streams(**caps: Any) -> tuple[Streams, Metrics]:
    """Nothing is open."""
    metrics = Metrics()
    return Streams(StreamCaps(**caps), metrics), metrics


@asynccontextmanager
async def opened(source: Any) -> AsyncIterator[Any]:
    """A source that is open."""
    yield source


async def test_a_reader_that_does_not_read_is_dropped() -> None:
    """Its stream is left unfinished, so that the server closes the connection; it is counted."""
    held, metrics = streams(send_s=0.02)
    feed = Feed()
    feed.write(b"data: 1\n\n")
    sent: list[Any] = []

    async def send(message: Any) -> None:
        sent.append(message)
        if message.get("body"):
            await asyncio.get_running_loop().create_future()

    stream = EventStream(lambda: opened(feed.reader()), held, caller=ANN, kind="events")
    await asyncio.wait_for(stream(SCOPE, never, send), PATIENCE_S)
    assert [message["type"] for message in sent] == ["http.response.start", "http.response.body"]
    assert sent[-1]["more_body"] is True
    assert b'condor_streams_dropped_total{kind="events"} 1.0' in metrics.text()
    assert b'condor_streams_open{kind="events"} 0.0' in metrics.text()


async def test_a_queue_that_is_too_long_ends() -> None:
    """Nobody's backlog grows without end; a reader that is let go loads anew."""
    queue = Queue()
    for number in range(2_000):
        queue.write(b"data: %d\n\n" % number)
    assert queue.ended
    assert queue.take() == b""


async def test_a_feed_is_read_by_each_at_its_own_pace() -> None:
    """All of it, in order, each from its beginning, in pieces that a connection takes."""
    feed = Feed()
    quick, slow = feed.reader(), feed.reader()
    blocks = [b"%d" % number * 1_000 for number in range(200)]
    seen = b""
    for block in blocks:
        feed.write(block)
        await asyncio.wait_for(quick.wait(), PATIENCE_S)
        seen += quick.take()
    assert seen == b"".join(blocks)
    feed.end()
    assert quick.ended
    pieces = [piece for piece in iter(slow.take, b"") if piece]
    assert slow.ended
    assert b"".join(pieces) == b"".join(blocks)
    assert len(pieces) > 3


async def test_what_cannot_be_told_ends() -> None:
    """A fault of ours ends the stream; nothing hangs."""

    async def broken(feed: Feed) -> None:
        feed.write(b"data: 1\n\n")
        raise ValueError("a fault of ours")

    held, _ = streams()
    sent: list[bytes] = []

    async def send(message: Any) -> None:
        sent.append(message.get("body", b""))

    stream = EventStream(lambda: telling(broken), held, caller=ANN, kind="events")
    await asyncio.wait_for(stream(SCOPE, never, send), PATIENCE_S)
    assert b"".join(sent) == b"data: 1\n\n"


async def test_a_client_that_leaves_ends_its_stream() -> None:
    """At once, whatever it waits for."""
    held, metrics = streams()
    gone = asyncio.Event()

    async def receive() -> dict[str, Any]:
        await gone.wait()
        return {"type": "http.disconnect"}

    async def send(_: Any) -> None:
        return None

    stream = EventStream(lambda: opened(Queue()), held, caller=ANN, kind="inbox")
    served = asyncio.ensure_future(stream(SCOPE, receive, send))
    begun = asyncio.Event()
    asyncio.get_running_loop().call_later(0.02, begun.set)
    await begun.wait()
    assert b'{kind="inbox"} 1.0' in metrics.text()
    gone.set()
    await asyncio.wait_for(served, PATIENCE_S)
    assert b'condor_streams_open{kind="inbox"} 0.0' in metrics.text()


async def test_streams_of_a_session_that_was_ended_end() -> None:
    """Who signs out, or whose token is revoked, is told nothing more; others are."""
    held, _ = streams()
    other = Caller(principal=ANN.principal, by="session", token_id="tok_2")
    sent: list[Any] = []

    async def send(message: Any) -> None:
        sent.append(message)

    async def serve(caller: Caller) -> None:
        await EventStream(lambda: opened(Queue()), held, caller=caller, kind="inbox")(SCOPE, never, send)

    mine, theirs = asyncio.ensure_future(serve(ANN)), asyncio.ensure_future(serve(other))
    begun = asyncio.Event()
    asyncio.get_running_loop().call_later(0.02, begun.set)
    await begun.wait()
    held.cut("tok_1")
    await asyncio.wait_for(mine, PATIENCE_S)
    assert not theirs.done()
    held.close()
    await asyncio.wait_for(theirs, PATIENCE_S)
