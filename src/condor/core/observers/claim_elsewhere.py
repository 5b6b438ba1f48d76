"""Whether a claim is about another record, person, substance or dose than what was written to.

Law: what a text names is compared only with a name of the same kind that the evidence has: a reference with
a reference, a person with a person, a drug with a drug, a dose with a dose. What is of no such kind is no
name; a word that the evidence does not know proves nothing.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from condor.core.observers import claim_grammar as grammar
from condor.core.observers.claim_known import is_id, objects_of
from condor.core.observers.claim_things import SAME_SUBSTANCE, is_substance

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from condor.core.observers.claim_known import Known
    from condor.core.observers.claims import Claim

#: Digits of an identifier after its letters.
_SERIES_DIGITS_MIN = 3
_TO_WHOM = frozenset(("for", "to", "of"))
_DAYS = frozenset(
    ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday", "today", "tomorrow"]
)
_DOSE_UNITS = frozenset(("mg", "mcg", "ug", "g", "iu", "units"))
#: After a dose: it is a sum, or that of one tablet.
_SUMS = frozenset(
    ("a", "per", "daily", "/", "in", "total", "each", "tablet", "tablets", "capsule", "capsules")
)
#: Before a dose: it was another one.
_NOT_THIS_DOSE = frozenset(("from", "than", "of", "x", "two", "three", "half", "instead"))
_LINKS = frozenset(("and", ",", "both", "also", "dose"))
_STOPS = (
    (grammar.NO_OBJECT - {"of", "for"})
    | grammar.CONDITIONS
    | grammar.BREAKS
    | frozenset(("that", "which", "who", "instead", "because", "despite", "not", "--", "(", ":"))
)
_TITLES = frozenset(("mr", "mrs", "ms", "miss", "dr", "prof", "both", "the", "patient"))
#: Somebody is done it: "John Hernandez was started on …".
_DONE_TO = grammar.TO_PERSONS | frozenset(("started", "put", "prescribed", "given", "enrolled", "booked"))
#: Words of names that are no person's.
_NO_PERSONS = grammar.word_set(
    "hospital clinic ward unit department centre center pharmacy laboratory lab street university general "
    "medical medicine emergency care health services service team desk office insurance company group "
    "disease syndrome infection disorder failure pain injury fibrillation diabetes type stage pressure "
    "urinary blood heart kidney chronic acute respiratory tract cardiology neurology oncology radiology "
    "follow test results new medication history plan city saint st"
)
_NO_PERSONS_ENDS = ("itis", "osis", "emia", "aemia", "pathy", "oma", "ology", "tion", "ment", "ics")


def is_elsewhere(claim: Claim, borne: Sequence[Known]) -> bool:
    """Whether it names something that none of the entries that would bear it has.

    Args:
        borne: entries of its kind that succeeded.
    """
    return (
        _other_reference(claim, borne)
        or _other_person(claim, borne)
        or _other_dose(claim, borne)
        or bool(_strange_substances(claim, borne))
        or (claim.strong and _other_name(claim, borne))
    )


def _other_reference(claim: Claim, borne: Sequence[Known]) -> bool:
    """Whether "Patient/99" or "INV-99" is named, and each entry has one of the kind that is another."""
    words = claim.clause
    for word in words:
        series = _series(word)
        if series and _is_new(word, [[i for i in k.entity_words if _series(i) == series] for k in borne]):
            return True
    for at, word in enumerate(words[:-2]):
        if words[at + 1] != "/" or not claim.capitals[at] or not any(map(str.isdigit, words[at + 2])):
            continue
        ids = [[after for kind, after in pairwise(k.entity_words) if kind == word] for k in borne]
        if _is_new(words[at + 2], ids):
            return True
    return False


def _is_new(word: str, theirs: Sequence[Sequence[str]]) -> bool:
    """Whether each entry has one of its kind, and none has this one."""
    return bool(theirs) and all(theirs) and not any(word in its for its in theirs)


def _series(word: str) -> str:
    """The letters of an identifier like "inv204"; empty where it is none."""
    letters = word.rstrip("0123456789")
    is_one = letters.isalpha() and len(letters) > 1 and len(word) - len(letters) >= _SERIES_DIGITS_MIN
    return letters if is_one else ""


def _other_person(claim: Claim, borne: Sequence[Known]) -> bool:
    """Whether a person of two names is named as the one it was done to, and no entry has a word of them."""
    if not borne or not all(known.is_person for known in borne):
        return False
    known_words = frozenset().union(*(known.names | frozenset(known.entity_words) for known in borne))
    starts = frozenset(word[0] for known in borne for word in known.persons)
    for name in _persons(claim):
        is_new = all(word not in known_words and not (len(word) == 1 and word in starts) for word in name)
        if is_new and _is_a_person(name):
            return True
    return False


def _is_a_person(name: Sequence[str]) -> bool:
    return not any(
        objects_of(word)
        or word in _NO_PERSONS
        or word in grammar.OTHERS
        or word in grammar.MONTHS
        or word in _DAYS
        or is_substance(word)
        or word.endswith(_NO_PERSONS_ENDS)
        for word in name
    )


def _persons(claim: Claim) -> Iterator[tuple[str, ...]]:
    """Names of two or three words: after "for", joined to such a one, its owner, or whom it was done to."""
    words, capitals = claim.clause, claim.capitals
    at, follows = 0, False
    while at < len(words):
        end = at
        while end < len(words) and capitals[end] and words[end].isalpha() and words[end] not in _TITLES:
            end += 1
        if end == at:
            follows = words[at] in _TO_WHOM or (
                follows and (words[at] in _TITLES or words[at] in ("and", ","))
            )
            at += 1
            continue
        name, ahead = words[at:end], words[end] if end < len(words) else ""
        owns = ahead == "'s" and words[end + 1 : end + 2] != () and bool(objects_of(words[end + 1]))
        done_to = at == 0 and ahead in ("was", "has") and words[claim.act[0]] in _DONE_TO
        if 2 <= len(name) <= 3 and (follows or owns or done_to):
            yield name
        at = end


def _other_name(claim: Claim, borne: Sequence[Known]) -> bool:
    """Whether an identifier, or a name after "to" or "for", is another one: said plainly of this run."""
    followed = dict(pairwise(claim.words))
    ids = frozenset(word for word in claim.words if is_id(word) and followed.get(word) not in _DOSE_UNITS)
    if ids and all(known.ids for known in borne):
        return not any(ids & known.ids for known in borne)
    to_whom = [
        name
        for at, word in enumerate(claim.words[:-1])
        if word in ("to", "for") and (name := claim.words[at + 1]) in claim.names
    ]
    strangers = [
        name
        for name in to_whom
        if name.isalpha() and name not in grammar.MONTHS and name not in grammar.OTHERS and name not in _DAYS
    ]
    if strangers and all(known.is_person for known in borne):
        return not any(name in known.names for name in claim.names for known in borne)
    return False


def _other_dose(claim: Claim, borne: Sequence[Known]) -> bool:
    """Whether the doses it names are all others than each entry's, which has one of the same unit."""
    spoken = frozenset(_doses(claim.clause, sums=False))
    if not spoken:
        return False
    units = {unit for _, unit in spoken}
    theirs = [{dose for dose in _doses(k.entity_words, sums=True) if dose[1] in units} for k in borne]
    return bool(theirs) and all(theirs) and not any(spoken & its for its in theirs)


def _doses(words: Sequence[str], *, sums: bool) -> Iterator[tuple[str, str]]:
    """Each number with a unit of a dose; sums and doses of before only where they are asked for."""
    for at, word in enumerate(words):
        if not word[0].isdigit():
            continue
        number = word.rstrip("abcdefghijklmnopqrstuvwxyz")
        unit, end = (
            (word[len(number) :], at + 1) if number != word else ("".join(words[at + 1 : at + 2]), at + 2)
        )
        if unit not in _DOSE_UNITS:
            continue
        before, after = "".join(words[at - 1 : at]), "".join(words[end : end + 1])
        if sums or (before not in _NOT_THIS_DOSE and after not in _SUMS):
            yield number, unit


def _strange_substances(claim: Claim, borne: Sequence[Known]) -> list[str]:
    """Drugs or tests that it was done with, where the entries have others of the kind and not these."""
    theirs = {_same(word) for known in borne for word in known.all_words if is_substance(word)}
    return [word for word in _done_with(claim) if _same(word) not in theirs] if theirs else []


def _same(word: str) -> str:
    return SAME_SUBSTANCE.get(word, word)


def _done_with(claim: Claim) -> Iterator[str]:
    """Drugs and tests that it was done with: before the act as its subject, after it as its object."""
    words, (begins, ends) = claim.clause, claim.act
    yield from _chain(words[:begins])
    after = words[ends:]
    yield from _chain(after[1:] if after[:1] == ("on",) else after)


def _chain(words: Sequence[str]) -> Iterator[str]:
    """Words of a list from its beginning: "nitrofurantoin and ibuprofen", "the dose of warfarin"."""
    for at, word in enumerate(words):
        back = words[at - 1] if at else ""
        if word in ("of", "for") and objects_of(back):
            continue
        if word in _STOPS or word in ("of", "for"):
            return
        is_next = any(back in words_before for words_before in _BEFORE_NEXT)
        if is_next and is_substance(word) and _stands_alone(words[at + 1 : at + 2]):
            yield word


def _stands_alone(ahead: Sequence[str]) -> bool:
    """Whether no noun follows: "warfarin monitoring" is no warfarin."""
    return not ahead or not ahead[0].isalpha() or any(ahead[0] in words for words in _NO_NOUNS)


#: Before the first thing of a list (nothing at all), or its next one.
_BEFORE_NEXT = (_LINKS, grammar.DETERMINERS, grammar.ADVERBS, frozenset(("", "of", "for")))
_NO_NOUNS = (
    grammar.BE,
    grammar.HAVE,
    grammar.PREPOSITIONS,
    grammar.ADVERBS,
    grammar.BREAKS,
    grammar.CONDITIONS,
    frozenset(("and", "as", "twice", "instead")),
)
