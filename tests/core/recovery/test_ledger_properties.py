"""The breaker: it always ends, no ceiling is exceeded, and a restart refills nothing."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from condor.core.recovery import (
    DEFAULT_LIMITS,
    LIMITS,
    BreakerStop,
    Charge,
    CircuitBreakerLedger,
    Limits,
    ledger_from_json,
    limits_from,
)
from tests.core.recovery.test_limits import anything

steps = st.sampled_from(["", "a", "b"])
digests = st.sampled_from(["", "d1", "d2"])
charges = st.builds(
    Charge,
    step=steps,
    plan_mutations=st.integers(0, 2),
    replans=st.integers(0, 2),
    retries=st.integers(0, 2),
    repeats=digests,
    decides=digests,
    tokens=st.integers(0, 400_000),
    cost_usd=st.floats(0, 4, allow_nan=False),
)
configurations = st.dictionaries(st.sampled_from([limit.name for limit in LIMITS]), anything, max_size=8)
limits = configurations.map(limits_from)


def spend(ledger: CircuitBreakerLedger, made: list[Charge], worked: float = 0) -> CircuitBreakerLedger:
    """Charge all of them, as the pump does: the first stop opens the breaker."""
    for charge in made:
        after = ledger.charge(charge, worked_s=worked)
        ledger = ledger.tripped(after) if isinstance(after, BreakerStop) else after
    return ledger


@given(limits, st.lists(charges, max_size=40))
def test_no_ceiling_is_ever_exceeded(given_limits: Limits, made: list[Charge]) -> None:
    """Under any configuration, whatever is charged, in any order."""
    ledger = CircuitBreakerLedger(limits=given_limits)
    for charge in made:
        ledger = spend(ledger, [charge])
        for name, used in ledger.used().items():
            assert used <= getattr(given_limits, name)


@given(limits, st.booleans())
def test_a_step_that_always_replans_ends(given_limits: Limits, succeeded: bool) -> None:
    """A typed stop after at most the configured replans (1 to 5), whatever else is configured."""
    ledger, passes = CircuitBreakerLedger(limits=given_limits), 0
    storm = Charge(step="r", plan_mutations=1, replans=1, retries=1, repeats="same", decides="same")
    while True:
        after = ledger.charge(storm, any_succeeded=succeeded)
        if isinstance(after, BreakerStop):
            break
        ledger, passes = after, passes + 1
    assert passes <= given_limits.replans_max <= 5
    assert (after.kind, after.outcome) == ("stop", "degraded" if succeeded else "failed")


@given(limits, st.lists(charges, max_size=20), st.lists(charges, max_size=20), st.floats(0, 10**7))
def test_a_restart_refills_nothing(
    given_limits: Limits, before: list[Charge], after: list[Charge], worked: float
) -> None:
    """Stored and read back anywhere, the same charges come to the same."""
    ledger = spend(CircuitBreakerLedger(limits=given_limits), before, worked)
    stored = json.loads(json.dumps(ledger.to_json()))
    again = ledger_from_json(stored, given_limits)
    assert ledger == again
    assert spend(ledger, after, worked) == spend(again, after, worked)


@given(st.lists(charges, max_size=20), charges)
def test_an_open_breaker_stays_open(made: list[Charge], more: Charge) -> None:
    """Every later charge gets the first stop."""
    stop = BreakerStop(limit="replans_max", used=2, most=2, outcome="failed")
    ledger = spend(CircuitBreakerLedger(), made)
    opened = ledger.tripped(ledger.stop or stop)
    assert opened.charge(more) == opened.stop
    assert opened.tripped(replace(stop, used=1)) == opened
    assert spend(opened, [more]) == opened


@given(st.lists(charges, max_size=12), st.lists(steps, max_size=3), charges, st.lists(charges, max_size=4))
def test_a_charge_that_is_refunded_was_never_made(
    made: list[Charge], over: list[str], charge: Charge, others: list[Charge]
) -> None:
    """Whoever else charges in between; what is gone (tokens, money, time) and a breaker that opened stay."""
    ledger = spend(CircuitBreakerLedger(), made)
    for step in over:
        ledger = ledger.settled(step)
    after = ledger.charge(charge, worked_s=5)
    if isinstance(after, BreakerStop):
        return
    gone = {"tokens": after.tokens, "cost_usd": after.cost_usd, "worked_s": after.worked_s}
    assert after.refunded(charge) == replace(ledger, **gone)  # type: ignore[arg-type]
    with_others, without = spend(after, others), spend(replace(ledger, **gone), others)  # type: ignore[arg-type]
    if with_others.stop is None and without.stop is None:
        assert with_others.refunded(charge) == without
    assert with_others.refunded(charge).stop == with_others.stop
    stored = json.loads(json.dumps(with_others.to_json()))
    assert ledger_from_json(stored, DEFAULT_LIMITS).refunded(charge) == with_others.refunded(charge)


def test_what_an_earlier_version_stored_counts_for_no_less() -> None:
    """It does not tell settled steps from open ones."""
    ledger = spend(CircuitBreakerLedger(), [Charge(step="a", retries=2, repeats="x", decides="y")])
    stored = ledger.to_json()
    del stored["mostOfSettled"]
    assert ledger_from_json(stored, DEFAULT_LIMITS).used() == ledger.used()


@given(st.floats(0, 10**6), st.floats(0, 10**6))
def test_time_is_what_was_worked(first: float, second: float) -> None:
    """It never goes back, and over its ceiling it stops."""
    ledger = CircuitBreakerLedger()
    for worked in (first, second, first):
        after = ledger.charge(Charge(), worked_s=worked)
        if isinstance(after, BreakerStop):
            assert (after.limit, max(worked, ledger.worked_s) > 3_600) == ("wall_time_s_max", True)
            return
        assert after.worked_s == max(ledger.worked_s, worked)
        ledger = after


def test_a_settled_step_is_forgotten_and_its_most_is_kept() -> None:
    """It never runs again; what it had spent is still shown."""
    ledger = spend(CircuitBreakerLedger(), [Charge(step="a", retries=2, repeats="x", decides="y")])
    done = ledger.settled("a")
    assert (done.steps, done.used()) == ({}, ledger.used())
    assert done.settled("b") is done


@pytest.mark.parametrize("amounts", [{"replans": -1}, {"tokens": float("nan")}, {"cost_usd": float("inf")}])
def test_a_charge_gives_nothing_back(amounts: Any) -> None:
    """Negative, NaN and endless amounts are no charges."""
    with pytest.raises(ValueError, match="never negative"):
        Charge(**amounts)


@pytest.mark.parametrize(
    "damage",
    [
        {"v": 2},
        {"replans": -1},
        {"replans": "0"},
        {"replans": True},
        {"workedS": float("nan")},
        {"mostOfAStep": [0]},
        {"mostOfSettled": [0]},
        {"mostOfSettled": [0, -1, 0]},
        {"mostOfAStep": [1, 0, 0]},
        {"steps": []},
        {"steps": {"a": {}}},
        {"stop": {"limit": "none", "used": 0, "most": 0, "outcome": "failed"}},
        {"stop": {"limit": "replans_max", "used": 0, "most": 0, "outcome": "fine"}},
    ],
)
def test_a_damaged_ledger_is_never_taken_for_an_empty_one(damage: dict[str, Any]) -> None:
    """It is refused, so that nobody gets a new budget by spoiling the old one."""
    stored = {**CircuitBreakerLedger().to_json(), **damage}
    with pytest.raises((ValueError, KeyError, TypeError, AttributeError)):
        ledger_from_json(stored, DEFAULT_LIMITS)
    assert ledger_from_json(None, DEFAULT_LIMITS) == CircuitBreakerLedger()
