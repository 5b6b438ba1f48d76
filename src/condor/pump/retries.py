"""Retries of one leaf: the same call again, where repeating is safe.

Law 1: safe is a read, and an effect of which it is proven that nothing was written; the same idempotency key
either way. A write that timed out is unknown, not failed, and is found out about instead (``pump.effects``).
Law 2: the leaf has its own ceiling; the run's ledger is an envelope around it and is charged for every try.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from condor.core.compiler.leaves.tool_call import call_digest, call_facts, resolved_input
from condor.core.outcome import StepStatus
from condor.core.recovery import Charge, requery_tools
from condor.core.recovery.limits import TOOL_RETRIES_BEFORE_SUBSTITUTE_MAX, TOOL_RETRIES_MAX
from condor.core.recovery.substitution import fidelity_of
from condor.pump.breaker import charged, worked_s
from condor.pump.call import stand_ins
from condor.pump.time_left import is_time_left

if TYPE_CHECKING:
    from condor.core.compiler.leaves.tool_call import ToolCallInput
    from condor.core.outcome import StepOutcome
    from condor.pump.segment import Segment
    from condor.pump.staging import Staging

#: Seconds before the first retry; each further one waits twice as long. A busy server needs a moment, a run
#: of 2,000 steps has no time for more.
RETRY_PAUSE_S = 0.05


async def may_try_again(segment: Segment, given: ToolCallInput, outcome: StepOutcome) -> Staging | None:
    """Charge one more try of the same call, if it may be made; the charge, to be stored with the try."""
    state, step_id = segment.state, given.node.step_id
    if outcome.status is not StepStatus.FAILED or not outcome.may_retry or outcome.needs_replan:
        return None
    if not outcome.absent and segment.ports.toolbox.is_effectful(given.tool):
        return None
    repeats = call_digest(given.tool.name, resolved_input(given))
    done = state.ledger.spent_by(step_id).repeated.get(repeats, 0)
    if done >= _tries_max(segment, given):
        return None
    charge = Charge(step=step_id, retries=1, repeats=repeats)
    if not state.ledger.fits(charge, worked_s=worked_s(segment)):
        return None
    pause_s = RETRY_PAUSE_S * 2**done
    if not is_time_left(segment, pause_s=pause_s):
        return None
    await asyncio.sleep(pause_s)
    if state.halt is not None or segment.leaving:
        return None
    return charged(segment, charge)


def _tries_max(segment: Segment, given: ToolCallInput) -> int:
    others = stand_ins(segment.ports, given)
    found = requery_tools(call_facts(given), others, absent=True, tried=given.node.tried) if others else ()
    if found and fidelity_of(found[0]) == "equal":
        return TOOL_RETRIES_BEFORE_SUBSTITUTE_MAX
    return TOOL_RETRIES_MAX
