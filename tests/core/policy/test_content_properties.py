"""Laws of the content scan over any JSON."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from condor.core.policy import destructive_content
from tests.core.strategies import json_objects, json_values, junk

SEEDS: list[Any] = [
    {"request": {"method": "DELETE", "url": "x"}},
    {"op": "remove", "path": "/x"},
    {"status": "entered-in-error"},
    {"verificationStatus": {"coding": [{"code": "refuted"}]}},
    {"name": "type", "valueCode": "delete"},
]
#: No word of the scan can be spelled with these.
quiet_texts = st.text(alphabet="xyz .0\u00e9", max_size=8)
quiet_values = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), quiet_texts),
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(quiet_texts, inner, max_size=4)),
    max_leaves=10,
)


@st.composite
def hidden_removals(draw: st.DrawFn) -> Any:
    """A removal somewhere in a JSON value: in lists, objects and texts, beside anything."""
    value = draw(st.sampled_from(SEEDS))
    for _ in range(draw(st.integers(0, 8))):
        match draw(st.sampled_from(["list", "object", "object", "text"])):
            case "list":
                beside = st.lists(json_values, max_size=1)
                value = [*draw(beside), value, *draw(beside)]
            case "object":
                value = {**draw(json_objects), draw(st.text(max_size=6)): value}
            case _:
                if len(str(value)) < 2000:  # each text in a text doubles the backslashes
                    value = json.dumps(value, ensure_ascii=draw(st.booleans()))
    return value


@given(hidden_removals())
def test_a_removal_is_found_at_any_place_and_depth(value: Any) -> None:
    """However deep and beside whatever, a removal is seen."""
    assert destructive_content(value)


@given(quiet_values)
def test_what_says_nothing_of_a_removal_is_quiet(value: Any) -> None:
    """The scan does not cry wolf over plain JSON."""
    assert not destructive_content(value)


@given(junk)
def test_the_scan_is_total(value: Any) -> None:
    """Whatever is handed in, the answer is yes or no."""
    assert destructive_content(value) in (True, False)


@given(json_objects, json_objects)
def test_more_content_is_never_less_destructive(first: dict[str, Any], second: dict[str, Any]) -> None:
    """A removal cannot be undone by what is put beside it."""
    if destructive_content(first):
        assert destructive_content({**second, **first})
        assert destructive_content([second, first])
