"""Operators answer over HTTP while the server is killed and started again; what became of everything.

Law: what a client was told with a 2xx must be found afterwards; what it was not told may be there or not.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import random
import socket
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx

from tests.simulation.restart_server import ANN, KINDS, OPERATORS

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = Path(__file__).parents[2]
#: Longest that a started server may take to answer, and a run to rest, in seconds.
_PATIENCE_S = 30.0
#: Runs that are being started at the same time.
_STARTERS = 4
#: One answer in so many says no.
_DENIES = 12

#: Step → what it follows, by the shape of a plan.
SHAPES: tuple[dict[str, list[str]], ...] = (
    {"a": [], "b": ["a"], "c": ["b"]},
    {"a": [], "b": [], "c": []},
    {"a": [], "b": ["a"], "c": ["a"]},
    {"a": [], "b": [], "c": ["a", "b"]},
)


def plan_of(number: int) -> dict[str, Any]:
    """Three gates, in sequence, in parallel, or both."""
    shape = SHAPES[number % len(SHAPES)]
    steps = [
        {
            "id": step,
            "tool": f"{KINDS[(number + place) % len(KINDS)]}.write",
            "args": {"record": record_of(number, step)},
            "after": after,
            **({"onDeny": "skip"} if number % 2 else {}),
        }
        for place, (step, after) in enumerate(shape.items())
    ]
    return {"steps": steps}


def record_of(number: int, step: str) -> str:
    """What the step of a run writes."""
    return f"r{number}-{step}"


@dataclass(slots=True, kw_only=True)
class Told:
    """What clients were told."""

    #: Number → run id, of every start that was acknowledged.
    runs: dict[int, str] = field(default_factory=dict)
    #: ``(suspend id, operator, approved)`` of every answer that was acknowledged with 202.
    won: list[tuple[str, str, bool]] = field(default_factory=list)
    #: Answers that were refused because somebody, or the same one unheard, had answered.
    late: int = 0
    #: Requests that a kill cut off.
    cut: int = 0
    kills: int = 0
    #: Seconds from each kill to the next answer of the server.
    back_s: list[float] = field(default_factory=list)

    def heard(self, given: httpx.Response, answer: tuple[str, str, bool]) -> bool:
        """Keep what one answer was told; whether it was taken. One that is not has come too late."""
        if given.status_code == 202:
            self.won.append(answer)
            return True
        assert given.status_code == 409, given.text
        assert given.json()["code"] in ("already_decided", "run_not_suspended"), given.text
        self.late += 1
        return False


class Trial:
    """One server that dies again and again, and those who do not notice."""

    def __init__(self, folder: Path, *, runs: int, kills: int, seed: int) -> None:
        """Nothing runs yet."""
        self.home, self.runs, self.kills, self.seed = folder / "home", runs, kills, seed
        self.told = Told()
        self._chance = random.Random(seed)
        self._process: asyncio.subprocess.Process | None = None
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self._port = free.getsockname()[1]
        self.url = f"http://127.0.0.1:{self._port}"
        #: Set whenever an answer was taken, and when nothing is left to answer.
        self._moved = asyncio.Event()
        self._idle = False

    async def play(self) -> Told:
        """Start, answer and kill until every run has come to its rest."""
        self.home.mkdir(parents=True)
        await self._begin()
        try:
            async with asyncio.TaskGroup() as group:
                for first in range(_STARTERS):
                    group.create_task(self._start_runs(first))
                for place, who in enumerate(OPERATORS):
                    group.create_task(self._operate(who.id, random.Random(f"{self.seed} {place}")))
                group.create_task(self._kill())
        finally:
            await self._end()
        return self.told

    # -- the server --------------------------------------------------------------------------

    async def _begin(self) -> None:
        (self.home / "server.json").unlink(missing_ok=True)
        command = [sys.executable, "-m", "tests.simulation.restart_server", str(self.home), str(self._port)]
        with (self.home.parent / "server.log").open("ab") as log:
            self._process = await asyncio.create_subprocess_exec(
                *command, str(self.seed + self.told.kills), cwd=ROOT, stdout=log, stderr=log
            )
        until = time.monotonic() + _PATIENCE_S
        while not (self.home / "server.json").exists():
            assert self._process.returncode is None, "the server ended by itself; see server.log"
            assert time.monotonic() < until, "the server does not come back"
            await asyncio.sleep(0.01)

    async def _end(self) -> None:
        assert self._process is not None, "begun"
        if self._process.returncode is None:
            self._process.kill()
        await self._process.wait()

    async def _kill(self) -> None:
        """Kills spread over the whole of the work, each at a moment of its own."""
        answers = 3 * self.runs * 3 // 4
        for number in range(self.kills):
            while len(self.told.won) < answers * (number + 1) // (self.kills + 1) and not self._idle:
                self._moved.clear()
                await self._moved.wait()
            await asyncio.sleep(self._chance.random() * 0.05)
            begun = time.monotonic()
            await self._end()
            self.told.kills += 1
            await self._begin()
            self.told.back_s.append(time.monotonic() - begun)

    # -- clients -----------------------------------------------------------------------------

    async def _start_runs(self, first: int) -> None:
        async with self._client() as client:
            for number in range(first, self.runs, _STARTERS):
                body = {"plan": plan_of(number)}
                headers = {"idempotency-key": f"run-{number}"}
                begun = await self._insist(client, ANN.id, "POST", "/api/runs", json=body, headers=headers)
                assert begun.status_code in (200, 201), begun.text
                self.told.runs[number] = begun.json()["runId"]

    async def _operate(self, who: str, chance: random.Random) -> None:
        """Answer whatever waits, in no order, as long as anything moves."""
        quiet = 0
        async with self._client() as client:
            while quiet < 4:
                query = {
                    "status": "pending",
                    "kind": "approval",
                    "order": chance.choice(["oldest", "newest"]),
                }
                listed = await self._insist(client, who, "GET", "/api/suspensions", params=query)
                assert listed.status_code == 200, listed.text
                cards = listed.json()
                chance.shuffle(cards)
                for card in cards[:8]:
                    await self._answer(client, who, card, approved=chance.randrange(_DENIES) > 0)
                idle = not cards and len(self.told.runs) == self.runs and self.told.kills == self.kills
                quiet = quiet + 1 if idle else 0
                if not cards:
                    # With all runs begun nothing is left to answer: the rest of the kills comes at once.
                    self._idle = self._idle or len(self.told.runs) == self.runs
                    self._moved.set()
                    await asyncio.sleep(0.25)

    async def _answer(self, client: httpx.AsyncClient, who: str, card: Any, *, approved: bool) -> None:
        path, suspend_id = f"/api/runs/{card['runId']}/approve", card["suspendId"]
        body = {"suspendId": suspend_id, "approved": approved, "reason": f"{who} says so"}
        try:
            given = await self._once(client, who, "POST", path, json=body)
        except httpx.TransportError:
            self.told.cut += 1
            return
        if self.told.heard(given, (suspend_id, who, approved)):
            self._moved.set()

    def _client(self) -> httpx.AsyncClient:
        return httpx.AsyncClient(base_url=self.url, timeout=_PATIENCE_S, headers={"origin": self.url})

    async def _insist(self, client: httpx.AsyncClient, who: str, method: str, path: str, **rest: Any) -> Any:
        """The same request until it is answered."""
        until = time.monotonic() + _PATIENCE_S
        while True:
            try:
                return await self._once(client, who, method, path, **rest)
            except httpx.TransportError:
                self.told.cut += 1
                assert time.monotonic() < until, "nobody answers"
                await asyncio.sleep(0.05)

    async def _once(self, client: httpx.AsyncClient, who: str, method: str, path: str, **rest: Any) -> Any:
        """One request as a person, who signs in again where a session does not count any more."""
        answer = await client.request(method, path, **rest)
        if answer.status_code == 401:
            with contextlib.suppress(OSError, ValueError):
                file = json.loads((self.home / "server.json").read_text(encoding="utf-8"))
                await client.post("/api/session", json={"principal": who, "code": file["token"]})
            answer = await client.request(method, path, **rest)
        if answer.status_code in (401, 503):
            raise httpx.ConnectError("between two servers")
        return answer


def figures(told: Told, took_s: float, rest: Callable[[], str]) -> str:
    """What a trial was, in a line."""
    return (
        f"{len(told.runs)} runs, {told.kills} kills, {len(told.won)} answers taken, {told.late} late, "
        f"{told.cut} requests cut off, server back within {max(told.back_s, default=0):.2f} s, "
        f"{took_s:.0f} s in all; {rest()}"
    )
