"""An approval that ran nothing, because the call had to ask again: said where it is approved and shown.

Law: nothing is guessed. A step whose approved call is asked about again, with the same tool, has not made it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from condor.core.compiler.leaves.arguments import NOT_RUN

if TYPE_CHECKING:
    from collections.abc import Mapping

#: What asks before a call is made; the other cards ask after one.
_BEFORE_THE_CALL: Final = ("tool_policy", "tool_input")


def asked_again(run: Mapping[str, Any], approved: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The card with which an approved call asks again; None where it does not."""
    if approved.get("status") != "approved" or approved.get("origin") != "tool_policy":
        return None
    cards = list(run.get("suspensions") or ())
    place = next((at for at, card in enumerate(cards) if card["suspendId"] == approved["suspendId"]), 0)
    return next((card for card in cards[place + 1 :] if _asks_for(card, approved)), None)


def not_run_before(run: Mapping[str, Any], card: Mapping[str, Any]) -> str:
    """What a card says of the approval before it that ran nothing; empty where its own message says it."""
    earlier = (before for before in run.get("suspensions") or () if asked_again(run, before) is not None)
    for before in earlier:
        if asked_again(run, before) == card and not str(card.get("message")).startswith(NOT_RUN):
            return f"Not run, although {before.get('decidedByDisplay')} approved it: this card asks again."
    return ""


def not_run_line(newer: Mapping[str, Any]) -> str:
    """What is said of an approval that ran nothing."""
    said = str(newer.get("message") or "the call asks again").removeprefix(NOT_RUN)
    why = " ".join(said.split()).rstrip(".")
    return f"Not run: {why}; a new card asks ({newer['suspendId']})."


def _asks_for(card: Mapping[str, Any], approved: Mapping[str, Any]) -> bool:
    return (
        card.get("origin") in _BEFORE_THE_CALL
        and card.get("stepId") == approved.get("stepId")
        and card.get("toolName") == approved.get("toolName")
    )


__all__ = ["asked_again", "not_run_before", "not_run_line"]
