"""Who a request is about: a name, a record number, a date of birth. One patient, or none.

Rule: a name is handed to the search as typed, never corrected. Two names are two patients.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from condor_hms.playbook.dates import DATE, read_date
from condor_hms.playbook.medicines import names_a_thing
from condor_hms.playbook.objects import THINGS, VERBS
from condor_hms.playbook.refusals import refuse, refuse_part
from condor_hms.playbook.vocabulary import COMMAND_WORDS, HYPOTHETICAL, NEGATIONS, TIMES, words

if TYPE_CHECKING:
    import datetime
    from collections.abc import Collection

    from condor_hms.playbook.draft import Draft, Word

__all__ = ["Who", "says_something", "take_identifiers", "take_lower_case_name", "take_who"]

#: Words of a name; a longer run is no name.
_NAME_WORDS_MAX = 5
#: Without capitals two words are a name; in a longer run a verb nobody knows could hide.
_LOWER_CASE_WORDS_MAX = 2
_TITLES = words("mr mrs ms miss mx dr prof professor")
_RECORD_NUMBER = re.compile(
    r"(?:\(? ?(?:mrn|hospital number|record number|patient number|nhs number)[:# ]*)?"
    r"(?<![\w-])(?P<number>[a-z]{2,6}-\d{3,12})(?![\w-])\)?"
)
_PHONE = re.compile(r"(?<![\w(])(?:\+1 ?)?\(?\d{3}\)?[ -]\d{3}-\d{4}(?!\w)")
_BORN = re.compile(
    rf"\(? ?(?<!\w)(?:born(?: on)?|dob|d\.o\.b\.?|date of birth)[: ]*(?P<date>{DATE})(?!\w)\)?"
)
_TITLE = re.compile(r"(?<!\w)(?:mr|mrs|ms|miss|mx|dr|prof|professor)\.?(?= (?P<next>[^\W\d_][\w'-]*))")
_CAPITALS = re.compile(r"[A-Z][A-Z'-]{2,}")
_PARTICLES = frozenset(
    {"de", "la", "van", "von", "der", "den", "del", "di", "da", "du", "bin", "al", "el", "st"}
)
#: Capital letters that are no surname.
_ACRONYMS = words(
    "UTI COPD HTN CKD DM AF PRN INR NSAID SSRI GP MRSA DNACPR DNAR CPR PO IV IM SC OD BD TDS QDS"
)
#: First names that are also words of requests. Before a single family name they are taken for the name: a
#: search for “Mark Bailey” that finds nobody asks, a search for “Bailey” could find somebody else.
_ALSO_NAMES = words("mark will may an do so my art pat bill grant")
_CALENDAR = words(
    "monday tuesday wednesday thursday friday saturday sunday january february march april june july august "
    "september october november december"
)
_EVERYBODY = words("everyone everybody someone somebody anyone anybody nobody everything")
#: Lower-case words that stand where a name could and are none.
_NOBODY = _EVERYBODY | words(
    "all every each both patients people ward "
    "bed everything something anything it thing meds medicines medication medications drugs"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Who:
    """What the patient search is asked."""

    #: Name, record number, phone number; empty when nobody is named.
    query: str
    #: ISO date; None where it was not said.
    birth_date: str | None = None


def take_identifiers(draft: Draft, today: datetime.date) -> Who:
    """Record numbers, phone numbers and a date of birth; taken first, before their digits look like a dose.

    Raises:
        RequestNotUnderstood: two numbers, or a date of birth that is no date.
    """
    born = draft.take(_BORN)
    birth_date = None
    if born is not None:
        birth_date = read_date(born.group("date"), today)
        if birth_date is None:
            raise refuse(f"the date of birth “{born.group('date')}” is no date; write 1979-04-01")
    numbers = [draft.typed(match, "number").upper() for match in draft.take_all(_RECORD_NUMBER)]
    numbers += [draft.typed(match).strip() for match in draft.take_all(_PHONE)]
    if len(set(numbers)) > 1:
        raise refuse(f"two names in one request ({' and '.join(numbers)})")
    return Who(query="".join(numbers[:1]), birth_date=birth_date)


def take_who(draft: Draft, known: Who, openers: Collection[str]) -> Who:
    """The patient named in the text, beside what ``take_identifiers`` found; an empty query: nobody.

    Args:
        openers: words that a sentence may begin with and that are no names although capitalised.

    Raises:
        RequestNotUnderstood: two patients.
    """
    _take_titles(draft, openers)
    names = _distinct(_runs(draft, openers))
    if len(names) > 1:
        first = next((name for name in names if " " not in name and draft.text.startswith(name)), None)
        if first is not None:
            # A verb that nobody knows stands there too, with a capital for the sentence.
            raise refuse_part(first)
        raise refuse(f"two names in one request ({' and '.join(names)})")
    return Who(query=" ".join([*names, known.query]).strip(), birth_date=known.birth_date)


def _take_titles(draft: Draft, openers: Collection[str]) -> None:
    """“Mrs” before a name. “MR” after a medicine is a form of it and stays."""
    for match in list(_TITLE.finditer(draft.low)):
        following = draft.typed(match, "next")
        is_lower_case = draft.text == draft.text.lower()
        if following[0].isupper() or (is_lower_case and following not in openers):
            draft.mask(*match.span())


def take_lower_case_name(draft: Draft, fillers: Collection[str]) -> str | None:
    """A name typed without capitals: the one run of words that nothing else explains."""
    left = [word for word in draft.words() if word.low not in fillers]
    if not left or len(left) > _NAME_WORDS_MAX:
        return None
    before = _just_before(draft, left) if len(left) == 1 else None
    if before is not None and before.low in _ALSO_NAMES:
        left = [before, *left]
    joined = all(draft.gap(one, two) == " " for one, two in pairwise(left))
    if not joined or any(not _is_name_like(word) for word in left):
        return None
    if any(says_something(word.low) for word in left):
        return None
    counted = [word for word in left if word.low not in _TITLES and word.low not in _PARTICLES]
    owns = any(word.low.endswith("'s") for word in left[:-1])
    if len(counted) > _LOWER_CASE_WORDS_MAX or owns or _is_compound(draft, left[0]):
        return None
    draft.mask(left[0].start, left[-1].end)
    named = [_bare(word.text) for word in left if word.low not in _TITLES]
    return " ".join(named) or None


def _is_name_like(word: Word) -> bool:
    letters = re.fullmatch(r"[^\W\d_]+(?:['-][^\W\d_]+)*", word.text) is not None
    return letters and word.low.removesuffix("'s") not in _NOBODY


def _runs(draft: Draft, openers: Collection[str]) -> list[str]:
    """Runs of capitalised words, taken; “Smith, Melissa” is one."""
    runs: list[list[Word]] = []
    for word in list(draft.words()):
        if not _is_capitalised(draft, word, openers):
            continue
        if runs and _continues(draft, runs[-1], word):
            runs[-1].append(word)
        else:
            runs.append([word])
    runs = [run for run in runs if _is_a_name(run) and not (len(run) == 1 and _is_compound(draft, run[0]))]
    runs = [_with_first_name(draft, run, openers) for run in runs]
    for run in runs:
        draft.mask(run[0].start, run[-1].end)
    names = [_spoken(draft, run) for run in runs]
    if len(runs) == 2 and len(runs[0]) == len(runs[1]) == 1:
        between = draft.text[runs[0][0].end : runs[1][0].start]
        if between == ", ":
            return [f"{names[1]} {names[0]}"]
    return names


def _is_capitalised(draft: Draft, word: Word, openers: Collection[str]) -> bool:
    if word.low.removesuffix("'s") in THINGS | _EVERYBODY:
        return False
    if _CAPITALS.fullmatch(word.text):
        return word.text not in _ACRONYMS
    if (
        word.text == "I"
        or word.low in _CALENDAR
        or word.low.removesuffix("s") in _CALENDAR
        or not (_is_mixed(word.text) or re.fullmatch(r"[^\W\d_]", word.text))
    ):
        return False
    if not _opens_sentence(draft, word):
        return True
    low = word.low.removesuffix("'s")
    return low not in openers and not says_something(low)


def _is_compound(draft: Draft, word: Word) -> bool:
    """“metformin diary”, “falls clinic”: right after a medicine, a test or a flag stands no name."""
    before = re.search(r"([^\W_][\w'-]*) $", draft.text[: word.start])
    return before is not None and names_a_thing(before.group(1).lower())


def _opens_sentence(draft: Draft, word: Word) -> bool:
    """Whether nothing of its sentence stands before it that is not taken."""
    begin = max(draft.text.rfind(sign, 0, word.start) for sign in '.!?:;-"') + 1
    return not any(char.isalnum() for char in draft.low[begin : word.start])


def _continues(draft: Draft, run: list[Word], word: Word) -> bool:
    if len(run) >= _NAME_WORDS_MAX or run[-1].text.endswith("'s"):
        return False
    gap = draft.gap(run[-1], word)
    words = gap.split()
    return gap in (" ", ". ") or (gap.startswith(" ") and bool(words) and set(words) <= _PARTICLES)


def _is_a_name(run: list[Word]) -> bool:
    """Capitals alone (a ward, an abbreviation) are a name only beside a name in mixed case."""
    return any(_is_mixed(word.text) for word in run)


def _is_mixed(text: str) -> bool:
    """A capital and small letters: Smith, McLaughlin, O'Connor, Smith-Jones."""
    return text[0].isupper() and any(char.islower() for char in text) and re.search(r"[\d_./]", text) is None


def _with_first_name(draft: Draft, run: list[Word], openers: Collection[str]) -> list[Word]:
    """“helen Coleman”, “Mark Bailey”: the word right before a single name, unless it is surely none."""
    before = _just_before(draft, run) if len(run) == 1 else None
    if before is None or not _is_name_like(before):
        return run
    surely_none = before.low in openers or says_something(before.low)
    return run if surely_none and before.low not in _ALSO_NAMES else [before, *run]


def says_something(word: str) -> bool:
    """A verb of requests, a denial or a question: left over it must be seen, never become part of a name."""
    if word in _ALSO_NAMES:
        return False
    if word.removesuffix("'s") in THINGS or word in VERBS:
        return True
    return any(shape.fullmatch(word) for shape in (COMMAND_WORDS, HYPOTHETICAL, NEGATIONS, TIMES))


def _just_before(draft: Draft, run: list[Word]) -> Word | None:
    begin = run[0].start
    return next(
        (word for word in draft.words() if word.end == begin - 1 and draft.gap(word, run[0]) == " "), None
    )


def _spoken(draft: Draft, run: list[Word]) -> str:
    return " ".join(_bare(part) for part in draft.text[run[0].start : run[-1].end].split())


def _bare(word: str) -> str:
    return word.removesuffix("'s").strip(".'") if len(word) > 2 else word.strip(".")


def _distinct(names: list[str]) -> list[str]:
    """Names said twice count once; a part of a name already said is the same person."""
    kept: list[str] = []
    for name in sorted(names, key=lambda name: -len(name.split())):
        words = set(name.lower().split())
        if not any(words <= set(other.lower().split()) for other in kept):
            kept.append(name)
    return kept
