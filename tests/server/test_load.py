"""Figures: a thousand open streams, and how soon a card and an approved call are there.

``make load`` runs the whole; `make test` a small slice, which holds that the pieces work.
"""

from __future__ import annotations

import asyncio
import json
import statistics
import sys
import time
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from condor.server.live import StreamCaps
from tests.server.support import House, card_of, open_house, refund, step

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

pytestmark = pytest.mark.slow


class Crowd:
    """A process that holds streams open."""

    def __init__(self, process: Any) -> None:
        """Of a process that has opened them."""
        self._process = process

    async def ask(self, question: object) -> dict[str, Any]:
        """One question, one answer."""
        self._process.stdin.write(json.dumps(question).encode() + b"\n")
        line = await asyncio.wait_for(self._process.stdout.readline(), 60)
        return dict(json.loads(line))


@asynccontextmanager
async def crowd(house: House, who: str, path: str, count: int) -> AsyncIterator[Crowd]:
    """Many open streams of one person, in a process of their own."""
    client = await house.signed_in(who)
    cookie = "; ".join(f"{name}={value}" for name, value in client.cookies.items())
    host, port = house.url.removeprefix("http://").split(":")
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "tests.server.crowd", stdin=pipe, stdout=pipe
    )
    held = Crowd(process)
    opened = await held.ask({"host": host, "port": int(port), "path": path, "cookie": cookie, "count": count})
    assert opened == {"open": count}
    try:
        yield held
    finally:
        process.kill()
        await process.wait()


def resident_mb() -> float:
    """Memory of this process, in MB: the server is in it."""
    text = Path("/proc/self/status").read_text(encoding="utf-8")
    return int(next(line for line in text.splitlines() if line.startswith("VmRSS")).split()[1]) / 1024


def p95(values: list[float]) -> float:
    """In milliseconds."""
    return statistics.quantiles(values, n=20)[-1] * 1000


async def fan_out(tmp_path: Path, count: int) -> dict[str, float]:
    """Figures of many idle streams of changes, of a run's message on as many, and of a GET beside them."""
    caps = StreamCaps(each=count + 10, total=2 * count + 20)
    async with open_house(tmp_path / "home", caps=caps) as house:
        cleo = await house.signed_in("cleo")
        await house.parked()
        before = resident_mb()
        async with crowd(house, "cleo", "/api/events", count) as idle:
            found = {"MB of idle streams": resident_mb() - before}
            times = []
            for _ in range(100):
                begun = time.perf_counter()
                assert (await cleo.get("/api/suspensions", params={"limit": 10})).status_code == 200
                times.append(time.perf_counter() - begun)
            found["GET beside them, p95 ms"] = p95(times)
            await idle.ask({"mark": "event: inbox"})
            run = await house.parked()
            opened = time.time()
            told = await idle.ask({"ask": "seen"})
            assert told["seen"] == count
            found["a card told to all, ms"] = (told["last"] - opened) * 1000
        found |= await one_message(house, count)
        assert card_of(run)
    return found


async def one_message(house: House, count: int) -> dict[str, float]:
    """As many readers of one run: how soon they all have its end, and what it costs the store."""
    cleo = await house.signed_in("cleo")
    plan = {"steps": [step("w", "shop.wait"), step("f", "shop.find", "w", order="A-9")]}
    run_id = (await cleo.post("/api/runs", json={"plan": plan})).json()["runId"]
    async with crowd(house, "cleo", f"/api/runs/{run_id}/stream", count) as readers:
        await readers.ask({"mark": "[DONE]"})
        store: Any = house.condor.store
        read, reads = store._rows, []

        def counted(query: str, values: Any) -> Any:
            reads.append(query)
            return read(query, values)

        store._rows = counted
        begun = time.time()
        house.shop.open.set()
        told = await readers.ask({"ask": "seen"})
        store._rows = read
        assert told["seen"] == count
        # One reader of the log, however many streams.
        assert len(reads) < 200, len(reads)
        return {
            "a run's end told to all, ms": (told["last"] - begun) * 1000,
            "store reads for it": len(reads),
        }


async def latencies(house: House, runs: int, at_once: int) -> dict[str, float]:
    """How soon a card is on an open stream after its commit, and a call begins after its answer."""
    host, port = house.url.removeprefix("http://").split(":")
    wanted: dict[str, Any] = {
        "host": host,
        "port": int(port),
        "runs": runs,
        "atOnce": at_once,
        "plan": refund(),
    }
    for name, who in (("asks", "ann"), ("decides", "cleo")):
        client = await house.signed_in(who)
        wanted[name] = "; ".join(f"{key}={value}" for key, value in client.cookies.items())
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "tests.server.pacer", stdin=pipe, stdout=pipe
    )
    out, _ = await asyncio.wait_for(process.communicate(json.dumps(wanted).encode() + b"\n"), 120)
    found = json.loads(out)
    assert len(found["cards"]) == len(found["calls"]) == runs
    return {
        "card on the stream, p95 ms": p95(found["cards"]),
        "approved to started, p95 ms": p95(found["calls"]),
        "runs a second": runs / found["seconds"],
    }


def shown(figures: dict[str, float]) -> None:
    """For who asked for them."""
    for name, value in figures.items():
        sys.stdout.write(f"\n{name}: {value:.1f}")
    sys.stdout.write("\n")


async def test_many_streams_are_told_by_one_reader(tmp_path: Path) -> None:
    """A hundred in `make test`."""
    shown(await fan_out(tmp_path, 100))


async def test_cards_and_calls_come_soon(house: House) -> None:
    """Sixteen at once."""
    shown(await latencies(house, 32, 16))


@pytest.mark.load
async def test_a_thousand_streams(tmp_path: Path) -> None:
    """Under 60 MB for them all, and a GET beside them under 100 ms."""
    figures = await fan_out(tmp_path, 1_000)
    shown(figures)
    assert figures["MB of idle streams"] < 60
    assert figures["GET beside them, p95 ms"] < 100


@pytest.mark.load
async def test_cards_and_calls_at_sixteen_runs_at_once(house: House) -> None:
    """Each within 50 ms of its commit, at the 95th percentile."""
    figures = await latencies(house, 200, 16)
    shown(figures)
    assert figures["card on the stream, p95 ms"] < 50
    assert figures["approved to started, p95 ms"] < 50
