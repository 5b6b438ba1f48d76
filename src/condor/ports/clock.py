"""Time, ids and randomness: the only way they enter.

Law: nothing else in Condor calls ``time``, ``datetime.now``, ``uuid`` or ``random``; a test that
hands in a world of its own sees every one of them.
"""

from __future__ import annotations

import datetime
import os
import time
from functools import lru_cache
from typing import Protocol

_UTC = datetime.UTC
#: Every millisecond of a second, as it is written.
_MILLISECONDS = tuple(f".{part:03d}Z" for part in range(1_000))
#: Crockford's base 32: no letter that is taken for a digit.
_ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"
#: 130 bits are 13 pairs of its letters.
_PAIRS = [first + second for first in _ALPHABET for second in _ALPHABET]


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


class SystemClock:
    """The machine's clocks, and ids of 48 bits of time and 80 of chance (as ULID), ordered in a process."""

    def __init__(self) -> None:
        """Start at now."""
        self._last = 0

    def now(self) -> datetime.datetime:
        """Wall time, UTC."""
        return datetime.datetime.now(_UTC)

    def monotonic(self) -> float:
        """Seconds that never go back."""
        return time.monotonic()

    def new_id(self, prefix: str) -> str:
        """``prefix_`` and 26 characters."""
        value = (time.time_ns() // 1_000_000) << 80 | int.from_bytes(os.urandom(10))
        if value <= self._last:
            value = self._last + 1
        self._last = value
        return f"{prefix}_" + "".join([_PAIRS[value >> shift & 1023] for shift in range(120, -10, -10)])


def timestamp(moment: datetime.datetime) -> str:
    """RFC 3339 in UTC with milliseconds and ``Z``: one width, so that text order is time order."""
    at = moment if moment.tzinfo is _UTC else moment.astimezone(_UTC)
    return _to_the_second(at.date(), at.hour, at.minute, at.second) + _MILLISECONDS[at.microsecond // 1_000]


@lru_cache(maxsize=16)
def _to_the_second(day: datetime.date, hour: int, minute: int, second: int) -> str:
    # A run writes the time some 17 times, and most of them fall into the same second.
    return f"{day.isoformat()}T{hour:02d}:{minute:02d}:{second:02d}"
