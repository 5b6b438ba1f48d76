"""Time, ids and randomness: the only way they enter.

Law: nothing else in Condor calls ``time``, ``datetime.now``, ``uuid`` or ``random``; a test that
hands in a world of its own sees every one of them.
"""

from __future__ import annotations

import datetime
from typing import Protocol


class Clock(Protocol):
    """Wall time for people, monotonic time for budgets, ids that sort by time."""

    def now(self) -> datetime.datetime:
        """Wall time, UTC, timezone-aware."""
        ...

    def monotonic(self) -> float:
        """Seconds that never go back."""
        ...

    def new_id(self, prefix: str) -> str:
        """``prefix_`` and 26 characters that sort by time of minting; unique over processes."""
        ...


def timestamp(moment: datetime.datetime) -> str:
    """RFC 3339 in UTC with milliseconds and ``Z``: one width, so that text order is time order."""
    return (
        moment.astimezone(datetime.UTC).strftime("%Y-%m-%dT%H:%M:%S.") + f"{moment.microsecond // 1000:03d}Z"
    )
