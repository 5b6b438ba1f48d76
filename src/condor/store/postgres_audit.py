"""Long reads of the audit: lists by filter, and whole chains for verification.

Law: rows come as they stand, in the order in which they were stored, whatever their numbers claim;
to judge them is ``core.audit.verify_chain``'s.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from condor.core.ids import canonical_json
from condor.store.sqlite_audit import NO_RUN, ChainsRead, Said, chains_of
from condor.store.sqlite_rows import audit_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from condor.ports.store import AuditChain, AuditFilter, AuditRow
    from condor.store.postgres_reader import PostgresReader

_AUDIT: Final = "SELECT run_id, seq, convert_to(body, 'UTF8'), prev_hash, hash FROM audit"
#: Bodies are canonical JSON, in whose texts a quote is escaped: a member is found by its characters.
#: Keys are sorted, so the time is the first member of that name; its text order is time order.
_AT: Final = 'substr(body, strpos(body, \'"at":"\') + 6, 24) COLLATE "C"'
_LIST: Final = f"""{_AUDIT} WHERE (run_id, seq) > ($1, $2) AND ($3::text IS NULL OR run_id = $3)
    AND ($4::text IS NULL OR strpos(body, $4) > 0) AND ($5::text IS NULL OR strpos(body, $5) > 0)
    AND ($6::text IS NULL OR strpos(body, $6) > 0) AND ($7::text IS NULL OR strpos(body, $7) > 0)
    AND ($8::text IS NULL OR {_AT} >= $8) AND ($9::text IS NULL OR {_AT} <= $9)
    ORDER BY run_id, seq, position LIMIT $10"""
_LIST_RUN: Final = _LIST.replace("($3::text IS NULL OR run_id = $3)", "run_id = $3")
_SAID: Final = """SELECT run_id, run.audit_seq, audit_head, status, coalesce(sealed.audit_seq, 0)
    FROM run LEFT JOIN sealed USING (run_id)"""
_HEAD: Final = f"{_SAID} WHERE run_id = $1"
_HEADS: Final = f"{_SAID} WHERE run_id > $1 ORDER BY run_id LIMIT $2"
_NAMED: Final = "SELECT DISTINCT run_id FROM audit WHERE run_id > $1 ORDER BY run_id LIMIT $2"
_ROWS_OF: Final = f"{_AUDIT} WHERE run_id = $1 ORDER BY position"
_ROWS: Final = f"{_AUDIT} WHERE run_id > $1 AND run_id <= $2 ORDER BY run_id, position"

_CARDS: Final = (
    "SELECT run_id, suspend_id, status, decided_by FROM suspension WHERE {} ORDER BY run_id, opened"
)
_PAYLOADS: Final = """SELECT run_id, key, convert_to(value, 'UTF8') FROM payload
    WHERE {} AND (key LIKE 'card:%' OR key LIKE 'answer:%') ORDER BY run_id"""
_ONE_RUN: Final = "run_id = $1"
_SOME_RUNS: Final = "run_id > $1 AND run_id <= $2"


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
    values = (*after, wanted.run_id, *members, wanted.since, wanted.until, limit)
    return [audit_of(row) for row in await reader.rows(query, *values)]


async def next_chains(
    reader: PostgresReader, run_id: str | None, after: str, limit: int
) -> Sequence[AuditChain]:
    """One run's chain, or the next ``limit`` runs' in run order, all of one moment."""

    async def read(connection: Any) -> ChainsRead:
        async with connection.transaction(isolation="repeatable_read", readonly=True):
            if run_id is not None:
                return await _one(connection, run_id)
            return await _many(connection, after, limit)

    return chains_of(await reader.run(read))


async def _one(connection: Any, run_id: str) -> ChainsRead:
    said: dict[str, Said] = {name: tuple(rest) for name, *rest in await connection.fetch(_HEAD, run_id)}
    rows = [audit_of(row) for row in await connection.fetch(_ROWS_OF, run_id)]
    if not said and rows:
        said = {run_id: NO_RUN}
    return await _with_cards(connection, ChainsRead(said, rows), _ONE_RUN, run_id)


async def _many(connection: Any, after: str, limit: int) -> ChainsRead:
    said = {name: tuple(rest) for name, *rest in await connection.fetch(_HEADS, after, limit)}
    named = {name for (name,) in await connection.fetch(_NAMED, after, limit)}
    said = {name: said.get(name, NO_RUN) for name in sorted({*said, *named})[:limit]}
    if not said:
        return ChainsRead({})
    until = (after, max(said))
    rows = [audit_of(row) for row in await connection.fetch(_ROWS, *until)]
    return await _with_cards(connection, ChainsRead(said, rows), _SOME_RUNS, *until)


async def _with_cards(connection: Any, read: ChainsRead, which: str, *values: str) -> ChainsRead:
    read.cards = [tuple(row) for row in await connection.fetch(_CARDS.format(which), *values)]
    read.payloads = [tuple(row) for row in await connection.fetch(_PAYLOADS.format(which), *values)]
    return read


def _member(name: str, value: str) -> str:
    """``"name":"value"`` as it stands in a body."""
    return canonical_json({name: value}).decode()[1:-1]
