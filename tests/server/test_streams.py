"""Streams: whole from their start, shared, let go when they are left, and never a hand on the run."""

from __future__ import annotations

import asyncio
import socket
import time
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING

import pytest

from condor.core.frames.ui_message import UiMessage, payload_names
from condor.core.run import RunStatus
from condor.ports.encoding import decode
from condor.server.live import StreamCaps
from condor.server.run import bound
from tests.server.support import PATIENCE_S, approve, card_of, chunks_of, open_house, problem_of, refund, step

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable
    from pathlib import Path

    import httpx

    from tests.server.support import House

WAITING = {"steps": [step("w", "shop.wait"), step("f", "shop.find", "w", order="A-1")]}


async def started(house: House, plan: object = WAITING) -> str:
    """A run that Ann has started; its id."""
    ann = await house.signed_in("ann")
    begun = await ann.post("/api/runs", json={"plan": plan})
    return str(begun.json()["runId"])


class Open:
    """One stream that is open: whoever drops its iterator closes it."""

    def __init__(self, answer: httpx.Response) -> None:
        """Of an answer that has begun."""
        assert answer.status_code == 200
        self._lines = answer.aiter_lines()

    async def first(self, count: int = 1) -> list[str]:
        """The next lines."""
        return [line async for line in self._until(lambda seen: len(seen) == count)]

    async def rest(self) -> list[str]:
        """Everything to its end."""
        return [line async for line in self._until(lambda _: False)]

    async def _until(self, enough: Callable[[list[str]], bool]) -> AsyncIterator[str]:
        seen: list[str] = []
        async with asyncio.timeout(PATIENCE_S):
            while not enough(seen):
                try:
                    line = await anext(self._lines)
                except StopAsyncIteration:
                    return
                seen.append(line)
                yield line


async def test_a_stream_is_what_the_projection_says(house: House) -> None:
    """Byte for byte the chunks of the log, its headers the protocol's, LF framing, [DONE] at the end."""
    run = await house.parked()
    ann = await house.signed_in("ann")
    answer = await ann.get(f"/api/runs/{run['runId']}/stream")
    assert answer.headers["content-type"].startswith("text/event-stream")
    assert answer.headers["x-vercel-ai-ui-message-stream"] == "v1"
    assert answer.headers["cache-control"] == "no-cache"
    assert answer.headers["x-accel-buffering"] == "no"
    assert b"\r" not in answer.content and answer.content.endswith(b"data: [DONE]\n\n")
    message, expected, store = (
        UiMessage(run["runId"], titles={t.name: t.title for t in house.condor.tools}),
        [],
        house.condor.store,
    )
    async for event in house.condor.watch(run["runId"]):
        stored = await store.payloads(run["runId"], payload_names(event))
        expected += message.project(event, {name: decode(body) for name, body in stored.items()}.get)
    expected += message.finish(RunStatus.SUSPENDED, run["seq"])
    assert chunks_of(answer.text) == [*expected, "[DONE]"]


async def test_it_is_told_as_it_happens_and_ends_where_the_run_rests(house: House) -> None:
    """What is open stays open while a step runs, and closes with the run."""
    run_id, ann = await started(house), await house.signed_in("ann")
    async with ann.stream("GET", f"/api/runs/{run_id}/stream") as answer:
        stream = Open(answer)
        assert '"start"' in (await stream.first())[0]
        house.shop.open.set()
        assert (await stream.rest())[-2:] == ["data: [DONE]", ""]
    assert (await house.rest(run_id))["status"] == "succeeded"


async def test_a_reader_that_leaves_does_not_touch_the_run(house: House) -> None:
    """Cut, late, and again: the run goes on, and whoever comes sees all of it."""
    run_id, ann = await started(house), await house.signed_in("ann")
    for _ in range(3):
        async with ann.stream("GET", f"/api/runs/{run_id}/stream") as answer:
            await Open(answer).first()
    house.shop.open.set()
    told = chunks_of((await ann.get(f"/api/runs/{run_id}/stream")).text)
    assert told[0]["type"] == "start"
    assert told[-2]["messageMetadata"]["runStatus"] == "succeeded"
    await none_open(ann, "ui-message")


async def test_late_and_early_readers_see_the_same(house: House) -> None:
    """One joins at the start, one in the middle, one at the end: one message."""
    run_id, ann = await started(house), await house.signed_in("ann")

    async def read() -> str:
        return (await ann.get(f"/api/runs/{run_id}/stream")).text

    early = asyncio.create_task(read())
    await asyncio.sleep(0.1)
    middle = asyncio.create_task(read())
    await asyncio.sleep(0.1)
    house.shop.open.set()
    texts = {await early, await middle, await read()}
    assert len(texts) == 1


async def test_after_an_answer_the_whole_message_is_told_again(house: House) -> None:
    """Under the same id, with what was told before at its beginning, and each card once."""
    run = await house.parked()
    cleo, path = await house.signed_in("cleo"), f"/api/runs/{run['runId']}"
    before = chunks_of((await cleo.get(f"{path}/stream")).text)
    await cleo.post(f"{path}/approve", json=approve(run))
    after = chunks_of((await cleo.get(f"{path}/stream")).text)
    told = [chunk for chunk in before[:-1] if chunk["type"] not in ("finish-step", "finish", "data-plan")]
    assert [chunk for chunk in after[:-1] if chunk["type"] != "data-plan"][: len(told)] == told
    assert after[0]["messageId"] == f"msg_{run['runId']}"
    openers = [chunk["toolCallId"] for chunk in after[:-1] if chunk["type"] == "tool-input-available"]
    assert len(set(openers)) == len(openers)
    assert card_of(run) in openers


async def test_silence_is_filled(tmp_path: Path) -> None:
    """A comment in every silence, so that no proxy closes the connection."""
    async with open_house(tmp_path / "home", caps=StreamCaps(keep_alive_s=0.05)) as house:
        run_id, ann = await started(house), await house.signed_in("ann")
        async with ann.stream("GET", f"/api/runs/{run_id}/stream") as answer:
            stream, line = Open(answer), ""
            while line != ": keep-alive":
                (line,) = await stream.first()


async def test_a_page_hears_that_the_line_lives(tmp_path: Path) -> None:
    """An event, since an EventSource hears no comment; also where comments are rare."""
    async with open_house(tmp_path / "home", caps=StreamCaps(alive_s=0.05)) as house:
        ann = await house.signed_in("ann")
        async with ann.stream("GET", "/api/events") as answer:
            stream, line = Open(answer), ""
            while line != "event: alive":
                line = (await stream.first())[0]


async def test_open_streams_are_capped(tmp_path: Path) -> None:
    """Of each and of all together; a place that is left is free again."""
    async with open_house(tmp_path / "home", caps=StreamCaps(each=2, total=3)) as house:
        ann, ben = await house.signed_in("ann"), await house.signed_in("ben")
        async with AsyncExitStack() as stack:

            async def opened(client: httpx.AsyncClient) -> Open:
                stream = Open(await stack.enter_async_context(client.stream("GET", "/api/events")))
                await stream.first()
                return stream

            streams = [await opened(ann), await opened(ann)]
            refused = await asyncio.wait_for(ann.get("/api/events"), PATIENCE_S)
            assert problem_of(refused) == (429, "too_many_streams")
            assert refused.headers["retry-after"]
            streams.append(await opened(ben))
            refused = await asyncio.wait_for(ben.get("/api/events"), PATIENCE_S)
            assert problem_of(refused) == (429, "too_many_streams")
        assert len(streams) == 3
        await none_open(ann, "inbox")
        async with ann.stream("GET", "/api/events") as again:
            assert again.status_code == 200


async def none_open(client: httpx.AsyncClient, kind: str) -> None:
    """Wait until every stream of a kind has been let go."""
    async with asyncio.timeout(PATIENCE_S):
        while f'condor_streams_open{{kind="{kind}"}} 0.0' not in (await client.get("/metrics")).text:
            pass  # each look is a request, so that the server has its turn


async def test_the_event_log_is_followed_to_the_rest(house: House) -> None:
    """Events, then the snapshot: what `condor run --json` prints; from where one was, if one was."""
    run = await house.parked()
    ann, path = await house.signed_in("ann"), f"/api/runs/{run['runId']}/events"
    lines = chunks_of((await ann.get(path)).text)
    assert [line["type"] for line in lines][:1] == ["run.started"]
    assert lines[-1] == {"type": "run.snapshot", "run": run}
    assert [line["seq"] for line in lines[:-1]] == list(range(1, run["seq"] + 1))
    later = chunks_of((await ann.get(path, params={"after": run["seq"] - 1})).text)
    assert later == lines[-2:]


async def test_the_server_stops_while_streams_are_open(house: House) -> None:
    """It ends them and is gone in a moment; the run goes on at the next start."""
    run_id, ann = await started(house), await house.signed_in("ann")
    async with ann.stream("GET", f"/api/runs/{run_id}/stream") as answer:
        stream = Open(answer)
        await stream.first()
        begun = time.perf_counter()
        house.served.stop()
        await stream.rest()
        assert time.perf_counter() - begun < 2


@pytest.mark.parametrize(
    "path", ["/api/runs/run_none/stream", "/api/runs/run_none/events", "/api/runs/run_none"]
)
async def test_what_is_not_there_and_what_is_not_yours_read_the_same(house: House, path: str) -> None:
    """A run of another's cannot be told from one that never was."""
    run = await house.parked(plan={"steps": [step("f", "shop.find", order="A-1")]})
    dora = await house.signed_in("dora")
    unknown, foreign = await dora.get(path), await dora.get(path.replace("run_none", run["runId"]))
    assert problem_of(unknown) == problem_of(foreign) == (404, "not_found")
    assert unknown.text == foreign.text


async def test_two_runs_are_two_messages(house: House) -> None:
    """Feeds do not mix."""
    first, second = await house.parked(), await house.parked(plan=refund("B-2"))
    ann = await house.signed_in("ann")
    for run in (first, second):
        text = (await ann.get(f"/api/runs/{run['runId']}/stream")).text
        assert card_of(run) in text
    assert "B-2" not in (await ann.get(f"/api/runs/{first['runId']}/stream")).text


async def test_a_kept_connection_answers_at_once(house: House) -> None:
    """No answer waits for a delayed ACK: its connections inherit the setting."""
    with bound("127.0.0.1", 0) as listening, socket.create_connection(listening.getsockname()):
        accepted, _ = listening.accept()
        with accepted:
            assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
    client = await house.signed_in("ann")
    times = []
    for _ in range(20):
        begun = time.perf_counter()
        assert (await client.get("/api/runs")).status_code == 200
        times.append(time.perf_counter() - begun)
    assert min(times) < 0.03
