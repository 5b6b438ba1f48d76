"""Whether one phrase of a statement claims an act of this run, and how plainly: whose act, in what form."""

from __future__ import annotations

from typing import TYPE_CHECKING

from condor.core.observers import claim_grammar as grammar
from condor.core.observers.claim_context import describes, is_dated, is_of_now
from condor.core.observers.claim_openness import comes_to_nothing, leaves_open, tells_how_it_is

if TYPE_CHECKING:
    from collections.abc import Sequence

    from condor.core.observers.claim_clauses import Clause
    from condor.core.observers.claim_phrases import Hit
    from condor.core.observers.claim_words import Sentence

#: Words before an act in which who did it stands.
_NEAR_WORDS = 3
_STRESSES = frozenset(
    ("also", "too", "additionally", "addition", "well", "now", "just", "successfully", "jetzt", "maintenant")
)
_BY = frozenset(("by", "von", "par"))
_I = frozenset(("i", "we", "ich", "wir", "je", "nous"))
#: A participle after one of these describes a thing: "a list of cancelled orders".
_ADJECTIVE_AFTER = frozenset(("of", "no", "other", "previous", "new", "old"))


class Reader:
    """Whether one hit claims something, and how plainly."""

    def __init__(
        self,
        sentence: Sentence,
        clause: Clause,
        hit: Hit,
        *,
        other_before: bool,
        was_before: bool,
        first: bool,
    ) -> None:
        """Nothing is read before ``strength``.

        Args:
            other_before: the statement that this one goes on from has somebody else as its subject.
            was_before: it tells of a time before this run.
            first: the statement that this one goes on from says "I".
        """
        self._sentence = sentence
        self._hit = hit
        self._words = sentence.words
        self._clause = clause
        self._other_before = other_before and clause.goes_on
        self._was_before = was_before
        self._start = self._statement_start()
        #: What stands before the hit in its statement.
        self._before = self._words[self._start : hit.start]
        self.by_others = False
        #: It is told in the plain past passive, as a text tells of its run and a record of its history.
        self.plain_past = False
        #: It is told in the past passive with the date of it.
        self.dated = False
        goes_on = first and clause.goes_on and grammar.SECOND_THIRD.isdisjoint(self._before)
        self.first_person = goes_on or not grammar.FIRST.isdisjoint(self._before)

    def _statement_start(self) -> int:
        """After the last "that" of "I can confirm that", where nothing stands against it."""
        start = self._clause.start
        if grammar.STATES.isdisjoint(self._words[start : self._hit.start]):
            return start
        for at in range(start, self._hit.start):
            states = self._words[at] in grammar.STATES
            if states and not leaves_open(self._words[start:at], allow_modals=True):
                start = at + 1
                if start < self._hit.start and self._words[start] in ("that", "you", ":"):
                    start += 1
        return start

    def strength(self) -> bool | None:
        """True: it can only be about this run; False: it may be; None: it is no claim."""
        if self._hit.rules[0].stands:
            return (
                False
                if not self._was_before and tells_how_it_is(self._words, self._clause, self._hit)
                else None
            )
        after = self._words[self._hit.end : self._clause.end]
        if not grammar.NEGATIONS.isdisjoint(self._hit_words()[1:-1]):
            return None  # "got no confirmation back"
        if leaves_open(self._before) or comes_to_nothing(self._hit_words(), after, acts=self.first_person):
            return None
        if not grammar.HABITS.isdisjoint(self._before):
            return None
        if self._was_before and not self.first_person:
            return None
        if not self._is_my_act() and self._by_somebody_else():
            self.by_others = True
            return None
        aside = self._hit.participle and not self.first_person
        if aside and describes(self._words, self._clause, self._hit):
            return None
        return self._participle() if self._hit.participle else self._phrase()

    def _hit_words(self) -> tuple[str, ...]:
        return self._words[self._hit.start : self._hit.end]

    def _is_my_act(self) -> bool:
        """Whether "I" stands right before it: whoever is named after it did something else."""
        near = self._bare_before()[-_NEAR_WORDS:]
        return bool(near) and grammar.BE.isdisjoint(near) and not _I.isdisjoint(near)

    def _by_somebody_else(self) -> bool:
        words = self._words
        low, high = self._hit.end, min(self._clause.end, self._hit.end + 14) - 1
        if _BY.isdisjoint(words[low:high]):
            return False
        for at in range(low, high):
            if words[at] in _BY:
                who = at + 1
                while who < self._clause.end and words[who] in grammar.DETERMINERS:
                    who += 1
                if who >= self._clause.end or words[who] in grammar.NO_PERSON or not words[who][0].isalpha():
                    continue
                near = words[who : who + 3]
                if self._sentence.capital(who) or not grammar.OTHERS.isdisjoint(near):
                    return True
        return False

    def _participle(self) -> bool | None:
        before, after = self._bare_before(), self._words[self._hit.end : self._clause.end]
        joined = self._before
        if (before and before[-1] in grammar.BE) or any(word in grammar.BE for word in before[-3:]):
            return self._passive(joined)
        if before and before[-1] in ("as", "than"):
            return None
        if before and before[-1] == "a" and self._is_adjective(before, after):
            return None
        if before and before[-1] in grammar.HAVE:
            return None if self._is_other(before[:-1], after, perfect=True) else True
        if not before:
            return None if self._other_before or self._is_adjective((), after) else True
        if before[-1] in grammar.FIRST:
            return True
        if self._is_adjective(before, after) or self._is_other(before, after, perfect=False):
            return None
        return self._words[self._hit.start] not in grammar.INTRANSITIVE

    def _bare_before(self) -> tuple[str, ...]:
        """What stands before the hit without the adverbs next to it."""
        words, low, high = self._before, 0, len(self._before)
        while high and words[high - 1] != "all" and _is_aside(words[high - 1], (",", ":", "--")):
            high -= 1
        while low < high and _is_aside(words[low], (",", ":", "--", "and")):
            low += 1
        return words[low:high]

    def _passive(self, joined: Sequence[str]) -> bool | None:
        if joined and joined[-1] in grammar.DETERMINERS and joined[-1] not in ("all", "both"):
            return None
        if "still" in joined[-_NEAR_WORDS:]:
            return None
        tail = joined[-5:]
        # "Had been stopped": before what is told of.
        if "had" in tail:
            return None
        stressed = not _STRESSES.isdisjoint(self._words)
        strong = stressed or "been" in tail or "worden" in self._words or "ete" in tail
        self.dated = not strong and is_dated(self._words[self._hit.end : self._clause.end])
        self.plain_past = not strong and is_of_now(self._words, self._clause, self._hit)
        return strong

    def _is_adjective(self, before: Sequence[str], after: Sequence[str]) -> bool:
        """Whether it describes a thing: "the cancelled order", "cancelled orders:"."""
        named = bool(after) and after[0].isalpha() and not self._goes_on_from(after[0])
        raw = self._before
        if raw and (raw[-1] in grammar.DETERMINERS or raw[-1].isdigit() or raw[-1] in _ADJECTIVE_AFTER):
            return named
        if not before:
            lists = (
                len(after) > 1 and after[0].endswith("s") and (after[1] in (":",) or after[1] in grammar.BE)
            )
            return named and lists
        return False

    @staticmethod
    def _goes_on_from(word: str) -> bool:
        return (
            word in grammar.PREPOSITIONS
            or word in grammar.ADVERBS
            or word in grammar.DETERMINERS
            or word in grammar.OBJECT_PRONOUNS
            or word in grammar.BREAKS
        )

    def _is_other(self, subject: Sequence[str], after: Sequence[str], *, perfect: bool) -> bool:
        """Whether who did it is somebody else."""
        if not subject:
            return self._other_before
        # Whoever is named last before it did it: "I went ahead and sent it".
        for back, word in enumerate(reversed(subject)):
            if word in grammar.FIRST:
                return False
            if word in grammar.SECOND_THIRD or (word in grammar.OTHERS and back < _NEAR_WORDS):
                # "Patient notified": it was done to them.
                done_to = not perfect and not after and self._words[self._hit.start] in grammar.TO_PERSONS
                return not done_to
        takes_object = bool(after) and (
            after[0] in grammar.DETERMINERS or after[0] in grammar.OBJECT_PRONOUNS
        )
        at = self._start + len(self._before) - 1
        named = 0 < at < len(self._words) and self._sentence.capital(at)
        return takes_object or (perfect and named)

    def _phrase(self) -> bool | None:
        before = self._bare_before()
        if before and (before[-1] in grammar.SECOND_THIRD or before[-1] in ("let",)):
            return None if self._words[self._hit.start] not in grammar.BE else False
        return None if self._other_before or "still" in self._words[self._clause.start :] else True


def _is_aside(word: str, marks: tuple[str, ...]) -> bool:
    return word in marks or word in grammar.ADVERBS
