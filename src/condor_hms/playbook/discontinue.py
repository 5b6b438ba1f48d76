"""Stopping a medicine: “Stop Helen Coleman's celecoxib, I don't like the bleeding risk”.

Rule 1: the order is looked up by its ingredient among the patient's own orders; two orders of one medicine
are asked about, never chosen between.
Rule 2: a reason that means one of the catalogue's codes becomes that code. Any other reason is handed on in
the words that were used, and the code is asked for.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from condor_hms.playbook.doses import take_stated_dose
from condor_hms.playbook.medicines import Medicine, take_medicine, take_medicines, unknown_to_stop
from condor_hms.playbook.objects import LIST_OF_MEDICINES, THINGS, take_places
from condor_hms.playbook.reading import Reading, is_plain_text
from condor_hms.playbook.refusals import refuse, refuse_part
from condor_hms.playbook.steps import PATIENT, Plan, plan, reference, search_step, step
from condor_hms.playbook.vocabulary import (
    FILLERS,
    FREQUENCIES,
    NEGATIONS,
    REASONS,
    ROUTES,
    Phrases,
    pattern,
    words,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from condor_hms.playbook.draft import Draft

__all__ = ["CUE", "WEAK_CUE", "plan_discontinue"]

#: The one verb; of “take … off” its two words.
_VERBS = pattern(
    r"(?P<verb>stop|discontinue|cease|withdraw|d/c|come off|(?:to )?be (?:stopped|discontinued|withdrawn)"
    r"|cancel|remove)|(?P<take>take|get|bring)(?= (?:[^\s.,;:]+ ){1,5}?off(?!\w))|(?P<off>off)"
)

#: How a stop is asked for.
CUE = pattern(
    r"stop|discontinue|cease|withdraw|d/c|come off|(?:take|get|bring) (?:\S+ ){1,5}?off"
    r"|be (?:stopped|discontinued|withdrawn)"
)
#: Words that mean it only beside a medicine: other things are cancelled and removed too.
WEAK_CUE = pattern(r"cancel|remove")
#: “She has asked to stop” holds the verb and is a reason; read before the verbs are.
_ASKED = pattern(
    r"(?:as |because |since )?(?:she|he|the patient)(?: has|'s)? (?:asked|asks|requested|wants|would like) to"
    r" (?:stop|come off)(?: (?:it|taking it|them))?"
)
_BOUNDARY = re.compile(
    r"[.;:!?,()]|(?<= )-(?= )"
    r"|(?<!\w)(?P<why>because of|because|since|due to|owing to|on account of|given|reason:?"
    r"|as (?=(?:she|he|they|it|the|her|his)(?: |'s)))(?!\w)"
)
#: “she's on venlafaxine”, “her kidneys are worse”: a subject with its verb. “her amlodipine as well” is none.
_ABOUT_THE_PATIENT = re.compile(
    r"\W*(?:(?:she|he|they)(?:'s|'ve|'re)? (?!please|needs? (?:[^\s.,;:]+ ){1,3}[a-z]+ed(?!\w))\w"
    r"|(?:her|his|their) (?:[a-z]+ ){1,3}"
    r"(?:is|are|was|were|has|have|keeps?|looks?|went|fell|rose|dropped)(?!\w))"
)
#: Reasons that are nouns stand after one of these; elsewhere they are what the verb acts on.
_NOUN_REASON = pattern(
    r"(?:for|with|after) (?:(?:an?|the|her|his|their|possible|suspected|severe|mild|moderate|risk of) )*"
    r"(?P<what>allerg(?:y|ies)|intolerance|(?:skin )?rash|hives|angio-?o?edema|anaphylaxis"
    r"|(?:(?:drug|gi) )?interactions?|bleeding(?: risk)?|(?:a )?bleed)"
)
#: Why, and no denial of what is asked for.
_NO_LONGER = pattern(r"no longer (?:needed|required|indicated|necessary)")
_WORDS = words(
    "taking order prescription medicine medication drug tablets tablet capsules capsule regular old existing"
)
_MEDICINES = words("medicines medications meds drugs prescriptions orders treatment")
#: A “not” that denies no reason.
_DISLIKE = pattern(r"(?:don't|do not|am not|'m not) (?:like|want|happy(?: with| about)?|keen on)")
#: Words of reasons that add nothing to the code they stand beside.
_REASON_WORDS = words(
    "she's he's they're it's i'm i don't like worried about concerned risk risks high too much very her "
    "his the think because since due owing account given reason of on as and with also possible "
    "potential likely taking takes combination other medicines meds drugs causing causes gives gave "
    "caused developed got"
)


#: Reasons that no object of a verb can be: “in error”, “course complete”.
_FREE_REASONS = Phrases(
    tuple((shape, code) for shape, code in REASONS.rows if code not in ("allergy", "interaction"))
)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Why:
    """The reason as far as it was said."""

    #: The catalogue's code; None when none or several fit.
    code: str | None
    #: The words, where no code says all of them.
    details: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Clause:
    """A stretch of the text between two signs or before a “because”."""

    start: int
    end: int
    #: Where a word that announces a reason begins, such as “because”; None without one.
    announced_at: int | None


def plan_discontinue(reading: Reading) -> Plan:
    """Search, list the medicines, stop the one order.

    Raises:
        RequestNotUnderstood: no medicine or two, no patient, or words left over.
    """
    draft = reading.draft
    why = _reason(draft)
    take_places(draft, LIST_OF_MEDICINES)
    medicine = take_medicine(draft) or unknown_to_stop(draft)
    things = [word.text for word in draft.words() if word.low in THINGS - _WORDS - _MEDICINES]
    if things:
        raise refuse_part(" … ".join(things), "only a medicine can be stopped or removed here")
    if medicine is None:
        raise refuse("no medicine is named; say which one to stop")
    _take_verb(draft)
    _take_how_it_is_taken(draft)
    who = reading.finish(reading.named(_WORDS), _WORDS)
    return plan(
        search_step(who.query, who.birth_date),
        step("s2", "medication.list.card", {"patient": PATIENT}, after=("s1",)),
        step("s3", "medication.discontinue", _stop(medicine, why), after=("s2",)),
    )


def _stop(medicine: Medicine, why: _Why) -> dict[str, object]:
    order = reference("s2", "byIngredient", medicine.key, "reference")
    return {"order": order, "reason_code": why.code, "reason": why.details}


def _take_verb(draft: Draft) -> None:
    """The one verb. “Stop taking her off celecoxib” has two, and means the opposite of either."""
    found = draft.take_all(_VERBS)
    verbs = [match for match in found if match["off"] is None]
    offs = len(found) - len(verbs)
    if len(verbs) != 1 or offs != (0 if verbs[0]["verb"] else 1):
        raise refuse_part(draft.text, "it does not say plainly what to stop")


def _take_how_it_is_taken(draft: Draft) -> None:
    """“celecoxib 200 mg od” is how the order stands; the card shows it. “at night” alone is a part of it."""
    ROUTES.take(draft)
    if take_stated_dose(draft):
        FREQUENCIES.take(draft)


def _reason(draft: Draft) -> _Why:
    """Take every clause that gives a reason; what no code covers is kept in its own words."""
    codes: list[str] = ["patient-request"] if draft.take(_ASKED) else []
    said: list[str] = []
    details: list[str] = []
    for clause in list(_clauses(draft)):
        text = draft.low[clause.start : clause.end]
        found = _codes_of(draft, clause)
        if CUE.search(text) or WEAK_CUE.search(text):
            continue
        if not (found or clause.announced_at is not None or _tells(text)):
            continue
        codes += found
        said.append(draft.left(clause.start, clause.end))
        if not found or not _is_covered(draft, clause):
            details += _own_words(draft, clause)
        begin = clause.start if clause.announced_at is None else clause.announced_at
        draft.mask(begin, clause.end)
    details += [draft.typed(match) for match in draft.take_all(_NO_LONGER)]
    for match in draft.take_all(_NOUN_REASON):
        codes += REASONS.search(match["what"])
    codes += _FREE_REASONS.take(draft)
    codes = list(dict.fromkeys(codes))
    if len(codes) > 1:
        # Several codes fit: the words are kept, and a person chooses.
        details = said
    return _Why(code=codes[0] if len(codes) == 1 else None, details="; ".join(details) or None)


def _clauses(draft: Draft) -> Iterator[_Clause]:
    start: int = 0
    announced_at: int | None = None
    for match in [*_BOUNDARY.finditer(draft.low), None]:
        end = match.start() if match else len(draft.low)
        if draft.low[start:end].strip(" \0"):
            yield _Clause(start=start, end=end, announced_at=announced_at)
            announced_at = None
        if match:
            start = match.end()
            if announced_at is None and match.group("why") is not None:
                announced_at = match.start()


def _tells(clause: str) -> bool:
    """“she's on venlafaxine as well”, “he's got CKD”: something about the patient, and no denial."""
    return _ABOUT_THE_PATIENT.match(clause) is not None and NEGATIONS.search(clause) is None


def _codes_of(draft: Draft, clause: _Clause) -> list[str]:
    """The codes a clause speaks of; none where it denies something (“she's not allergic”)."""
    part = draft.part(clause.start, clause.end)
    codes = REASONS.take(part)
    part.take_all(_DISLIKE)
    return [] if part.has(NEGATIONS) else codes


def _is_covered(draft: Draft, clause: _Clause) -> bool:
    """Whether the code says all that the clause says."""
    part = draft.part(clause.start, clause.end)
    REASONS.take(part)
    take_medicines(part)
    return all(word.low in _REASON_WORDS or word.low in FILLERS for word in part.words())


def _own_words(draft: Draft, clause: _Clause) -> list[str]:
    """The clause as typed, for the details; medicines alone need no telling."""
    text = draft.left(clause.start, clause.end)
    part = draft.part(clause.start, clause.end)
    take_medicines(part)
    if all(word.low in FILLERS or word.low in _REASON_WORDS for word in part.words()):
        return []
    if not is_plain_text(text):
        raise refuse_part(text, "I do one thing at a time")
    return [text]
