"""Logs of real runs on either store, and what somebody who may write the whole database sees of one."""

from __future__ import annotations

import copy
import sqlite3
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import asyncpg

from condor import Condor
from condor.core.audit import Against, read_checkpoint
from condor.runtime.signing import holds, public_key, sign
from condor.testing import Ledger
from tests.pump.desk import BOB, CAT, call, open_desk, write_tool

if TYPE_CHECKING:
    import random
    from collections.abc import AsyncIterator
    from pathlib import Path

    from condor.core.audit import ChainVerdict
    from tests.pump.desk import Desk

#: Every table that a forger has to think of, and by what its rows are ordered.
TABLES = {
    "run": "run_id",
    "audit": "position",
    "seal": "seq",
    "sealed": "run_id",
    "suspension": "opened",
    "step": "run_id, step_id",
    "event": "run_id, seq",
    "payload": "run_id, key",
}

#: All rows of all tables.
State = dict[str, list[dict[str, Any]]]


@dataclass(kw_only=True)
class Log:
    """One database, how it stood over time, and a checkpoint that was made of it at the last."""

    home: Path
    url: str
    #: After each part of what happened; the last one is the state of the checkpoint, and some rows more.
    stages: list[State] = field(default_factory=list)
    checkpoint: list[bytes] = field(default_factory=list)

    @property
    def state(self) -> State:
        """A copy of the last state, to be forged."""
        return copy.deepcopy(self.stages[-1])

    def against(self, *, brief: bool = False) -> Against:
        """The checkpoint as it is read."""
        return read_checkpoint(self.checkpoint[:1] if brief else self.checkpoint, holds)

    async def verdicts(self, against: Against | None = None) -> list[ChainVerdict]:
        """What is found on the database as it is now; nothing is found of what is kept."""
        async with Condor(home=self.home, database_url=self.url, read_only=True) as condor:
            return [verdict async for verdict in condor.verify(against=against) if not verdict.kept]


async def grow(desk: Desk, rng: random.Random, runs: int) -> None:
    """Runs as they come: allowed and gated writes, approved, denied, stopped, left open."""
    for number in range(runs):
        steps = [
            call(f"s{step}", rng.choice(["book.write", "book.note"]), record=f"r{number}", value=f"v{step}")
            for step in range(rng.randint(1, 3))
        ]
        run_id = await desk.start(*steps)
        await desk.rest(run_id)
        for _ in range(4):
            cards = await desk.cards(run_id)
            if not cards:
                break
            what = rng.choice(["approve", "approve", "approve", "deny", "stop", "leave"])
            if what == "leave":
                break
            if what == "stop":
                await desk.condor.stop(run_id, principal=CAT, reason="enough")
                await desk.rest(run_id)
            else:
                await getattr(desk, what)(cards[0], rng.choice([BOB, CAT]))


@asynccontextmanager
async def desk_on(log: Log, rng: random.Random) -> AsyncIterator[Desk]:
    """A desk on the log's database."""
    from condor import HitlTier

    ledger = Ledger(log.home / "ledger.db")
    tools = (write_tool(ledger), write_tool(ledger, "book.note", tier=HitlTier.LOW))
    async with open_desk(
        log.home, *tools, seed=rng.randrange(10**6), database_url=log.url, check=False
    ) as desk:
        yield desk


async def written(log: Log, rng: random.Random, *, parts: int = 4, runs: int = 4) -> None:
    """Fill a log: in each part some runs come, some old cards are answered, and all is sealed."""
    log.home.mkdir(mode=0o700, parents=True, exist_ok=True)
    for part in range(parts):
        async with desk_on(log, rng) as desk:
            for card in (await desk.condor.pending())[: rng.randint(0, 2)] if part else []:
                await desk.approve(card)
            await grow(desk, rng, runs)
            await desk.condor.seal()
        if part < parts - 1:
            log.stages.append(await read_state(log.url))
    await state_checkpoint(log)
    async with desk_on(log, rng) as desk:
        await grow(desk, rng, 1)
    log.stages.append(await read_state(log.url))


async def state_checkpoint(log: Log) -> None:
    """Make the checkpoint of the log as it stands."""
    key = public_key(log.home, make=True)
    assert key is not None
    async with Condor(home=log.home, database_url=log.url, read_only=True) as condor:
        log.checkpoint = [line async for line in condor.checkpoint(key, lambda body: sign(log.home, body))]


# -- as somebody with a database shell sees it ------------------------------------------------


async def read_state(url: str) -> State:
    """Every row of every table."""
    if not url.startswith("postgresql"):
        with closing(sqlite3.connect(url.removeprefix("sqlite:///"))) as database:
            database.row_factory = sqlite3.Row
            return {
                table: [dict(row) for row in database.execute(f"SELECT * FROM {table} ORDER BY {order}")]
                for table, order in TABLES.items()
            }
    connection = await asyncpg.connect(url)
    try:
        return {
            table: [
                dict(row) for row in await connection.fetch(f"SELECT * FROM condor.{table} ORDER BY {order}")
            ]
            for table, order in TABLES.items()
        }
    finally:
        await connection.close()


async def write_state(url: str, state: State) -> None:
    """Make the database hold exactly these rows."""
    if not url.startswith("postgresql"):
        with closing(sqlite3.connect(url.removeprefix("sqlite:///"))) as database, database:
            for table, rows in state.items():
                database.execute(f"DELETE FROM {table}")
                for row in rows:
                    marks = ", ".join("?" * len(row))
                    statement = f"INSERT INTO {table} ({', '.join(row)}) VALUES ({marks})"
                    database.execute(statement, list(row.values()))
        return
    connection = await asyncpg.connect(url)
    try:
        async with connection.transaction():
            for table, rows in state.items():
                await connection.execute(f"DELETE FROM condor.{table}")
                if rows:
                    marks = ", ".join(f"${number}" for number in range(1, len(rows[0]) + 1))
                    statement = (
                        f"INSERT INTO condor.{table} ({', '.join(rows[0])}) OVERRIDING SYSTEM VALUE "
                        f"VALUES ({marks})"
                    )
                    await connection.executemany(statement, [list(row.values()) for row in rows])
    finally:
        await connection.close()
