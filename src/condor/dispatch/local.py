"""Segments in this process's event loop.

Law: a task is held here from its start to its end, so none is lost to the garbage collector and none
outlives the runtime.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Coroutine


class LocalDispatcher:
    """Runs work as tasks of the running loop."""

    def __init__(self) -> None:
        """Nothing runs yet."""
        self._tasks: set[asyncio.Task[None]] = set()

    def dispatch(self, name: str, work: Coroutine[Any, Any, None]) -> None:
        """Begin ``work`` as a task."""
        task = asyncio.create_task(work, name=name)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def drain(self, grace_s: float) -> None:
        """Wait for what runs, then cancel what is left: its runs go on at the next start."""
        loop = asyncio.get_running_loop()
        until = loop.time() + grace_s
        while self._tasks and (left_s := until - loop.time()) > 0:
            await asyncio.wait(self._tasks, timeout=left_s)
        late = list(self._tasks)
        for task in late:
            task.cancel()
        await asyncio.gather(*late, return_exceptions=True)
