"""The HTTP API on PostgreSQL: answers and their races, keys, streams, inbox, chats; two servers at once."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING, Any

import pytest

from tests.server.support import PATIENCE_S, card_of, open_house, refund
from tests.server.test_chat import (
    test_a_message_is_a_run_of_its_session as test_a_message_is_a_run_of_its_session,
)
from tests.server.test_chat import (
    test_the_same_message_sent_again_is_the_same_run as test_the_same_message_sent_again_is_the_same_run,
)
from tests.server.test_idempotency import (
    test_a_refused_body_leaves_its_key_free as test_a_refused_body_leaves_its_key_free,
)
from tests.server.test_idempotency import (
    test_concurrent_repeats_are_one_run as test_concurrent_repeats_are_one_run,
)
from tests.server.test_inbox import (
    test_a_card_is_told_when_it_opens_and_closes as test_a_card_is_told_when_it_opens_and_closes,
)
from tests.server.test_inbox import test_lists_come_in_pages as test_lists_come_in_pages
from tests.server.test_inbox import test_the_inbox_is_narrowed as test_the_inbox_is_narrowed
from tests.server.test_main_job import (
    test_a_denial_runs_nothing as test_a_denial_runs_nothing,
)
from tests.server.test_main_job import test_a_write_waits_and_runs_once_when_it_is_approved  # noqa: F401
from tests.server.test_main_job import (
    test_an_answer_after_the_deadline_runs_nothing as test_an_answer_after_the_deadline_runs_nothing,
)
from tests.server.test_races import RACERS, begun
from tests.server.test_streams import (
    test_late_and_early_readers_see_the_same as test_late_and_early_readers_see_the_same,
)
from tests.server.test_streams import (
    test_the_event_log_is_followed_to_the_rest as test_the_event_log_is_followed_to_the_rest,
)

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from tests.server.support import House


@pytest.fixture
async def houses(tmp_path: Path) -> AsyncIterator[tuple[House, House]]:
    """Two servers with homes of their own, on one database and one shop."""
    async with AsyncExitStack() as stack:
        first = await stack.enter_async_context(open_house(tmp_path / "first"))
        second = await stack.enter_async_context(open_house(tmp_path / "second", shop=first.shop))
        yield first, second


@pytest.mark.slow
async def test_answers_to_two_servers_have_one_winner(houses: tuple[House, House]) -> None:
    """A hundred answers to one card, half to each server: one 202, the others 409, one effect at most."""
    for number in range(1):
        order = f"A-{number}"
        run = await houses[0].parked(plan=refund(order))
        bodies = [{"suspendId": card_of(run), "approved": place % 2 == 0} for place in range(RACERS)]
        clients = [await racer(house, run, bodies) for house in houses]
        for client in clients:
            client.stdin.write(b"go\n")
        told: Counter[tuple[int, str]] = Counter()
        for client in clients:
            out, _ = await asyncio.wait_for(client.communicate(), PATIENCE_S)
            told.update((status, code) for status, code in json.loads(out))
        assert told == {(202, ""): 1, (409, "already_decided"): 2 * RACERS - 1}
        end = (await houses[1].rest(run["runId"]))["status"]
        assert houses[0].shop.ledger.count(order) == (end == "succeeded")


async def racer(house: House, run: dict[str, Any], bodies: list[dict[str, Any]]) -> Any:
    cleo = await house.signed_in("cleo")
    cookies = ["; ".join(f"{name}={value}" for name, value in cleo.cookies.items())]
    path = f"/api/runs/{run['runId']}/approve"
    return await begun({"url": house.url, "cookies": cookies, "path": path, "bodies": bodies})


async def test_each_server_tells_what_happens_at_the_other(houses: tuple[House, House]) -> None:
    """Inbox and event log: a card opened there and answered there is told here, at once."""
    first, second = houses
    cleo = await second.signed_in("cleo")
    async with cleo.stream("GET", "/api/events") as stream:
        lines = stream.aiter_lines()
        await until(lines, "event: ready")
        run = await first.parked()
        told = await until(lines, "event: inbox")
        assert (told["runId"], told["opened"]) == (run["runId"], [card_of(run)])
        there = await first.signed_in("cleo")
        body = {"suspendId": card_of(run), "approved": True}
        answered = await there.post(f"/api/runs/{run['runId']}/approve", json=body)
        assert answered.status_code == 202
        told = await until(lines, "event: inbox")
        assert (told["runId"], told["closed"]) == (run["runId"], [card_of(run)])
        assert (await second.rest(run["runId"]))["status"] == "succeeded"


async def until(lines: Any, wanted: str) -> dict[str, Any]:
    """What an event of this name says."""
    async with asyncio.timeout(PATIENCE_S):
        async for line in lines:
            if line == wanted:
                said: dict[str, Any] = json.loads((await anext(lines)).removeprefix("data: "))
                return said
    raise AssertionError(f"the stream ended before {wanted}")
