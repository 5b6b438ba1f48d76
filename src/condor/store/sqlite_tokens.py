"""Tokens and the keys of requests: point reads, and writes as errands of the one writer.

Law: a token is found by the hash of its secret, which is stored nowhere; what has expired is removed when the
next one is made.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from condor.ports.encoding import decode, encode
from condor.ports.tokens import TokenRow

if TYPE_CHECKING:
    import sqlite3

    from condor.store.sqlite_rows import Raw

_COLUMNS: Final = """SELECT token_id, tenant_id, kind, hash, CAST(principal AS BLOB), CAST(scopes AS BLOB),
    created_at, expires_at, revoked_at FROM token"""
TOKEN_OF: Final = f"{_COLUMNS} WHERE hash = ?"
TOKENS: Final = f"{_COLUMNS} WHERE kind = ? ORDER BY created_at, token_id"
_ADD: Final = """INSERT INTO token
    (token_id, tenant_id, kind, hash, principal, scopes, created_at, expires_at)
    VALUES (?, ?, ?, ?, CAST(? AS TEXT), CAST(? AS TEXT), ?, ?)"""
_EXPIRED: Final = "DELETE FROM token WHERE expires_at < ?"
_REVOKE: Final = "UPDATE token SET revoked_at = ? WHERE token_id = ? AND revoked_at IS NULL"


def token_of(row: Raw) -> TokenRow:
    """A row of ``TOKEN_OF`` or ``TOKENS``."""
    return TokenRow(
        token_id=row[0],
        tenant_id=row[1],
        kind=row[2],
        hash=row[3],
        principal=row[4],
        scopes=frozenset(decode(row[5])),
        created_at=row[6],
        expires_at=row[7],
        revoked_at=row[8],
    )


def add_token(row: TokenRow, connection: sqlite3.Connection) -> None:
    """Insert one, in a transaction with the removal of what has expired."""
    scopes = encode(sorted(row.scopes))
    named = (row.token_id, row.tenant_id, row.kind, row.hash)
    connection.execute("BEGIN IMMEDIATE")
    connection.execute(_EXPIRED, (row.created_at,))
    connection.execute(_ADD, (*named, row.principal, scopes, row.created_at, row.expires_at))
    connection.execute("COMMIT")


def revoke_token(token_id: str, at: str, connection: sqlite3.Connection) -> bool:
    """End one; whether there was one to end."""
    return connection.execute(_REVOKE, (at, token_id)).rowcount == 1
