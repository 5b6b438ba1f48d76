"""Whose words a statement is, and which time it tells of: what is read out or long past claims nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from condor.core.observers import claim_grammar as grammar

if TYPE_CHECKING:
    from collections.abc import Sequence

    from condor.core.observers.claim_clauses import Clause
    from condor.core.observers.claim_phrases import Hit

#: Where none of these stands, nor a number, no time is told.
_TELLS_TIME = grammar.PAST | frozenset(("ago", "last", "past", "previous", "in"))
#: Where one of these stands, a plain past may be told of another time, or says why it was so.
_ANOTHER_TIME = grammar.word_set(
    "then once initially originally before ago earlier previous previously prior past last former later "
    "formerly morning afternoon evening night spring summer autumn winter when "
    "because due owing history time times always had during"
)
#: Before an act they begin a statement about a thing, not one about the run.
_RELATIVE = grammar.word_set("which who whom whose that where when")
_WEEKDAYS = grammar.word_set("monday tuesday wednesday thursday friday saturday sunday")
_SET_FOR = grammar.word_set("booked scheduled reserved arranged set")
#: After "no confirmation": nobody waited for one.
_NOT_AWAITED = grammar.word_set(
    "need needs needed necessary require requires required expect expects expected wanted due"
)
#: How the thing before it went, and no other thing.
_OUTCOME = frozenset(("its", "whose", "outcome", "result", "results", "status", "however", "which"))


def is_unconfirmed(words: Sequence[str]) -> bool:
    """Whether its outcome was not heard of: "but got no confirmation back"; not that none was needed."""
    return (
        "no" in words
        and _NOT_AWAITED.isdisjoint(words)
        and any(word in grammar.WORD_OF_IT and words[at - 1] == "no" for at, word in enumerate(words) if at)
    )


def left_open(words: Sequence[str], ahead: Sequence[str]) -> bool:
    """Whether a statement, or what is added to it, says that its outcome is open.

    Args:
        ahead: the statement after it; what it says of another thing is no addition.
    """
    if not grammar.OPEN.isdisjoint(words):
        return True
    return not grammar.OPEN.isdisjoint(ahead) and all(
        word in grammar.OPEN
        or word in grammar.GENERIC
        or word in grammar.BREAKS
        or word in _OUTCOME
        or not word.isalpha()
        for word in ahead
    )


def reads_out(words: Sequence[str]) -> bool:
    """Whether what follows is read out: "according to the chart", "in the report", "the sheet shows"."""
    if "according" in words[:3]:
        return True
    if grammar.SOURCES.isdisjoint(words):
        return False
    if words[:1] == ("in",):
        return not grammar.SOURCES.isdisjoint(words[1:5])
    return any(
        word in grammar.SHOWS
        and words[at + 1 : at + 2] in (("that",), (":",))
        and not grammar.SOURCES.isdisjoint(words[:at])
        for at, word in enumerate(words[:6])
    )


def names_its_source(words: Sequence[str]) -> bool:
    """Whether its end says where it was read: "…, per the oncology note", "…, as the chart states"."""
    for at, word in enumerate(words):
        if (word == "per" or (word == "according" and words[at + 1 : at + 2] == ("to",))) and (
            not grammar.SOURCES.isdisjoint(words[at + 1 : at + 6])
        ):
            return True
        if word == "as" and not (
            grammar.SOURCES.isdisjoint(words[at + 1 : at + 5]) or grammar.SHOWS.isdisjoint(words[at + 1 :])
        ):
            return True
    return False


def describes(words: Sequence[str], clause: Clause, hit: Hit) -> bool:
    """Whether an act between commas describes the thing before it: "the last value, ordered in May, was".

    The second comma stands in its statement or ends it.
    """
    if hit.start == 0 or words[hit.start - 1] != ",":
        return False
    for at in range(hit.end, min(clause.end + 1, len(words) - 1)):
        if words[at] == ",":
            return words[at + 1] in grammar.BE or words[at + 1] in grammar.HAVE
    return False


def is_of_now(words: Sequence[str], clause: Clause, hit: Hit) -> bool:
    """Whether nothing around a plain past sets it at another time, or tells it of a thing by the way."""
    before = words[clause.start : hit.start]
    if not _RELATIVE.isdisjoint(before[1:]) or not _ANOTHER_TIME.isdisjoint(words):
        return False
    if before[-1:] and before[-1] not in ("was", "were") and not _is_set_for(words, hit):
        return False
    return not is_dated(words)


def is_dated(words: Sequence[str]) -> bool:
    """Whether it is said when it was."""
    return any(_is_past_date(words, at) for at in range(len(words)))


def _is_set_for(words: Sequence[str], hit: Hit) -> bool:
    """Whether it is told as a new date: "is booked for 9 December"."""
    return words[hit.start] in _SET_FOR and words[hit.end : hit.end + 1] == ("for",)


def _is_past_date(words: Sequence[str], at: int) -> bool:
    """Whether it is said here when it was: "on 3 May", "in 2019", "after a bleed"; not "for" 3 May."""
    word = words[at]
    if word == "after":
        return words[at + 1 : at + 2] in (("a",), ("an",), ("she",), ("he",), ("they",))
    back = words[at - 1] if at else ""
    if word in _WEEKDAYS or word in grammar.MONTHS:
        far = words[at - 2] if at > 1 else ""
        return "for" not in (back, far) and "to" not in (back, far)
    is_year = len(word) == 4 and word.isdigit() and word[:2] in ("19", "20")
    return is_year and back not in ("for", "to")


def was_before(words: Sequence[str]) -> bool:
    """Whether a statement tells of a time before this run."""
    if _TELLS_TIME.isdisjoint(words) and not any(map(str.isdigit, words)):
        return False
    for at, word in enumerate(words):
        if word == "ago" and at and words[at - 1] in grammar.LONG_AGO:
            return True
        if (
            word in grammar.PAST
            and words[at + 1 : at + 2] != ("today",)
            and not (word == "since" and at == 0)
        ):
            return True
        ahead = words[at + 1] if at + 1 < len(words) else ""
        if word in ("last", "past", "previous") and (
            ahead in grammar.LAST_WHAT or ahead in ("few", "two", "three")
        ):
            return True
        if at and len(word) == 4 and word.isdigit() and word[:2] in ("19", "20"):
            back = words[at - 1]
            if back in ("in", "of", "until", "from", "since", ",") or (
                back in grammar.MONTHS and "as" not in words[:at]
            ):
                return True
        if word == "in" and ahead in grammar.MONTHS:
            return True
    return False
