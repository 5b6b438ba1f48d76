"""Bearer tokens of programs: made once, kept as a hash, scoped, expiring, revocable."""

from __future__ import annotations

import datetime
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from condor.core.errors import RefusedInput, show
from condor.core.run import Principal
from condor.ports.clock import timestamp
from condor.ports.encoding import decode, encode
from condor.ports.tokens import TokenRow
from condor.runtime.snapshot import WIRE_VERSION
from condor.server.auth.secret import hash_of, new_secret

if TYPE_CHECKING:
    from collections.abc import Iterable

    from condor.ports.clock import Clock
    from condor.ports.store import Store

#: What a token can be for; what it is not for is 403 ``missing_scope``.
SCOPES: Final = {
    "runs:read": "read, and follow, the runs that it started",
    "runs:start": "start runs, at most guarded",
    "runs:stop": "stop the runs that it started",
    "policy:read": "read the policy and the tools",
    "record:read": "read what packs serve beside the API: the patient record at /fhir",
}
#: Seconds that a token lasts where nobody says: a month.
_LIFE_S: Final = 30 * 24 * 3600.0
#: Longest life of a token: a year.
LIFE_S_MAX: Final = 365 * 24 * 3600.0
_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,62}")
_ROLE = re.compile(r"[a-z0-9][a-z0-9._-]{0,62}")


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenMade:
    """A new token: the only time its secret is seen."""

    secret: str = field(repr=False)
    row: TokenRow


async def make_token(
    store: Store,
    clock: Clock,
    *,
    name: str,
    roles: Iterable[str] = (),
    scopes: Iterable[str] = ("runs:read", "runs:start"),
    life_s: float = _LIFE_S,
) -> TokenMade:
    """Make a program's token.

    Args:
        name: of the program; it stands in the audit as ``program:<name>``.
        roles: as which its runs may call tools. It answers no card whatever they are.
        scopes: of ``SCOPES``.
        life_s: seconds until it expires.

    Raises:
        RefusedInput: with what is wrong; nothing is stored.
    """
    asked, wanted = frozenset(roles), frozenset(scopes)
    if not _NAME.fullmatch(name):
        raise RefusedInput(f"a program cannot be called {show(name)}: take a-z, 0-9, dot, dash, underscore")
    if unfit := sorted(role for role in asked if not _ROLE.fullmatch(role)):
        raise RefusedInput(f"{show(unfit[0])} is no role: take a-z, 0-9, dot, dash, underscore")
    if unknown := sorted(wanted - SCOPES.keys()):
        raise RefusedInput(f"{show(unknown[0])} is no scope; there are {', '.join(SCOPES)}")
    if not wanted or not 0 < life_s <= LIFE_S_MAX:
        raise RefusedInput("a token needs a scope, and a life of at most a year")
    now = clock.now()
    who = Principal(id=f"program:{name}", roles=asked, kind="program", display=name)
    secret = new_secret("cnd")
    row = TokenRow(
        token_id=clock.new_id("tok"),
        kind="program",
        hash=hash_of(secret),
        principal=encode(who.to_json()),
        scopes=wanted,
        created_at=timestamp(now),
        expires_at=timestamp(now + datetime.timedelta(seconds=life_s)),
    )
    await store.add_token(row)
    return TokenMade(secret=secret, row=row)


def token_json(row: TokenRow) -> dict[str, Any]:
    """A token without its secret."""
    who = decode(row.principal)
    return {
        "v": WIRE_VERSION,
        "tokenId": row.token_id,
        "principal": who["id"],
        "roles": who["roles"],
        "scopes": sorted(row.scopes),
        "createdAt": row.created_at,
        "expiresAt": row.expires_at,
        "revokedAt": row.revoked_at,
    }


__all__ = ["LIFE_S_MAX", "SCOPES", "TokenMade", "make_token", "token_json"]
