"""A second request that hides in free text: it is named, never swallowed as somebody's words.

Rule 1: where a sentence of a message, a note or a task is a request by itself, two things were asked for.
Rule 2: a medicine that stands in a list of its own beside the one to change is a second one to change.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from condor_hms.catalogue.terms import MEDICINES, ingredient_key
from condor_hms.playbook.objects import has_medicine_stem
from condor_hms.playbook.vocabulary import COMMAND_WORDS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["is_medicine", "second_medicine", "second_request"]

#: Where a sentence, or a verb that is joined to one, may begin.
_BREAK = re.compile(
    r"(?:[.;!?,]\s*|\s+-\s+)?(?:(?<![\w'])(?:also|and|then|next|please|plus)(?![\w'])[\s,]*)+|[.;!?]\s*",
    re.IGNORECASE,
)
_SENTENCE_END = re.compile(r"[.;!?](?=\s|$)")
#: Verbs that write to somebody or change a record, with the name of whom it is about.
_NAMED = re.compile(
    r"(?i:text|sms|e-?mail|message|refer|book|stop|hold|start|prescribe|order|cancel|flag|record|add|put)"
    r" (?:(?i:mr|mrs|ms|miss)\.? )?[A-Z][\w'-]*[a-z] [A-Z][\w'-]*[a-z]"
)
#: “Also text …” writes to somebody else; “also text us” tells the patient what to do.
_ALSO = re.compile(
    r"(?:text|sms|e-?mail|message|send|refer|write to|remind|invite)"
    r" (?!us|me|back|the|your|our|it|this|in)[a-z]",
    re.IGNORECASE,
)
#: Texts are short; so is the work.
_BREAKS_MAX = 40
_LISTED = re.compile(r"\s*(?:,|/|&|\+|(?<!\w)and(?!\w)|(?<!\w)plus(?!\w))\s*", re.IGNORECASE)
_AROUND = re.compile(
    r"^(?:(?:also|then|his|her|their|the)\s+)+"
    r"|\s+(?:too|as well|also|(?:because|due|for|since|reason)(?!\w).*)$",
    re.IGNORECASE,
)


def second_request(text: str, is_request: Callable[[str], bool]) -> str | None:
    """The sentence of a text that is a request by itself; None where there is none.

    Args:
        is_request: whether a text is planned as it stands.
    """
    for joint, tail in _tails(text):
        first = re.match(r"[\w'-]+", tail)
        if first is None or COMMAND_WORDS.fullmatch(first[0].lower()) is None:
            continue
        end = _SENTENCE_END.search(tail)
        sentence = tail[: end.start()] if end else tail
        also = "also" in joint.lower() and _ALSO.match(tail)
        if also or _NAMED.match(tail) or is_request(tail) or is_request(sentence):
            return sentence
    return None


def _tails(text: str) -> Iterator[tuple[str, str]]:
    breaks = list(_BREAK.finditer(text))[:_BREAKS_MAX]
    return ((match[0], text[match.end() :]) for match in breaks if match.end() < len(text))


def second_medicine(reason: str, *, announced: bool) -> str | None:
    """A medicine that stands in a reason as one more to act on; None where there is none.

    Args:
        announced: whether a word such as “because” opens the reason; a comma announces nothing.
    """
    parts = [part for part in _LISTED.split(reason) if part]
    before = announced
    for part in parts:
        bare = _AROUND.sub("", _AROUND.sub("", part)).strip()
        if is_medicine(bare) and not before:
            return bare
        # “an interaction with aspirin and warfarin” is a list in the reason.
        before = before if part is parts[0] and announced and is_medicine(bare) else _ends_so(part)
    return None


def _ends_so(part: str) -> bool:
    return is_medicine(part.split()[-1])


def is_medicine(text: str) -> bool:
    """Whether a name is of a medicine: by the table, or by its stem."""
    word = text.lower()
    return ingredient_key(word) in MEDICINES or has_medicine_stem(word)
