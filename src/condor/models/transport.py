"""How a model's endpoint is reached: bounded, and nowhere but at its address.

Law 1: no answer is read beyond its bytes, whatever it is made of and whether any of it is shown.
Law 2: no redirect is followed and no proxy of the environment is used: what is asked may hold a record.
Law 3: an answer is not unpacked, so that a few bytes stay a few bytes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import httpx2

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

#: Bytes of one whole answer: eight times the longest plan that is taken.
ANSWER_BYTES_MAX: Final = 2 * 1024 * 1024
#: Bytes of one line of a stream, and of all its lines: the longest closing, one character an event.
LINE_BYTES_MAX: Final = 256 * 1024
STREAM_BYTES_MAX: Final = 8 * 1024 * 1024


class AnswerRefused(Exception):
    """An answer that is not read; the text follows the endpoint's name."""


def client_of(*, timeout_s: float, connect_s: float) -> httpx2.AsyncClient:
    """A client whose answers are bounded."""
    return httpx2.AsyncClient(
        transport=BoundedTransport(),
        timeout=httpx2.Timeout(timeout_s, connect=connect_s),
        headers={"accept-encoding": "identity"},
        follow_redirects=False,
        trust_env=False,
    )


class BoundedTransport(httpx2.AsyncBaseTransport):
    """Connections to one endpoint."""

    def __init__(self) -> None:
        """Nothing is reached yet. Certificates are those that ``SSL_CERT_FILE`` names, if it does."""
        self._inner = httpx2.AsyncHTTPTransport(verify=httpx2.create_ssl_context(), trust_env=False)

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """The answer, read as far as it may be.

        Raises:
            AnswerRefused: it sends elsewhere, or is packed.
        """
        # Who asks may have its own client's wish here.
        request.headers["accept-encoding"] = "identity"
        response = await self._inner.handle_async_request(request)
        refused = ""
        if 300 <= response.status_code < 400:
            refused = (
                f"sends elsewhere ({response.status_code}), and nothing is sent there: set "
                "CONDOR_MODEL_BASE_URL to the address that answers"
            )
        elif response.headers.get("content-encoding", "identity").strip().lower() not in ("", "identity"):
            refused = "packs its answer unasked, and it is not unpacked"
        if refused:
            await response.aclose()
            raise AnswerRefused(refused)
        is_stream = "text/event-stream" in response.headers.get("content-type", "").lower()
        # INVARIANT: an async transport answers with an async stream.
        assert isinstance(response.stream, httpx2.AsyncByteStream), "no stream of bytes"
        response.stream = _Bounded(response.stream, is_stream=is_stream)
        return response

    async def aclose(self) -> None:
        """Let go of the connections."""
        await self._inner.aclose()


class _Bounded(httpx2.AsyncByteStream):
    """The bytes of one answer, until there are too many."""

    def __init__(self, inner: httpx2.AsyncByteStream, *, is_stream: bool) -> None:
        self._inner = inner
        self._most = STREAM_BYTES_MAX if is_stream else ANSWER_BYTES_MAX
        self._line_most = LINE_BYTES_MAX if is_stream else ANSWER_BYTES_MAX

    async def __aiter__(self) -> AsyncIterator[bytes]:
        read = line = 0
        async for part in self._inner:
            read += len(part)
            pieces = part.replace(b"\r", b"\n").split(b"\n")
            lengths = [line + len(pieces[0]), *map(len, pieces[1:])]
            line = lengths[-1]
            if read > self._most:
                raise AnswerRefused(f"answered more than {self._most} bytes; no more was read")
            if max(lengths) > self._line_most:
                raise AnswerRefused(f"answered a line of more than {self._line_most} bytes; no more was read")
            yield part

    async def aclose(self) -> None:
        await self._inner.aclose()


def refusal_of(fault: BaseException) -> str:
    """What was refused of an answer, where that is what a library raised about; else empty."""
    seen: set[int] = set()
    raised: BaseException | None = fault
    while raised is not None and id(raised) not in seen:
        if isinstance(raised, AnswerRefused):
            return str(raised)
        seen.add(id(raised))
        raised = raised.__cause__ or raised.__context__
    return ""


__all__ = ["AnswerRefused", "client_of", "refusal_of"]
