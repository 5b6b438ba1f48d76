"""What hypothesis draws for the core: JSON as strangers write it, and junk that is no JSON at all."""

from __future__ import annotations

from hypothesis import strategies as st

from condor.core.ids import SAFE_INTEGER_MAX

#: Text that has a canonical form: no lone surrogates.
texts = st.text(max_size=12)

json_scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-SAFE_INTEGER_MAX, SAFE_INTEGER_MAX),
    st.floats(allow_nan=False, allow_infinity=False),
    texts,
)

json_values = st.recursive(
    json_scalars,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4), st.dictionaries(texts, inner, max_size=4), st.tuples(inner, inner)
    ),
    max_leaves=8,
)

json_objects = st.dictionaries(texts, json_values, max_size=4)


class Liar:
    """Says that it is a text, equals everything and hashes like a read."""

    __class__ = str  # type: ignore[assignment]

    def __eq__(self, other: object) -> bool:
        return True

    def __hash__(self) -> int:
        return hash("read")

    def __repr__(self) -> str:
        return "Liar()"


class Thrower:
    """Throws whatever it is asked."""

    def __eq__(self, other: object) -> bool:
        raise RuntimeError("eq")

    def __hash__(self) -> int:
        raise RuntimeError("hash")

    def __bool__(self) -> bool:
        raise RuntimeError("bool")

    def __repr__(self) -> str:
        return "Thrower()"


class LyingText(str):
    """A text that claims to equal anything and to be lower-case harmlessness."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return True

    def __hash__(self) -> int:
        return hash("autonomous")

    def casefold(self) -> str:
        return "create"

    def lower(self) -> str:
        return "create"


#: Values that no JSON reader gives, but a Python caller can.
oddities = st.one_of(
    st.binary(max_size=6),
    st.sampled_from([float("nan"), float("inf"), 10**400, 1j, object, ..., b"read", {1: 2}, frozenset({1})]),
    st.sets(st.integers(), max_size=2),
    st.sampled_from(["\ud800", "a\udfff"]),
)

#: JSON and what is none of it, but says truly what it is.
honest_junk = st.one_of(
    json_values, oddities, st.lists(oddities, max_size=2), st.dictionaries(texts, oddities, max_size=2)
)

hostile = st.one_of(
    st.builds(Liar),
    st.builds(Thrower),
    st.builds(LyingText, st.sampled_from(["x", "Read", "hi", "delete"])),
)

junk = st.one_of(
    honest_junk, hostile, st.lists(hostile, max_size=2), st.dictionaries(texts, hostile, max_size=2)
)
