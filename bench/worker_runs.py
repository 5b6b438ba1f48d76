"""Condor on PostgreSQL with workers: a server in this process that hands over, and workers of their own."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING

from bench.condor_runs import CondorRuns, opened_at
from bench.postgres_runs import durability, fresh_database, lacking
from bench.workload import own_cpu

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

#: Longest that a worker may take to begin, in seconds.
_BEGIN_S_MAX = 60.0
_TICKS_A_S = os.sysconf("SC_CLK_TCK")


class CondorWithWorkers:
    share = 0.25

    def __init__(self, workers: int) -> None:
        self._workers = workers
        self.name = f"condor-postgres-{workers}-worker{'s' * (workers > 1)}"
        self.title = f"Condor, PostgreSQL, {workers} worker{'s' * (workers > 1)}"

    def missing(self) -> str | None:
        return lacking("asyncpg", "procrastinate")

    @asynccontextmanager
    async def open(self, directory: Path) -> AsyncIterator[CondorRuns]:
        async with AsyncExitStack() as stack:
            url = await stack.enter_async_context(fresh_database())
            runs = await stack.enter_async_context(opened_at(url, directory, driven="workers"))
            pids = [await stack.enter_async_context(_worker(url, directory)) for _ in range(self._workers)]
            runs.settings = lambda: durability(url)  # type: ignore[method-assign]
            runs.entered = _Entered(directory)
            runs.cpu = lambda: _cpu_of(pids)  # type: ignore[method-assign]
            yield runs


@asynccontextmanager
async def _worker(url: str, directory: Path) -> AsyncIterator[int]:
    """A worker; its process id."""
    command = [sys.executable, "-m", "bench.worker_process", url, str(directory)]
    process = await asyncio.create_subprocess_exec(*command)
    try:
        async with asyncio.timeout(_BEGIN_S_MAX):
            while not (directory / f"ready-{process.pid}").exists():
                if process.returncode is not None:
                    raise RuntimeError("a worker ended by itself")
                await asyncio.sleep(0.02)
        yield process.pid
    finally:
        if process.returncode is None:
            process.send_signal(signal.SIGTERM)
        await process.wait()


class _Entered(dict[str, float]):
    """When each write was entered, as the workers wrote it down before they stored what came of it."""

    def __init__(self, directory: Path) -> None:
        super().__init__()
        self._directory = directory
        self._files: dict[Path, IO[str]] = {}

    def pop(self, key: str) -> float:  # type: ignore[override]
        if key not in self:
            self._read()
        return super().pop(key)

    def _read(self) -> None:
        for path in self._directory.glob("entered-*"):
            if path not in self._files:
                self._files[path] = path.open(encoding="utf-8")
            for line in self._files[path]:
                key, at = json.loads(line)
                self[key] = at


def _cpu_of(pids: list[int]) -> tuple[float, float]:
    """Seconds of user and system time of this process and others."""
    user, system = own_cpu()
    for pid in pids:
        fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
        user += int(fields[11]) / _TICKS_A_S
        system += int(fields[12]) / _TICKS_A_S
    return user, system
