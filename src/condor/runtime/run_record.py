"""A run's whole record, gathered to be shown in another form.

Law: the audit is read before the run, so that nothing is told as executed whose outcome is not beside it.
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from condor.core.errors import UnknownId
from condor.core.run import Principal
from condor.ports.encoding import decode
from condor.ports.mounts import RunRecord
from condor.ports.store import AuditFilter
from condor.runtime.snapshot import audit_json

if TYPE_CHECKING:
    from condor.ports.store import AuditRow, Store, StoredRun
    from condor.runtime.readings import Readings

#: Audit rows read at once.
_PAGE = 1_000


async def run_record(readings: Readings, store: Store, run_id: str) -> RunRecord:
    """A run and its audit rows as they are now.

    Args:
        store: what ``readings`` reads.

    Raises:
        UnknownId: no such run.
    """
    rows: list[AuditRow] = []
    after = ("", 0)
    while page := await readings.audit(AuditFilter(run_id=run_id), limit=_PAGE, after=after):
        rows += page
        after = (page[-1].run_id, page[-1].seq)
    stored = await store.load(run_id)
    if stored is None:
        raise UnknownId("run", run_id, "see `condor runs`")
    return RunRecord(
        snapshot=await readings.show(run_id),
        audit=[audit_json(row) for row in rows],
        keys={row.step_id: row.key for row in stored.steps if row.key},
        roles=_roles(stored),
    )


def _roles(stored: StoredRun) -> dict[str, list[str]]:
    """Roles of who asked and of who answered; what was erased or is damaged names nobody."""
    answers = [body for key, body in stored.payloads.items() if key.startswith("answer:")]
    found: dict[str, list[str]] = {}
    for body in (stored.run.requester, *answers):
        with contextlib.suppress(ValueError, LookupError, TypeError):
            said = decode(body)
            who = Principal.from_json(said.get("by", said))
            found[who.id] = sorted(who.roles)
    return found


__all__ = ["run_record"]
