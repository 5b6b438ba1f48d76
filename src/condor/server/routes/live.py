"""``/api/events``: that something changed, told to who may know of it."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from fastapi import APIRouter, Response

from condor.server.answers import answers
from condor.server.edge import Here, Streaming
from condor.server.live import EventStream

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from condor.server.live import Queue

router = APIRouter(tags=["live"])


@router.get(
    "/events",
    summary="Follow what changes",
    responses=answers(
        200,
        "`run` and `inbox` events: ids and states, no record data; `alive` while nothing changes",
        None,
        429,
        media_type="text/event-stream",
    ),
)
async def stream_changes(here: Here, caller: Streaming) -> Response:
    """From now on: each run that changed, each card that was opened or closed. Load what you show again."""
    who = caller.principal
    caller.need("runs:read")

    @asynccontextmanager
    async def opened() -> AsyncIterator[Queue]:
        with here.inbox.watching(who) as queue:
            yield queue

    return EventStream(opened, here.streams, caller=caller, kind="inbox", says_alive=True)


__all__ = ["router"]
