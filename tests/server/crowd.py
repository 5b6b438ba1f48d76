"""A client process of many idle streams: opens them on plain sockets, counts what comes on them.

Reads one JSON line (``host``, ``port``, ``path``, ``cookie``, ``count``) and prints ``open``. Each further
line is a ``mark`` to look for, or asks how many streams have had it, and when the last of them did.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from typing import Any

#: Looks at whether all have had it, 10 ms apart.
LOOKS_MAX = 3_000


class Crowd:
    """Streams that are held open."""

    def __init__(self) -> None:
        self.readers: list[asyncio.Future[None]] = []
        self.writers: list[asyncio.StreamWriter] = []
        self.mark = b""
        self.seen: dict[int, float] = {}

    async def open(self, wanted: dict[str, Any]) -> None:
        """Open them all."""
        where = f"{wanted['host']}:{wanted['port']}"
        head = f"GET {wanted['path']} HTTP/1.1\r\nhost: {where}\r\ncookie: {wanted['cookie']}\r\n\r\n"
        for number in range(wanted["count"]):
            reader, writer = await asyncio.open_connection(wanted["host"], wanted["port"])
            writer.write(head.encode())
            status = await reader.readline()
            assert b" 200 " in status, status
            self.writers.append(writer)
            self.readers.append(asyncio.ensure_future(self._read(number, reader)))

    async def _read(self, number: int, reader: asyncio.StreamReader) -> None:
        while line := await reader.readline():
            if self.mark and self.mark in line:
                self.seen.setdefault(number, time.time())

    async def answer(self, asked: dict[str, Any]) -> dict[str, Any]:
        """Look for a mark from now on, or say who has had it."""
        if "mark" in asked:
            self.seen.clear()
            self.mark = asked["mark"].encode()
            return {"marked": True}
        for _ in range(LOOKS_MAX):
            if len(self.seen) == len(self.readers):
                break
            await asyncio.sleep(0.01)
        return {"seen": len(self.seen), "last": max(self.seen.values(), default=0.0)}


def say(value: object) -> None:
    """One line for who started this process."""
    sys.stdout.write(json.dumps(value) + "\n")
    sys.stdout.flush()


async def main() -> None:
    """Hold the streams open and answer questions about them."""
    held = Crowd()
    await held.open(json.loads(sys.stdin.readline()))
    say({"open": len(held.readers)})
    while line := await asyncio.to_thread(sys.stdin.readline):
        say(await held.answer(json.loads(line)))


if __name__ == "__main__":
    asyncio.run(main())
