"""Recording an allergy: “Record that John Hernandez is allergic to ibuprofen: angioedema, severe”.

Rule 1: criticality is what a second exposure may do. A severe allergy or reaction is of high criticality, an
allergy called mild of low; anything else is asked for.
Rule 2: the category is what was said, or that of a medicine; of anything else it is asked for.
Rule 3: a reaction or a date that the entry cannot hold is named; it is never left out in silence.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from condor_hms.catalogue.denials import doubt_in
from condor_hms.catalogue.terms import SUBSTANCES, substance_of
from condor_hms.playbook.dates import DATE, read_date
from condor_hms.playbook.medicines import take_medicines
from condor_hms.playbook.objects import PLACE, take_places, written_thing
from condor_hms.playbook.refusals import refuse, refuse_part
from condor_hms.playbook.steps import PATIENT, Plan, plan, search_step, step
from condor_hms.playbook.vocabulary import FILLERS, REACTIONS, SEVERITIES, pattern, words

if TYPE_CHECKING:
    import datetime

    from condor_hms.playbook.draft import Draft
    from condor_hms.playbook.reading import Reading

__all__ = ["ALLERGY", "WRITE_VERB", "plan_allergy"]

ALLERGY = pattern(r"allerg(?:y|ies|ic)")
#: An entry is asked for; the bare statement that somebody is allergic asks for nothing.
WRITE_VERB = pattern(r"add|record|note|document|log|enter|register|put|mark|flag|save|chart (?:that|an)")
_OF_THE_ALLERGY = re.compile(r"(?<!\w)(?P<word>severe|moderate|mild)(?= (?:[a-z-]+ ){0,2}allerg)")
_CRITICALITY = pattern(
    r"(?P<level>high|low)[ -](?:criticality|risk)|criticality(?: is)?[: ]*(?P<other>high|low)"
    r"|(?P<life>life[ -]threatening)|(?P<open>criticality(?: is)? unable to assess|unable to assess)"
)
_CATEGORY = re.compile(
    r"(?<!\w)(?P<word>medication|medicine|drug|food|environmental|environment|biologic)(?= allerg)"
)
_CATEGORIES = {
    "medication": "medication",
    "medicine": "medication",
    "drug": "medication",
    "food": "food",
    "environmental": "environment",
    "environment": "environment",
    "biologic": "biologic",
}
_LONG_AGO = pattern(
    r"(?:many |several |some |a few |a couple of )?(?:years|months|weeks) ago|a (?:long|while) (?:time )?ago"
    r"|last (?:year|month|week)|recently|in the past|previously|as a child|in childhood|historically"
)
_ONSET = re.compile(
    rf"(?:(?<!\w)(?:on|since|from|first noticed|onset)[: ]+(?:on )?)?(?<![\w-])(?P<date>{DATE})(?!\w)"
)
_KNOWN = pattern("|".join(sorted(map(re.escape, SUBSTANCES), key=len, reverse=True)))
_UNKNOWN = (
    re.compile(
        r"allerg(?:y|ic) to (?:the |any )?(?P<what>[a-z][a-z-]*(?: [a-z][a-z-]+){0,2}?)"
        r"(?=[,.;:(]| for | in | with | causing | which | and | - | ?\0|$)"
    ),
    re.compile(r"(?:to|with|from|after|on|add|record|new|an?) (?P<what>[a-z][a-z-]{2,30})(?= allerg)"),
)
_WORDS = words(
    "add record note document log enter register put mark flag save chart allergy allergies allergic "
    "reaction reactions reacted reacts had has gets got gave gives given caused causing causes cause "
    "came comes come out developed develops experienced suffered known new adverse down "
    "listed up make taking took takes when after following previous she's he's it's "
    "which that's really bad"
)


_HISTORY = pattern(r"(?:a |known )+history of")
#: What stands between the allergy and what it is to, on either side of the substance.
_BEFORE = re.compile(
    r"(?:allerg(?:y|ies|ic)|\0|reactions?|reacted|reacts)[ \0]*(?:(?:adversely|badly|out|in) )*"
    r"(?:to|with|from|after|on|following|:|-|,|of)?[ \0]*"
    r"(?:(?:the|any|a|an|taking|having|drug|medicine|medication|substance) )*[\"']?$"
    r"|allerg(?:y|ies) (?:for|of|on) [^:,-]{2,40}(?:[:,]| -) ?$"
)
_AFTER = re.compile(
    r"[\"']?(?:'s)? ?(?:(?:drug|medication|medicine|food|environmental) )?(?:allerg"
    r"|(?:down )?as (?:an? |\0+ |new |known )*(?:(?:medication|drug|medicine|food) )?allerg"
    r"|to (?!treat|help|control|manage|prevent|cover|stop)[^.;:]{0,60}?allerg"
    r"|(?:has |had )?(?:caused|causes|causing|gave|gives|brought))"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Severity:
    """How bad: of the reaction, and for the next exposure."""

    severity: str | None
    criticality: str | None


def plan_allergy(reading: Reading) -> Plan:
    """Search, list the allergies, record the one.

    Raises:
        RequestNotUnderstood: no substance or two, no patient, a date that cannot be kept, or words left over.
    """
    draft = reading.draft
    onset = _onset(draft, reading.today)
    draft.take_all(_LONG_AGO)
    graded = _graded(draft)
    category = draft.take(_CATEGORY)
    reactions = REACTIONS.take(draft)
    substance = _substance(draft)
    take_places(draft, PLACE)
    thing = written_thing(draft)
    if thing is not None:
        raise refuse_part(thing, "an allergy can be recorded here, nothing else about it")
    draft.take_all(_HISTORY)
    who = reading.finish(reading.named(_WORDS), _WORDS)
    said = _CATEGORIES[category.group("word")] if category else _category_of(substance)
    return plan(
        search_step(who.query, who.birth_date),
        step("s2", "allergy.list.card", {"patient": PATIENT}, after=("s1",)),
        step(
            "s3",
            "allergy.record",
            {
                "patient": PATIENT,
                "substance": substance,
                "category": said,
                "criticality": graded.criticality,
                "manifestations": reactions or None,
                "severity": graded.severity,
                "onset": onset,
            },
            after=("s2",),
        ),
    )


def _category_of(substance: str) -> str | None:
    """A medicine is one; whether latex is “environment” or anything else is for a person to say."""
    category = substance_of(substance).category
    return category if category == "medication" else None


def _onset(draft: Draft, today: datetime.date) -> str | None:
    match = draft.take(_ONSET)
    if match is None:
        return None
    onset = read_date(match.group("date"), today)
    if onset is None:
        raise refuse(f"“{match.group('date')}” is no date up to today")
    return onset


def _graded(draft: Draft) -> _Severity:
    """Severity and criticality from what was called severe, moderate or mild."""
    stated = draft.take(_CRITICALITY)
    whole = draft.take(_OF_THE_ALLERGY)
    grades = ([whole.group("word")] if whole else []) + SEVERITIES.take(draft)
    if len(set(grades)) > 1:
        raise refuse(f"two severities in one request ({' and '.join(dict.fromkeys(grades))})")
    severity = grades[0] if grades else None
    criticality = {"severe": "high"}.get(severity or "")
    if whole is not None and severity == "mild":
        criticality = "low"
    if stated is not None:
        found = stated.groupdict()
        criticality = found["level"] or found["other"] or ("high" if found["life"] else "unable-to-assess")
    return _Severity(severity=severity, criticality=criticality)


def _substance(draft: Draft) -> str:
    before = draft.low
    found = [one.name for one in take_medicines(draft)]
    found += [_capital(draft.typed(match)) for match in draft.take_all(_KNOWN)]
    if len(found) > 1:
        raise refuse(f"two substances in one request ({' and '.join(found)})")
    if found:
        taken = [at for at, pair in enumerate(zip(before, draft.low, strict=True)) if pair[0] != pair[1]]
        if not (_BEFORE.search(before[: taken[0]]) or _AFTER.match(before[taken[-1] + 1 :])):
            raise refuse(f"it does not say that the allergy is to {found[0].lower()}")
        return found[0]
    for shape in _UNKNOWN:
        for match in shape.finditer(draft.low):
            if _may_be_a_substance(draft, match):
                draft.mask(*match.span("what"))
                doubt = doubt_in(draft.typed(match, "what"))
                if doubt is not None:
                    raise refuse_part(draft.typed(match, "what"), str(doubt))
                return _capital(draft.typed(match, "what"))
    raise refuse("no substance is named; say what the allergy is to")


def _may_be_a_substance(draft: Draft, match: re.Match[str]) -> bool:
    """Not a name (two capitals) and not a word that means nothing here."""
    typed = draft.typed(match, "what").split()
    if all(word.lower() in FILLERS or word.lower() in _WORDS for word in typed):
        return False
    return not (len(typed) > 1 and all(word[0].isupper() for word in typed))


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
