"""Two servers and three workers, killed at random while people start, answer and do not notice.

Law: what a client was told with a 2xx must be found afterwards; what it was not told may be there or not.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import random
import signal
import time
from typing import TYPE_CHECKING, Any

import httpx

from condor.core.run import TERMINAL, RunStatus
from tests.postgres.workers.crew import PATIENCE_S, Crew, free_port
from tests.simulation.restart_server import ANN, OPERATORS
from tests.simulation.restarts import Told, plan_of

if TYPE_CHECKING:
    from condor import Condor

SERVERS, WORKERS = 2, 3
_STARTERS, _ANSWERERS = 4, 4
#: One answer in so many says no; so many gates a run has.
_DENIES, _GATES = 12, 3
#: How a worker goes, by chance; a server is killed.
_WAYS = ("killed", "killed", "killed", "stopped", "hangs")
#: Longest that one that hangs does so, in seconds.
_HANG_S_MAX = 4.0
_RESTS = TERMINAL | {RunStatus.SUSPENDED}


class Trial:
    """A crew that is killed again and again, and those who do not notice."""

    def __init__(self, crew: Crew, *, runs: int, kills: int, seed: int, env: dict[str, str]) -> None:
        """Nothing runs yet."""
        self.crew, self.runs, self.kills, self.seed, self.env = crew, runs, kills, seed, env
        self.told = Told()
        self.ways: list[str] = []
        #: Seconds from the last kill until every run was terminal or parked, with nobody answering.
        self.rested_s = 0.0
        self._chance = random.Random(seed)
        self._ports = [free_port() for _ in range(SERVERS)]
        self._members: list[tuple[str, int, int]] = []
        self._moved = asyncio.Event()
        self._answering = asyncio.Event()
        self._done = False

    async def play(self, condor: Condor) -> Told:
        """Start, answer and kill until every run has come to its rest.

        Args:
            condor: looks at the database; it works on nothing.
        """
        self._answering.set()
        for place, port in enumerate(self._ports):
            await self._begin("server", place, port)
        for place in range(WORKERS):
            await self._begin("worker", place, 0)
        async with asyncio.TaskGroup() as group:
            starting = [group.create_task(self._start_runs(first)) for first in range(_STARTERS)]
            answering = [
                group.create_task(self._answer_all(who.id, random.Random(f"{self.seed} {place}")))
                for place, who in enumerate(OPERATORS[:_ANSWERERS])
            ]
            await self._kill_them()
            await asyncio.gather(*starting)
            self._done = True
            self._answering.clear()
            await self._last_kill(condor)
            self._answering.set()
            await asyncio.gather(*answering)
        return self.told

    # -- the crew ----------------------------------------------------------------------------

    async def _begin(self, kind: str, place: int, port: int) -> None:
        pid = await self.crew.begin(kind, seed=self.seed + len(self.ways), port=port, **self.env)
        self._members.append((kind, pid, port))

    async def _kill_them(self) -> None:
        """All but the last kill, spread over the work, each at a moment of its own."""
        for number in range(self.kills - 1):
            wanted = self.runs * _GATES * 3 // 4 * (number + 1) // self.kills
            with contextlib.suppress(TimeoutError):
                # A crew that is killed often answers slowly; the next kill does not wait for ever.
                async with asyncio.timeout(3.0):
                    while len(self.told.won) < wanted:
                        self._moved.clear()
                        await self._moved.wait()
            await asyncio.sleep(self._chance.random() * 0.05)
            await self._one()
            self.told.kills += 1

    async def _one(self) -> None:
        """Somebody goes, and comes back."""
        member = self._chance.choice(self._members)
        kind, pid, port = member
        way = "killed" if kind == "server" else self._chance.choice(_WAYS)
        self.ways.append(f"{kind} {way}")
        if way == "hangs":
            self.crew.signal(pid, signal.SIGSTOP)
            await asyncio.sleep(self._chance.random() * _HANG_S_MAX)
            self.crew.signal(pid, signal.SIGCONT)
            return
        self._members.remove(member)
        if way == "killed":
            await self.crew.kill(pid)
        else:
            self.crew.signal(pid, signal.SIGTERM)
            # One that has not begun yet ends by the signal.
            code = await self.crew.ended(pid)
            assert code in (0, -signal.SIGTERM), f"{pid}: {code}\n{self.crew.log()[-8000:]}"
        await self._begin(kind, 0, port)

    async def _last_kill(self, condor: Condor) -> None:
        """All workers but one at once, while nobody answers: what they had is somebody else's in time."""
        # Answers that were on their way are given; what follows from them is at work now.
        await asyncio.sleep(0.02)
        workers = [member for member in self._members if member[0] == "worker"]
        for member in workers[1:]:
            self._members.remove(member)
            self.crew.signal(member[1], signal.SIGKILL)
        begun = time.monotonic()
        self.told.kills += 1
        self.ways.append("two workers killed")
        for _, pid, _ in workers[1:]:
            await self.crew.ended(pid)
        async with asyncio.timeout(PATIENCE_S):
            while await condor.store.runs(statuses=set(RunStatus) - _RESTS, limit=1):  # noqa: ASYNC110 - polled
                await asyncio.sleep(0.05)
        self.rested_s = time.monotonic() - begun

    # -- clients -----------------------------------------------------------------------------

    async def _start_runs(self, first: int) -> None:
        async with Client(self.crew, self._ports, ANN.id, self.told) as client:
            for number in range(first, self.runs, _STARTERS):
                headers = {"idempotency-key": f"run-{number}"}
                begun = await client.insist(
                    "POST", "/api/runs", json={"plan": plan_of(number)}, headers=headers
                )
                assert begun.status_code in (200, 201), begun.text
                self.told.runs[number] = begun.json()["runId"]
                # Runs are begun over the whole of the trial, not all before the first kill.
                while len(self.told.won) < _GATES * (number - 40) and not self._done:
                    self._moved.clear()
                    with contextlib.suppress(TimeoutError):
                        await asyncio.wait_for(self._moved.wait(), 1.0)

    async def _answer_all(self, who: str, chance: random.Random) -> None:
        """Answer whatever waits, in no order, until all is done and nothing waits."""
        quiet = 0
        async with Client(self.crew, self._ports, who, self.told) as client:
            while quiet < 3:
                await self._answering.wait()
                query = {
                    "status": "pending",
                    "kind": "approval",
                    "order": chance.choice(["oldest", "newest"]),
                }
                listed = await client.insist("GET", "/api/suspensions", params=query)
                assert listed.status_code == 200, listed.text
                cards = listed.json()
                chance.shuffle(cards)
                for card in cards[:6]:
                    if self._answering.is_set():
                        await self._answer(client, who, card, approved=chance.randrange(_DENIES) > 0)
                quiet = quiet + 1 if not cards and self._done and self._answering.is_set() else 0
                if not cards:
                    await asyncio.sleep(0.25)

    async def _answer(self, client: Client, who: str, card: Any, *, approved: bool) -> None:
        path, suspend_id = f"/api/runs/{card['runId']}/approve", card["suspendId"]
        body = {"suspendId": suspend_id, "approved": approved, "reason": f"{who} says so"}
        try:
            given = await client.once("POST", path, json=body)
        except httpx.TransportError:
            self.told.cut += 1
            return
        if self.told.heard(given, (suspend_id, who, approved)):
            self._moved.set()


class Client:
    """A person who talks to whichever server answers."""

    def __init__(self, crew: Crew, ports: list[int], who: str, told: Told) -> None:
        """Not signed in yet."""
        self._crew, self._who, self._told = crew, who, told
        self._chance = random.Random(f"{who} {ports}")
        urls = {port: f"http://127.0.0.1:{port}" for port in ports}
        self._clients = {
            port: httpx.AsyncClient(base_url=url, timeout=PATIENCE_S, headers={"origin": url})
            for port, url in urls.items()
        }

    async def __aenter__(self) -> Client:
        return self

    async def __aexit__(self, *_: object) -> None:
        for client in self._clients.values():
            await client.aclose()

    async def insist(self, method: str, path: str, **rest: Any) -> httpx.Response:
        """The same request until it is answered."""
        until = time.monotonic() + PATIENCE_S
        while True:
            try:
                return await self.once(method, path, **rest)
            except httpx.TransportError:
                self._told.cut += 1
                assert time.monotonic() < until, "nobody answers"
                await asyncio.sleep(0.05)

    async def once(self, method: str, path: str, **rest: Any) -> httpx.Response:
        """One request to one of the servers; signed in again where a session does not count any more."""
        port = self._chance.choice(list(self._clients))
        client = self._clients[port]
        answer = await client.request(method, path, **rest)
        if answer.status_code == 401:
            with contextlib.suppress(OSError, ValueError):
                file = json.loads((self._crew.folder / f"server-{port}" / "server.json").read_text("utf-8"))
                await client.post("/api/session", json={"principal": self._who, "code": file["token"]})
            answer = await client.request(method, path, **rest)
        if answer.status_code in (401, 503):
            raise httpx.ConnectError("between two servers")
        return answer
