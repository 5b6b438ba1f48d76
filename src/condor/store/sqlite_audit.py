"""Long reads of the audit: lists by filter, and whole chains for verification.

Law: rows come as they stand, in the order in which they were stored, whatever their numbers claim;
to judge them is ``core.audit.verify_chain``'s.
"""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from typing import TYPE_CHECKING, Final, TypeAlias, TypeVar

from condor.core.ids import RunId, canonical_json
from condor.ports.store import AuditChain, AuditFilter, AuditRow, CardMark
from condor.store.sqlite_rows import AUDIT, audit_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_T = TypeVar("_T")

#: Bodies are canonical JSON, in whose texts a quote is escaped: a member is found by its bytes, ten times
#: as fast as by parsing, and a body that was tampered with stops nothing.
#: Keys are sorted, so the time is the first member of that name; its text order is time order.
_AT: Final = 'substr(body, instr(body, \'"at":"\') + 6, 24)'
_LIST: Final = f"""{AUDIT} WHERE (run_id, seq) > (?1, ?2)
    AND (?3 IS NULL OR instr(body, ?3)) AND (?4 IS NULL OR instr(body, ?4))
    AND (?5 IS NULL OR instr(body, ?5)) AND (?6 IS NULL OR instr(body, ?6))
    AND (?7 IS NULL OR {_AT} >= ?7) AND (?8 IS NULL OR {_AT} <= ?8)
    ORDER BY run_id, seq LIMIT ?9"""
_LIST_RUN: Final = _LIST.replace("WHERE", "WHERE run_id = ?10 AND", 1)
_HEAD: Final = """SELECT run_id, CAST(audit_seq AS INTEGER), CAST(audit_head AS TEXT),
    CAST(status AS TEXT), coalesce((SELECT CAST(audit_seq AS INTEGER) FROM sealed
        WHERE sealed.run_id = run.run_id), 0) FROM run WHERE run_id = ?1"""
#: An id that is no text is no run's: the run that it was taken from misses a row, and says so.
_HEADS: Final = _HEAD.replace("run_id = ?1", "run_id > ? AND typeof(run_id) = 'text' ORDER BY run_id LIMIT ?")
_NAMED: Final = """SELECT DISTINCT run_id FROM audit WHERE run_id > ? AND typeof(run_id) = 'text'
    ORDER BY run_id LIMIT ?"""
_ROWS_OF: Final = f"{AUDIT} WHERE run_id = ? ORDER BY position"
_ROWS: Final = f"{AUDIT} WHERE run_id > ? AND run_id <= ? ORDER BY run_id, position"

_CARDS: Final = """SELECT run_id, CAST(suspend_id AS TEXT), CAST(status AS TEXT), CAST(decided_by AS TEXT)
    FROM suspension WHERE {} ORDER BY run_id, opened"""
_PAYLOADS: Final = """SELECT run_id, key, CAST(value AS BLOB) FROM payload
    WHERE {} AND (key GLOB 'card:*' OR key GLOB 'answer:*') ORDER BY run_id"""
_ONE_RUN: Final = "run_id = ?1"
_SOME_RUNS: Final = "run_id > ?1 AND run_id <= ?2"

#: What a chain says whose run row is not there: no run ever recorded so few rows.
NO_RUN: Final = (-1, "", "", 0)
#: What a run row says: count and head of its audit, status, up to where it is sealed.
Said: TypeAlias = "tuple[int, str, str, int]"


@dataclass(slots=True)
class ChainsRead:
    """What stands about some runs: what their rows say, in run order, and all that is held against it."""

    said: dict[str, Said]
    rows: Sequence[AuditRow] = ()
    cards: Sequence[tuple[str, str, str, str | None]] = ()
    payloads: Sequence[tuple[str, str, bytes]] = ()


def chains_of(read: ChainsRead) -> list[AuditChain]:
    """The chains of what was read."""
    rows = {name: list(group) for name, group in groupby(read.rows, lambda row: row.run_id)}
    cards = {name: list(group) for name, group in groupby(read.cards, lambda row: row[0])}
    payloads = {name: list(group) for name, group in groupby(read.payloads, lambda row: row[0])}
    return [
        AuditChain(
            run_id=RunId(name),
            audit_seq=seq,
            audit_head=head,
            rows=rows.get(RunId(name), []),
            status=status,
            sealed_seq=sealed,
            cards=[
                CardMark(suspend_id=card, status=state, decided_by=by)
                for _, card, state, by in cards.get(name, ())
            ],
            payloads={key: value for _, key, value in payloads.get(name, ())},
        )
        for name, (seq, head, status, sealed) in read.said.items()
    ]


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
    values: tuple[object, ...] = (*after, *members, wanted.since, wanted.until, limit)
    if wanted.run_id is None:
        return _tolerant(connection, lambda: _rows(connection, _LIST, values))
    return _tolerant(connection, lambda: _rows(connection, _LIST_RUN, (*values, wanted.run_id)))


def next_chains(
    connection: sqlite3.Connection, run_id: str | None, after: str, limit: int
) -> Sequence[AuditChain]:
    """One run's chain, or the next ``limit`` runs' in run order, all of one moment."""
    connection.execute("BEGIN")
    try:
        return chains_of(_tolerant(connection, lambda: _read(connection, run_id, after, limit)))
    finally:
        connection.execute("COMMIT")


def _read(connection: sqlite3.Connection, run_id: str | None, after: str, limit: int) -> ChainsRead:
    """What the run rows say, by run in order, and what else stands about the same runs."""
    if run_id is not None:
        said: dict[str, Said] = {name: tuple(rest) for name, *rest in connection.execute(_HEAD, (run_id,))}
        rows = _rows(connection, _ROWS_OF, (run_id,))
        if not said and rows:
            said = {run_id: NO_RUN}
        return _with_cards(connection, ChainsRead(said, rows), _ONE_RUN, (run_id,))
    said = {name: tuple(rest) for name, *rest in connection.execute(_HEADS, (after, limit))}
    named = {name for (name,) in connection.execute(_NAMED, (after, limit))}
    said = {name: said.get(name, NO_RUN) for name in sorted({*said, *named})[:limit]}
    if not said:
        return ChainsRead({})
    until = (after, max(said))
    return _with_cards(connection, ChainsRead(said, _rows(connection, _ROWS, until)), _SOME_RUNS, until)


def _with_cards(
    connection: sqlite3.Connection, read: ChainsRead, which: str, values: tuple[object, ...]
) -> ChainsRead:
    read.cards = connection.execute(_CARDS.format(which), values).fetchall()
    read.payloads = connection.execute(_PAYLOADS.format(which), values).fetchall()
    return read


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
