"""``condor demo``: the main job on made-up data, told step by step.

Law: in a terminal a person decides; anywhere else the same run is driven through, and never waits.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

from condor.cli.coroutines import run_to_end
from condor.cli.serve_command import server_options

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from condor.cli.following import Snapshot
    from condor.cli.home import Place
    from condor.cli.screen import Screen
    from condor.core.run import Principal


@click.command("demo", short_help="See the main job, told step by step.")
@click.option(
    "--home",
    type=click.Path(path_type=Path, readable=False),
    help="Directory for it: new, or an earlier demonstration's.  [default: .condor/demo; with --serve the "
    "home that `condor` uses: CONDOR_HOME, else .condor]",
)
@click.option(
    "--serve", is_flag=True, help="Serve the demonstration over HTTP instead, and print sign-in links."
)
@click.option("--list", "lists", is_flag=True, help="Only say what there is to try, and run nothing.")
@click.option("--faults", is_flag=True, help="Let tools go wrong on purpose, and see what the runs do.")
@server_options
def demo_command(
    home: Path | None, port: int | None, *, serve: bool, lists: bool, faults: bool, no_browser: bool
) -> int:
    """See the main job: a request, a risky write that waits, your decision, an honest closing.

    With --list: requests to try, each with what to look for, and faults to switch on.
    With --faults: tools that fail, what stands in for them, and what is said of it.

    Begins afresh every time, on made-up patients. Not in a terminal it is driven through and printed.
    """
    if serve or no_browser or port is not None:
        return _serve(home, port, faults=faults, opens=not no_browser)
    from condor.cli.demo_faults import tell_faults
    from condor.cli.demo_home import fresh_home
    from condor.cli.screen import Screen

    screen = Screen()
    if lists:
        return _list(screen, home)
    place, held = fresh_home(home)
    with held:
        return tell_faults(screen, place) if faults else _tell(screen, place)


def _serve(home: Path | None, port: int | None, *, faults: bool, opens: bool) -> int:
    """The demonstration hospital as a server, on this machine alone; it keeps what happens in it."""
    from condor.cli.home import DEFAULT_HOME, HOME_VARIABLE
    from condor.cli.serve_command import serve_home
    from condor.config import read_settings

    where = home or Path(os.environ.get(HOME_VARIABLE) or DEFAULT_HOME)
    settings = read_settings(home=where)
    return serve_home(
        settings,
        where,
        host="127.0.0.1",
        port=port,
        mode="demo",
        is_demo=True,
        shows_faults=faults,
        opens=opens,
    )


def _list(screen: Screen, home: Path | None) -> int:
    from condor.cli.demo_scenes import tell_scenes
    from condor.cli.home import DEFAULT_HOME, HOME_VARIABLE, place_to_run

    tell_scenes(screen, place_to_run(home or Path(os.environ.get(HOME_VARIABLE) or DEFAULT_HOME)))
    return 0


def _tell(screen: Screen, place: Place) -> int:
    """The whole story; the exit code."""
    from condor.cli.demo_scenes import tell_scenes
    from condor.cli.exit_codes import Exit
    from condor.cli.home import home_words, make
    from condor.cli.run_command import begin
    from condor.cli.run_view import open_cards, show_rest

    place = make(place)
    request = run_to_end(_prepared(screen, place))
    screen.chapter(1, "The request", _ABOUT_REQUEST)
    screen.line(f"“{request}”", "bold")
    who, run = begin(screen, place, text=request, plan=None, autonomy="autonomous", user=None)
    if open_cards(run):
        screen.chapter(2, "The wait", _ABOUT_WAIT)
        run = _decided(screen, place, who, run)
    where = home_words(place.path)
    screen.chapter(3, "How it ended", _ABOUT_CLOSING)
    show_rest(screen, run, where=where, cards=False)
    kept = _show_audit(screen, place, run)
    screen.chapter(5, "Where it is", ())
    screen.line(f"Everything of this is in {place.path}. Look around:")
    for command in (f"condor show {run['runId']}{where}", f"condor audit{where}", "condor policy matrix"):
        screen.line(f"  {command}")
    tell_scenes(screen, place, first=6)
    ended_well = kept and run["status"] in ("succeeded", "aborted", "suspended")
    return Exit.FINE if ended_well else Exit.FAILED


async def _prepared(screen: Screen, place: Place) -> str:
    """Make the data; the request to show."""
    from condor.cli.session import owning
    from condor.core.errors import HomeUnusable

    async with owning(place, screen) as condor:
        if condor.demo_request is None:
            raise HomeUnusable(
                f"the pack {', '.join(place.packs)} brings no request to show; try `condor run`"
            )
        return condor.demo_request


def _decided(screen: Screen, place: Place, who: Principal, run: Snapshot) -> Snapshot:
    """A person's decision, where one is there; else the doctor's who asked."""
    if screen.interactive:
        from condor.cli.dialogue import converse

        return converse(screen, place, who, run)
    from condor.cli.card import suspend_card
    from condor.cli.run_view import open_cards, plan_says

    while cards := open_cards(run):
        card = cards[0]
        screen.show(suspend_card(card, plan_says=plan_says(run, card), columns=screen.out.width))
        if card["reasonCode"] != "approval":
            screen.line("This is not a terminal, and only a person can answer that: it stays parked.")
            return run
        screen.line(f"This is not a terminal: driven through, approved as {who.name}.", "bold")
        run = run_to_end(_approved(screen, place, who, card))
    return run


async def _approved(screen: Screen, place: Place, who: Principal, card: Mapping[str, Any]) -> Snapshot:
    from condor.cli.following import follow, last_seq
    from condor.cli.session import owning

    async with owning(place, screen, quiet=True) as condor:
        seen = await last_seq(condor, card["runId"])
        await condor.resume(card["runId"], card["suspendId"], {"approved": True}, principal=who)
        return await follow(condor, card["runId"], screen, after=seen)


def _show_audit(screen: Screen, place: Place, run: Snapshot) -> bool:
    """The run's chain, and whether it is whole."""
    from condor.cli.audit_table import audit_rows
    from condor.cli.session import reading
    from condor.ports.store import AuditFilter
    from condor.runtime.snapshot import audit_json

    async def read() -> tuple[list[dict[str, Any]], list[Any]]:
        async with reading(place) as condor:
            rows = await condor.audit(AuditFilter(run_id=run["runId"]))
            return [audit_json(row) for row in rows], [verdict async for verdict in condor.verify()]

    rows, verdicts = run_to_end(read())
    screen.chapter(4, "The audit", _ABOUT_AUDIT)
    for block in audit_rows(rows):
        screen.show(block)
    kept = all(verdict.kept for verdict in verdicts)
    for verdict in verdicts:
        screen.line(
            f"{'✓' if verdict.kept else '✗'} {verdict.message}", "green" if verdict.kept else "bold red"
        )
    return kept


_ABOUT_REQUEST = (
    "A person types what should be done. A plan is made from it; reading the record needs nobody.",
)
_ABOUT_WAIT = (
    "The write is high-tier: the policy stops it whatever the plan says, and the run is parked.",
    "Nothing is running now. The card is read from the record itself, not from the plan or a model.",
    "What is approved is exactly this call; it then runs once.",
)
_ABOUT_CLOSING = ("The closing is made from what happened, step by step; what did not happen is named.",)
_ABOUT_AUDIT = ("Every decision is a row whose hash covers the row before it; a changed row shows.",)

__all__ = ["demo_command"]
