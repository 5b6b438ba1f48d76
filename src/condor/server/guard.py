"""What every request passes before any route, and what every answer carries.

Law 1: a state change that a browser sends comes from a page of ours (Origin, Sec-Fetch-Site).
Law 2: an answer is never cached, sniffed, framed or allowed to load from elsewhere.
Law 3: an error that nobody expected is logged by kind and place, and answered without a word of it.
"""

from __future__ import annotations

import logging
import time
from typing import TYPE_CHECKING, Final
from urllib.parse import parse_qsl

from starlette.datastructures import Headers, MutableHeaders

from condor.core.errors import CondorError
from condor.server.problems import PROBLEMS, Refused, problem, problem_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from starlette.responses import Response
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from condor.ports.mounts import Mount
    from condor.server.metrics import Metrics
    from condor.server.site import Site

_log = logging.getLogger("condor.server")

SAFE_METHODS: Final = frozenset({"GET", "HEAD", "OPTIONS"})
_METHODS: Final = SAFE_METHODS | {"POST", "PUT", "PATCH", "DELETE"}
#: Query names that a secret goes by.
_SECRET_NAMES: Final = frozenset(
    {
        "token",
        "access_token",
        "auth",
        "authorization",
        "api_key",
        "apikey",
        "jwt",
        "code",
        "session",
        "password",
    }
)
#: Asked by monitors, by whatever name they reach us.
_ANY_HOST: Final = frozenset({"/healthz", "/readyz", "/metrics"})
_VERSION: Final = "/api/v1"

CSP: Final = (
    "default-src 'none'; script-src 'self'; connect-src 'self'; img-src 'self'; style-src 'self'; "
    "base-uri 'none'; form-action 'self'; frame-ancestors 'none'; require-trusted-types-for 'script'"
)
_HEADERS: Final = {
    "content-security-policy": CSP,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-resource-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "x-frame-options": "DENY",
}


class Guard:
    """The outermost layer."""

    def __init__(self, app: ASGIApp, *, site: Site, metrics: Metrics, mounts: Sequence[Mount] = ()) -> None:
        """Guard an application.

        Args:
            mounts: what packs serve; some names of their queries mean something else there.
        """
        self._app, self._site, self._metrics = app, site, metrics
        self._mounts = tuple(mounts)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass one request, or refuse it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        begun, seen = time.perf_counter(), _Seen()

        async def sending(message: Message) -> None:
            if message["type"] == "http.response.start":
                seen.status = message["status"]
                self._dress(MutableHeaders(raw=message.setdefault("headers", [])))
                self._note(scope, seen.status, time.perf_counter() - begun)
            await send(message)

        try:
            self._check(scope)
            scope["path"] = _versioned(scope["path"])
            await self._app(scope, receive, sending)
        except Exception as fault:  # noqa: BLE001 - the last place where it can become an answer
            if seen.status:
                # A stream that was begun ends here; there is nothing left to say on it.
                _log.error("a stream broke off", exc_info=fault, extra={"facts": {"route": _route(scope)}})
                return
            await _answer_to(fault, scope)(scope, receive, sending)

    def _check(self, scope: Scope) -> None:
        headers = Headers(scope=scope)
        if scope["path"] not in _ANY_HOST and not self._site.answers_to(headers.get("host", "")):
            raise Refused("unknown_host")
        query = scope.get("query_string", b"").decode("latin-1")
        secret = _SECRET_NAMES - self._plain_names(scope["path"])
        if any(name.lower() in secret for name, _ in parse_qsl(query, keep_blank_values=True)):
            raise Refused("secret_in_url")
        origin = headers.get("origin")
        fetched_from = headers.get("sec-fetch-site", "none")
        if origin is not None and origin.lower() not in self._site.origins:
            raise Refused("foreign_origin")
        if scope["method"] not in SAFE_METHODS and fetched_from not in ("none", "same-origin"):
            raise Refused("foreign_origin")

    def _plain_names(self, path: str) -> frozenset[str]:
        """Names of a mount's queries that are no secrets there."""
        first = "/" + path.removeprefix("/").partition("/")[0]
        return frozenset().union(*(mount.query_names for mount in self._mounts if mount.path == first))

    def _dress(self, headers: MutableHeaders) -> None:
        for name, value in _HEADERS.items():
            headers.setdefault(name, value)
        headers.setdefault("cache-control", "no-store")
        if self._site.is_secure:
            headers.setdefault("strict-transport-security", "max-age=31536000")

    def _note(self, scope: Scope, status: int, seconds: float) -> None:
        route, method = _route(scope), _method(scope)
        self._metrics.answered(method, route, status, seconds)
        facts = {"route": route, "method": method, "status": status, "ms": round(seconds * 1000, 1)}
        _log.info("request", extra={"facts": facts})


class _Seen:
    """What was sent of an answer."""

    #: 0: nothing yet.
    status = 0


def _versioned(path: str) -> str:
    """``/api/x`` is ``/api/v1/x``."""
    if path.startswith("/api/") and not path.startswith(_VERSION + "/"):
        return _VERSION + path.removeprefix("/api")
    return path


def _route(scope: Scope) -> str:
    """The route's pattern; an address itself may hold anything."""
    pattern = str(getattr(scope.get("route"), "path", "unmatched"))
    is_versioned = scope["path"].startswith(_VERSION + "/") and pattern.startswith("/")
    return _VERSION + pattern if is_versioned and not pattern.startswith(_VERSION) else pattern


def _method(scope: Scope) -> str:
    """One of a closed set; a request may name its method as it likes."""
    return scope["method"] if scope["method"] in _METHODS else "other"


def _answer_to(fault: Exception, scope: Scope) -> Response:
    match fault:
        case Refused():
            return problem(fault.code, str(fault), fault.more)
        case CondorError():
            answer = problem_of(fault)
        case _:
            answer = problem("bug", PROBLEMS["bug"].cause)
    if answer.status_code >= 500:
        _log.error("an error of ours", exc_info=fault, extra={"facts": {"route": _route(scope)}})
    return answer


__all__ = ["CSP", "SAFE_METHODS", "Guard"]
