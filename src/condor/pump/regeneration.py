"""Input regeneration: arguments of a planned call that cannot be used are made anew by a model, once.

Law 1: only what the plan gave and what cannot be used is made anew: a reference that found nothing, a value
that does not fit. What the plan left open, and what a person planned or answered, is asked of a person.
Law 2: a ceiling of the leaf, apart from the run's plan: the graph stays as it is. Its cost is charged all
the same.
Law 3: the call counts as made after untrusted text entered the run, so no record write runs on it unasked;
its card says which arguments a model made. (Mission: MUTATING_INPUT_REGEN_ATTEMPTS.)
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from condor.core.compiler.leaves.arguments import faulty_arguments
from condor.core.outcome import StepOutcome, is_json, skipped
from condor.core.plan.reference import find_references
from condor.core.recovery import Charge
from condor.core.recovery.limits import WRITE_INPUT_REGENERATIONS_MAX
from condor.core.run import EventKind
from condor.core.suspend import Origin, ReasonCode
from condor.ports.deadline import Stragglers, called
from condor.ports.model import InputRequest
from condor.pump.breaker import open_breaker, pay
from condor.pump.call import call_of
from condor.pump.segment import Segment, entry
from condor.pump.time_left import left_s

if TYPE_CHECKING:
    from condor.core.compiler.leaves import Suspend
    from condor.core.compiler.leaves.tool_call import ToolCallInput
    from condor.core.ids import Json, StepId

_log = logging.getLogger(__name__)
_STRAGGLERS = Stragglers()

#: Seconds that a regenerator may take; then a person is asked.
REGENERATE_S_MAX: Final = 60.0
VERB: Final = "regenerate-input"


async def regenerated(
    segment: Segment, given: ToolCallInput, leaf: Suspend
) -> ToolCallInput | StepOutcome | None:
    """The call with arguments made anew; None: a person is asked; an outcome: it cost too much."""
    faults = _faults(segment, given, leaf)
    if not faults:
        return None
    step_id = given.node.step_id
    said = await _said(segment, given, faults)
    if said is None:
        return None
    args, cost = said
    stop = pay(segment, cost)
    if stop is not None:
        open_breaker(segment, stop, step_id)
        return skipped("breaker", "the run's budget was used up before its arguments could be made anew")
    made = _usable(given, args, faults)
    if made is None:
        return None
    segment.payload(given.node.payload("input"), {"args": made, "faults": faults})
    segment.event(
        EventKind.PLAN_REVISED,
        revision=segment.state.graph.revision if segment.state.graph is not None else 1,
        verb=VERB,
        stepId=step_id,
        coordinate=given.node.coordinate,
        inputs=sorted(made),
    )
    segment.audit(
        entry(
            segment,
            "plan-revised",
            step_id=step_id,
            approval_id=step_id,
            reason_code=VERB,
            origin=Origin.TOOL_INPUT,
            tool=given.tool.name,
        )
    )
    return call_of(segment.state, segment.ports, given.node, given.tool)


def _faults(segment: Segment, given: ToolCallInput, leaf: Suspend) -> dict[str, str]:
    """Planned arguments that cannot be used, each with what is wrong; empty: none may be made anew."""
    state, node = segment.state, given.node
    if (
        segment.ports.regenerator is None
        or leaf.request.reason is not ReasonCode.CLARIFICATION
        or leaf.request.origin is not Origin.TOOL_INPUT
        or WRITE_INPUT_REGENERATIONS_MAX < 1
        or state.payload(node.payload("input")) is not None
        or state.payload("request") is None
        or any(True for _ in state.suspensions_of(node.step_id))
        or state.halt is not None
    ):
        return {}
    wrong = {
        spec.name: why
        for spec, why in faulty_arguments(given.tool, given.args, given.today)
        if why != "missing" and spec.name in node.args
    }
    nowhere = {name: f"nothing was found at {where}" for name, where in given.unresolved.items()}
    return wrong | nowhere


async def _said(
    segment: Segment, given: ToolCallInput, faults: Mapping[str, str]
) -> tuple[Mapping[str, Json] | None, Charge] | None:
    """What the regenerator gives, and what it cost; None where it fails."""
    regenerator, node = segment.ports.regenerator, given.node
    # INVARIANT: without a regenerator nothing is looked for.
    assert regenerator is not None, "nobody makes arguments anew"
    steps: dict[StepId, None] = dict.fromkeys(node.uses)
    request = InputRequest(
        tool=given.tool,
        planned=node.args,
        resolved=given.args,
        faults=[f"{name}: {why}" for name, why in faults.items()],
        results={step: segment.state.result(step) for step in steps},
        today=given.today,
    )
    about = f"the regenerator for {segment.state.run_id}/{node.step_id}"
    try:
        work = called(regenerator.regenerate, request)
        said = await _STRAGGLERS.within(work, min(REGENERATE_S_MAX, left_s(segment)), about)
        return said.args, Charge(step=node.step_id, tokens=said.tokens, cost_usd=said.cost_usd)
    except Exception as fault:  # noqa: BLE001 - whatever a model does, a person is asked
        # Its text may quote the record.
        _log.warning("%s failed (%s); a person is asked", about, type(fault).__name__)
        return None


def _usable(given: ToolCallInput, args: Any, faults: Mapping[str, str]) -> dict[str, Json] | None:
    """Values for exactly what was wrong, if all of them can be used; nothing else of what was said."""
    if not isinstance(args, Mapping) or not is_json(dict(args)):
        return None
    made = {name: args[name] for name in faults if name in args}
    if made.keys() != faults.keys() or any(True for _ in find_references(made)):
        return None
    faulty = faulty_arguments(given.tool, {**given.args, **made}, given.today, tuple(made))
    return None if any(spec.name in made for spec, _ in faulty) else made


__all__ = ["REGENERATE_S_MAX", "VERB", "regenerated"]
