"""One unit of work as SQLite statements.

Law 1: every expectation is looked at before the first write, the run first, then its suspensions;
a ``Conflict`` raised later leaves what was written to the caller's savepoint.
Law 2: numbers of events and links of the audit chain are made here, inside the transaction.
Law 3: time for expiry is the latest ever committed, so a clock that is set back revives no card.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, TypeAlias

from condor.core.audit import chain_hash
from condor.core.errors import OurBug, TransitionRefused, show
from condor.core.run import RUN_TRANSITIONS
from condor.ports.store import Committed, Conflict, ConflictKind, SuspensionRow, Transition
from condor.store.sqlite_rows import RUN, SUSPENSION, run_of, suspension_of

if TYPE_CHECKING:
    import sqlite3

#: What a statement is given for one row.
Values: TypeAlias = "tuple[object, ...]"

#: Every change of status that the table has, by whatever cause.
_LEGAL: Final = frozenset((old, new) for old, news in RUN_TRANSITIONS.items() for new in news)

#: Length of ``2026-11-30T09:31:02.114Z``: one width, so that text order is time order.
_TIME_CHARS: Final = 24

_HEAD: Final = """SELECT status, epoch, rev, seq, answers, audit_seq, audit_head, tenant_id FROM run
    WHERE run_id = ?"""
_MOVE: Final = """UPDATE run SET status = ?, epoch = ?, rev = ?, seq = ?, answers = ?, audit_seq = ?,
    audit_head = ?, halt = coalesce(CAST(? AS TEXT), halt), updated_at = ? WHERE run_id = ?"""
_CREATE: Final = """INSERT INTO run (status, epoch, rev, seq, answers, audit_seq, audit_head, halt,
    updated_at, run_id, created_at, tenant_id, session_id, requester, autonomy)
    VALUES (?, ?, ?, ?, ?, ?, ?, CAST(? AS TEXT), ?, ?, ?, ?, ?, CAST(? AS TEXT), ?)"""
_EVENT: Final = "INSERT INTO event (run_id, seq, kind, at, facts) VALUES (?, ?, ?, ?, CAST(? AS TEXT))"
_AUDIT: Final = """INSERT INTO audit (run_id, seq, body, prev_hash, hash)
    VALUES (?, ?, CAST(? AS TEXT), ?, ?)"""
_STEP: Final = """INSERT INTO step (run_id, step_id, status, attempt, key, code) VALUES (?, ?, ?, ?, ?, ?)
    ON CONFLICT (run_id, step_id) DO UPDATE SET status = excluded.status, attempt = excluded.attempt,
    key = excluded.key, code = excluded.code"""
_PAYLOAD: Final = """INSERT INTO payload (run_id, key, value) VALUES (?, ?, CAST(? AS TEXT))
    ON CONFLICT (run_id, key) DO UPDATE SET value = excluded.value"""
_PARK: Final = """INSERT INTO suspension (suspend_id, run_id, tenant_id, step_id, generation, reason_code,
    origin, contract_hash, tool, opened_at, expires_at, facts, status, decided_by, decided_at, consumed)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, CAST(? AS TEXT), ?, ?, ?, ?)
    ON CONFLICT (suspend_id) DO NOTHING"""
_RUN: Final = f"{RUN} WHERE run_id = ? AND tenant_id = ?"
_CARD: Final = f"{SUSPENSION} WHERE suspend_id = ?"
_OPEN: Final = "SELECT opened, status, expires_at FROM suspension WHERE suspend_id = ? AND run_id = ?"
_DECIDE: Final = "UPDATE suspension SET status = ?, decided_by = ?, decided_at = ? WHERE opened = ?"
_CONSUME: Final = """UPDATE suspension SET consumed = 1
    WHERE suspend_id = ? AND run_id = ? AND status = 'approved' AND consumed = 0"""


def apply_unit(cursor: sqlite3.Cursor, unit: Transition, clock: str) -> Committed:
    """Write one unit into the open transaction.

    Args:
        cursor: of the writing connection, inside a savepoint of this unit's own.
        unit: what to do.
        clock: the latest time committed before it.

    Raises:
        Conflict: an expectation did not hold; the caller rolls the savepoint back.
        OurBug: the unit contradicts itself or the run table.
    """
    check_time(unit.at)
    status, epoch, rev, seq, answers, audit_seq, audit_head = _expected_head(cursor, unit)
    if unit.status is not None and unit.status != status:
        if (status, unit.status) not in _LEGAL:
            raise TransitionRefused(f"run {unit.run_id} cannot go from {status} to {unit.status}")
        status = unit.status._value_
    events, last_seq = _numbered(unit, seq)
    audit, audit_seq, audit_head = _chained(unit, audit_seq, audit_head)
    epoch += unit.raise_epoch
    rev += 1
    answers += unit.count_answer
    run_id, at = unit.run_id, unit.at
    moved = (status, epoch, rev, last_seq, answers, audit_seq, audit_head, unit.halt, at, run_id)
    if unit.create is None:
        cursor.execute(_MOVE, moved)
    else:
        new = unit.create
        cursor.execute(_CREATE, (*moved, at, unit.tenant_id, new.session_id, new.requester, new.autonomy))
    if unit.decide or unit.consume or unit.park:
        _suspensions(cursor, unit, max(at, clock))
    if unit.steps:
        cursor.executemany(
            _STEP, [(run_id, s.step_id, s.status._value_, s.attempt, s.key, s.code) for s in unit.steps]
        )
    if events:
        cursor.executemany(_EVENT, events)
    if audit:
        cursor.executemany(_AUDIT, audit)
    if unit.payloads:
        cursor.executemany(_PAYLOAD, [(run_id, key, value) for key, value in unit.payloads])
    first_seq, last_seq = (seq + 1, last_seq) if events else (0, 0)
    return Committed(first_seq=first_seq, last_seq=last_seq, rev=rev, epoch=epoch, answers=answers)


def _numbered(unit: Transition, seq: int) -> tuple[list[Values], int]:
    """The rows of a unit's events, numbered on from ``seq``, and the last number."""
    run_id, at = unit.run_id, unit.at
    rows: list[Values] = []
    for kind, facts in unit.events:
        seq += 1
        rows.append((run_id, seq, kind._value_, at, facts))
    return rows, seq


def _chained(unit: Transition, seq: int, head: str) -> tuple[list[Values], int, str]:
    """The rows of a unit's audit, chained on from row ``seq`` with hash ``head``, and the new end."""
    run_id = unit.run_id
    rows: list[Values] = []
    for body in unit.audit:
        seq += 1
        link = chain_hash(head, seq, body)
        rows.append((run_id, seq, body, head, link))
        head = link
    return rows, seq, head


def check_time(at: str) -> None:
    """Refuse a time of another width: its order against the stored ones would be wrong."""
    if len(at) != _TIME_CHARS or at[-1] != "Z" or not at[0].isdecimal():
        raise OurBug(f"a unit's time is RFC 3339 in UTC with milliseconds, not {show(at)}")


def _expected_head(cursor: sqlite3.Cursor, unit: Transition) -> tuple[str, int, int, int, int, int, str]:
    """The run's head as the unit expects it; a new run's is all zeros."""
    head = cursor.execute(_HEAD, (unit.run_id,)).fetchone()
    if unit.create is not None:
        if head is not None:
            raise _conflict(cursor, unit, "exists")
        return unit.create.status._value_, 0, 0, 0, 0, 0, ""
    if head is None or head[7] != unit.tenant_id:
        # Another tenant's run is not there.
        raise Conflict("missing", run=None)
    expect = unit.expect
    if expect.epoch is not None and expect.epoch != head[1]:
        raise _conflict(cursor, unit, "epoch")
    if expect.statuses is not None and head[0] not in expect.statuses:
        raise _conflict(cursor, unit, "status")
    if expect.answers is not None and expect.answers != head[4]:
        raise _conflict(cursor, unit, "answers")
    if expect.rev is not None and expect.rev != head[2]:
        raise _conflict(cursor, unit, "rev")
    return head[:7]  # type: ignore[no-any-return]


def _suspensions(cursor: sqlite3.Cursor, unit: Transition, now: str) -> None:
    """Close, use up and open suspensions, each by compare-and-set."""
    for decide in unit.decide:
        found = cursor.execute(_OPEN, (decide.suspend_id, unit.run_id)).fetchone()
        if found is None:
            raise _conflict(cursor, unit, "missing", decide.suspend_id)
        opened, status, expires_at = found
        if status != "pending":
            raise _conflict(cursor, unit, "decided", decide.suspend_id)
        if decide.refuse_expired and expires_at is not None and expires_at <= now:
            raise _conflict(cursor, unit, "expired", decide.suspend_id)
        if decide.status == "pending":
            raise OurBug(f"card {decide.suspend_id} cannot be decided as pending")
        cursor.execute(_DECIDE, (decide.status, decide.decided_by, unit.at, opened))
    for suspend_id in unit.consume:
        if cursor.execute(_CONSUME, (suspend_id, unit.run_id)).rowcount != 1:
            raise _conflict(cursor, unit, "consumed", suspend_id)
    for row in unit.park:
        if cursor.execute(_PARK, _parked(unit, row)).rowcount != 1:
            raise _conflict(cursor, unit, "exists", row.suspend_id)


def _parked(unit: Transition, row: SuspensionRow) -> Values:
    if row.run_id != unit.run_id or row.tenant_id != unit.tenant_id:
        raise OurBug(f"a unit of run {unit.run_id} cannot park a card of run {show(row.run_id)}")
    if row.expires_at is not None:
        check_time(row.expires_at)
    return (
        row.suspend_id,
        row.run_id,
        row.tenant_id,
        row.step_id,
        row.generation,
        row.reason_code,
        row.origin,
        row.contract_hash,
        row.tool,
        row.opened_at,
        row.expires_at,
        row.facts,
        row.status,
        row.decided_by,
        row.decided_at,
        int(row.consumed),
    )


def _conflict(
    cursor: sqlite3.Cursor, unit: Transition, kind: ConflictKind, suspend_id: str | None = None
) -> Conflict:
    """What the loser is told: the run as it is, and the card it wanted to close or open, if any."""
    if suspend_id is None and unit.decide:
        suspend_id = unit.decide[0].suspend_id
    run = cursor.execute(
        f"{RUN} WHERE run_id = ? AND tenant_id = ?", (unit.run_id, unit.tenant_id)
    ).fetchone()
    card = None
    if suspend_id is not None:
        card = cursor.execute(_CARD, (suspend_id,)).fetchone()
    return Conflict(
        kind,
        run=None if run is None else run_of(run),
        suspension=None if card is None else suspension_of(card),
    )
