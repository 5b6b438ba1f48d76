"""What can be read of a store: runs, cards, the audit. Nothing here changes anything.

Law: who may read what is decided above, by whoever knows who asks.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property, partial
from typing import TYPE_CHECKING

from condor.core.errors import RecordDamaged, UnknownId
from condor.core.recovery import DEFAULT_LIMITS
from condor.ports.counts import Counts
from condor.ports.store import OPEN_CARDS, AuditFilter, AuditRow, CardFilter
from condor.runtime.audit_filter import checked_audit
from condor.runtime.inbox import checked_filter, checked_order
from condor.runtime.sealing import Sealing
from condor.runtime.snapshot import request_of, run_line, run_snapshot, suspension_json

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from condor.core.ids import Json
    from condor.core.recovery import Limits


class Readings(Sealing):
    """Everything that can be listed and shown."""

    #: Ceilings that the budgets of runs are shown against.
    _limits: Limits = DEFAULT_LIMITS

    async def show(self, run_id: str) -> dict[str, Json]:
        """The snapshot of a run as it is now.

        Raises:
            UnknownId: no such run.
        """
        stored = await self._stored().load(run_id)
        if stored is None:
            raise UnknownId("run", run_id, "see `condor runs`")
        return _read(run_id, lambda: run_snapshot(stored, self._limits))

    async def runs(
        self, *, session_id: str | None = None, limit: int = 50, before: str = ""
    ) -> list[dict[str, Json]]:
        """Runs, newest first; ``before`` is the last run of the page before.

        Args:
            session_id: only those of this session.
        """
        store = self._stored()
        if session_id is None:
            rows = await store.runs(limit=limit, before=before)
        else:
            rows = await store.runs_of_session(session_id, limit=limit, before=before)
        found = []
        for row in rows:
            payloads = await store.payloads(row.run_id, ["request"])
            found.append(_read(row.run_id, partial(run_line, row, payloads)))
        return found

    async def pending(
        self, wanted: CardFilter = OPEN_CARDS, *, order: str = "oldest", limit: int = 50, after: str = ""
    ) -> list[dict[str, Json]]:
        """The inbox: open cards over all runs; ``after`` is the last card of the page before.

        Args:
            wanted: which of them; its status counts as ``pending``.
            order: ``oldest`` or ``newest`` first.

        Raises:
            RefusedInput: a filter that no card can meet, because there is no such word or time.
        """
        store = self._stored()
        wanted = checked_filter(replace(wanted, status="pending"))
        rows = await store.suspensions(wanted, order=checked_order(order), limit=limit, after=after)
        found = []
        for row in rows:
            payloads = await store.payloads(row.run_id, [f"card:{row.suspend_id}", "request"])
            card = _read(row.run_id, partial(suspension_json, row, payloads))
            found.append({**card, "request": request_of(payloads)})
        return found

    async def suspension(self, suspend_id: str) -> dict[str, Json]:
        """One suspension.

        Raises:
            UnknownId: no such card.
        """
        row = await self._stored().suspension(suspend_id)
        if row is None:
            raise UnknownId("card", suspend_id, "see `condor pending`")
        keys = [f"card:{suspend_id}", f"answer:{suspend_id}"]
        payloads = await self._stored().payloads(row.run_id, keys)
        return _read(row.run_id, lambda: suspension_json(row, payloads))

    @cached_property
    def counts(self) -> Counts:
        """How often something went wrong that was passed over: a processor that threw."""
        return Counts()

    async def audit(
        self, wanted: AuditFilter | None = None, *, limit: int = 1_000, after: tuple[str, int] = ("", 0)
    ) -> Sequence[AuditRow]:
        """Audit rows by run and sequence.

        Raises:
            RefusedInput: a filter that no row can meet, because there is no such word or time.
        """
        wanted = checked_audit(wanted or AuditFilter())
        return await self._stored().audit(wanted, limit=limit, after=after)


def _read(run_id: str, project: Callable[[], dict[str, Json]]) -> dict[str, Json]:
    """What is stored of a run, as an edge shows it.

    Raises:
        RecordDamaged: the projections are total on what Condor writes, so something else wrote this.
    """
    try:
        return project()
    except (ValueError, LookupError, TypeError, AttributeError) as fault:
        raise RecordDamaged(
            run_id, f"what is stored of it cannot be read ({type(fault).__name__})"
        ) from fault
