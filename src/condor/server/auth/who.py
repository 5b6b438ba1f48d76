"""The gate: who a request is from, by its cookie, its bearer token or its ticket; sign-in and sign-out.

Law 1: a request that shows two kinds of proof shows none.
Law 2: what a principal may is read at each request from who they are now, not from when they signed in.
"""

from __future__ import annotations

import datetime
import hmac
from dataclasses import dataclass
from http.cookies import CookieError, SimpleCookie
from typing import TYPE_CHECKING, Final, Literal
from urllib.parse import unquote

from condor.core.run import LOCAL_PERSON, Principal
from condor.ports.clock import timestamp
from condor.ports.encoding import decode, encode
from condor.ports.tokens import TokenRow
from condor.server.auth.secret import SECRET_CHARS_MAX, OneUse, hash_of, new_secret
from condor.server.problems import Refused
from condor.server.throttle import Throttle

if TYPE_CHECKING:
    from starlette.requests import Request

    from condor.ports.clock import Clock
    from condor.ports.store import Store
    from condor.server.auth.settings import AuthSettings
    from condor.server.site import Site

#: Seconds that a sign-in code waits to be used: the demonstration's link is opened after a coffee.
_CODE_S: Final = 3600.0
#: Seconds that a ticket waits to be used: a page takes it and opens its stream at once.
TICKET_S: Final = 30.0
#: In whose name a page asks, percent-encoded. A page of one person that outlives their session is refused,
#: not answered as whoever signed in after them.
PRINCIPAL_HEADER: Final = "condor-principal"
#: Tries with a wrong code, for everybody together: 10 at once, then one every 5 seconds.
_TRIES_BURST, _TRIES_PER_S = 10, 0.2


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """Who a request is from."""

    principal: Principal
    #: What they showed.
    by: Literal["session", "token", "ticket"]
    #: What a program's token is for; people need none.
    scopes: frozenset[str] = frozenset()
    #: Id of the session or token, to end it.
    token_id: str = ""

    def need(self, scope: str) -> None:
        """Refuse a program whose token is not for this.

        Raises:
            Refused: ``missing_scope``.
        """
        if self.principal.kind != "person" and scope not in self.scopes:
            raise Refused("missing_scope", f"this token is not for {scope}", scope=scope)


class Gate:
    """Sign-in of one server."""

    def __init__(self, auth: AuthSettings, site: Site, store: Store, clock: Clock) -> None:
        """Everybody is signed out, but for sessions that outlived a restart."""
        self._auth, self._site, self._store, self._clock = auth, site, store, clock
        #: The operator signs in where the home's own secret is shown.
        self._people = {person.id: person for person in (LOCAL_PERSON, *auth.people)}
        self._codes: OneUse[str] = OneUse("code", life_s=_CODE_S, clock=clock)
        self._tickets: OneUse[Caller] = OneUse("ticket", life_s=TICKET_S, clock=clock)
        self._tries = Throttle(burst=_TRIES_BURST, per_s=_TRIES_PER_S, clock=clock)

    # -- sign-in -----------------------------------------------------------------------------

    def new_code(self, principal_id: str) -> str:
        """A code that signs this person in, once."""
        return self._codes.issue(principal_id)

    async def sign_in(self, principal_id: str, code: str) -> str:
        """The secret of a new session.

        Raises:
            Refused: ``not_signed_in`` whatever is wrong; ``too_many_requests`` after many wrong codes.
        """
        self._tries.check("sign-in")
        person = self._people.get(principal_id)
        if person is None or not self._counts(principal_id, code):
            self._tries.count("sign-in")
            raise Refused("not_signed_in", "nobody is signed in with this name and code")
        now = self._clock.now()
        secret = new_secret("ses")
        await self._store.add_token(
            TokenRow(
                token_id=self._clock.new_id("tok"),
                kind="session",
                hash=hash_of(secret),
                principal=encode(person.to_json()),
                created_at=timestamp(now),
                expires_at=timestamp(now + datetime.timedelta(seconds=self._auth.session_s)),
            )
        )
        return secret

    def _counts(self, principal_id: str, code: str) -> bool:
        home = self._auth.home_token
        if home and hmac.compare_digest(hash_of(code), hash_of(home)):
            return True
        return principal_id != LOCAL_PERSON.id and self._codes.redeem(code) == principal_id

    async def sign_out(self, caller: Caller) -> None:
        """End the session."""
        await self._store.revoke_token(caller.token_id, timestamp(self._clock.now()))

    def cookie(self, secret: str) -> str:
        """The Set-Cookie header of a session; an empty secret removes it."""
        life_s = int(self._auth.session_s) if secret else 0
        secure = "; Secure" if self._site.is_secure else ""
        return f"{self._site.cookie}={secret}; Path=/; Max-Age={life_s}; HttpOnly; SameSite=Strict{secure}"

    # -- who asks ----------------------------------------------------------------------------

    def new_ticket(self, caller: Caller) -> str:
        """A ticket for one stream."""
        return self._tickets.issue(
            Caller(principal=caller.principal, by="ticket", scopes=caller.scopes, token_id=caller.token_id)
        )

    async def caller(self, request: Request, *, takes_ticket: bool = False) -> Caller:
        """Who asks.

        Raises:
            Refused: ``not_signed_in``.
        """
        bearer = self._bearer(request)
        cookie = self._cookie_of(request)
        ticket = request.query_params.get("ticket", "") if takes_ticket else ""
        if bearer and (cookie or ticket):
            raise Refused("not_signed_in", "a request shows one proof of who asks, not two")
        if ticket:
            found = self._tickets.redeem(ticket)
            if found is None:
                raise Refused("not_signed_in", "the ticket was used, or has expired")
            return found
        caller = await self._known(bearer or cookie, "program" if bearer else "session")
        if caller is None:
            raise Refused("not_signed_in")
        claimed = request.headers.get(PRINCIPAL_HEADER)
        if claimed is not None and unquote(claimed) != caller.principal.id:
            raise Refused("not_signed_in", "somebody else is signed in now; nothing was done in their name")
        return caller

    async def _known(self, secret: str, kind: Literal["program", "session"]) -> Caller | None:
        if not secret or len(secret) > SECRET_CHARS_MAX:
            return None
        row = await self._store.token(hash_of(secret))
        if row is None or row.kind != kind or row.revoked_at is not None:
            return None
        if row.expires_at <= timestamp(self._clock.now()):
            return None
        principal = Principal.from_json(decode(row.principal))
        if kind == "program":
            return Caller(principal=principal, by="token", scopes=row.scopes, token_id=row.token_id)
        person = self._people.get(principal.id)
        if person is None:
            return None
        return Caller(principal=person, by="session", token_id=row.token_id)

    def _bearer(self, request: Request) -> str:
        given = request.headers.get("authorization", "")
        if not given:
            return ""
        scheme, _, secret = given.partition(" ")
        if scheme.lower() != "bearer" or not secret.strip():
            raise Refused("not_signed_in", "the Authorization header is not `Bearer <token>`")
        return secret.strip()

    def _cookie_of(self, request: Request) -> str:
        try:
            found = SimpleCookie(request.headers.get("cookie", "")).get(self._site.cookie)
        except CookieError:
            return ""
        return "" if found is None else found.value


__all__ = ["TICKET_S", "Caller", "Gate"]
