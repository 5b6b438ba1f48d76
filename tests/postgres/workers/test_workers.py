"""A server that hands over, and workers in processes of their own: the main job, and what befalls jobs."""

from __future__ import annotations

import asyncio
import logging
import signal
import time
from typing import TYPE_CHECKING, Any

import pytest

from condor.ports.store import EVERY_CARD
from tests.postgres.workers.crew import (
    JOBS,
    PATIENCE_S,
    QUICK,
    Crew,
    answered,
    job,
    parked,
    step,
    until,
    worker_here,
)
from tests.simulation.restart_server import ANN, OPERATORS

if TYPE_CHECKING:
    from condor import Condor
    from condor.testing.postgres_cluster import PostgresCluster

pytestmark = pytest.mark.slow

WRITE = {"steps": [step("a", "once.write", record="a")]}
YES = {"approved": True}


async def check_whole(condor: Condor, *run_ids: str) -> None:
    """Each run's log is numbered without a gap, each step settled once at most, each chain unbroken."""
    for run_id in run_ids:
        events = await condor.store.events(run_id, limit=10_000)
        assert [event.seq for event in events] == list(range(1, len(events) + 1))
        ends = [event.facts for event in events if event.kind == "step.settled"]
        assert len(ends) == len(set(ends)), ends
    verdicts = [verdict async for verdict in condor.verify()]
    assert [verdict.message for verdict in verdicts if not verdict.kept] == []


async def test_the_main_job_is_done_elsewhere(crew: Crew, cluster: PostgresCluster) -> None:
    """Started here, parked there, approved here, written there once; the server works on nothing itself."""
    async with crew.server() as condor:
        await crew.worker()
        run = await condor.start(plan=WRITE, principal=ANN)
        assert await answered(condor, run.id, OPERATORS[0], YES) == "succeeded"
        assert crew.ledger.count() == 1
        await check_whole(condor, run.id)
        assert condor._running()._driving.live == {}
        await until(lambda: cluster.sql(JOBS) == "0")
        backlog = await condor.store.backlog()
        assert (backlog.workers, backlog.waiting) == (1, 0)


async def test_without_a_worker_a_run_waits(crew: Crew, caplog: pytest.LogCaptureFixture) -> None:
    """It is told so; when one comes, the run goes on."""
    with caplog.at_level(logging.WARNING, "condor.runtime.tending"):
        async with crew.server() as condor:
            run = await condor.start(plan=WRITE, principal=ANN)
            await asyncio.sleep(0.2)
            backlog = await condor.store.backlog()
            assert (backlog.workers, backlog.waiting) == (0, 1)
            assert 0.1 < backlog.oldest_s < PATIENCE_S
            assert run.status == "executing"
            assert "no worker is there" in caplog.text
            assert "condor worker" in caplog.text
            await crew.worker()
            assert len(await parked(condor, run.id)) == 1


async def test_a_lost_job_is_queued_again(crew: Crew, cluster: PostgresCluster) -> None:
    """Nobody remembers that the run is to go on but the run."""
    async with crew.server() as condor:
        run = await condor.start(plan=WRITE, principal=ANN)
        cluster.sql("DELETE FROM condor.procrastinate_jobs")
        await crew.worker()
        assert len(await parked(condor, run.id)) == 1


async def test_doubled_and_late_jobs_change_nothing(crew: Crew, cluster: PostgresCluster) -> None:
    """Ten jobs of a run at two workers, before and after its end; jobs of no run; jobs that are no jobs."""
    async with crew.server() as condor:
        run = await condor.start(plan=WRITE, principal=ANN)
        cluster.sql(*[job(run.id, epoch) for epoch in (0, 0, 0, 1, 1, 7)])
        await asyncio.gather(crew.worker(), crew.worker())
        (card,) = await parked(condor, run.id)
        await condor.resume(run.id, card["suspendId"], YES, principal=OPERATORS[0])
        cluster.sql(*[job(run.id, epoch) for epoch in (0, 1, 2, 3)])
        assert (await condor.wait(run.id))["status"] == "succeeded"
        before = await condor.store.run(run.id)
        strange = (
            '{"run_id": "run_none", "epoch": 3}',
            '{"run_id": 3}',
            '{"run_id": "x", "epoch": "y"}',
            "{}",
        )
        cluster.sql(
            *[job(run.id, epoch) for epoch in (0, 1, 2, 3, 4)],
            *[
                "INSERT INTO condor.procrastinate_jobs (queue_name, task_name, args) "
                f"VALUES ('condor', 'segment', '{args}')"
                for args in strange
            ],
        )
        await until(lambda: cluster.sql(JOBS) == "0")
        assert await condor.store.run(run.id) == before
        assert crew.ledger.count() == 1
        await check_whole(condor, run.id)
        assert len(await condor.store.suspensions(EVERY_CARD)) == 1


async def test_an_answer_and_a_stop_reach_the_worker(crew: Crew) -> None:
    """The run is at work there: an answer given here is followed there at once; so is a stop."""
    plan = {"steps": [step("h", "gate.hold", name="h"), step("a", "once.write", record="a")]}
    async with crew.server() as condor:
        await crew.worker()
        run = await condor.start(plan=plan, principal=ANN)
        await crew.there("held-h")
        cards: Any = []
        while not cards:
            cards = await condor.pending()
        begun = time.monotonic()
        await condor.resume(run.id, str(cards[0]["suspendId"]), YES, principal=OPERATORS[0])
        await until(crew.ledger.count)
        assert time.monotonic() - begun < 1.0
        await condor.stop(run.id, principal=ANN, reason="enough")
        crew.let_go("h")
        assert (await asyncio.wait_for(condor.wait(run.id), PATIENCE_S))["status"] == "aborted"
        await check_whole(condor, run.id)


async def test_an_edit_is_asked_about_again_by_the_worker(crew: Crew) -> None:
    """The card that takes the place of the edited one is drawn there."""
    plan = {"steps": [step("a", "gate.write", name="a")]}
    crew.let_go("b")
    async with crew.server() as condor:
        await crew.worker()
        run = await condor.start(plan=plan, principal=ANN)
        (card,) = await parked(condor, run.id)
        newer: Any = await condor.edit(card["suspendId"], {"name": "b"}, principal=OPERATORS[1])
        assert newer["status"] == "pending"
        assert await answered(condor, run.id, OPERATORS[0], YES) == "succeeded"
        assert [entry.record for entry in crew.ledger.entries()] == ["b"]


@pytest.mark.parametrize("how", ["killed", "hangs"])
async def test_a_worker_that_is_gone_or_hangs_loses_its_run(crew: Crew, how: str) -> None:
    """Another one goes on with it; what hung and comes back can write nothing more."""
    plan = {"steps": [step("h", "gate.hold", name="h"), step("a", "once.write", "h", record="a")]}
    async with crew.server() as condor:
        first = await crew.worker(**QUICK)
        run = await condor.start(plan=plan, principal=ANN)
        await crew.there(f"held-h-{first}")
        await crew.worker(**QUICK)
        begun = time.monotonic()
        if how == "killed":
            await crew.kill(first)
        else:
            crew.signal(first, signal.SIGSTOP)
        crew.let_go("h")
        assert len(await parked(condor, run.id)) == 1
        assert time.monotonic() - begun < 8.0
        if how == "hangs":
            crew.signal(first, signal.SIGCONT)
            await asyncio.sleep(0.5)
        assert await answered(condor, run.id, OPERATORS[0], YES) == "succeeded"
        kinds = [str(event.kind) for event in await condor.store.events(run.id)]
        assert kinds.count("approval.required") == 1
        assert crew.ledger.count() == 1
        await check_whole(condor, run.id)


async def test_a_worker_that_hangs_after_the_store_was_away_loses_its_run(crew: Crew) -> None:
    """It took its run up twice, for the store was away in between: that it hangs is seen all the same."""
    plan = {"steps": [step("h", "gate.hold", name="h"), step("a", "once.write", "h", record="a")]}
    async with crew.server() as condor:
        first = await crew.worker(**QUICK, CREW_AWAY="unit.acknowledged")
        # Between two of its looks (each 5 s): one would hand the run over before the job comes again.
        await asyncio.sleep((6.0 - time.time() % 5) % 5)
        run = await condor.start(plan=plan, principal=ANN)
        await crew.there(f"held-h-{first}")
        await crew.worker(**QUICK)
        begun = time.monotonic()
        crew.signal(first, signal.SIGSTOP)
        crew.let_go("h")
        assert len(await parked(condor, run.id)) == 1
        assert time.monotonic() - begun < 8.0
        crew.signal(first, signal.SIGCONT)
        assert await answered(condor, run.id, OPERATORS[0], YES) == "succeeded"
        assert crew.ledger.count() == 1
        await check_whole(condor, run.id)


async def test_a_job_that_says_another_epoch_leaves_one_that_says_its_run_s(
    crew: Crew, cluster: PostgresCluster
) -> None:
    """The run is not taken up under it; of any number of such jobs the first to follow takes it."""
    queued = (
        "SELECT string_agg(args ->> 'epoch', ' ') FROM condor.procrastinate_jobs WHERE queue_name = 'condor'"
    )
    async with crew.server() as condor, worker_here(crew, "a") as worker:
        run = await condor.start(plan=WRITE, principal=ANN)
        cluster.sql("DELETE FROM condor.procrastinate_jobs")
        row = await condor.store.run(run.id)
        assert row is not None
        for stale in (row.epoch - 1, row.epoch + 3):
            assert await worker._running().work_on(run.id, stale) == "done"
        after = await condor.store.run(run.id)
        assert after is not None
        assert (after.epoch, cluster.sql(queued)) == (row.epoch, f"{row.epoch} {row.epoch}")
        assert await worker._running().work_on(run.id, row.epoch) == "done"
        assert len(await parked(condor, run.id)) == 1


async def test_a_worker_that_is_stopped_hands_over(crew: Crew) -> None:
    """What is in flight finishes and is stored; the rest goes on at another worker at once."""
    plan = {"steps": [step("h", "gate.hold", name="h"), step("k", "gate.hold", "h", name="k")]}
    async with crew.server() as condor:
        first = await crew.worker()
        run = await condor.start(plan=plan, principal=ANN)
        await crew.there(f"held-h-{first}")
        second = await crew.worker()
        crew.signal(first, signal.SIGTERM)
        await asyncio.sleep(0.2)
        begun = time.monotonic()
        crew.let_go("h")
        await crew.there(f"held-k-{second}")
        assert time.monotonic() - begun < 1.5
        assert await crew.ended(first) == 0
        crew.let_go("k")
        assert (await asyncio.wait_for(condor.wait(run.id), PATIENCE_S))["status"] == "succeeded"
        started = [event.facts for event in await condor.store.events(run.id) if event.kind == "step.started"]
        assert len(started) == 2, "a step was done again that had finished"
        await check_whole(condor, run.id)


async def test_what_outlasts_the_grace_is_handed_over_as_it_is(crew: Crew) -> None:
    """The write is cancelled in flight: its outcome is unknown, and it is entered again under its key."""
    plan = {"steps": [step("g", "gate.write", name="g")]}
    async with crew.server() as condor:
        first = await crew.worker(CONDOR_WORKER_GRACE_S="0.3")
        run = await condor.start(plan=plan, principal=ANN)
        (card,) = await parked(condor, run.id)
        await condor.resume(run.id, card["suspendId"], YES, principal=OPERATORS[0])
        await crew.there(f"held-g-{first}")
        second = await crew.worker()
        crew.signal(first, signal.SIGTERM)
        assert await crew.ended(first) == 0
        begun = time.monotonic()
        await crew.there(f"held-g-{second}")
        assert time.monotonic() - begun < 2.0
        crew.let_go("g")
        assert (await asyncio.wait_for(condor.wait(run.id), PATIENCE_S))["status"] == "succeeded"
        assert crew.ledger.count() == 1
        await check_whole(condor, run.id)


async def test_workers_tend(crew: Crew, cluster: PostgresCluster) -> None:
    """A card expires and heads are sealed although the server does neither."""
    from condor.config import Settings

    settings = Settings(home=crew.folder / "here", suspend_ttl_s=1.0)
    async with crew.server(settings=settings) as condor:
        await crew.worker(CONDOR_SUSPEND_TTL_S="1")
        run = await condor.start(plan=WRITE, principal=ANN)
        assert len(await parked(condor, run.id)) == 1
        ends = [event.kind async for event in condor.watch(run.id, follow=True)]
        assert ends[-1] == "run.ended"
        rows = await condor.audit()
        assert "expired" in b" ".join(row.body for row in rows).decode()
        names = cluster.sql("SELECT string_agg(task_name, ' ') FROM condor.procrastinate_periodic_defers")
        assert {"retry-stalled", "tend", "seal"} <= set(names.split())


async def test_what_is_let_go_while_it_is_taken_is_loaded_again(
    crew: Crew, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A doubled job loads a run; its worker then stores an outcome and hands over. The outcome counts."""
    plan = {"steps": [step("g", "gate.write", name="g"), step("s", "gate.hold", "g", name="s")]}
    crew.let_go("s")
    async with (
        crew.server() as condor,
        worker_here(crew, "a") as first,
        worker_here(crew, "b") as second,
    ):
        run = await condor.start(plan=plan, principal=ANN)
        assert await first._running().work_on(run.id) == "done"
        (card,) = await parked(condor, run.id)
        await condor.resume(run.id, card["suspendId"], YES, principal=OPERATORS[0])
        working = asyncio.create_task(first._running().work_on(run.id))
        await crew.there("held-g")
        offered, looks = second.store.offered, iter([True])

        async def late(run_id: str) -> Any:
            stored, holder = await offered(run_id)
            if next(looks, False):
                # As if it were seen to be nobody's just before its worker stores and lets go.
                assert holder == "elsewhere"
                crew.let_go("g")
                first._running().leave()
                await working
                return stored, "nobody"
            return stored, holder

        monkeypatch.setattr(second.store, "offered", late)
        assert await second._running().work_on(run.id) == "done"
        assert (await condor.show(run.id))["status"] == "succeeded"
        rows = b" ".join(row.body for row in await condor.audit()).decode()
        assert (crew.ledger.count(), rows.count('"decision":"executed"')) == (1, 2)
        await check_whole(condor, run.id)


async def test_a_segment_that_lost_its_run_ends_nothing(crew: Crew, monkeypatch: pytest.MonkeyPatch) -> None:
    """It fails for a fault of ours after another worker has taken the run up: that one goes on."""
    plan = {"steps": [step("h", "gate.hold", name="h")]}
    async with (
        crew.server() as condor,
        worker_here(crew, "a") as first,
        worker_here(crew, "b") as second,
    ):
        run = await condor.start(plan=plan, principal=ANN)
        working = asyncio.create_task(first._running().work_on(run.id))
        await crew.there("held-h")
        row = await condor.store.run(run.id)
        assert row is not None
        assert await second._running().pass_on(run.id, row.epoch - 1)
        other = asyncio.create_task(second._running().work_on(run.id))
        live = first._running()._driving.live[run.id].segment

        def broken(*_: object, **__: object) -> None:
            raise ZeroDivisionError

        monkeypatch.setattr(live, "settle", broken)
        crew.let_go("h")
        assert (await working, await other) == ("done", "done")
        assert (await condor.show(run.id))["status"] == "succeeded"
        await check_whole(condor, run.id)


async def test_a_server_that_works_itself_keeps_its_runs(crew: Crew, cluster: PostgresCluster) -> None:
    """Beside it stand a worker and a server that hands over: each run is where it was started or answered."""
    plan = {"steps": [step("h", "gate.hold", name="h"), step("a", "once.write", "h", record="a")]}
    async with crew.server(driven="here", home=crew.folder / "inline") as inline, crew.server() as condor:
        worker = await crew.worker()
        run = await inline.start(plan=plan, principal=ANN)
        await crew.there("held-h")
        before = await condor.store.run(run.id)
        assert before is not None
        cluster.sql(*[job(run.id, epoch) for epoch in range(3)])
        await until(lambda: cluster.sql(JOBS) == "0")
        after = await condor.store.run(run.id)
        assert after is not None
        assert after.epoch == before.epoch
        crew.let_go("h")
        # Answered at the server that hands over, it goes on at the worker.
        assert await answered(condor, run.id, OPERATORS[0], YES) == "succeeded"
        assert list(inline._running()._driving.live) == []
        assert crew.is_there(worker)
        await check_whole(condor, run.id)


async def test_what_a_worker_has_and_does_not_work_on_is_queued_again(crew: Crew) -> None:
    """Its job was lost while the database was away; the worker finds out, and keeps what it works on."""
    plan = {"steps": [step("h", "gate.hold", name="h")]}
    async with crew.server() as condor, worker_here(crew, "a") as worker:
        left = await condor.start(plan=WRITE, principal=ANN)
        held = await condor.start(plan=plan, principal=ANN)
        driving = worker._running()._driving
        working = asyncio.create_task(worker._running().work_on(held.id))
        await crew.there("held-h")
        taken = await driving._taken(left.id, asks=True)
        assert not isinstance(taken, str)
        assert await worker._running().hand_over_orphans() == 1
        stored, holder = await worker.store.offered(left.id)
        assert (holder, (await worker.store.offered(held.id))[1]) == ("nobody", "here")
        assert stored is not None
        assert stored.run.epoch == taken.state.epoch + 1
        assert await worker._running().work_on(left.id) == "done"
        assert len(await parked(condor, left.id)) == 1
        crew.let_go("h")
        assert await working == "done"
        await check_whole(condor, left.id, held.id)


async def test_a_worker_remembers_nothing_of_what_it_parks(crew: Crew) -> None:
    """Answers come to servers, and go on elsewhere."""
    async with crew.server() as server, worker_here(crew, "w1") as worker:
        run = await server.start(plan={"steps": [{"id": "a", "approval": {"title": "go?"}}]}, principal=ANN)
        stored = await server.store.run(run.id)
        assert stored is not None
        await worker._running().work_on(run.id, stored.epoch)
        await parked(server, run.id)
        assert not worker._running()._ports.left._runs
