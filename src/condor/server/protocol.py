"""Uvicorn's HTTP protocol with a bound on a request's head: uvicorn's own has none, in bytes or in time.

Law: what is no request yet costs a connection, never more.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

if TYPE_CHECKING:
    import asyncio

#: Bytes of a request line and its headers; browsers send some two thousand.
HEAD_BYTES_MAX: Final = 64 * 1024
#: Seconds for them to arrive.
HEAD_S_MAX: Final = 10.0


class BoundedProtocol(HttpToolsProtocol):
    """One connection."""

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        #: Bytes that came since the head began; None while there is no head to wait for.
        self._head_bytes: int | None = 0
        self._deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        """A client has come; its first head is waited for."""
        super().connection_made(transport)
        self._begin_head()

    def connection_lost(self, exc: Exception | None) -> None:
        """It has gone."""
        self._end_head()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Bytes came; of a head not too many."""
        super().data_received(data)
        if self._head_bytes is not None:
            self._head_bytes += len(data)
            if self._head_bytes > HEAD_BYTES_MAX and not self.transport.is_closing():
                self.send_400_response("the head of the request is too large")

    def on_message_begin(self) -> None:
        """A request begins."""
        super().on_message_begin()
        self._begin_head()

    def on_headers_complete(self) -> None:
        """Its head is there."""
        self._end_head()
        super().on_headers_complete()

    def _begin_head(self) -> None:
        self._end_head()
        self._head_bytes = 0
        self._deadline = self.loop.call_later(HEAD_S_MAX, self._give_up)

    def _end_head(self) -> None:
        self._head_bytes = None
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _give_up(self) -> None:
        if not self.transport.is_closing():
            self.transport.close()


__all__ = ["HEAD_BYTES_MAX", "HEAD_S_MAX", "BoundedProtocol"]
