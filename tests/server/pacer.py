"""A client process that runs many small runs and says how soon cards came and calls began.

Lean on purpose: it shares the machine with the server that it measures.
"""

from __future__ import annotations

import asyncio
import datetime
import json
import sys
import time
from typing import Any

Json = dict[str, Any]
Connection = tuple[asyncio.StreamReader, asyncio.StreamWriter]


class Client:
    """One person, a connection a request."""

    def __init__(self, host: str, port: int, cookie: str) -> None:
        self._host, self._port, self._cookie = host, port, cookie

    async def _begin(self, method: str, path: str, body: object) -> Connection:
        reader, writer = await asyncio.open_connection(self._host, self._port)
        sent = b"" if body is None else json.dumps(body).encode()
        where = f"{self._host}:{self._port}"
        head = (
            f"{method} /api/v1{path} HTTP/1.1\r\nhost: {where}\r\ncookie: {self._cookie}\r\n"
            f"content-type: application/json\r\ncontent-length: {len(sent)}\r\nconnection: close\r\n\r\n"
        )
        writer.write(head.encode() + sent)
        return reader, writer

    async def ask(self, method: str, path: str, body: object = None) -> Json:
        """One answer's body."""
        reader, writer = await self._begin(method, path, body)
        raw = await reader.read()
        writer.close()
        return dict(json.loads(raw.partition(b"\r\n\r\n")[2]))

    async def until(self, path: str, mark: bytes) -> float:
        """When a stream first said this."""
        reader, writer = await self._begin("GET", path, None)
        while line := await reader.readline():
            if mark in line:
                seen = time.time()
                writer.close()
                return seen
        raise AssertionError(f"never {mark!r}")

    async def events(self, path: str) -> dict[str, str]:
        """When each kind of event last happened."""
        reader, writer = await self._begin("GET", path, None)
        raw = (await reader.read()).decode()
        writer.close()
        lines = [json.loads(line[6:]) for line in raw.splitlines() if line.startswith("data: ")]
        return {line["type"]: line["at"] for line in lines if "at" in line}


def moment(at: str) -> float:
    """A stored time, in seconds."""
    return datetime.datetime.fromisoformat(at).timestamp()


async def pace(wanted: Json) -> None:
    """Run them all; print the two lists of seconds."""
    asks = Client(wanted["host"], wanted["port"], wanted["asks"])
    decides = Client(wanted["host"], wanted["port"], wanted["decides"])
    cards: list[float] = []
    calls: list[float] = []
    turns = asyncio.Semaphore(wanted["atOnce"])

    async def one(number: int) -> None:
        async with turns:
            plan = json.loads(json.dumps(wanted["plan"]).replace("A-1", f"L-{number}"))
            run_id = (await asks.ask("POST", "/runs", {"plan": plan}))["runId"]
            seen = await asks.until(f"/runs/{run_id}/stream", b'"__suspend__"')
            run = await decides.ask("GET", f"/runs/{run_id}")
            card = run["suspensions"][0]
            cards.append(seen - moment(card["openedAt"]))
            body = {"suspendId": card["suspendId"], "approved": True}
            await decides.ask("POST", f"/runs/{run_id}/approve", body)
            at = await decides.events(f"/runs/{run_id}/events")
            calls.append(moment(at["step.started"]) - moment(at["suspension.closed"]))

    begun = time.time()
    await asyncio.gather(*map(one, range(wanted["runs"])))
    sys.stdout.write(json.dumps({"cards": cards, "calls": calls, "seconds": time.time() - begun}) + "\n")


if __name__ == "__main__":
    asyncio.run(pace(json.loads(sys.stdin.readline())))
