"""Which medicine a request names.

Rule: known names are read wherever they stand (brand and other countries' names too). An unknown word is
taken as a medicine only where a dose with its unit follows it, or where it stands in the place of one and
ends as medicines do.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from condor_hms.catalogue.terms import MEDICINES, SUBSTANCES, ingredient_key
from condor_hms.playbook.doses import WRITTEN_DOSE
from condor_hms.playbook.objects import THINGS, has_medicine_stem
from condor_hms.playbook.refusals import refuse
from condor_hms.playbook.vocabulary import FLAG_WORDS, TESTS

if TYPE_CHECKING:
    from condor_hms.playbook.draft import Draft, Word

__all__ = ["Medicine", "take_medicine", "take_medicines", "unknown_before_dose", "unknown_to_stop"]

#: Words of the longest name: "sliding scale insulin".
_NAME_WORDS_MAX = 3
_UNKNOWN = re.compile(
    rf"(?<![\w'-])(?:on|prescribe|of|with) (?P<name>[a-z][a-z-]{{3,30}})(?= (?:{WRITTEN_DOSE}|(?P<bare>\d)))"
)
_TO_STOP = re.compile(
    r"(?:(?<!\w)(?:stop|discontinue|cease|withdraw|cancel|remove|off|taking)"
    r"(?: the| her| his| their| taking)*|'s)"
    rf" (?P<name>[a-z][a-z-]{{3,30}})(?=(?P<dosed> {WRITTEN_DOSE})"
    r"|\W*(?:$|[,.;\0(]|(?:for|in|on|from|please|as|because|due)(?!\w)))"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Medicine:
    """A medicine as typed and by its one spelling."""

    #: As typed, the first letter a capital.
    name: str
    #: As ``medication.list.card`` names its ingredient.
    key: str


def take_medicines(draft: Draft) -> list[Medicine]:
    """Every known medicine in what is left, each once."""
    found: dict[str, Medicine] = {}
    left = list(draft.words())
    index = 0
    while index < len(left):
        run = _known_run(draft, left[index : index + _NAME_WORDS_MAX])
        if run is None:
            index += 1
            continue
        medicine = _medicine(draft.text[run[0].start : _end_of(run[-1])])
        found.setdefault(medicine.key, medicine)
        draft.mask(run[0].start, run[-1].end)
        index += len(run)
    return list(found.values())


def take_medicine(draft: Draft) -> Medicine | None:
    """The one known medicine.

    Raises:
        RequestNotUnderstood: there are two.
    """
    found = take_medicines(draft)
    if len(found) > 1:
        raise refuse(f"two medicines in one request ({' and '.join(one.name for one in found)})")
    return found[0] if found else None


def unknown_before_dose(draft: Draft) -> Medicine | None:
    """A word between “on” or “prescribe” and a dose: a medicine that is not in the table, taken as typed."""
    for match in _UNKNOWN.finditer(draft.low):
        if match.group("name") in THINGS or not (match["bare"] is None or has_medicine_stem(match["name"])):
            continue
        draft.mask(*match.span("name"))
        return _medicine(draft.typed(match, "name"))
    return None


def unknown_to_stop(draft: Draft) -> Medicine | None:
    """A word where the medicine to stop stands; it is looked up among the patient's own orders."""
    for match in _TO_STOP.finditer(draft.low):
        if match["name"] not in THINGS and (match["dosed"] or has_medicine_stem(match["name"])):
            draft.mask(*match.span("name"))
            return _medicine(draft.typed(match, "name"))
    return None


def names_a_thing(word: str) -> bool:
    """Whether a word in lower case names a medicine, a substance, a test or a flag."""
    key = ingredient_key(word)
    known = key in MEDICINES or word in SUBSTANCES or has_medicine_stem(word)
    return known or any(table.search(word) for table in (TESTS, FLAG_WORDS))


def _known_run(draft: Draft, left: list[Word]) -> list[Word] | None:
    for length in range(len(left), 0, -1):
        run = left[:length]
        if any(draft.gap(one, two) not in (" ", "-", "/", " / ") for one, two in pairwise(run)):
            continue
        # A word that folds away (oral, tablets, 100) is no part of the name.
        if all(ingredient_key(word.text) for word in run):
            text = draft.text[run[0].start : _end_of(run[-1])]
            if ingredient_key(text) in MEDICINES:
                return run
    return None


def _end_of(word: Word) -> int:
    return word.end - 2 if word.text.endswith("'s") else word.end


def _medicine(text: str) -> Medicine:
    name = text[:1].upper() + text[1:]
    return Medicine(name=name, key=ingredient_key(text))
