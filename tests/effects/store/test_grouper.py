"""Who shares a group, with a writer of another process: in a loop whose time is made of work and waits."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from condor.core.errors import StoreUnavailable
from condor.ports.store import Committed, Transition
from condor.store.grouper import GROUP_UNITS_MAX, Grouper
from condor.testing.store_units import at, run_name

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Sequence

    from condor.store.grouper import Settle

_T = TypeVar("_T")
#: What a caller does before a unit: works so many times so long with a turn after each, then waits.
Pause: TypeAlias = "tuple[int, float, float]"

DONE = Committed(first_seq=0, last_seq=0, rev=1, epoch=0, answers=0)


class Loop(asyncio.SelectorEventLoop):
    """A loop in which time passes by work and by waits for timers, and not by itself."""

    def __init__(self) -> None:
        super().__init__()
        self.now = self.worked = 0.0
        selector: Any = self._selector  # type: ignore[attr-defined]
        look = selector.select

        def select(timeout: float | None) -> object:
            assert timeout is not None, "nobody will ever wake those who wait"
            self.now += max(timeout, 0.0)
            return look(0)

        selector.select = select

    def time(self) -> float:
        return self.now

    def work(self, seconds: float) -> None:
        self.now += seconds
        self.worked += seconds


class Writer:
    """One group at a time, each some seconds and some more for each unit."""

    def __init__(self, loop: Loop, group_s: float, unit_s: float, *, elsewhere: bool = True) -> None:
        self.groups: list[list[Transition]] = []
        self.handed_in: list[Transition] = []
        self.told: list[BaseException | Committed] = []
        self._loop, self._group_s, self._unit_s = loop, group_s, unit_s
        self._works = False
        self.grouper = Grouper(self._hand_over, elsewhere=elsewhere, worked=lambda: loop.worked)

    async def commit(self, unit: Transition) -> Committed:
        self.handed_in.append(unit)
        return await self.grouper.submit(unit)

    def sent(self) -> int:
        return sum(map(len, self.groups))

    def _hand_over(self, group: Sequence[Transition], settle: Settle) -> None:
        assert not self._works, "a group is sent to a writer that is idle"
        assert 0 < len(group) <= GROUP_UNITS_MAX
        self._works = True
        self.groups.append(list(group))
        took = self._group_s + self._unit_s * len(group)
        self._loop.call_later(took, self._settle, settle, len(group))

    def _settle(self, settle: Settle, units: int) -> None:
        self._works = False
        due = min(len(self.handed_in), self.sent() + GROUP_UNITS_MAX)
        settle([*self.told, *[DONE] * units][:units])
        # Told over the loop's pipe, a turn for the wakes, and one for who waited meanwhile.
        self._after_turns(3, lambda: self._nobody_is_left(due))

    def _after_turns(self, turns: int, then: Callable[[], None]) -> None:
        if turns:
            self._loop.call_soon(self._after_turns, turns - 1, then)
        else:
            then()

    def _nobody_is_left(self, due: int) -> None:
        assert self.sent() >= due, "who waits when a group is settled is in the next"


def run(main: Callable[[Loop], Coroutine[Any, Any, _T]]) -> _T:
    loop = Loop()
    try:
        return loop.run_until_complete(main(loop))
    finally:
        loop.close()


def a_unit(caller: int, number: int) -> Transition:
    return Transition(run_id=run_name(caller), at=at(number))


async def call(loop: Loop, writer: Writer, caller: int, pauses: Sequence[Pause]) -> None:
    for number, (times, work_s, wait_s) in enumerate(pauses):
        for _ in range(times):
            loop.work(work_s)
            await asyncio.sleep(0)
        if wait_s:
            await asyncio.sleep(wait_s)
        await writer.commit(a_unit(caller, number))


def seconds_of_a_closed_loop(at_once: int, group_s: float, *, elsewhere: bool, turns: int = 4) -> float:
    """So many callers with 50 units each, all alike."""

    async def main(loop: Loop) -> float:
        writer = Writer(loop, group_s, 0.000_1, elsewhere=elsewhere)
        pauses = [(turns, 0.000_3 / turns, 0.0)] * 50
        await asyncio.gather(*(call(loop, writer, caller, pauses) for caller in range(at_once)))
        return loop.now

    return run(main)


@given(
    st.lists(
        st.lists(
            st.tuples(st.integers(0, 4), st.sampled_from([0.0, 0.000_1, 0.01]), st.sampled_from([0, 0.001])),
            max_size=6,
        ),
        min_size=1,
        max_size=12,
    ),
    st.sampled_from([0.0, 0.000_3, 0.02]),
    st.booleans(),
)
def test_nobody_is_left_and_order_is_kept(
    callers: list[list[Pause]], group_s: float, elsewhere: bool
) -> None:
    """Whatever callers do between their units, all are told, and are written in the order they came in."""

    async def main(loop: Loop) -> None:
        writer = Writer(loop, group_s, 0.000_1, elsewhere=elsewhere)
        await asyncio.gather(*(call(loop, writer, caller, pauses) for caller, pauses in enumerate(callers)))
        await writer.grouper.drained()
        assert [unit for group in writer.groups for unit in group] == writer.handed_in
        assert writer.sent() == sum(map(len, callers))

    run(main)


@pytest.mark.parametrize(("at_once", "share"), [(4, 0.95), (16, 0.9)])
def test_the_writer_works_while_the_loop_does(at_once: int, share: float) -> None:
    """Callers take turns where the loop's work is what counts: neither waits for the other for long."""
    alone = seconds_of_a_closed_loop(at_once, 0.000_2, elsewhere=False)
    assert seconds_of_a_closed_loop(at_once, 0.000_2, elsewhere=True) < alone * share


@pytest.mark.parametrize(("at_once", "group_s"), [(1, 0.000_2), (1, 0.01), (4, 0.01), (16, 0.02)])
def test_where_a_commit_is_dear_nothing_is_lost(at_once: int, group_s: float) -> None:
    """A slow disk, or one caller: as with any other writer."""
    alone = seconds_of_a_closed_loop(at_once, group_s, elsewhere=False)
    assert seconds_of_a_closed_loop(at_once, group_s, elsewhere=True) <= alone * 1.01


def test_a_lone_unit_goes_at_once() -> None:
    async def main(loop: Loop) -> None:
        writer = Writer(loop, 0.001, 0.0)
        for number in range(3):
            since = loop.now
            await writer.commit(a_unit(1, number))
            assert loop.now - since == pytest.approx(0.001)

    run(main)


def test_a_crowd_goes_in_parts() -> None:
    async def main(loop: Loop) -> None:
        writer = Writer(loop, 0.001, 0.0)
        await asyncio.gather(*(writer.commit(a_unit(1, number)) for number in range(GROUP_UNITS_MAX + 1)))
        assert [len(group) for group in writer.groups] == [GROUP_UNITS_MAX, 1]

    run(main)


def test_each_is_told_its_own_and_a_cancelled_one_is_written() -> None:
    async def main(loop: Loop) -> None:
        writer = Writer(loop, 0.001, 0.0)
        writer.told = [DONE, StoreUnavailable("away")]
        units = [asyncio.ensure_future(writer.commit(a_unit(1, number))) for number in range(3)]
        await asyncio.sleep(0.000_5)
        late = [asyncio.ensure_future(writer.commit(a_unit(2, number))) for number in range(3)]
        await asyncio.sleep(0)
        for group in (units, late):
            group[2].cancel()
        told = await asyncio.gather(*units, *late, return_exceptions=True)
        assert [type(fate) for fate in told] == [Committed, StoreUnavailable, asyncio.CancelledError] * 2
        await writer.grouper.drained()
        assert [len(group) for group in writer.groups] == [3, 3]

    run(main)


def test_a_writer_that_settles_after_its_loop_has_closed_harms_nobody() -> None:
    kept: list[Settle] = []
    grouper = Grouper(lambda group, settle: kept.append(settle), elsewhere=True)

    async def interrupted() -> None:
        task = asyncio.ensure_future(grouper.submit(a_unit(1, 0)))
        await asyncio.sleep(0.01)
        task.cancel()

    asyncio.run(interrupted())
    kept.pop()([DONE])

    async def another() -> None:
        future = grouper.submit(a_unit(1, 1))
        await asyncio.sleep(0)
        kept.pop()([DONE])
        assert await future == DONE

    asyncio.run(another())
