"""What is used of procrastinate is there, in the version that is pinned: a new one is a migration of ours."""

from __future__ import annotations

import asyncio
from importlib.metadata import version
from typing import TYPE_CHECKING, Literal

import pytest

from condor.core.errors import HomeUnusable
from condor.store import jobs_schema as jobs_schema_module
from tests.postgres.workers.crew import job

if TYPE_CHECKING:
    from condor.testing.postgres_cluster import PostgresCluster
    from tests.postgres.conftest import OpenStore

#: Columns that our statements name, and their types.
COLUMNS = {
    ("procrastinate_jobs", "args"): "jsonb",
    ("procrastinate_jobs", "id"): "bigint",
    ("procrastinate_jobs", "status"): "procrastinate_job_status",
    ("procrastinate_jobs", "task_name"): "character varying(128)",
    ("procrastinate_jobs", "queue_name"): "character varying(128)",
}
#: What a unit makes its job of, in this order.
JOB = "queue_name task_name priority lock queueing_lock args scheduled_at"


def test_the_schema_is_the_one_the_migration_was_made_with(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of the pinned version it is read; of another, or of none, one line says what to install."""
    assert version("procrastinate") == "3.10.0"
    assert "CREATE TABLE procrastinate_jobs" in jobs_schema_module.jobs_schema()
    monkeypatch.setattr(jobs_schema_module, "_SHA256", "of another version")
    with pytest.raises(HomeUnusable, match="makes other tables than"):
        jobs_schema_module.jobs_schema()
    monkeypatch.setattr(jobs_schema_module, "find_spec", lambda _: None)
    with pytest.raises(HomeUnusable, match=r"install condor-runtime\[postgres\]"):
        jobs_schema_module.jobs_schema()


async def test_what_our_statements_name_is_there(opened: OpenStore, cluster: PostgresCluster) -> None:
    """Columns by their types; the composite of a job by its fields; the function by its signature."""
    await opened()
    for (table, column), kind in COLUMNS.items():
        found = cluster.sql(
            "SELECT format_type(atttypid, atttypmod) FROM pg_attribute "
            f"WHERE attrelid = 'condor.{table}'::regclass AND attname = '{column}'"
        )
        assert found.removeprefix("condor.") == kind, (table, column)
    fields = cluster.sql(
        "SELECT string_agg(attname, ' ' ORDER BY attnum) FROM pg_attribute "
        "WHERE attrelid = 'condor.procrastinate_job_to_defer_v1'::regclass"
    )
    assert fields == JOB
    signature = "condor.procrastinate_defer_jobs_v1(condor.procrastinate_job_to_defer_v1[])"
    returned = cluster.sql(
        f"SELECT format_type(prorettype, NULL) FROM pg_proc WHERE oid = '{signature}'::regprocedure"
    )
    assert returned == "bigint[]"
    labels = cluster.sql("SELECT unnest(enum_range(NULL::condor.procrastinate_job_status))").split()
    assert {"todo", "doing"} <= set(labels)


async def test_a_job_that_is_queued_is_told(opened: OpenStore, cluster: PostgresCluster) -> None:
    """By NOTIFY on the queue's channel, which is what wakes a worker."""
    import asyncpg

    await opened()
    told: list[str] = []
    connection = await asyncpg.connect(cluster.url)
    try:
        await connection.add_listener(
            "procrastinate_queue_v1#condor", lambda *said: told.append(str(said[-1]))
        )
        cluster.sql(f"SET search_path = condor; {job('run_x', 1)}")
        await connection.execute("SELECT 1")
    finally:
        await connection.close()
    assert len(told) == 1
    assert '"job_inserted"' in told[0]


@pytest.mark.parametrize("name", ["fetch_job", "update_heartbeat", "defer_periodic_job", "listen_for_jobs"])
def test_what_is_made_steady_is_still_called(name: str) -> None:
    """Each method that we make outlive a lost connection is the library's own."""
    from procrastinate.manager import JobManager

    from condor.dispatch.workers.steady import SteadyJobs

    assert callable(getattr(JobManager, name))
    assert getattr(SteadyJobs, name) is not getattr(JobManager, name)


def test_looks_come_as_often_as_they_say() -> None:
    """Six fields: the last is seconds. The slowest look for stalled jobs leaves time within the fifteen."""
    from procrastinate.periodic import PeriodicDeferrer, PeriodicRegistry

    from condor.dispatch.workers import worker
    from condor.dispatch.workers.steady import connector_of

    app = worker.looks_app(connector_of("postgresql://nowhere", "condor"), Idle(), asyncio.Event(), 8.0)
    every = {"retry-stalled": 2, "tend": 5, "seal": 60, "sweep-idle": 600, "remove-old-jobs": 3600}
    registry: PeriodicRegistry = app.periodic_registry
    ticks = PeriodicDeferrer(registry, max_delay=3_600)
    assert {name for name, _ in registry.periodic_tasks} == set(every)
    for (name, _), task in registry.periodic_tasks.items():
        (at,) = ticks.get_timestamps(task, None, 1_000_000_000)
        later = list(ticks.get_timestamps(task, at, at + every[name]))
        assert later == [at + every[name]], name
        # A look whose worker died holds up the next of its kind until it is missed; that look never waits.
        assert task.task.queueing_lock == name
        assert task.task.lock == (None if name == "retry-stalled" else name)


class Idle:
    """Duties of nobody."""

    async def work_on(self, run_id: str, epoch: int | None = None) -> Literal["done"]:
        return "done"

    async def pass_on(self, run_id: str, epoch: int) -> bool:
        return False

    async def tend(self) -> None: ...

    async def sweep_idle(self) -> None: ...

    async def seal(self) -> None: ...

    def leave(self) -> None: ...
