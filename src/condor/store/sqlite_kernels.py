"""Tool kernels: revisions that are only ever added."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from condor.ports.kernels import KernelRow

if TYPE_CHECKING:
    import sqlite3

    from condor.store.sqlite_rows import Raw

KERNELS: Final = """SELECT tenant_id, tool, rev, CAST(body AS BLOB), prev_hash, hash FROM tool_kernel
    ORDER BY tool, rev"""
_ADD: Final = """INSERT INTO tool_kernel (tenant_id, tool, rev, body, prev_hash, hash)
    SELECT ?, ?, ?, CAST(? AS TEXT), ?, ?
    WHERE ? = 1 + (SELECT coalesce(max(rev), 0) FROM tool_kernel WHERE tenant_id = ? AND tool = ?)"""


def kernel_of(row: Raw) -> KernelRow:
    """A row of ``KERNELS``."""
    return KernelRow(tenant_id=row[0], tool=row[1], rev=row[2], body=row[3], prev_hash=row[4], hash=row[5])


def add_kernel(row: KernelRow, connection: sqlite3.Connection) -> bool:
    """Insert a revision, if it follows the last one; whether it does."""
    values = (row.tenant_id, row.tool, row.rev, row.body, row.prev_hash, row.hash)
    return connection.execute(_ADD, (*values, row.rev, row.tenant_id, row.tool)).rowcount == 1
