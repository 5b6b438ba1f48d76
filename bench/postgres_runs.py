"""On PostgreSQL: Condor inline, bare writes one by one, and LangGraph with its saver; databases are fresh.

The cluster is the benchmark's own, started once for all samples (``CLUSTER_VARIABLE``), on the disk that is
measured, with ``fsync`` and ``synchronous_commit`` on. Bare writes are what a plain engineer would write:
sixteen connections, each unit a transaction, each kind of row an ``executemany``.
"""

from __future__ import annotations

import importlib.util
import os
import random
import time
from contextlib import asynccontextmanager, contextmanager
from typing import TYPE_CHECKING, Any

from bench.bare_runs import filled, templates_of
from bench.condor_runs import CondorRuns, opened_at
from bench.langgraph_runs import LangGraphRuns
from bench.units import units_of_one_run
from condor.testing.postgres_cluster import HOW_TO_GET, find_programs, running_cluster

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
    from pathlib import Path

    from bench.bare_runs import Unit
    from condor.ports.store import Transition

#: The address of the cluster's own database, for the processes that take samples.
CLUSTER_VARIABLE = "CONDOR_BENCH_POSTGRES"
#: Connections of the bare writes and of LangGraph.
_CONNECTIONS = 16

_SCHEMA = """
CREATE TABLE run (run_id text PRIMARY KEY, status text, at text, session_id text, requester text,
    autonomy text, halt text, rev integer);
CREATE INDEX run_by_status ON run (status);
CREATE TABLE step (run_id text, step_id text, status text, attempt integer, key text, code text,
    PRIMARY KEY (run_id, step_id));
CREATE TABLE card (suspend_id text PRIMARY KEY, run_id text, tenant_id text, step_id text, generation integer,
    reason_code text, origin text, contract_hash text, tool text, opened_at text, expires_at text, facts text,
    tier text, requester text, subject text, status text, decided_by text, decided_at text, consumed boolean);
CREATE INDEX card_by_status ON card (status);
CREATE INDEX card_by_run ON card (run_id);
CREATE TABLE event (run_id text, seq integer, kind text, at text, facts text, PRIMARY KEY (run_id, seq));
CREATE TABLE audit (run_id text, seq integer, body text, prev_hash text, hash text,
    PRIMARY KEY (run_id, seq));
CREATE TABLE payload (run_id text, key text, value text, PRIMARY KEY (run_id, key));
"""
_STATEMENTS = {
    "born": "INSERT INTO run VALUES ($1, $2, $3, $4, $5, $6, $7, 1)",
    "run": "UPDATE run SET status = coalesce($2, status), at = $3, halt = $4, rev = rev + 1 "
    "WHERE run_id = $1 AND rev = $5 RETURNING 1",
    "step": "INSERT INTO step VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (run_id, step_id) DO UPDATE "
    "SET status = excluded.status, attempt = excluded.attempt, key = excluded.key, code = excluded.code",
    "card": f"INSERT INTO card VALUES ({', '.join(f'${place}' for place in range(1, 20))})",
    "answer": "UPDATE card SET status = $2, decided_by = $3, decided_at = $4 "
    "WHERE suspend_id = $1 AND status = 'pending' RETURNING 1",
    "use": "UPDATE card SET consumed = true WHERE suspend_id = $1 AND NOT consumed RETURNING 1",
    "event": "INSERT INTO event VALUES ($1, $2, $3, $4, $5)",
    "audit": "INSERT INTO audit VALUES ($1, $2, $3, $4, $5)",
    "payload": "INSERT INTO payload VALUES ($1, $2, $3) "
    "ON CONFLICT (run_id, key) DO UPDATE SET value = excluded.value",
}
#: What must change exactly one row each, or another writer was there.
_COMPARE_AND_SET = frozenset({_STATEMENTS["run"], _STATEMENTS["answer"], _STATEMENTS["use"]})


@contextmanager
def cluster_of_the_bench(directory: Path) -> Iterator[None]:
    """The cluster for every sample of a command; nothing where PostgreSQL is missing."""
    if find_programs() is None or CLUSTER_VARIABLE in os.environ:
        yield
        return
    with running_cluster(under=directory) as cluster:
        os.environ[CLUSTER_VARIABLE] = cluster.url
        try:
            yield
        finally:
            del os.environ[CLUSTER_VARIABLE]


@asynccontextmanager
async def fresh_database() -> AsyncIterator[str]:
    """The address of a database that is made, and removed at the end."""
    import asyncpg

    address, _, _ = os.environ[CLUSTER_VARIABLE].rpartition("/")
    name = f"bench_{random.getrandbits(64):016x}"
    admin = await asyncpg.connect(f"{address}/condor")
    await admin.execute(f"CREATE DATABASE {name}")
    try:
        # What the sample before left to be written does not slow this one down.
        await admin.execute("CHECKPOINT")
        yield f"{address}/{name}"
    finally:
        await admin.execute(f"DROP DATABASE {name} WITH (FORCE)")
        await admin.close()


async def durability(url: str) -> Mapping[str, object]:
    import asyncpg

    connection = await asyncpg.connect(url)
    names = ("fsync", "synchronous_commit", "server_version")
    found = {name: await connection.fetchval(f"SHOW {name}") for name in names}
    await connection.close()
    return found


def lacking(*wanted: str) -> str | None:
    if find_programs() is None:
        return HOW_TO_GET
    try:
        lacking = [name for name in wanted if importlib.util.find_spec(name) is None]
    except ModuleNotFoundError as fault:
        lacking = [str(fault.name)]
    return f"{', '.join(lacking)} is not installed here; `make bench` has it" if lacking else None


class CondorOnPostgres:
    name = "condor-postgres"
    title = "Condor, PostgreSQL, inline"
    share = 0.5

    def missing(self) -> str | None:
        return lacking("asyncpg")

    @asynccontextmanager
    async def open(self, directory: Path) -> AsyncIterator[CondorRuns]:
        async with fresh_database() as url, opened_at(url, directory) as runs:
            runs.settings = lambda: durability(url)  # type: ignore[method-assign]
            yield runs


class BareOnPostgres:
    name = "bare-postgres"
    title = "Bare writes, PostgreSQL"
    share = 0.5

    def missing(self) -> str | None:
        return lacking("asyncpg")

    @asynccontextmanager
    async def open(self, directory: Path) -> AsyncIterator[_BareRuns]:
        import asyncpg

        units = await units_of_one_run()
        async with (
            fresh_database() as url,
            asyncpg.create_pool(url, min_size=_CONNECTIONS, max_size=_CONNECTIONS, reset=_kept) as pool,
        ):
            await pool.execute(_SCHEMA)
            yield _BareRuns(pool, units, url)


async def _kept(_: object) -> None:
    """Nothing is left behind on a connection."""


class _BareRuns:
    """Runs that are nothing but their rows."""

    def __init__(self, pool: Any, units: Sequence[Transition], url: str) -> None:
        self.entered: dict[str, float] = {}
        self.writes = 0
        self._pool, self._url = pool, url
        self._commits = 0
        self._templates = templates_of(units, _STATEMENTS)
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
            async with self._pool.acquire() as connection, connection.transaction():
                for statement, rows in filled(unit, run_id, card_id):
                    if statement not in _COMPARE_AND_SET:
                        await connection.executemany(statement, rows)
                        continue
                    for row in rows:
                        if await connection.fetchval(statement, *row) != 1:
                            raise RuntimeError(f"another writer was there: {statement}")
            self._commits += 1

    def counts(self) -> Mapping[str, int]:
        return {"units": self._commits, "commits": self._commits}

    async def settings(self) -> Mapping[str, object]:
        return await durability(self._url)


class LangGraphOnPostgres:
    name = "langgraph-postgres"
    title = "LangGraph, PostgreSQL saver, sync"
    share = 0.1

    def missing(self) -> str | None:
        return lacking("langgraph", "langgraph.checkpoint.postgres", "psycopg_pool")

    @asynccontextmanager
    async def open(self, directory: Path) -> AsyncIterator[LangGraphRuns]:
        from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver
        from psycopg.rows import dict_row
        from psycopg_pool import AsyncConnectionPool

        options = {"autocommit": True, "prepare_threshold": 0, "row_factory": dict_row}
        async with (
            fresh_database() as url,
            AsyncConnectionPool(
                url, min_size=_CONNECTIONS, max_size=_CONNECTIONS, kwargs=options, open=False
            ) as pool,
        ):
            saver = AsyncPostgresSaver(pool)
            await saver.setup()
            yield LangGraphRuns(saver, await durability(url), "sync")
