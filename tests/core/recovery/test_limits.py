"""No configuration switches a ceiling off."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from condor.core.recovery import DEFAULT_LIMITS, LIMITS, Limits, limits_from
from condor.core.recovery.limits import BY_NAME, DEFAULT_REPLANS_MAX, Limit, clamp_limit
from tests.core.strategies import Liar, Thrower, json_values

anything = st.one_of(
    json_values,
    st.integers(),
    st.floats(allow_nan=True, allow_infinity=True),
    st.text(max_size=12),
    st.sampled_from(
        ["2; 1000000", "NaN", "inf", "-1", " 3 ", "1e9", "0x5", "٣", "3.0", "3.5", "5", "6", "0"]
    ),
    st.builds(Liar),
    st.builds(Thrower),
    st.binary(max_size=4),
)


def test_every_ceiling_is_described_once() -> None:
    """The table and the value have the same names and defaults, and each says its unit and its reason."""
    assert [item.name for item in fields(Limits)] == [limit.name for limit in LIMITS]
    for limit in LIMITS:
        assert getattr(DEFAULT_LIMITS, limit.name) == limit.default
        assert limit.floor <= limit.default <= limit.most
        assert limit.unit
        assert limit.reason
    assert DEFAULT_REPLANS_MAX == 2


@given(st.sampled_from(LIMITS), anything)
def test_whatever_is_set_a_ceiling_stays_one(limit: Limit, given_value: object) -> None:
    """Within its bounds, finite, and the default for everything that is no number in them."""
    got = clamp_limit(limit, given_value)
    assert limit.floor <= got <= limit.most
    assert type(got) in (int, float)
    if got != limit.default:
        assert float(str(given_value)) == got


@pytest.mark.parametrize("replans", [1, 2, 3, 4, 5, "4", 3.0])
def test_replans_can_be_set_from_one_to_five(replans: Any) -> None:
    """As configured."""
    assert limits_from({"replans_max": replans}).replans_max == int(replans)


@pytest.mark.parametrize(
    "replans",
    [0, -1, 6, 10**9, 10**400, None, "NaN", float("nan"), float("inf"), "2; 1000000", True, 2.5, [], {}],
)
def test_anything_else_is_two_replans(replans: Any) -> None:
    """A18: zero, negative, junk clamps up to the default; the breaker cannot be switched off."""
    assert limits_from({"replans_max": replans}).replans_max == 2
    assert Limits(replans_max=replans).replans_max == 2


def test_what_is_not_configured_stands_at_its_default() -> None:
    """And what is no ceiling is not looked at."""
    assert limits_from({"home": "x", "tokens_max": 5_000}) == Limits(tokens_max=5_000)
    assert set(BY_NAME) == {item.name for item in fields(Limits)}
