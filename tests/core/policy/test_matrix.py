"""The policy matrix, every cell of it, and that a bug planted in the policy does not pass it."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

import pytest

from condor.core.policy import (
    POLICY_RULES,
    HitlTier,
    PolicyCall,
    PolicyClass,
    PolicyContext,
    PolicyRule,
    PolicyVerdict,
    evaluate_tool_policy,
    verdict,
)
from tests.core.policy.matrix import cells, violations

if TYPE_CHECKING:
    from collections.abc import Callable

#: The matrix of the contract, row by row: id, class, effective tier, supervised, decision.
CONTRACT = (
    ("read.allow", PolicyClass.READ, None, None, "allow"),
    ("mutate.high-tier-always-approval", PolicyClass.MUTATE, HitlTier.HIGH, None, "require-approval"),
    ("mutate.low-tier-autonomous-allow", PolicyClass.MUTATE, HitlTier.LOW, False, "allow"),
    ("mutate.low-tier-supervised-approval", PolicyClass.MUTATE, HitlTier.LOW, True, "require-approval"),
    ("exec.always-approval", PolicyClass.EXEC, None, None, "require-approval"),
    ("comms.always-approval", PolicyClass.COMMS, None, None, "require-approval"),
    ("unknown.fail-closed", None, None, None, "require-approval"),
)


def test_the_table_is_the_contract() -> None:
    """The matrix is data, and it is the contract's matrix, row for row."""
    got = tuple(
        (row.rule_id, row.policy_class, row.tier, row.supervised, row.decision) for row in POLICY_RULES
    )
    assert got == CONTRACT


def test_every_row_says_why() -> None:
    """A person who asks why gets a sentence, not a rule id."""
    assert all(row.why.strip() for row in POLICY_RULES)


def test_every_cell_is_decided_as_the_contract_says() -> None:
    """Class by tier by autonomy by promotions, known words and unknown ones: no cell differs."""
    assert violations(evaluate_tool_policy) == []


def test_every_rule_fires() -> None:
    """No row of the matrix is dead."""
    fired = {
        evaluate_tool_policy(
            PolicyCall(tool="t", policy_class=policy_class, hitl_tier=tier), PolicyContext(autonomy=autonomy)
        ).rule_id
        for policy_class, tier, autonomy, _ in cells()
    }
    assert fired == {row.rule_id for row in POLICY_RULES}


def test_the_verdict_says_whether_it_allows() -> None:
    """``allowed`` is the decision, nothing else."""
    for decision, allowed in (("allow", True), ("require-approval", False)):
        given = PolicyVerdict(
            decision=decision,  # type: ignore[arg-type]
            rule_id="r",
            policy_class=None,
            effective_tier=None,
        )
        assert given.allowed is allowed


def _swap(first: int, second: int) -> Callable[[], tuple[PolicyRule, ...]]:
    def planted() -> tuple[PolicyRule, ...]:
        rows = list(POLICY_RULES)
        rows[first], rows[second] = rows[second], rows[first]
        return tuple(rows)

    return planted


def _change(row_id: str, /, **changes: Any) -> Callable[[], tuple[PolicyRule, ...]]:
    def planted() -> tuple[PolicyRule, ...]:
        return tuple(
            dataclasses.replace(row, **changes) if row.rule_id == row_id else row for row in POLICY_RULES
        )

    return planted


def _drop(rule_id: str) -> Callable[[], tuple[PolicyRule, ...]]:
    return lambda: tuple(row for row in POLICY_RULES if row.rule_id != rule_id)


PLANTED_TABLES: dict[str, Callable[[], tuple[PolicyRule, ...]]] = {
    "the last row comes first": lambda: (POLICY_RULES[-1], *POLICY_RULES[:-1]),
    "every row reversed": lambda: POLICY_RULES[::-1],
    "catch-all before exec": _swap(4, 6),
    **{f"{row.rule_id} dropped": _drop(row.rule_id) for row in POLICY_RULES},
    **{
        f"{row.rule_id} turned round": _change(
            row.rule_id, decision="allow" if row.decision == "require-approval" else "require-approval"
        )
        for row in POLICY_RULES
    },
    **{f"{row.rule_id} renamed": _change(row.rule_id, rule_id="x") for row in POLICY_RULES},
    "high tier asks under supervision only": _change("mutate.high-tier-always-approval", supervised=True),
    "high row takes any tier": _change("mutate.high-tier-always-approval", tier=None),
    "low row allows any watch": _change("mutate.low-tier-autonomous-allow", supervised=None),
    "low row allows any tier": _change("mutate.low-tier-autonomous-allow", tier=None, supervised=None),
    "low row allows the watched": _change("mutate.low-tier-autonomous-allow", supervised=True),
    "read row takes any class": _change("read.allow", policy_class=None),
    "exec row is comms": _change("exec.always-approval", policy_class=PolicyClass.COMMS),
}


@pytest.mark.parametrize("bug", PLANTED_TABLES)
def test_a_bug_planted_in_the_table_is_found(bug: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The matrix test is not blind to the table: order, rows, columns and decisions all count."""
    monkeypatch.setattr(verdict, "POLICY_RULES", PLANTED_TABLES[bug]())
    assert violations(evaluate_tool_policy)


def _without(promotion: str) -> Callable[..., Any]:
    real = verdict._promotions
    return lambda call, context: tuple(name for name in real(call, context) if name != promotion)


PLANTED_CODE: dict[str, tuple[str, Callable[..., Any]]] = {
    **{
        f"{name} forgotten": ("_promotions", _without(name))
        for name in ("destructive-op", "op-unknown", "destructive-content", "tier-missing", "denied-effect")
    },
    "untrusted-plan forgotten": ("_promotions", _without("untrusted-plan")),
    "promotions in another order": ("_promotions", lambda c, x, real=verdict._promotions: real(c, x)[::-1]),
    "no promotion at all": ("_promotions", lambda _call, _context: ()),
    "guarded counts as autonomous": ("is_supervised", lambda autonomy: autonomy == "ambient"),
    "ambient counts as autonomous": ("is_supervised", lambda autonomy: autonomy == "guarded"),
    "unknown autonomy is trusted": ("is_supervised", lambda autonomy: autonomy in ("guarded", "ambient")),
    "autonomy is case-folded": ("is_supervised", lambda a: str(a).strip().lower() != "autonomous"),
    "everybody is supervised": ("is_supervised", lambda _autonomy: True),
    "an unknown class is read": (
        "_known_class",
        lambda value: PolicyClass(value) if value in tuple(PolicyClass) else PolicyClass.READ,
    ),
    "a class is case-folded": (
        "_known_class",
        lambda value, real=verdict._known_class: real(value.lower() if isinstance(value, str) else value),
    ),
    "no verb is destructive": ("is_destructive_op", lambda _op: False),
    "a word is anything": ("exact_word", lambda value: str(value).strip().lower()),
}


@pytest.mark.parametrize("bug", PLANTED_CODE)
def test_a_bug_planted_in_the_code_is_found(bug: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The matrix test is not blind to the functions behind the table either."""
    name, planted = PLANTED_CODE[bug]
    monkeypatch.setattr(verdict, name, planted)
    assert violations(evaluate_tool_policy)
