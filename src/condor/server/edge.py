"""What the routes of one server share, opened with it and closed with it."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Annotated

from fastapi import Depends, Request

from condor.server.auth import Gate
from condor.server.auth.who import Caller
from condor.server.live import Inbox, RunFeeds, StreamCaps, Streams
from condor.server.metrics import Metrics
from condor.server.throttle import Throttle

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from condor.bootstrap import Condor
    from condor.server.auth import AuthSettings
    from condor.server.site import Site

#: Answers that had no right to be given, by one principal: 30 at once, then one a second. Each is audited.
_REFUSED_BURST, _REFUSED_PER_S = 30, 1.0


class Edge:
    """One server."""

    def __init__(self, condor: Condor, auth: AuthSettings, site: Site, caps: StreamCaps) -> None:
        """Nothing is opened yet; routes are asked after ``open``."""
        self.condor, self.auth, self.site, self._caps = condor, auth, site, caps
        self.metrics = Metrics()
        self.streams = Streams(caps, self.metrics)
        self.refusals = Throttle(burst=_REFUSED_BURST, per_s=_REFUSED_PER_S, clock=condor.clock)
        self._opened: tuple[Gate, RunFeeds, Inbox] | None = None

    @asynccontextmanager
    async def open(self) -> AsyncIterator[None]:
        """For the life of the server."""
        condor = self.condor
        async with asyncio.TaskGroup() as group:
            inbox = Inbox(condor)
            gate = Gate(self.auth, self.site, condor.store, condor.clock)
            self._opened = (gate, RunFeeds(condor, group), inbox)
            telling = group.create_task(inbox.tell(), name="inbox")
            try:
                yield
            finally:
                self.streams.close()
                telling.cancel()

    def _open_parts(self) -> tuple[Gate, RunFeeds, Inbox]:
        if self._opened is None:
            raise RuntimeError("the server is not open: its lifespan was not run")
        return self._opened

    @property
    def gate(self) -> Gate:
        """Who asks."""
        return self._open_parts()[0]

    @property
    def feeds(self) -> RunFeeds:
        """Runs as they are told."""
        return self._open_parts()[1]

    @property
    def inbox(self) -> Inbox:
        """Changes as they are told."""
        return self._open_parts()[2]


def edge_of(request: Request) -> Edge:
    """The server that a request reached."""
    edge = request.app.state.edge
    assert isinstance(edge, Edge), "create_app puts it there"
    return edge


async def here(request: Request) -> Edge:
    """The server, as a dependency: a plain function would be run in a thread."""
    return edge_of(request)


async def signed_in(request: Request) -> Caller:
    """Who asks, by cookie or token."""
    return await edge_of(request).gate.caller(request)


async def streaming(request: Request) -> Caller:
    """Who asks for a stream: by ticket too."""
    return await edge_of(request).gate.caller(request, takes_ticket=True)


Here = Annotated[Edge, Depends(here)]
SignedIn = Annotated[Caller, Depends(signed_in)]
Streaming = Annotated[Caller, Depends(streaming)]

__all__ = ["Edge", "Here", "SignedIn", "Streaming", "edge_of"]
