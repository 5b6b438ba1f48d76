"""JSON values as lines on a terminal: whole, exact, and safe to draw."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping

from condor.cli.visible import visible, visible_word

_INDENT = "  "


def value_lines(value: object, *, quoted: bool = True) -> list[str]:
    """Every part of a value, one a line; a simple value is one line.

    Args:
        quoted: texts stand in quotes, so that ``"5"`` and ``5`` differ.
    """
    return list(_lines(value, quoted=quoted))


def count(number: int, noun: str) -> str:
    """``1 chain``, ``2 chains``."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _lines(value: object, *, quoted: bool) -> Iterator[str]:
    if isinstance(value, Mapping):
        if not value:
            yield "{}"
        for key, item in value.items():
            yield from _under(f"{visible_word(key)}:", item, quoted=quoted)
    elif isinstance(value, list | tuple):
        if not value:
            yield "[]"
        for item in value:
            yield from _under("-", item, quoted=quoted)
    else:
        yield _simple(value, quoted=quoted)


def _under(head: str, item: object, *, quoted: bool) -> Iterator[str]:
    """``key: value`` on one line, or the key with its parts indented below."""
    if isinstance(item, Mapping | list | tuple) and item:
        yield head
        yield from (_INDENT + line for line in _lines(item, quoted=quoted))
    else:
        yield f"{head} {next(_lines(item, quoted=quoted))}"


def _simple(value: object, *, quoted: bool) -> str:
    if isinstance(value, str):
        return f'"{visible(value)}"' if quoted else visible(value)
    if value is None or isinstance(value, bool | int | float):
        return json.dumps(value)
    return visible(value)


__all__ = ["count", "value_lines"]
