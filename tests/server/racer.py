"""A client process of the race: many answers to one card at once. Prints what became of each."""

from __future__ import annotations

import asyncio
import json
import sys
from typing import Any

import httpx


async def race(
    url: str, cookies: list[str], path: str, bodies: list[dict[str, Any]]
) -> list[tuple[int, str]]:
    """Give every answer at once, each on a connection of its own."""
    limits = httpx.Limits(max_connections=len(bodies))
    async with httpx.AsyncClient(base_url=url, timeout=30, limits=limits) as client:
        ready = asyncio.Event()

        async def answer(number: int, body: dict[str, Any]) -> tuple[int, str]:
            headers = {"cookie": cookies[number % len(cookies)], "origin": url}
            await ready.wait()
            given = await client.post(path, json=body, headers=headers)
            return given.status_code, given.json().get("code", "")

        racers = [asyncio.ensure_future(answer(number, body)) for number, body in enumerate(bodies)]
        await asyncio.to_thread(sys.stdin.readline)
        ready.set()
        return await asyncio.gather(*racers)


def main() -> None:
    """Read what to do from the first line, wait for the second, race."""
    wanted = json.loads(sys.stdin.readline())
    print("ready", flush=True)  # noqa: T201 - what this process is for
    print(json.dumps(asyncio.run(race(**wanted))), flush=True)  # noqa: T201 - what this process is for


if __name__ == "__main__":
    main()
