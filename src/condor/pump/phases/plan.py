"""Plan: the request goes to the planner, the plan is parsed and compiled, once.

Law: no plan is ever guessed. A planner that does not understand says so; that is the run's closing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from condor.core.compiler import compile_plan, graph_to_json
from condor.core.errors import PlanRefused, RequestNotUnderstood
from condor.core.plan import parse_plan
from condor.core.run import EventKind, RunStatus
from condor.ports.model import PlanningRequest
from condor.pump.phases.close import end_without_plan
from condor.pump.phases.dispatch import dispatch
from condor.pump.phases.result import Next, PhaseResult
from condor.pump.staging import Staging

if TYPE_CHECKING:
    from condor.core.graph import CompiledGraph
    from condor.pump.segment import Segment


def adopt_plan(segment: Segment, plan: object, graph: CompiledGraph, into: Staging | None = None) -> None:
    """Stage a compiled plan."""
    segment.state.adopt_graph(graph)
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
    ports, state = segment.ports, segment.state
    text = (state.payload("request") or {}).get("text", "")
    try:
        if ports.planner is None:
            raise RequestNotUnderstood(  # noqa: TRY301 - joins the planner's own refusal
                "no planner is configured, so a request in words cannot be planned; give a plan instead"
            )
        proposed = await ports.planner.plan(
            PlanningRequest(
                text=text,
                principal=state.requester,
                tools=ports.toolbox.all(),
                today=ports.toolbox.today,
            )
        )
        graph = compile_plan(parse_plan(proposed), ports.toolbox.known())
    except RequestNotUnderstood as refusal:
        return await end_without_plan(segment, refusal.code, str(refusal))
    except PlanRefused as refusal:
        return await end_without_plan(
            segment, refusal.code, f"the planner made a plan that cannot be run: {refusal}"
        )
    moves = Staging()
    adopt_plan(segment, proposed, graph, moves)
    await segment.commit(moves, status=RunStatus.EXECUTING, cause="planned")
    return Next(dispatch)
