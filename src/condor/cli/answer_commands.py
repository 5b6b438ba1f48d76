"""``condor approve``, ``deny``, ``answer`` and ``stop``: a person's decisions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from condor.cli.coroutines import run_to_end
from condor.cli.options import as_option, home_option, json_option, utf8

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from condor.cli.following import Snapshot
    from condor.cli.home import Place
    from condor.cli.screen import Screen
    from condor.core.run import Principal


@click.command("approve")
@click.argument("suspend_id", type=utf8, metavar="SUSPEND_ID")
@click.option("--reason", type=utf8, metavar="TEXT", help="Why; kept with the decision.")
@as_option
@home_option
@json_option
def approve_command(
    suspend_id: str, reason: str | None, user: str | None, home: Path, *, as_json: bool
) -> int:
    """Approve exactly the call that a card shows; it then runs once."""
    data: dict[str, Any] = {"approved": True}
    if reason is not None:
        data["reason"] = reason
    return _give(suspend_id, data, user, home, as_json=as_json, only="approval")


@click.command("deny")
@click.argument("suspend_id", type=utf8, metavar="SUSPEND_ID")
@click.option("--reason", type=utf8, metavar="TEXT", required=True, help="Why; it stands in the closing.")
@as_option
@home_option
@json_option
def deny_command(suspend_id: str, reason: str, user: str | None, home: Path, *, as_json: bool) -> int:
    """Refuse the call that a card shows; it does not run. Exits with 0 when the refusal took effect."""
    from condor.core.errors import RefusedInput

    if not reason.strip():
        raise RefusedInput("the reason is empty; say why, it stands in the closing")
    data = {"approved": False, "reason": reason}
    _give(suspend_id, data, user, home, as_json=as_json, only="approval")
    return 0


@click.command("answer")
@click.argument("suspend_id", type=utf8, metavar="SUSPEND_ID")
@click.option(
    "--data",
    metavar="JSON",
    help="The answer, as the card's form has it; - is standard input. Without it a terminal is asked.",
)
@as_option
@home_option
@json_option
def answer_command(suspend_id: str, data: str | None, user: str | None, home: Path, *, as_json: bool) -> int:
    """Answer any card: a question, a reconciliation, an approval; in a terminal field by field."""
    from condor.cli.reading_input import read_json_text

    if data is None:
        return _ask(suspend_id, user, home, as_json=as_json)
    return _give(suspend_id, read_json_text(data, "the answer"), user, home, as_json=as_json)


@click.command("edit")
@click.argument("suspend_id", type=utf8, metavar="SUSPEND_ID")
@click.argument("changes", type=utf8, metavar="ARGUMENT=VALUE...", nargs=-1)
@click.option("--data", metavar="JSON", help="The changes as an object instead; - is standard input.")
@as_option
@home_option
@json_option
def edit_command(
    suspend_id: str,
    changes: tuple[str, ...],
    data: str | None,
    user: str | None,
    home: Path,
    *,
    as_json: bool,
) -> int:
    """Change the call on a card before anybody approves it; the call as edited asks with a card of its own.

    Exits with 0 when the edit took effect. Nothing runs. `ARGUMENT=` takes an argument out.
    """
    from condor.cli.home import place_to_change
    from condor.cli.reading_input import read_json_text
    from condor.cli.screen import Screen
    from condor.core.errors import RefusedInput

    if bool(changes) == (data is not None):
        raise RefusedInput("write the changes as ARGUMENT=VALUE, or all of them as --data JSON")
    wanted = changes if data is None else read_json_text(data, "the edit")
    screen = Screen(as_json=as_json)
    run_to_end(_edited(screen, place_to_change(home), suspend_id, wanted, user))
    return 0


@click.command("stop", short_help="Stop a run; its cards are withdrawn.")
@click.argument("run_id", type=utf8, metavar="RUN_ID")
@click.option("--reason", type=utf8, metavar="TEXT", default="", help="Why; it stands in the closing.")
@as_option
@home_option
@json_option
def stop_command(run_id: str, reason: str, user: str | None, home: Path, *, as_json: bool) -> int:
    """Stop a run: its cards are withdrawn, what is in flight finishes, and it closes as aborted."""
    from condor.cli.home import place_to_change
    from condor.cli.screen import Screen

    screen = Screen(as_json=as_json)
    _report(screen, *run_to_end(_stopped(screen, place_to_change(home), run_id, reason, user)))
    return 0


def _ask(suspend_id: str, user: str | None, home: Path, *, as_json: bool) -> int:
    """Show one card and ask the person at the terminal; the exit code."""
    from condor.cli.exit_codes import exit_of_run
    from condor.cli.home import place_to_change
    from condor.cli.run_view import show_rest
    from condor.cli.screen import Screen
    from condor.core.errors import RefusedInput

    screen = Screen(as_json=as_json)
    if not screen.interactive:
        raise RefusedInput("give the answer as --data JSON; only a terminal is asked field by field")
    place = place_to_change(home)
    who, run, where = run_to_end(_found(screen, place, suspend_id, user))
    from condor.cli.dialogue import converse

    run = converse(screen, place, who, run, where=where, only=suspend_id)
    show_rest(screen, run, where=where, cards=False)
    return exit_of_run(run["status"])


async def _found(
    screen: Screen, place: Place, suspend_id: str, user: str | None
) -> tuple[Principal, Snapshot, str]:
    """Who is asked, the run of an open card, and what a shown command needs after it.

    Raises:
        AlreadyDecided: the card is closed.
    """
    from condor.cli.session import owning, signed_in, words_after
    from condor.core.errors import AlreadyDecided

    async with owning(place, screen) as condor:
        who = signed_in(condor, place, user, screen)
        card: Mapping[str, Any] = await condor.suspension(suspend_id)
        if card["status"] != "pending":
            raise AlreadyDecided(
                decision=str(card["status"]),
                decided_by=str(card.get("decidedByDisplay")),
                decided_at=str(card.get("decidedAt")),
            )
        return who, await condor.show(str(card["runId"])), words_after(condor, place, who.id)


def _give(
    suspend_id: str, data: object, user: str | None, home: Path, *, as_json: bool, only: str | None = None
) -> int:
    """Give one answer and follow the run to its rest; the exit code.

    Args:
        only: the reason code that this command answers; None answers any.
    """
    from condor.cli.exit_codes import exit_of_run
    from condor.cli.home import place_to_change
    from condor.cli.screen import Screen

    screen = Screen(as_json=as_json)
    snapshot, where = run_to_end(_given(screen, place_to_change(home), suspend_id, data, user, only))
    if not as_json:
        _say_not_run(screen, snapshot, suspend_id)
    _report(screen, snapshot, where)
    return exit_of_run(snapshot["status"])


async def _given(
    screen: Screen, place: Place, suspend_id: str, data: object, user: str | None, only: str | None
) -> tuple[Snapshot, str]:
    """The run at its next rest, and what a shown command needs after it."""
    from condor.cli.following import follow, last_seq
    from condor.cli.session import owning, signed_in, words_after

    async with owning(place, screen) as condor:
        who = signed_in(condor, place, user, screen)
        card = await condor.suspension(suspend_id)
        where = words_after(condor, place, who.id)
        _check_kind(card, only, where)
        run_id = str(card["runId"])
        seen = await last_seq(condor, run_id)
        await condor.resume(run_id, suspend_id, data, principal=who)
        _say_answered(screen, card, data, who)
        return await follow(condor, run_id, screen, after=seen), where


def _check_kind(card: Mapping[str, Any], only: str | None, where: str) -> None:
    """An approval command answers approvals; what else a card asks, it says itself."""
    from condor.cli.run_view import how_to_answer, how_to_stop
    from condor.core.errors import RefusedInput

    if only is not None and card.get("status") == "pending" and card.get("reasonCode") != only:
        raise RefusedInput(
            f"that card is no approval but a {card.get('reasonCode')}; use: {how_to_answer(card, where)[0]} "
            f"(to end the run instead: {how_to_stop(card, where)})",
            code="other_card",
        )


def _say_answered(screen: Screen, card: Mapping[str, Any], data: object, who: Principal) -> None:
    word = "answered"
    if card["reasonCode"] == "approval" and isinstance(data, dict):
        word = "approved" if data.get("approved") is True else "denied"
    evidence = card.get("evidence") or {}
    what = ": ".join(str(part) for part in (card.get("headline"), evidence.get("summary")) if part)
    screen.note(f"condor: {word} by {who.name}: {what}")


def _say_not_run(screen: Screen, run: Snapshot, suspend_id: str) -> None:
    """That an approval which was taken ran nothing, because the call asks again."""
    from condor.cli.not_run import asked_again, not_run_line

    card: Mapping[str, Any] = next(one for one in run["suspensions"] if one["suspendId"] == suspend_id)
    newer = asked_again(run, card)
    if newer is not None:
        screen.line(not_run_line(newer), "bold yellow")


async def _edited(screen: Screen, place: Place, suspend_id: str, wanted: Any, user: str | None) -> None:
    from condor.cli.run_view import card_of, how_to_answer
    from condor.cli.session import owning, signed_in, words_after

    async with owning(place, screen) as condor:
        who = signed_in(condor, place, user, screen)
        card = await condor.suspension(suspend_id)
        where = words_after(condor, place, who.id)
        _check_kind(card, "approval", where)
        newer = await condor.edit(suspend_id, _changes(card, wanted), principal=who)
        run = await condor.show(str(newer["runId"]))
    if screen.as_json:
        screen.json(newer)
        return
    screen.note(f"condor: edited by {who.name}; {suspend_id} is superseded, nothing ran")
    screen.show(card_of(run, newer, columns=screen.out.width))
    for line in how_to_answer(newer, where):
        screen.line(line)


def _changes(card: Mapping[str, Any], wanted: Any) -> Any:
    """What an edit changes; on a closed card nothing is read, as no edit of it counts."""
    from condor.cli.forms import read_changes

    if not isinstance(wanted, tuple):
        return wanted
    return read_changes(card, wanted) if card["status"] == "pending" else {}


async def _stopped(
    screen: Screen, place: Place, run_id: str, reason: str, user: str | None
) -> tuple[Snapshot, str]:
    from condor.cli.following import follow, last_seq
    from condor.cli.session import owning, signed_in, words_after

    async with owning(place, screen) as condor:
        who = signed_in(condor, place, user, screen)
        seen = await last_seq(condor, run_id)
        await condor.stop(run_id, principal=who, reason=reason)
        return await follow(condor, run_id, screen, after=seen), words_after(condor, place, who.id)


def _report(screen: Screen, snapshot: Snapshot, where: str) -> None:
    from condor.cli.run_view import show_rest

    if screen.as_json:
        screen.json({"type": "run.snapshot", "run": snapshot})
    else:
        show_rest(screen, snapshot, where=where)


__all__ = ["answer_command", "approve_command", "deny_command", "edit_command", "stop_command"]
