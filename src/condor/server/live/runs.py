"""The UI message of a run as one feed, shared by everybody who watches it here.

Law 1: a feed is a whole message from its start; where the run rests it ends with ``[DONE]``.
Law 2: a feed that has ended is shared on only while its run stands where the feed ended.
"""

from __future__ import annotations

import asyncio
import logging
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from condor.core.frames.ui_message import UiMessage, payload_names
from condor.core.run import TERMINAL, RunStatus
from condor.ports.encoding import decode, encode
from condor.server.live.feed import Feed

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Mapping

    from condor.bootstrap import Condor
    from condor.core.ids import Json
    from condor.core.run import RunEvent
    from condor.server.live.feed import FeedReader

_log = logging.getLogger("condor.server")

DONE: Final = b"data: [DONE]\n\n"
#: Events told before others have their turn: a replay of a long run holds nobody up.
_TURN_EVENTS: Final = 50
_AT_REST: Final = TERMINAL | {RunStatus.SUSPENDED}


def sse_data(value: Mapping[str, Json]) -> bytes:
    """One event of a stream: LF framing, one line of data."""
    return b"data: %b\n\n" % encode(value)


@dataclass(frozen=True, slots=True)
class Rest:
    """Where a run came to rest."""

    #: Sequence number of its last event.
    seq: int
    #: Parked, or how it ended.
    status: RunStatus


@dataclass(slots=True, kw_only=True)
class _Shared:
    """One run's feed, and how many read it."""

    feed: Feed = field(default_factory=Feed)
    readers: int = 0
    task: asyncio.Task[None] | None = None
    #: Where it ended; None while it goes on.
    rest: Rest | None = None


class RunFeeds:
    """The feeds of the runs that somebody watches."""

    def __init__(self, condor: Condor, group: asyncio.TaskGroup) -> None:
        """Nobody watches yet.

        Args:
            group: owns the tasks that tell the runs.
        """
        self._condor, self._group = condor, group
        self._shared: dict[str, _Shared] = {}

    @asynccontextmanager
    async def reading(self, run_id: str) -> AsyncIterator[FeedReader]:
        """A run's message from its start, for one stream."""
        shared = await self._of(run_id)
        shared.readers += 1
        reader = shared.feed.reader()
        try:
            yield reader
        finally:
            reader.close()
            shared.readers -= 1
            self._let_go(run_id, shared)

    async def _of(self, run_id: str) -> _Shared:
        row = await self._condor.store.run(run_id)
        shared = self._shared.get(run_id)
        stands = row is not None and shared is not None and shared.rest in (None, Rest(row.seq, row.status))
        if shared is None or not stands:
            shared = self._shared[run_id] = _Shared()
            shared.task = self._group.create_task(self._tell(run_id, shared), name=f"feed-{run_id}")
        return shared

    def _let_go(self, run_id: str, shared: _Shared) -> None:
        if shared.readers:
            return
        if self._shared.get(run_id) is shared:
            del self._shared[run_id]
        if shared.task is not None:
            shared.task.cancel()

    async def _tell(self, run_id: str, shared: _Shared) -> None:
        try:
            shared.rest = await tell_run(self._condor, run_id, shared.feed)
        except Exception as fault:  # noqa: BLE001 - a stream that cannot be told ends; the run is not touched
            _log.error("a run could not be told", exc_info=fault)
            shared.feed.write(sse_data({"type": "error", "errorText": "the stream broke off; load it again"}))
            self._shared.pop(run_id, None)
        finally:
            shared.feed.end()


async def tell_run(condor: Condor, run_id: str, feed: Feed) -> Rest:
    """Write a run's whole UI message to a feed; where it came to rest."""
    message = UiMessage(run_id, titles=titles_of(condor))
    async for told in told_events(condor, run_id):
        match told:
            case Rest():
                for chunk in message.finish(told.status, told.seq):
                    feed.write(sse_data(chunk))
                feed.write(DONE)
                return told
            case event, payload:
                for chunk in message.project(event, payload):
                    feed.write(sse_data(chunk))
    raise AssertionError("a run is told until it rests")


def titles_of(condor: Condor) -> dict[str, str]:
    """What tools are called."""
    return {tool.name: tool.title for tool in condor.tools}


async def told_events(
    condor: Condor, run_id: str
) -> AsyncIterator[tuple[RunEvent, Callable[[str], object]] | Rest]:
    """A run's events until its next rest, each with the payloads that it is shown with; then the rest."""
    after = 0
    while True:
        async for event in condor.watch(run_id, after=after):
            names = payload_names(event)
            stored = await condor.store.payloads(run_id, names) if names else {}
            yield event, {name: decode(body) for name, body in stored.items()}.get
            after = event.seq
            if event.seq % _TURN_EVENTS == 0:
                await asyncio.sleep(0)
        row = await condor.store.run(run_id)
        assert row is not None, "a run that was told is there"
        # It may have been answered while its last events were told: then it does not rest here.
        if row.seq == after and row.status in _AT_REST:
            yield Rest(after, row.status)
            return


__all__ = ["DONE", "Rest", "RunFeeds", "sse_data", "tell_run", "titles_of", "told_events"]
