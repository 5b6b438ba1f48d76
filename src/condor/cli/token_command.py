"""``condor token``: bearer tokens of programs: made, listed, revoked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from condor.cli.coroutines import run_to_end
from condor.cli.options import home_option, json_option, utf8

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from condor.bootstrap import Condor

_DAY_S = 24 * 3600


@click.group("token", no_args_is_help=False)
def token_command() -> None:
    """Tokens with which programs use the HTTP API."""


@token_command.command("create")
@click.option(
    "--name", type=utf8, required=True, metavar="NAME", help="The program; in the audit program:NAME."
)
@click.option(
    "--role", "roles", type=utf8, multiple=True, metavar="ROLE", help="As which its runs call tools."
)
@click.option(
    "--scope",
    "scopes",
    type=utf8,
    multiple=True,
    metavar="SCOPE",
    help="runs:read, runs:start, runs:stop, policy:read or record:read.  [default: runs:read, runs:start]",
)
@click.option("--days", type=click.IntRange(1, 365), default=30, show_default=True, help="Until it expires.")
@home_option
@json_option
def create_command(
    name: str, roles: tuple[str, ...], scopes: tuple[str, ...], days: int, home: Path, *, as_json: bool
) -> int:
    """Make a token. Its secret is shown this once; a program is at most guarded and answers no card."""
    from condor.cli.screen import Screen

    wanted = list(scopes or ("runs:read", "runs:start"))
    body = {"name": name, "roles": list(roles), "scopes": wanted, "lifeS": days * _DAY_S}

    async def here(condor: Condor) -> Any:
        from condor.server.auth import make_token, token_json

        made = await make_token(
            condor.store, condor.clock, name=name, roles=roles, scopes=wanted, life_s=days * _DAY_S
        )
        return {**token_json(made.row), "secret": made.secret}

    made = _done(home, here, "POST", "/tokens", body)
    screen = Screen(as_json=as_json)
    if as_json:
        screen.json(made)
        return 0
    screen.note(
        f"condor: {made['tokenId']} for {made['principal']}, {', '.join(made['scopes'])}, "
        f"until {made['expiresAt']}; it is shown this once:"
    )
    screen.line(str(made["secret"]))
    return 0


@token_command.command("list")
@home_option
@json_option
def list_command(home: Path, *, as_json: bool) -> int:
    """List the tokens, without their secrets, which nobody has."""
    from condor.cli.screen import Screen

    async def read() -> list[dict[str, Any]]:
        from condor.cli.home import place_to_read
        from condor.cli.session import reading
        from condor.server.auth import token_json

        async with reading(place_to_read(home)) as condor:
            return [token_json(row) for row in await condor.store.tokens("program")]

    screen, tokens = Screen(as_json=as_json), run_to_end(read())
    if as_json:
        screen.json(tokens)
        return 0
    for token in tokens:
        ends = f"revoked {token['revokedAt']}" if token["revokedAt"] else f"until {token['expiresAt']}"
        screen.line(f"{token['tokenId']}  {token['principal']}  {', '.join(token['scopes'])}  {ends}")
    if not tokens:
        screen.line("No token yet.")
    return 0


@token_command.command("revoke")
@click.argument("token_id", type=utf8, metavar="TOKEN_ID")
@home_option
@json_option
def revoke_command(token_id: str, home: Path, *, as_json: bool) -> int:
    """End a token; it counts no more from its next request on."""
    from condor.cli.screen import Screen
    from condor.core.errors import UnknownId

    async def here(condor: Condor) -> None:
        from condor.ports.clock import timestamp

        programs = {row.token_id for row in await condor.store.tokens("program")}
        now = timestamp(condor.clock.now())
        if token_id not in programs or not await condor.store.revoke_token(token_id, now):
            raise UnknownId("token", token_id, "see `condor token list`")

    _done(home, here, "DELETE", f"/tokens/{token_id}", None)
    screen = Screen(as_json=as_json)
    if as_json:
        screen.json({"tokenId": token_id, "revoked": True})
    else:
        screen.line(f"Revoked {token_id}.")
    return 0


def _done(home: Path, here: Callable[[Condor], Any], method: str, path: str, body: object) -> Any:
    """Do it through the home's server, or in the home."""
    from condor.cli.home import place_to_change
    from condor.cli.remote import Server
    from condor.cli.screen import Screen
    from condor.cli.session import holding
    from condor.core.run import LOCAL_PERSON
    from condor.server.server_file import running_server

    place = place_to_change(home)
    file = running_server(place.path)
    if file is not None:
        return Server(file).ask(method, path, body, who=LOCAL_PERSON.id).body

    async def local() -> Any:
        async with holding(place, Screen(), quiet=True) as condor:
            return await here(condor)

    return run_to_end(local())


__all__ = ["token_command"]
