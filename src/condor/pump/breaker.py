"""The circuit breaker of a run at work: charging it, and what happens when it opens.

Law: whoever charges stores the ledger with what it pays for. That the breaker has opened is a fact of the
ledger, so a restart cannot close it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from condor.core.outcome import StepStatus
from condor.core.recovery import BreakerStop, Charge
from condor.core.run import SYSTEM, EventKind
from condor.core.suspend import Origin
from condor.pump.segment import Segment, entry
from condor.pump.staging import LEDGER, Staging

if TYPE_CHECKING:
    from collections.abc import Mapping


def charged(segment: Segment, charge: Charge) -> Staging | None:
    """Charge, if it fits; the ledger as it is to be stored."""
    after = segment.state.ledger.charge(charge, worked_s=worked_s(segment))
    if isinstance(after, BreakerStop):
        return None
    segment.state.ledger = after
    moves = Staging()
    segment.payload(LEDGER, after.to_json(), moves)
    return moves


def refund(segment: Segment, charge: Charge) -> None:
    """Give back the charge for an act that was not done; units of others may have stored it meanwhile."""
    segment.state.ledger = segment.state.ledger.refunded(charge)
    segment.payload(LEDGER, segment.state.ledger.to_json())


def open_breaker(segment: Segment, stop: BreakerStop, step_id: str | None = None) -> None:
    """Stop the run for what it has spent: in the ledger, in the log and in the audit, once; it closes."""
    if segment.state.ledger.stop is not None:
        return
    segment.state.open_breaker(stop)
    segment.payload(LEDGER, segment.state.ledger.to_json())
    told: Mapping[str, object] = stop.to_json()
    segment.event(EventKind.BREAKER_STOPPED, None, stepId=step_id, **told)
    segment.audit(
        entry(
            segment,
            "stopped",
            step_id=step_id,
            reason_code=f"breaker.{stop.limit}",
            origin=Origin.PLAN_MUTATION,
            actor=SYSTEM.id,
        )
    )


def pay(segment: Segment, charge: Charge, *, succeeded: bool = False) -> BreakerStop | None:
    """Charge what is spent already, with the facts; the stop where a ceiling is met.

    Args:
        succeeded: what it was spent on has succeeded.
    """
    if not (charge.tokens or charge.cost_usd):
        return None
    after = segment.state.ledger.charge(
        charge, worked_s=worked_s(segment), any_succeeded=succeeded or any_succeeded(segment)
    )
    if not isinstance(after, BreakerStop):
        segment.state.ledger = after
    elif segment.state.ledger.stop is None:
        return after
    else:
        # Spent by a leaf that was at work when another opened the breaker.
        segment.state.note_overspending(charge)
    segment.payload(LEDGER, segment.state.ledger.to_json())
    return segment.state.ledger.stop


def stop_if_out_of_time(segment: Segment) -> None:
    """Open the breaker when the run was worked on for longer than it may be."""
    limits = segment.ports.limits
    if segment.worked_ms() <= limits.wall_time_s_max * 1_000 or segment.state.halt is not None:
        return
    stop = segment.state.ledger.charge(
        Charge(), worked_s=worked_s(segment), any_succeeded=any_succeeded(segment)
    )
    if isinstance(stop, BreakerStop):
        open_breaker(segment, stop)


def confirmers_stop(segment: Segment) -> BreakerStop:
    """The stop of a run whose edit a second model would not have."""
    return BreakerStop(
        limit="confirmer", used=1, most=0, outcome="degraded" if any_succeeded(segment) else "failed"
    )


def any_succeeded(segment: Segment) -> bool:
    """Whether any leaf has succeeded by now."""
    return StepStatus.SUCCEEDED in segment.state.statuses.values()


def worked_s(segment: Segment) -> float:
    """Seconds worked on the run until now."""
    return segment.worked_ms() / 1_000
