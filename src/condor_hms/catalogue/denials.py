"""Words that turn an entry into something else: a denial, a doubt, the past, another person.

Rule: an entry of the record says what a patient has. A name that holds one of these words says that they do
not have it, that nobody knows, or that somebody else has it; it is refused, never taken as the name.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from condor import ToolError
from condor_hms.catalogue.terms import PROBLEMS

__all__ = ["KIN", "Doubt", "doubt_in", "refuse_doubt"]

#: Relatives, as they are written.
KIN = (
    r"(?:grand|step)?(?:mother|father|parent|son|daughter)|mum|mom|dad|brother|sister|sibling|aunt|uncle"
    r"|cousin|nephew|niece|(?:grand)?child|husband|wife|partner|spouse|relative"
    r"|family|maternal|paternal|fhx|fh of"
)
#: Names of diseases that hold a word of denial.
_IN_NAMES = re.compile(
    r"not (?:otherwise|elsewhere) (?:specified|classified)|(?:gram|triple|rh|rhesus|her-?2)[ -]negative"
    r"|(?<=\w )without (?:aura|complications?|obstruction|ha?emorrhage|bleeding|rupture"
    r"|gangrene|perforation|o?esophagitis)",
    re.IGNORECASE,
)


def _words(text: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![\w-])(?:{text})(?![\w-])", re.IGNORECASE)


#: What the words make of an entry → the words.
_DOUBTS: tuple[tuple[str, re.Pattern[str]], ...] = (
    (
        "denies it",
        _words(
            r"no|not|non|nor|neither|never|none|nil|without|w/o|den(?:y|ies|ied|ying|ial)"
            r"|negative|neg|absent|absence of"
            r"|lacks?|lacking|free of|exclu(?:de[sd]?|ding|sion)|rul(?:e|es|ed|ing)[ -]out|r/o|refuted"
            r"|disproved|unconfirmed|cannot|instead|except|but|avoid|\w+n't|isnt|doesnt|hasnt"
        ),
    ),
    (
        "is unsure of it",
        re.compile(
            r"\?|(?<![\w-])(?:(?:im)?possibl[ey]|(?:im)?probabl[ey]|(?:un)?likely|suspect(?:ed|s|ing)?|suspicious"
            r"|suspicion|query|querying|presum(?:ed|ably|ptive)|maybe|perhaps|might|may|could|would|should|if"
            r"|whether|uncertain|unsure|unclear|versus|vs|or|either|\?|apparent(?:ly)?|alleged(?:ly)?|questionable"
            r"|doubtful|think(?:s|ing)?|thought|believe[sd]?|wonder(?:s|ing)?|potential(?:ly)?"
            r"|at risk|risk of)(?![\w-])",
            re.IGNORECASE,
        ),
    ),
    (
        "speaks of the past",
        _words(
            r"history|hx|h/o|pmh|previous(?:ly)?|past|prior|former(?:ly)?|resolved|cured|ex|used to|no longer"
            r"|stopped|until"
        ),
    ),
    # “Crohn's disease” is a name, “Mary's asthma” is not.
    (
        "speaks of somebody else",
        re.compile(
            r"\w+'s (?!(?:disease|syndrome|palsy|phenomenon|lymphoma|o?esophagus|thyroiditis|sarcoma|tumou?r"
            r"|contracture|fracture|chorea|ataxia|dementia|encephalopathy|arthropathy|gangrene|ulcer|cyst"
            r"|bone|breast|ring|foot|elbow|neuroma)(?!\w))(?=\w)",
            re.IGNORECASE,
        ),
    ),
    ("speaks of somebody else", _words(rf"(?:{KIN})s?(?:'s|')?")),
)
#: What to ask for instead.
_INSTEAD = {
    "denies it": "an entry says what the patient has; write what is not so into a note",
    "is unsure of it": "name it without the doubt; a problem can be added “as provisional”",
    "speaks of the past": "name it alone, with “since” and its date, or write it into a note",
    "speaks of somebody else": "an entry is about the patient; write what a relative has into a note",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Doubt:
    """A word that an entry may not hold, and why."""

    #: As typed.
    word: str
    #: ``denies it``.
    what: str

    def __str__(self) -> str:
        """One line: the word, what it does, what to write."""
        return f"“{self.word}” {self.what}: {_INSTEAD[self.what]}"


def doubt_in(text: str) -> Doubt | None:
    """The first word that makes the text no plain name of what a patient has; None where it is one."""
    if text.strip().casefold() in PROBLEMS:
        return None
    plain = _IN_NAMES.sub(" ", text)
    found = [(match.start(), match[0], what) for what, shape in _DOUBTS if (match := shape.search(plain))]
    return Doubt(word=min(found)[1].strip(), what=min(found)[2]) if found else None


def refuse_doubt(name: str, text: str) -> None:
    """Refuse an entry whose name holds such a word.

    Args:
        name: what the text is: ``problem``.

    Raises:
        ToolError: with the word, and what to do.
    """
    doubt = doubt_in(text)
    if doubt is not None:
        raise ToolError(
            f"{text!a} is no {name}: {doubt}; nothing was written", effect="none", code="not_plain"
        )
