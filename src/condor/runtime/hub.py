"""Who watches which run. Woken after a commit, never before; a watcher then reads the store."""

from __future__ import annotations

import asyncio
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


class EventHub:
    """One ``asyncio.Event`` a watcher, indexed by run."""

    def __init__(self) -> None:
        """Nobody watches yet."""
        self._watchers: dict[str, set[asyncio.Event]] = {}

    def announce(self, run_id: str, _last_seq: int) -> None:
        """Something of this run was committed."""
        for woken in self._watchers.get(run_id, ()):
            woken.set()

    @contextmanager
    def watching(self, run_id: str) -> Iterator[asyncio.Event]:
        """An event that is set at every commit of this run."""
        woken = asyncio.Event()
        watchers = self._watchers.setdefault(run_id, set())
        watchers.add(woken)
        try:
            yield woken
        finally:
            watchers.discard(woken)
            if not watchers:
                self._watchers.pop(run_id, None)
