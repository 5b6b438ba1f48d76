"""Plan: the request goes to the planner, the plan is parsed and compiled, once.

Law 1: no plan is ever guessed. A planner that does not understand says so; that is the run's closing.
Law 2: a plan made beside quoted text is untrusted, whoever made it and whatever it says.
"""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING

from condor.core.compiler import compile_plan, graph_to_json
from condor.core.errors import PlanRefused, RefusedInput, RequestNotUnderstood
from condor.core.plan import parse_plan
from condor.core.plan.repair import fault_of, may_be_repaired
from condor.core.recovery import Charge
from condor.core.run import EventKind, RunStatus
from condor.ports.deadline import EscapedExit, Stragglers, called, contained
from condor.ports.encoding import read_strict_json
from condor.ports.model import PlanningRequest, Proposal, QuotedText, RepairingPlanner, RepairRequest
from condor.pump.breaker import open_breaker, pay
from condor.pump.phases.close import end_without_plan
from condor.pump.phases.dispatch import dispatch
from condor.pump.phases.result import Next, PhaseResult, Stopped
from condor.pump.segment import LookAgain, RunLost
from condor.pump.staging import Staging
from condor.pump.time_left import left_s

if TYPE_CHECKING:
    from collections.abc import Awaitable

    from condor.core.graph import CompiledGraph
    from condor.core.plan.repair import PlanFault
    from condor.pump.segment import Segment

_log = logging.getLogger(__name__)
_STRAGGLERS = Stragglers()

#: Seconds for one plan: ten times what the slowest model takes for the longest of the demo's.
PLANNING_S_MAX = 300.0


class _OverBudget(Exception):
    """Planning cost more than the run may; its breaker has opened."""


def stage_plan(
    segment: Segment,
    plan: object,
    graph: CompiledGraph,
    into: Staging | None = None,
    *,
    repaired: PlanFault | None = None,
) -> None:
    """Stage a compiled plan; the segment adopts its graph once that is stored.

    Args:
        repaired: what was wrong with the candidate that its planner mended.
    """
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
        repaired=repaired.code if repaired is not None else None,
    )


async def plan(segment: Segment) -> PhaseResult:
    """Ask the planner; a run whose request is not understood fails with what the planner can do.

    Raises:
        RunLost: the run is left to another segment, which asks anew.
    """
    if segment.leaving:
        raise RunLost
    if segment.state.halt is not None:
        return Stopped()
    try:
        proposed, graph, repaired = await _runnable(segment)
    except _OverBudget:
        return Stopped()
    except RequestNotUnderstood as refusal:
        return await end_without_plan(segment, refusal.code, str(refusal))
    except PlanRefused as refusal:
        return await end_without_plan(
            segment, refusal.code, f"the planner made a plan that cannot be run: {refusal}"
        )
    moves = Staging()
    stage_plan(segment, proposed, graph, moves, repaired=repaired)
    await segment.commit(moves, status=RunStatus.EXECUTING, cause="planned")
    segment.state.adopt_graph(graph)
    return Next(dispatch)


async def _runnable(segment: Segment) -> tuple[object, CompiledGraph, PlanFault | None]:
    """A candidate that can be run, its graph, and what was wrong with the one before it.

    Raises:
        PlanRefused: the planner cannot repair its plan, or its repair cannot be run either.
        RequestNotUnderstood, LookAgain, _OverBudget: as ``_thought_of``.
    """
    planner, asked = segment.ports.planner, _request(segment)
    if planner is None:
        raise RequestNotUnderstood(
            "no planner is configured, so a request in words cannot be planned; give a plan instead"
        )
    candidate, fault, candidates = await _thought_of(segment, called(planner.plan, asked)), None, 1
    while True:
        try:
            graph = _compiled(segment, candidate, untrusted=bool(asked.quoted))
        except PlanRefused as refusal:
            if not isinstance(planner, RepairingPlanner) or not may_be_repaired(candidates):
                raise
            fault, candidates = fault_of(refusal), candidates + 1
            mend = called(planner.repair, RepairRequest(asked=asked, candidate=candidate, fault=fault))
            candidate = await _thought_of(segment, mend)
        else:
            return candidate, graph, fault


def _compiled(segment: Segment, candidate: object, *, untrusted: bool) -> CompiledGraph:
    if isinstance(candidate, str):
        raise PlanRefused(f"the planner answered with a text, which is no plan{_unread(candidate)}")
    return compile_plan(
        parse_plan(candidate),
        segment.ports.toolbox.known(),
        untrusted=untrusted,
        cards=segment.ports.toolbox.cards(),
    )


def _unread(text: str) -> str:
    """What keeps a text that looks like JSON from being read; nothing is quoted of it but a key."""
    if not text.lstrip().startswith(("{", "[")):
        return ""
    try:
        read_strict_json(text, "it")
    except RefusedInput as refusal:
        return f": {refusal}"
    return ""


async def _thought_of(segment: Segment, work: Awaitable[object]) -> object:
    """What a planner that was asked says, paid for.

    Raises:
        RequestNotUnderstood: it has no plan, no time, or there is none.
        LookAgain: the run was stopped meanwhile.
        _OverBudget: it cost more than the run may.
    """
    time_s = min(PLANNING_S_MAX, left_s(segment))
    thinking = asyncio.ensure_future(contained(work))
    woken = asyncio.ensure_future(segment.wake.wait())
    try:
        await asyncio.wait({thinking, woken}, timeout=time_s, return_when=asyncio.FIRST_COMPLETED)
        if not thinking.done():
            if woken.done():
                raise LookAgain
            raise RequestNotUnderstood(
                f"the planner gave no plan within {time_s:.3g} s; try again, or give a plan"
            )
        return _paid(segment, _thought(thinking))
    finally:
        woken.cancel()
        if not thinking.done():
            await _STRAGGLERS.leave({thinking}, f"the planner of {segment.state.run_id}")


def _thought(thinking: asyncio.Future[object]) -> object:
    """What a planner that has finished says; what escapes it is no plan, and no fault of ours."""
    try:
        return thinking.result()
    except RequestNotUnderstood:
        raise
    except (Exception, asyncio.CancelledError) as fault:  # noqa: BLE001 - whatever a planner does
        _log.warning("the planner failed", exc_info=fault)
        raised = fault.raised if isinstance(fault, EscapedExit) else fault
        raise RequestNotUnderstood(
            f"the planner failed ({type(raised).__name__}); try again, or give a plan instead"
        ) from None


def _paid(segment: Segment, thought: object) -> object:
    """The candidate, after what it cost was charged.

    Raises:
        RequestNotUnderstood: it is a refusal, or what it says it cost is no amount.
        _OverBudget: it cost more than the run may.
    """
    if not isinstance(thought, Proposal):
        return thought
    try:
        cost = Charge(tokens=thought.tokens, cost_usd=thought.cost_usd)
    except ValueError:
        _log.warning("the planner says it cost %r tokens, %r USD", thought.tokens, thought.cost_usd)
        raise RequestNotUnderstood(
            "the planner failed (what it says it cost is no amount); try again, or give a plan instead"
        ) from None
    stop = pay(segment, cost)
    if stop is not None:
        open_breaker(segment, stop)
        raise _OverBudget
    if thought.refusal:
        raise RequestNotUnderstood(thought.refusal)
    return thought.plan


def _request(segment: Segment) -> PlanningRequest:
    toolbox, asked = segment.ports.toolbox, segment.state.payload("request") or {}
    return PlanningRequest(
        text=asked.get("text", ""),
        quoted=tuple(QuotedText(source=one["source"], text=one["text"]) for one in asked.get("quoted", ())),
        principal=segment.state.requester,
        tools=toolbox.all(),
        today=toolbox.today,
    )
