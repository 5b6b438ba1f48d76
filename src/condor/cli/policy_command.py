"""``condor policy``: the matrix, and the verdict that a call would get. Nothing is run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from condor.cli.coroutines import run_to_end
from condor.cli.options import autonomy_option, home_option, json_option, utf8

if TYPE_CHECKING:
    from pathlib import Path

    from rich.console import RenderableType


@click.group("policy", no_args_is_help=False)
def policy_command() -> None:
    """Ask the policy: may this call run without a person?"""


@policy_command.command("matrix")
@json_option
def matrix_command(*, as_json: bool) -> int:
    """Show the rules in the order in which they are asked."""
    from condor.cli.screen import Screen
    from condor.tools.explain import policy_matrix

    screen = Screen(as_json=as_json)
    rows = policy_matrix()
    if as_json:
        screen.json(rows)
        return 0
    for row in rows:
        screen.show(_rule(row))
    return 0


@policy_command.command("explain")
@click.argument("tool", type=utf8, metavar="TOOL")
@click.option(
    "--args", "args_json", default="{}", metavar="JSON", help="The call's arguments; - is standard input."
)
@autonomy_option
@home_option
@json_option
def explain_command(tool: str, args_json: str, autonomy: str, home: Path, *, as_json: bool) -> int:
    """Show the verdict that a call of TOOL would get."""
    from condor.cli.reading_input import read_json_text
    from condor.cli.screen import Screen
    from condor.core.errors import RefusedInput
    from condor.core.ids import kind_of

    args = read_json_text(args_json, "--args")
    if not isinstance(args, dict):
        raise RefusedInput(f"--args is {kind_of(args)}; write an object of arguments")
    screen = Screen(as_json=as_json)
    verdict = run_to_end(_explained(home, tool, args, autonomy))
    if as_json:
        screen.json(verdict)
    else:
        screen.show(_verdict(verdict))
    return 0


async def _explained(home: Path, name: str, args: dict[str, Any], autonomy: str) -> dict[str, Any]:
    from condor.cli.home import place_to_look_at_tools
    from condor.cli.session import looking_at_packs
    from condor.tools.explain import explain_call
    from condor.tools.registry import ToolRegistry

    async with looking_at_packs(place_to_look_at_tools(home)) as looked_at:
        return dict(explain_call(ToolRegistry(looked_at.tools).get(name), args, autonomy=autonomy))


def _rule(row: dict[str, Any]) -> RenderableType:
    from rich.console import Group
    from rich.padding import Padding
    from rich.text import Text

    from condor.cli.card import pairs
    from condor.cli.screen import said

    rows = [
        ("class", said(row["policyClass"] or "anything else")),
        ("tier", said(row["effectiveTier"] or "any")),
        ("dispatch", said(row["dispatch"] or "any")),
        ("because", said(row["why"])),
    ]
    head = Text.assemble((row["ruleId"], "bold"), "  ", (row["decision"], _decision_style(row["decision"])))
    return Group(head, Padding(pairs(rows), (0, 0, 0, 2), expand=False))


def _verdict(verdict: dict[str, Any]) -> RenderableType:
    from rich.console import Group
    from rich.padding import Padding
    from rich.text import Text

    from condor.cli.card import approvers_in_words, pairs
    from condor.cli.screen import said
    from condor.cli.visible import visible_word
    from condor.tools.explain import PROMOTION_WORDS

    rows = [
        ("call", said(" · ".join(visible_word(part) for part in (verdict["tool"], verdict["op"]) if part))),
        ("dispatch", said(verdict["autonomy"])),
        ("rule", said(f"{verdict['ruleId']}: {verdict['why']}")),
        ("class", said(verdict["policyClass"] or "unknown")),
    ]
    if verdict["effectiveTier"]:
        rows.append(("tier", said(f"{verdict['effectiveTier']} (declared {verdict['hitlTier'] or 'none'})")))
    rows += [("promoted", said(f"{name}: {PROMOTION_WORDS.get(name, '')}")) for name in verdict["promotions"]]
    rows.append(("may call", said(" or ".join(verdict["roles"]) or "anybody signed in")))
    if verdict["decision"] != "allow":
        rows.append(("may answer", said(approvers_in_words(verdict["approvers"]))))
    if verdict["missing"]:
        rows.append(("missing", said(f"{', '.join(verdict['missing'])}: it would be asked for first")))
    head = Text(verdict["decision"], style=_decision_style(verdict["decision"]))
    return Group(head, Padding(pairs(rows), (0, 0, 0, 2), expand=False))


def _decision_style(decision: str) -> str:
    return "bold green" if decision == "allow" else "bold yellow"


__all__ = ["policy_command"]
