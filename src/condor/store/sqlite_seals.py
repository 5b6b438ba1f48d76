"""Seals: the tenant's chain, which is only ever added to, and up to which row each run is in it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from condor.core.ids import DEFAULT_TENANT
from condor.ports.store import RunHead, SealRow, Unsealed

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Sequence

    from condor.store.sqlite_rows import Raw

_LAST: Final = """SELECT CAST(seq AS INTEGER), CAST(hash AS TEXT) FROM seal WHERE tenant_id = ?
    ORDER BY seq DESC LIMIT 1"""
#: Both tables in the order of their keys, side by side.
_UNSEALED: Final = """SELECT run.run_id, run.audit_seq, run.audit_head FROM run
    LEFT JOIN sealed ON sealed.run_id = run.run_id
    WHERE run.audit_seq > coalesce(sealed.audit_seq, 0) AND typeof(run.audit_seq) = 'integer'
        AND typeof(run.audit_head) = 'text' AND typeof(run.run_id) = 'text'
    ORDER BY run.run_id LIMIT ?"""
_SEALS: Final = """SELECT tenant_id, CAST(seq AS INTEGER), CAST(body AS BLOB), CAST(prev_hash AS TEXT),
    CAST(hash AS TEXT) FROM seal WHERE tenant_id = ? AND seq > ? ORDER BY seq LIMIT ?"""
_ADD: Final = """INSERT INTO seal (tenant_id, seq, body, prev_hash, hash)
    SELECT ?1, ?2, CAST(?3 AS TEXT), ?4, ?5
    WHERE ?2 = 1 + (SELECT coalesce(max(seq), 0) FROM seal WHERE tenant_id = ?1)"""
_NOTE: Final = """INSERT INTO sealed (run_id, audit_seq) VALUES (?, ?)
    ON CONFLICT (run_id) DO UPDATE SET audit_seq = excluded.audit_seq"""


def read_unsealed(connection: sqlite3.Connection, limit: int) -> Unsealed:
    """The last seal, and runs with rows beyond it, as of one moment."""
    connection.execute("BEGIN")
    try:
        last = connection.execute(_LAST, (DEFAULT_TENANT,)).fetchone() or (0, "")
        heads = connection.execute(_UNSEALED, (limit,)).fetchall()
    finally:
        connection.execute("COMMIT")
    return unsealed_of(last, heads)


def unsealed_of(last: Raw, heads: Sequence[Raw]) -> Unsealed:
    """What was read, as a value."""
    return Unsealed(
        last_seq=last[0],
        last_hash=last[1],
        heads=[RunHead(run_id=run_id, seq=seq, hash=head) for run_id, seq, head in heads],
    )


def read_seals(connection: sqlite3.Connection, after: int, limit: int) -> Sequence[SealRow]:
    """The next seals."""
    return [seal_of(row) for row in connection.execute(_SEALS, (DEFAULT_TENANT, after, limit)).fetchall()]


def seal_of(row: Raw) -> SealRow:
    """A row of the table of seals."""
    return SealRow(tenant_id=row[0], seq=row[1], body=row[2], prev_hash=row[3], hash=row[4])


def add_seal(row: SealRow, heads: Sequence[RunHead], connection: sqlite3.Connection) -> bool:
    """Insert a seal, if it follows the last one, and note its heads; whether it does."""
    connection.execute("BEGIN IMMEDIATE")
    values = (row.tenant_id, row.seq, row.body, row.prev_hash, row.hash)
    added = connection.execute(_ADD, values).rowcount == 1
    if added:
        connection.executemany(_NOTE, [(head.run_id, head.seq) for head in heads])
    connection.execute("COMMIT")
    return added


__all__ = ["add_seal", "read_seals", "read_unsealed", "seal_of", "unsealed_of"]
