"""Identities, and the canonical bytes that identities and digests are made of.

Law 1: a digest is always SHA-256 over RFC 8785 (JCS) bytes, so that any language can check it.
Law 2: a value that JCS cannot carry (NaN, a lone surrogate, an integer beyond 2**53) has no
identity: it is refused here, and earlier at every edge.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NewType, TypeAlias

import rfc8785

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

RunId = NewType("RunId", str)
SessionId = NewType("SessionId", str)
StepId = NewType("StepId", str)
SuspendId = NewType("SuspendId", str)
TenantId = NewType("TenantId", str)
Digest = NewType("Digest", str)

#: A JSON value as Python holds it.
Json: TypeAlias = "bool | int | float | str | Sequence[Json] | Mapping[str, Json] | None"

#: Until tenants arrive every row carries this one.
DEFAULT_TENANT = TenantId("default")

#: Largest integer that every JSON reader holds exactly (RFC 8785 section 3.2.2.3, IEEE 754).
SAFE_INTEGER_MAX = 2**53 - 1

#: Real types of JSON values that hold no other value; asked before the slow question for a mapping.
SCALARS = frozenset({str, int, float, bool, type(None)})
#: Those of them that either encoder writes alike, whatever the value.
_ALWAYS_PLAIN = frozenset({str, bool, type(None)})

_LETTERS = "abcdefghijklmnopqrstuvwxyz234567"
#: 130 bits are 13 pairs of letters of base 32 (RFC 4648), in lower case.
_PAIRS = [first + second for first in _LETTERS for second in _LETTERS]


def _plain_encoder() -> Callable[[object], str]:
    """``JSONEncoder.encode``, but its part in C is made once and not for every value.

    That part is not documented; a Python without it takes the whole encoder.
    """
    plain = json.JSONEncoder(sort_keys=True, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    make = getattr(json.encoder, "c_make_encoder", None)
    if make is None:
        return plain.encode
    options = (plain.sort_keys, plain.skipkeys, plain.allow_nan)
    parts = make(None, plain.default, json.encoder.encode_basestring, None, ":", ",", *options)
    return lambda value: "".join(parts(value, 0))


_encode_plain = _plain_encoder()


def _is_plain(value: object) -> bool:
    """Whether ``json`` and JCS give the same bytes: ASCII keys, no floats, safe integers."""
    kind = type(value)
    if kind in _ALWAYS_PLAIN:
        return True
    if kind is int:
        return -SAFE_INTEGER_MAX <= value <= SAFE_INTEGER_MAX  # type: ignore[operator]
    if kind is dict:
        for key, item in value.items():  # type: ignore[attr-defined]
            if type(key) is not str or not key.isascii():
                return False
            if type(item) not in _ALWAYS_PLAIN and not _is_plain(item):
                return False
        return True
    if kind is list or kind is tuple:
        asked = [item for item in value if type(item) not in _ALWAYS_PLAIN]  # type: ignore[attr-defined]
        return all(map(_is_plain, asked))
    return False


def canonical_json(value: object) -> bytes:
    """The RFC 8785 bytes of a JSON value.

    Values whose bytes are equal either way take the standard library's encoder, which is
    twenty times faster; a property test holds the two together.

    Raises:
        ValueError: the value has no canonical form (NaN, lone surrogate, integer beyond 2**53,
            a key or value that is not JSON, nesting without end).
    """
    try:
        if _is_plain(value):
            return _encode_plain(value).encode()
        return rfc8785.dumps(value)  # type: ignore[arg-type]
    except RecursionError:
        raise ValueError("the value nests too deep to have a canonical form") from None


def digest_of(value: object) -> Digest:
    """``sha256:<hex>`` over the canonical bytes of ``value``."""
    return digest_of_bytes(canonical_json(value))


def digest_of_bytes(body: bytes) -> Digest:
    """``sha256:<hex>`` over ``body`` as it stands."""
    return Digest("sha256:" + hashlib.sha256(body).hexdigest())


def short_token(value: object) -> str:
    """26 base32 characters (130 bits) of the digest of ``value``, lower case."""
    bits = int.from_bytes(hashlib.sha256(canonical_json(value)).digest()) >> 256 - 130
    return "".join([_PAIRS[bits >> shift & 1023] for shift in range(120, -10, -10)])


def exact_word(value: object) -> str | None:
    """A text as the plain ``str`` it is; None for anything that is no text.

    Decided by the real type alone: no ``__class__``, ``__eq__`` or ``__hash__`` of a foreign object
    is asked.
    """
    kind = type(value)
    if kind is str:
        return value  # type: ignore[return-value]
    return str.__str__(value) if issubclass(kind, str) else None


def exact_scalar(value: object) -> bool | int | float | str | None:
    """A text, a number, a truth value or null as the plain value that is stored for it.

    A member of an enumeration that is a text is that text, whatever its own ``__str__`` says.

    Raises:
        TypeError: it is none of them.
    """
    kind = type(value)
    if kind in SCALARS:
        return value  # type: ignore[return-value]
    for plain in (str, int, float):
        if issubclass(kind, plain):
            # The plain type's own sum with nothing: no method of a foreign class is asked.
            return plain.__add__(value, plain())  # type: ignore[operator]
    raise TypeError(f"{kind.__name__} is not a text, a number, a truth value or null")


def own_copy(args: Mapping[str, Json]) -> dict[str, Any]:
    """A copy of arguments as they are stored and shown: plain JSON, whose parts nobody else holds.

    Raises:
        TypeError: there is something in it that is not JSON.
    """
    return {str.__str__(key): _own_part(value) for key, value in args.items()}


def _own_part(value: Any) -> Any:
    if type(value) in SCALARS:
        return value
    if isinstance(value, Mapping):
        return own_copy(value)
    if isinstance(value, list | tuple):
        return [_own_part(item) for item in value]
    return exact_scalar(value)


def kind_of(value: object) -> str:
    """What kind of JSON a foreign value is, for a message that must not quote it."""
    match value:
        case None:
            return "null"
        case bool():
            return "true or false"
        case int() | float():
            return "a number"
        case str():
            return "a text"
        case list() | tuple():
            return "an array"
        case dict():
            return "an object"
        case _:
            return "not JSON"
