"""What a text claims that was done: every sentence read once, by the rules and a little grammar.

Law 1: only a statement is a claim. A negation, a question, a condition, a plan and somebody else's act are
none, nor is what a record says of another time.
Law 2: linear time. A sentence is read in pieces of bounded length, and in each of them a bounded number of
phrases is looked at.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from condor.core.observers import claim_grammar as grammar
from condor.core.observers.claim_clauses import Clause, clauses_of
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
#: Words before an act in which who did it stands.
_NEAR_WORDS = 3
_LEFT_OPEN = grammar.NEGATIONS | grammar.CONDITIONS | grammar.HEDGES | grammar.MODALS
#: Where none of these stands before an act, nothing leaves it open.
_MAY_LEAVE_OPEN = _LEFT_OPEN | frozenset(("check", "make", "to"))
_UNDONE_HEADINGS = _LEFT_OPEN | frozenset(("to", "next", "open", "todo", "planned"))
#: Where none of these stands, nor a number, no time is told.
_TELLS_TIME = grammar.PAST | frozenset(("ago", "last", "past", "previous", "in"))
_STRESSES = frozenset(("now", "just", "successfully", "jetzt", "maintenant"))
_BY = frozenset(("by", "von", "par"))
_MARKS = frozenset((",", ":", "--", "(", ")", "?", "/"))
#: A participle after one of these describes a thing: "a list of cancelled orders".
_ADJECTIVE_AFTER = frozenset(("of", "no", "other", "previous", "new", "old"))


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


def read_claims(text: str, matcher: Matcher) -> Iterator[Claim | None]:
    """Every claim of a text, in order; None at last where it goes on with more acts than are read."""
    heading_denies = False
    hits_left = TEXT_HITS_MAX
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
            yield from _claims_of(sentence, hits[:_HITS_MAX])


def _denies(words: Sequence[str]) -> bool:
    """Whether what stands under this heading was not done."""
    return not _UNDONE_HEADINGS.isdisjoint(words)


def _claims_of(sentence: Sentence, hits: Sequence[Hit]) -> Iterator[Claim]:
    clauses = clauses_of(sentence, hits)
    if not grammar.OPEN.isdisjoint(sentence.words):
        return
    other_before = bound = False
    for number, clause in enumerate(clauses):
        words = sentence.words[clause.start : clause.end]
        if not clause.goes_on:
            other_before = False
        bound = bound or _reads_out(words)
        mine = [hit for hit in hits if clause.start <= hit.start < clause.end]
        asks = sentence.asks and (number == len(clauses) - 1 or _first(words) in grammar.ASKS)
        if mine and not asks and not bound:
            was_before = _was_before(words)
            for hit in mine:
                reader = _Reader(sentence, clause, hit, other_before=other_before, was_before=was_before)
                strong = reader.strength()
                other_before = other_before or reader.by_others
                if strong is not None:
                    yield _claim(sentence, clause, hit, strong=strong, first=reader.first_person)
        if mine and not other_before:
            other_before = _subject_is_other(sentence, clause, mine[0])
        bound = bound or _first(words) in grammar.BINDING


def _reads_out(words: Sequence[str]) -> bool:
    """Whether what follows is read out: "according to the chart", "in the report"."""
    return "according" in words[:3] or (words[:1] == ("in",) and not grammar.SOURCES.isdisjoint(words[1:5]))


def _first(words: Sequence[str]) -> str:
    return next((word for word in words if word not in (",", ":") and word not in grammar.ADVERBS), "")


def _was_before(words: Sequence[str]) -> bool:
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
        if len(word) == 4 and word.isdigit() and word[:2] in ("19", "20"):
            return at > 0 and (words[at - 1] in ("in", "of", "until", ",") or words[at - 1] in grammar.MONTHS)
        if word == "in" and ahead in grammar.MONTHS:
            return True
    return False


class _Reader:
    """Whether one hit claims something, and how plainly."""

    def __init__(
        self, sentence: Sentence, clause: Clause, hit: Hit, *, other_before: bool, was_before: bool
    ) -> None:
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
        self.first_person = not grammar.FIRST.isdisjoint(self._before)

    def _statement_start(self) -> int:
        """After the last "that" of "I can confirm that", where nothing stands against it."""
        start = self._clause.start
        if grammar.STATES.isdisjoint(self._words[start : self._hit.start]):
            return start
        for at in range(start, self._hit.start):
            states = self._words[at] in grammar.STATES
            if states and not self._open(self._words[start:at], allow_modals=True):
                start = at + 1
                if start < self._hit.start and self._words[start] in ("that", "you", ":"):
                    start += 1
        return start

    def _open(self, words: Sequence[str], *, allow_modals: bool = False) -> bool:
        """Whether these words leave it open whether it was done."""
        if _MAY_LEAVE_OPEN.isdisjoint(words):
            return False
        for at, word in enumerate(words):
            ahead = words[at + 1] if at + 1 < len(words) else ""
            if word in grammar.NEGATIONS and ahead not in grammar.NOT_ONLY:
                return True
            if word in grammar.CONDITIONS and not (word in ("before", "once", "when") and ahead == ","):
                return True
            if word in grammar.HEDGES and not (
                at and words[at - 1] in ("as", "like", "just", "you", "were", "was")
            ):
                return True
            if word == "check" and at == 0:
                return True
            if word == "make" and ahead == "sure":
                return True
            if not allow_modals and word in grammar.MODALS:
                return True
            if not allow_modals and word == "to" and ahead in ("be", "have", "get", "see"):
                return True
        return False

    def strength(self) -> bool | None:
        """True: it can only be about this run; False: it may be; None: it is no claim."""
        if self._open(self._before) or self._left_open_after():
            return None
        if not grammar.HABITS.isdisjoint(self._before):
            return None
        if self._was_before and not self.first_person:
            return None
        if self._by_somebody_else():
            self.by_others = True
            return None
        return self._participle() if self._hit.participle else self._phrase()

    def _left_open_after(self) -> bool:
        after = self._words[self._hit.end : self._clause.end][:4]
        if after[:1] == ("for",) and any(word in ("approval", "review", "signature") for word in after[1:3]):
            return True
        if after[:2] == ("to", "you") and "approval" in after:
            return True
        if any(word in ("nothing", "nobody", "no", "none") for word in after[:2]):
            return True
        return bool(after) and after[0] in ("not", "only", "partly", "nicht")

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
                if who >= self._clause.end or words[who] in grammar.NO_PERSON or words[who][0].isdigit():
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
        tail = joined[-5:]
        stressed = not _STRESSES.isdisjoint(self._words)
        perfect = "been" in tail or "worden" in self._words or "ete" in tail
        return stressed or (perfect and not any(rule.in_records for rule in self._hit.rules))

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
                return True
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
        if self._other_before:
            return None
        return True


def _is_aside(word: str, marks: tuple[str, ...]) -> bool:
    return word in marks or word in grammar.ADVERBS


def _subject_is_other(sentence: Sentence, clause: Clause, hit: Hit) -> bool:
    """Whether the statement has somebody else as its subject, for the statement that goes on from it."""
    before = sentence.words[clause.start : hit.start]
    if not (grammar.FIRST.isdisjoint(before) and grammar.BE.isdisjoint(before)):
        return False
    return not (grammar.SECOND_THIRD.isdisjoint(before[:3]) and grammar.OTHERS.isdisjoint(before[:3]))


def _claim(sentence: Sentence, clause: Clause, hit: Hit, *, strong: bool, first: bool) -> Claim:
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
        first_person=first,
    )


def _is_partial(words: Sequence[str]) -> bool:
    """Whether it speaks of some of the run: "all but …", "one of four"."""
    if not grammar.EXCEPTIONS.isdisjoint(words):
        return True
    return "of" in words and (any(map(str.isdigit, words)) or not grammar.SOME.isdisjoint(words))


def _is_generic(word: str) -> bool:
    return word in grammar.GENERIC or word.isdigit() or word == CHECK
