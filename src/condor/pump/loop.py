"""The loop: run phases until the run rests. The only caller of the suspend funnel.

Law: a phase returns a value; the loop acts on it. Nothing else parks, and a phase that returns
anything else is a bug that ends the run as failed, with its reason.
"""

from __future__ import annotations

import asyncio
import contextlib
from typing import assert_never

from condor.core.errors import StoreUnavailable
from condor.core.run import RunStatus
from condor.ports.store import Conflict
from condor.pump.phases import Done, Next, Phase, PhaseResult, Rest, Stopped, Suspended
from condor.pump.phases.close import close
from condor.pump.phases.dispatch import dispatch
from condor.pump.segment import LookAgain, RunLost, Segment
from condor.pump.suspend_funnel import park


async def drive(segment: Segment, phase: Phase) -> None:
    """Work on a run until it rests: parked, or at its end.

    When that fails, or the segment leaves, leaves at work finish and what they did is stored, so that no
    effect is left unknown for a fault of another step; when it is cancelled, they are.
    """
    try:
        segment.ports.faults("segment.begun")
        while True:
            try:
                following = await _act(segment, await phase(segment))
            except LookAgain:
                await segment.look_again()
                following = dispatch if segment.state.graph is not None else phase
            if following is None:
                _remember(segment)
                return
            phase = following
    except RunLost:
        if segment.leaving:
            await _finish_leaves(segment)
    except Exception:
        await _finish_leaves(segment)
        raise
    finally:
        if segment.tasks:
            await _abandon(segment)


def _remember(segment: Segment) -> None:
    """Keep a parked run for its answer, where answers are worked on too."""
    state = segment.state
    if state.status is not RunStatus.SUSPENDED or state.halt is not None or segment.ports.hands_over:
        return
    if (left := segment.as_left()) is not None:
        segment.ports.left.keep(left)


async def _act(segment: Segment, result: PhaseResult) -> Phase | None:
    """Do what the phase said; the next phase, or None when the run rests."""
    match result:
        case Next():
            return result.phase
        case Suspended():
            try:
                await park(segment, result.asked, rests=result.rests)
            except LookAgain:
                segment.asked.appendleft(result.asked)
                raise
            return None if result.rests else dispatch
        case Rest():
            if segment.state.status is RunStatus.EXECUTING:
                await segment.commit(status=RunStatus.SUSPENDED, cause="parked")
            return None
        case Stopped():
            return close
        case Done():
            return None
        case _:
            assert_never(result)


async def _finish_leaves(segment: Segment) -> None:
    """Let leaves at work come back, begin nothing new, store what happened: as far as that goes."""
    segment.leaving = True
    if segment.tasks:
        await asyncio.wait(segment.tasks)
    if segment.facts:
        with contextlib.suppress(StoreUnavailable, Conflict, LookAgain, RunLost):
            await segment.commit()


async def _abandon(segment: Segment) -> None:
    """Cancel what is still at work: only when the run was lost or the loop cancelled."""
    tasks = list(segment.tasks)
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
