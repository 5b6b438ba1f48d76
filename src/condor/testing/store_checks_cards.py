"""What a store makes of cards: one answer each, none after the deadline, each approval used once."""

from __future__ import annotations

import dataclasses

from condor.core.errors import OurBug
from condor.core.ids import StepId
from condor.core.outcome import StepStatus
from condor.core.run import EventKind, RunStatus
from condor.ports.store import (
    Committed,
    Conflict,
    StepRow,
    Transition,
)
from condor.testing.store_units import (
    Open,
    all_of,
    at,
    card,
    contents,
    creation,
    decision,
    everything,
    parking,
    refused,
    run_name,
)


async def check_one_decision_wins(open_store: Open) -> None:
    """Of 100 decisions on one card exactly one is made; each loser is told who won."""
    store = await open_store()
    await store.commit(creation())
    await store.commit(parking(card()))
    told = await all_of(store, [decision(card(), f"user-{number}") for number in range(100)])
    winners = [number for number, fate in enumerate(told) if isinstance(fate, Committed)]
    assert len(winners) == 1
    decided = await store.suspension(card().suspend_id)
    assert decided is not None
    assert ("approved", f"user-{winners[0]}", at(1)) == (
        decided.status,
        decided.decided_by,
        decided.decided_at,
    )
    for fate in told:
        if not isinstance(fate, Committed):
            assert isinstance(fate, Conflict)
            assert ("decided", decided) == (fate.kind, fate.suspension)
            assert fate.run is not None
            assert fate.run.answers == 1
    stored = await store.load(run_name(1))
    assert stored is not None
    assert (stored.run.answers, stored.run.seq) == (1, 2)
    assert f'"user-{winners[0]}"'.encode() == stored.payloads["reason"]


async def check_a_unit_of_several_cards_is_one(open_store: Open) -> None:
    """A unit that closes two cards closes both or none."""
    store = await open_store()
    await store.commit(creation())
    first, second = card(), card(name="b")
    await store.commit(parking(first, second))
    await store.commit(decision(second))
    both = dataclasses.replace(
        decision(first), decide=[*decision(first).decide, *decision(second).decide], park=[card(name="c")]
    )
    conflict = await refused(store, both, "decided")
    assert conflict.suspension == await store.suspension(second.suspend_id)


async def check_a_unit_sees_what_it_has_done(open_store: Open) -> None:
    """Within a unit a card is closed, used up or opened once; what it approves it may use up."""
    store = await open_store()
    await store.commit(creation())
    await store.commit(parking(card()))
    approve = decision(card())
    await refused(store, dataclasses.replace(approve, decide=[*approve.decide] * 2), "decided")
    both = dataclasses.replace(approve, consume=[card().suspend_id] * 2)
    await refused(store, both, "consumed")
    await refused(store, parking(card(name="b"), card(name="b")), "exists")
    await store.commit(dataclasses.replace(both, consume=[card().suspend_id]))
    used = await store.suspension(card().suspend_id)
    assert used is not None
    assert (used.status, used.consumed) == ("approved", True)


async def check_no_card_is_opened_again_by_a_decision(open_store: Open) -> None:
    """To decide that a card is pending is a bug of the caller's."""
    store = await open_store()
    await store.commit(creation())
    await store.commit(parking(card()))
    before = await contents(store)
    again = dataclasses.replace(decision(card()).decide[0], status="pending")
    (fate,) = await all_of(store, [dataclasses.replace(decision(card()), decide=[again])])
    assert isinstance(fate, OurBug)
    assert await contents(store) == before


async def check_a_card_belongs_to_its_run(open_store: Open) -> None:
    """A unit of another run cannot close, use up or open a run's card."""
    store = await open_store()
    await all_of(store, [creation(1), creation(2)])
    await store.commit(parking(card(1)))
    other = run_name(2)
    await refused(store, dataclasses.replace(decision(card(1)), run_id=other), "missing")
    await store.commit(decision(card(1)))
    consumer = Transition(run_id=other, at=at(2), consume=[card(1).suspend_id])
    await refused(store, consumer, "missing")
    before = await contents(store)
    fates = await all_of(store, [dataclasses.replace(parking(card(1, "x")), run_id=other)])
    assert isinstance(fates[0], OurBug)
    assert before == await contents(store)


async def check_expiry_is_inside_the_decision(open_store: Open) -> None:
    """At its deadline a card can no longer be answered, only swept; before it, it can."""
    store = await open_store()
    await store.commit(creation())
    rows = [card(name=name, expires=10) for name in "abc"]
    await store.commit(parking(*rows, card(name="never")))
    await store.commit(decision(rows[0], second=9.999))
    assert list(await store.due(at(9.999))) == []
    conflict = await refused(store, decision(rows[1], second=10), "expired")
    assert conflict.suspension == await store.suspension(rows[1].suspend_id)
    assert [row.suspend_id for row in rows[1:]] == [row.suspend_id for row in await store.due(at(10))]
    assert len(await store.due(at(10), limit=1)) == 1
    await store.commit(decision(rows[1], second=10, refuse_expired=False))
    assert [rows[2].suspend_id] == [row.suspend_id for row in await store.due(at(11))]


async def check_idle_runs_are_parked_without_a_card(open_store: Open) -> None:
    """Only suspended runs, only without an open card, only untouched for long enough; oldest first."""
    store = await open_store()
    parked = [creation(n, status=RunStatus.SUSPENDED, second=n) for n in range(1, 7)]
    await all_of(store, [*parked, creation(7), creation(8, status=RunStatus.ABORTED)])
    await store.commit(parking(card(1)))
    await store.commit(parking(card(2), second=2))
    await store.commit(decision(card(2), second=50))
    await store.commit(parking(card(3), second=3))
    await store.commit(decision(card(3), second=20))
    found = [run_name(n) for n in (3, 4, 5)]
    assert [run_name(n) for n in (3, 4, 5, 6)] == list(await store.idle(at(20)))
    assert found[:2] == list(await store.idle(at(20), limit=2))
    assert [run_name(4), run_name(5)] == list(await store.idle(at(5)))
    assert [run_name(n) for n in (2, 3, 4, 5, 6)] == list(await store.idle(at(50)))


async def check_a_clock_set_back_revives_nothing(open_store: Open) -> None:
    """A card that has expired by the latest time ever committed stays expired, after a restart too."""
    store = await open_store()
    await store.commit(creation(1))
    await store.commit(parking(card(expires=10)))
    await store.commit(creation(2, second=10))
    await refused(store, decision(card(), second=1), "expired")
    await store.close()
    store = await open_store()
    await refused(store, decision(card(), second=2), "expired")
    assert [card().suspend_id] == [row.suspend_id for row in await store.due(at(3))]


async def check_an_approval_is_used_once(open_store: Open) -> None:
    """Of 20 units that use up one approval one is made; what is not approved cannot be used up."""
    store = await open_store()
    await store.commit(creation())
    await store.commit(parking(card()))
    consumer = Transition(
        run_id=run_name(1),
        at=at(2),
        consume=[card().suspend_id],
        steps=[StepRow(step_id=StepId("s1"), status=StepStatus.STARTED, key="k")],
        events=[(EventKind.STEP_STARTED, b"{}")],
    )
    await refused(store, consumer, "consumed")
    await store.commit(decision(card()))
    told = await all_of(store, [consumer] * 20)
    assert sum(isinstance(fate, Committed) for fate in told) == 1
    losers = [fate for fate in told if isinstance(fate, Conflict)]
    assert len(losers) == 19
    assert {("consumed", True)} == {
        (fate.kind, fate.suspension is not None and fate.suspension.consumed) for fate in losers
    }
    run = await store.run(run_name(1))
    assert run is not None
    assert run.seq == 3


async def check_a_card_is_opened_once(open_store: Open) -> None:
    """An id that is there, open or closed, is not opened again."""
    store = await open_store()
    await store.commit(creation())
    await store.commit(parking(card()))
    again = dataclasses.replace(everything(), park=[card(name="b"), card()])
    conflict = await refused(store, again, "exists")
    assert card() == conflict.suspension
    await store.commit(decision(card()))
    await refused(store, again, "exists")
