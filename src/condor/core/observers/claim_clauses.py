"""Where one statement of a sentence ends and the next begins."""

from __future__ import annotations

from typing import TYPE_CHECKING

from condor.core.observers import claim_grammar as grammar
from condor.core.values import dataclass

if TYPE_CHECKING:
    from collections.abc import Sequence

    from condor.core.observers.claim_phrases import Hit
    from condor.core.observers.claim_words import Sentence

#: Words of a "no, …" that stands before a statement.
_INTERJECTION_WORDS = 2
#: "No problems: …" denies nothing of what follows.
_TROUBLE = frozenset(
    ("problem", "problems", "issue", "issues", "error", "errors", "worries", "trouble", "complications")
)
_OPENERS_END = frozenset((",", ":", "--"))
_SEPARATORS = frozenset((",", ":", "and", "und", "et"))
_MAY_CUT = _SEPARATORS | grammar.BREAKS | frozenset(("--", "(", ")", "/"))
_VERBS = grammar.BE | grammar.HAVE | grammar.MODALS
_SAYS_UNDONE = grammar.NEGATIONS | grammar.UNDONE | grammar.OPEN
#: They show that a statement stands to the left of a comma.
_OPENS = _VERBS | grammar.CONDITIONS | grammar.HEDGES | frozenset(("no", "yes", "ok", "okay", "sure", "did"))


@dataclass(frozen=True, slots=True)
class Clause:
    """One statement of a sentence: the words from ``start`` to before ``end``."""

    start: int
    end: int
    #: It goes on from the clause before without a subject of its own.
    goes_on: bool


def clauses_of(sentence: Sentence, hits: Sequence[Hit]) -> list[Clause]:
    """Where one statement ends and the next begins."""
    words, starts = sentence.words, {hit.start for hit in hits}
    found: list[Clause] = []
    start, goes_on = 0, False
    for at, word in enumerate(words):
        if at < start or word not in _MAY_CUT:
            continue
        shares = _cut(words, start, at, starts)
        if shares is None:
            continue
        if at > start:
            found.append(Clause(start, at, goes_on))
        start, goes_on = (at + 1 if word in _SEPARATORS or word in grammar.BREAKS else at), shares
    found.append(Clause(start, len(words), goes_on))
    return found


def _cut(words: Sequence[str], start: int, at: int, starts: set[int]) -> bool | None:
    """Whether a statement ends before this word: None: no; True: the next one has the same subject."""
    word, left = words[at], words[start:at]
    after = _skip_adverbs(words, at + 1)
    begins = after < len(words) and (
        words[after] in grammar.SUBJECT_STARTS or words[after] in grammar.BINDING
    )
    if word in grammar.BREAKS:
        return None if word == "but" and left and left[-1] in grammar.ALL_BUT else not begins
    if word == "/" and any(map(str.isdigit, "".join(words[at + 1 : at + 2]))):
        return None  # "Patient/12" is one name
    if word in _OPENERS_END and tuple(left[:1]) == ("no",) and len(left) == _INTERJECTION_WORDS:
        return False if left[1] in _TROUBLE else None
    if word in ("--", "(", ")", "/"):
        return False if _has(starts, start, at) or not _OPENS.isdisjoint(left) else None
    if word == "," and words[-1] == "?" and words[after : after + 1] and words[after] in grammar.ASKS:
        return False
    if word not in _SEPARATORS:
        return None
    right = _until_break(words, after)
    has_left, has_right = _has(starts, start, at), _has(starts, after, after + len(right))
    if begins:
        says = has_right or not _VERBS.isdisjoint(right)
        return False if says and (has_left or not _OPENS.isdisjoint(left)) else None
    if word != ":" and _verb_at(words, after, starts):
        if has_left:
            return None if _negated(left) else True
        return False if word == "," and at - start <= _INTERJECTION_WORDS else None
    apart = has_right or not _SAYS_UNDONE.isdisjoint(right)
    return False if has_left and apart and word != ":" and not _negated(left) else None


def _until_break(words: Sequence[str], at: int) -> Sequence[str]:
    for end in range(at, len(words)):
        if words[end] in _SEPARATORS or words[end] in grammar.BREAKS:
            return words[at:end]
    return words[at:]


def _has(starts: set[int], low: int, high: int) -> bool:
    return not starts.isdisjoint(range(low, high))


def _skip_adverbs(words: Sequence[str], at: int) -> int:
    while (
        at < len(words)
        and (words[at] in grammar.ADVERBS or words[at] == ",")
        and words[at] not in ("both", "all")
    ):
        at += 1
    return at


def _verb_at(words: Sequence[str], at: int, starts: set[int]) -> bool:
    """Whether a statement without a subject begins here: "… and cancelled", "… and has been paid"."""
    while at < len(words) and (
        words[at] in grammar.HAVE or words[at] in grammar.BE or words[at] in grammar.ADVERBS
    ):
        at += 1
    return at in starts


def _negated(words: Sequence[str]) -> bool:
    if grammar.NEGATIONS.isdisjoint(words):
        return False
    for at, word in enumerate(words):
        if word in grammar.NEGATIONS and not (at + 1 < len(words) and words[at + 1] in grammar.NOT_ONLY):
            return True
    return False
