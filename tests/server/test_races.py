"""One decision: of any number of answers, from any number of clients, one wins."""

from __future__ import annotations

import asyncio
import json
import sys
from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest

from tests.server.support import PATIENCE_S, card_of, refund

if TYPE_CHECKING:
    from tests.server.support import House

#: Answers of one client process, half of each kind.
RACERS = 50


async def raced(house: House, order: str) -> tuple[Counter[tuple[int, str]], str]:
    """A hundred answers to one card from two processes; what they were told, and how the run ended."""
    run = await house.parked(plan=refund(order))
    cleo = await house.signed_in("cleo")
    cookies = ["; ".join(f"{name}={value}" for name, value in cleo.cookies.items())]
    bodies = [
        {"suspendId": card_of(run), "approved": number % 2 == 0, "reason": f"racer {number}"}
        for number in range(RACERS)
    ]
    wanted = {
        "url": house.url,
        "cookies": cookies,
        "path": f"/api/runs/{run['runId']}/approve",
        "bodies": bodies,
    }
    clients = [await begun(wanted), await begun(wanted)]
    for client in clients:
        client.stdin.write(b"go\n")
    told: Counter[tuple[int, str]] = Counter()
    for client in clients:
        out, _ = await asyncio.wait_for(client.communicate(), PATIENCE_S)
        told.update((status, code) for status, code in json.loads(out))
    return told, str((await house.rest(run["runId"]))["status"])


async def begun(wanted: dict[str, Any]) -> Any:
    """A client process that is ready to race."""
    pipe = asyncio.subprocess.PIPE
    client = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "tests.server.racer", stdin=pipe, stdout=pipe
    )
    assert client.stdin is not None
    assert client.stdout is not None
    client.stdin.write(json.dumps(wanted).encode() + b"\n")
    assert await asyncio.wait_for(client.stdout.readline(), PATIENCE_S) == b"ready\n"
    return client


async def check_rounds(house: House, rounds: int) -> None:
    """One 202, 99 times 409, one effect iff the approval won; the audit agrees."""
    ends: Counter[str] = Counter()
    for number in range(rounds):
        told, end = await raced(house, f"A-{number}")
        assert told == {(202, ""): 1, (409, "already_decided"): 2 * RACERS - 1}, told
        assert house.shop.ledger.count(f"A-{number}") == (end == "succeeded")
        ends[end] += 1
    assert ends.keys() <= {"succeeded", "aborted"}
    audit = await house.signed_in("audit")
    rows = [
        row["decision"]
        for decision in ("approved", "denied")
        for row in (await audit.get("/api/audit", params={"decision": decision, "limit": 1000})).json()
    ]
    assert Counter(rows) == Counter(approved=ends["succeeded"], denied=ends["aborted"]) - Counter()


@pytest.mark.slow
async def test_a_hundred_answers_from_two_processes_have_one_winner(house: House) -> None:
    """Two rounds of it; `make load` runs twenty."""
    await check_rounds(house, 2)


@pytest.mark.slow
@pytest.mark.load
async def test_twenty_rounds(house: House) -> None:
    """The figure of the issue."""
    await check_rounds(house, 20)
