"""Before and after of a record, as lines that stay, go and come."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Literal

from condor.cli.values import value_lines

Mark = Literal[" ", "-", "+"]


@dataclass(frozen=True, slots=True, kw_only=True)
class DiffLine:
    """One line of a difference."""

    mark: Mark
    #: Where in the record, as ``medicines`` or ``status/code``; empty at the top.
    path: str
    #: Safe to draw.
    text: str


def diff_lines(before: object, after: object) -> list[DiffLine]:
    """Every line of both, none left out."""
    return list(_compared(before, after, ""))


def _compared(before: object, after: object, path: str) -> Iterator[DiffLine]:
    if isinstance(before, Mapping) and isinstance(after, Mapping):
        for key in [*before, *(key for key in after if key not in before)]:
            yield from _compared(before.get(key), after.get(key), _under(path, key))
    elif _is_list(before) and _is_list(after):
        yield from _compared_lists(_items(before), _items(after), path)
    elif before == after:
        yield from _all(before, path, " ")
    else:
        yield from _all(before, path, "-")
        yield from _all(after, path, "+")


def _compared_lists(before: list[str], after: list[str], path: str) -> Iterator[DiffLine]:
    matcher = SequenceMatcher(a=before, b=after, autojunk=False)
    for kind, first, last, other_first, other_last in matcher.get_opcodes():
        if kind == "equal":
            yield from (DiffLine(mark=" ", path=path, text=text) for text in before[first:last])
            continue
        yield from (DiffLine(mark="-", path=path, text=text) for text in before[first:last])
        yield from (DiffLine(mark="+", path=path, text=text) for text in after[other_first:other_last])


def _all(value: object, path: str, mark: Mark) -> Iterator[DiffLine]:
    """One side alone; nothing for what is not there."""
    if value is None:
        return
    if isinstance(value, Mapping):
        for key, item in value.items():
            yield from _all(item, _under(path, key), mark)
    elif _is_list(value):
        yield from (DiffLine(mark=mark, path=path, text=text) for text in _items(value))
    else:
        yield from (DiffLine(mark=mark, path=path, text=text) for text in value_lines(value, quoted=False))


def _is_list(value: object) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str | bytes)


def _items(value: object) -> list[str]:
    assert isinstance(value, Sequence), "asked of lists"
    return [" ".join(value_lines(item, quoted=False)) for item in value]


def _under(path: str, key: object) -> str:
    return f"{path}/{key}" if path else str(key)


__all__ = ["DiffLine", "diff_lines"]
