"""Tokens of programs and sessions of people, as the store keeps them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from condor.core.ids import DEFAULT_TENANT, TenantId

TokenKind = Literal["program", "session"]


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenRow:
    """A bearer token of a program, or a person's signed-in session. The secret itself is nowhere."""

    token_id: str
    tenant_id: TenantId = DEFAULT_TENANT
    kind: TokenKind
    #: Hex SHA-256 of the secret, which has 256 bits of chance, so that nothing slower is needed.
    hash: str
    #: Whose it is, as JSON: ``{"id", "roles", "kind", "display"}``.
    principal: bytes
    #: What it may be used for; empty for a session.
    scopes: frozenset[str] = frozenset()
    created_at: str
    expires_at: str
    revoked_at: str | None = None


__all__ = ["TokenKind", "TokenRow"]
