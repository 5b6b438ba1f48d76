"""``docs/bench.md``: what was measured last, with the machine it was measured on."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from bench import parked
from bench.report import table

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

_ABOUT = """\
# Benchmark

`make bench` measures this; `python -m bench document` writes this page from the last results. Figures of one
machine: compare within a table, not across machines. On cores that other machines share the ratios are
smaller: [measured there](bench-shared-cores.md).

**The work**, the same for all: start → read → park → approve → write → done, with tools that do nothing, in a
closed loop at 1, 16 and 64 at once. Rounds are interleaved; each sample is a process of its own on a fresh
database file of the same disk, in WAL with `synchronous=FULL`. CPU is user and system time of the whole
process, all threads, load generator included, and of its workers; not of PostgreSQL. Cores busy counts
everybody on the machine, PostgreSQL too. Core slower by: how many times longer a piece of work that never
changes (`bench/pace.py`) took just before and after a sample than on an idle core of the machine that figures
are set for; where others share a core it is two or three times, for seconds on end. Times are p50 / p95; each
contender's commits are disk commits.

* **Condor** through its public Python API alone (`start`, `wait`, `resume`); the write is a high-tier record
  write. What it stores beyond the state: an event log, a chained audit, the card, the journal of the intent.
* **LangGraph** as its documentation shows: a graph read → gate → write, `interrupt()` in the gate,
  `Command(resume=…)`. Its connection is set to WAL and `synchronous=FULL` and asked whether it took it. With
  durability `sync` each step is on disk before the next begins, which is what Condor promises; with `exit` a
  parked run is kept too, but nothing of what an approved run was about to do.
* **Bare writes**: the rows that Condor writes for one run ({units} units, {rows} rows, {bytes} bytes), taken
  from a real run and written by one thread with one connection, and nothing else: no plan, policy, encoding
  or hashing. One by one: a transaction a unit; with group commit: whatever waits shares one.
* **With workers**: the measuring process hands every segment over (`driven="workers"`); each worker is a
  process of its own. Commits are those of the measuring process alone.
"""


def write_document(results: Path, to: Path) -> None:
    """Write the page from ``latest.json`` and ``parked.json``."""
    rounds = json.loads((results / "latest.json").read_text(encoding="utf-8"))
    scale = json.loads((results / "parked.json").read_text(encoding="utf-8"))
    to.write_text(page(rounds, scale), encoding="utf-8")


def page(rounds: Mapping[str, Any], scale: dict[str, Any]) -> str:
    """The page's text."""
    unit = rounds["rowsOfOneRun"]
    parts = [
        _ABOUT.format(units=unit["units"], rows=unit["rows"], bytes=f"{unit['bytes']:,}"),
        f"## Measured\n\n{_machine(rounds)}\n",
        f"{table(rounds)}\n",
        "## Parked runs\n",
        "A parked run is a row: a fresh process opens a database full of them. The runs are real ones,"
        " written again with fresh ids.\n",
        f"{parked.shown(scale)}\n",
    ]
    return "\n".join(parts)


def _machine(rounds: Mapping[str, Any]) -> str:
    machine = rounds["machine"]
    packages = ", ".join(f"{name} {version}" for name, version in machine["packages"].items() if version)
    return (
        f"{machine['cores']} cores ({machine['cpu']}), {machine['system']}, Python {machine['python']},"
        f" SQLite {machine['sqlite']}; {packages}. Load average before: {machine['load']} (0 is a quiet"
        f" machine). Medians of {rounds['rounds']} rounds."
    )
