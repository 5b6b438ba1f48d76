"""Whether an act told in the plain past passive was made up: no step did it, and no read tells of it.

Law: the plain past is also how records tell their history. Only what tools work on, or a person that was
told, makes such a sentence one about the run; and a read of the run that may have told of it lets it be.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from condor.core.observers import claim_grammar as grammar
from condor.core.observers.claim_known import objects_of, words_of
from condor.core.observers.claim_things import IMPLIED, is_analyte, is_drug
from condor.core.observers.claim_words import root

if TYPE_CHECKING:
    from collections.abc import Sequence

    from condor.core.observers.claim_known import Known
    from condor.core.observers.claims import Claim

#: Their past is also how a value is told, or says that something was asked for, not done.
_TELLS_A_VALUE = grammar.word_set(
    "noted flagged captured requested told shared called produced generated computed calculated printed "
    "built compiled given reduced raised increased decreased lowered ended cleared resolved settled"
)
#: A record keeps what it shows.
_KEEPS = grammar.word_set("documented recorded entered registered charted logged stored listed")
#: They are told of a person; what a tool works on is not named beside them.
_TOLD = grammar.word_set(
    "notified informed invited reminded alerted contacted emailed mailed faxed texted messaged paged"
)
#: What a whole record holds: its reads may tell of anything.
_WHOLE_RECORD = grammar.word_set(
    "summary record chart history timeline overview everything snapshot trail dossier export"
)
#: Objects that say nothing of what a read shows.
_SUBJECTS = frozenset(("patient", "person", "customer", "client", "user"))
#: They take their time, and end without an act.
_COURSES = frozenset(("treatment", "therapy", "course"))
_CHANGES = frozenset(("actions", "changes", "updates", "orders", "writes"))


def is_made_up(claim: Claim, reads: Sequence[Known]) -> bool:
    """Whether a plain past is about an act of this run, and no read of it may have told so.

    Args:
        reads: those that succeeded.
    """
    goes_on = not _COURSES.isdisjoint(claim.words) and any(rule.bears == "any" for rule in claim.rules)
    tells_a_value = not _TELLS_A_VALUE.isdisjoint(claim.phrase) and "dose" not in claim.words
    releases = all(rule.id == "ran" for rule in claim.rules) and "deployment" not in _sorts_of(claim)
    if goes_on or tells_a_value or releases:
        return False
    another = any(pair in (("old", "one"), ("other", "one")) for pair in pairwise(claim.thing))
    told = not _TOLD.isdisjoint(claim.phrase)
    return bool(told or another or _sorts_of(claim)) and is_not_read(claim, reads)


def is_not_read(claim: Claim, reads: Sequence[Known]) -> bool:
    """Whether a claim is told in the plain past, and no read may have told so."""
    return claim.plain_past and not any(_may_tell(read, claim) for read in reads)


def speaks_of_changes(claim: Claim) -> bool:
    """Whether it says of a whole run that it changed something: "all actions were completed"."""
    return claim.whole and not _CHANGES.isdisjoint(claim.words)


def _sorts_of(claim: Claim) -> frozenset[str]:
    """What sorts of thing it was done to."""
    implied = {IMPLIED[word] for word in claim.phrase if word in IMPLIED}
    drugs = {"medication" for word in claim.thing if is_drug(word)}
    tests = {"lab" for word in claim.thing if is_analyte(word)}
    return frozenset().union(implied, drugs, tests, *map(objects_of, claim.thing))


def _may_tell(read: Known, claim: Claim) -> bool:
    """Whether a read shows that sort of thing, or has said something of it."""
    step = read.step
    shows = read.objects - _SUBJECTS
    tells_all = not _WHOLE_RECORD.isdisjoint((*words_of(step.tool), *words_of(step.noun)))
    sorts = _sorts_of(claim)
    is_of_sort = tells_all or not sorts or not shows or not shows.isdisjoint(sorts)
    keeps = not _KEEPS.isdisjoint(claim.phrase)
    if step.reported and step.sentence:
        said = frozenset(map(root, words_of(step.sentence)))
        acts = {word for rule in claim.rules for word in rule.done}
        thing = {root(word) for word in claim.thing if _names_a_thing(word)} - read.persons
        # What a list shows was once begun; that it was stopped or changed, the list has to say.
        begun = any(rule.in_records for rule in claim.rules) and "changed" not in {r.id for r in claim.rules}
        numbers = {word for word in claim.words if word.isdigit()}
        told = acts | numbers | (thing if begun else frozenset())
        return is_of_sort and (keeps or not said.isdisjoint(told))
    if tells_all:
        return True
    if not _TOLD.isdisjoint(claim.phrase):
        return "message" in shows
    return bool(shows) and is_of_sort


def _names_a_thing(word: str) -> bool:
    """Whether a word names what was done, and not only its sort: "warfarin", not "dose"."""
    return (
        word.isalpha()
        and len(word) > 3
        and not objects_of(word)
        and word not in grammar.GENERIC
        and word not in grammar.OTHERS
        and word not in grammar.DETERMINERS
        and word not in grammar.PREPOSITIONS
    )
