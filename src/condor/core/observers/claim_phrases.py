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
        phrases: list[tuple[tuple[str, ...], bool]] = [((word,), True) for word in rule.done]
        phrases += [(tuple(phrase.replace("'", " '").split()), False) for phrase in rule.said]
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
