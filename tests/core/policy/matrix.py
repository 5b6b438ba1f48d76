"""The policy matrix as the contract words it, written without a look at ``POLICY_RULES``.

``violations`` compares any implementation with it, cell by cell, so that a test can hold the real one
to it and show that a planted bug does not pass.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import get_args

from condor.core.policy import (
    Autonomy,
    HitlTier,
    PolicyCall,
    PolicyClass,
    PolicyContext,
    PolicyVerdict,
    Promotion,
)

Evaluate = Callable[[PolicyCall, PolicyContext], PolicyVerdict]

CLASSES: tuple[object, ...] = (*PolicyClass, "read", "mutate", "exec", "comms")
NO_CLASSES: tuple[object, ...] = ("Read", "reed", "mutate ", "MUTATE", "", None, 0, True, (), b"read")
TIERS: tuple[object, ...] = (*HitlTier, "high", "low")
NO_TIERS: tuple[object, ...] = (None, "", "Low ", "LOW", "LOW\u200b", "lo", 0, False, (), b"low")
AUTONOMOUS: tuple[object, ...] = (Autonomy.AUTONOMOUS, "autonomous")
SUPERVISED: tuple[object, ...] = (
    *(Autonomy.GUARDED, Autonomy.AMBIENT, "guarded", "ambient", "Autonomous", "autonomous ", ""),
    *(None, True, 1, (), b"autonomous", "full-auto"),
)

#: What makes a promotion fire, and nothing else, on a call whose op is ``update`` of {update, delete}.
PROMOTED_BY: dict[Promotion, dict[str, object]] = {
    "destructive-op": {"op": "delete"},
    "op-unknown": {"op": "frobnicate"},
    "destructive-content": {"destructive_content": True},
    "denied-effect": {"denied_effects": frozenset({"stop Order/1"})},
    "untrusted-plan": {"untrusted_plan": True},
}
_CONTEXT_KEYS = frozenset({"denied_effects", "untrusted_plan"})
OPS = frozenset({"update", "delete"})


def promotion_sets() -> Iterator[tuple[Promotion, ...]]:
    """Every set of promotions that a call and its context can bring, in the order of ``Promotion``."""
    for count in range(len(PROMOTED_BY) + 1):
        for names in itertools.combinations(PROMOTED_BY, count):
            if not {"destructive-op", "op-unknown"} <= set(names):
                yield names


def cell(
    policy_class: object, tier: object, autonomy: object, names: tuple[Promotion, ...]
) -> tuple[PolicyCall, PolicyContext]:
    """One call in one context."""
    given = {key: value for name in names for key, value in PROMOTED_BY[name].items()}
    in_call = {key: value for key, value in given.items() if key not in _CONTEXT_KEYS}
    in_context = {key: value for key, value in given.items() if key in _CONTEXT_KEYS}
    call = {"op": "update", "ops": OPS, "effects": frozenset({"stop Order/1"}), **in_call}
    return (
        PolicyCall(tool="t", policy_class=policy_class, hitl_tier=tier, **call),  # type: ignore[arg-type]
        PolicyContext(autonomy=autonomy, **in_context),  # type: ignore[arg-type]
    )


def expected(
    policy_class: object, tier: object, autonomy: object, names: tuple[Promotion, ...]
) -> PolicyVerdict:
    """What the contract says of a cell: the two axes of a record write, and one answer for any other."""
    match policy_class:
        case "read":
            return PolicyVerdict(
                decision="allow", rule_id="read.allow", policy_class=PolicyClass.READ, effective_tier=None
            )
        case "exec" | "comms":
            return PolicyVerdict(
                decision="require-approval",
                rule_id=f"{policy_class}.always-approval",
                policy_class=PolicyClass(policy_class),
                effective_tier=None,
            )
        case "mutate":
            return _expected_record_write(tier, autonomy, names)
        case _:
            return PolicyVerdict(
                decision="require-approval",
                rule_id="unknown.fail-closed",
                policy_class=None,
                effective_tier=None,
            )


def _expected_record_write(tier: object, autonomy: object, names: tuple[Promotion, ...]) -> PolicyVerdict:
    found = set(names) if tier in ("high", "low") else {*names, "tier-missing"}
    promotions: tuple[Promotion, ...] = tuple(name for name in get_args(Promotion) if name in found)
    high = bool(promotions) or tier == "high"
    if high:
        rule = "mutate.high-tier-always-approval"
    elif autonomy == "autonomous":
        rule = "mutate.low-tier-autonomous-allow"
    else:
        rule = "mutate.low-tier-supervised-approval"
    return PolicyVerdict(
        decision="allow" if rule == "mutate.low-tier-autonomous-allow" else "require-approval",
        rule_id=rule,
        policy_class=PolicyClass.MUTATE,
        effective_tier=HitlTier.HIGH if high else HitlTier.LOW,
        promotions=promotions,
    )


def cells() -> Iterator[tuple[object, object, object, tuple[Promotion, ...]]]:
    """Every class by tier by autonomy by set of promotions, then each odd spelling of one axis."""
    classes, tiers, autonomies = (*PolicyClass, "reed"), (*HitlTier, None), (*Autonomy, None)
    promotions = tuple(promotion_sets())
    yield from itertools.product(classes, tiers, autonomies, promotions)
    some: tuple[tuple[Promotion, ...], ...] = ((), ("destructive-op",), ("untrusted-plan",))
    yield from itertools.product((*CLASSES, *NO_CLASSES), tiers, autonomies, some)
    yield from itertools.product(classes, (*TIERS, *NO_TIERS), autonomies, some)
    yield from itertools.product(classes, tiers, (*AUTONOMOUS, *SUPERVISED), some)


def violations(evaluate: Evaluate, at_most: int = 5) -> list[str]:
    """The first cells on which an implementation does not say what the contract says."""
    wrong = (
        f"{policy_class!r} {tier!r} {autonomy!r} {names}: {got}"
        for policy_class, tier, autonomy, names in cells()
        if (got := _said(evaluate, policy_class, tier, autonomy, names))
        != expected(policy_class, tier, autonomy, names)
    )
    return list(itertools.islice(wrong, at_most))


def _said(
    evaluate: Evaluate, policy_class: object, tier: object, autonomy: object, names: tuple[Promotion, ...]
) -> object:
    try:
        return evaluate(*cell(policy_class, tier, autonomy, names))
    except Exception as fault:  # noqa: BLE001 - the matrix is total; an exception is a violation like others
        return fault
