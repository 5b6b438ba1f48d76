"""Names that the hospital layer knows: substances with their codes, medicines, tests, flags.

Rule 1: a code stands here only where it was checked (the demonstration record, the catalogue's
examples); a substance without one is recorded by its text.
Rule 2: a fact about a product is not a default. ``ONLY_ROUTE`` holds medicines that exist for one route
alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from condor_hms.alerts.names import core_words

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = [
    "FLAGS",
    "LAB_TESTS",
    "MEDICINES",
    "ONLY_ROUTE",
    "PROBLEMS",
    "REACTIONS",
    "SUBSTANCES",
    "Substance",
    "ingredient_key",
    "problem_name",
    "substance_of",
]

_RXNORM = "http://www.nlm.nih.gov/research/umls/rxnorm"
_SNOMED = "http://snomed.info/sct"


@dataclass(frozen=True, slots=True, kw_only=True)
class Substance:
    """Something a patient can be allergic to."""

    #: As the record shows it.
    display: str
    #: ``medication``, ``food``, ``environment``.
    category: str
    #: (system, code, display of the code system); None: text only.
    coding: tuple[str, str, str] | None = None


def _drug(display: str, rxnorm: str) -> Substance:
    return Substance(display=display, category="medication", coding=(_RXNORM, rxnorm, display))


def _coded(display: str, category: str, snomed: str, name: str = "") -> Substance:
    return Substance(display=display, category=category, coding=(_SNOMED, snomed, name or display))


def _plain(category: str, *names: str) -> dict[str, Substance]:
    return {name: Substance(display=name.capitalize(), category=category) for name in names}


#: By folded name; several names may lead to one substance.
SUBSTANCES: Mapping[str, Substance] = {
    "ibuprofen": _drug("Ibuprofen", "5640"),
    "celecoxib": _drug("Celecoxib", "140587"),
    "acetaminophen": _drug("Acetaminophen", "161"),
    "amlodipine": _drug("Amlodipine", "17767"),
    "atorvastatin": _drug("Atorvastatin", "83367"),
    "candesartan": _drug("Candesartan", "214354"),
    "enoxaparin": _drug("Enoxaparin", "67108"),
    "escitalopram": _drug("Escitalopram", "321988"),
    "lansoprazole": _drug("Lansoprazole", "17128"),
    "metformin": _drug("Metformin", "6809"),
    "ticagrelor": _drug("Ticagrelor", "1116632"),
    "tiotropium": _drug("Tiotropium", "274766"),
    "venlafaxine": _drug("Venlafaxine", "39786"),
    "aspirin": _coded("Aspirin", "medication", "387458008"),
    "penicillin": _coded("Penicillin", "medication", "373270004", "Substance with penicillin structure"),
    "sulfonamide": _coded("Sulfonamide", "medication", "115556009"),
    "egg": _coded("Egg protein", "food", "735038006"),
    "egg protein": _coded("Egg protein", "food", "735038006"),
    "eggs": _coded("Egg protein", "food", "735038006"),
    "wheat": _coded("Wheat", "food", "735029006"),
    "tree pollen": _coded("Tree pollen", "environment", "256262001"),
    **_plain("food", "peanut", "peanuts", "tree nuts", "nuts", "milk", "soya", "sesame", "fish", "shellfish"),
    **_plain("food", "kiwi", "strawberry", "strawberries", "celery", "mustard", "prawns", "crab"),
    **_plain("environment", "latex", "grass pollen", "house dust mite", "dust mites", "cat dander", "mould"),
    **_plain("environment", "bee venom", "wasp venom", "bee stings", "wasp stings", "nickel"),
}

_ONE_WORD_MEDICINES = """
acetaminophen aciclovir albuterol alendronate allopurinol amiodarone amitriptyline amlodipine
amoxicillin ampicillin apixaban aspirin atenolol atorvastatin azithromycin bisoprolol budesonide
bumetanide candesartan carbamazepine carvedilol cefalexin ceftriaxone celecoxib cetirizine
ciprofloxacin citalopram clarithromycin clindamycin clopidogrel codeine colchicine dabigatran
dapagliflozin dexamethasone diazepam diclofenac digoxin diltiazem doxazosin doxycycline duloxetine
empagliflozin enalapril enoxaparin eplerenone erythromycin escitalopram esomeprazole famotidine
felodipine ferrous flucloxacillin fluconazole fluoxetine furosemide gabapentin gentamicin gliclazide
glipizide haloperidol heparin hydrochlorothiazide hydrocortisone ibuprofen indapamide ipratropium
itraconazole ketoconazole ketorolac labetalol lamotrigine lansoprazole levetiracetam levofloxacin
levothyroxine linezolid lisinopril lithium loratadine lorazepam losartan lovastatin melatonin
meloxicam metformin methotrexate methylprednisolone metoclopramide metoprolol metronidazole
mirtazapine montelukast morphine naproxen nifedipine nitrofurantoin nitroglycerin olanzapine
omeprazole ondansetron oseltamivir oxycodone oxytocin pantoprazole paroxetine penicillin phenelzine
phenytoin pioglitazone piperacillin pravastatin prednisolone prednisone pregabalin prochlorperazine
promethazine propranolol quetiapine ramipril ranitidine risperidone rivaroxaban rizatriptan
rosuvastatin selegiline semaglutide sertraline simvastatin sitagliptin sorafenib spironolactone
sulfamethoxazole sumatriptan tamsulosin temazepam ticagrelor tiotropium tramadol tranylcypromine
trazodone trimethoprim valproate valsartan vancomycin venlafaxine verapamil warfarin zolpidem
zopiclone
"""
#: Medicines by generic name; brand names and other countries' names are folded onto these.
MEDICINES: frozenset[str] = frozenset(_ONE_WORD_MEDICINES.split()) | {
    "amoxicillin clavulanate",
    "co trimoxazole",
    "fluticasone salmeterol",
    "folic acid",
    "potassium chloride",
    "sliding scale insulin",
    "sodium bicarbonate",
    "trimethoprim sulfamethoxazole",
    "vitamin d",
}

#: Medicines of which every product is for one route. Nitrofurantoin: capsules, tablets and an oral suspension
#: are all there is (Macrobid and Furadantin US labels, section "How supplied").
ONLY_ROUTE: Mapping[str, str] = {"nitrofurantoin": "oral"}

#: SNOMED CT code → label, as the catalogue offers them.
REACTIONS: Mapping[str, str] = {
    "271807003": "Rash",
    "39579001": "Anaphylaxis",
    "422587007": "Nausea",
    "267036007": "Shortness of breath",
    "41291007": "Angioedema",
}
#: LOINC code → label.
LAB_TESTS: Mapping[str, str] = {
    "4548-4": "HbA1c",
    "2160-0": "Creatinine",
    "2823-3": "Potassium",
    "6301-6": "INR",
    "718-7": "Haemoglobin",
    "10839-9": "Troponin I",
}
#: Flag argument → what the flag says.
FLAGS: Mapping[str, str] = {
    "falls": "Falls risk",
    "infection": "Infection control",
    "behaviour": "Behaviour",
    "dnacpr": "DNACPR in place",
}


#: Problem, folded → ICD-10-CM code and display; from the demonstration record and the catalogue's examples.
PROBLEMS: Mapping[str, tuple[str, str]] = {
    "asthma": ("J45.909", "Unspecified asthma, uncomplicated"),
    "chronic kidney disease": ("N18.9", "Chronic kidney disease, unspecified"),
    "chronic obstructive pulmonary disease": ("J44.9", "Chronic obstructive pulmonary disease, unspecified"),
    "dyslipidaemia": ("E78.5", "Hyperlipidemia, unspecified"),
    "gastro-oesophageal reflux": ("K21.9", "Gastro-esophageal reflux disease without esophagitis"),
    "hyperkalaemia": ("E87.5", "Hyperkalemia"),
    "hypertension": ("I10", "Essential (primary) hypertension"),
    "obesity": ("E66.9", "Obesity, unspecified"),
    "osteoporosis": ("M81.0", "Age-related osteoporosis without current pathological fracture"),
    "type 2 diabetes": ("E11.9", "Type 2 diabetes mellitus without complications"),
    "urinary tract infection": ("N39.0", "Urinary tract infection, site not specified"),
}
#: Other names of the same problems.
_PROBLEM_NAMES: Mapping[str, str] = {
    "ckd": "chronic kidney disease",
    "copd": "chronic obstructive pulmonary disease",
    "dyslipidemia": "dyslipidaemia",
    "gerd": "gastro-oesophageal reflux",
    "gord": "gastro-oesophageal reflux",
    "high blood pressure": "hypertension",
    "htn": "hypertension",
    "hyperkalemia": "hyperkalaemia",
    "t2dm": "type 2 diabetes",
    "type 2 diabetes mellitus": "type 2 diabetes",
    "uti": "urinary tract infection",
}


def problem_name(text: str) -> str:
    """One name for one problem; what is not known stays as it was typed."""
    name = " ".join(text.split())
    known = _PROBLEM_NAMES.get(name.casefold(), name)
    return known[:1].upper() + known[1:]


def ingredient_key(name: str) -> str:
    """One spelling for one medicine: lower case, brand and other countries' names folded, forms left out."""
    return core_words(name).strip()


def substance_of(text: str) -> Substance:
    """A known substance, or the text as it stands with no code and no category."""
    for key in (" ".join(text.casefold().split()), ingredient_key(text)):
        found = SUBSTANCES.get(key)
        if found is not None:
            return found
        if key in MEDICINES:
            return Substance(display=key.capitalize(), category="medication")
    return Substance(display=" ".join(text.split()), category="")
