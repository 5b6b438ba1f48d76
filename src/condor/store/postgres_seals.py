"""Seals on PostgreSQL: any number of processes may try to add the next one; one of them does."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from condor.core.ids import DEFAULT_TENANT
from condor.store.sqlite_seals import seal_of, unsealed_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from condor.ports.store import SealRow, Unsealed
    from condor.store.postgres_reader import PostgresReader

_LAST: Final = "SELECT seq, hash FROM seal WHERE tenant_id = $1 ORDER BY seq DESC LIMIT 1"
_UNSEALED: Final = """SELECT run_id, run.audit_seq, audit_head FROM run LEFT JOIN sealed USING (run_id)
    WHERE run.audit_seq > coalesce(sealed.audit_seq, 0) ORDER BY run_id LIMIT $1"""
_SEALS: Final = """SELECT tenant_id, seq, convert_to(body, 'UTF8'), prev_hash, hash FROM seal
    WHERE tenant_id = $1 AND seq > $2 ORDER BY seq LIMIT $3"""
#: Done twice it is done once; a seal that does not follow the last one is not added, nor its heads noted.
ADD_SEAL: Final = """WITH added AS (
        INSERT INTO seal (tenant_id, seq, body, prev_hash, hash)
        SELECT $1, $2, $3, $4, $5
        WHERE $2 <= 1 + (SELECT coalesce(max(seq), 0) FROM seal WHERE tenant_id = $1)
        ON CONFLICT (tenant_id, seq) DO UPDATE SET hash = excluded.hash WHERE seal.hash = excluded.hash
        RETURNING seq
    ), noted AS (
        INSERT INTO sealed (run_id, audit_seq)
        SELECT head.run_id, head.seq FROM unnest($6::text[], $7::integer[]) AS head (run_id, seq), added
        ON CONFLICT (run_id) DO UPDATE SET audit_seq = greatest(sealed.audit_seq, excluded.audit_seq)
    ) SELECT seq FROM added"""


async def read_unsealed(reader: PostgresReader, limit: int) -> Unsealed:
    """The last seal, and runs with rows beyond it, as of one moment."""

    async def read(connection: Any) -> Unsealed:
        async with connection.transaction(isolation="repeatable_read", readonly=True):
            last = await connection.fetchrow(_LAST, DEFAULT_TENANT)
            return unsealed_of(last or (0, ""), await connection.fetch(_UNSEALED, limit))

    return await reader.run(read)


async def read_seals(reader: PostgresReader, after: int, limit: int) -> Sequence[SealRow]:
    """The next seals."""
    return [seal_of(row) for row in await reader.rows(_SEALS, DEFAULT_TENANT, after, limit)]


__all__ = ["ADD_SEAL", "read_seals", "read_unsealed"]
