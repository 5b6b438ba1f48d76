"""``condor tools kernel``: what an administrator laid on tools. A kernel only tightens."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import click

from condor.cli.coroutines import run_to_end
from condor.cli.options import home_option, json_option, utf8

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from condor.cli.screen import Screen

_tool = click.argument("tool", type=utf8, metavar="TOOL")
_reason = click.option("--reason", type=utf8, default="", metavar="TEXT", help="Why; kept with the revision.")


@click.group("kernel", no_args_is_help=False)
def kernel_command() -> None:
    """Tighten tools in the database: a higher tier, fewer approvers, no self-approval."""


@kernel_command.command("list")
@home_option
@json_option
def list_command(home: Path, *, as_json: bool) -> int:
    """List the tools with a kernel."""
    from condor.cli.screen import Screen

    screen, kernels = Screen(as_json=as_json), run_to_end(_all(home))
    if as_json:
        screen.json(kernels)
        return 0
    for told in kernels:
        _show(screen, told)
    if not kernels:
        screen.line("No kernel yet: every tool is as its author declared it.")
    return 0


@kernel_command.command("show")
@_tool
@home_option
@json_option
def show_command(tool: str, home: Path, *, as_json: bool) -> int:
    """Show a tool's kernel, revision by revision."""
    from condor.cli.screen import Screen
    from condor.core.errors import UnknownId

    screen = Screen(as_json=as_json)
    told = next((one for one in run_to_end(_all(home)) if one["tool"] == tool), None)
    if told is None:
        raise UnknownId("kernel", tool, "see `condor tools kernel list`")
    if as_json:
        screen.json(told)
        return 0
    _show(screen, told)
    for revision in told["revisions"]:
        why = f": {revision['reason']}" if revision["reason"] else ""
        screen.line(f"  {revision['rev']}  {revision['at']}  {revision['by']}{why}")
    return 0


@kernel_command.command("set")
@_tool
@click.option("--tier", type=click.Choice(["high"]), help="Raise its tier.")
@click.option(
    "--approver",
    "approvers",
    type=utf8,
    multiple=True,
    metavar="ROLE",
    help="Of those who may approve, only this.",
)
@click.option("--exclude-requester", is_flag=True, help="Whoever asked may not approve.")
@_reason
@home_option
@json_option
def set_command(
    tool: str,
    tier: str | None,
    approvers: tuple[str, ...],
    reason: str,
    home: Path,
    *,
    exclude_requester: bool,
    as_json: bool,
) -> int:
    """Tighten a tool; what was laid on it before stays. What would loosen is refused."""
    if not (tier or approvers or exclude_requester):
        raise click.UsageError("say what it tightens: --tier, --approver or --exclude-requester")
    given = {
        "hitlTier": tier,
        "approverRoles": list(approvers) or None,
        "requesterExcluded": exclude_requester,
    }
    named = {word: value for word, value in given.items() if value}
    return _put(home, tool, named, reason, as_json=as_json)


@kernel_command.command("clear")
@_tool
@_reason
@home_option
@json_option
def clear_command(tool: str, reason: str, home: Path, *, as_json: bool) -> int:
    """Take a tool's kernel off: it is as its author declared it. The revisions before stay."""
    return _put(home, tool, None, reason, as_json=as_json)


def _put(home: Path, tool: str, named: dict[str, Any] | None, reason: str, *, as_json: bool) -> int:
    """Lay what is named beside what holds; None: take all off."""
    from condor.cli.home import place_to_change
    from condor.cli.remote import Server
    from condor.cli.screen import Screen
    from condor.cli.session import holding
    from condor.core.run import LOCAL_PERSON
    from condor.server.server_file import running_server

    place, screen = place_to_change(home), Screen(as_json=as_json)
    file = running_server(place.path)

    async def local() -> Any:
        async with holding(place, Screen(), quiet=True) as condor:
            wanted = {**_held(await condor.kernels.one(tool)), **named} if named is not None else {}
            return await condor.kernels.put(
                tool, wanted, principal=LOCAL_PERSON, reason=reason, remove=named is None
            )

    if file is not None:
        path, server = f"/admin/tool-kernels/{quote(tool, safe='')}", Server(file)
        held = server.ask("GET", path, who=LOCAL_PERSON.id).body
        wanted = {**_held(held), **named} if named is not None else {"remove": True}
        body = {**wanted, "reason": reason, "rev": held["rev"]}
        told = server.ask("PUT", path, body, who=LOCAL_PERSON.id).body
    else:
        told = run_to_end(local())
    if as_json:
        screen.json(told)
    else:
        _show(screen, told)
    return 0


def _held(told: dict[str, Any]) -> dict[str, Any]:
    """What is laid on a tool; nothing where that is not known any more."""
    return {} if told["isShut"] else {word: value for word, value in told["kernel"].items() if value}


async def _all(home: Path) -> Sequence[dict[str, Any]]:
    from condor.cli.home import place_to_read
    from condor.cli.session import reading

    async with reading(place_to_read(home)) as condor:
        return await condor.kernels.all()


def kernel_words(told: dict[str, Any]) -> str:
    """``revision 2: tier high; only manager approves``."""
    kernel = told["kernel"]
    if told["isShut"]:
        return (
            f"revision {told['rev']}: changed or removed in the database, so nobody may approve; lay it anew"
        )
    said = [
        "tier high" if kernel["hitlTier"] else "",
        f"only {' or '.join(kernel['approverRoles'])} approves" if kernel["approverRoles"] else "",
        "whoever asked may not approve" if kernel["requesterExcluded"] else "",
    ]
    laid = "; ".join(filter(None, said)) or "as its author declared it"
    return f"revision {told['rev']}: {laid}"


def _show(screen: Screen, told: dict[str, Any]) -> None:
    screen.line(f"{told['tool']}  {kernel_words(told)}")


__all__ = ["kernel_command", "kernel_words"]
