"""What changes anywhere, told to who may know of it: ids and states, no word of a record.

Law 1: changes are gathered for a moment, then each changed run is read once, whoever watches.
Law 2: who may not read a run is not told that it is there.
"""

from __future__ import annotations

import asyncio
import logging
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from condor.core.errors import StoreUnavailable
from condor.core.run import TERMINAL
from condor.ports.encoding import encode
from condor.runtime.access import cards_of, may_read, standing_of
from condor.runtime.snapshot import WIRE_VERSION
from condor.server.live.feed import Queue

if TYPE_CHECKING:
    from collections.abc import Iterator

    from condor.bootstrap import Condor
    from condor.core.run import Principal
    from condor.runtime.access import Standing

_log = logging.getLogger("condor.server")

#: Seconds that changes are gathered: a person sees no delay, a burst is read once.
_GATHER_S: Final = 0.05
#: Runs whose open cards are remembered, to tell which were opened and closed.
_REMEMBERED_MAX: Final = 10_000


class Inbox:
    """Everybody who watches for changes."""

    def __init__(self, condor: Condor) -> None:
        """Nobody watches yet."""
        self._condor = condor
        self._watchers: dict[Queue, Principal] = {}
        #: Open cards as they were last told, by run.
        self._open: dict[str, frozenset[str]] = {}

    @contextmanager
    def watching(self, who: Principal) -> Iterator[Queue]:
        """Changes that this principal may know of, from now on."""
        queue = Queue()
        queue.write(b'event: ready\ndata: {"v":%d}\n\n' % WIRE_VERSION)
        self._watchers[queue] = who
        try:
            yield queue
        finally:
            self._watchers.pop(queue, None)

    def end(self) -> None:
        """Let everybody go."""
        for queue in self._watchers:
            queue.end()

    async def tell(self) -> None:
        """Tell changes for as long as the server lives."""
        with self._condor.hub.overseeing() as changes:
            while True:
                await changes.woken.wait()
                await asyncio.sleep(_GATHER_S)
                for run_id in sorted(changes.take()):
                    try:
                        await self._tell(run_id)
                    except StoreUnavailable as fault:
                        _log.error("a change could not be told", exc_info=fault)

    async def _tell(self, run_id: str) -> None:
        if not self._watchers:
            self._open.clear()
            return
        run = await self._condor.store.run(run_id)
        if run is None:
            return
        cards = await cards_of(self._condor.store, run_id)
        is_open = frozenset(card.suspend_id for card in cards if card.status == "pending")
        before = self._open.pop(run_id, frozenset())
        if run.status not in TERMINAL:
            self._open[run_id] = is_open
            while len(self._open) > _REMEMBERED_MAX:
                del self._open[next(iter(self._open))]
        change = {"v": WIRE_VERSION, "runId": run_id, "status": run.status, "seq": run.seq}
        told = b"event: run\ndata: %b\n\n" % encode({**change, "updatedAt": run.updated_at})
        if is_open != before:
            moved = {"opened": sorted(is_open - before), "closed": sorted(before - is_open)}
            told += b"event: inbox\ndata: %b\n\n" % encode({"v": WIRE_VERSION, "runId": run_id, **moved})
        self._send(standing_of(run, cards), told)

    def _send(self, run: Standing, told: bytes) -> None:
        knows: dict[str, bool] = {}
        for queue, who in self._watchers.items():
            if who.id not in knows:
                knows[who.id] = may_read(who, run)
            if knows[who.id]:
                queue.write(told)


__all__ = ["Inbox"]
