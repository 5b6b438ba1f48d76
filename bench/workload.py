"""The work and its load: one generator for every contender.

A run is start → read → park → approve → write → done. The load is closed: so many workers, each with one
run at a time, so that a contender is never asked for more than it finishes.
"""

from __future__ import annotations

import asyncio
import os
import resource
import statistics
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from bench.pace import slowness

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from contextlib import AbstractAsyncContextManager

#: Runs before the measured ones: code is warm, files have grown past their first pages.
WARM_UP_RUNS = 60


class Opened(Protocol):
    """A contender with its database open."""

    #: When the write tool was entered, by key (``time.perf_counter``).
    entered: dict[str, float]
    #: Writes that the tool made: one a run, or the contender is broken.
    writes: int

    async def start(self, key: str) -> str:
        """Begin a run and return when it is durably parked, with what ``approve`` needs."""
        ...

    async def approve(self, key: str, handle: str) -> None:
        """Answer and return when the run has ended."""
        ...

    def counts(self) -> Mapping[str, int]:
        """``units`` and ``commits`` since it was opened; empty where they cannot be counted."""
        ...

    async def settings(self) -> Mapping[str, object]:
        """What its connection says of its own durability, and anything else worth knowing."""
        ...


class Contender(Protocol):
    """Something that can do the work."""

    @property
    def name(self) -> str: ...
    @property
    def title(self) -> str: ...
    @property
    def share(self) -> float:
        """Part of the asked runs that are measured: less where a run takes long."""
        ...

    def missing(self) -> str | None:
        """Why it cannot run here; None when it can."""
        ...

    def open(self, directory: Path) -> AbstractAsyncContextManager[Opened]:
        """Open it on a fresh database in this directory."""
        ...


@dataclass(slots=True)
class Times:
    """Seconds, one entry a run."""

    park: list[float] = field(default_factory=list)
    approve_to_tool: list[float] = field(default_factory=list)
    approve_to_done: list[float] = field(default_factory=list)


async def measure(contender: Contender, directory: Path, *, at_once: int, runs: int) -> dict[str, object]:
    """One sample: JSON of what was measured."""
    async with contender.open(directory) as opened:
        await _load(opened, "warm", at_once=at_once, runs=max(at_once, min(runs, WARM_UP_RUNS)))
        counted, written = opened.counts(), opened.writes
        cpu = getattr(opened, "cpu", own_cpu)
        slower = slowness()
        before, busy, began = cpu(), busy_s(), time.perf_counter()
        times = await _load(opened, "run", at_once=at_once, runs=runs)
        took, after = time.perf_counter() - began, cpu()
        cores_busy = None if busy is None else ((busy_s() or busy) - busy) / took
        counts = {name: (count - counted[name]) / runs for name, count in opened.counts().items()}
        if opened.writes - written != runs:
            raise RuntimeError(f"{contender.name} made {opened.writes - written} writes in {runs} runs")
        settings = dict(await opened.settings())
    user, system = after[0] - before[0], after[1] - before[1]
    return {
        "contender": contender.name,
        "atOnce": at_once,
        "runs": runs,
        "seconds": took,
        "runsPerS": runs / took,
        "cpuMsPerRun": (user + system) / runs * 1e3,
        "cpuUserMsPerRun": user / runs * 1e3,
        "cpuSystemMsPerRun": system / runs * 1e3,
        "coresBusy": cores_busy,
        "slowness": statistics.mean((slower, slowness())),
        "unitsPerRun": counts.get("units"),
        "commitsPerRun": counts.get("commits"),
        "parkMs": spread(times.park),
        "approveToToolMs": spread(times.approve_to_tool),
        "approveToDoneMs": spread(times.approve_to_done),
        "settings": settings,
    }


def own_cpu() -> tuple[float, float]:
    """Seconds of user and system time of this process, all its threads."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime, used.ru_stime


def busy_s() -> float | None:
    """Seconds that the machine's cores were at work, whoever had them; None where that is not told."""
    try:
        line = Path("/proc/stat").read_text(encoding="utf-8").partition("\n")[0]
    except OSError:
        return None
    user, nice, system, _, _, irq, softirq, steal, *_ = map(int, line.split()[1:])
    return (user + nice + system + irq + softirq + steal) / os.sysconf("SC_CLK_TCK")


async def _load(opened: Opened, name: str, *, at_once: int, runs: int) -> Times:
    """``runs`` runs by ``at_once`` workers."""
    times, keys = Times(), iter([f"{name}-{number:06}" for number in range(runs)])

    async def work() -> None:
        for key in keys:
            await _one(opened, key, times)

    async with asyncio.TaskGroup() as workers:
        for _ in range(at_once):
            workers.create_task(work())
    return times


async def _one(opened: Opened, key: str, times: Times, now: Callable[[], float] = time.perf_counter) -> None:
    started = now()
    handle = await opened.start(key)
    parked = now()
    await opened.approve(key, handle)
    done = now()
    times.park.append(parked - started)
    times.approve_to_tool.append(opened.entered.pop(key) - parked)
    times.approve_to_done.append(done - parked)


def spread(seconds: list[float]) -> dict[str, float]:
    """Median and 95th percentile, in ms."""
    ordered = sorted(seconds)
    return {
        name: ordered[min(len(ordered) - 1, int(len(ordered) * part))] * 1e3
        for name, part in (("p50", 0.50), ("p95", 0.95))
    }
