"""References: what a pointer finds, and that what it does not find is nothing."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from condor.core.plan import Reference, find_references, resolve_references
from condor.core.plan.reference import MISSING, escape_token, is_reference, point, shown_token
from tests.core.strategies import json_values, texts

#: RFC 6901, section 5.
RFC_6901: dict[str, Any] = {
    "foo": ["bar", "baz"],
    "": 0,
    "a/b": 1,
    "c%d": 2,
    "e^f": 3,
    "g|h": 4,
    "i\\j": 5,
    'k"l': 6,
    " ": 7,
    "m~n": 8,
}


@pytest.mark.parametrize(
    ("expected", "path"),
    [
        (RFC_6901, ""),
        (["bar", "baz"], "/foo"),
        ("bar", "/foo/0"),
        (0, "/"),
        (1, "/a~1b"),
        (2, "/c%d"),
        (3, "/e^f"),
        (4, "/g|h"),
        (5, "/i\\j"),
        (6, '/k"l'),
        (7, "/ "),
        (8, "/m~0n"),
    ],
)
def test_a_pointer_finds_what_the_rfc_says(expected: object, path: str) -> None:
    """The examples of RFC 6901, section 5."""
    assert expected == point(RFC_6901, path)


@pytest.mark.parametrize(
    ("value", "path"),
    [
        ({"a": 1}, "/b"),
        ({"a": 1}, "a"),
        ({"a": 1}, "x/a"),
        ({"a": 1}, "/a~"),
        ({"a~2": 1}, "/a~2"),
        ([1, 2], "/2"),
        ([1, 2], "/-1"),
        ([1, 2], "/-"),
        ([1, 2], "/01"),
        ([1, 2], "/\u0661"),
        ([1, 2], "/1.0"),
        ([1, 2], "/" + "9" * 5_000),
        ("text", "/0"),
        (None, "/a"),
        ({"a": None}, "/a/b"),
        (7, "/a"),
    ],
)
def test_what_is_not_there_is_missing(value: Any, path: str) -> None:
    """Never a neighbour, never a default, never an exception."""
    assert point(value, path) is MISSING


def test_a_null_is_found_where_it_is_pointed_at() -> None:
    """``point`` tells a null from nothing; the argument then counts as missing."""
    assert point({"a": None}, "/a") is None


RESULTS: dict[str, Any] = {
    "s1": {"id": "p1", "names": ["Ann", None], "none": None},
    "s2": [1, 2],
    "trap": {"$from": "s2", "path": "/0"},
}


def resolved(value: Any) -> Any:
    """``value`` with the results above."""
    return resolve_references(value, lambda step: RESULTS.get(step, MISSING))


@pytest.mark.parametrize(
    ("expected", "args"),
    [
        ({}, {}),
        ({"a": 1, "b": [True, None, "x"]}, {"a": 1, "b": (True, None, "x")}),
        ({"patient": "p1"}, {"patient": {"$from": "s1", "path": "/id"}}),
        ({"all": [1, 2]}, {"all": {"$from": "s2"}}),
        ({"deep": {"x": [{"y": 2}]}}, {"deep": {"x": [{"y": {"$from": "s2", "path": "/1"}}]}}),
        # Nothing there, null, or no such step: what holds the reference is missing as a whole.
        (MISSING, {"$from": "s1", "path": "/nope"}),
        (MISSING, {"deep": {"a": {"$from": "s1", "path": "/none"}, "b": 1}}),
        (MISSING, {"range": [[1, {"$from": "s9"}], 5]}),
    ],
)
def test_references_become_what_they_find(expected: object, args: Any) -> None:
    """What finds nothing is missing, so that it is asked for; nothing moves up into its place."""
    assert expected == resolved(args)


def test_a_result_is_data() -> None:
    """A tool's result that looks like a reference is never followed."""
    assert resolved({"x": {"$from": "trap"}}) == {"x": {"$from": "s2", "path": "/0"}}
    assert resolved({"$from": "s9"}) is MISSING


def test_references_are_found_with_their_place() -> None:
    """Each one says which step, which path, and where it stands."""
    args: Any = {
        "a/b": [{"$from": "s1"}, 1],
        "c": {"$from": "s2/x", "path": "/0"},
        "d": {"e": {"$from": "s3"}},
    }
    assert list(find_references(args)) == [
        Reference(step="s1", path="", at="/a~1b/0"),
        Reference(step="s2/x", path="/0", at="/c"),
        Reference(step="s3", path="", at="/d/e"),
    ]


def test_only_an_object_with_from_is_a_reference() -> None:
    """Everything else is an argument."""
    assert is_reference({"$from": "s1"})
    assert not any(map(is_reference, [{"from": "s1"}, ["$from"], "$from", None]))


def test_a_printed_key_shows_itself() -> None:
    """A foreign key in a message has no invisible characters and no end of length."""
    assert shown_token("größe/~") == "größe~1~0"
    assert shown_token("a\u202eb\x1b\n\ud800") == "a\\u202eb\\x1b\\n\\ud800"
    assert shown_token("k" * 100) == "k" * 80 + "…"


@given(texts, json_values)
def test_an_escaped_key_is_found_again(key: str, value: Any) -> None:
    """Escaping and pointing are inverse, for any key."""
    assert point({key: value}, f"/{escape_token(key)}") == value


@given(json_values, st.text(max_size=12))
def test_pointing_is_total(value: Any, path: str) -> None:
    """Any pointer into any JSON finds something or nothing."""
    point(value, path)


@given(json_values.filter(lambda value: "$from" not in repr(value)))
def test_arguments_without_references_stay_as_they_are(value: Any) -> None:
    """Resolving changes references and nothing else."""
    assert resolved({"x": value}) == {"x": _listed(value)}


def _listed(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _listed(item) for key, item in value.items()}
    return [_listed(item) for item in value] if isinstance(value, list | tuple) else value


@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        (
            ["Dear ", {"$from": "s", "path": "/name"}, ", ", {"$from": "s", "path": "/dose"}, " mg."],
            "Dear Mia, 81 mg.",
        ),
        (["nothing to look up"], "nothing to look up"),
        (["Dear ", {"$from": "s", "path": "/nobody"}], MISSING),
        (["Dear ", {"$from": "none"}], MISSING),
        (["Dear ", {"$from": "s"}], MISSING),
        (["Dear ", {"$from": "s", "path": "/sure"}], MISSING),
    ],
)
def test_a_text_is_made_of_its_parts_or_missing(parts: list[Any], expected: object) -> None:
    """A part that is not there, or is no text, leaves no text: it would be another one than was planned."""
    results: dict[str, Any] = {"s": {"name": "Mia", "dose": 81, "sure": True}}
    value = {"message": {"$text": parts}}
    found = resolve_references(value, lambda step: results.get(step, MISSING))
    assert found == (MISSING if expected is MISSING else {"message": expected})
    assert [one.step for one in find_references(value)] == [
        part["$from"] for part in parts if isinstance(part, dict)
    ]
