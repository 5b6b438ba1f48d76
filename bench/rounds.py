"""Interleaved rounds: every contender once a round, each sample in a fresh process on fresh files.

A process of its own, so that no contender pays for another's imports, garbage or threads; interleaved, so
that a slow minute of the machine is everybody's.
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bench.contenders import BY_NAME
from bench.workload import Contender, measure

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

#: Fewest measured runs a worker: below it a sample is its own warm-up.
_RUNS_A_WORKER_MIN = 3
#: One at a time is slower, and a median needs fewer runs than a rate.
_ALONE_SHARE = 0.25


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What to measure."""

    rounds: int
    at_once: Sequence[int]
    #: Runs a sample at 16 at once for the fastest contenders; others make their share of it.
    runs: int
    only: Sequence[str]
    #: Where the database files are made; the disk of this directory is what is measured.
    directory: Path


def sample_here(name: str, at_once: int, runs: int, directory: Path) -> dict[str, object]:
    """One sample in this process."""
    with tempfile.TemporaryDirectory(prefix="condor-bench-", dir=directory) as fresh:
        return asyncio.run(measure(BY_NAME[name], Path(fresh), at_once=at_once, runs=runs))


def take_rounds(plan: Plan, say: Callable[[str], None]) -> list[dict[str, Any]]:
    """All samples, in the order in which they were taken."""
    samples: list[dict[str, Any]] = []
    contenders = [BY_NAME[name] for name in plan.only if BY_NAME[name].missing() is None]
    for number in range(1, plan.rounds + 1):
        for at_once in plan.at_once:
            for contender in contenders:
                sample = _sample_apart(contender, at_once, plan)
                samples.append({"round": number, **sample})
                say(
                    f"round {number}/{plan.rounds}  {at_once:>3} at once  {contender.title:<28}"
                    f"{sample['runsPerS']:>8.0f} runs/s {sample['cpuMsPerRun']:>7.2f} ms CPU a run"
                )
    return samples


def runs_of(contender: Contender, at_once: int, runs: int) -> int:
    """How many runs one sample measures."""
    wanted = runs * contender.share * (_ALONE_SHARE if at_once == 1 else 1.0)
    return max(at_once * _RUNS_A_WORKER_MIN, int(wanted))


def _sample_apart(contender: Contender, at_once: int, plan: Plan) -> dict[str, Any]:
    command = [sys.executable, "-m", "bench", "sample", contender.name]
    command += ["--at-once", str(at_once), "--runs", str(runs_of(contender, at_once, plan.runs))]
    command += ["--directory", str(plan.directory)]
    return run_apart(command)


def run_apart(command: Sequence[str]) -> dict[str, Any]:
    """The JSON that a child prints as its last line."""
    child = subprocess.run(command, capture_output=True, text=True, check=False)
    if child.returncode != 0:
        raise RuntimeError(f"{' '.join(command[1:])} failed:\n{child.stderr[-4000:]}")
    found: dict[str, Any] = json.loads(child.stdout.splitlines()[-1])
    return found
