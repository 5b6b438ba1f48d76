"""What packs serve beside the API: the server finds who asks, the mount answers, in its own form.

Law 1: a mount is asked for signed-in principals alone; a program's token must be for it.
Law 2: whatever goes wrong is told in the mount's own form and without a word of the fault, which is logged.
Decision: mounts are not in the OpenAPI. They have a description of their own (FHIR: its CapabilityStatement).
"""

from __future__ import annotations

import logging
import re
from typing import TYPE_CHECKING, Final

from starlette.convertors import Convertor, register_url_convertor
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from condor.core.errors import CondorError
from condor.ports.mounts import MountAnswer, MountRequest
from condor.server.edge import edge_of
from condor.server.problems import PROBLEMS, Refused, told_of
from condor.server.reading import read_bytes

if TYPE_CHECKING:
    from collections.abc import Iterable

    from starlette.types import Receive, Scope, Send

    from condor.ports.mounts import Mount

#: What a program's token must be for.
SCOPE: Final = "record:read"
_PATH = re.compile(r"/[a-z][a-z0-9-]{0,30}")
_FORM: Final = "application/x-www-form-urlencoded"
_log = logging.getLogger("condor.server")


class _Rest(Convertor[str]):
    """Whatever stands in a path, line breaks too: Starlette's own ``path`` stops at them."""

    regex = r"[\s\S]*"

    def convert(self, value: str) -> str:
        return value

    def to_string(self, value: str) -> str:
        return value


register_url_convertor("rest", _Rest())


def mount_routes(mounts: Iterable[Mount], own: Iterable[str] = ()) -> list[Route]:
    """The routes of what packs serve.

    Args:
        own: addresses of the server itself; what stands below their first segment is no pack's.

    Raises:
        ValueError: a path that is none, is the server's own, or is another mount's.
    """
    taken = {f"/{path.split('/')[1]}" for path in own}
    routes: list[Route] = []
    for mount in mounts:
        if not _PATH.fullmatch(mount.path) or mount.path in taken:
            raise ValueError(f"a pack cannot serve {mount.path!r}: it is no free path of one segment")
        taken.add(mount.path)
        routes += [
            Route(path, _Mounted(mount, path), include_in_schema=False)
            for path in (mount.path, f"{mount.path}/{{rest:rest}}")
        ]
    return routes


class _Mounted:
    """One mount as an ASGI endpoint: every method reaches it, so that each is refused in its own form."""

    def __init__(self, mount: Mount, pattern: str) -> None:
        self._mount = mount
        #: As the metrics and the log name the route.
        self.path = pattern

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        scope["route"] = self
        request = Request(scope, receive)
        answer = await self._answer(request)
        response = Response(
            b"" if request.method == "HEAD" else answer.body, answer.status, headers=dict(answer.headers)
        )
        if request.method == "HEAD":
            response.headers["content-length"] = str(len(answer.body))
        await response(scope, receive, send)

    async def _answer(self, request: Request) -> MountAnswer:
        try:
            return await self._answered(request)
        except Refused as refused:
            return self._mount.refusal(PROBLEMS[refused.code].status, str(refused))
        except CondorError as fault:
            code, said, _ = told_of(fault)
            if PROBLEMS[code].status >= 500:
                self._log(fault)
            return self._mount.refusal(PROBLEMS[code].status, said)
        except Exception as fault:  # noqa: BLE001 - the last place where it can become an answer of this form
            self._log(fault)
            return self._mount.refusal(500, PROBLEMS["bug"].cause)

    def _log(self, fault: Exception) -> None:
        _log.error("an error of ours", exc_info=fault, extra={"facts": {"route": self.path}})

    async def _answered(self, request: Request) -> MountAnswer:
        edge = edge_of(request)
        caller = await edge.gate.caller(request)
        caller.need(SCOPE)
        scheme = "https" if edge.site.is_secure else "http"
        return await self._mount.answer(
            MountRequest(
                method=request.method,
                path=request.path_params.get("rest", ""),
                query=request.url.query,
                form=await _form(request),
                headers={name.lower(): value for name, value in request.headers.items()},
                principal=caller.principal,
                # A Host header that is none of ours was refused before any route.
                base_url=f"{scheme}://{request.headers['host']}{self._mount.path}",
            )
        )


async def _form(request: Request) -> str:
    """A posted form; a body of any other kind is not read.

    Raises:
        Refused: too long or too slow.
    """
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if request.method != "POST" or kind != _FORM:
        return ""
    return (await read_bytes(request)).decode("utf-8", "replace")


__all__ = ["SCOPE", "mount_routes"]
