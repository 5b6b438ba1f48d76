"""Bare durable writes: the rows that Condor writes for one run, and nothing else of what it does.

The same units with the same number of rows and bytes, taken from a real run, in a schema with the keys
that reading them back needs. No planning, no policy, no encoding, no hashing: only the writing, by one
thread with one connection, as a plain engineer would do it.

* one by one: each unit is a transaction;
* grouped: whatever waits shares one.
"""

from __future__ import annotations

import asyncio
import queue
import random
import sqlite3
import threading
import time
from contextlib import asynccontextmanager
from itertools import groupby
from typing import TYPE_CHECKING, TypeAlias

from bench.units import rows_of, units_of_one_run

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping, Sequence
    from pathlib import Path

    from condor.ports.store import Transition

#: Stand for a run's own ids in a template.
_RUN, _CARD = object(), object()
#: Statements of one unit, in order, each with its rows.
Unit: TypeAlias = "Sequence[tuple[str, Sequence[tuple[object, ...]]]]"

_SCHEMA = """
PRAGMA journal_mode = WAL;
PRAGMA synchronous = FULL;
CREATE TABLE run (run_id TEXT PRIMARY KEY, status TEXT, at TEXT, session_id TEXT, requester TEXT,
    autonomy TEXT, halt TEXT, rev INTEGER) WITHOUT ROWID;
CREATE INDEX run_by_status ON run (status);
CREATE TABLE step (run_id TEXT, step_id TEXT, status TEXT, attempt INTEGER, key TEXT, code TEXT,
    PRIMARY KEY (run_id, step_id)) WITHOUT ROWID;
CREATE TABLE card (suspend_id TEXT PRIMARY KEY, run_id TEXT, tenant_id TEXT, step_id TEXT, generation INTEGER,
    reason_code TEXT, origin TEXT, contract_hash TEXT, tool TEXT, opened_at TEXT, expires_at TEXT, facts TEXT,
    tier TEXT, requester TEXT, subject TEXT, status TEXT, decided_by TEXT, decided_at TEXT, consumed INTEGER);
CREATE INDEX card_by_status ON card (status);
CREATE INDEX card_by_run ON card (run_id);
CREATE TABLE event (run_id TEXT, seq INTEGER, kind TEXT, at TEXT, facts TEXT, PRIMARY KEY (run_id, seq));
CREATE TABLE audit (run_id TEXT, seq INTEGER, body TEXT, prev_hash TEXT, hash TEXT,
    PRIMARY KEY (run_id, seq));
CREATE TABLE payload (run_id TEXT, key TEXT, value TEXT, PRIMARY KEY (run_id, key));
"""
_STATEMENTS = {
    "born": "INSERT INTO run VALUES (?, ?, ?, ?, ?, ?, ?, 1)",
    "run": "UPDATE run SET status = coalesce(?2, status), at = ?3, halt = ?4, rev = rev + 1 "
    "WHERE run_id = ?1 AND rev = ?5",
    "step": "INSERT OR REPLACE INTO step VALUES (?, ?, ?, ?, ?, ?)",
    "card": "INSERT INTO card VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
    "answer": "UPDATE card SET status = ?2, decided_by = ?3, decided_at = ?4 "
    "WHERE suspend_id = ?1 AND status = 'pending'",
    "use": "UPDATE card SET consumed = 1 WHERE suspend_id = ?1 AND consumed = 0",
    "event": "INSERT INTO event VALUES (?, ?, ?, ?, ?)",
    "audit": "INSERT INTO audit VALUES (?, ?, ?, ?, ?)",
    "payload": "INSERT OR REPLACE INTO payload VALUES (?, ?, ?)",
}

#: What must change exactly one row each, or another writer was there.
_COMPARE_AND_SET = frozenset({_STATEMENTS["run"], _STATEMENTS["answer"], _STATEMENTS["use"]})


def templates_of(units: Sequence[Transition], statements: Mapping[str, str] = _STATEMENTS) -> list[Unit]:
    """The statements of a run's units, with places for its ids and everything else filled in."""
    run_id = units[0].run_id
    (card_id,) = {card.suspend_id for unit in units for card in unit.park}
    seqs = {"event": 0, "audit": 0}
    found: list[Unit] = []
    for rev, unit in enumerate(units):
        rows: list[tuple[str, tuple[object, ...]]] = []
        for table, values in rows_of(unit):
            statement = statements[table]
            if table in seqs:
                seqs[table] += 1
                values = (values[0], seqs[table], *values[1:])
            elif table == "run" and rev == 0:
                statement = statements["born"]
            elif table == "run":
                values = (*values, rev)
            texts = tuple(v.decode() if isinstance(v, bytes) else v for v in values)
            rows.append((statement, tuple(_placed(v, run_id, card_id) for v in texts)))
        found.append([(name, [row for _, row in same]) for name, same in groupby(rows, lambda row: row[0])])
    return found


def _placed(value: object, run_id: str, card_id: str) -> object:
    return _RUN if value == run_id else _CARD if value == card_id else value


def filled(unit: Unit, run_id: str, card_id: str) -> Unit:
    """A template with the ids of one run."""
    ids = {_RUN: run_id, _CARD: card_id}
    return [(name, [tuple([ids.get(v, v) for v in row]) for row in rows]) for name, rows in unit]


class BareWriter:
    """One thread, one connection."""

    def __init__(self, path: Path, *, grouped: bool) -> None:
        self.commits = 0
        self._connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
        self._connection.executescript(_SCHEMA)
        self._grouped = grouped
        self._queue: queue.SimpleQueue[tuple[Unit, asyncio.Future[None]] | None] = queue.SimpleQueue()
        self._loop = asyncio.get_running_loop()
        self._thread = threading.Thread(target=self._work, daemon=True)
        self._thread.start()

    async def write(self, unit: Unit) -> None:
        """Return when the unit is on disk."""
        written: asyncio.Future[None] = self._loop.create_future()
        self._queue.put((unit, written))
        await written

    def close(self) -> None:
        self._queue.put(None)
        self._thread.join()
        self._connection.close()

    def pragmas(self) -> dict[str, object]:
        names = ("journal_mode", "synchronous")
        return {name: self._connection.execute(f"PRAGMA {name}").fetchone()[0] for name in names}

    def _work(self) -> None:
        while (job := self._queue.get()) is not None:
            group = [job]
            while self._grouped and not self._queue.empty() and (more := self._queue.get()) is not None:
                group.append(more)
            self._apply([unit for unit, _ in group])
            self._loop.call_soon_threadsafe(_settle, [written for _, written in group])

    def _apply(self, units: Sequence[Unit]) -> None:
        execute, executemany = self._connection.execute, self._connection.executemany
        execute("BEGIN IMMEDIATE")
        for unit in units:
            for statement, rows in unit:
                changed = executemany(statement, rows).rowcount
                if statement in _COMPARE_AND_SET and changed != len(rows):
                    raise RuntimeError(f"another writer was there: {statement}")
        execute("COMMIT")
        self.commits += 1


def _settle(written: Sequence[asyncio.Future[None]]) -> None:
    for future in written:
        future.set_result(None)


class BareRuns:
    """Runs that are nothing but their rows."""

    def __init__(self, writer: BareWriter, units: Sequence[Transition]) -> None:
        self.entered: dict[str, float] = {}
        self.writes = 0
        self._writer = writer
        self._units = 0
        self._templates = templates_of(units)
        #: The unit that parks; the one after which the tool is entered.
        self._park = next(place for place, unit in enumerate(units) if unit.park)
        self._intent = next(place for place, unit in enumerate(units) if unit.consume)

    async def start(self, key: str) -> str:
        ids = f"run_{time.time_ns():026}", f"sus_{random.getrandbits(104):026x}"
        await self._write(self._templates[: self._park + 1], *ids)
        return " ".join(ids)

    async def approve(self, key: str, handle: str) -> None:
        ids = handle.split()
        await self._write(self._templates[self._park + 1 : self._intent + 1], *ids)
        self.entered[key] = time.perf_counter()
        self.writes += 1
        await self._write(self._templates[self._intent + 1 :], *ids)

    async def _write(self, units: Sequence[Unit], run_id: str, card_id: str) -> None:
        for unit in units:
            await self._writer.write(filled(unit, run_id, card_id))
            self._units += 1

    def counts(self) -> Mapping[str, int]:
        return {"units": self._units, "commits": self._writer.commits}

    async def settings(self) -> Mapping[str, object]:
        return self._writer.pragmas()


class BareContender:
    share = 1.0

    def __init__(self, *, grouped: bool) -> None:
        self._grouped = grouped
        self.name = "bare-grouped" if grouped else "bare"
        self.title = "Bare writes, group commit" if grouped else "Bare writes, one by one"

    def missing(self) -> str | None:
        return None

    @asynccontextmanager
    async def open(self, directory: Path) -> AsyncIterator[BareRuns]:
        units = await units_of_one_run()
        writer = BareWriter(directory / "bare.db", grouped=self._grouped)
        try:
            yield BareRuns(writer, units)
        finally:
            writer.close()
