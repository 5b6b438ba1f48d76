"""What a store makes of a unit: all of it or nothing, numbered and chained."""

from __future__ import annotations

import asyncio
import dataclasses
from typing import TYPE_CHECKING

from condor.core.audit import verify_chain
from condor.core.errors import OurBug, StoreUnavailable, TransitionRefused
from condor.core.ids import RunId, StepId, TenantId
from condor.core.outcome import StepStatus
from condor.core.run import RUN_TRANSITIONS, EventKind, RunStatus
from condor.ports.store import (
    AuditFilter,
    Committed,
    Conflict,
    ConflictKind,
    Expect,
    StepRow,
    Transition,
)
from condor.testing.store_units import (
    Open,
    all_of,
    at,
    contents,
    creation,
    entry,
    every_chain_is_whole,
    everything,
    refused,
    run_name,
)

if TYPE_CHECKING:
    from collections.abc import Sequence


async def check_a_unit_reads_back_whole(open_store: Open) -> None:
    """Everything that a unit carries is there, byte for byte, under the numbers it was told."""
    store = await open_store()
    assert Committed(first_seq=1, last_seq=1, rev=1, epoch=0, answers=0) == await store.commit(creation())
    unit = everything()
    assert Committed(first_seq=2, last_seq=3, rev=2, epoch=1, answers=1) == await store.commit(unit)
    stored = await store.load(unit.run_id)
    assert stored is not None
    assert stored.run == await store.run(unit.run_id)
    assert (
        stored.run.status,
        stored.run.epoch,
        stored.run.rev,
        stored.run.seq,
        stored.run.answers,
        stored.run.audit_seq,
    ) == (RunStatus.EXECUTING, 1, 2, 3, 1, 3)
    assert (b'{"id":"dr-okafor"}', "guarded", b'{"by":"admin"}', at(0), at(1)) == (
        stored.run.requester,
        stored.run.autonomy,
        stored.run.halt,
        stored.run.created_at,
        stored.run.updated_at,
    )
    assert list(unit.steps) == list(stored.steps)
    assert list(unit.park) == list(stored.suspensions)
    assert dict(stored.payloads) == {"args:s1": b"[1]", "request": b'"replaced"'}
    events = await store.events(unit.run_id, after=1)
    assert list(unit.events) == [(event.kind, event.facts) for event in events]
    assert [event.seq for event in events] == [2, 3]
    rows = await store.audit(AuditFilter(run_id=unit.run_id))
    assert list(unit.audit) == [row.body for row in rows][1:]
    assert rows[-1].hash == stored.run.audit_head
    await every_chain_is_whole(store)


async def check_what_is_absent_is_none(open_store: Open) -> None:
    """An id that does not exist reads as None or as nothing."""
    store = await open_store()
    assert None is await store.load("run_x")
    assert None is await store.run("run_x")
    assert None is await store.suspension("sus_x")
    assert dict(await store.payloads("run_x", ["a"])) == {}
    assert list(await store.events("run_x")) == []
    assert [chain async for chain in store.audit_chains("run_x")] == []
    assert await store.erase_payloads("run_x") == 0


async def check_a_run_is_created_once(open_store: Open) -> None:
    """Of two creations of one run the second is refused and told of the first."""
    store = await open_store()
    await store.commit(creation())
    conflict = await refused(store, creation(second=5), "exists")
    assert conflict.run == await store.run(run_name(1))


async def check_a_missing_run_is_missing(open_store: Open) -> None:
    """A run that is not there, or is another tenant's, takes nothing."""
    store = await open_store()
    assert (await refused(store, everything(), "missing")).run is None
    await store.commit(creation())
    stranger = dataclasses.replace(everything(), tenant_id=TenantId("other"), park=())
    assert (await refused(store, stranger, "missing")).run is None


async def check_every_expectation_is_held(open_store: Open) -> None:
    """A unit whose expectation does not hold does nothing at all; one whose holds, everything."""
    store = await open_store()
    await store.commit(creation())
    wrong: dict[ConflictKind, Expect] = {
        "epoch": Expect(epoch=1, statuses=frozenset({RunStatus.PLANNING}), answers=7, rev=7),
        "status": Expect(epoch=0, statuses=frozenset({RunStatus.PLANNING}), answers=7, rev=7),
        "answers": Expect(epoch=0, statuses=frozenset(RunStatus), answers=1, rev=7),
        "rev": Expect(rev=2),
    }
    for kind, expect in wrong.items():
        conflict = await refused(store, everything(expect=expect), kind)
        assert conflict.run == await store.run(run_name(1))
    right = Expect(epoch=0, statuses=frozenset({RunStatus.EXECUTING}), answers=0, rev=1)
    await store.commit(everything(expect=right))


async def check_only_the_tables_transitions_happen(open_store: Open) -> None:
    """For every pair of statuses: a change that RUN_TRANSITIONS has is made, any other is refused."""
    store = await open_store()
    number = 0
    for old in RunStatus:
        for new in RunStatus:
            number += 1
            await store.commit(creation(number, status=old))
            unit = dataclasses.replace(everything(number), status=new)
            before = await store.load(unit.run_id)
            legal = new is old or new in RUN_TRANSITIONS[old]
            try:
                await store.commit(unit)
                assert legal, f"{old} became {new}"
            except TransitionRefused:
                assert not legal, f"{old} did not become {new}"
                assert before == await store.load(unit.run_id)


async def check_numbers_have_no_gaps(open_store: Open) -> None:
    """64 units at once over four runs: each run's events are 1, 2, 3 …, each unit's its own."""
    store = await open_store()
    await all_of(store, [creation(number) for number in range(4)])
    units = [
        Transition(
            run_id=run_name(index % 4),
            at=at(1),
            events=[(EventKind.TEXT_DELTA, b'{"u":%d}' % index)] * (index % 3),
            audit=[entry(run_name(index % 4))],
        )
        for index in range(64)
    ]
    told = await all_of(store, units)
    for number in range(4):
        events = await store.events(run_name(number))
        assert list(range(1, len(events) + 1)) == [event.seq for event in events]
        run = await store.run(run_name(number))
        assert run is not None
        assert (len(events), 17, 17) == (run.seq, run.rev, run.audit_seq)
        by_seq = {event.seq: event.facts for event in events}
        for index in range(number, 64, 4):
            committed = told[index]
            assert isinstance(committed, Committed)
            first, last, count = committed.first_seq, committed.last_seq, index % 3
            assert (count == 0) == ((first, last) == (0, 0))
            assert [b'{"u":%d}' % index] * count == [by_seq[seq] for seq in range(first, last + 1) if seq]
    await every_chain_is_whole(store)


async def check_units_keep_their_order(open_store: Open) -> None:
    """Units that are handed in one after the other, without waiting, are applied in that order."""
    store = await open_store()
    await store.commit(creation())
    marks = [b'{"n":%d}' % number for number in range(50)]
    units = [
        Transition(run_id=run_name(1), at=at(1), events=[(EventKind.TEXT_DELTA, mark)]) for mark in marks
    ]
    await all_of(store, units)
    assert marks == [event.facts for event in await store.events(run_name(1), after=1)]


async def check_two_writers_make_one_chain(open_store: Open) -> None:
    """Two writers of one run, 50 rows each at the same time: one unbroken chain of all of them."""
    store = await open_store()
    await store.commit(creation())
    bodies = [
        [entry(run_name(1), actor=f"writer-{writer}", step_id=f"s{number}") for number in range(50)]
        for writer in range(2)
    ]

    async def write(mine: Sequence[bytes]) -> None:
        for body in mine:
            await store.commit(Transition(run_id=run_name(1), at=at(1), audit=[body]))

    async with asyncio.TaskGroup() as group:
        for mine in bodies:
            group.create_task(write(mine))
    (chain,) = [chain async for chain in store.audit_chains(run_name(1))]
    assert verify_chain(chain).kept
    assert 101 == chain.audit_seq == len(chain.rows)
    written = [row.body for row in chain.rows]
    for mine in bodies:
        assert mine == [body for body in written if body in mine]


async def check_steps_and_payloads_are_replaced(open_store: Open) -> None:
    """The latest row of a step and the latest value of a key stand alone."""
    store = await open_store()
    await store.commit(creation())
    steps = [
        StepRow(step_id=StepId("s1"), status=StepStatus.STARTED, key="k"),
        StepRow(step_id=StepId("s1"), status=StepStatus.SUCCEEDED, attempt=2, key="k"),
    ]
    for step in steps:
        result = [("result", b"%d" % step.attempt)]
        await store.commit(Transition(run_id=run_name(1), at=at(1), steps=[step], payloads=result))
    stored = await store.load(run_name(1))
    assert stored is not None
    assert list(stored.steps) == steps[1:]
    assert dict(await store.payloads(run_name(1), ["result", "absent"])) == {"result": b"2"}


async def check_worked_time_only_grows(open_store: Open) -> None:
    """The figure of work never goes back, whichever of two writers comes last."""
    store = await open_store()
    await store.commit(creation())
    for worked_ms, kept in ((0, 0), (250, 250), (40, 250), (0, 250), (251, 251)):
        unit = Transition(run_id=run_name(1), at=at(1), worked_ms=worked_ms)
        await store.commit(unit)
        run = await store.run(run_name(1))
        assert run is not None
        assert kept == run.worked_ms


async def check_payloads_can_be_erased(open_store: Open) -> None:
    """Erasing a run's payloads leaves its history, its chain and the other runs."""
    store = await open_store()
    await all_of(store, [creation(1), creation(2)])
    await store.commit(everything(1))
    before = await store.run(run_name(1))
    assert before is not None
    history = [await store.events(run_name(1)), await store.load(run_name(2))]
    assert await store.erase_payloads(run_name(1)) == 2
    assert await store.erase_payloads(run_name(1)) == 0
    assert dict(await store.payloads(run_name(1), ["request", "args:s1"])) == {}
    stored = await store.load(run_name(1))
    assert stored is not None
    assert dict(stored.payloads) == {}
    assert history == [await store.events(run_name(1)), await store.load(run_name(2))]
    # Once for what was there; what was judged on it before finds another revision.
    assert await store.run(run_name(1)) == dataclasses.replace(before, rev=before.rev + 1)
    await refused(store, Transition(run_id=run_name(1), at=at(2), expect=Expect(rev=before.rev)), "rev")
    await every_chain_is_whole(store)


async def check_one_bad_unit_fails_alone(open_store: Open) -> None:
    """Units that are refused, or that no store can hold, do not disturb those beside them."""
    store = await open_store()
    await store.commit(creation())
    good = [Transition(run_id=run_name(1), at=at(1), events=[(EventKind.TEXT_DELTA, b"{}")])] * 5
    bad = [
        dataclasses.replace(everything(), run_id=RunId("run_x")),
        dataclasses.replace(everything(), expect=Expect(rev=99)),
        dataclasses.replace(everything(), at="yesterday"),
        dataclasses.replace(everything(), payloads=[("a", b"1"), ("\ud800", b"2")]),
        dataclasses.replace(
            everything(), steps=[StepRow(step_id=StepId("s"), status=StepStatus.STARTED, attempt=2**70)]
        ),
    ]
    told = await all_of(store, [unit for pair in zip(good, bad, strict=True) for unit in pair])
    assert [isinstance(fate, Committed) for fate in told[::2]] == [True] * 5
    assert [isinstance(fate, Conflict | OurBug) for fate in told[1::2]] == [True] * 5
    stored = await store.load(run_name(1))
    assert stored is not None
    assert (stored.run.seq, stored.run.rev, stored.run.epoch, tuple(stored.steps)) == (6, 6, 0, ())
    await every_chain_is_whole(store)


async def check_closing_keeps_what_was_handed_in(open_store: Open) -> None:
    """What was handed in before ``close`` is there after reopening; afterwards nothing is taken."""
    store = await open_store()
    await store.commit(creation())
    units = [Transition(run_id=run_name(1), at=at(1), events=[(EventKind.TEXT_DELTA, b"{}")])] * 20
    writes = [asyncio.ensure_future(store.commit(unit)) for unit in units]
    await asyncio.sleep(0)
    await store.close()
    await store.close()
    assert all([isinstance(await write, Committed) for write in writes])
    try:
        await store.commit(everything())
    except StoreUnavailable:
        store = await open_store()
    else:
        raise AssertionError("a closed store took a unit")
    run = await store.run(run_name(1))
    assert run is not None
    assert (run.seq, run.rev) == (21, 21)
    before = await contents(store)
    await store.close()
    assert before == await contents(await open_store())
