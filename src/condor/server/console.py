"""The console's pages: one document for every address of a closed list, and the assets it loads.

Law 1: a page's address is on the list or it is 404: the console can stand in for no route of the API.
Law 2: an asset's name has its content's hash in it, so it is kept for ever; the document is asked for anew.
Law 3: what is served was read when the server started; nothing that a request says names a file.
"""

from __future__ import annotations

import gzip
import hashlib
import mimetypes
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Final

from fastapi import APIRouter, Request, Response

from condor.server.problems import Refused

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

#: Every address that the console draws; ``web/src/pages.tsx`` has the same list.
PAGES: Final = (
    "/",
    "/ask/{chat_id}",
    "/inbox",
    "/inbox/{suspend_id}",
    "/runs",
    "/runs/{run_id}",
    "/audit",
    "/policy",
    "/builder",
)

_FOR_EVER: Final = "public, max-age=31536000, immutable"
_ASK_FIRST: Final = "no-cache"
#: Bytes below which compressing saves no packet.
_GZIP_BYTES_MIN: Final = 1_000

_NOT_BUILT: Final = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Condor</title>
<h1>Condor answers; its console is not built</h1>
<p>The API is at <code>/api/v1</code>: sign in with <code>POST /api/session</code>. The command line does
all of it too: <code>condor --help</code>.
<h2>To get the console</h2>
<ol>
<li>Install Node 20 or newer, with npm.
<li>In a checkout of Condor: <code>make console</code>. Built wheels have it inside.
<li>Start this server again.
</ol>
</html>
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class _File:
    body: bytes
    media_type: str
    etag: str

    def answer(self, request: Request, cache: str) -> Response:
        """The file, compressed for who takes that; 304 for who has it."""
        headers = {"cache-control": cache, "etag": self.etag, "vary": "accept-encoding"}
        if self.etag in request.headers.get("if-none-match", ""):
            return Response(status_code=304, headers=headers)
        if len(self.body) < _GZIP_BYTES_MIN or "gzip" not in request.headers.get("accept-encoding", ""):
            return Response(self.body, media_type=self.media_type, headers=headers)
        headers["content-encoding"] = "gzip"
        return Response(_compressed(self.body), media_type=self.media_type, headers=headers)


def console_router(built: Path) -> APIRouter:
    """The routes of the console that was built there; without one, a page that says how to get it."""
    router = APIRouter(include_in_schema=False)
    assets = _read_assets(built / "assets")
    index = built / "index.html"
    document = _file("index.html", index.read_bytes() if index.is_file() else _NOT_BUILT.encode())

    async def page(request: Request) -> Response:
        return document.answer(request, _ASK_FIRST)

    async def asset(name: str, request: Request) -> Response:
        found = assets.get(name)
        if found is None:
            raise Refused("not_found")
        return found.answer(request, _FOR_EVER)

    for address in PAGES:
        router.add_api_route(address, page, methods=["GET", "HEAD"])
    router.add_api_route("/assets/{name}", asset, methods=["GET", "HEAD"])
    return router


@cache
def _read_assets(folder: Path) -> Mapping[str, _File]:
    if not folder.is_dir():
        return {}
    return {path.name: _file(path.name, path.read_bytes()) for path in sorted(folder.iterdir())}


def _file(name: str, body: bytes) -> _File:
    kind = mimetypes.guess_type(name)[0] or "application/octet-stream"
    return _File(
        body=body,
        media_type="text/javascript" if name.endswith(".js") else kind,
        etag=f'"{hashlib.sha256(body).hexdigest()[:32]}"',
    )


@cache
def _compressed(body: bytes) -> bytes:
    """Once for each file, when somebody first asks for it."""
    return gzip.compress(body, 9, mtime=0)


__all__ = ["PAGES", "console_router"]
