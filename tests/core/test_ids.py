"""Canonical bytes, digests and tokens: what has an identity, and what has none."""

from __future__ import annotations

import contextlib
import math
from enum import Enum, IntEnum, StrEnum
from typing import Any

import pytest
import rfc8785
from hypothesis import given
from hypothesis import strategies as st

from condor.core.ids import (
    SAFE_INTEGER_MAX,
    canonical_json,
    digest_of,
    digest_of_bytes,
    exact_scalar,
    kind_of,
    own_copy,
    short_token,
)
from tests.core.strategies import honest_junk, json_values, texts


class Word(StrEnum):
    """A closed word."""

    A = "a"


@pytest.mark.parametrize(
    ("expected", "value"),
    [
        (b"null", None),
        (b"true", True),
        (b"9007199254740991", SAFE_INTEGER_MAX),
        (b"-9007199254740991", -SAFE_INTEGER_MAX),
        (b"1", 1.0),
        (b"0", -0.0),
        (b"1e-7", 1e-07),
        (b"1e+21", 1e21),
        (b'"\\b\\t\\n\\f\\r\\u000f\\u001f\\"\\\\/\x7f"', '\b\t\n\f\r\x0f\x1f"\\/\x7f'),
        ('"\u20ac\u2028\U0001f600"'.encode(), "\u20ac\u2028\U0001f600"),
        (b'{"":1,"A":2,"a":3,"a b":4,"aa":5}', {"aa": 5, "a b": 4, "a": 3, "A": 2, "": 1}),
        # RFC 8785, section 3.2.3: by UTF-16 code units, not by code points.
        ('{"\U0001f600":1,"\ufb33":2}'.encode(), {"\ufb33": 2, "\U0001f600": 1}),
        (b'[1,[2,{"a":[]}],{}]', [1, (2, {"a": []}), {}]),
        (b'["a",{"b":"a"}]', [Word.A, {"b": Word.A}]),
    ],
)
def test_a_value_has_one_form(expected: bytes, value: object) -> None:
    """RFC 8785, byte for byte."""
    assert expected == canonical_json(value)


NO_JSON: list[Any] = [
    math.nan,
    math.inf,
    -math.inf,
    SAFE_INTEGER_MAX + 1,
    -SAFE_INTEGER_MAX - 1,
    10**400,
    "\ud800",
    {"\ud800": 1},
    {1: 2},
    {None: 2},
    {b"a": 2},
    b"bytes",
    {1, 2},
    object(),
    1j,
]


@pytest.mark.parametrize("value", NO_JSON, ids=lambda value: type(value).__name__)
def test_what_json_cannot_carry_has_no_identity(value: object) -> None:
    """Refused with ``ValueError`` wherever it stands, so that every edge catches one thing."""
    for wrapped in (value, [value], {"a": [{"b": value}]}, {"\u00e9": value}):
        with pytest.raises(ValueError, match=r"."):
            canonical_json(wrapped)


def test_what_nests_without_end_has_no_identity() -> None:
    """Too deep, or a circle: ``ValueError`` like everything else that has no form."""
    deep: list[Any] = []
    for _ in range(100_000):
        deep = [deep]
    circle: dict[str, Any] = {}
    circle["a"] = circle
    slow_circle: dict[str, Any] = {"\u00e9": 1.5}
    slow_circle["a"] = slow_circle
    for value in (deep, circle, slow_circle):
        with pytest.raises(ValueError, match="nests too deep"):
            canonical_json(value)


@given(json_values)
def test_the_fast_path_gives_the_bytes_of_rfc8785(value: Any) -> None:
    """Two encoders, one form: a digest does not depend on which was taken."""
    assert rfc8785.dumps(value) == canonical_json(value)


plain_values = st.recursive(
    st.one_of(texts, st.integers(-(2**54), 2**54), st.booleans(), st.none()),
    lambda inner: st.one_of(
        st.dictionaries(st.text("ab\x7f~\x00", max_size=3), inner, max_size=3), st.lists(inner)
    ),
    max_leaves=8,
)


@given(plain_values)
def test_the_fast_path_gives_the_bytes_of_rfc8785_for_plain_values(value: Any) -> None:
    """Where the standard library's encoder is taken most often: ASCII keys, no floats."""
    try:
        expected = rfc8785.dumps(value)
    except ValueError:
        with pytest.raises(ValueError, match=r"."):
            canonical_json(value)
    else:
        assert expected == canonical_json(value)


@given(honest_junk)
def test_a_value_has_a_form_or_a_value_error(value: Any) -> None:
    """No other exception, whatever is handed in."""
    with contextlib.suppress(ValueError):
        assert isinstance(canonical_json(value), bytes)


def test_digests_are_sha256_over_the_canonical_bytes() -> None:
    """Anybody can check one with other tools: ``printf '{"a":1}' | sha256sum``."""
    expected = "sha256:015abd7f5cc57a2dd94b7590f04ad8084273905ee33ec5cebeae62276a97f862"
    assert expected == digest_of({"a": 1}) == digest_of_bytes(b'{"a":1}')


@given(json_values, json_values)
def test_a_token_is_short_opaque_and_follows_the_value(first: Any, second: Any) -> None:
    """130 bits of base32: equal for equal JSON, else different."""
    one, other = short_token(first), short_token(second)
    assert len(one) == 26
    assert set(one) <= set("abcdefghijklmnopqrstuvwxyz234567")
    assert (one == other) == (canonical_json(first) == canonical_json(second))


@pytest.mark.parametrize(
    ("expected", "value"),
    [
        ("null", None),
        ("true or false", False),
        ("a number", 1),
        ("a number", 1.5),
        ("a text", "ZZCANARY"),
        ("an array", ["ZZCANARY"]),
        ("an array", ()),
        ("an object", {"ZZCANARY": 1}),
        ("not JSON", b"ZZCANARY"),
        ("not JSON", {1}),
    ],
)
def test_a_kind_says_nothing_of_the_value(expected: str, value: object) -> None:
    """Messages can say what was wrong without repeating record data."""
    assert expected == kind_of(value)


class _Number(IntEnum):
    THREE = 3


class _Liar(str):
    """Says something else wherever it is asked."""

    def __str__(self) -> str:
        return "else"

    __format__ = __add__ = lambda self, *_: "else"


class _Slow(float):
    def __float__(self) -> float:
        return 9.0

    __add__ = __float__  # type: ignore[assignment]


@pytest.mark.parametrize(
    ("value", "plain"),
    [(Word.A, "a"), (_Number.THREE, 3), (_Liar("so"), "so"), (_Slow(2.5), 2.5), (True, True)],
)
def test_a_value_is_the_plain_one_that_is_stored_for_it(value: Any, plain: object) -> None:
    """Of an enumeration, or of a class that says something else of itself."""
    [exact, in_a_list] = exact_scalar(value), own_copy({"k": [{"n": value}]})["k"][0]["n"]
    assert (exact, type(exact), in_a_list, type(in_a_list)) == (plain, type(plain), plain, type(plain))


@pytest.mark.parametrize("value", [b"x", object(), Enum("E", "A").A, 1j])  # type: ignore[attr-defined]
def test_what_is_not_json_has_no_copy(value: Any) -> None:
    with pytest.raises(TypeError, match="is not a text, a number"):
        own_copy({"k": [value]})


@given(st.dictionaries(texts, json_values))
def test_a_copy_is_equal_and_nobody_elses(value: dict[str, Any]) -> None:
    """Part by part, to any depth."""
    copied = own_copy(value)
    assert canonical_json(copied) == canonical_json(value)
    # The empty tuple is one object wherever it stands.
    shared = {id(part) for part in _containers(value) if part != ()} & {
        id(part) for part in _containers(copied)
    }
    assert not shared


def _containers(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return [value, *(part for item in value.values() for part in _containers(item))]
    if isinstance(value, list | tuple):
        return [value, *(part for item in value for part in _containers(item))]
    return []
