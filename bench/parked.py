"""A database full of parked runs: what a process pays for them at its start, in memory and in answers.

The runs are real: the units of one parked run, recorded and written again with fresh ids through the
store. Then a fresh process opens the database, and another an empty one to compare with.
"""

from __future__ import annotations

import asyncio
import gc
import sys
import tempfile
import time
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bench.condor_runs import tools_of
from bench.rounds import run_apart
from bench.units import renamed, units_of_one_run
from bench.workload import spread
from condor import Condor
from condor.core.suspend import ReasonCode, suspend_id
from condor.ports.clock import SystemClock
from condor.store.sqlite import SqliteStore

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from condor.ports.store import Transition

#: Units handed to the store at once while the database is filled.
_BATCH = 2_000
#: Runs that are approved to see how long the tool takes to be entered.
_APPROVED = 50
#: A first screen.
_CARDS = 50


async def fill(path: Path, count: int) -> None:
    """Write ``count`` parked runs."""
    template = await units_of_one_run(approve=False)
    store = SqliteStore.open(path)
    try:
        clones = _clones(template, count)
        while batch := list(islice(clones, _BATCH)):
            await asyncio.gather(*[store.commit(unit) for unit in batch])
    finally:
        await store.close()


def _clones(template: Sequence[Transition], count: int) -> Iterator[Transition]:
    """The template's units for ``count`` runs with ids of their own."""
    clock = SystemClock()
    born = template[0].create
    (card,) = [card for unit in template for card in unit.park]
    assert born is not None
    for _ in range(count):
        run_id = clock.new_id("run")
        fresh = suspend_id(
            run_id=run_id,
            step_id=card.step_id,
            contract_hash=card.contract_hash,
            reason=ReasonCode(card.reason_code),
            generation=card.generation,
        )
        names = {
            template[0].run_id: run_id,
            born.session_id: clock.new_id("ses"),
            card.suspend_id: fresh,
        }
        for unit in template:
            yield renamed(unit, names)


async def look(path: Path) -> dict[str, object]:
    """Open a database in this process and say what that took."""
    entered: dict[str, float] = {}
    gc.collect()
    before, began = _resident_mb(), time.perf_counter()
    async with Condor(tools=tools_of(entered), database_url=f"sqlite:///{path}") as condor:
        opened = time.perf_counter()
        cards = await condor.pending(limit=_CARDS)
        listed = time.perf_counter()
        after = _resident_mb()
        waits = []
        for card in cards[:_APPROVED]:
            entered.clear()
            asked = time.perf_counter()
            await condor.resume(str(card["runId"]), str(card["suspendId"]), {"approved": True})
            ended = await condor.wait(str(card["runId"]))
            if ended["status"] != "succeeded" or len(entered) != 1:
                raise RuntimeError(f"run {card['runId']} ended as {ended['status']}")
            waits += [at - asked for at in entered.values()]
    return {
        "startUpMs": (opened - began) * 1e3,
        "firstCardsMs": (listed - opened) * 1e3,
        "cards": len(cards),
        "addedMb": after - before,
        "approved": len(waits),
        "approveToToolMs": spread(waits) if waits else None,
    }


def _resident_mb() -> float:
    """Memory of this process that is in RAM."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * 4096 / 1e6


def measure_parked(count: int, directory: Path) -> dict[str, Any]:
    """Fill a database, then open it and an empty one, each in a fresh process."""
    with tempfile.TemporaryDirectory(prefix="condor-bench-", dir=directory) as fresh:
        full, empty = Path(fresh) / "full.db", Path(fresh) / "empty.db"
        began = time.perf_counter()
        asyncio.run(fill(full, count))
        filled = time.perf_counter() - began
        asyncio.run(fill(empty, 0))
        size = full.stat().st_size
        command = [sys.executable, "-m", "bench", "look"]
        nothing, everything = run_apart([*command, str(empty)]), run_apart([*command, str(full)])
    return {
        "v": 1,
        "count": count,
        "fillS": filled,
        "bytesPerRun": size / max(count, 1),
        **everything,
        "emptyStartUpMs": nothing["startUpMs"],
        "addedMbOverEmpty": everything["addedMb"] - nothing["addedMb"],
    }


def shown(found: dict[str, Any]) -> str:
    """Plain text; also valid Markdown."""
    rows = [
        ("start-up", f"{found['startUpMs']:.0f} ms (empty: {found['emptyStartUpMs']:.0f} ms)", "< 2,000 ms"),
        ("memory over an empty database's", f"{found['addedMbOverEmpty']:.1f} MB", "< 20 MB"),
        (f"first {found['cards']} cards", f"{found['firstCardsMs']:.1f} ms", "< 50 ms"),
        (
            f"approve→tool p50 / p95 of {found['approved']}",
            f"{found['approveToToolMs']['p50']:.1f} / {found['approveToToolMs']['p95']:.1f} ms",
            "",
        ),
        ("on disk", f"{found['bytesPerRun'] / 1e3:.1f} KB a run", ""),
    ]
    lines = [f"| {found['count']:,} parked runs | measured | wanted |", "|---|--:|--:|"]
    return "\n".join(lines + [f"| {' | '.join(row)} |" for row in rows])
