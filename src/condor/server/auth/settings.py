"""How people and programs sign in, and where that may be done.

Law: without a setting nothing is served; what trusts its machine is reached from that machine alone.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Literal

from condor.core.errors import RefusedInput
from condor.server.site import is_loopback

if TYPE_CHECKING:
    from condor.core.run import Principal

#: ``demo`` and ``development``: people of the packs, by a code that the terminal printed. ``tokens``:
#: programs by bearer tokens, and the operator of the home. (People by OIDC arrive later.)
AuthMode = Literal["demo", "development", "tokens"]

#: Seconds that a session lasts: a long shift.
SESSION_S: Final = 12 * 3600.0


@dataclass(frozen=True, slots=True, kw_only=True)
class AuthSettings:
    """Who may sign in to one server, and with what."""

    mode: AuthMode
    #: People who may sign in with a code.
    people: tuple[Principal, ...] = ()
    #: The secret in the home's ``server.json``, readable by the home's owner alone; empty: there is none.
    home_token: str = field(default="", repr=False)
    session_s: float = SESSION_S


def check_binding(mode: AuthMode | Literal[""], host: str) -> AuthMode:
    """The mode, if it may be served at this address.

    Raises:
        RefusedInput: no mode is set, or one that trusts the machine would be reached from others.
    """
    if not mode:
        raise RefusedInput(
            "nobody said who may sign in: set CONDOR_AUTH=tokens, or take --dev on this machine alone",
            code="no_auth",
        )
    if mode != "tokens" and not is_loopback(host):
        raise RefusedInput(
            f"{mode} sign-in trusts whoever reaches it, so it listens on 127.0.0.1 only, not on {host}",
            code="not_loopback",
        )
    return mode


__all__ = ["SESSION_S", "AuthMode", "AuthSettings", "check_binding"]
