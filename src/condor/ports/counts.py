"""Counting what went wrong and was passed over: an observer that threw costs a run nothing, but is seen."""

from __future__ import annotations

from collections import Counter
from typing import Protocol


class Count(Protocol):
    """Counts one occurrence."""

    def __call__(self, what: str) -> None:
        """Count it.

        Args:
            what: a word of a closed set, never a word of a record.
        """
        ...


class Counts(Counter[str]):
    """A process's own: how often each happened."""

    def __call__(self, what: str) -> None:
        """Count one occurrence."""
        self[what] += 1


def uncounted(what: str) -> None:
    """Nobody counts."""
    del what
