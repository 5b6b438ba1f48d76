"""Delivery of the audit to outside sinks: at least once, behind every run, never in its way.

Law 1: what is delivered is what is sealed. Seals hold every run's head in one order for all processes, so
that a number of a seal, and how far the runs went that have not ended, are the whole position.
Law 2: the position is written after a batch was taken. What was sent and not noted is sent again.
Law 3: each sink has its own position; one that is away keeps no other waiting, and is asked ever more rarely.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, NoReturn

from condor.core.audit import seal_heads_of
from condor.core.errors import StoreUnavailable
from condor.ports.sinks import SinkAway
from condor.ports.store import AuditFilter
from condor.runtime.snapshot import audit_json

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
    from pathlib import Path

    from condor.core.ids import Json
    from condor.ports.counts import Count
    from condor.ports.sinks import AuditSink
    from condor.ports.store import Store

_log = logging.getLogger(__name__)

#: Seconds between two looks for rows that are not delivered; each seals what is new first (ADR 31).
DELIVER_EVERY_S: Final = 5.0
#: Seconds for the look that a process takes before it ends.
LAST_LOOK_S: Final = 2.0
#: Longest pause of a sink that is away, in looks.
_PAUSE_LOOKS_MAX: Final = 60
#: Rows of one batch, of however many runs: some 400 KB.
_BATCH_ROWS: Final = 500


@dataclass(slots=True, kw_only=True)
class SinkPosition:
    """How far one sink has all of it."""

    #: Every row that seals up to this one hold.
    seal: int = 0
    #: Run → its last row that was taken; runs that ended are left out.
    runs: dict[str, int] = field(default_factory=dict)
    #: Why the last batch was not taken; empty where it was.
    away: str = ""


def position_file(home: Path, name: str) -> Path:
    """Where a sink's position is kept."""
    return home / f"sink-{name}.json"


def read_position(path: Path) -> SinkPosition:
    """A position as it was kept; one that is not there, or is damaged, begins anew: rows may come twice."""
    try:
        kept = json.loads(path.read_text(encoding="utf-8"))
        runs = {str(run): int(seq) for run, seq in kept["runs"].items()}
        return SinkPosition(seal=int(kept["seal"]), runs=runs, away=str(kept["away"]))
    except FileNotFoundError:
        return SinkPosition()
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        _log.warning("%s cannot be read; its sink gets everything anew", path)
        return SinkPosition()


class Delivery:
    """The sinks of a process, and how far each is."""

    def __init__(self, sinks: Sequence[AuditSink], home: Path, store: Store, count: Count) -> None:
        """Nothing is sent before ``look``."""
        self._sinks, self._home, self._store, self._count = sinks, home, store, count
        self._at = {sink.name: read_position(position_file(home, sink.name)) for sink in sinks}
        #: Looks that a sink which is away still sits out, and how many it will the next time.
        self._pauses = dict.fromkeys(self._at, (0, 1))

    async def look(self) -> None:
        """Send every sink what it has not got.

        Raises:
            StoreUnavailable: the rows cannot be read.
        """
        for sink in self._sinks:
            left, longest = self._pauses[sink.name]
            if left:
                self._pauses[sink.name] = (left - 1, longest)
                continue
            try:
                await self._deliver(sink)
                self._pauses[sink.name] = (0, 1)
            except SinkAway as away:
                self._pauses[sink.name] = (longest, min(2 * longest, _PAUSE_LOOKS_MAX))
                self._count(f"sink-{sink.name}")
                _log.warning("the audit sink %s is away: %s; it gets the rest later", sink.name, away)
                await self._keep(sink.name, away=str(away))

    async def _deliver(self, sink: AuditSink) -> None:
        position = self._at[sink.name]
        batch = _Batch(seal=position.seal)
        async for seal in self._store.seals(after=position.seal):
            for run_id, seq in seal_heads_of(seal.body):
                after = batch.runs[run_id] if run_id in batch.runs else position.runs.get(run_id)
                async for row in self._rows(run_id, after=after or 0, upto=seq):
                    batch.add(run_id, row)
                    if len(batch.rows) == _BATCH_ROWS:
                        await self._send(sink, batch)
                        batch = _Batch(seal=position.seal)
            batch.seal = seal.seq
        if batch.seal > position.seal or batch.rows:
            await self._send(sink, batch)

    async def _send(self, sink: AuditSink, batch: _Batch) -> None:
        """Send a batch and note it.

        Raises:
            SinkAway: it was not taken.
        """
        if batch.rows:
            await sink.send(batch.rows)
        position = self._at[sink.name]
        position.seal = batch.seal
        for run_id, seq in batch.runs.items():
            if seq is None:
                position.runs.pop(run_id, None)
            else:
                position.runs[run_id] = seq
        await self._keep(sink.name)

    async def _rows(self, run_id: str, *, after: int, upto: int) -> AsyncIterator[dict[str, Json]]:
        while after < upto:
            found = await self._store.audit(
                AuditFilter(run_id=run_id), limit=_BATCH_ROWS, after=(run_id, after)
            )
            rows = [row for row in found if row.seq <= upto]
            if not rows:
                return  # they were removed: `condor audit verify` says so
            for row in rows:
                yield audit_json(row)
            after = rows[-1].seq

    async def _keep(self, name: str, *, away: str = "") -> None:
        """Note how far a sink is; the disk holds up no run."""
        position = self._at[name]
        position.away = away
        kept = {"seal": position.seal, "runs": dict(position.runs), "away": away}
        await asyncio.to_thread(_write, position_file(self._home, name), kept)


@dataclass(slots=True, kw_only=True)
class _Batch:
    """Rows that are sent together, and where their sink is when it has taken them."""

    #: Every row of seals up to this one is in this batch or one before.
    seal: int
    rows: list[dict[str, Json]] = field(default_factory=list)
    #: Run → its last row; None where it ended.
    runs: dict[str, int | None] = field(default_factory=dict)

    def add(self, run_id: str, row: dict[str, Json]) -> None:
        """One more row, the next of its run."""
        self.rows.append(row)
        ends = row.get("decision") == "run-ended" or self.runs.get(run_id, 0) is None
        self.runs[run_id] = None if ends else int(str(row["seq"]))


def _write(path: Path, kept: dict[str, Any]) -> None:
    beside = path.with_name(f"{path.name}.new")
    try:
        handle = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            json.dump(kept, file)
        beside.replace(path)
    except OSError:
        _log.warning("how far a sink is could not be kept in %s", path, exc_info=True)


async def deliver(delivery: Delivery, seal: Callable[[], Awaitable[object]]) -> NoReturn:
    """Seal and send, until cancelled; then once more, within ``LAST_LOOK_S``.

    A command lives shorter than the time between two looks: without its last one a home that only commands
    use would send nothing of their runs.

    Args:
        seal: seals what is not sealed, so that it can be sent.
    """
    looking = asyncio.ensure_future(_look(delivery, seal))
    try:
        while True:
            # Not broken off: what a sink has taken and nobody noted is sent again.
            await asyncio.shield(looking)
            await asyncio.sleep(DELIVER_EVERY_S)
            looking = asyncio.ensure_future(_look(delivery, seal))
    finally:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(LAST_LOOK_S):
                await looking
                await _look(delivery, seal)


async def _look(delivery: Delivery, seal: Callable[[], Awaitable[object]]) -> None:
    try:
        await seal()
        await delivery.look()
    except StoreUnavailable:
        _log.warning("the store cannot be read; sinks wait")
    except Exception:  # noqa: BLE001 - a fault of ours costs no later look
        _log.exception("the audit could not be delivered")


__all__ = ["DELIVER_EVERY_S", "Delivery", "SinkPosition", "deliver", "position_file", "read_position"]
