"""The selects of the reading side, and the rows they become.

Law: a value that no enumeration has (a hand-edited database) is an error that names it, never a guess.
"""

from __future__ import annotations

from typing import Any, Final

from condor.core.errors import RecordDamaged, show
from condor.core.outcome import StepStatus
from condor.core.run import EventKind, RunStatus
from condor.ports.store import AuditRow, RunRow, StepRow, StoredEvent, SuspensionRow

RUN: Final = """SELECT run_id, tenant_id, session_id, status, epoch, rev, seq, answers, audit_seq, audit_head,
    CAST(requester AS BLOB), autonomy, CAST(halt AS BLOB), created_at, updated_at, worked_ms
    FROM run"""
STEP: Final = "SELECT step_id, status, attempt, key, code FROM step"
SUSPENSION: Final = """SELECT suspend_id, run_id, tenant_id, step_id, generation, reason_code, origin,
    contract_hash, tool, opened_at, expires_at, CAST(facts AS BLOB), status, decided_by, decided_at, consumed,
    tier, requester, subject FROM suspension"""
EVENT: Final = "SELECT seq, kind, at, CAST(facts AS BLOB) FROM event"
PAYLOAD: Final = "SELECT key, CAST(value AS BLOB) FROM payload"
#: Casts, because a row that was tampered with may hold any type, and must be judged all the same.
AUDIT: Final = """SELECT CAST(run_id AS TEXT), CAST(seq AS INTEGER), CAST(body AS BLOB),
    CAST(prev_hash AS TEXT), CAST(hash AS TEXT) FROM audit"""

# An enumeration's own call looks its members up three times slower.
_RUN_STATUS: Final = {status.value: status for status in RunStatus}
_STEP_STATUS: Final = {status.value: status for status in StepStatus}
_EVENT_KIND: Final = {kind.value: kind for kind in EventKind}

#: One row as the driver gives it.
Raw = tuple[Any, ...]


def run_of(row: Raw) -> RunRow:
    """A row of ``RUN``.

    Raises:
        RecordDamaged: a status that no run has.
    """
    status = _RUN_STATUS.get(row[3])
    if status is None:
        raise RecordDamaged(row[0], f"its status is {show(row[3])}")
    return RunRow(
        run_id=row[0],
        tenant_id=row[1],
        session_id=row[2],
        status=status,
        epoch=row[4],
        rev=row[5],
        seq=row[6],
        answers=row[7],
        audit_seq=row[8],
        audit_head=row[9],
        requester=row[10],
        autonomy=row[11],
        halt=row[12],
        created_at=row[13],
        updated_at=row[14],
        worked_ms=row[15],
    )


def step_of(row: Raw, run_id: str) -> StepRow:
    """A row of ``STEP``.

    Raises:
        RecordDamaged: a status that no step has.
    """
    status = _STEP_STATUS.get(row[1])
    if status is None:
        raise RecordDamaged(run_id, f"the status of its step {show(row[0])} is {show(row[1])}")
    return StepRow(step_id=row[0], status=status, attempt=row[2], key=row[3], code=row[4])


def suspension_of(row: Raw) -> SuspensionRow:
    """A row of ``SUSPENSION``."""
    return SuspensionRow(
        suspend_id=row[0],
        run_id=row[1],
        tenant_id=row[2],
        step_id=row[3],
        generation=row[4],
        reason_code=row[5],
        origin=row[6],
        contract_hash=row[7],
        tool=row[8],
        opened_at=row[9],
        expires_at=row[10],
        facts=row[11],
        status=row[12],
        decided_by=row[13],
        decided_at=row[14],
        consumed=bool(row[15]),
        tier=row[16],
        requester=row[17],
        subject=row[18],
    )


def event_of(row: Raw) -> StoredEvent:
    """A row of ``EVENT``."""
    return StoredEvent(seq=row[0], kind=_EVENT_KIND.get(row[1]) or EventKind(row[1]), at=row[2], facts=row[3])


def audit_of(row: Raw) -> AuditRow:
    """A row of ``AUDIT``."""
    return AuditRow(run_id=row[0], seq=row[1], body=row[2], prev_hash=row[3], hash=row[4])
