"""What a FHIR server may answer, and what becomes of it: errors, pages, tokens, races."""

from __future__ import annotations

import asyncio
import json
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import pytest

from condor_hms.fhir.errors import (
    Gone,
    NotFound,
    RequestRefused,
    Unavailable,
    ValidationRefused,
    VersionConflict,
)
from condor_hms.fhir.http import HttpFhirStore
from tests.hms.fhir.support import MELISSA, allergy, bundle, flag, post, put

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

Answer = tuple[int, dict[str, Any], dict[str, str]]


@asynccontextmanager
async def serving(answer: Callable[[str, str, dict[str, str], str], Answer]) -> AsyncIterator[str]:
    """A server on the loopback interface that answers each request by a function; its base URL."""

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode()
        except (asyncio.IncompleteReadError, ConnectionError):
            # Whoever asked has left in the middle.
            writer.close()
            return
        first, *lines = head.split("\r\n")
        method, path, _ = first.split(" ")
        headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in lines if line)}
        body = (await reader.readexactly(int(headers.get("content-length", 0)))).decode()
        status, resource, extra = answer(method, path, headers, body)
        content = json.dumps(resource).encode()
        said = {"content-type": "application/fhir+json", "content-length": str(len(content)), **extra}
        lines_out = [
            f"HTTP/1.1 {status} x",
            *(f"{name}: {value}" for name, value in said.items()),
            "connection: close",
        ]
        writer.write("\r\n".join(lines_out).encode() + b"\r\n\r\n" + content)
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(handle, "127.0.0.1", 0)
    async with server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/fhir"


def patient(version: str = "abc", **changes: Any) -> dict[str, Any]:
    return {"resourceType": "Patient", "id": "pt-0612cf63eb84", "meta": {"versionId": version}, **changes}


def at(path: str) -> dict[str, Any]:
    """A resource of the type and id that a path ends with, and of no other content."""
    kind, own = path.split("/")[-2:]
    return {"resourceType": kind, "id": own, "meta": {"versionId": "abc"}}


def outcome(text: str, **issue: Any) -> dict[str, Any]:
    return {
        "resourceType": "OperationOutcome",
        "issue": [{"severity": "error", "code": "invalid", "diagnostics": text, **issue}],
    }


@pytest.mark.parametrize(
    ("status", "resource", "error", "said"),
    [
        (404, outcome("no"), NotFound, "Patient/pt-0612cf63eb84 is not in the record"),
        (410, outcome("gone"), Gone, "is not in the record"),
        (401, outcome("who"), RequestRefused, "check CONDOR_FHIR_TOKEN"),
        (403, outcome("no"), RequestRefused, "access is refused"),
        (400, outcome("bad"), RequestRefused, "400: bad"),
        (422, outcome("bad", expression=["Patient.name"]), ValidationRefused, "Patient.name: bad"),
        (429, outcome("slow"), Unavailable, "answered 429"),
        (503, outcome("down"), Unavailable, "answered 503"),
        (302, outcome("there"), Unavailable, "answered 302"),
    ],
)
async def test_what_a_server_refuses(
    status: int, resource: dict[str, Any], error: type[Exception], said: str
) -> None:
    """Each answer is one of the port's errors; nothing else comes out."""
    extra = {"location": "http://127.0.0.1:1/"} if status == 302 else {}
    async with (
        serving(lambda *_: (status, resource, extra)) as url,
        HttpFhirStore(url) as store,
    ):
        with pytest.raises(error, match=said):
            await store.read(MELISSA)


async def test_nobody_answers() -> None:
    """A closed port, and a URL that is none."""
    async with HttpFhirStore("http://127.0.0.1:1/fhir", timeout_s=2) as store:
        with pytest.raises(Unavailable, match="look before repeating a write"):
            await store.read(MELISSA)
    for url in ("fhir.example.org", "ftp://x/y", "https://"):
        with pytest.raises(Unavailable, match="is no URL"):
            HttpFhirStore(url)


async def test_a_token_goes_over_tls_or_nowhere() -> None:
    """Never in the clear to another machine; to this one with every request, and no stale answer is taken."""
    with pytest.raises(Unavailable, match="over https only"):
        HttpFhirStore("http://fhir.example.org/R4", token="t")
    seen: list[dict[str, str]] = []

    def answer(method: str, path: str, headers: dict[str, str], body: str) -> Answer:
        seen.append(headers)
        return 200, patient(), {}

    async with serving(answer) as url, HttpFhirStore(url, token="t") as store:
        await store.read(MELISSA)
    assert (seen[0]["authorization"], seen[0]["cache-control"]) == ("Bearer t", "no-cache")


async def test_pages_are_followed_on_the_same_server_only() -> None:
    """All pages are one answer; a page elsewhere, or a missing one, is no answer."""

    def page(*rows: dict[str, Any], link: str = "", total: int | None = None) -> dict[str, Any]:
        found: dict[str, Any] = {"resourceType": "Bundle", "entry": [{"resource": row} for row in rows]}
        if link:
            found["link"] = [{"relation": "next", "url": link}]
        return found if total is None else {**found, "total": total}

    one, two = patient(id="a", birthDate="1979-04-01"), patient(id="b", birthDate="1980-01-01")

    def paged(method: str, path: str, headers: dict[str, str], body: str) -> Answer:
        return (
            (200, page(two), {}) if "page=2" in path else (200, page(one, link="Patient?page=2", total=2), {})
        )

    async with serving(paged) as url, HttpFhirStore(url) as store:
        assert [row["id"] for row in await store.search("Patient", {})] == ["a", "b"]
        # A filter that a server ignores is held here.
        assert [row["id"] for row in await store.search("Patient", {"birthdate": "1979"})] == ["a"]
    for wrong, said in (
        (page(one, link="http://127.0.0.2:1/Patient?page=2"), "on another server"),
        (page(one, total=2), "1 of 2 matches and no next page"),
    ):
        async with serving(lambda *_, wrong=wrong: (200, wrong, {})) as url, HttpFhirStore(url) as store:
            with pytest.raises(Unavailable, match=said):
                await store.search("Patient", {})


async def test_a_race_is_told_by_the_versions() -> None:
    """412 and 409: whoever was faster is found by looking again."""
    state = {"version": "1"}

    def answer(method: str, path: str, headers: dict[str, str], body: str) -> Answer:
        if method == "POST":
            state["version"] = "2"
            return 409, outcome("changed"), {}
        kept = {**flag(id="f"), "meta": {"versionId": state["version"]}}
        return 200, kept if "Flag/" in path else at(path), {}

    async with serving(answer) as url, HttpFhirStore(url) as store:
        with pytest.raises(VersionConflict) as conflict:
            await store.transact(bundle(put(flag(id="f", status="inactive"), "1")))
    assert (conflict.value.expected, conflict.value.current) == ("1", "2")


async def test_a_part_of_a_transaction_is_no_transaction() -> None:
    """A server that answers for fewer entries, or with a failure among them, is not believed."""
    answers: tuple[list[Any], ...] = ([], [{"response": {"status": "422"}}])
    for entries in answers:

        def answer(method: str, path: str, *_: Any, entries: list[Any] = entries) -> Answer:
            if method == "POST":
                return 200, {"resourceType": "Bundle", "entry": entries}, {}
            return 200, at(path), {}

        async with serving(answer) as url, HttpFhirStore(url) as store:
            with pytest.raises(Unavailable):
                await store.transact(bundle(post(allergy(patient={"reference": MELISSA}))))


async def test_a_home_opened_for_looking_writes_nothing() -> None:
    """Refused here, before anything is asked."""
    async with HttpFhirStore("http://127.0.0.1:1/fhir", read_only=True) as store:
        with pytest.raises(RequestRefused, match="reading only"):
            await store.transact(bundle(post(flag())))
