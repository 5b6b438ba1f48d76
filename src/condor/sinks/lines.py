"""Audit rows as JSON lines at the end of a file, for whoever tails it."""

from __future__ import annotations

import asyncio
import os
from typing import TYPE_CHECKING

from condor.ports.encoding import encode
from condor.ports.sinks import SinkAway

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from condor.core.ids import Json


class JsonLines:
    """One file; it may be moved away at any time, and is made anew."""

    name = "file"

    def __init__(self, path: Path) -> None:
        """Nothing is opened before the first row."""
        self._path = path

    async def send(self, rows: Sequence[Mapping[str, Json]]) -> None:
        """Append them, and wait until they are on the disk."""
        lines = b"".join(encode(dict(row)) + b"\n" for row in rows)
        try:
            await asyncio.to_thread(self._append, lines)
        except OSError as fault:
            raise SinkAway(f"{self._path}: {fault.strerror or type(fault).__name__}") from fault

    def _append(self, lines: bytes) -> None:
        handle = os.open(self._path, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o600)
        try:
            size = os.fstat(handle).st_size
            if size and os.pread(handle, 1, size - 1) != b"\n":
                # A line that a crash cut: what comes after it is a line of its own.
                lines = b"\n" + lines
            while lines:
                lines = lines[os.write(handle, lines) :]
            os.fsync(handle)
        finally:
            os.close(handle)


__all__ = ["JsonLines"]
