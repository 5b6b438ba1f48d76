"""Audit rows by POST to one address.

Law: only the configured address is reached: no redirect is followed, no proxy of the environment is used, and
what it answers is not read but for its status.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import hmac
import http.client
import ssl
import threading
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from condor.ports.encoding import encode
from condor.ports.sinks import SinkAway

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from condor.core.ids import Json

#: Seconds for each step of a connection: to reach it, to write, to be answered.
_STEP_S = 5.0
#: Seconds for all of one POST.
_POST_S = 15.0


class Webhook:
    """``POST {"v": 1, "rows": […]}``; any 2xx has taken them."""

    name = "webhook"

    def __init__(self, url: str, key: str = "") -> None:
        """Nothing is reached before the first row.

        Args:
            url: http or https, checked by the settings.
            key: signs the body: ``X-Condor-Signature: sha256=…`` (HMAC, hexadecimal); empty: unsigned.
        """
        self._parts, self._key = urlsplit(url), key.encode()

    async def send(self, rows: Sequence[Mapping[str, Json]]) -> None:
        """One POST; a sink that hangs holds nothing but its own thread."""
        body = encode({"v": 1, "rows": [dict(row) for row in rows]})
        loop = asyncio.get_running_loop()
        answered: asyncio.Future[int] = loop.create_future()

        def post() -> None:
            try:
                status: int | Exception = self._post(body)
            except (OSError, http.client.HTTPException) as fault:
                status = fault
            with contextlib.suppress(RuntimeError):  # who waited is gone, and its loop with it
                loop.call_soon_threadsafe(_answer, answered, status)

        # A daemon: a process that ends does not wait for an address that does not answer.
        threading.Thread(target=post, name="condor-webhook", daemon=True).start()
        try:
            status = await asyncio.wait_for(answered, _POST_S)
        except TimeoutError:
            raise SinkAway(f"{self._parts.hostname} does not answer") from None
        except (OSError, http.client.HTTPException) as fault:
            raise SinkAway(f"{self._parts.hostname} cannot be reached ({type(fault).__name__})") from fault
        if not 200 <= status < 300:
            raise SinkAway(f"{self._parts.hostname} answers {status}")

    def _post(self, body: bytes) -> int:
        host, port = self._parts.hostname or "", self._parts.port
        connection: http.client.HTTPConnection
        if self._parts.scheme == "https":
            secure = ssl.create_default_context()
            connection = http.client.HTTPSConnection(host, port, timeout=_STEP_S, context=secure)
        else:
            connection = http.client.HTTPConnection(host, port, timeout=_STEP_S)
        target = (self._parts.path or "/") + (f"?{self._parts.query}" if self._parts.query else "")
        headers = {"content-type": "application/json", "user-agent": "condor"}
        if self._key:
            signed = hmac.new(self._key, body, hashlib.sha256).hexdigest()
            headers["x-condor-signature"] = f"sha256={signed}"
        try:
            connection.request("POST", target, body, headers)
            return connection.getresponse().status
        finally:
            connection.close()


def _answer(answered: asyncio.Future[int], status: int | Exception) -> None:
    if answered.done():
        return
    if isinstance(status, Exception):
        answered.set_exception(status)
    else:
        answered.set_result(status)


__all__ = ["Webhook"]
