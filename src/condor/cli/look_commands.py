"""``condor pending``, ``show`` and ``runs``: what is stored, read beside whoever owns the home."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import click

from condor.cli.coroutines import run_to_end
from condor.cli.inbox_options import ORDERS, card_filter, filter_options
from condor.cli.options import home_option, json_option, utf8

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping
    from pathlib import Path

    from condor.bootstrap import Condor
    from condor.cli.screen import Screen

#: Cards and runs read at once.
_PAGE = 200
#: Cards and runs listed where nobody says how many.
_LISTED = 50

_limit_option = click.option(
    "--limit",
    type=click.IntRange(min=0),
    default=_LISTED,
    show_default=True,
    help="How many at most; 0 lists all.",
)


@click.command("pending")
@filter_options
@click.option(
    "--order", type=click.Choice(ORDERS), default="oldest", show_default=True, help="Which come first."
)
@click.option("--after", type=utf8, metavar="SUSPEND_ID", default="", help="Go on after this card of a list.")
@_limit_option
@home_option
@json_option
def pending_command(order: str, after: str, limit: int, home: Path, *, as_json: bool, **filters: Any) -> int:
    """List the cards that wait for a person; several filters leave what meets them all."""
    from condor.cli.screen import Screen
    from condor.core.errors import UnknownId

    screen = Screen(as_json=as_json)
    wanted = card_filter(**filters)

    async def listed(condor: Condor) -> tuple[list[Mapping[str, Any]], bool]:
        if after:
            await condor.suspension(after)  # a card that nobody knows is refused
        if wanted.run_id is not None and await condor.store.run(wanted.run_id) is None:
            raise UnknownId("run", wanted.run_id, "see `condor runs`")
        page = partial(condor.pending, wanted, order=order)
        return await _paged(page, limit, "after", "suspendId", last=after)

    cards, more = _read(home, listed)
    if as_json:
        screen.json(cards)
    elif not cards:
        narrowed = after or any(value is not None for value in filters.values())
        screen.line("Nothing of this kind waits for a person." if narrowed else "Nothing waits for a person.")
    else:
        from condor.cli.lists import is_over, pending_card

        for card in sorted(cards, key=is_over):
            screen.show(pending_card(card))
    _say_more(screen, more, limit)
    return 0


@click.command("runs")
@_limit_option
@home_option
@json_option
def runs_command(limit: int, home: Path, *, as_json: bool) -> int:
    """List runs, newest first."""
    from condor.cli.screen import Screen

    screen = Screen(as_json=as_json)
    runs, more = _read(home, lambda condor: _paged(condor.runs, limit, "before", "runId"))
    if as_json:
        screen.json(runs)
    elif not runs:
        screen.line("No run yet.")
    else:
        from condor.cli.lists import run_entry

        for run in runs:
            screen.show(run_entry(run))
    _say_more(screen, more, limit)
    return 0


@click.command("show")
@click.argument("run_id", type=utf8, metavar="RUN_ID")
@click.option(
    "--why", is_flag=True, help="Only what it waits for, which rule asks, who may answer, until when."
)
@home_option
@json_option
def show_command(run_id: str, home: Path, *, why: bool, as_json: bool) -> int:
    """Show a run: its steps, its cards and its closing."""
    from condor.cli.screen import Screen

    screen = Screen(as_json=as_json)
    run: dict[str, Any] = _read(home, lambda condor: condor.show(run_id))
    if as_json:
        screen.json(run["why"] if why else run)
        return 0
    from condor.cli.run_view import open_cards, run_view, why_view

    if why:
        screen.show(why_view(run, _words_after(home, run) if open_cards(run) else ""))
    else:
        found_out = _read(home, lambda condor: _found_out(condor, run_id))
        screen.show(run_view(run, columns=screen.out.width, found_out=found_out))
    from condor.cli.owner import GOES_ON, stands_alone

    if stands_alone(home, run):
        screen.line(f"Nobody works on it just now, because it was interrupted; {GOES_ON}.", "yellow")
    return 0


async def _found_out(condor: Condor, run_id: str) -> list[dict[str, Any]]:
    """The run's audit rows about outcomes that were unknown, in their order."""
    from condor.ports.store import AuditFilter
    from condor.runtime.snapshot import audit_json

    rows = [
        audit_json(row)
        for decision in ("unknown", "reconciled")
        for row in await condor.audit(AuditFilter(run_id=run_id, decision=decision))
    ]
    return sorted(rows, key=lambda row: int(str(row["seq"])))


def _words_after(home: Path, run: Mapping[str, Any]) -> str:
    """What a shown command needs after it to act as whoever asked; the packs know who that can be."""
    from condor.cli.home import home_words, place_to_read
    from condor.cli.session import looking_at_packs, words_after
    from condor.core.errors import CondorError

    place = place_to_read(home)
    requester = str((run.get("requester") or {}).get("id"))

    async def looked() -> str:
        async with looking_at_packs(place) as packs:
            return words_after(packs, place, requester)

    try:
        return run_to_end(looked())
    except CondorError:
        return home_words(home)


def _read(home: Path, read: Callable[[Condor], Awaitable[Any]]) -> Any:
    """Read from a home without owning it."""
    from condor.cli.home import place_to_read
    from condor.cli.session import reading

    async def session() -> Any:
        async with reading(place_to_read(home)) as condor:
            return await read(condor)

    return run_to_end(session())


async def _paged(
    read: Callable[..., Awaitable[list[dict[str, Any]]]], limit: int, cursor: str, key: str, *, last: str = ""
) -> tuple[list[Mapping[str, Any]], bool]:
    """Up to ``limit`` rows after ``last``, and whether there are more."""
    found: list[Mapping[str, Any]] = []
    while True:
        wanted = _PAGE if limit == 0 else min(_PAGE, limit + 1 - len(found))
        page = await read(limit=wanted, **{cursor: last})
        found += page
        if len(page) < wanted:
            return found, False
        if limit and len(found) > limit:
            return found[:limit], True
        last = str(page[-1][key])


def _say_more(screen: Screen, more: bool, limit: int) -> None:  # noqa: FBT001 - the fact itself
    if more:
        screen.note(f"condor: these are the first {limit}; there are more: --limit 0 lists all")


__all__ = ["pending_command", "runs_command", "show_command"]
