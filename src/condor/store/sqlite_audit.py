"""Long reads of the audit: lists by filter, and whole chains for verification.

Law: rows come as they stand, in the order in which they were stored, whatever their numbers claim;
to judge them is ``core.audit.verify_chain``'s.
"""

from __future__ import annotations

import sqlite3
from itertools import groupby
from typing import TYPE_CHECKING, Final

from condor.core.ids import RunId
from condor.ports.store import AuditChain, AuditFilter, AuditRow
from condor.store.sqlite_rows import AUDIT, audits_of

if TYPE_CHECKING:
    from collections.abc import Sequence

_LIST: Final = f"""{AUDIT} WHERE (run_id, seq) > (?1, ?2)
    AND (?3 IS NULL OR body ->> '$.ruleId' = ?3) AND (?4 IS NULL OR body ->> '$.decision' = ?4)
    AND (?5 IS NULL OR body ->> '$.tool' = ?5) AND (?6 IS NULL OR body ->> '$.actor' = ?6)
    ORDER BY run_id, seq LIMIT ?7"""
_LIST_RUN: Final = _LIST.replace("WHERE", "WHERE run_id = ?8 AND", 1)
_HEAD: Final = (
    "SELECT run_id, CAST(audit_seq AS INTEGER), CAST(audit_head AS TEXT) FROM run WHERE run_id = ?1"
)
#: An id that is no text is no run's: the run that it was taken from misses a row, and says so.
_HEADS: Final = _HEAD.replace("run_id = ?1", "run_id > ? AND typeof(run_id) = 'text' ORDER BY run_id LIMIT ?")
_NAMED: Final = """SELECT DISTINCT run_id FROM audit WHERE run_id > ? AND typeof(run_id) = 'text'
    ORDER BY run_id LIMIT ?"""
_ROWS_OF: Final = f"{AUDIT} WHERE run_id = ? ORDER BY position"
_ROWS: Final = f"{AUDIT} WHERE run_id > ? AND run_id <= ? ORDER BY run_id, position"

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
    try:
        heads, rows = _read(connection, run_id, after, limit)
    except sqlite3.OperationalError:
        # Somebody has put bytes that are no text where a text belongs; they are judged as they look.
        connection.text_factory = _as_it_looks
        heads, rows = _read(connection, run_id, after, limit)
    finally:
        connection.execute("COMMIT")
    by_run = {name: list(group) for name, group in groupby(rows, lambda row: row.run_id)}
    return [
        AuditChain(run_id=RunId(name), audit_seq=seq, audit_head=head, rows=by_run.get(RunId(name), []))
        for name, (seq, head) in heads.items()
    ]


def _read(
    connection: sqlite3.Connection, run_id: str | None, after: str, limit: int
) -> tuple[dict[str, tuple[int, str]], list[AuditRow]]:
    """What the run rows say, by run in order, and the audit rows of the same runs."""
    if run_id is not None:
        heads = {name: (seq, head) for name, seq, head in connection.execute(_HEAD, (run_id,))}
        rows = audits_of(connection.execute(_ROWS_OF, (run_id,)).fetchall())
        return heads or ({run_id: _NO_RUN} if rows else {}), rows
    said = {name: (seq, head) for name, seq, head in connection.execute(_HEADS, (after, limit))}
    named = {name for (name,) in connection.execute(_NAMED, (after, limit))}
    heads = {name: said.get(name, _NO_RUN) for name in sorted({*said, *named})[:limit]}
    if not heads:
        return {}, []
    return heads, audits_of(connection.execute(_ROWS, (after, max(heads))).fetchall())


def _as_it_looks(text: bytes) -> str:
    return text.decode(errors="replace")
