"""Finding the phrases of rules among the words of a sentence, in linear time."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Protocol

from condor.core.observers.claim_rules import DEFAULT_CLAIM_RULES, ClaimRule
from condor.core.values import dataclass

if TYPE_CHECKING:
    from collections.abc import Sequence

#: Words between the parts of a phrase with a gap.
_GAP_WORDS = 4
_GAP = "…"


@dataclass(frozen=True, slots=True)
class Hit:
    """A phrase of some rules in a sentence: the words from ``start`` to before ``end``."""

    rules: tuple[ClaimRule, ...]
    start: int
    end: int
    #: It is a participle, whose grammar says more; a phrase speaks for itself.
    participle: bool


class Matcher(Protocol):
    """Finds the phrases of rules among words, in linear time."""

    def __call__(self, words: Sequence[str]) -> Sequence[Hit]:
        """Every hit, by its first word."""
        ...


@lru_cache(maxsize=16)
def phrase_matcher(rules: tuple[ClaimRule, ...] = DEFAULT_CLAIM_RULES) -> Matcher:
    """The matcher of these rules: phrases by their first word."""
    known: dict[tuple[tuple[str, ...], bool], list[ClaimRule]] = {}
    for rule in rules:
        phrases: list[tuple[tuple[str, ...], bool]] = [
            ((form,), True) for word in rule.done for form in _forms(word)
        ]
        phrases += [(words, False) for said in rule.said for words in _spellings(said)]
        for phrase, participle in phrases:
            known.setdefault((phrase, participle), []).append(rule)
    index: dict[str, list[tuple[tuple[str, ...], str, tuple[ClaimRule, ...], bool]]] = {}
    for (phrase, participle), its in known.items():
        second = phrase[1] if phrase[1:] and phrase[1] != _GAP else ""
        index.setdefault(phrase[0], []).append((phrase, second, tuple(dict.fromkeys(its)), participle))

    def find(words: Sequence[str]) -> Sequence[Hit]:
        if index.keys().isdisjoint(words):
            return ()
        hits: list[Hit] = []
        for at, word in enumerate(words):
            if (phrases := index.get(word)) is None:
                continue
            ahead = words[at + 1] if at + 1 < len(words) else ""
            here = [
                Hit(its, at, end, participle)
                for phrase, second, its, participle in phrases
                if second in ("", ahead)
                and (end := at + 1 if len(phrase) == 1 else _end_of(phrase, words, at))
            ]
            # "dropped her a line" is another thing than "dropped".
            idiom = next((hit for hit in here if hit.end > at + 2), None)
            hits += [idiom] if idiom is not None else here
        return hits

    return find


def both(first: Matcher, second: Matcher) -> Matcher:
    """Find the phrases of both; where both find one at the same word, it is a phrase of the rules of both."""

    def find(words: Sequence[str]) -> Sequence[Hit]:
        more = second(words)
        if not more:
            return first(words)
        ours = {hit.start: hit for hit in more}
        hits = [
            Hit((*mine.rules, *hit.rules), hit.start, hit.end, hit.participle)
            if (mine := ours.pop(hit.start, None))
            else hit
            for hit in first(words)
        ]
        return sorted([*hits, *ours.values()], key=lambda hit: hit.start)

    return find


def _spellings(said: str) -> list[tuple[str, ...]]:
    """A phrase as words; what "is through" is, "'s through" is too."""
    words = tuple(said.replace(" '", "'").replace("'", " '").split())
    short = {"is": "'s", "are": "'re"}.get(words[0])
    return [words, (short, *words[1:])] if short else [words]


#: Words that a misspelling would make, and that mean something else.
_OTHER_WORDS = frozenset(("stated", "stared", "crated", "scraped"))
#: Letters of a word that is known with one of them left out.
_MISSPELT_CHARS_MIN = 7


def _forms(word: str) -> set[str]:
    """A participle as it is written: also done by wire ("e-signed"), and with a letter left out."""
    forms = {word, f"e{word}"}
    if len(word) >= _MISSPELT_CHARS_MIN and word.endswith("ed"):
        forms |= {word[:at] + word[at + 1 :] for at in range(1, len(word) - 1)} - _OTHER_WORDS
    return forms


def _end_of(phrase: tuple[str, ...], words: Sequence[str], at: int) -> int:
    """Where a phrase ends that begins here; 0 where it does not."""
    gap = False
    for part in phrase:
        if part == _GAP:
            gap = True
            continue
        if gap:
            near = words[at : at + _GAP_WORDS + 1]
            if part not in near or "me" in near[: near.index(part)]:
                return 0
            at += near.index(part)
            gap = False
        if at >= len(words) or words[at] != part:
            return 0
        at += 1
    return at
