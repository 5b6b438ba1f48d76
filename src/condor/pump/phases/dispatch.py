"""Dispatch: run what the frontier says, concurrently where the graph leaves it free.

Law 1: a step starts only when everything it waits for is settled; independent steps run together.
Law 2: an outcome of an effect is stored before anything else takes time.
Law 3: once the run is halted nothing new starts; what is in flight finishes and is journalled.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from condor.core.errors import OurBug
from condor.core.outcome import StepStatus
from condor.pump.breaker import stop_if_out_of_time
from condor.pump.decisions import prune
from condor.pump.leaf_runner import advance
from condor.pump.phases.close import close
from condor.pump.phases.result import Next, PhaseResult, Rest, Stopped, Suspended
from condor.pump.segment import RunLost
from condor.pump.state import waiting_status

if TYPE_CHECKING:
    from condor.core.compiler.leaves import Suspend
    from condor.core.graph import Frontier, Node
    from condor.core.ids import StepId
    from condor.pump.segment import Segment

#: Leaves at work at once in one run: enough to hide latency, few enough to be polite to a record server.
CONCURRENT_LEAVES_MAX = 16
#: Seconds after which progress that is only in memory is stored although a leaf still works.
_PROGRESS_AFTER_S = 0.05


async def dispatch(segment: Segment) -> PhaseResult:
    """Advance the graph until something must be parked, or nothing can move."""
    while True:
        if segment.leaving:
            raise RunLost
        if segment.wake.is_set():
            await segment.look_again()
        stop_if_out_of_time(segment)
        if segment.state.halt is not None:
            segment.asked.clear()
            if not segment.tasks:
                return Stopped()
            await _wait(segment)
            continue
        if segment.asked:
            return _next_suspended(segment)
        front = _frontier(segment)
        if segment.effect_at_stake and (front.ready or segment.tasks):
            await segment.commit()
        elif not await _moved(segment, front):
            if segment.state.open_suspensions():
                return Rest()
            _check_settled(segment)
            return Next(close)


async def _moved(segment: Segment, front: Frontier) -> bool:
    """Start what is ready, or wait for what is at work; False when there is neither."""
    room = CONCURRENT_LEAVES_MAX - len(segment.tasks)
    if _is_alone(segment, front):
        _take(segment, await advance(segment, _begin(segment, front.ready[0])))
    elif front.ready and room > 0:
        for node in front.ready[:room]:
            _launch(segment, _begin(segment, node))
    elif segment.tasks:
        await _wait(segment)
    else:
        return False
    return True


def _frontier(segment: Segment) -> Frontier:
    """What may run next; what can no longer run is settled as skipped on the way."""
    state = segment.state
    # INVARIANT: dispatch comes after the plan was compiled.
    assert state.graph is not None, "dispatch without a graph"
    blocked: list[tuple[Node, StepId]] = []
    while True:
        front = state.statuses.frontier(CONCURRENT_LEAVES_MAX)
        if not front.blocked:
            break
        blocked += front.blocked
        for node, _ in front.blocked:
            state.statuses[node.step_id] = StepStatus.SKIPPED
    if blocked:
        prune(segment, blocked)
    return front


def _is_alone(segment: Segment, front: Frontier) -> bool:
    """One step, nothing else at work or open: no task is needed for it."""
    return len(front.ready) == 1 and not segment.tasks and not segment.state.open_suspensions()


def _begin(segment: Segment, node: Node) -> Node:
    segment.state.statuses[node.step_id] = StepStatus.STARTED
    return node


def _launch(segment: Segment, node: Node) -> None:
    task = asyncio.create_task(advance(segment, node), name=f"{segment.state.run_id}/{node.step_id}")
    segment.tasks[task] = node.step_id


def _take(segment: Segment, asked: Suspend | None) -> None:
    if asked is not None:
        segment.state.statuses[asked.request.step_id] = waiting_status(asked.request.reason)
        segment.asked.append(asked)


async def _wait(segment: Segment) -> None:
    """Until a leaf comes back or an answer arrives; what is only in memory is stored meanwhile."""
    woken = asyncio.ensure_future(segment.wake.wait())
    try:
        done, _ = await asyncio.wait(
            {*segment.tasks, woken}, return_when=asyncio.FIRST_COMPLETED, timeout=_PROGRESS_AFTER_S
        )
        if not done:
            if segment.facts:
                await segment.commit()
            done, _ = await asyncio.wait({*segment.tasks, woken}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        woken.cancel()
    for task in [task for task in segment.tasks if task.done()]:
        del segment.tasks[task]
        _take(segment, task.result())


def _next_suspended(segment: Segment) -> Suspended:
    asked = segment.asked.popleft()
    front = _frontier(segment)
    rests = not (segment.asked or segment.tasks or front.ready)
    return Suspended(asked, rests=rests)


def _check_settled(segment: Segment) -> None:
    """INVARIANT: when nothing runs, waits or can run, every step is settled."""
    left: list[StepId] = [
        step_id
        for step_id, status in segment.state.statuses.items()
        if status in (StepStatus.PENDING, StepStatus.STARTED, StepStatus.SUSPENDED, StepStatus.UNKNOWN)
    ]
    if left:
        raise OurBug(
            f"run {segment.state.run_id} has nothing to do, but {', '.join(left[:5])} is not settled"
        )
