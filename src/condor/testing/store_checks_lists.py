"""What a store lists, in which order, and by which filter."""

from __future__ import annotations

import dataclasses
import random
from typing import TYPE_CHECKING

from condor.core.run import RunStatus
from condor.ports.store import (
    AuditFilter,
    CardFilter,
    CardOrder,
    Store,
    SuspensionRow,
    Transition,
)
from condor.testing.store_units import (
    Open,
    all_of,
    at,
    card,
    creation,
    decision,
    entry,
    every_chain_is_whole,
    parking,
    run_name,
)

if TYPE_CHECKING:
    from condor.core.ids import RunId, SuspendId


async def check_suspensions_come_in_order(open_store: Open) -> None:
    """Cards are listed in the order they were opened, by status and run, a page after the other."""
    store = await open_store()
    await all_of(store, [creation(1), creation(2)])
    opened = [card(1 + index % 2, f"{(index * 7) % 10}") for index in range(10)]
    for row in opened:
        await store.commit(parking(row))
    await store.commit(decision(opened[4]))
    names = [row.suspend_id for row in opened]
    pending = [name for name in names if name != opened[4].suspend_id]

    async def listed(**asked: object) -> list[SuspendId]:
        page = {name: asked.pop(name) for name in ("limit", "after", "order") if name in asked}
        rows = await store.suspensions(CardFilter(**asked), **page)  # type: ignore[arg-type]
        return [row.suspend_id for row in rows]

    assert names == await listed()
    assert pending == await listed(status="pending")
    assert [opened[4].suspend_id] == await listed(status="approved")
    assert names[::2] == await listed(run_id=run_name(1))
    assert [names[0], names[2], names[6], names[8]] == await listed(run_id=run_name(1), status="pending")
    assert pending[:3] == await listed(status="pending", limit=3)
    assert pending[3:6] == await listed(status="pending", limit=3, after=pending[2])
    assert names[9:] == await listed(limit=3, after=names[8])
    assert names[::-1] == await listed(order="newest")
    assert pending[::-1][3:6] == await listed(
        status="pending", order="newest", limit=3, after=pending[::-1][2]
    )
    assert await listed(after="sus_nobody") == []


async def check_cards_are_listed_by_filter(open_store: Open) -> None:
    """Every filter, alone and with others, of open cards and of closed ones, in both orders, page by page."""
    store = await open_store()
    await all_of(store, [creation(1), creation(2)])
    rows = [_varied(number) for number in range(24)]
    for row in rows:
        await store.commit(parking(row))
    closed = {row.suspend_id for row in rows[::5]}
    for row in rows[::5]:
        await store.commit(decision(row, second=100))
    fields = {name: [None, *sorted({getattr(row, name) for row in rows})] for name in _FILTERED}
    chance = random.Random(4)  # noqa: S311 - reproducible on purpose
    for _ in range(150):
        asked = {name: chance.choice(values) for name, values in fields.items() if chance.random() < 0.4}
        ages = {name: at(chance.randrange(30)) for name in ("opened_from", "opened_until")}
        ages = {name: value for name, value in ages.items() if chance.random() < 0.3}
        status = chance.choice([None, "pending", "pending", "approved"])
        wanted = CardFilter(status=status, **asked, **ages)  # type: ignore[arg-type]
        right = [
            row.suspend_id
            for row in rows
            if all(value in (None, getattr(row, name)) for name, value in asked.items())
            and status in (None, "approved" if row.suspend_id in closed else "pending")
            and ages.get("opened_from", "") <= row.opened_at <= ages.get("opened_until", "~")
        ]
        found = await _paged(store, wanted, "oldest")
        assert right == found, wanted
        assert right[::-1] == await _paged(store, wanted, "newest"), wanted


_FILTERED = ("run_id", "reason_code", "origin", "tool", "tier", "requester", "subject")


def _varied(number: int) -> SuspensionRow:
    """One of many cards that differ in whatever cards are listed by; three at a time open at one moment."""
    return dataclasses.replace(
        card(1 + number % 2, f"{number:02d}", second=number - number % 3),
        reason_code=("approval", "approval", "clarification", "reconcile")[number % 4],
        origin=("tool_policy", "tool_input", "planned_approval")[number % 3],
        tool=("", "medication.prescribe", "allergy.record")[number % 3],
        tier=("", "high", "low")[number // 2 % 3],
        requester=("dr-okafor", "rn-castillo")[number // 3 % 2],
        subject=("", "Patient/pt-1", "Patient/pt-2")[number // 4 % 3],
    )


async def _paged(store: Store, wanted: CardFilter, order: CardOrder) -> list[SuspendId]:
    """The whole list, three cards a page."""
    found: list[SuspendId] = []
    while True:
        page = await store.suspensions(wanted, order=order, limit=3, after=found[-1] if found else "")
        found += [row.suspend_id for row in page]
        if len(page) < 3:
            return found


async def check_runs_come_newest_first(open_store: Open) -> None:
    """Runs are listed newest first, by status, a page after the other; the unfinished apart."""
    store = await open_store()
    statuses = list(RunStatus)
    await all_of(store, [creation(number, status=statuses[number % 8]) for number in range(24)])
    names = [run_name(number) for number in reversed(range(24))]
    assert names == [run.run_id for run in await store.runs()]
    assert names[5:8] == [run.run_id for run in await store.runs(limit=3, before=names[4])]
    wanted = {RunStatus.FAILED, RunStatus.SUSPENDED}
    some = [name for name in names if statuses[int(name[4:]) % 8] in wanted]
    assert some == [run.run_id for run in await store.runs(statuses=wanted)]
    assert some[2:4] == [
        run.run_id for run in await store.runs(statuses=iter(wanted), limit=2, before=some[1])
    ]
    assert list(await store.runs(statuses=[])) == []
    going = {RunStatus.CREATED, RunStatus.PLANNING, RunStatus.EXECUTING}
    assert {name for name in names if statuses[int(name[4:]) % 8] in going} == set(await store.unfinished())


async def check_idle_runs_are_told(open_store: Open) -> None:
    """Suspended, without an open card, unchanged since: nothing else is idle; and nothing is orphaned."""
    store = await open_store()
    await all_of(store, [creation(number, status=RunStatus.SUSPENDED) for number in range(1, 6)])
    await store.commit(creation(6, status=RunStatus.EXECUTING))
    await store.commit(parking(card(2)))
    await store.commit(parking(card(3)))
    await store.commit(decision(card(3)))
    await store.commit(Transition(run_id=run_name(4), at=at(60)))
    assert [run_name(1), run_name(3), run_name(5)] == list(await store.idle(at(10)))
    assert [run_name(1), run_name(3)] == list(await store.idle(at(10), limit=2))
    assert [run_name(1), run_name(3), run_name(4), run_name(5)] == list(await store.idle(at(60)))
    assert list(await store.idle(at(-1))) == []
    assert [run_name(6)] == list(await store.unfinished())
    assert list(await store.orphaned()) == []


async def check_audit_is_listed_by_filter(open_store: Open) -> None:
    """Audit rows come by run and number, by any filter, a page after the other."""
    store = await open_store()
    for number in (2, 1):
        run_id = run_name(number)
        await store.commit(creation(number))
        rows = [
            entry(run_id, "allowed", tool="a", rule_id="read.allow"),
            entry(run_id, "approved", tool="b", actor="dr-okafor"),
        ]
        await store.commit(Transition(run_id=run_id, at=at(1), audit=rows))

    async def listed(wanted: AuditFilter, **page: object) -> list[tuple[RunId, int]]:
        return [(row.run_id, row.seq) for row in await store.audit(wanted, **page)]  # type: ignore[arg-type]

    one, two = run_name(1), run_name(2)
    everyone = [(run_id, seq) for run_id in (one, two) for seq in (1, 2, 3)]
    assert everyone == await listed(AuditFilter())
    assert everyone[2:4] == await listed(AuditFilter(), limit=2, after=(one, 2))
    assert everyone[4:] == await listed(AuditFilter(run_id=two), after=(two, 1))
    assert [(one, 2), (two, 2)] == await listed(AuditFilter(rule_id="read.allow"))
    assert [(one, 3), (two, 3)] == await listed(AuditFilter(tool="b", actor="dr-okafor", decision="approved"))
    assert await listed(AuditFilter(tool="a", decision="approved")) == []
    for nobody in ("", "%", '"', "\ud800"):
        assert await listed(AuditFilter(tool=nobody)) == []


async def check_audit_is_listed_by_time(open_store: Open) -> None:
    """Both ends count; a text that looks like a time beside it is none."""
    store = await open_store()
    one = run_name(1)
    odd = '"at":"2099-01-01T00:00:00.000Z"'
    await store.commit(creation(1))
    rows = [
        entry(one, "allowed", second=10, actor=odd, tool=odd),
        entry(one, "approved", second=20, actor="dr-okafor"),
    ]
    await store.commit(Transition(run_id=one, at=at(20), audit=rows))
    for since, until, numbers in (
        (None, None, [1, 2, 3]),
        (at(10), None, [2, 3]),
        (at(10.001), None, [3]),
        (None, at(10), [1, 2]),
        (at(0), at(9.999), [1]),
        (at(20), at(20), [3]),
        (at(21), None, []),
        (at(20), at(10), []),
    ):
        wanted = AuditFilter(since=since, until=until)
        assert numbers == [row.seq for row in await store.audit(wanted)], (since, until)
        wanted = dataclasses.replace(wanted, run_id=one)
        assert numbers == [row.seq for row in await store.audit(wanted)], (since, until)
    assert [row.seq for row in await store.audit(AuditFilter(since=at(10), decision="allowed"))] == [2]


async def check_every_run_has_a_chain(open_store: Open) -> None:
    """Chains come in run order, a run without rows among them."""
    store = await open_store()
    await all_of(store, [creation(number) for number in (3, 1, 500)])
    await store.commit(dataclasses.replace(creation(2), audit=[]))
    chains = [chain async for chain in store.audit_chains()]
    assert [run_name(number) for number in (1, 2, 3, 500)] == [chain.run_id for chain in chains]
    assert [chain.audit_seq for chain in chains] == [1, 0, 1, 1]
    assert (len(chains[1].rows), chains[1].audit_head) == (0, "")
    await every_chain_is_whole(store)
