"""Recorded calls judged anew: what a changed policy or a changed descriptor would have said of them.

Law 1: nothing is run and nothing is stored. A call is judged from what was recorded of it and from the tool
as it is now; the record itself is not touched.
Law 2: a call whose arguments were erased is judged by the facts of its verdict, and counted as such.
Law 3: what was promoted for a reason of its run (a denied effect, untrusted text, an earlier high card)
keeps it.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal, get_args

from condor.core.policy import (
    POLICY_RULES,
    HitlTier,
    PolicyCall,
    PolicyContext,
    evaluate_by_rules,
    policy_call,
)
from condor.core.policy.descriptor import who_may_answer

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from condor.core.ids import Json
    from condor.core.policy import PolicyRule, ToolDescriptor
    from condor.tools.replay_files import RecordedCall

#: How a call would be judged now, beside how it was.
Mark = Literal["stricter", "looser", "other", "gone"]
MARKS: tuple[Mark, ...] = get_args(Mark)
#: Examples kept of one kind of difference.
_EXAMPLES_MAX = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """What of a verdict is compared."""

    decision: str
    rule_id: str
    effective_tier: str | None
    promotions: tuple[str, ...]
    #: Who may answer; None where nobody is asked, or it was not recorded; empty is everybody.
    approvers: frozenset[str] | None = None

    def to_json(self) -> dict[str, Json]:
        """As it is listed."""
        shown: dict[str, Json] = {
            "decision": self.decision,
            "ruleId": self.rule_id,
            "effectiveTier": self.effective_tier,
            "promotions": list(self.promotions),
        }
        if self.approvers is not None:
            shown["approverRoles"] = sorted(self.approvers)
        return shown


@dataclass(slots=True, kw_only=True)
class Difference:
    """Calls of one tool that were judged alike, and would be judged alike now, but not as they were."""

    mark: Mark
    tool: str
    op: str | None
    autonomy: str
    before: Judgement
    #: None where the tool is gone.
    after: Judgement | None
    count: int = 0
    #: Run and step of the first ones.
    examples: list[tuple[str, str]] = field(default_factory=list)

    def to_json(self) -> dict[str, Json]:
        """As it is listed."""
        return {
            "mark": self.mark,
            "tool": self.tool,
            "op": self.op,
            "autonomy": self.autonomy,
            "before": self.before.to_json(),
            "after": self.after.to_json() if self.after is not None else None,
            "calls": self.count,
            "examples": [{"runId": run, "stepId": step} for run, step in self.examples],
        }


@dataclass(slots=True, kw_only=True)
class Replay:
    """What a replay found."""

    calls: int = 0
    #: Calls whose arguments are gone.
    by_facts: int = 0
    differences: list[Difference] = field(default_factory=list)

    def marked(self, mark: Mark) -> int:
        """How many calls would be judged so."""
        return sum(found.count for found in self.differences if found.mark == mark)

    def to_json(self) -> dict[str, Json]:
        """Counts, and every kind of difference."""
        return {
            "calls": self.calls,
            "byFacts": self.by_facts,
            **{mark: self.marked(mark) for mark in MARKS},
            "differences": [found.to_json() for found in self.differences],
        }


def replay_calls(
    calls: Iterable[RecordedCall],
    tools: Iterable[ToolDescriptor],
    *,
    rules: Sequence[PolicyRule] | None = None,
    registered: Mapping[str, object] | None = None,
) -> Replay:
    """Judge recorded calls by these tools and rules; the differences, looser ones first.

    Args:
        rules: the matrix; None: the policy's own.
        registered: effect classes by the static registry.
    """
    by_name = {tool.name: tool for tool in tools}
    found = Replay()
    kinds: dict[object, Difference] = {}
    for call in calls:
        found.calls += 1
        found.by_facts += call.args is None
        tool = by_name.get(call.tool)
        after = None
        if tool is not None:
            after = _judged(call, tool, rules or POLICY_RULES, (registered or {}).get(call.tool))
        before = _recorded(call)
        mark = _mark(before, after)
        if mark is None:
            continue
        key = (mark, call.tool, call.op, call.autonomy, before, after)
        kind = kinds.get(key)
        if kind is None:
            kind = kinds[key] = Difference(
                mark=mark, tool=call.tool, op=call.op, autonomy=call.autonomy, before=before, after=after
            )
        kind.count += 1
        if len(kind.examples) < _EXAMPLES_MAX:
            kind.examples.append((call.run_id, call.step_id))
    order = {"looser": 0, "gone": 1, "stricter": 2, "other": 3}
    found.differences = sorted(kinds.values(), key=lambda one: (order[one.mark], one.tool, -one.count))
    return found


def _recorded(call: RecordedCall) -> Judgement:
    return Judgement(
        decision=call.decision,
        rule_id=call.rule_id,
        effective_tier=call.effective_tier,
        promotions=call.promotions,
        approvers=call.approvers if call.decision != "allow" else None,
    )


def _judged(
    call: RecordedCall, tool: ToolDescriptor, rules: Sequence[PolicyRule], registered: object
) -> Judgement:
    """What the policy says of the call now."""
    asked = policy_call(tool, call.args or {}, registered=registered)
    if call.args is None:
        asked = _by_facts(call, asked)
    was_high = call.effective_tier == HitlTier.HIGH and call.hitl_tier == HitlTier.LOW
    if was_high and not call.promotions:  # a card before it had shown the step as high
        asked = replace(asked, hitl_tier=HitlTier.HIGH)
    context = PolicyContext(
        autonomy=call.autonomy,
        denied_effects=asked.effects if "denied-effect" in call.promotions else frozenset(),
        untrusted_plan="untrusted-plan" in call.promotions,
    )
    verdict = evaluate_by_rules(asked, context, rules)
    asks = not verdict.allowed
    return Judgement(
        decision=verdict.decision,
        rule_id=verdict.rule_id,
        effective_tier=verdict.effective_tier,
        promotions=tuple(verdict.promotions),
        approvers=who_may_answer(tool) if asks and call.approvers is not None else None,
    )


def _by_facts(call: RecordedCall, asked: PolicyCall) -> PolicyCall:
    """The call as its verdict remembers it: its op, and whether its arguments took something away."""
    return replace(
        asked,
        op=call.op if asked.ops else None,
        destructive_content="destructive-content" in call.promotions,
        effects=frozenset({"erased"}) if "denied-effect" in call.promotions else frozenset(),
    )


def _mark(before: Judgement, after: Judgement | None) -> Mark | None:
    if after is None:
        return "gone"
    if before.decision != after.decision:
        return "looser" if after.decision == "allow" else "stricter"
    wider = _wider(before.approvers, after.approvers)
    if wider is not None:
        return "looser" if wider else "stricter"
    same = (before.rule_id, before.effective_tier, set(before.promotions)) == (
        after.rule_id,
        after.effective_tier,
        set(after.promotions),
    )
    return None if same else "other"


def _wider(before: frozenset[str] | None, after: frozenset[str] | None) -> bool | None:
    """Whether somebody may answer now who could not; None where nobody more or less may."""
    if before is None or after is None or before == after:
        return None
    # Nobody named is everybody.
    return not after or (bool(before) and not after <= before)


__all__ = ["MARKS", "Difference", "Judgement", "Mark", "Replay", "replay_calls"]
