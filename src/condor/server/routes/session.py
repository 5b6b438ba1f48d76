"""Signing in and out, tickets for streams, tokens of programs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fastapi import APIRouter, Request, Response

from condor.core.errors import NotAllowed, UnknownId
from condor.core.run import LOCAL_PERSON
from condor.ports.clock import timestamp
from condor.runtime.snapshot import WIRE_VERSION
from condor.server.answers import answers, body_of, json_answer
from condor.server.auth import make_token, token_json
from condor.server.auth.who import TICKET_S
from condor.server.edge import Here, SignedIn
from condor.server.reading import read_model
from condor.server.shapes import Me, People, SessionBody, Ticket, Token, TokenBody

if TYPE_CHECKING:
    from condor.server.auth import Caller

router = APIRouter(tags=["session"])


@router.post(
    "/session",
    summary="Sign in",
    responses=answers(204, "Signed in; the session is in the cookie", None, 429, reads_body=True),
    openapi_extra=body_of(SessionBody),
    status_code=204,
)
async def sign_in(request: Request, here: Here) -> Response:
    """In a demonstration or development home: the code of the sign-in link, or the home's own token."""
    body = await read_model(request, SessionBody)
    secret = await here.gate.sign_in(body.principal, body.code)
    return Response(status_code=204, headers={"set-cookie": here.gate.cookie(secret)})


@router.delete("/session", summary="Sign out", responses=answers(204, "Signed out", None), status_code=204)
async def sign_out(here: Here, caller: SignedIn) -> Response:
    """The session ends here and everywhere it was copied to. A program's token is revoked elsewhere."""
    if caller.by == "session":
        await here.gate.sign_out(caller)
        here.streams.cut(caller.token_id)
    return Response(status_code=204, headers={"set-cookie": here.gate.cookie("")})


@router.get("/session", summary="Who am I", responses=answers(200, "Who is signed in", Me))
async def who_am_i(here: Here, caller: SignedIn) -> Response:
    """The principal, its roles, how people sign in here, and who plans what they ask."""
    who = caller.principal
    named = {"principal": who.id, "display": who.name, "kind": who.kind, "roles": sorted(who.roles)}
    standing = {"scopes": sorted(caller.scopes), "mode": here.auth.mode, "example": here.condor.demo_request}
    return json_answer({"v": WIRE_VERSION, **named, **standing, "plannedBy": here.condor.planned_by})


@router.get(
    "/principals",
    summary="Who may sign in here with a code",
    responses=answers(200, "People, and who acts where nobody is named", People),
)
async def list_principals(here: Here, caller: SignedIn) -> Response:
    """In a demonstration or development home: its people. Elsewhere nobody."""
    if caller.principal.kind != "person":
        raise NotAllowed(f"{caller.principal.name} is a program; only people choose who acts")
    people = [{"id": who.id, "display": who.name, "roles": sorted(who.roles)} for who in here.auth.people]
    default = here.condor.default_principal
    named = default.id if default is not None and here.auth.mode == "demo" else LOCAL_PERSON.id
    return json_answer({"v": WIRE_VERSION, "people": people, "default": named})


@router.post(
    "/tickets",
    summary="Take a ticket for one stream",
    responses=answers(201, "To be used once, as `?ticket=`", Ticket),
    status_code=201,
)
async def take_ticket(here: Here, caller: SignedIn) -> Response:
    """For an EventSource, which can send no header; never put a token into an address."""
    ticket = here.gate.new_ticket(caller)
    return json_answer({"v": WIRE_VERSION, "ticket": ticket, "lifeS": TICKET_S}, 201)


# -- tokens of programs ----------------------------------------------------------------------


def _check_may_manage(caller: Caller) -> None:
    who = caller.principal
    if who.kind != "person" or not ("admin" in who.roles or who.id == LOCAL_PERSON.id):
        raise NotAllowed(f"{who.name} is no admin; an admin makes and revokes tokens")


@router.post(
    "/tokens",
    summary="Make a program's token",
    responses=answers(201, "The token; its secret is shown this once", Token, reads_body=True),
    openapi_extra=body_of(TokenBody),
    status_code=201,
)
async def create_token(request: Request, here: Here, caller: SignedIn) -> Response:
    """Scoped, expiring, kept as a hash. A program is at most guarded and answers nothing."""
    body = await read_model(request, TokenBody)
    _check_may_manage(caller)
    made = await make_token(
        here.condor.store,
        here.condor.clock,
        name=body.name,
        roles=body.roles,
        scopes=body.scopes,
        life_s=float(body.life_s),
    )
    return json_answer({**token_json(made.row), "secret": made.secret}, 201)


@router.get(
    "/tokens",
    summary="List the programs' tokens",
    responses=answers(200, "Tokens, oldest first", list[Token]),
)
async def list_tokens(here: Here, caller: SignedIn) -> Response:
    """Without their secrets, which nobody has."""
    _check_may_manage(caller)
    return json_answer([token_json(row) for row in await here.condor.store.tokens("program")])


@router.delete(
    "/tokens/{token_id}",
    summary="Revoke a program's token",
    responses=answers(204, "It counts no more", None, 404),
    status_code=204,
)
async def revoke_token(token_id: str, here: Here, caller: SignedIn) -> Response:
    """From its next request on it is nobody's."""
    _check_may_manage(caller)
    store, now = here.condor.store, timestamp(here.condor.clock.now())
    programs = {row.token_id for row in await store.tokens("program")}
    if token_id not in programs or not await store.revoke_token(token_id, now):
        raise UnknownId("token", token_id)
    here.streams.cut(token_id)
    return Response(status_code=204)


__all__ = ["router"]
