"""Live streams: one run is read, projected and encoded once, however many watch it.

Law 1: nobody polls. A stream costs an ``asyncio.Event`` and a connection while nothing happens.
Law 2: a stream is a view: to lose one, late or early, never touches its run.
"""

from condor.server.live.feed import Feed, Queue, Source, telling
from condor.server.live.inbox import Inbox
from condor.server.live.runs import Rest, RunFeeds, sse_data, titles_of, told_events
from condor.server.live.sse import SSE_HEADERS, UI_HEADERS, EventStream, StreamCaps, Streams

__all__ = [
    "SSE_HEADERS",
    "UI_HEADERS",
    "EventStream",
    "Feed",
    "Inbox",
    "Queue",
    "Rest",
    "RunFeeds",
    "Source",
    "StreamCaps",
    "Streams",
    "sse_data",
    "telling",
    "titles_of",
    "told_events",
]
