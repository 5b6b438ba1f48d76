"""Which tool may stand in for one that failed, and the edit that puts it there.

Law 1: a substitute never lowers the gate. It is of the same alias group, the same policy class and the same
declared tier; what is high, or takes something away, is never replaced; the policy judges the new call anew.
Law 2: schema-safe. Every argument that the substitute needs follows from those of the call that failed.
Law 3: a failed record write is replaced only when it is proven that nothing was written.
Law 4: a write that the call or the record is at fault for is never put to another tool: it would refuse it
too, or write what was refused. A read may look elsewhere.
Law 5: a fallback is the last resort: what does less is never replaced in its turn.
(Mission: mutation-engine.ts:122; requeryToolsForOutcome; patchPlanToolIds.)
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final, Literal

from condor.core.outcome import StepStatus

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from condor.core.graph import CompiledGraph, Node
    from condor.core.ids import Json, StepId
    from condor.core.outcome import StepOutcome
    from condor.core.recovery.evidence import Way

Fidelity = Literal["equal", "degraded"]

#: Codes of failures that say nothing of the call: silence, an exception, an answer that is none, an author
#: who gives no code. With a code of its own a tool that is sure of it refuses this call.
_OF_THE_TOOL: Final = frozenset(
    {"tool_error", "tool_raised", "tool_said_so", "timeout", "bad_result", "interrupted", "unknown_tool"}
)
#: How the code of a tool ends that says that what is behind it is away.
_AWAY: Final = ("unavailable", "down", "offline", "timeout", "unreachable")

#: Why a tool may not stand in, in the order in which it is looked at.
Refusal = Literal[
    "not-proven-absent",
    "never-replaced",
    "fallback-is-last",
    "other-group",
    "tried-before",
    "role",
    "other-class",
    "other-tier",
    "gate-would-change",
    "arguments",
]


#: The same for people; ``{}`` is what the tool that may not stand in is called.
REFUSAL_WORDS: Final[dict[Refusal, str]] = {
    "not-proven-absent": "it is not proven that nothing was written",
    "never-replaced": "a call of a high tier, or one that takes something away, is never replaced",
    "fallback-is-last": "it was a fallback already",
    "other-group": "{} does something else",
    "tried-before": "{} was tried before",
    "role": "{} needs another role",
    "other-class": "{} is of another class",
    "other-tier": "{} is of another tier",
    "gate-would-change": "{} would pass another gate",
    "arguments": "what {} needs does not follow from the call",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class CallFacts:
    """One tool call as substitution sees it; handed in by whoever may ask the policy."""

    tool: str
    #: Tools that share one can stand in for each other.
    alias_groups: frozenset[str] = frozenset()
    fidelity: Fidelity | None = None
    #: The resolved effect class.
    policy_class: str
    #: As declared, and after promotions; None for a class without tiers.
    declared_tier: str | None = None
    effective_tier: str | None = None
    #: It takes something away, or may.
    destructive: bool = False
    effectful: bool = True
    #: The requester's role may call it.
    permitted: bool = True
    args: Mapping[str, Json] = field(default_factory=dict)
    #: Arguments are there, known and well-formed.
    complete: bool = True
    #: An argument of the failed call has no place here.
    loses: bool = False


def asks_for_another(outcome: StepOutcome, *, effectful: bool) -> bool:
    """Whether another tool may do what this one did not: it was at fault, or asks for another way."""
    if outcome.needs_replan:
        return True
    if outcome.status is not StepStatus.FAILED:
        return False
    return not effectful or outcome.may_retry or outcome.code in _OF_THE_TOOL or outcome.code.endswith(_AWAY)


def may_be_replaced(failed: CallFacts, *, absent: bool) -> Refusal | None:
    """Why nothing may stand in for this call; None where something may.

    Args:
        absent: it is proven that nothing was written (always so for a read).
    """
    if failed.effectful and not absent:
        return "not-proven-absent"
    if failed.effective_tier == "high" or failed.declared_tier == "high" or failed.destructive:
        return "never-replaced"
    if failed.fidelity == "degraded":
        return "fallback-is-last"
    return None


def refusal_of(failed: CallFacts, candidate: CallFacts, *, tried: Iterable[str] = ()) -> Refusal | None:
    """Why this tool may not stand in for a call that may be replaced; None where it may."""
    checks: tuple[tuple[Refusal, bool], ...] = (
        ("other-group", bool(failed.alias_groups & candidate.alias_groups)),
        ("tried-before", candidate.tool != failed.tool and candidate.tool not in tried),
        ("role", candidate.permitted),
        ("other-class", candidate.policy_class == failed.policy_class),
        ("other-tier", candidate.declared_tier == failed.declared_tier),
        (
            "gate-would-change",
            candidate.effective_tier == failed.effective_tier and not candidate.destructive,
        ),
        ("arguments", candidate.complete),
    )
    return next((refusal for refusal, holds in checks if not holds), None)


def requery_tools(
    failed: CallFacts, candidates: Iterable[CallFacts], *, absent: bool, tried: Iterable[str] = ()
) -> Sequence[CallFacts]:
    """The tools that may stand in, best first: what does the same before what does less."""
    if may_be_replaced(failed, absent=absent) is not None:
        return ()
    found = [candidate for candidate in candidates if refusal_of(failed, candidate, tried=tried) is None]
    return sorted(found, key=lambda candidate: (fidelity_of(candidate) == "degraded", candidate.tool))


def refusals(
    failed: CallFacts, candidates: Iterable[CallFacts], *, absent: bool, tried: Iterable[str] = ()
) -> Sequence[tuple[str, Refusal]]:
    """Every tool that may not stand in, with its reason; one that holds for the call holds for each."""
    of_all = may_be_replaced(failed, absent=absent)
    each = ((one.tool, of_all or refusal_of(failed, one, tried=tried)) for one in candidates)
    return [(tool, refusal) for tool, refusal in each if refusal is not None]


def fidelity_of(candidate: CallFacts) -> Fidelity:
    """How well it stands in: what gives up an argument of the call does less than was asked."""
    return "degraded" if candidate.fidelity == "degraded" or candidate.loses else "equal"


def way_of(found: Sequence[CallFacts], *, same: bool) -> Way:
    """What a re-query found.

    Args:
        same: the same tool may be asked again.
    """
    if found:
        return fidelity_of(found[0])
    return "same" if same else "none"


def substitute_tool(
    graph: CompiledGraph, step_id: StepId, candidate: CallFacts, *, attempt: int
) -> CompiledGraph:
    """The graph with another tool at a step's coordinate; its revision is one higher.

    The step keeps its id, its place and what it waits for. Its arguments are now values: what they
    referred to was resolved for the call that failed.

    Args:
        attempt: number of the first attempt of the new tool.
    """
    node = graph.by_id[step_id]
    tried = node.tried if node.tool in node.tried else (*node.tried, node.tool)
    less = node.fidelity == "degraded" or (
        candidate.tool != tried[0] and fidelity_of(candidate) == "degraded"
    )
    edited: Node = replace(
        node,
        tool=candidate.tool,
        args=dict(candidate.args),
        uses=frozenset(),
        since=attempt,
        tried=tried,
        fidelity="degraded" if less else "equal",
    )
    return graph.edited(edited)


__all__ = [
    "REFUSAL_WORDS",
    "CallFacts",
    "Fidelity",
    "Refusal",
    "asks_for_another",
    "fidelity_of",
    "may_be_replaced",
    "refusal_of",
    "refusals",
    "requery_tools",
    "substitute_tool",
    "way_of",
]
