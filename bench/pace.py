"""How fast a core is just now, beside those that figures of time are set for.

A core that is shared with other machines runs at half its speed for seconds at a time, and nothing on this
machine says so: every figure of processor time doubles. So a piece of work that never changes is measured
beside each figure, and the figure is told as a core at its full speed would have had it. A slower work is as
slow by that measure as before.
"""

from __future__ import annotations

import re
import time
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable

#: Milliseconds that the piece of work takes on a core at full speed: of those that the figures were measured
#: on. One that takes 1.75 at its best took half as long again for the measured work as they did.
FULL_SPEED_MS: Final = 1.15
_TEXT: Final = "The potassium of Ann Ito was 5.1 mmol/l, and a message was not sent. " * 200
_WORD: Final = re.compile(r"\b[a-z]+(?:ed|ent|ium)\b|\d+\.\d", re.IGNORECASE)


def _piece_of_work() -> int:
    """Of the kinds that the measured work is of: expressions, dictionaries, texts, calls."""
    counted: dict[str, int] = {}
    for found in _WORD.finditer(_TEXT):
        word = found.group().casefold()
        counted[word] = counted.get(word, 0) + len(word)
    return sum(hash((word, number)) & 1 for word, number in sorted(counted.items()) for _ in range(500))


def slowness() -> float:
    """How many times slower than at full speed a core works now; 1 where it is as fast, or faster."""
    best = float("inf")
    for _ in range(3):
        begun = time.process_time()
        _piece_of_work()
        best = min(best, (time.process_time() - begun) * 1_000)
    return max(1.0, best / FULL_SPEED_MS)


def full_speed_ms(work: Callable[[], object], *, tries: int, enough: float = 0.0) -> float:
    """Processor time of the best of some tries on a core at full speed; another process takes none of it.

    Args:
        enough: a try that is faster is the last one.
    """
    best = float("inf")
    before = slowness()
    for _ in range(tries):
        begun = time.process_time()
        work()
        took = (time.process_time() - begun) * 1_000
        after = slowness()
        best = min(best, took / min(before, after))
        if best < enough:
            break
        before = after
    return best
