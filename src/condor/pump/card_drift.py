"""Whether a card still shows what would run: held against the plan, the policy and the tools as they are now.

Law: what has changed is asked anew; where this process has not the tools, it cannot say, and the card stays.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from condor.core.compiler.leaves.tool_call import contract_now
from condor.core.suspend import Origin
from condor.ports.encoding import decode
from condor.pump.call import call_of, tool_here
from condor.pump.plan_edit import edit_drift

if TYPE_CHECKING:
    from collections.abc import Mapping

    from condor.ports.store import SuspensionRow
    from condor.pump.segment import Segment


def drift_of(segment: Segment, row: SuspensionRow) -> str | None:
    """Why the card is no longer what would run; None when it is. Record drift shows at execution.

    Raises:
        StaleSuspension: this process has not the tools that the card is about.
    """
    if row.origin == Origin.PLAN_MUTATION:
        return edit_drift(segment, row)
    if row.origin != Origin.TOOL_POLICY:
        return None
    tool = tool_here(segment.ports, row.tool)
    facts: Mapping[str, Any] = decode(row.facts)
    given = call_of(segment.state, segment.ports, segment.state.node(row.step_id), tool)
    if contract_now(given, facts["versions"]) == row.contract_hash:
        return None
    if facts["descriptor"] != tool.digest:
        return f"the descriptor of {tool.name} has changed since the card was shown"
    return "the policy or the call has changed since the card was shown"
