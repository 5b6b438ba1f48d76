"""Which cards are asked for: words and times of a filter are checked, never guessed.

Law: a word that no card can have is refused, so that an empty inbox is never a misspelt question.
"""

from __future__ import annotations

import datetime
from dataclasses import replace
from typing import Final, get_args

from condor.core.errors import RefusedInput, show
from condor.core.suspend import Origin, ReasonCode
from condor.ports.cards import CardFilter, CardOrder, SuspensionStatus
from condor.ports.clock import timestamp

#: Effective tiers that a card can have.
TIERS: Final = ("high", "low")

_WORDS: Final = {
    "status": get_args(SuspensionStatus),
    "reason_code": tuple(str(code) for code in ReasonCode),
    "origin": tuple(str(origin) for origin in Origin),
    "tier": TIERS,
}
#: Field → what the edges call it.
_CALLED: Final = {"reason_code": "kind", "opened_from": "openedFrom", "opened_until": "openedUntil"}


def checked_filter(wanted: CardFilter) -> CardFilter:
    """A filter that a store can be asked by, its times in the stored form.

    Raises:
        RefusedInput: a word that no card has, or a time that is none.
    """
    for name, words in _WORDS.items():
        given = getattr(wanted, name)
        if given is not None and given not in words:
            raise RefusedInput(f"{_called(name)} {show(given)} is unknown; take {' or '.join(words)}")
    return replace(
        wanted,
        opened_from=moment("opened_from", wanted.opened_from),
        opened_until=moment("opened_until", wanted.opened_until),
    )


def checked_order(order: object) -> CardOrder:
    """In which order cards are listed.

    Raises:
        RefusedInput: there is no such order.
    """
    if order == "oldest" or order == "newest":
        return order
    raise RefusedInput(f"order {show(order)} is unknown; take oldest or newest")


def moment(name: str, given: str | None) -> str | None:
    """A time of a filter, as times are stored.

    Raises:
        RefusedInput: it is none, or says no zone.
    """
    if given is None:
        return None
    try:
        at = datetime.datetime.fromisoformat(given)
        if at.tzinfo is not None:
            return timestamp(at)
    except (ValueError, TypeError, OverflowError):
        pass
    raise RefusedInput(f"{_called(name)} {show(given)} is no moment; write it as 2026-11-30T09:30:00Z")


def _called(name: str) -> str:
    return _CALLED.get(name, name)


__all__ = ["TIERS", "checked_filter", "checked_order", "moment"]
