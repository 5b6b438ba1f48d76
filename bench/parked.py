"""A database full of parked runs: what a process pays for them at its start, in memory and in answers.

The runs are real: the units of one parked run, recorded and written again with fresh ids through the
store. Then a fresh process opens the database, and another an empty one to compare with.
"""

from __future__ import annotations

import asyncio
import dataclasses
import datetime
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
from condor.ports.cards import CardFilter
from condor.ports.clock import SystemClock, timestamp
from condor.store.sqlite import SqliteStore

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from condor.ports.store import SuspensionRow, Transition

#: Units handed to the store at once while the database is filled.
_BATCH = 2_000
#: Runs that are approved to see how long the tool takes to be entered.
_APPROVED = 50
#: A first screen.
_CARDS = 50
#: When the first card was opened; one a second after it.
_BEGIN = datetime.datetime(2026, 11, 1, tzinfo=datetime.UTC)


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
    for number in range(count):
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
            clone = renamed(unit, names)
            yield dataclasses.replace(clone, park=[_varied(row, number, count) for row in clone.park])


def _varied(row: SuspensionRow, number: int, count: int) -> SuspensionRow:
    """A card as an inbox has them: a few people ask, about many patients; one in the whole lot is rare."""
    rare = number == count - 1
    return dataclasses.replace(
        row,
        requester=f"user-{number % 20}",
        subject=f"Patient/pt-{number % 5_000}",
        tier="low" if number % 2 else "high",
        origin="plan_mutation" if rare else row.origin,
        opened_at=timestamp(_BEGIN + datetime.timedelta(seconds=number)),
    )


def _filters(count: int) -> dict[str, CardFilter]:
    """What a person narrows an inbox by; some leave half of it, some one card, some none."""
    at = {share: timestamp(_BEGIN + datetime.timedelta(seconds=count * share / 10)) for share in (1, 9)}
    return {
        "everything": CardFilter(),
        "tool": CardFilter(tool="order.refund"),
        "a tool that nobody uses": CardFilter(tool="order.void"),
        "tier": CardFilter(tier="low"),
        "subject": CardFilter(subject="Patient/pt-77"),
        "requester": CardFilter(requester="user-7"),
        "requester and tier, which no card meets": CardFilter(requester="user-7", tier="high"),
        "tool and tier": CardFilter(tool="order.refund", tier="low"),
        "the one rare origin": CardFilter(origin="plan_mutation", tool="order.refund"),
        "kind of none": CardFilter(reason_code="reconcile", tier="high"),
        "oldest tenth": CardFilter(opened_until=at[1]),
        "newest tenth": CardFilter(opened_from=at[9]),
        "newest tenth of a requester": CardFilter(opened_from=at[9], requester="user-7"),
    }


async def _timed(condor: Condor, wanted: CardFilter) -> dict[str, float]:
    """Milliseconds for the first cards that meet a filter, in either order, and how many there were."""
    took, most = 0.0, 0
    for order in ("oldest", "newest"):
        began = time.perf_counter()
        cards = await condor.pending(wanted, order=order, limit=_CARDS)
        took, most = max(took, (time.perf_counter() - began) * 1e3), len(cards)
    return {"ms": took, "cards": most}


async def look(path: Path, count: int) -> dict[str, object]:
    """Open a database of so many parked runs in this process and say what that took."""
    entered: dict[str, float] = {}
    gc.collect()
    before, began = _resident_mb(), time.perf_counter()
    async with Condor(tools=tools_of(entered), database_url=f"sqlite:///{path}") as condor:
        opened = time.perf_counter()
        cards = await condor.pending(limit=_CARDS)
        listed = time.perf_counter()
        after = _resident_mb()
        filtered = {name: await _timed(condor, wanted) for name, wanted in _filters(count).items()}
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
        "filtered": filtered,
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
        nothing = run_apart([*command, str(empty), "0"])
        everything = run_apart([*command, str(full), str(count)])
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
        *(
            (f"first {found['cards']:.0f}, {name}", f"{found['ms']:.1f} ms", "< 50 ms")
            for name, found in found["filtered"].items()
        ),
        (
            f"approve→tool p50 / p95 of {found['approved']}",
            f"{found['approveToToolMs']['p50']:.1f} / {found['approveToToolMs']['p95']:.1f} ms",
            "",
        ),
        ("on disk", f"{found['bytesPerRun'] / 1e3:.1f} KB a run", ""),
    ]
    lines = [f"| {found['count']:,} parked runs | measured | wanted |", "|---|--:|--:|"]
    return "\n".join(lines + [f"| {' | '.join(row)} |" for row in rows])
