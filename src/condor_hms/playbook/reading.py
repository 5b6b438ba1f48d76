"""One request being read, and the two checks that every kind ends with: who, and nothing left over."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from condor_hms.playbook.names import Who, take_lower_case_name, take_who
from condor_hms.playbook.refusals import refuse, refuse_part
from condor_hms.playbook.vocabulary import COMMAND_WORDS, FILLERS, HYPOTHETICAL, NEGATIONS, TURNS, pattern

if TYPE_CHECKING:
    import datetime
    from collections.abc import Iterable

    from condor_hms.playbook.draft import Draft, Word

__all__ = ["Reading", "is_plain_text"]

_PRONOUN = pattern(r"she|he|they|her|him|them|his|their|hers|it|this patient|my patient|the patient")
#: Words of free text that is taken over as it stands (an indication, a reason).
_FREE_WORDS_MAX = 14
#: Words that are verbs or turns elsewhere: “a newer note” orders nothing, “now and then” is how often.
_NO_VERBS = pattern(
    r"(?:an?|the|this|that|another|her|his|their|newer|later|older|new|old|draft|triage|progress|clinic|nursing"
    r"|admission|duplicate) (?:note|record|document|draft|order|letter)|now and then"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """A request: its text with the understood parts taken, the day, and the numbers that name somebody."""

    draft: Draft
    today: datetime.date
    #: What ``take_identifiers`` found.
    known: Who

    def named(self, words: Iterable[str]) -> Who:
        """Take the patient's name where it is written with capitals; an empty query where it is not.

        Args:
            words: what means nothing more in this kind of request, and may open a sentence.

        Raises:
            RequestNotUnderstood: two patients.
        """
        return take_who(self.draft, self.known, FILLERS.union(words))

    def finish(self, who: Who, words: Iterable[str]) -> Who:
        """When everything else is taken: who it is about, and nothing may be left.

        Raises:
            RequestNotUnderstood: nobody, or words left over.
        """
        fillers = FILLERS.union(words)
        if who.query == self.known.query:
            name = take_lower_case_name(self.draft, fillers) or ""
            who = Who(query=f"{name} {who.query}".strip(), birth_date=who.birth_date)
        self._check_rest(fillers)
        if not who.query:
            raise self._nobody()
        return who

    def _nobody(self) -> Exception:
        pronoun = _PRONOUN.search(self.draft.text.lower())
        if pronoun is not None:
            return refuse(f"“{pronoun.group()}” does not say who is meant; name the patient")
        return refuse("no patient is named")

    def _check_rest(self, fillers: frozenset[str]) -> None:
        left = [word for word in self.draft.words() if word.low not in fillers]
        if not left:
            return
        part = self._phrase(left)
        denied = next((word for word in left if NEGATIONS.fullmatch(word.low)), None)
        if denied is not None:
            raise refuse_part(part, "I do not act on a request that says what not to do")
        if any(HYPOTHETICAL.fullmatch(word.low) for word in left):
            raise refuse_part(part, "I act on requests, not on questions about what might be done")
        raise refuse_part(part)

    def _phrase(self, left: list[Word]) -> str:
        """The words left over, as typed; neighbours with what stands between them."""
        parts: list[str] = []
        end = -1
        for word in left:
            between = self.draft.low[end : word.start] if end >= 0 else "\0"
            if parts and "\0" not in between and len(between) < 12:
                parts[-1] += self.draft.text[end : word.end]
            else:
                parts.append(word.text)
            end = word.end
        return " … ".join(parts)


def is_plain_text(text: str) -> bool:
    """Whether free text may be taken over as it stands: short, and nothing else hides in it."""
    low = _NO_VERBS.sub(" ", text.lower())
    hidden = COMMAND_WORDS.search(low) or TURNS.search(low)
    return 0 < len(text.split()) <= _FREE_WORDS_MAX and hidden is None
