"""Plan: the request goes to the planner, the plan is parsed and compiled, once.

Law: no plan is ever guessed. A planner that does not understand says so; that is the run's closing.
"""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING

from condor.core.compiler import compile_plan, graph_to_json
from condor.core.errors import PlanRefused, RequestNotUnderstood
from condor.core.plan import parse_plan
from condor.core.run import EventKind, RunStatus
from condor.ports.model import PlanningRequest
from condor.pump.phases.close import end_without_plan
from condor.pump.phases.dispatch import dispatch
from condor.pump.phases.result import Next, PhaseResult, Stopped
from condor.pump.segment import LookAgain
from condor.pump.staging import Staging

if TYPE_CHECKING:
    from condor.core.graph import CompiledGraph
    from condor.pump.segment import Segment

_log = logging.getLogger(__name__)

#: Seconds for one plan: ten times what the slowest model takes for the longest of the demo's.
PLANNING_S_MAX = 300.0


def stage_plan(segment: Segment, plan: object, graph: CompiledGraph, into: Staging | None = None) -> None:
    """Stage a compiled plan; the segment adopts its graph once that is stored."""
    segment.payload("plan", plan, into)
    segment.payload("graph", graph_to_json(graph), into)
    segment.event(
        EventKind.PLAN_READY,
        into,
        revision=graph.revision,
        digest=graph.digest,
        steps=len(graph.nodes),
        plan="plan",
        graph="graph",
    )


async def plan(segment: Segment) -> PhaseResult:
    """Ask the planner; a run whose request is not understood fails with what the planner can do."""
    if segment.state.halt is not None:
        return Stopped()
    try:
        proposed = await _proposed(segment)
        graph = compile_plan(parse_plan(proposed), segment.ports.toolbox.known())
    except RequestNotUnderstood as refusal:
        return await end_without_plan(segment, refusal.code, str(refusal))
    except PlanRefused as refusal:
        return await end_without_plan(
            segment, refusal.code, f"the planner made a plan that cannot be run: {refusal}"
        )
    moves = Staging()
    stage_plan(segment, proposed, graph, moves)
    await segment.commit(moves, status=RunStatus.EXECUTING, cause="planned")
    segment.state.adopt_graph(graph)
    return Next(dispatch)


async def _proposed(segment: Segment) -> object:
    """What the planner proposes.

    Raises:
        RequestNotUnderstood: it has no plan, no time, or there is none.
        LookAgain: the run was stopped meanwhile.
    """
    planner = segment.ports.planner
    if planner is None:
        raise RequestNotUnderstood(
            "no planner is configured, so a request in words cannot be planned; give a plan instead"
        )
    thinking = asyncio.ensure_future(planner.plan(_request(segment)))
    woken = asyncio.ensure_future(segment.wake.wait())
    try:
        await asyncio.wait({thinking, woken}, timeout=PLANNING_S_MAX, return_when=asyncio.FIRST_COMPLETED)
        if not thinking.done():
            if woken.done():
                raise LookAgain
            raise RequestNotUnderstood(
                f"the planner gave no plan within {PLANNING_S_MAX:g} s; try again, or give a plan"
            )
        return _thought(thinking)
    finally:
        thinking.cancel()
        woken.cancel()
        await asyncio.gather(thinking, woken, return_exceptions=True)


def _thought(thinking: asyncio.Future[object]) -> object:
    """What a planner that has finished says; what escapes it is no plan, and no fault of ours."""
    try:
        return thinking.result()
    except RequestNotUnderstood:
        raise
    except (Exception, asyncio.CancelledError) as fault:  # noqa: BLE001 - whatever a planner does
        _log.warning("the planner failed", exc_info=fault)
        raise RequestNotUnderstood(
            f"the planner failed ({type(fault).__name__}); try again, or give a plan instead"
        ) from None


def _request(segment: Segment) -> PlanningRequest:
    toolbox = segment.ports.toolbox
    return PlanningRequest(
        text=(segment.state.payload("request") or {}).get("text", ""),
        principal=segment.state.requester,
        tools=toolbox.all(),
        today=toolbox.today,
    )
