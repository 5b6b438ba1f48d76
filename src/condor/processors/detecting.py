"""Finding things in texts: what libraries read, in pieces of bounded length so that none takes long."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any, NamedTuple

from condor.core.errors import RefusedInput
from condor.processors.configuration import SCANNED_CHARS_MAX

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

#: Characters of one piece; some patterns of the libraries are quadratic in the length of what they read.
_PIECE_CHARS = 2_000
#: Characters that neighbouring pieces share, so that nothing is cut in two.
_SHARED_CHARS = 200


class Found(NamedTuple):
    """Something found: the characters from ``start`` to before ``end``, and a word for what it is."""

    start: int
    end: int
    kind: str


def library(name: str, processor: str) -> Any:
    """A library of the extra.

    Raises:
        RefusedInput: it is not installed.
    """
    try:
        return importlib.import_module(name)
    except ImportError:
        raise RefusedInput(
            f"processor {processor} needs {name}, which is not installed; install condor-runtime[processors]"
        ) from None


def in_pieces(text: str, find: Callable[[str], Sequence[Found]], processor: str) -> list[Found]:
    """Everything found in a text, in order, without overlaps.

    Raises:
        RefusedInput: the text is longer than is read.
    """
    if len(text) > SCANNED_CHARS_MAX:
        raise RefusedInput(
            f"the message has {len(text)} characters; {processor} reads {SCANNED_CHARS_MAX}", code="too_large"
        )
    every = sorted(
        Found(found.start + at, found.end + at, found.kind)
        for at, piece in _pieces(text)
        for found in find(piece)
    )
    return list(_apart(every))


def _pieces(text: str) -> Iterator[tuple[int, str]]:
    for at in range(0, max(len(text), 1), _PIECE_CHARS):
        yield at, text[at : at + _PIECE_CHARS + _SHARED_CHARS]


def _apart(found: Sequence[Found]) -> Iterator[Found]:
    end = -1
    for one in found:
        if one.start >= end:
            end = one.end
            yield one


def redacted(text: str, found: Sequence[Found]) -> str:
    """The text with a word in place of everything found."""
    parts, at = [], 0
    for one in found:
        parts += [text[at : one.start], f"[{one.kind}]"]
        at = one.end
    return "".join([*parts, text[at:]])


def counted(found: Sequence[Found]) -> dict[str, int]:
    """How many of each kind; never the text."""
    kinds = sorted({one.kind for one in found})
    return {kind: sum(one.kind == kind for one in found) for kind in kinds}


def in_sentences(held: str, *, ends: bool) -> tuple[str, str]:
    """What of a stream is whole sentences by now, and the rest to hold back."""
    if ends:
        return held, ""
    at = max(held.rfind(sign) + len(sign) for sign in (". ", "! ", "? ", "\n"))
    if at <= 1 and len(held) > _PIECE_CHARS:
        at = held.rfind(" ") + 1 or len(held)
    return (held[:at], held[at:]) if at > 1 else ("", held)
