"""One way to write JSON and two ways to read it: our own bytes back, and strangers' bytes, strictly.

Law: what comes from outside is refused before anything is stored when it is too long, too deep, has
a duplicate key, NaN, a lone surrogate, or a number that cannot be held exactly.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, NoReturn

import orjson

from condor.core.errors import RefusedInput, show
from condor.core.ids import SAFE_INTEGER_MAX

#: Longest body, in bytes: a plan of 2,000 steps fits.
BODY_BYTES_MAX = 256 * 1024
#: Deepest nesting of a body.
BODY_DEPTH_MAX = 32

_OPTIONS = (
    orjson.OPT_PASSTHROUGH_SUBCLASS | orjson.OPT_PASSTHROUGH_DATACLASS | orjson.OPT_PASSTHROUGH_DATETIME
)


def _plain(value: object) -> object:
    if isinstance(value, str):  # a StrEnum
        return str.__str__(value)
    if isinstance(value, int):  # bool is none: orjson writes it itself
        return int(value)
    if isinstance(value, float):
        return float(value)
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, list | tuple | set | frozenset):
        return list(value)
    raise TypeError(f"{type(value).__name__} is not JSON")


def encode(value: object) -> bytes:
    """Compact JSON bytes.

    Raises:
        TypeError: the value is not JSON.
    """
    try:
        return orjson.dumps(value, _plain, _OPTIONS)
    except TypeError:
        # A key that is a subclass of str has no default to pass through.
        return orjson.dumps(_all_plain(value), _plain, _OPTIONS)


def _all_plain(value: object) -> object:
    """Containers as dict and list, with plain keys."""
    if isinstance(value, Mapping):
        return {_plain_key(key): _all_plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_all_plain(item) for item in value]
    return value


def _plain_key(key: object) -> str:
    if not isinstance(key, str):
        raise TypeError(f"a key is {type(key).__name__}, not a text")
    return str.__str__(key)


def decode(body: bytes) -> Any:
    """JSON that we wrote."""
    return orjson.loads(body)


def read_strict_json(body: bytes | str, what: str = "the body") -> Any:
    """JSON that a stranger wrote.

    Raises:
        RefusedInput: with what is wrong; ``code`` is ``too_large``, ``too_deep``, ``duplicate_key`` or
            ``malformed_json``.
    """
    raw = body.encode("utf-8", "surrogatepass") if isinstance(body, str) else body
    if len(raw) > BODY_BYTES_MAX:
        raise RefusedInput(f"{what} has {len(raw)} bytes; at most {BODY_BYTES_MAX}", code="too_large")
    _check_depth(raw, what)
    try:
        value = json.loads(
            raw, object_pairs_hook=_no_duplicates, parse_constant=_no_constants, parse_int=_exact_integer
        )
        orjson.dumps(value)
    except (ValueError, TypeError, RecursionError) as fault:
        if isinstance(fault, _DuplicateKeyError):
            raise RefusedInput(
                f"{what} says {show(fault.args[0])} twice; say it once", code="duplicate_key"
            ) from None
        raise RefusedInput(
            f"{what} is not JSON that can be kept: {_reason(fault)}", code="malformed_json"
        ) from None
    return value


class _DuplicateKeyError(ValueError):
    """A key that stands twice in one object."""


def _no_duplicates(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) < len(pairs):
        seen: set[str] = set()
        raise _DuplicateKeyError(next(key for key, _ in pairs if key in seen or seen.add(key)))  # type: ignore[func-returns-value]
    return found


def _no_constants(name: str) -> NoReturn:
    raise ValueError(f"the constant {name} is no number")


def _exact_integer(text: str) -> int:
    value = int(text) if len(text) < 18 else None
    if value is None or abs(value) > SAFE_INTEGER_MAX:
        raise ValueError("an integer beyond 2**53 cannot be held exactly; write it as a string")
    return value


def _check_depth(raw: bytes, what: str) -> None:
    """Count brackets outside strings before a parser recurses into them."""
    depth, in_string, escaped = 0, False, False
    for byte in raw:
        if in_string:
            if escaped:
                escaped = False
            elif byte == 0x5C:
                escaped = True
            elif byte == 0x22:
                in_string = False
        elif byte == 0x22:
            in_string = True
        elif byte in b"[{":
            depth += 1
            if depth > BODY_DEPTH_MAX:
                raise RefusedInput(f"{what} nests deeper than {BODY_DEPTH_MAX} levels", code="too_deep")
        elif byte in b"]}":
            depth -= 1


def _reason(fault: BaseException) -> str:
    text = str(fault)
    if "surrogate" in text or isinstance(fault, TypeError):
        return "it holds a character that is no character (a lone surrogate)"
    return text[:1].lower() + text[1:]
