"""A canary in every place that a record can be in: nowhere but in what its readers read (B09, B07)."""

from __future__ import annotations

import io
import json
import logging
from typing import TYPE_CHECKING

import pytest

from condor.ports.clock import SystemClock
from condor.server.logs import JsonLines
from tests.server.support import approve, refund, step

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.server.support import House

CANARY = "ZZCANARY-7731"
SSN = "123-45-6789"


@pytest.fixture
def logged() -> Iterator[io.StringIO]:
    """Everything that is logged, as a server logs it."""
    said = io.StringIO()
    handler = logging.StreamHandler(said)
    handler.setFormatter(JsonLines(SystemClock()))
    root, level = logging.getLogger(), logging.getLogger().level
    root.addHandler(handler)
    root.setLevel(logging.DEBUG)
    # The tests' own client logs what it sends.
    quiet = [logging.getLogger(name) for name in ("httpx", "httpcore")]
    for logger in quiet:
        logger.setLevel(logging.CRITICAL)
    yield said
    for logger in quiet:
        logger.setLevel(logging.NOTSET)
    root.setLevel(level)
    root.removeHandler(handler)


async def test_no_record_is_logged_counted_or_repeated(house: House, logged: io.StringIO) -> None:
    """In a request, a plan, arguments, a reason, a name: logs, metrics and refusals hold none of it."""
    ann, cleo = await house.signed_in("ann"), await house.signed_in("cleo")
    run = await house.parked(plan=refund(CANARY))
    path = f"/api/runs/{run['runId']}"
    refused = [
        await ann.post("/api/runs", json={"op": "update", "patient_name": CANARY, "ssn": SSN}),
        await ann.post(
            "/api/runs",
            json={"plan": {"steps": [step("f", "shop.find", order={"n": CANARY}) | {"after": CANARY}]}},
        ),
        await ann.post("/api/runs", json={"plan": {"steps": [step("f", CANARY)]}}),
        await ann.post("/api/runs", json={"plan": {"steps": [step(CANARY + " ", "shop.find")]}}),
        await ann.post("/api/runs", json={"request": "find A", "autonomy": CANARY}),
        await ann.post("/api/runs", json={"request": "find A", "sessionId": CANARY + "\x07"}),
        await ann.post(
            "/api/runs",
            content=f'{{"request":"{CANARY}'.encode(),
            headers={"content-type": "application/json"},
        ),
        await cleo.post(f"{path}/resume", json={"suspendId": CANARY, "resumeData": {"approved": CANARY}}),
        await cleo.post(f"{path}/approve", json=approve(run) | {"approved": CANARY}),
        await cleo.post(f"{path}/approve", json=approve(run) | {"reason": [CANARY]}),
        await ann.post("/api/chat", json={"id": 7, "messages": CANARY}),
        await ann.post("/agui", json={"threadId": "t", "runId": "r", "messages": [{"role": [CANARY]}]}),
        await ann.post("/api/policy/explain", json={"tool": CANARY}),
        await ann.post("/api/session", json={"principal": CANARY, "code": SSN}),
        await ann.get(f"/api/runs/{CANARY}"),
        await ann.get(f"/api/{CANARY}", params={"q": CANARY}),
    ]
    for answer in refused:
        assert answer.status_code >= 400, answer.request.url
        assert CANARY not in answer.text, answer.text
        assert SSN not in answer.text
    await ann.post("/api/runs", json={"request": f"find {CANARY}"})
    await ann.post("/api/runs", json={"request": f"{CANARY} is not understood"})
    await cleo.post(f"{path}/approve", json=approve(run, reason=f"seen with {CANARY}"))
    assert (await house.rest(run["runId"]))["status"] == "succeeded"
    assert CANARY in (await cleo.get(path)).text
    metrics = (await ann.get("/metrics")).text
    lines = logged.getvalue()
    assert '"message": "request"' in lines
    for text in (metrics, lines):
        assert CANARY not in text
        assert SSN not in text
        assert run["runId"] not in metrics


async def test_a_failing_tool_says_nothing_in_the_log(house: House, logged: io.StringIO) -> None:
    """Its message may hold a record; its kind does not."""
    ann = await house.signed_in("ann")
    begun = await ann.post(
        "/api/runs", json={"plan": {"steps": [step("r", "shop.note", text=CANARY)]}, "autonomy": "autonomous"}
    )
    house.shop.ledger._path = house.home / "no" / CANARY / "ledger.db"
    await house.rest(begun.json()["runId"])
    assert CANARY not in logged.getvalue()


def test_a_line_is_a_line() -> None:
    """Control characters of whatever was logged are escapes (CWE-117); an exception's words are not told."""
    said = io.StringIO()
    handler = logging.StreamHandler(said)
    handler.setFormatter(JsonLines(SystemClock()))
    logger = logging.Logger("test")
    logger.addHandler(handler)
    forged = "ok\r\n2026-11-30T00:00:00Z INFO decision=approved actor=admin\x1b[2K \u2028 \x85"
    try:
        int(forged)
    except ValueError:
        logger.exception("answered: %s", forged, extra={"facts": {"reason": forged}})
    (line,) = said.getvalue().splitlines()
    told = json.loads(line)
    assert line.isascii() and line.isprintable()
    assert told["reason"] == forged
    assert told["fault"] == "ValueError"
    assert told["places"][-1].endswith("test_a_line_is_a_line")
    assert sum("decision=approved" in str(value) for value in told.values()) == 2
