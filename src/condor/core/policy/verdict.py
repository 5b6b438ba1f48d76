"""One call, one context, one verdict.

Law 1: total. Whatever the arguments are, a verdict comes back; junk takes the stricter path.
Law 2: pure. The same call in the same context has the same verdict, for ever.
Law 3: ``plan_approval_policy`` may stand in the context and changes nothing (mission:
tool-policy.ts:196).
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Final, Literal

from condor.core.ids import exact_word
from condor.core.policy.classes import HitlTier, PolicyClass, is_destructive_op, is_supervised
from condor.core.policy.rules import POLICY_RULES, Decision, PolicyRule
from condor.core.values import dataclass

if TYPE_CHECKING:
    from collections.abc import Sequence

Promotion = Literal[
    "destructive-op",
    "op-unknown",
    "destructive-content",
    "tier-missing",
    "denied-effect",
    "untrusted-plan",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyCall:
    """A tool call as the policy sees it: data, so that a recorded call can be judged again."""

    tool: str
    #: As resolved; any value is accepted, only a ``PolicyClass`` is known.
    policy_class: object
    #: As declared; anything but ``high`` or ``low`` is missing.
    hitl_tier: object
    #: The verb of this call; None where the tool has no ops.
    op: object = None
    #: The tool's closed set.
    ops: frozenset[str] = frozenset()
    #: Whether the arguments say they remove something (``destructive_content``, ``effect_of``).
    destructive_content: bool = False
    #: ``verb target`` of every effect, comparable over tools.
    effects: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyContext:
    """What the server knows about the run; nothing of it comes from a call's arguments."""

    #: As dispatched; anything but ``autonomous`` is supervised.
    autonomy: object
    #: ``verb target`` of effects a human has denied in this run.
    denied_effects: frozenset[str] = frozenset()
    #: The plan was made after untrusted text entered the run.
    untrusted_plan: bool = False
    #: Not an axis: kept so that a test can show that it changes nothing.
    plan_approval_policy: object = None


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class PolicyVerdict:
    """What the policy says of one call, and which row of the matrix said it."""

    decision: Decision
    rule_id: str
    #: None when the class is unknown.
    policy_class: PolicyClass | None
    #: Tier after promotions; None for classes without one.
    effective_tier: HitlTier | None
    #: Why a low tier counts as high, in the order of ``Promotion``.
    promotions: tuple[Promotion, ...] = ()

    @property
    def allowed(self) -> bool:
        """Whether the call may run without a human."""
        return self.decision == "allow"


_CLASSES: Final = {known.value: known for known in PolicyClass}


def _known_class(value: object) -> PolicyClass | None:
    word = exact_word(value)
    return None if word is None else _CLASSES.get(word)


def _promotions(call: PolicyCall, context: PolicyContext) -> tuple[Promotion, ...]:
    found: list[Promotion] = []
    if is_destructive_op(call.op):
        found.append("destructive-op")
    if call.ops and exact_word(call.op) not in call.ops:
        found.append("op-unknown")
    if call.destructive_content:
        found.append("destructive-content")
    if exact_word(call.hitl_tier) not in (HitlTier.HIGH, HitlTier.LOW):
        found.append("tier-missing")
    if call.effects & context.denied_effects:
        found.append("denied-effect")
    if context.untrusted_plan:
        found.append("untrusted-plan")
    return tuple(found)


def evaluate_tool_policy(call: PolicyCall, context: PolicyContext) -> PolicyVerdict:
    """May this call run without a human? (mission: the two-axis gate, tool-policy.ts:182-236)."""
    return evaluate_by_rules(call, context, POLICY_RULES)


def evaluate_by_rules(call: PolicyCall, context: PolicyContext, rules: Sequence[PolicyRule]) -> PolicyVerdict:
    """What another matrix would say of the call, for a comparison; no run is decided by one.

    Args:
        rules: searched in order; a call that no row names fails closed.
    """
    policy_class = _known_class(call.policy_class)
    promotions: tuple[Promotion, ...] = ()
    tier: HitlTier | None = None
    if policy_class is PolicyClass.MUTATE:
        promotions = _promotions(call, context)
        tier = HitlTier.HIGH if promotions or exact_word(call.hitl_tier) == HitlTier.HIGH else HitlTier.LOW
    rule = _rule_of(rules, policy_class, tier, supervised=is_supervised(context.autonomy))
    return PolicyVerdict(
        decision=rule.decision,
        rule_id=rule.rule_id,
        policy_class=policy_class,
        effective_tier=tier,
        promotions=promotions,
    )


def _rule_of(
    rules: Sequence[PolicyRule], policy_class: PolicyClass | None, tier: HitlTier | None, *, supervised: bool
) -> PolicyRule:
    for row in rules:
        if (
            row.policy_class in (None, policy_class)
            and row.tier in (None, tier)
            and row.supervised in (None, supervised)
        ):
            return row
    # INVARIANT: the last row matches everything, so the search always ends in a row.
    return POLICY_RULES[-1]
