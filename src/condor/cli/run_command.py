"""``condor run``: a request or a plan becomes a run, followed to its rest."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Any

import click

from condor.cli.coroutines import run_to_end
from condor.cli.faults import FAULTS_VARIABLE, fault_option, with_faults
from condor.cli.options import as_option, autonomy_option, home_option, json_option, utf8

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from condor.cli.following import Snapshot
    from condor.cli.home import Place
    from condor.cli.screen import Screen
    from condor.core.run import Principal


@click.command("run", short_help="Do what TEXT asks; ask what a person must decide.")
@click.argument("text", type=utf8, metavar="[TEXT]", required=False)
@click.option("--plan", metavar="FILE", help="Run this plan (JSON) instead of words; - is standard input.")
@click.option(
    "--quote",
    "quotes",
    multiple=True,
    metavar="FILE",
    help="A text from elsewhere that it is about: data, never an order; every write planned beside it asks.",
)
@autonomy_option
@fault_option
@as_option
@home_option
@json_option
def run_command(
    text: str | None,
    plan: str | None,
    quotes: tuple[str, ...],
    autonomy: str,
    faults: tuple[str, ...],
    user: str | None,
    home: Path,
    *,
    as_json: bool,
) -> int:
    """Do what TEXT asks; in a terminal, ask for what a person must decide.

    Exits with 0 when it was done, 3 while it waits for a person, 4 failed, 5 aborted, 6 done in part.
    """
    from condor.cli.screen import Screen

    return run(
        Screen(as_json=as_json),
        home,
        text=text,
        plan_source=plan,
        quotes=quotes,
        autonomy=autonomy,
        user=user,
        faults=faults,
    )


def run(
    screen: Screen,
    home: Path,
    *,
    text: str | None,
    plan_source: str | None,
    autonomy: str,
    user: str | None,
    quotes: tuple[str, ...] = (),
    faults: tuple[str, ...] = (),
) -> int:
    """Start, follow, ask, and say how it ended; the exit code."""
    from condor.cli.exit_codes import exit_of_run
    from condor.cli.home import place_to_run
    from condor.cli.run_view import show_rest

    plan, quoted = _plan(text, plan_source), _quoted(quotes)
    place = with_faults(place_to_run(home), faults)
    who, snapshot, where = run_to_end(
        _begun(screen, place, text=text, plan=plan, autonomy=autonomy, user=user, quoted=quoted)
    )
    asked = screen.interactive and snapshot["status"] == "suspended"
    if asked:
        from condor.cli.dialogue import converse

        snapshot = converse(screen, place, who, snapshot, where=where)
    if screen.as_json:
        screen.json({"type": "run.snapshot", "run": snapshot})
    else:
        show_rest(screen, snapshot, where=where, cards=not asked)
    if faults and snapshot["status"] == "suspended":
        said = f"{FAULTS_VARIABLE}={shlex.quote(','.join(faults))}"
        screen.note(
            f"condor: --fault was for this command alone; what answers the run later has it too with {said}"
        )
    return exit_of_run(snapshot["status"])


def begin(
    screen: Screen,
    place: Place,
    *,
    text: str | None,
    plan: Any,
    autonomy: str,
    user: str | None,
) -> tuple[Principal, Snapshot]:
    """Start a run and follow it to its first rest; who asked, and the run."""
    who, snapshot, _ = run_to_end(_begun(screen, place, text=text, plan=plan, autonomy=autonomy, user=user))
    return who, snapshot


async def _begun(
    screen: Screen,
    place: Place,
    *,
    text: str | None,
    plan: Any,
    autonomy: str,
    user: str | None,
    quoted: Mapping[str, str] | None = None,
) -> tuple[Principal, Snapshot, str]:
    """Who asked, the run at its first rest, and what a shown command needs after it."""
    from condor.cli.following import follow
    from condor.cli.session import check_first, owning, signed_in, words_after

    if place.is_new:
        await check_first(place, user, plan)
    async with owning(place, screen) as condor:
        who = signed_in(condor, place, user, screen)
        run = await condor.start(text, plan=plan, autonomy=autonomy, principal=who, quoted=quoted)
        return who, await follow(condor, run.id, screen), words_after(condor, place, who.id)


def _quoted(sources: tuple[str, ...]) -> Mapping[str, str]:
    """Each file that is quoted, by its name.

    Raises:
        RefusedInput: one that cannot be read.
    """
    from condor.cli.reading_input import read_text_file

    return {source: read_text_file(source, "the quoted text") for source in sources}


def _plan(text: str | None, source: str | None) -> Any:
    """The plan, where one is given instead of words.

    Raises:
        RefusedInput: both, none, or one that cannot be read.
    """
    from condor.cli.reading_input import read_json_source
    from condor.core.errors import RefusedInput

    if source is None:
        if text is None:
            raise RefusedInput('say what should be done: condor run "TEXT", or give a plan: --plan FILE')
        if not text.strip():
            raise RefusedInput("the request is empty; say what should be done")
        return None
    if text is not None:
        raise RefusedInput("give words or --plan: exactly one of the two")
    return read_json_source(source, "the plan")


__all__ = ["begin", "run", "run_command"]
