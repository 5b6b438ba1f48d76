"""Requests to one FHIR server, each with an end: in time, in bytes, in how many at once.

Law 1: one request takes ``timeout_s`` in all, however slowly its body comes; one call of the store takes
``CALL_TIMEOUTS`` times that, however many requests it is.
Law 2: bytes are counted after decompression, before they are kept.
Law 3: nothing is sent to an address that is not below the base; a redirect is not followed.
"""

from __future__ import annotations

import asyncio
import zlib
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urljoin

from condor_hms.fhir.errors import RequestRefused, Unavailable
from condor_hms.fhir.http_address import FhirAddress
from condor_hms.fhir.http_answer import read_json

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    import httpx

    from condor_hms.fhir.port import Resource

__all__ = ["ANSWER_BYTES_MAX", "CALL_TIMEOUTS", "FhirAnswer", "FhirWire"]

#: One answer, decompressed: a page of 200 resources has about half a megabyte.
ANSWER_BYTES_MAX = 16 * 1024 * 1024
#: A call's deadline, in timeouts of one request.
CALL_TIMEOUTS = 4
#: Requests at one time to one server.
_AT_ONCE = 8
_JSON = "application/fhir+json"
#: zlib's window size of a gzip stream.
_GZIP = 31


@dataclass(frozen=True, slots=True, kw_only=True)
class FhirAnswer:
    """An answer that is neither a redirect nor a failure of the server."""

    status: int
    media_type: str
    body: bytes
    #: Which request it answers, for an error's text.
    where: str

    @property
    def resource(self) -> Resource:
        """Its body.

        Raises:
            RequestRefused: the token is not taken.
            Unavailable: it is no FHIR JSON.
        """
        if self.status in (401, 403):
            raise RequestRefused("server", f"access is refused ({self.status}): check CONDOR_FHIR_TOKEN")
        return read_json(self.body, self.media_type, f"{self.where} ({self.status})")


class FhirWire:
    """The connections to one server."""

    def __init__(self, base_url: str, *, token: str | None, timeout_s: float) -> None:
        """Nothing is asked yet.

        Raises:
            Unavailable: the URL is none, or a token would go in the clear.
        """
        import httpx

        self._address = FhirAddress.of(base_url, has_token=bool(token))
        self._base = self._address.base
        self._timeout_s = timeout_s
        headers = {"accept": _JSON, "accept-encoding": "gzip", "cache-control": "no-cache"}
        if token:
            headers["authorization"] = f"Bearer {token}"
        # A token would go along with a redirect, and without TLS to a proxy of the environment.
        self._client = httpx.AsyncClient(
            headers=headers,
            timeout=timeout_s,
            follow_redirects=False,
            trust_env=self._base.startswith("https:"),
        )
        self._gate = asyncio.Semaphore(_AT_ONCE)

    async def aclose(self) -> None:
        """Close the connections."""
        await self._client.aclose()

    @asynccontextmanager
    async def call(self, what: str) -> AsyncIterator[None]:
        """Everything that one call of the store sends.

        Raises:
            Unavailable: it has not ended in time.
        """
        async with _ending(self._timeout_s * CALL_TIMEOUTS, what):
            yield

    def below(self, link: str) -> str:
        """See ``FhirAddress.below``."""
        return self._address.below(link)

    async def send(self, method: str, path: str, json: Resource | None = None) -> FhirAnswer:
        """One request.

        Raises:
            Unavailable: no answer, too late, too long, a redirect, or a failure of the server.
        """
        import httpx

        url = self._address.below(urljoin(self._base, path)) if path else self._base.rstrip("/")
        headers = {"content-type": _JSON} if json is not None else None
        where = f"{method} {path.partition('?')[0].removeprefix(self._base)}".strip()
        async with self._gate, _ending(self._timeout_s, where):
            try:
                async with self._client.stream(method, url, json=json, headers=headers) as response:
                    status = response.status_code
                    if status == 429 or status >= 500 or 300 <= status < 400:
                        raise Unavailable(f"the FHIR server answered {status}")
                    body = await _body(response, where)
            except httpx.HTTPError as error:
                raise Unavailable(f"{type(error).__name__}: {error}"[:200]) from error
        return FhirAnswer(
            status=status, media_type=response.headers.get("content-type", ""), body=body, where=where
        )


async def _body(response: httpx.Response, where: str) -> bytes:
    coding = response.headers.get("content-encoding", "identity").strip().lower()
    if coding not in ("identity", "gzip"):
        raise Unavailable(f"the answer to {where} is refused: its encoding {coding[:20]!r} was not asked for")
    unzip = zlib.decompressobj(_GZIP) if coding == "gzip" else None
    body = bytearray()
    async for chunk in response.aiter_raw():
        room = ANSWER_BYTES_MAX - len(body) + 1
        try:
            body += unzip.decompress(chunk, room) if unzip is not None else chunk[:room]
        except zlib.error as error:
            raise Unavailable(f"the answer to {where} is refused: its gzip is broken") from error
        if len(body) > ANSWER_BYTES_MAX:
            raise Unavailable(f"the answer to {where} is refused: it has more than {ANSWER_BYTES_MAX} bytes")
    if unzip is not None and not unzip.eof:
        raise Unavailable(f"the answer to {where} is refused: its gzip is cut off")
    return bytes(body)


@asynccontextmanager
async def _ending(seconds: float, what: str) -> AsyncIterator[None]:
    limit = asyncio.timeout(seconds)
    try:
        async with limit:
            yield
    except TimeoutError:
        if not limit.expired():
            raise
        raise Unavailable(f"{what} had not ended after {seconds:g} s") from None
