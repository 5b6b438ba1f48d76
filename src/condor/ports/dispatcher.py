"""The dispatcher port: where the segments of runs are worked on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Coroutine


class Dispatcher(Protocol):
    """Starts work and forgets it: the store alone is the truth, a lost job changes nothing."""

    def dispatch(self, name: str, work: Coroutine[Any, Any, None]) -> None:
        """Begin ``work`` soon; it handles its own errors."""
        ...

    async def drain(self, grace_s: float) -> None:
        """Wait for work to finish, at most ``grace_s`` seconds, then cancel the rest."""
        ...
