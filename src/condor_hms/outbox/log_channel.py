"""A carrier that writes each message to a file: for demonstrations and tests, where nobody is written to."""

from __future__ import annotations

import asyncio
import os
from threading import Lock
from typing import TYPE_CHECKING

import orjson

from condor_hms.outbox.channel import Message, NotDelivered, Receipt

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["LogChannel"]


class LogChannel:
    """Appends a line of JSON for each message and flushes it to the disk; a key is written once."""

    def __init__(self, path: Path) -> None:
        """The file is made at the first message; its folder must exist."""
        self._path = path
        self._lock = Lock()

    async def deliver(self, message: Message) -> Receipt | None:
        """See ``Channel.deliver``; the receipt is the line's number."""
        return await asyncio.to_thread(self._append, message)

    def _append(self, message: Message) -> Receipt:
        line = {
            "key": message.key,
            "channel": message.channel,
            "address": message.address,
            "text": message.text,
        }
        try:
            with self._lock, self._path.open("a+b") as file:
                file.seek(0)
                kept = file.read()
                lines = kept.splitlines(keepends=True)
                for number, earlier in enumerate(lines, start=1):
                    if earlier.endswith(b"\n") and orjson.loads(earlier)["key"] == message.key:
                        return Receipt(id=f"log-{number}")
                if kept and not kept.endswith(b"\n"):
                    # A line that a crash cut short was never receipted.
                    file.truncate(len(kept) - len(lines.pop()))
                file.write(orjson.dumps(line) + b"\n")
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            raise NotDelivered(str(error)) from error
        return Receipt(id=f"log-{len(lines) + 1}")
