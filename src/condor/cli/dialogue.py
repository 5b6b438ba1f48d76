"""The dialogue of ``condor run`` in a terminal: each open card is shown and answered, or left.

Law 1: while a person thinks, this process holds no home; the answer is given in a session of its own.
Law 2: whoever answered first is right. If it was somebody else, that is said, and the run's truth follows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from condor.cli.asking import LeftOpen, ask_choice, ask_text
from condor.cli.card import suspend_card, who_may_answer
from condor.cli.coroutines import run_to_end
from condor.cli.following import Snapshot, follow, last_seq
from condor.cli.forms import ask_form, ask_reconcile
from condor.cli.home import home_words
from condor.cli.run_view import how_to_answer, open_cards, plan_says
from condor.cli.session import owning, reading
from condor.core.errors import AnswerInvalid, AnswerRefused
from condor.core.run import DECIDES_NOTHING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from condor.cli.home import Place
    from condor.cli.screen import Screen
    from condor.core.run import Principal

#: Seconds that an answer waits for the home: another command may be answering just now.
_TURN_WAIT_S = 15.0


def converse(screen: Screen, place: Place, who: Principal, run: Snapshot) -> Snapshot:
    """Show and answer a run's cards until none is left to ask about; the run then."""
    left: set[str] = set()
    while card := next((card for card in open_cards(run) if card["suspendId"] not in left), None):
        screen.show(suspend_card(card, plan_says=plan_says(run, card), columns=screen.out.width, asked=True))
        try:
            data = _ask(screen, card, who)
        except LeftOpen:
            return _as_it_is_now(screen, place, card, run)
        if data is None:
            left.add(str(card["suspendId"]))
            run = _as_it_is_now(screen, place, card, run)
        else:
            run = run_to_end(_answered(screen, place, who, card, data))
    return run


def _ask(screen: Screen, card: Mapping[str, Any], who: Principal) -> dict[str, Any] | None:
    """The answer to a card; None leaves it parked."""
    refusal = _why_not(card, who)
    if refusal is not None:
        screen.line(f"{refusal} It stays parked.", "yellow")
        return None
    match card.get("reasonCode"):
        case "approval":
            return _ask_approval(screen, who)
        case "reconcile":
            return None if _leaves(screen, who) else ask_reconcile(screen)
        case _:
            screen.line("(Ctrl-C leaves it parked.)", "dim")
            return ask_form(screen, card)


def _ask_approval(screen: Screen, who: Principal) -> dict[str, Any] | None:
    prompt = f"As {who.name}: [a] approve  [d] deny  [l] leave parked >"
    match ask_choice(screen, prompt, {"a": "approve", "d": "deny", "l": "leave"}):
        case "a":
            return {"approved": True}
        case "d":
            while not (reason := ask_text(screen, "Why? >")):
                screen.line("Say why in a few words; it stands in the closing.", "yellow")
            return {"approved": False, "reason": reason}
        case _:
            return None


def _leaves(screen: Screen, who: Principal) -> bool:
    prompt = f"As {who.name}: [s] say what happened  [l] leave parked >"
    return ask_choice(screen, prompt, {"s": "say", "l": "leave"}) == "l"


def _why_not(card: Mapping[str, Any], who: Principal) -> str | None:
    """Why there is no use in asking this person; whether they may is decided when they answer."""
    roles = frozenset(card.get("answerRoles") or ())
    asked = who.id == card.get("requester")
    if who.roles & DECIDES_NOTHING or (asked and card.get("requesterExcluded")):
        allowed = False
    else:
        allowed = not roles or bool(roles & who.roles) or (asked and bool(card.get("requesterMayAnswer")))
    if allowed:
        return None
    return f"You are {who.name}; this card takes {who_may_answer(card)}."


async def _answered(
    screen: Screen, place: Place, who: Principal, card: Mapping[str, Any], data: dict[str, Any]
) -> Snapshot:
    """Give the answer, then follow the run to its rest."""
    run_id = str(card["runId"])
    async with owning(place, screen, quiet=True, wait_s=_TURN_WAIT_S) as condor:
        seen = await last_seq(condor, run_id)
        try:
            await condor.resume(run_id, str(card["suspendId"]), data, principal=who)
        except AnswerInvalid as refusal:
            screen.line(f"That answer does not do: {refusal}.", "yellow")
        except AnswerRefused as refusal:
            screen.line(f"It does not count any more: {refusal}.", "yellow")
        return await follow(condor, run_id, screen, after=seen)


def _as_it_is_now(screen: Screen, place: Place, card: Mapping[str, Any], run: Snapshot) -> Snapshot:
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
        for line in how_to_answer(card, home_words(place.path)):
            screen.line(f"  {line}")
    return now


__all__ = ["converse"]
