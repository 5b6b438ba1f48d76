"""Long reads of the audit: lists by filter, and whole chains for verification.

Law: rows come as they stand, in the order in which they were stored, whatever their numbers claim;
to judge them is ``core.audit.verify_chain``'s.
"""

from __future__ import annotations

import sqlite3
from functools import partial
from itertools import groupby
from typing import TYPE_CHECKING, Final, TypeVar

from condor.core.ids import RunId, canonical_json
from condor.ports.store import AuditChain, AuditFilter, AuditRow
from condor.store.sqlite_rows import AUDIT, audit_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_T = TypeVar("_T")

#: Bodies are canonical JSON, in whose texts a quote is escaped: a member is found by its bytes, ten times
#: as fast as by parsing, and a body that was tampered with stops nothing.
_LIST: Final = f"""{AUDIT} WHERE (run_id, seq) > (?1, ?2)
    AND (?3 IS NULL OR instr(body, ?3)) AND (?4 IS NULL OR instr(body, ?4))
    AND (?5 IS NULL OR instr(body, ?5)) AND (?6 IS NULL OR instr(body, ?6))
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
    asked = {
        "ruleId": wanted.rule_id,
        "decision": wanted.decision,
        "tool": wanted.tool,
        "actor": wanted.actor,
    }
    try:
        members = [None if value is None else _member(name, value) for name, value in asked.items()]
    except ValueError:
        # What has no canonical form was never written.
        return []
    values: tuple[object, ...] = (*after, *members, limit)
    if wanted.run_id is None:
        return _tolerant(connection, lambda: _rows(connection, _LIST, values))
    return _tolerant(connection, lambda: _rows(connection, _LIST_RUN, (*values, wanted.run_id)))


def next_chains(
    connection: sqlite3.Connection, run_id: str | None, after: str, limit: int
) -> Sequence[AuditChain]:
    """One run's chain, or the next ``limit`` runs' in run order, all of one moment."""
    connection.execute("BEGIN")
    try:
        heads, rows = _tolerant(connection, lambda: _read(connection, run_id, after, limit))
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
        rows = _rows(connection, _ROWS_OF, (run_id,))
        return heads or ({run_id: _NO_RUN} if rows else {}), rows
    said = {name: (seq, head) for name, seq, head in connection.execute(_HEADS, (after, limit))}
    named = {name for (name,) in connection.execute(_NAMED, (after, limit))}
    heads = {name: said.get(name, _NO_RUN) for name in sorted({*said, *named})[:limit]}
    if not heads:
        return {}, []
    return heads, _rows(connection, _ROWS, (after, max(heads)))


def _member(name: str, value: str) -> str:
    """``"name":"value"`` as it stands in a body."""
    return canonical_json({name: value}).decode()[1:-1]


def _rows(connection: sqlite3.Connection, query: str, values: tuple[object, ...]) -> list[AuditRow]:
    return [audit_of(row) for row in connection.execute(query, values).fetchall()]


def _tolerant(connection: sqlite3.Connection, read: Callable[[], _T]) -> _T:
    """Read; if bytes that are no text were put where a text belongs, they are read as they look."""
    try:
        return read()
    except sqlite3.OperationalError:
        connection.text_factory = partial(str, encoding="utf-8", errors="replace")
        return read()
