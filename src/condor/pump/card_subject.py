"""Whom a card is about, on every card of a tool's call: also where no preview was read for it.

Law 1: what the tool says is shown, and decides nothing; a hook that fails costs the card its subject alone.
Law 2: the known outcome of an effect waits for no hook.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from condor.core.compiler.leaves import Suspend
from condor.core.suspend import Origin
from condor.ports.tools import Invocation

if TYPE_CHECKING:
    from collections.abc import Mapping

    from condor.core.ids import Json, StepId
    from condor.pump.segment import Segment
    from condor.pump.state import RunState

#: Longest that a card waits for it: also where the run's time is over, as for an effect of unknown outcome.
SUBJECT_S_MAX: Final = 5.0


async def with_subject(segment: Segment, asked: Suspend) -> Suspend:
    """The wait with the subject on its card, and with the alerts about it where the card has none.

    Raises:
        RunLost, StoreUnavailable: as a commit.
    """
    request = asked.request
    state, toolbox = segment.state, segment.ports.toolbox
    tool = toolbox.find(request.tool)
    if tool is None or request.evidence.get("subject") or state.already_asks(request):
        return asked
    if request.origin is Origin.PLAN_MUTATION and _was_effect(segment, request.step_id):
        # How the effect ended is stored together with this card.
        return _showing(asked, _shown_before(state, request.step_id))
    if segment.facts and state.row(request.step_id).key is not None:
        # That the effect asked for something, and did nothing; after a crash it is asked again under its key.
        await segment.commit()
    if tool.subject_of is None:
        return asked
    call = Invocation(
        tool=tool,
        args=request.args,
        run_id=state.run_id,
        step_id=request.step_id,
        attempt=state.attempt(request.step_id),
        principal=state.requester,
        left_s=SUBJECT_S_MAX,
    )
    return _showing(asked, (await toolbox.subject(call)).to_json())


def _showing(asked: Suspend, said: Mapping[str, Json]) -> Suspend:
    shown = {part: said[part] for part in ("subject", "alerts") if part in said}
    if not shown:
        return asked
    return Suspend(request=replace(asked.request, evidence={**shown, **asked.request.evidence}))


def _was_effect(segment: Segment, step_id: StepId) -> bool:
    """Whether it was an effect that the step tried; what is not known is taken for one."""
    tool = segment.ports.toolbox.find(segment.state.node(step_id).tool)
    return tool is None or segment.ports.toolbox.is_effectful(tool)


def _shown_before(state: RunState, step_id: StepId) -> Mapping[str, Json]:
    """Whom the step's latest card is about, where that was a card of the very call that was made."""
    *_, row = [None, *state.suspensions_of(step_id)]
    if row is None or not (row.status == "approved" or row.origin == Origin.PLAN_MUTATION):
        return {}  # what was asked then may have put the call on somebody else
    evidence: Mapping[str, Json] = (state.payload(f"card:{row.suspend_id}") or {}).get("evidence", {})
    return evidence if evidence.get("subject") else {}
