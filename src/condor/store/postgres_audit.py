"""Long reads of the audit: lists by filter, and whole chains for verification.

Law: rows come as they stand, in the order in which they were stored, whatever their numbers claim;
to judge them is ``core.audit.verify_chain``'s.
"""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, Any, Final

from condor.core.ids import RunId, canonical_json
from condor.ports.store import AuditChain, AuditFilter, AuditRow
from condor.store.sqlite_rows import audit_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from condor.store.postgres_reader import PostgresReader

_AUDIT: Final = "SELECT run_id, seq, convert_to(body, 'UTF8'), prev_hash, hash FROM audit"
#: Bodies are canonical JSON, in whose texts a quote is escaped: a member is found by its characters.
_LIST: Final = f"""{_AUDIT} WHERE (run_id, seq) > ($1, $2) AND ($3::text IS NULL OR run_id = $3)
    AND ($4::text IS NULL OR strpos(body, $4) > 0) AND ($5::text IS NULL OR strpos(body, $5) > 0)
    AND ($6::text IS NULL OR strpos(body, $6) > 0) AND ($7::text IS NULL OR strpos(body, $7) > 0)
    ORDER BY run_id, seq, position LIMIT $8"""
_LIST_RUN: Final = _LIST.replace("($3::text IS NULL OR run_id = $3)", "run_id = $3")
_HEAD: Final = "SELECT run_id, audit_seq, audit_head FROM run WHERE run_id = $1"
_HEADS: Final = "SELECT run_id, audit_seq, audit_head FROM run WHERE run_id > $1 ORDER BY run_id LIMIT $2"
_NAMED: Final = "SELECT DISTINCT run_id FROM audit WHERE run_id > $1 ORDER BY run_id LIMIT $2"
_ROWS_OF: Final = f"{_AUDIT} WHERE run_id = $1 ORDER BY position"
_ROWS: Final = f"{_AUDIT} WHERE run_id > $1 AND run_id <= $2 ORDER BY run_id, position"

#: What a chain says whose run row is not there: no run ever recorded so few rows.
_NO_RUN: Final = (-1, "")


async def list_audit(
    reader: PostgresReader, wanted: AuditFilter, limit: int, after: tuple[str, int]
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
    query = _LIST if wanted.run_id is None else _LIST_RUN
    return [audit_of(row) for row in await reader.rows(query, *after, wanted.run_id, *members, limit)]


async def next_chains(
    reader: PostgresReader, run_id: str | None, after: str, limit: int
) -> Sequence[AuditChain]:
    """One run's chain, or the next ``limit`` runs' in run order, all of one moment."""

    async def read(connection: Any) -> tuple[dict[str, tuple[int, str]], Sequence[AuditRow]]:
        async with connection.transaction(isolation="repeatable_read", readonly=True):
            if run_id is not None:
                return await _one(connection, run_id)
            return await _many(connection, after, limit)

    heads, rows = await reader.run(read)
    by_run = {name: list(group) for name, group in groupby(rows, lambda row: row.run_id)}
    return [
        AuditChain(run_id=RunId(name), audit_seq=seq, audit_head=head, rows=by_run.get(RunId(name), []))
        for name, (seq, head) in heads.items()
    ]


async def _one(connection: Any, run_id: str) -> tuple[dict[str, tuple[int, str]], Sequence[AuditRow]]:
    heads = {name: (seq, head) for name, seq, head in await connection.fetch(_HEAD, run_id)}
    rows = [audit_of(row) for row in await connection.fetch(_ROWS_OF, run_id)]
    return heads or ({run_id: _NO_RUN} if rows else {}), rows


async def _many(
    connection: Any, after: str, limit: int
) -> tuple[dict[str, tuple[int, str]], Sequence[AuditRow]]:
    said = {name: (seq, head) for name, seq, head in await connection.fetch(_HEADS, after, limit)}
    named = {name for (name,) in await connection.fetch(_NAMED, after, limit)}
    heads = {name: said.get(name, _NO_RUN) for name in sorted({*said, *named})[:limit]}
    if not heads:
        return {}, []
    return heads, [audit_of(row) for row in await connection.fetch(_ROWS, after, max(heads))]


def _member(name: str, value: str) -> str:
    """``"name":"value"`` as it stands in a body."""
    return canonical_json({name: value}).decode()[1:-1]
