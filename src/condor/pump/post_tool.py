"""The post-tool stage at work: what is shown of a result, and the run's card buffer.

Law: the value stays as the tool returned it; what is shown stands beside it, only where it differs.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from condor.core.observers.post_tool import PostToolContext, ToolOutput, run_post_tool_stage
from condor.ports.encoding import encode

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from condor.core.ids import Json, StepId
    from condor.core.observers.post_tool import PostToolProcessor
    from condor.core.outcome import StepStatus
    from condor.ports.counts import Count
    from condor.ports.tools import Toolbox
    from condor.pump.state import RunState

_log = logging.getLogger(__name__)

#: Bytes of one result that are shown: several screens of the console, and a fair part of a model's context.
SHOWN_BYTES_MAX = 256 * 1024
#: Cards that one run keeps for pinning; the oldest give way.
CARDS_MAX = 64
#: The payload that holds the run's card buffer.
BUFFER = "cards"


def present(
    value: Json,
    *,
    state: RunState,
    step_id: StepId,
    status: StepStatus,
    drawn_by: str,
    toolbox: Toolbox,
    processors: Sequence[PostToolProcessor],
    count: Count,
) -> ToolOutput:
    """What is shown of the result of a step that did something.

    Args:
        drawn_by: the tool, if it draws a card.
        toolbox: knows which keys of the value are not for people.
        count: told of a processor that was passed over.
    """
    called = state.node(step_id).tool
    tool = toolbox.find(called)
    context = PostToolContext(
        run_id=state.run_id,
        step_id=step_id,
        tool=called,
        status=status,
        draws_card=bool(drawn_by),
        lookups=tool.lookups if tool is not None else frozenset(),
        size_bytes=len(encode(value)),
        shown_bytes_max=SHOWN_BYTES_MAX,
    )

    def failed(name: str, fault: BaseException) -> None:
        _log.warning("post-tool processor %s raised %s; passed over", name, type(fault).__name__)
        count(f"post_tool.{name}")

    return run_post_tool_stage(value, context, processors, failed)


def shown_beside(output: ToolOutput) -> Mapping[str, object]:
    """What a result's payload keeps beside its value."""
    return {"shown": output.shown} if output.cut else {}


def with_card(state: RunState, step_id: StepId, tool: str, result: str) -> list[dict[str, str]]:
    """The run's card buffer with a card that was just drawn; a later pin step takes its card from it."""
    kept = [entry for entry in _buffered(state) if entry["stepId"] != step_id]
    return [*kept, {"stepId": step_id, "tool": tool, "result": result}][-CARDS_MAX:]


def card_to_pin(state: RunState, named: object) -> dict[str, Any] | None:
    """The card that a pin step takes: of the step that it names, else the last one drawn; None without one.

    ``{"stepId", "tool", "block"}``; the block is what was shown.
    """
    for entry in reversed(_buffered(state)):
        if named in (None, "", entry["stepId"]):
            stored = state.payload(entry["result"]) or {}
            block = stored.get("shown", stored.get("value"))
            return {"stepId": entry["stepId"], "tool": entry["tool"], "block": block}
    return None


def _buffered(state: RunState) -> list[dict[str, str]]:
    return list(state.payload(BUFFER) or [])
