"""What a text claims that was done: every sentence read once, by the rules and a little grammar.

Law 1: only a statement is a claim. A negation, a question, a condition, a plan and somebody else's act are
none, nor is what a record says of another time.
Law 2: linear time. A sentence is read in pieces of bounded length, and in each of them a bounded number of
phrases is looked at.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from condor.core.observers import claim_grammar as grammar
from condor.core.observers.claim_clauses import Clause, clauses_of
from condor.core.observers.claim_context import (
    is_unconfirmed,
    left_open,
    names_its_source,
    reads_out,
    was_before,
)
from condor.core.observers.claim_openness import LEFT_OPEN
from condor.core.observers.claim_reader import Reader
from condor.core.observers.claim_words import CHECK, Sentence, sentences
from condor.core.values import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from condor.core.observers.claim_phrases import Hit, Matcher
    from condor.core.observers.claim_rules import ClaimRule

#: Phrases looked at in one piece of a sentence; nobody writes more.
_HITS_MAX = 12
#: Phrases looked at in one text: more than 100 KB of plain prose hold.
TEXT_HITS_MAX = 1_000
_UNDONE_HEADINGS = LEFT_OPEN | frozenset(("to", "next", "open", "todo", "planned"))
_AFTER_THING = (
    grammar.NO_OBJECT | frozenset(("that", "pending", ",", ":", "--", "(", ")")) | grammar.CONDITIONS
)
_MARKS = frozenset((",", ":", "--", "(", ")", "?", "/"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """One thing that a text says was done."""

    #: The rules that know the phrase; evidence of any of their kinds bears the claim.
    rules: tuple[ClaimRule, ...]
    #: The phrase itself, as words.
    phrase: tuple[str, ...]
    #: As it was written.
    said: str
    #: The words of its clause.
    words: tuple[str, ...]
    #: Those of them that began with a capital, the first of a sentence left out.
    names: tuple[str, ...]
    #: Said so that it can only be about this run: "I sent", "has been sent".
    strong: bool
    #: It speaks of all of them, not of one.
    plural: bool
    #: It speaks of the whole run.
    whole: bool
    #: It says so itself: "I", "we".
    first_person: bool
    #: The words of what it was done to: "the dose" of "I raised the dose" and of "the dose was raised".
    thing: tuple[str, ...]
    #: It is told by a verb alone, not by a phrase.
    by_verb: bool
    #: It is told in the plain past passive, and nothing beside it sets it at another time.
    plain_past: bool
    #: It is told in the past passive with the date of it.
    dated: bool
    #: It is said where it was read: only a step of this run says otherwise.
    sourced: bool
    #: It is said that nobody heard how it went: a step of an unknown end says nothing else.
    unconfirmed: bool
    #: All the words of its clause, signs too, and which of them began with a capital.
    clause: tuple[str, ...]
    capitals: tuple[bool, ...]
    #: Where in them the phrase begins and ends.
    act: tuple[int, int]


def read_claims(text: str, matcher: Matcher) -> Iterator[Claim | None]:
    """Every claim of a text, in order; None at last where it goes on with more acts than are read."""
    heading_denies = False
    hits_left = TEXT_HITS_MAX
    before: tuple[str, ...] = ()
    for sentence in sentences(text):
        hits = matcher(sentence.words)
        hits_left -= len(hits)
        if hits_left < 0:
            yield None
            return
        if sentence.item and heading_denies:
            continue
        if not sentence.item:
            heading_denies = sentence.heads and _denies(sentence.words)
        if hits and not (heading_denies and sentence.heads):
            for claim in _claims_of(sentence, hits[:_HITS_MAX]):
                # A history goes on: "She fell in 2019. Warfarin was stopped."
                yield replace(claim, plain_past=False) if claim.plain_past and was_before(before) else claim
        before = sentence.words


def _denies(words: Sequence[str]) -> bool:
    """Whether what stands under this heading was not done."""
    return not _UNDONE_HEADINGS.isdisjoint(words)


def _claims_of(sentence: Sentence, hits: Sequence[Hit]) -> Iterator[Claim]:
    clauses = clauses_of(sentence, hits)
    sources = _sources(sentence, clauses, hits)
    other_before = bound = past = first = False
    for number, clause in enumerate(clauses):
        words = sentence.words[clause.start : clause.end]
        ahead = sentence.words[clause.end : clauses[number + 1].end] if number + 1 < len(clauses) else ()
        if not clause.goes_on:
            other_before = past = first = False
        bound = bound or _supposes(words)
        mine = [hit for hit in hits if clause.start <= hit.start < clause.end]
        asks = sentence.asks and (number == len(clauses) - 1 or _first(words) in grammar.ASKS)
        if mine and not asks and not bound and not left_open(words, ahead):
            past = past or was_before(words)
            for hit in mine:
                reader = Reader(
                    sentence, clause, hit, other_before=other_before, was_before=past, first=first
                )
                strong = reader.strength()
                other_before, first = other_before or reader.by_others, reader.first_person
                source = "" if first else sources[number]
                if strong is None or source == "all" or (source and not strong):
                    continue
                yield replace(
                    _claim(sentence, clause, hit, reader, strong=strong),
                    sourced=source != "",
                    unconfirmed=is_unconfirmed(words) or is_unconfirmed(ahead),
                )
        if mine and not other_before:
            other_before = _subject_is_other(sentence, clause, mine[0])
        bound = bound or _first(words) in grammar.BINDING


def _sources(sentence: Sentence, clauses: Sequence[Clause], hits: Sequence[Hit]) -> list[str]:
    """For each statement: "" it is the text's own; "one" its source is named; "all" it is read out.

    Who says "I" is not read out; that is seen at each act. A part without an act speaks for its neighbours.
    """
    words = sentence.words
    if grammar.SOURCES.isdisjoint(words) and "according" not in words:
        return [""] * len(clauses)
    found: list[str] = []
    told = False
    bare = [not any(clause.start <= hit.start < clause.end for hit in hits) for clause in clauses]
    named = [names_its_source(words[clause.start : clause.end]) for clause in clauses]
    read = [reads_out(words[clause.start : clause.end]) for clause in clauses]
    for at, clause in enumerate(clauses):
        near = [at, *(beside for beside in (at - 1, at + 1) if 0 <= beside < len(clauses) and bare[beside])]
        told = told or read[at]
        goes_on = clause.goes_on and bool(found) and found[-1] != ""
        if any(read[beside] for beside in near if beside <= at):
            found.append("all")
        else:
            found.append("one" if told or goes_on or any(named[beside] for beside in near) else "")
    return found


def _supposes(words: Sequence[str]) -> bool:
    """Whether it is a condition without "if": "had it been approved"."""
    return words[:1] == ("had",) and words[1:2] != () and words[1] in grammar.SUBJECT_STARTS


def _first(words: Sequence[str]) -> str:
    return next((word for word in words if word not in (",", ":") and word not in grammar.ADVERBS), "")


def _subject_is_other(sentence: Sentence, clause: Clause, hit: Hit) -> bool:
    """Whether the statement has somebody else as its subject, for the statement that goes on from it."""
    before = sentence.words[clause.start : hit.start]
    if not (grammar.FIRST.isdisjoint(before) and grammar.BE.isdisjoint(before)):
        return False
    return not (grammar.SECOND_THIRD.isdisjoint(before[:3]) and grammar.OTHERS.isdisjoint(before[:3]))


def _claim(sentence: Sentence, clause: Clause, hit: Hit, reader: Reader, *, strong: bool) -> Claim:
    words = sentence.words[clause.start : clause.end]
    spoken = words if _MARKS.isdisjoint(words) else tuple(word for word in words if word not in _MARKS)
    names = tuple(
        sentence.words[at]
        for at in range(max(clause.start, 1), clause.end)
        if sentence.capital(at) and sentence.words[at] not in ("i", ":")
    )
    phrase = sentence.words[hit.start : hit.end]
    rest = (word for at, word in enumerate(words, clause.start) if not hit.start <= at < hit.end)
    whole = hit.rules[0].bears == "any" and phrase != (CHECK,) and all(map(_is_generic, rest))
    return Claim(
        rules=hit.rules,
        phrase=phrase,
        said=sentence.said,
        words=spoken,
        names=names,
        strong=strong,
        plural=not grammar.ALL.isdisjoint(spoken),
        whole=whole and not _is_partial(sentence.words),
        first_person=reader.first_person,
        thing=_thing(sentence, clause, hit, first=reader.first_person),
        by_verb=hit.participle,
        plain_past=reader.plain_past,
        dated=reader.dated,
        sourced=False,
        unconfirmed=False,
        clause=words,
        capitals=tuple(sentence.capital(at) for at in range(clause.start, clause.end)),
        act=(hit.start - clause.start, hit.end - clause.start),
    )


def _thing(sentence: Sentence, clause: Clause, hit: Hit, *, first: bool) -> tuple[str, ...]:
    before = sentence.words[clause.start : hit.start]
    after = sentence.words[hit.end : clause.end]
    acts = first and grammar.BE.isdisjoint(before[-3:])
    if before and not acts and not all(word in grammar.ADVERBS for word in before):
        return before
    end = next((at for at, word in enumerate(after) if word in _AFTER_THING), len(after))
    return after[:end]


def _is_partial(words: Sequence[str]) -> bool:
    """Whether it speaks of some of the run: "all but …", "one of four"."""
    if not grammar.EXCEPTIONS.isdisjoint(words):
        return True
    return "of" in words and (any(map(str.isdigit, words)) or not grammar.SOME.isdisjoint(words))


def _is_generic(word: str) -> bool:
    return word in grammar.GENERIC or word.isdigit() or word == CHECK
