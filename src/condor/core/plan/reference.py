"""References to earlier results: ``{"$from": "s1", "path": "/json/pointer"}``.

Law 1: a reference that finds nothing gives *nothing*, never a neighbour or a default; the argument
is then missing, and a missing argument is asked for.
Law 2: what a reference finds is data. A reference inside it is never followed.
Law 3: ``{"$text": ["Dear ", {"$from": "s1", "path": "/name"}]}`` is one text made of its parts; without
one of them there is no text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING

from condor.core.ids import SCALARS
from condor.core.values import dataclass

if TYPE_CHECKING:
    from condor.core.ids import Json

#: The key that makes an object a reference.
FROM = "$from"
#: The key that makes an object a text made of parts: texts, and references to texts or numbers.
TEXT = "$text"

#: RFC 6901, section 3.
POINTER = re.compile(r"(?:/(?:[^~/]|~[01])*)*")
#: RFC 6901, section 4; ten digits are more items than any array has.
_INDEX = re.compile(r"0|[1-9][0-9]{0,9}")
#: Longest key printed, in characters: enough to recognise it.
_TOKEN_CHARS_MAX = 80


@dataclass(frozen=True, slots=True, kw_only=True)
class Reference:
    """One reference as the plan writes it."""

    step: str
    #: RFC 6901 pointer into the step's result; empty is the whole of it.
    path: str
    #: JSON pointer to where the reference stands in the arguments.
    at: str


class _Missing:
    """The result of a reference that finds nothing."""


MISSING = _Missing()


def is_reference(value: object) -> bool:
    """Whether a JSON value is a reference."""
    return isinstance(value, Mapping) and FROM in value


def escape_token(token: str) -> str:
    """A key as one RFC 6901 token."""
    return token.replace("~", "~0").replace("/", "~1")


def shown_token(key: str) -> str:
    """A foreign key as one token of a pointer that is printed: cut, and with no invisible character."""
    if len(key) <= _TOKEN_CHARS_MAX and key.isidentifier():
        return key  # letters, digits and underscores: nothing to cut, hide or escape
    kept = key if len(key) <= _TOKEN_CHARS_MAX else key[:_TOKEN_CHARS_MAX] + "…"
    return escape_token("".join(char if char.isprintable() else ascii(char)[1:-1] for char in kept))


def find_references(value: Json, at: str = "") -> Iterator[Reference]:
    """Every reference in a JSON value, in order."""
    if type(value) in SCALARS:
        return
    if type(value) is dict or isinstance(value, Mapping):
        if FROM in value:
            yield Reference(step=str(value[FROM]), path=str(value.get("path", "")), at=at)
            return
        for key, item in value.items():
            yield from find_references(item, f"{at}/{escape_token(key)}")
    elif isinstance(value, list | tuple):
        for index, item in enumerate(value):
            yield from find_references(item, f"{at}/{index}")


def point(value: Json, path: str) -> Json | _Missing:
    """What an RFC 6901 pointer finds in ``value``, or ``MISSING``."""
    if not POINTER.fullmatch(path):
        return MISSING
    found: Json = value
    for raw in path.split("/")[1:]:
        token = raw.replace("~1", "/").replace("~0", "~")
        if (type(found) is dict or isinstance(found, Mapping)) and token in found:
            found = found[token]
        elif isinstance(found, list | tuple) and _INDEX.fullmatch(token) and int(token) < len(found):
            found = found[int(token)]
        else:
            return MISSING
    return found


def resolve_references(value: Json, result_of: Callable[[str], Json | _Missing]) -> Json | _Missing:
    """``value`` with every reference replaced by what it finds.

    A value with a reference in it that finds nothing (or null) is missing as a whole: without that part
    it would be another value than was planned.

    Args:
        result_of: the result of a step, or ``MISSING`` when it has none.
    """
    if type(value) in SCALARS:
        return value
    if type(value) is dict or isinstance(value, Mapping):
        if FROM in value:
            return _found(result_of(str(value[FROM])), str(value.get("path", "")))
        if TEXT in value:
            return _text(resolve_references(value[TEXT], result_of))
        members: dict[str, Json] = {}
        for key, part in value.items():
            member = resolve_references(part, result_of)
            if isinstance(member, _Missing):
                return MISSING
            members[key] = member
        return members
    if isinstance(value, list | tuple):
        items: list[Json] = []
        for part in value:
            item = resolve_references(part, result_of)
            if isinstance(item, _Missing):
                return MISSING
            items.append(item)
        return items
    return value


def _found(result: Json | _Missing, path: str) -> Json | _Missing:
    """What a reference finds in a step's result; null is nothing."""
    found = MISSING if isinstance(result, _Missing) else point(result, path)
    return MISSING if found is None else found


def _text(parts: Json | _Missing) -> str | _Missing:
    """The parts as one text; missing where one of them is neither text nor number."""
    if not isinstance(parts, list) or not all(type(part) in (str, int, float) for part in parts):
        return MISSING
    return "".join(map(str, parts))
