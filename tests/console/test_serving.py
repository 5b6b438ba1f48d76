"""The console's pages and assets, as the server gives them."""

from __future__ import annotations

import gzip
import re
from typing import TYPE_CHECKING

import httpx
import pytest
from fastapi import FastAPI

import condor.server.app
from condor.server.console import PAGES, console_router
from tests.server.support import House, open_house, problem_of

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

DOCUMENT = "<!doctype html><title>Condor</title>"
SCRIPT = "console.log(1);\n" * 200


@pytest.fixture
def built(tmp_path: Path) -> Path:
    """A console as the build leaves one."""
    assets = tmp_path / "built" / "assets"
    assets.mkdir(parents=True)
    (tmp_path / "built" / "index.html").write_text(DOCUMENT, encoding="utf-8")
    (assets / "index-abc.js").write_text(SCRIPT, encoding="utf-8")
    (assets / "mark-abc.svg").write_text("<svg/>", encoding="utf-8")
    return tmp_path / "built"


@pytest.fixture
async def house(tmp_path: Path, built: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[House]:
    """A whole server with that console."""
    monkeypatch.setattr(condor.server.app, "BUILT", built)
    async with open_house(tmp_path / "home") as opened:
        yield opened


async def test_every_page_is_the_one_document(house: House) -> None:
    """A reload finds every address of the console; nobody has to be signed in for that."""
    client = await house.client()
    for page in PAGES:
        answer = await client.get(re.sub(r"\{\w+\}", "some_id", page))
        assert (answer.status_code, answer.text) == (200, DOCUMENT), page
        assert answer.headers["content-type"].startswith("text/html")
        assert answer.headers["cache-control"] == "no-cache"
        assert "script-src 'self'" in answer.headers["content-security-policy"]
        assert "require-trusted-types-for 'script'" in answer.headers["content-security-policy"]
        assert "unsafe" not in answer.headers["content-security-policy"]


async def test_an_address_that_is_no_page_is_404(house: House) -> None:
    """The console stands in for nothing: a wrong address of the API is the API's to refuse."""
    client = await house.client(accept="text/html")
    for path in ("/api/nope", "/api/v1/runs/x/nope", "/nope", "/inbox/a/b", "/assets/", "/assets/nope.js"):
        assert problem_of(await client.get(path)) == (404, "not_found"), path
    assert problem_of(await client.get("/api/runs")) == (401, "not_signed_in")
    assert problem_of(await client.post("/inbox", json={})) == (405, "method_not_allowed")


async def test_no_path_leads_out_of_the_assets(house: House) -> None:
    """A name is looked up among what was built, never in the file system."""
    client = await house.client()
    for path in ("/assets/../index.html", "/assets/..%2findex.html", "/assets/%2e%2e%2findex.html"):
        answer = await client.get(path)
        assert answer.status_code == 404, path


async def test_assets_are_kept_for_ever_and_compressed(house: House) -> None:
    """An asset's name changes with its content; what a browser has is not sent again."""
    client = await house.client()
    first = await client.get("/assets/index-abc.js")
    assert (first.status_code, first.text) == (200, SCRIPT)
    assert first.headers["cache-control"] == "public, max-age=31536000, immutable"
    assert first.headers["content-type"].startswith("text/javascript")
    assert first.headers["content-encoding"] == "gzip"
    assert int(first.headers["content-length"]) == len(gzip.compress(SCRIPT.encode(), 9, mtime=0))
    again = await client.get("/assets/index-abc.js", headers={"if-none-match": first.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")
    plain = await client.get("/assets/index-abc.js", headers={"accept-encoding": "identity"})
    assert "content-encoding" not in plain.headers
    small = await client.get("/assets/mark-abc.svg")
    assert small.headers["content-type"].startswith("image/svg+xml")
    assert "content-encoding" not in small.headers


async def test_without_a_console_every_page_says_how_to_get_it(tmp_path: Path) -> None:
    """The API is whole without Node; an address that stands in somebody's bookmarks is answered too."""
    app = FastAPI()
    app.include_router(console_router(tmp_path / "nothing"))
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://here") as client:
        for page in PAGES:
            answer = await client.get(re.sub(r"\{\w+\}", "some_id", page))
            assert answer.status_code == 200, page
            assert "make console" in answer.text, page
        assert (await client.get("/nope")).status_code == 404


async def test_who_am_i_brings_a_request_to_try(house: House) -> None:
    """The shop has none; a demonstration has one (tests/console drives it)."""
    me = (await (await house.signed_in("ann")).get("/api/session")).json()
    assert me["example"] is None
    # The shop's planner stands in for a pack's rules: no model is configured.
    assert me["plannedBy"] == "pack"
