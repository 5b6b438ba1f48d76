"""A FHIR server that lies, drips, floods or never ends: each call ends with one ``FhirError``."""

from __future__ import annotations

import asyncio
import gzip
import json
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import pytest

from condor_hms.fhir import http_wire
from condor_hms.fhir.errors import FhirError, RequestRefused, Unavailable
from condor_hms.fhir.http import HttpFhirStore
from condor_hms.fhir.http_address import FhirAddress
from tests.hms.fhir.support import MELISSA, bundle, flag, post
from tests.hms.fhir.test_http import at, patient, serving

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

FHIR = "application/fhir+json"


@asynccontextmanager
async def saying(body: bytes, media_type: str = FHIR, *heads: str, drip_s: float = 0) -> AsyncIterator[str]:
    """A server that answers everything with these bytes; its base URL.

    Args:
        drip_s: seconds between two bytes.
    """

    answering: set[asyncio.Task[Any]] = set()

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        own = asyncio.current_task()
        assert own is not None
        answering.add(own)
        try:
            await reader.readuntil(b"\r\n\r\n")
            lines = [f"content-type: {media_type}", f"content-length: {len(body)}", "connection: close"]
            writer.write("\r\n".join(["HTTP/1.1 200 x", *lines, *heads]).encode() + b"\r\n\r\n")
            for part in (body[i : i + 1] for i in range(len(body))) if drip_s else (body,):
                writer.write(part)
                await writer.drain()
                await asyncio.sleep(drip_s)
        except ConnectionError:
            return
        finally:
            writer.close()

    server = await asyncio.start_server(handle, "127.0.0.1", 0)
    try:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/fhir"
    finally:
        server.close()
        # Whoever asked has left: each sees it at its next byte.
        await asyncio.gather(*answering)
        await asyncio.sleep(0.01)


def encoded(**changes: Any) -> bytes:
    return json.dumps(patient(**changes)).encode()


@pytest.mark.parametrize(
    ("body", "media_type", "said"),
    [
        (encoded(id="p2"), FHIR, "it is Patient/p2, not Patient/pt-"),
        (encoded(resourceType="Observation"), FHIR, "it is Observation/pt-"),
        (b'{"resourceType": "OperationOutcome", "issue": []}', FHIR, "it is OperationOutcome"),
        (encoded(meta={}), FHIR, "without meta.versionId"),
        (encoded(meta=[]), FHIR, "without meta.versionId"),
        (encoded(version=""), FHIR, "without meta.versionId"),
        (encoded(), "text/html", "text/html, not FHIR JSON"),
        (encoded(), "application/fhir+xml", "not FHIR JSON"),
        (encoded()[:-1] + b', "id": "pt-0612cf63eb84"}', FHIR, "'id' is said twice"),
        (encoded()[:-1] + b', "x": NaN}', FHIR, "NaN is no number"),
        (encoded()[:-1] + b', "x": 1e999}', FHIR, "out of range"),
        (encoded()[:-1] + b', "x": "\\ud800"}', FHIR, "JSON that can be kept"),
        (encoded()[:-1] + b', "x": ' + b"[" * 100_000 + b"]" * 100_000 + b"}", FHIR, "too deep"),
        (encoded()[:-1] + b', "x": ' + b"[" * 400 + b"]" * 400 + b"}", FHIR, "JSON that can be kept"),
        (b"[]", FHIR, "it is no resource"),
        (b"", FHIR, "without JSON"),
        (b"\xff\xfe", FHIR, "without JSON"),
    ],
)
async def test_what_is_not_the_resource_that_was_asked_for(body: bytes, media_type: str, said: str) -> None:
    """Refused, with what it is and which request it answers."""
    async with saying(body, media_type) as url, HttpFhirStore(url) as store:
        with pytest.raises(Unavailable, match="GET Patient/pt-") as refused:
            await store.read(MELISSA)
    assert said in str(refused.value)


@pytest.mark.parametrize(
    "answer",
    [
        {"entry": [None, 5]},
        {"entry": {}},
        {"entry": [{"resource": 5}]},
        {"entry": [{"resource": patient(), "search": []}]},
        {"entry": [{"resource": patient(meta={})}]},
        {"entry": [{"resource": patient(id=None)}]},
        {"entry": [{"resource": flag(id="f", meta={"versionId": "1"})}]},
        {"entry": [{"resource": patient(name=[{"family": 5}])}]},
        {"total": "many"},
        {"total": True},
        {"link": [None]},
        {"link": [{"relation": "next", "url": 5}]},
        {"resourceType": "Patient"},
    ],
    ids=str,
)
async def test_a_page_that_is_none(answer: dict[str, Any]) -> None:
    """Each is refused and nothing else comes out."""
    body = json.dumps({"resourceType": "Bundle", "type": "searchset", **answer}).encode()
    async with saying(body) as url, HttpFhirStore(url) as store:
        with pytest.raises(Unavailable, match="refused"):
            await store.search("Patient", {"name": "Melissa"})


@pytest.mark.parametrize(
    "entries", [None, [None], [{"response": 1}], [{"response": {"status": "201 Created"}}]], ids=str
)
async def test_a_transaction_whose_answer_is_none(entries: Any) -> None:
    """Whether it was written is not known: look first."""

    def answer(method: str, path: str, *_: Any) -> Any:
        found = at(path) if path.count("/") > 2 else {"resourceType": "Bundle"}
        return 200, {"resourceType": "Bundle", "entry": entries} if method == "POST" else found, {}

    async with serving(answer) as url, HttpFhirStore(url) as store:
        with pytest.raises(Unavailable, match="look before repeating"):
            await store.transact(bundle(post(flag())))


async def test_pages_without_end() -> None:
    """In a circle, empty for ever, or new for ever: a call ends."""
    asked: list[str] = []

    def circle(*_: Any) -> Any:
        asked.append("circle")
        link = [{"relation": "next", "url": "Patient?page=1"}]
        return 200, {"resourceType": "Bundle", "link": link, "entry": [{"resource": patient()}]}, {}

    def empty(*_: Any) -> Any:
        asked.append("empty")
        link = [{"relation": "next", "url": f"Patient?page={len(asked)}"}]
        return 200, {"resourceType": "Bundle", "link": link}, {}

    def new(*_: Any) -> Any:
        asked.append("new")
        rows = [{"resource": patient(id=f"{len(asked)}-{index}")} for index in range(200)]
        link = [{"relation": "next", "url": f"Patient?page={len(asked)}"}]
        return 200, {"resourceType": "Bundle", "link": link, "entry": rows}, {}

    for answer, error, most in ((circle, Unavailable, 2), (empty, Unavailable, 5), (new, RequestRefused, 51)):
        asked.clear()
        async with serving(answer) as url, HttpFhirStore(url) as store:
            with pytest.raises(error):
                await store.search("Patient", {})
        assert len(asked) <= most


async def test_an_answer_that_drips_and_one_call_of_many_requests() -> None:
    """Seconds are of the whole request, and of the whole call."""
    async with saying(encoded() * 100, drip_s=0.02) as url, HttpFhirStore(url, timeout_s=0.2) as store:
        with pytest.raises(Unavailable, match=r"had not ended after 0\.2 s"):
            await store.read(MELISSA)
    rows: list[int] = []

    def slow(*_: Any) -> Any:
        rows.append(len(rows))
        link = [{"relation": "next", "url": f"Patient?page={len(rows)}"}]
        entry = [{"resource": patient(id=f"p{len(rows)}")}]
        return 200, {"resourceType": "Bundle", "link": link, "entry": entry}, {}

    async with serving(slow) as url, HttpFhirStore(url, timeout_s=0.05) as store:
        with pytest.raises(Unavailable, match="had not ended after"):
            await store.search("Patient", {})
        await store.aclose()
        # The server sees that nobody waits any more.
        await asyncio.sleep(0.05)


@pytest.mark.parametrize("is_zipped", [False, True])
async def test_an_answer_without_measure(monkeypatch: pytest.MonkeyPatch, *, is_zipped: bool) -> None:
    """Bytes are counted as they are kept: decompressed."""
    monkeypatch.setattr(http_wire, "ANSWER_BYTES_MAX", 1_000)
    body = b" " * 20_000
    sent, heads = (gzip.compress(body, 1), ["content-encoding: gzip"]) if is_zipped else (body, [])
    async with saying(sent, FHIR, *heads) as url, HttpFhirStore(url) as store:
        with pytest.raises(Unavailable, match="more than 1000 bytes"):
            await store.read(MELISSA)


@pytest.mark.parametrize(("coding", "cut"), [("gzip", 20), ("gzip", 5_000), ("br", 5_000)])
async def test_a_compressed_answer(coding: str, cut: int) -> None:
    """Read whole; a broken, a cut one and one that was not asked for are refused."""
    body = gzip.compress(encoded())
    heads = f"content-encoding: {coding}"
    async with saying(body[:cut], FHIR, heads) as url, HttpFhirStore(url) as store:
        if coding == "gzip" and cut > len(body):
            assert (await store.read(MELISSA))["id"] == "pt-0612cf63eb84"
            return
        with pytest.raises(Unavailable, match=r"cut off|was not asked for"):
            await store.read(MELISSA)


OWN = FhirAddress("https://fhir.hospital.example/R4/")


@pytest.mark.parametrize(
    "path",
    [
        "/R4/../secret",
        "/R4/%2e%2e/secret",
        "/R4/%2E./secret",
        "/R4/..%2fsecret",
        "/R4/..%5csecret",
        "/R4/%252e%252e/secret",
        "/R4/%252e%252e%252fsecret",
        "/R4/..;x=1/secret",
        "/R4/./Patient",
        "/R4/Patient/..",
        "/R4/Patient/../../R4/Patient",
        "/R4/%25252525252e/x",
    ],
)
@pytest.mark.parametrize("origin", ["https://fhir.hospital.example", ""])
def test_a_link_that_climbs(path: str, origin: str) -> None:
    """Whatever the server behind would make of it, nothing is sent there."""
    with pytest.raises(Unavailable, match="next page climbs"):
        OWN.below(f"{origin}{path}")


async def test_a_token_does_not_climb() -> None:
    """The next page is asked for below the address, or not at all."""
    seen: list[str] = []

    def answer(method: str, path: str, *_: Any) -> Any:
        seen.append(path)
        return 200, {"resourceType": "Bundle", "link": [{"relation": "next", "url": "/fhir/../secret"}]}, {}

    async with serving(answer) as url, HttpFhirStore(url, token="t") as store:
        for call in (store.search("Patient", {}), store.vread(MELISSA, "..")):
            with pytest.raises(FhirError):
                await call
    assert seen == ["/fhir/Patient?_count=200"]
