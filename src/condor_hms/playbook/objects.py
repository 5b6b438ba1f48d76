"""Things of a record that requests are about: what a verb acts on decides what is asked for.

Rule 1: a word here is never a person's name and never a medicine, however it is capitalised.
Rule 2: a medicine that no table holds is known by its stem (WHO, “The use of stems in the selection of
International Nonproprietary Names”, 2018) or by its dose; any other word is no medicine.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from condor_hms.playbook.vocabulary import words

if TYPE_CHECKING:
    from condor_hms.playbook.draft import Draft

__all__ = [
    "LIST_OF_MEDICINES",
    "PLACE",
    "THINGS",
    "VERBS",
    "has_medicine_stem",
    "no_indication",
    "take_places",
    "written_thing",
]

#: What a record holds, and what is done for a patient, besides medicines.
THINGS: frozenset[str] = words(
    "allergy allergies intolerance intolerances reaction reactions hypersensitivity "
    "appointment appointments booking bookings visit visits clinic clinics slot slots session sessions "
    "referral referrals consultation admission admissions discharge transfer surgery operation procedure "
    "order orders request requests prescription prescriptions refill refills repeat repeats delivery "
    "plan plans pathway programme program therapy physiotherapy physio rehab diet exercise rest leave "
    "dialysis oxygen transfusion blood platelets feeding observations obs monitoring teaching "
    "education counselling smoking drinking alcohol fluids supplement supplements "
    "flag flags alert alerts alarm alarms warning warnings reminder reminders notification notifications "
    "note notes letter letters leaflet leaflets diary card message messages task tasks document documents "
    "invoice invoices payment insurance claim consent "
    "problem problems diagnosis diagnoses condition conditions overdose history "
    "result results level levels test tests testing report reports scan scans assessment assessments "
    "vaccination vaccinations vaccine vaccines immunisation immunization jab "
    "list lists chart charts record records file files entry entries review reviews indication override "
    "prescriber medicine medicines medication medications meds drug drugs treatment treatments "
    "mother father sister brother son daughter wife husband partner family relative"
)
#: Of these an indication may be one.
_ALSO_CONDITIONS = words(
    "allergy allergies intolerance reaction reactions hypersensitivity surgery operation procedure smoking "
    "drinking alcohol dialysis blood problem problems condition overdose transfusion discharge"
)
#: Verbs that ask for what cannot be done here; read as a name they would go unseen.
VERBS: frozenset[str] = words(
    "keep confirm review withhold administer lift clear close end finish halt suspend terminate resolve undo "
    "revoke reverse erase revise amend edit verify reconcile titrate wean taper dispense supply request "
    "query monitor measure recheck retest share move copy omit miss complete retract expire deactivate "
    "activate reactivate correct replace substitute adjust lower raise flagging stopping starting taking "
    "giving monitoring increasing ordering prescribing removing cancelling going coming"
)
#: The list that a medicine is added to or taken from; the noun alone is the group.
LIST_OF_MEDICINES = re.compile(
    r"(?<!\w)(?:from|off|to|onto|on)(?: [^\s.,;:]+){0,4}? (?P<list>(?:(?:current|regular|active|usual) )?"
    r"(?:(?:medicines?|medications?|meds|drugs?|prescriptions?)(?: list| chart)?|chart))(?![\w-])"
)
#: Where an entry goes; the noun alone is the group. “as history” and “a note about” are other things.
PLACE = re.compile(
    r"(?<!\w)(?:to|in|into|on|onto)(?: [^\s.,;:]+){0,4}? "
    r"(?P<list>lists?|file|notes|history|record|chart)(?!\w)"
)
#: Words that are verbs of a request, standing as nouns: “a note about”, “the allergy alert”.
_WRITTEN = re.compile(
    r"(?<!\w)(?:an?|the|her|his|their|this|[^\s.,;:]+'s)(?: [^\s.,;:]+){0,3}?"
    r" (?P<noun>notes?|record|document|log|file|flag|alert)(?!\w)"
    r"(?! (?:it|that|this|her|his|the|as|down)(?!\w))"
)
_STEM = re.compile(
    r"[a-z]{2,}(?:nib|mab|pril|sartan|olol|vastatin|azole|cillin|cycline|mycin|micin|floxacin|gliptin|gliflozin"
    r"|glutide|tidine|azepam|zolam|triptan|setron|navir|tegravir|ciclovir|buvir|amivir|dipine|semide|thiazide"
    r"|xaban|gatran|parin|lukast|meterol|moterol|buterol|metasone|solone|oxetine|pramine|triptyline|tiapine"
    r"|lanzapine|peridone|fibrate|dronate|profen|coxib|fenac|barbital|ciclib|formin|glitazone|racetam|gabalin)"
)


def has_medicine_stem(word: str) -> bool:
    """Whether a lower-case word ends as medicines do."""
    return _STEM.fullmatch(word) is not None


def no_indication(text: str) -> bool:
    """Whether a text in lower case names a thing that nothing is prescribed for."""
    return any(word in THINGS and word not in _ALSO_CONDITIONS for word in re.findall(r"[a-z]+", text))


def take_places(draft: Draft, place: re.Pattern[str]) -> None:
    """Take the noun of every place (``LIST_OF_MEDICINES``, ``PLACE``)."""
    for match in list(place.finditer(draft.low)):
        draft.mask(*match.span("list"))


def written_thing(draft: Draft, but: tuple[str, ...] = ()) -> str | None:
    """A note, a record, a flag that the request is about, where its noun could pass for a verb."""
    found = (match.group("noun") for match in _WRITTEN.finditer(draft.low))
    return next((noun for noun in found if noun not in but), None)
