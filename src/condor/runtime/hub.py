"""Who watches which run, and who watches all. Woken after a commit, never before; then the store is read.

Law: a watcher is an ``asyncio.Event`` and costs nothing while nothing happens; nobody polls.
"""

from __future__ import annotations

import asyncio
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


class Changes:
    """The runs that something happened to since they were last taken."""

    def __init__(self) -> None:
        """Nothing happened yet."""
        self.woken = asyncio.Event()
        self._runs: set[str] = set()

    def add(self, run_id: str) -> None:
        """Something happened to a run."""
        self._runs.add(run_id)
        self.woken.set()

    def take(self) -> set[str]:
        """Those runs; none of them is given again unless something more happens to it."""
        taken, self._runs = self._runs, set()
        self.woken.clear()
        return taken


class EventHub:
    """One ``asyncio.Event`` a watcher, indexed by run."""

    def __init__(self) -> None:
        """Nobody watches yet."""
        self._watchers: dict[str, set[asyncio.Event]] = {}
        self._overseers: set[Changes] = set()

    def announce(self, run_id: str, _last_seq: int) -> None:
        """Something of this run was committed."""
        for woken in self._watchers.get(run_id, ()):
            woken.set()
        for changes in self._overseers:
            changes.add(run_id)

    def announce_all(self) -> None:
        """Anything may have been committed of any run that is watched."""
        for watchers in self._watchers.values():
            for woken in watchers:
                woken.set()

    @contextmanager
    def overseeing(self) -> Iterator[Changes]:
        """The runs that something is committed of, whichever they are."""
        changes = Changes()
        self._overseers.add(changes)
        try:
            yield changes
        finally:
            self._overseers.discard(changes)

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
