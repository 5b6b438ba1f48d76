"""Whom a card is about, on every card of a tool's call: also where no preview was read for it.

Law: what the tool says is shown, and decides nothing; a hook that fails costs the card its subject alone.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from condor.core.compiler.leaves import Suspend
from condor.core.suspend import read_reason_code
from condor.ports.tools import Invocation

if TYPE_CHECKING:
    from condor.core.ids import Json
    from condor.core.suspend import SuspendRequest
    from condor.pump.segment import Segment
    from condor.pump.state import RunState

#: Longest that a card waits for it: also where the run's time is over, as for an effect of unknown outcome.
SUBJECT_S_MAX: Final = 5.0


async def with_subject(segment: Segment, asked: Suspend) -> Suspend:
    """The wait with the subject on its card, and with the alerts about it where the card has none."""
    request = asked.request
    tool = segment.ports.toolbox.find(request.tool)
    if tool is None or request.evidence.get("subject") or is_open(segment.state, request):
        return asked
    state = segment.state
    call = Invocation(
        tool=tool,
        args=request.args,
        run_id=state.run_id,
        step_id=request.step_id,
        attempt=state.row(request.step_id).attempt,
        principal=state.requester,
        left_s=SUBJECT_S_MAX,
    )
    said = (await segment.ports.toolbox.subject(call)).to_json()
    shown: dict[str, Json] = {part: said[part] for part in ("subject", "alerts") if part in said}
    return Suspend(request=replace(request, evidence={**shown, **request.evidence}))


def is_open(state: RunState, request: SuspendRequest) -> bool:
    """Whether this very question is asked already: its card stays as it is."""
    return any(
        row.status == "pending"
        and row.contract_hash == request.contract_hash
        and read_reason_code(row.reason_code) is request.reason
        for row in state.suspensions_of(request.step_id)
    )
