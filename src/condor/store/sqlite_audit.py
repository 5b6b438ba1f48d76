"""Long reads of the audit: lists by filter, and whole chains for verification.

Law: rows come as they stand, in the order in which they were stored, whatever their numbers claim;
to judge them is ``core.audit.verify_chain``'s.
"""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, Final

from condor.core.ids import RunId
from condor.ports.store import AuditChain, AuditFilter, AuditRow
from condor.store.sqlite_rows import AUDIT, audit_of, audits_of

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Sequence

_LIST: Final = f"""{AUDIT} WHERE (run_id, seq) > (?1, ?2)
    AND (?3 IS NULL OR body ->> '$.ruleId' = ?3) AND (?4 IS NULL OR body ->> '$.decision' = ?4)
    AND (?5 IS NULL OR body ->> '$.tool' = ?5) AND (?6 IS NULL OR body ->> '$.actor' = ?6)
    ORDER BY run_id, seq LIMIT ?7"""
_LIST_RUN: Final = _LIST.replace("WHERE", "WHERE run_id = ?8 AND", 1)
_HEADS: Final = "SELECT run_id, audit_seq, audit_head FROM run WHERE run_id > ? ORDER BY run_id LIMIT ?"
_NAMED: Final = "SELECT DISTINCT run_id FROM audit WHERE run_id > ? ORDER BY run_id LIMIT ?"
_ROWS: Final = f"{AUDIT} WHERE run_id > ? AND run_id <= ? ORDER BY run_id, position"
_HEAD: Final = "SELECT run_id, audit_seq, audit_head FROM run WHERE run_id = ?"
_ROWS_OF: Final = f"{AUDIT} WHERE run_id = ? ORDER BY position"

#: What a chain says whose run row is not there: no run ever recorded so few rows.
_NO_RUN: Final = (-1, "")


def list_audit(
    connection: sqlite3.Connection, wanted: AuditFilter, limit: int, after: tuple[str, int]
) -> Sequence[AuditRow]:
    """Rows that fit a filter, by run and sequence."""
    values: tuple[object, ...] = (*after, wanted.rule_id, wanted.decision, wanted.tool, wanted.actor, limit)
    if wanted.run_id is None:
        return audits_of(connection.execute(_LIST, values).fetchall())
    return audits_of(connection.execute(_LIST_RUN, (*values, wanted.run_id)).fetchall())


def next_chains(
    connection: sqlite3.Connection, run_id: str | None, after: str, limit: int
) -> Sequence[AuditChain]:
    """One run's chain, or the next ``limit`` runs' in run order, all of one moment."""
    connection.execute("BEGIN")
    if run_id is not None:
        heads = {name: (seq, head) for name, seq, head in connection.execute(_HEAD, (run_id,))}
        rows = [audit_of(row) for row in connection.execute(_ROWS_OF, (run_id,))]
        named = {run_id} if heads or rows else set()
    else:
        heads = {name: (seq, head) for name, seq, head in connection.execute(_HEADS, (after, limit))}
        named = {*heads, *(name for (name,) in connection.execute(_NAMED, (after, limit)))}
        named = set(sorted(named)[:limit])
        rows = []
        if named:
            rows = [audit_of(row) for row in connection.execute(_ROWS, (after, max(named)))]
    connection.execute("COMMIT")
    by_run = {name: list(group) for name, group in groupby(rows, lambda row: row.run_id)}
    return [
        AuditChain(run_id=RunId(name), audit_seq=seq, audit_head=head, rows=by_run.get(name, []))
        for name in sorted(named)
        for seq, head in (heads.get(name, _NO_RUN),)
    ]
