"""Taking a run up: how often in a row that was done without anything of it having been done since.

Law: what ends the process is not met for ever. A call of which nothing comes back is not stored as begun (a
read, a planner, a hook), so it is the taking up that is counted, in the ledger, in the unit that takes it up.
A process that goes in order gives its taking up back.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from condor.core.outcome import SETTLED, StepStatus
from condor.core.recovery import BreakerStop
from condor.ports.encoding import encode
from condor.pump.staging import LEDGER

if TYPE_CHECKING:
    from condor.core.recovery import Limits
    from condor.pump.segment import Segment
    from condor.pump.state import RunState


def count_taking_up(state: RunState, limits: Limits) -> BreakerStop | None:
    """Count in its ledger, as it is to be stored, that a run is taken up; the stop if that is too often."""
    counted = replace(state.ledger, limits=limits).taken_up(
        _done(state), any_succeeded=StepStatus.SUCCEEDED in state.statuses.values()
    )
    if isinstance(counted, BreakerStop):
        return counted
    state.ledger = counted
    state.payloads[LEDGER] = encode(counted.to_json())
    return None


def give_back(segment: Segment) -> bool:
    """Stage that the process goes in order: it was not this run that ended it. Whether there is a need to."""
    before = segment.state.ledger
    segment.state.ledger = before.given_back()
    if segment.state.ledger is before:
        return False
    segment.payload(LEDGER, segment.state.ledger.to_json())
    return True


def ended_its_process(state: RunState) -> bool:
    """Whether the run was stopped for that: nothing of a tool author is entered for its closing either."""
    stop = state.ledger.stop
    return stop is not None and stop.limit == "take_ups_max"


def _done(state: RunState) -> str:
    """All that brings a run nearer to its rest, in a word; no events, for a call that begins is one."""
    settled = sum(row.status in SETTLED for row in state.steps.values())
    closed = sum(row.status != "pending" for row in state.suspensions.values())
    revision = state.graph.revision if state.graph is not None else 0
    return f"{state.status}:{revision}:{settled}:{len(state.suspensions)}:{closed}:{state.answers}"


__all__ = ["count_taking_up", "ended_its_process", "give_back"]
