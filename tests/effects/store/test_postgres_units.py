"""A unit of work as what PostgreSQL is sent: texts that are joined come apart as they were."""

from __future__ import annotations

import dataclasses

import pytest
from hypothesis import given
from hypothesis import strategies as st

from condor.core.errors import OurBug
from condor.core.run import RUN_TRANSITIONS, EventKind, RunStatus
from condor.ports.encoding import encode
from condor.ports.store import Expect
from condor.store.postgres_units import APPLY, arguments_of
from condor.testing.store_units import everything

APART = "\x1f"
#: Places of the parameters that are joined.
KINDS, FACTS, AUDIT, NAMES, VALUES = 23, 24, 25, 26, 27
LEFT, EXPECTED = 6, 7
JOINED = (LEFT, EXPECTED, KINDS, FACTS, AUDIT, NAMES, VALUES)
TEXTS = st.text(st.characters(codec="utf-8"))


def apart(argument: object) -> list[str]:
    """As ``string_to_array`` does."""
    assert argument is None or (isinstance(argument, str) and argument)
    return argument.split(APART) if argument is not None else []


@given(
    st.lists(st.dictionaries(st.text(st.characters(codec="utf-8")), st.text(st.characters(codec="utf-8"))))
)
def test_json_comes_apart_as_it_was(found: list[dict[str, str]]) -> None:
    """Whatever stands in the texts, control characters among it."""
    bodies = [encode(one) for one in found]
    unit = dataclasses.replace(
        everything(),
        events=[(EventKind.TEXT_DELTA, body) for body in bodies],
        audit=bodies,
        payloads=[(f"k{place}", body) for place, body in enumerate(bodies)],
    )
    arguments = arguments_of(unit, 1)
    texts = [body.decode() for body in bodies]
    assert apart(arguments[KINDS]) == [EventKind.TEXT_DELTA.value] * len(bodies)
    assert [apart(arguments[place]) for place in (FACTS, AUDIT, VALUES)] == [texts] * 3
    assert apart(arguments[NAMES]) == [f"k{place}" for place in range(len(bodies))]


def test_no_kind_of_event_holds_what_stands_between() -> None:
    assert all(kind.isprintable() for kind in EventKind)
    assert all(f"string_to_array(${place + 1}, '{APART}')" in APPLY for place in JOINED)


@pytest.mark.parametrize("status", RunStatus)
def test_statuses_come_apart_as_they_were(status: RunStatus) -> None:
    """Those that may be left for another, and those that are expected."""
    expect = Expect(statuses=frozenset({RunStatus.CREATED, status}))
    unit = dataclasses.replace(everything(), create=None, status=status, expect=expect)
    arguments = arguments_of(unit, 1)
    left = {old.value for old, news in RUN_TRANSITIONS.items() if status in news} | {status.value}
    assert set(apart(arguments[LEFT])) == left
    assert set(apart(arguments[EXPECTED])) == {"created", status.value}


@pytest.mark.parametrize("key", ["", "a\x1fb"])
def test_a_payload_without_a_name_is_the_units_own_fault(key: str) -> None:
    with pytest.raises(OurBug, match="name"):
        arguments_of(dataclasses.replace(everything(), payloads=[(key, b"1")]), 1)


@pytest.mark.parametrize("body", [b"", b'"a\x1fb"'])
def test_what_is_no_json_is_the_units_own_fault(body: bytes) -> None:
    of_a_unit = ({"events": [(EventKind.TEXT_DELTA, body)]}, {"audit": [body]}, {"payloads": [("k", body)]})
    for change in of_a_unit:
        with pytest.raises(OurBug, match="JSON"):
            arguments_of(dataclasses.replace(everything(), **change), 1)
