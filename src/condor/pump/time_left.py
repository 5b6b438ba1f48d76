"""What is left of the time that a run may be worked on: foreign code gets no more of it than that.

Law: nothing is entered that has no time, and what has none ends with the breaker's own stop. A write that is
cut is unknown, as any that gave no answer.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from condor.core.outcome import skipped
from condor.core.recovery import BreakerStop
from condor.pump.breaker import any_succeeded, open_breaker, worked_s

if TYPE_CHECKING:
    from condor.core.ids import StepId
    from condor.core.outcome import StepOutcome
    from condor.pump.segment import Segment

#: Seconds without which nothing is entered: a call that cannot answer only leaves doubt behind.
ENTRY_S_MIN = 0.05
#: Seconds in which the outside system may say what came of a write, however late it is: a person who would
#: have to look takes longer.
FIND_OUT_S_MIN = 1.0


def left_s(segment: Segment) -> float:
    """Seconds for what is entered now; never less than what it takes to be entered."""
    return max(ENTRY_S_MIN, _left(segment))


def is_time_left(segment: Segment, *, pause_s: float = 0.0) -> bool:
    """Whether there is time for another call, after a pause."""
    return _left(segment) >= ENTRY_S_MIN + pause_s


def out_of_time(segment: Segment, step_id: StepId) -> StepOutcome | None:
    """How a step ends that has no time to be entered; its breaker has opened. None: there is time."""
    if is_time_left(segment):
        return None
    stop = BreakerStop(
        limit="wall_time_s_max",
        used=worked_s(segment),
        most=segment.ports.limits.wall_time_s_max,
        outcome="degraded" if any_succeeded(segment) else "failed",
    )
    open_breaker(segment, stop, step_id)
    return skipped("breaker", "the time of the run was used up before it was entered")


def _left(segment: Segment) -> float:
    return segment.ports.limits.wall_time_s_max - worked_s(segment)


__all__ = ["ENTRY_S_MIN", "FIND_OUT_S_MIN", "is_time_left", "left_s", "out_of_time"]
