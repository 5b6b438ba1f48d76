"""Counting what went wrong and was passed over: an observer that threw costs a run nothing, but is seen."""

from __future__ import annotations

from typing import Protocol


class Count(Protocol):
    """Counts one occurrence."""

    def __call__(self, what: str) -> None:
        """Count it.

        Args:
            what: a word of a closed set, never a word of a record.
        """
        ...


def uncounted(what: str) -> None:
    """Nobody counts."""
    del what
