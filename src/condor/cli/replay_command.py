"""``condor replay``: recorded calls judged by another policy or other descriptors; what would differ."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from condor.cli.coroutines import run_to_end
from condor.cli.options import home_option, json_option, utf8

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from rich.console import RenderableType

    from condor.tools import ToolDescriptor
    from condor.tools.replay import Difference, Judgement, Replay
    from condor.tools.replay_files import Matrix, RecordedCall


@click.command("replay", short_help="Judge recorded calls by a changed policy or changed tools.")
@click.option(
    "--calls", metavar="FILE", help="Recorded calls, one JSON object a line; default: the home's audit."
)
@click.option("--run", type=utf8, metavar="RUN_ID", help="Only this run's calls.")
@click.option(
    "--rules",
    metavar="FILE",
    help="A matrix as `condor policy matrix --json` prints it.",
)
@click.option("--tools", metavar="FILE", help="Tools as `condor tools list --json` prints them.")
@click.option("--export", is_flag=True, help="Print the recorded calls, one a line, and judge nothing.")
@click.option("--only-looser", is_flag=True, help="List, and exit with 9 for, looser and gone ones alone.")
@home_option
@json_option
def replay_command(
    calls: str | None,
    run: str | None,
    rules: str | None,
    tools: str | None,
    home: Path,
    *,
    export: bool,
    only_looser: bool,
    as_json: bool,
) -> int:
    """Judge every recorded call anew, by the installed policy and tools or by changed ones; run nothing.

    Exits with 9 when a call would be judged differently.
    """
    from condor.cli.screen import Screen
    from condor.tools.replay import replay_calls

    screen = Screen(as_json=as_json)
    recorded = run_to_end(_recorded(home, calls, run))
    if export:
        for call in recorded:
            screen.json(call.to_json())
        return 0
    matrix, descriptors = _changed(home, rules, tools)
    replay = replay_calls(recorded, descriptors, rules=matrix)
    return _told(screen, replay, only_looser=only_looser)


async def _recorded(home: Path, calls: str | None, run: str | None) -> Sequence[RecordedCall]:
    from condor.cli.home import place_to_read
    from condor.cli.reading_input import lines_of
    from condor.cli.session import reading
    from condor.runtime.recorded import recorded_calls
    from condor.tools.replay_files import calls_from_lines

    if calls is not None:
        found = list(calls_from_lines(lines_of(calls, "the calls"), "the calls"))
        return [call for call in found if run in (None, call.run_id)]
    async with reading(place_to_read(home)) as condor:
        if run is not None:
            await condor.show(run)  # a run that nobody knows is refused
        return [call async for call in recorded_calls(condor.store, run)]


def _changed(
    home: Path, rules: str | None, tools: str | None
) -> tuple[Matrix | None, Sequence[ToolDescriptor]]:
    """The matrix, if another one is given, and the tools to judge by."""
    from condor.cli.reading_input import read_json_source
    from condor.tools.replay_files import rules_from_json, tools_from_json

    matrix = None
    if rules is not None:
        matrix = rules_from_json(read_json_source(rules, "the matrix"), "the matrix")
    installed = run_to_end(_installed(home))
    if tools is None:
        return matrix, installed
    return matrix, tools_from_json(read_json_source(tools, "the tools"), "the tools", installed)


async def _installed(home: Path) -> Sequence[ToolDescriptor]:
    from condor.cli.home import place_to_look_at_tools
    from condor.cli.session import looking_at_packs

    async with looking_at_packs(place_to_look_at_tools(home)) as looked_at:
        return list(looked_at.tools)


def _told(screen: Any, replay: Replay, *, only_looser: bool) -> int:
    from condor.cli.exit_codes import Exit
    from condor.cli.values import count
    from condor.tools.replay import MARKS

    if only_looser:
        replay.differences = [found for found in replay.differences if found.mark in ("looser", "gone")]
    if screen.as_json:
        screen.json(replay.to_json())
        return Exit.FOUND if replay.differences else Exit.FINE
    for found in replay.differences:
        screen.show(_difference(found))
    differing = sum(found.count for found in replay.differences)
    counts = ", ".join(f"{replay.marked(mark)} {_WORDS[mark]}" for mark in MARKS if replay.marked(mark))
    said = f"{count(replay.calls, 'call')}, {differing} judged differently" + (
        f": {counts}" if counts else ""
    )
    if replay.by_facts:
        said += f" ({count(replay.by_facts, 'call')} without arguments, which were erased)"
    screen.line(said, "bold yellow" if differing else "green")
    return Exit.FOUND if differing else Exit.FINE


_WORDS = {
    "stricter": "stricter",
    "looser": "looser",
    "other": "for another reason",
    "gone": "of tools that are gone",
}
_STYLES = {"stricter": "yellow", "looser": "bold red", "other": "dim", "gone": "bold red"}


def _difference(found: Difference) -> RenderableType:
    from rich.console import Group
    from rich.padding import Padding
    from rich.text import Text

    from condor.cli.card import pairs
    from condor.cli.screen import said
    from condor.cli.values import count
    from condor.cli.visible import visible_word

    call = " · ".join(visible_word(part) for part in (found.tool, found.op) if part)
    head = Text.assemble((found.mark, _STYLES[found.mark]), "  ", (call, "bold"), f"  {found.autonomy}")
    rows = [
        ("was", said(_judgement(found.before))),
        ("is", said(_judgement(found.after) if found.after else "no such tool")),
        ("calls", said(count(found.count, "call"))),
        ("such as", said(", ".join(f"{run}/{step}" for run, step in found.examples if run))),
    ]
    return Group(head, Padding(pairs([row for row in rows if row[1].plain]), (0, 0, 0, 2), expand=False))


def _judgement(judged: Judgement) -> str:
    from condor.cli.visible import visible_word

    parts = [visible_word(judged.decision), visible_word(judged.rule_id)]
    if judged.promotions:
        parts.append(f"promoted by {', '.join(map(visible_word, judged.promotions))}")
    if judged.approvers is not None:
        parts.append(f"answered by {' or '.join(map(visible_word, sorted(judged.approvers))) or 'anybody'}")
    return ", ".join(part for part in parts if part)


__all__ = ["replay_command"]
