"""``condor tools``: what tools there are, and what their authors left out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from condor.cli.coroutines import run_to_end
from condor.cli.kernel_command import kernel_command, kernel_words
from condor.cli.options import home_option, json_option

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from rich.console import RenderableType

    from condor.cli.screen import Screen
    from condor.tools import ToolDescriptor


@click.group("tools", no_args_is_help=False)
def tools_command() -> None:
    """Look at the tools of this home's packs."""


tools_command.add_command(kernel_command)


@tools_command.command("list")
@home_option
@json_option
def list_command(home: Path, *, as_json: bool) -> int:
    """List every tool: its class, its tier, its ops, who may call and approve it, and its kernel."""
    from condor.cli.screen import Screen
    from condor.tools.explain import tool_json

    screen = Screen(as_json=as_json)
    laid = {str(kernel["tool"]): kernel for kernel in _kernels(home, screen)}
    tools = [{**tool_json(tool), "kernel": _kernel(laid.get(tool.name))} for tool in run_to_end(_tools(home))]
    if as_json:
        screen.json(tools)
        return 0
    for tool in tools:
        screen.show(_entry(tool))
    return 0


@tools_command.command("check")
@home_option
@json_option
def check_command(home: Path, *, as_json: bool) -> int:
    """Look for what descriptors left out, and for kernels that are lost. Exits with 9 for an error."""
    from condor.cli.exit_codes import Exit
    from condor.cli.screen import Screen
    from condor.cli.values import count
    from condor.tools.lint import lint_kernels, lint_tools

    screen = Screen(as_json=as_json)
    tools = run_to_end(_tools(home))
    kernels = _kernels(home, screen)
    findings = [*lint_tools(tools), *lint_kernels((tool.name for tool in tools), kernels)]
    errors = sum(finding.level == "error" for finding in findings)
    if as_json:
        screen.json(
            [{"tool": f.tool, "level": f.level, "code": f.code, "message": f.message} for f in findings]
        )
    else:
        for found in findings:
            style = "bold red" if found.level == "error" else "yellow"
            screen.line(f"{found.level}: {found.tool}: {found.message} [{found.code}]", style)
        warnings = count(len(findings) - errors, "warning")
        for kernel in kernels:
            screen.line(f"kernel: {kernel['tool']}: {kernel_words(kernel)}")
        summary = f"{count(len(tools), 'tool')}: {count(errors, 'error')}, {warnings}"
        screen.line(summary, "bold red" if errors else "green")
    return Exit.FOUND if errors else Exit.FINE


async def _tools(home: Path) -> Sequence[ToolDescriptor]:
    from condor.cli.home import place_to_look_at_tools
    from condor.cli.session import looking_at_packs
    from condor.tools.registry import ToolRegistry

    async with looking_at_packs(place_to_look_at_tools(home)) as looked_at:
        return sorted(ToolRegistry(looked_at.tools), key=lambda tool: tool.name)


def _kernels(home: Path, screen: Screen) -> Sequence[dict[str, Any]]:
    """What is laid on tools; nothing where there is no home yet."""
    return run_to_end(_stored_kernels(home, screen)) if home.is_dir() else []


async def _stored_kernels(home: Path, screen: Screen) -> Sequence[dict[str, Any]]:
    """What is laid on tools; nothing, and that is said, where the database cannot be asked."""
    from condor.cli.home import place_to_read
    from condor.cli.session import reading
    from condor.core.errors import HomeUnusable

    try:
        async with reading(place_to_read(home)) as condor:
            return await condor.kernels.all()
    except HomeUnusable as error:
        screen.note(f"kernels are not shown: {error}")
        return []


def _kernel(told: dict[str, Any] | None) -> dict[str, Any] | None:
    return None if told is None else {"rev": told["rev"], "isShut": told["isShut"], **told["kernel"]}


def _entry(tool: dict[str, Any]) -> RenderableType:
    from rich.console import Group
    from rich.padding import Padding
    from rich.text import Text

    from condor.cli.card import approvers_in_words, pairs
    from condor.cli.screen import said

    tier = f", tier {tool['hitlTier'] or 'none declared'}" if tool["policyClass"] == _RECORD_WRITE else ""
    rows = [
        ("class", said(f"{tool['policyClass']}{tier}")),
        ("ops", said(", ".join(tool["ops"]))),
        ("may call", said(" or ".join(tool["roles"]) or "anybody signed in")),
        ("may approve", said("" if tool["policyClass"] == "read" else approvers_in_words(tool["approvers"]))),
        (
            "kernel",
            said(kernel_words({**tool["kernel"], "kernel": tool["kernel"]}) if tool["kernel"] else ""),
        ),
        ("takes", said(", ".join(f"{a['name']}{'' if a['required'] else '?'}" for a in tool["args"]))),
    ]
    head = Text.assemble((tool["name"], "bold"), "  ", said(tool["title"]))
    return Group(head, Padding(pairs([row for row in rows if row[1].plain]), (0, 0, 0, 2), expand=False))


#: The class that has tiers.
_RECORD_WRITE = "mutate"

__all__ = ["tools_command"]
