"""The dialogue of ``condor run`` and ``condor answer`` in a terminal: a card is shown and answered, or left.

Law 1: while a person thinks, this process holds no home; the answer is given in a session of its own.
Law 2: whoever answered first is right. If it was somebody else, that is said, and the run's truth follows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from condor.cli.asking import LeftOpen, ask_choice, ask_text
from condor.cli.card import who_may_answer
from condor.cli.coroutines import run_to_end
from condor.cli.following import Snapshot, follow, last_seq
from condor.cli.forms import ask_changes, ask_form, ask_reconcile
from condor.cli.home import home_words
from condor.cli.run_view import card_of, how_to_answer, open_cards
from condor.cli.session import owning, reading
from condor.core.errors import AnswerInvalid, AnswerRefused, NotAllowed
from condor.core.run import DECIDES_NOTHING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from condor.cli.home import Place
    from condor.cli.screen import Screen
    from condor.core.run import Principal


@dataclass(frozen=True, slots=True, kw_only=True)
class _Stop:
    """A person's wish to end the run instead of answering."""

    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _Edit:
    """What a person changes on a card instead of answering it."""

    changes: dict[str, Any]


def converse(
    screen: Screen,
    place: Place,
    who: Principal,
    run: Snapshot,
    *,
    where: str | None = None,
    only: str | None = None,
) -> Snapshot:
    """Show and answer a run's cards until none is left to ask about; the run then.

    Args:
        where: what a shown command needs after it; default: the home.
        only: the one card to ask about; None asks about all.
    """
    left: set[str] = set()
    where = home_words(place.path) if where is None else where

    def is_asked(card: Mapping[str, Any]) -> bool:
        return card["suspendId"] not in left and only in (None, card["suspendId"])

    while card := next(filter(is_asked, open_cards(run)), None):
        screen.show(card_of(run, card, columns=screen.out.width, asked=True))
        try:
            data = _ask(screen, card, who)
        except LeftOpen:
            return _as_it_is_now(screen, place, card, run, where)
        if data is None:
            left.add(str(card["suspendId"]))
            run = _as_it_is_now(screen, place, card, run, where)
        else:
            run = run_to_end(_answered(screen, place, who, card, data))
    return run


def _ask(screen: Screen, card: Mapping[str, Any], who: Principal) -> dict[str, Any] | _Stop | _Edit | None:
    """The answer to a card; None leaves it parked."""
    refusal = _why_not(card, who)
    if refusal is not None:
        screen.line(f"{refusal} It stays parked.", "yellow")
        return None
    match card.get("reasonCode"):
        case "approval":
            return _ask_approval(screen, card, who)
        case "reconcile":
            return None if _leaves(screen, who) else ask_reconcile(screen)
        case _:
            return _ask_question(screen, card, who)


def _ask_approval(screen: Screen, card: Mapping[str, Any], who: Principal) -> dict[str, Any] | _Edit | None:
    """Yes, no, or first another call; a person who goes back from an edit is asked again."""
    choices = {"a": "approve", "d": "deny", "l": "leave"}
    if card.get("editSchema"):
        choices["e"] = "edit"
    offered = "  ".join(f"[{key}] {choices[key]}" for key in ("a", "e", "d") if key in choices)
    prompt = f"As {who.name}: {offered}  [l] leave parked >"
    match ask_choice(screen, prompt, choices):
        case "e":
            changes = ask_changes(screen, card)
            return _Edit(changes=changes) if changes else _ask_approval(screen, card, who)
        case "a":
            return {"approved": True}
        case "d":
            return {"approved": False, "reason": _ask_why(screen)}
        case _:
            return None


def _ask_question(screen: Screen, card: Mapping[str, Any], who: Principal) -> dict[str, Any] | _Stop | None:
    """A question need not be answered: the run can be given up, or wait."""
    prompt = f"As {who.name}: [a] answer  [s] stop the run  [l] leave parked >"
    match ask_choice(screen, prompt, {"a": "answer", "s": "stop", "l": "leave"}):
        case "a":
            screen.line("(Ctrl-C leaves it parked.)", "dim")
            return ask_form(screen, card)
        case "s":
            return _Stop(reason=_ask_why(screen))
        case _:
            return None


def _ask_why(screen: Screen) -> str:
    while not (reason := ask_text(screen, "Why? >")):
        screen.line("Say why in a few words; it stands in the closing.", "yellow")
    return reason


def _leaves(screen: Screen, who: Principal) -> bool:
    prompt = f"As {who.name}: [s] say what happened  [l] leave parked >"
    return ask_choice(screen, prompt, {"s": "say", "l": "leave"}) == "l"


def _why_not(card: Mapping[str, Any], who: Principal) -> str | None:
    """Why there is no use in asking this person; whether they may is decided when they answer."""
    roles = frozenset(card.get("answerRoles") or ())
    asked = who.id == card.get("requester")
    wrote_it = asked or who.id in (card.get("editors") or ())
    if who.roles & DECIDES_NOTHING or (wrote_it and card.get("requesterExcluded")):
        allowed = False
    else:
        allowed = not roles or bool(roles & who.roles) or (asked and bool(card.get("requesterMayAnswer")))
    if allowed:
        return None
    return f"You are {who.name}; this card takes {who_may_answer(card)}."


async def _answered(
    screen: Screen,
    place: Place,
    who: Principal,
    card: Mapping[str, Any],
    data: dict[str, Any] | _Stop | _Edit,
) -> Snapshot:
    """Give the answer, edit the call, or stop the run; then follow it to its rest."""
    run_id = str(card["runId"])
    async with owning(place, screen, quiet=True) as condor:
        seen = await last_seq(condor, run_id)
        try:
            if isinstance(data, _Stop):
                await condor.stop(run_id, principal=who, reason=data.reason)
            elif isinstance(data, _Edit):
                await condor.edit(str(card["suspendId"]), data.changes, principal=who)
            else:
                await condor.resume(run_id, str(card["suspendId"]), data, principal=who)
        except AnswerInvalid as refusal:
            screen.line(f"That answer does not do: {refusal}.", "yellow")
        except (AnswerRefused, NotAllowed) as refusal:
            screen.line(f"It does not count any more: {refusal}.", "yellow")
        return await follow(condor, run_id, screen, after=seen)


def _as_it_is_now(
    screen: Screen, place: Place, card: Mapping[str, Any], run: Snapshot, where: str
) -> Snapshot:
    """The run after a card was left: somebody may have answered it meanwhile."""

    async def read() -> Snapshot:
        async with reading(place) as condor:
            return await condor.show(str(run["runId"]))

    now = run_to_end(read())
    current = next((one for one in now["suspensions"] if one["suspendId"] == card["suspendId"]), None)
    if current is not None and current["status"] != "pending":
        screen.line(f"It was {current['status']} by {current.get('decidedByDisplay')} meanwhile.", "yellow")
    else:
        screen.line("Left parked; answer it when you like:", "yellow")
        for line in how_to_answer(card, where):
            screen.line(f"  {line}")
    return now


__all__ = ["converse"]
