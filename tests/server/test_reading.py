"""Bodies are bounded, strict, and refused before anything is stored."""

from __future__ import annotations

import asyncio
import contextlib
import json
import time
from typing import TYPE_CHECKING

import pytest

from condor.ports.encoding import BODY_BYTES_MAX, BODY_DEPTH_MAX
from condor.server import protocol
from condor.server.problems import Refused
from condor.server.reading import valid
from condor.server.shapes import ApproveBody
from tests.server.support import card_of, problem_of

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from tests.server.support import House

JSON = {"content-type": "application/json"}

#: Bodies of ``POST /api/runs/{id}/resume`` that are no answer; ``%s`` is the card.
NO_ANSWERS = [
    '{"suspendId":"%s","resumeData":{"approved":"true"}}',
    '{"suspendId":"%s","resumeData":{"approved":"on"}}',
    '{"suspendId":"%s","resumeData":{"approved":1}}',
    '{"suspendId":"%s","resumeData":{"approved":1.0}}',
    '{"suspendId":"%s","resumeData":{"approved":[true]}}',
    '{"suspendId":"%s","resumeData":{"approved":null}}',
    '{"suspendId":"%s","resumeData":{"approved":NaN}}',
    '{"suspendId":"%s","resumeData":{"approved":true,"reason":"\\ud800"}}',
    '{"suspendId":"%s","resumeData":{"approved":true,"reason":9007199254740993}}',
    '{"suspendId":"%s","resumeData":{"approved":false,"approved":true}}',
    '{"suspendId":"%s","resumeData":{"approved":false,"\\u0061pproved":true}}',
    '{"suspendId":"%s","suspendId":"%s","resumeData":{"approved":true}}',
    '{"suspendId":"%s","resumeData":{"approved":true,"approverId":"cleo","role":"admin"}}',
    '{"suspendId":"%s","resumeData":{"approved":true},"approverId":"cleo"}',
    '{"suspendId":"%s","resumeData":{"dose":"5 mg"}}',
    '{"suspendId":"%s","resumeData":{}}',
    '{"suspendId":"%s","resumeData":[]}',
    '{"suspendId":"%s","resumeData":null}',
    '{"suspendId":"%s"}',
    '{"suspendId":["%s"],"resumeData":{"approved":true}}',
    '{"approved":true}',
    "[]",
    "null",
    "",
    "{",
]


async def test_what_is_no_answer_changes_nothing(house: House) -> None:
    """422 each; the run stays suspended and can still be approved; nothing ran."""
    run = await house.parked()
    cleo, path = await house.signed_in("cleo"), f"/api/runs/{run['runId']}/resume"
    for text in NO_ANSWERS:
        answer = await cleo.post(path, content=text.replace("%s", card_of(run)).encode(), headers=JSON)
        assert problem_of(answer)[0] == 422, text
    assert (await cleo.get(f"/api/runs/{run['runId']}")).json() == run
    assert house.shop.ledger.count() == 0
    good = {"suspendId": card_of(run), "resumeData": {"approved": True}}
    assert (await cleo.post(path, json=good)).status_code == 202
    assert (await house.rest(run["runId"]))["status"] == "succeeded"


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        (b'{"request":"' + b"a" * BODY_BYTES_MAX + b'"}', 413, "too_large"),
        (b'{"plan":' + b'{"a":' * BODY_DEPTH_MAX + b"1" + b"}" * BODY_DEPTH_MAX + b"}", 400, "too_deep"),
        (b'{"a":' + b"[" * 100_000, 400, "too_deep"),
        (b'{"request":"a","request":"b"}', 422, "duplicate_key"),
        (b'{"request":NaN}', 422, "malformed_json"),
        (b'{"request":"\xff"}', 422, "malformed_json"),
        (b'{"request":"\\udc00"}', 422, "malformed_json"),
        (b'{"plan":{"steps":[]},"request":"a"}', 422, "invalid_input"),
        (b'{"request":""}', 422, "invalid_input"),
        (b"{}", 422, "invalid_input"),
        (b'{"request":7}', 422, "invalid_input"),
        (b'{"request":"find A","autonomy":"free"}', 422, "unknown_autonomy"),
        (b'{"request":"find A","tenant":"other"}', 422, "invalid_input"),
        (b'{"request":"find A","sessionId":"a\\u0007"}', 422, "invalid_input"),
        (b'{"plan":[]}', 422, "invalid_plan"),
        (b'{"plan":{"steps":[{"id":"a","tool":"no.such"}]}}', 422, "unknown_tool"),
        (b'{"plan":{"steps":[{"id":"a","tool":"shop.wait","after":["a"]}]}}', 422, "cyclic_plan"),
    ],
    ids=lambda value: value[:24] if isinstance(value, bytes) else None,
)
async def test_a_body_that_is_refused_stores_nothing(
    house: House, body: bytes, status: int, code: str
) -> None:
    """Each with its status and code."""
    ann = await house.signed_in("ann")
    assert problem_of(await ann.post("/api/runs", content=body, headers=JSON)) == (status, code)
    assert list(await house.condor.store.runs()) == []


@pytest.mark.parametrize(
    "kind", ["text/plain", "application/x-www-form-urlencoded", "", "application/json; charset=latin-1"]
)
async def test_only_json_changes_state(house: House, kind: str) -> None:
    """A form of another site cannot send what we take (B18)."""
    ann = await house.signed_in("ann")
    answer = await ann.post("/api/runs", content=b'{"request":"find A"}', headers={"content-type": kind})
    assert problem_of(answer) == (415, "not_json")


async def test_json_in_utf8_is_json(house: House) -> None:
    """A charset that says so is no other kind."""
    ann = await house.signed_in("ann")
    kind = {"content-type": "application/json; charset=UTF-8"}
    assert (await ann.post("/api/runs", content=b'{"request":"find A"}', headers=kind)).status_code == 201


async def test_a_huge_body_is_not_read(house: House) -> None:
    """20 MB are refused by their length, and by what comes when they tell none (B11)."""
    ann = await house.signed_in("ann")

    async def chunks() -> AsyncIterator[bytes]:
        for _ in range(320):
            yield b" " * 65_536

    begun = time.perf_counter()
    told = await ann.post("/api/runs", content=b" " * 20_000_000, headers=JSON)
    assert problem_of(told) == (413, "too_large")
    untold = await ann.post("/api/runs", content=chunks(), headers=JSON)
    assert problem_of(untold) == (413, "too_large")
    assert time.perf_counter() - begun < 3


async def test_a_body_that_drips_is_given_up(house: House) -> None:
    """A byte a second, without a length: 408 within the second, and others are served meanwhile (B11)."""
    ann = await house.signed_in("ann")
    cookie = "; ".join(f"{name}={value}" for name, value in ann.cookies.items())
    host, port = house.url.removeprefix("http://").split(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    writer.write(
        f"POST /api/runs HTTP/1.1\r\nhost: {host}:{port}\r\ncookie: {cookie}\r\n"
        "content-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n1\r\n{\r\n".encode()
    )
    begun = time.perf_counter()
    assert (await ann.get("/healthz")).status_code == 200
    answer = await asyncio.wait_for(reader.read(), 5)
    assert answer.startswith(b"HTTP/1.1 408")
    assert time.perf_counter() - begun < 1.5
    assert json.loads(answer.split(b"\r\n\r\n")[1])["code"] == "too_slow"
    writer.close()


async def test_a_head_without_end_is_not_collected(house: House) -> None:
    """More than 64 KB of headers are no request; a large one that ends is."""
    host, port = house.url.removeprefix("http://").split(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    writer.write(b"GET /healthz HTTP/1.1\r\nx: ")
    with contextlib.suppress(ConnectionError):
        for _ in range(100):
            writer.write(b"a" * 65_536)
            await writer.drain()
    with contextlib.suppress(ConnectionError):
        assert (await asyncio.wait_for(reader.read(), 5)).startswith(b"HTTP/1.1 400")
    writer.close()
    ann = await house.signed_in("ann")
    assert (await ann.get("/api/session", headers={"x": "a" * 50_000})).status_code == 200


async def test_a_head_that_drips_is_given_up(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    """A connection that never asks is closed; one that has asked, and waits for more to ask, is not."""
    monkeypatch.setattr(protocol, "HEAD_S_MAX", 0.1)
    host, port = house.url.removeprefix("http://").split(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    writer.write(b"GET /healthz HTTP/1.1\r\nx: ")
    assert await asyncio.wait_for(reader.read(), 5) == b""
    writer.close()
    run = await house.parked()
    ann = await house.signed_in("ann")
    assert (await ann.get(f"/api/runs/{run['runId']}")).status_code == 200


def test_an_unknown_key_is_not_told_back() -> None:
    """A key is the body's own word: the place above it is named, once, and beside it what else is wrong."""
    with pytest.raises(Refused) as refused:
        valid({"ZZCANARY": 1, "ZZCANARY2": 2, "approved": "maybe"}, ApproveBody)
    assert "ZZCANARY" not in f"{refused.value} {refused.value.more}"
    assert str(refused.value).startswith("the body is wrong at ")
    assert "a key is not known here" in str(refused.value.more)
    assert "/approved" in str(refused.value)
