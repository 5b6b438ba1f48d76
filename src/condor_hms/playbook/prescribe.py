"""Prescribing: “Start Melissa Smith on nitrofurantoin 100 mg twice a day for 5 days for her UTI”.

Rule: the plan carries what was said. A missing dose, unit, route or frequency stays missing and is asked
for; only a medicine that exists for one route alone brings that route with it (``ONLY_ROUTE``).
"""

from __future__ import annotations

import re
from dataclasses import asdict
from typing import Any

from condor_hms.catalogue.terms import ONLY_ROUTE
from condor_hms.playbook.doses import Dosing, take_dosing
from condor_hms.playbook.draft import Draft
from condor_hms.playbook.medicines import Medicine, take_medicine, unknown_before_dose
from condor_hms.playbook.objects import LIST_OF_MEDICINES, no_indication, take_places
from condor_hms.playbook.reading import Reading, is_plain_text
from condor_hms.playbook.refusals import refuse, refuse_part
from condor_hms.playbook.steps import PATIENT, Plan, plan, search_step, step
from condor_hms.playbook.vocabulary import FILLERS, HYPOTHETICAL, NEGATIONS, TIMES, pattern, words

__all__ = ["ADD_CUE", "CUE", "STRONG_CUE", "is_implied", "plan_prescribe"]

#: How a prescription is asked for.
CUE = pattern(
    r"prescribe|prescription (?:of|for)|start|commence|begin|initiate|be (?:started|put|commenced) on"
    r"|(?:want|like|have) (?:\S+ ){1,4}?on(?= )|put (?:\S+ ){1,5}?on"
    r"|write up|write (?:a |up )?(?:a )?(?:script|prescription) (?:of|for)"
    r"|give (?!me\b|us\b)|rx"
)
#: Verbs that mean nothing else, where another thing is asked for as well.
STRONG_CUE = pattern(r"prescribe|start|commence|begin|initiate")
#: “Add amlodipine to her medicines”; only with a medicine, see the planner.
ADD_CUE = pattern(r"add")
_PASSIVE = pattern(r"(?:to )?be (?:started|put|commenced)")
_SAFETY = pattern(r"(?:and |after |then )?check(?:ing)? (?:for |her |his |the )?interactions(?: first)?")
_HEDGE = pattern(r"(?:should|would|will) be (?:fine|ok|okay|good|alright|all right)|something")
_HAS = re.compile(
    r"(?:'s got|(?<!\w)(?:has got|have got|have|has|with(?= an? ))) (?:an? |another )?"
    r"(?P<what>[a-z][a-z0-9 -]{1,40}?)"
    r"(?: too| as well| again)?(?= - |[,.;:]| so | and needs?| please| start| needs?| ?\0|$)"
)
_PURPOSE = re.compile(
    r"(?<!\w)(?P<how>for(?: the)? treatment of|to treat|to cover|because of|due to"
    r"|as (?:she|he) has|since (?:she|he) has|for)"
    r" (?P<head>(?:(?:her|his|their|the|an?|this) )*)(?P<what>[a-z0-9][a-z0-9' /-]{0,60}?)"
    r"(?= please| thanks| for | - | ?[.,;:()]| ?\0|$)"
)
#: Before names are read: “Indication” may open a sentence.
_STATED = re.compile(
    r"(?<!\w)indication[: ]+(?P<what>[a-z0-9][a-z0-9' /-]{0,60}?)(?= please| thanks| ?[.,;()]| ?\0|$)"
)
_BRACKETS = re.compile(r"\((?:for )?(?P<what>[a-z][a-z0-9' /-]{1,40})\)")
#: Words that say nothing more in a prescription.
_WORDS = words(
    "start prescribe commence begin initiate put give write up take taking dose dosage dosed medicine "
    "medication meds drug order prescription script rx treatment antibiotic antibiotics each regular "
    "regularly new add x course"
)
#: A sentence with one of these tells what was or is; it asks for nothing.
_TELLS = pattern(r"had|has|have|is|was|were|been|gets|on|takes|taking|took|started|given|used|already")
#: An indication does not begin with these: they are times, or nobody's.
_NO_INDICATION = re.compile(
    r"(?:\d|month|week|day|year|now|today|tonight|tomorrow|ever|life|while|long|her$|him$|them$|me$|us$|it$)"
)


def is_implied(reading: Reading) -> bool:
    """A medicine with dose and frequency and no story around it: “amoxicillin 500 tds for X please”."""
    trial = Draft(reading.draft.text)
    trial.low = reading.draft.low
    trial.take_all(_HAS)
    if "?" in trial.text or trial.has(_TELLS) or take_medicine(trial) is None:
        return False
    dosing = take_dosing(trial)
    return dosing.dose_value is not None and dosing.frequency is not None


def plan_prescribe(reading: Reading) -> Plan:
    """Search, check interactions, prescribe.

    Raises:
        RequestNotUnderstood: no medicine or two, two doses, no patient, or words left over.
    """
    draft = reading.draft
    for shape in (_SAFETY, _HEDGE, _PASSIVE):
        draft.take_all(shape)
    medicine = take_medicine(draft) or unknown_before_dose(draft)
    if medicine is None:
        raise refuse("no medicine is named that I know; name one, with its dose")
    dosing = take_dosing(draft)
    if dosing.dose_value is None and draft.has(ADD_CUE) and not draft.has(CUE):
        raise refuse("“add” says no dose: is it prescribed, or taken already? Say “start …” to prescribe it")
    take_places(draft, LIST_OF_MEDICINES)
    stated = draft.take(_STATED)
    who = reading.named(_WORDS)
    indication = _indication(draft, is_named=bool(who.query), stated=stated)
    who = reading.finish(who, _WORDS)
    checked = {"dose_value": dosing.dose_value, "dose_unit": dosing.dose_unit}
    if None in checked.values():
        checked = {}
    return plan(
        search_step(who.query, who.birth_date),
        step(
            "s2",
            "interaction.check",
            {"patient": PATIENT, "medication": medicine.name, **checked},
            after=("s1",),
        ),
        step("s3", "medication.prescribe", _order(medicine, dosing, indication), after=("s2",)),
    )


def _order(medicine: Medicine, dosing: Dosing, indication: str | None) -> dict[str, Any]:
    said = asdict(dosing)
    said["route"] = dosing.route or ONLY_ROUTE.get(medicine.key)
    return {"patient": PATIENT, "medication": medicine.name, **said, "indication": indication}


def _indication(draft: Draft, *, is_named: bool, stated: re.Match[str] | None) -> str | None:
    """What it is for, as typed."""
    found: list[str] = [] if stated is None else [_checked(draft, stated)]
    purposes = [match for match in _PURPOSE.finditer(draft.low) if _is_a_purpose(match)]
    for match in purposes if is_named else _not_the_patient(draft, purposes):
        found.append(_checked(draft, match))
        draft.mask(*match.span())
    for shape in (_BRACKETS, _HAS):
        for match in shape.finditer(draft.low):
            text = _checked(draft, match)
            draft.mask(*match.span())
            if not found:
                found.append(text)
    if len(found) > 1:
        raise refuse(f"two indications in one request ({' and '.join(found)})")
    return found[0] if found else None


def _is_a_purpose(match: re.Match[str]) -> bool:
    what = match.group("what").strip()
    return _NO_INDICATION.match(what) is None and not set(what.split()) <= FILLERS


def _not_the_patient(draft: Draft, purposes: list[re.Match[str]]) -> list[re.Match[str]]:
    """Without a name in capitals, the first bare “for …” is the patient, unless a name stands before it."""
    rest = draft.part(0, min((match.start() for match in purposes), default=0))
    for shape in (_BRACKETS, _HAS):
        rest.take_all(shape)
    if any(word.low not in FILLERS and word.low not in _WORDS for word in rest.words()):
        return purposes
    bare = [match for match in purposes if match.group("how") == "for" and not match.group("head")]
    return [match for match in purposes if match is not next(iter(bare), None)]


def _checked(draft: Draft, match: re.Match[str]) -> str:
    text = draft.typed(match, "what").strip()
    low = text.lower()
    hidden = [shape for shape in (NEGATIONS, HYPOTHETICAL, TIMES) if shape.search(low)]
    if not is_plain_text(text) or hidden or no_indication(low):
        raise refuse_part(text, "it is no indication")
    return text
