"""Reading: an overview, one part of the record, laboratory results, or who somebody is."""

from __future__ import annotations

import calendar
import datetime
import re
from typing import TYPE_CHECKING, Any

from condor_hms.catalogue.terms import SUBSTANCES
from condor_hms.playbook.dates import DATE, read_date
from condor_hms.playbook.medicines import take_medicines
from condor_hms.playbook.refusals import refuse_part
from condor_hms.playbook.steps import PATIENT, Plan, Step, plan, search_step, step
from condor_hms.playbook.vocabulary import TESTS, pattern, words

if TYPE_CHECKING:
    from condor_hms.playbook.draft import Draft
    from condor_hms.playbook.reading import Reading

__all__ = ["OVERVIEW", "plan_read"]

OVERVIEW = pattern(
    r"overview|summary|summari[sz]e|snapshot|run-?down|recap|low-?down|brief(?:ing)?|catch me up(?: on)?"
    r"|at a glance|(?:bring|get) me up to (?:speed|date)(?: on| with)?|tell me about"
    # Politeness is taken before: “what do I need to know about” has lost its middle.
    r"|what (?:do|should) [\0i ]*know about"
)
_ALLERGIES = pattern(r"allerg(?:y|ies|ic)(?: list| status)?(?: to)?")
_MEDICINES = pattern(
    r"meds|med list|medicines?(?: list)?|medications?(?: list)?|drugs?(?: list| chart)?|prescriptions"
    r"|taking|takes?"
)
_ON_WHAT = re.compile(r"(?<!\w)(?:what|which)(?:'s)?(?!\w)[^.;]*(?<!\w)on\W*$")
_IS_ON = re.compile(r"^\W*(?:is|are)(?!\w)[^.;]*(?<!\w)(?P<on>on)(?!\w)")
_PROBLEMS = pattern(r"problems?(?: list)?|conditions?|diagnos[ei]s|comorbidities|active issues")
_RESULTS = pattern(
    r"lab(?:oratory)? (?:results?|tests?|values)|labs?|blood (?:results?|tests?)|bloods|(?:test )?results?"
)
_VITALS = pattern(r"vitals?(?: signs)?|obs|observations|blood pressure|bp|weight")
_FIND = pattern(
    r"who is|who's|find|look ?up|search(?: for)?|locate|identify|pull up|bring up|open|show|details|identity"
    r"|how old|date of birth|dob|mrn"
)
_SUBSTANCE = pattern("|".join(sorted(map(re.escape, SUBSTANCES), key=len, reverse=True)))
#: What makes a sentence a question and not a statement about the patient.
_QUESTION = re.compile(
    r"\?|^\W*(?:is|are|was|does|do|has|have|any|what|which|check|list|show|see|tell|find)(?!\w)"
)
_OCCASION = pattern(
    r"(?:before|when) (?:i|we) (?:see|review|call|meet|speak to|talk to|go in to see) (?:her|him|them)"
    r"(?: today| later| this morning| this afternoon| tomorrow)?"
    r"|(?:before|for|ahead of) (?:the |her |his |their |my |our )?(?:next )?"
    r"(?:clinic|appointment|visit|ward round|round|consultation|review)"
    r"(?: today| later| this morning| this afternoon| tomorrow)?"
    r"|in (?:the )?clinic(?: today| now| tomorrow)?"
    r"|before (?:seeing|reviewing|calling|meeting) (?:her|him|them)"
)
_NEWEST = pattern(
    r"(?:the )?(?:last|latest|most recent|recent|newest)(?: (?:few|couple of|two|three|four|\d))?"
)
_SINCE = re.compile(rf"(?<!\w)(?:since|from|after) (?P<date>{DATE})(?!\w)")
_UNTIL = re.compile(rf"(?<!\w)(?:until|till|up to|before|to) (?P<date>{DATE})(?!\w)")
_WITHIN = pattern(
    r"(?:in|over|for|from|within)?(?: ?the)? ?(?:last|past) (?P<count>\d{1,3}|two|three|four|six|twelve)?"
    r" ?(?P<unit>days?|weeks?|months?|years?)"
)
_COUNTS = {"two": 2, "three": 3, "four": 4, "six": 6, "twelve": 12}
_DAYS = {"day": 1, "week": 7}
_WORDS = words(
    "what what's whats which how who who's was were had does do did give get fetch show see check list tell "
    "let know quick quickly brief short full active any all please including include includes incl inc "
    "with plus together level levels value values trend view details record records chart file find "
    "look old before after i'm seeing i'll up me results known there information info main she's he's "
    "last latest recent called named"
)


def plan_read(reading: Reading) -> Plan:
    """Search, then every part that was asked for, side by side.

    Raises:
        RequestNotUnderstood: nothing that can be read is asked for, no patient, or words left over.
    """
    draft = reading.draft
    draft.take_all(_OCCASION)
    dates = _dates(draft, reading.today)
    draft.take_all(_NEWEST)
    parts = _parts(draft, dates)
    finds = draft.has(_FIND)
    draft.take_all(_FIND)
    if dates and not any(tool == "labs.search" for tool, _ in parts):
        raise refuse_part(" and ".join(dates.values()), "only lab results can be asked for by date")
    who = reading.finish(reading.named(_WORDS), _WORDS)
    if not parts and not finds:
        raise refuse_part(draft.text, "it does not say what to do")
    steps: list[Step] = [
        step(f"s{number}", tool, {"patient": PATIENT, **args}, after=("s1",))
        for number, (tool, args) in enumerate(parts, start=2)
    ]
    return plan(search_step(who.query, who.birth_date), *steps)


def _parts(draft: Draft, dates: dict[str, str]) -> list[tuple[str, dict[str, Any]]]:
    """Which tools, in the catalogue's order; an overview holds the lists, but not the course of a test."""
    overview = draft.has(OVERVIEW)
    medicines = draft.has(_MEDICINES) or draft.has(_ON_WHAT) or _is_on(draft)
    allergies, problems = draft.has(_ALLERGIES), draft.has(_PROBLEMS)
    for shape in (OVERVIEW, _ALLERGIES, _MEDICINES, _PROBLEMS):
        draft.take_all(shape)
    tests = TESTS.take(draft)
    results = draft.has(_RESULTS)
    draft.take_all(_RESULTS)
    if overview:
        draft.take_all(_VITALS)
    if medicines or allergies:
        # “Is she on warfarin?”, “is he allergic to latex?”: the list answers it.
        named = take_medicines(draft) or draft.take_all(_SUBSTANCE)
        if named and not _QUESTION.search(draft.text.lower()):
            raise refuse_part(draft.text, "ask whether it is so, or say “record …” to record it")
    parts: list[tuple[str, dict[str, Any]]] = []
    if overview:
        parts.append(("patient.summary.card", {}))
    else:
        parts += [("allergy.list.card", {})] if allergies else []
        parts += [("medication.list.card", {})] if medicines else []
        parts += [("condition.list.card", {})] if problems else []
    if tests or results:
        parts.append(("labs.search", {"tests": tests or None, **dates}))
    return parts


def _is_on(draft: Draft) -> bool:
    """“Is Helen Coleman on celecoxib?”."""
    match = _IS_ON.search(draft.low)
    return match is not None and bool(take_medicines(draft.part(match.start("on"), len(draft.low))))


def _dates(draft: Draft, today: datetime.date) -> dict[str, str]:
    """``since`` and ``until`` as ISO dates, where they are said exactly."""
    found: dict[str, str] = {}
    within = draft.take(_WITHIN)
    if within is not None:
        found["since"] = _ago(today, within).isoformat()
    for name, shape in (("since", _SINCE), ("until", _UNTIL)):
        match = draft.take(shape)
        if match is None:
            continue
        date = read_date(match.group("date"), today)
        if date is None or name in found:
            raise refuse_part(draft.typed(match), "give one date up to today")
        found[name] = date
    return found


def _ago(today: datetime.date, within: re.Match[str]) -> datetime.date:
    count = within.group("count") or "1"
    number = int(count) if count.isdigit() else _COUNTS[count]
    unit = within.group("unit").rstrip("s")
    if unit in _DAYS:
        return today - datetime.timedelta(days=number * _DAYS[unit])
    months = today.year * 12 + today.month - 1 - number * (12 if unit == "year" else 1)
    year, month = divmod(max(months, 12), 12)
    return datetime.date(year, month + 1, min(today.day, calendar.monthrange(year, month + 1)[1]))
