"""A limit on tries that were refused, by whoever makes them: a bucket that refills."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

from condor.server.problems import Refused

if TYPE_CHECKING:
    from condor.ports.clock import Clock

#: Names that are remembered; the one longest refused is forgotten first.
_NAMES_MAX: Final = 10_000


class Throttle:
    """So many refusals at once, then so many a second."""

    def __init__(self, *, burst: int, per_s: float, clock: Clock) -> None:
        """Nobody was refused yet."""
        self._burst, self._per_s, self._clock = burst, per_s, clock
        #: Refusals not yet forgiven, and when they were counted, by name.
        self._refused: dict[str, tuple[float, float]] = {}

    def check(self, name: str) -> None:
        """Refuse who was refused too often.

        Raises:
            Refused: ``too_many_requests``.
        """
        if self._standing(name) > self._burst - 1:
            wait_s = math.ceil(1 / self._per_s)
            raise Refused("too_many_requests", f"too many refused tries; wait {wait_s} s", retryAfterS=wait_s)

    def count(self, name: str) -> None:
        """One more refusal."""
        standing = self._standing(name) + 1
        self._refused.pop(name, None)
        self._refused[name] = (standing, self._clock.monotonic())
        while len(self._refused) > _NAMES_MAX:
            del self._refused[next(iter(self._refused))]

    def _standing(self, name: str) -> float:
        count, at = self._refused.get(name, (0.0, 0.0))
        return max(0.0, count - (self._clock.monotonic() - at) * self._per_s)


__all__ = ["Throttle"]
