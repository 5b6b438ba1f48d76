"""What texts call the things that tools work on, and which thing is meant where a verb stands alone."""

from __future__ import annotations

from functools import lru_cache


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


#: What texts call the things that tools work on: words of one line mean the same thing.
OBJECTS: tuple[tuple[str, ...], ...] = tuple(
    tuple(line.split())
    for line in (
        "message invitation invite email mail reminder letter sms text notification communication einladung "
        "nachricht erinnerung",
        "medication medicine prescription drug dose pill tablet rx med treatment therapy medikament rezept "
        "ordonnance medicament",
        "appointment visit booking slot followup termin rendezvous meeting consultation",
        "allergy intolerance allergie",
        "lab test bloodwork labs",
        "imaging xray scan mri ct ultrasound",
        "document report discharge summary pdf letter",
        "note",
        "invoice bill rechnung facture",
        "refund money repayment reimbursement ruckerstattung remboursement payment",
        "flag",
        "task todo aufgabe",
        "deployment deploy rollout release version build",
        "referral",
        "vaccination vaccine immunization shot",
        "vital vitals pressure observation",
        "condition problem diagnosis",
        "careplan plan",
        "order",
    )
)

#: What is meant where a verb stands alone: "she was referred".
IMPLIED: dict[str, str] = {
    "referred": "referral",
    "prescribed": "medication",
    "verordnet": "medication",
    "verschrieben": "medication",
    "booked": "appointment",
    "gebucht": "appointment",
    "rescheduled": "appointment",
    "penciled": "appointment",
    "pencilled": "appointment",
    "vaccinated": "vaccination",
    "refunded": "refund",
    "reimbursed": "refund",
    "erstattet": "refund",
    "invoiced": "invoice",
    "billed": "invoice",
    "deployed": "deployment",
    "flagged": "flag",
    "invited": "message",
    "notified": "message",
    "emailed": "message",
    "messaged": "message",
    "texted": "message",
    "informed": "message",
    "reminded": "message",
}

#: Ends by which drugs are named alike (stems of the international nonproprietary names, WHO).
_DRUG_ENDS = _words(
    "cillin mycin micin floxacin cycline furantoin toin oprim oxime oxazole conazole prazole dazole pril "
    "sartan olol dipine statin parin xaban farin ogrel gliptin gliflozin formin zepam zolam "
    "triptyline oxetine azapine profen semide thiazide thalidone setron lukast dronate tinib ciclib "
    "ovir caine codone solone sone tropium"
)
#: Letters before such an end, at least.
_DRUG_BEGINS_MIN = 2
#: Drugs without such an end.
_DRUGS = frozenset(
    _words(
        "aspirin insulin heparin morphine digoxin paracetamol acetaminophen levothyroxine lithium "
        "methotrexate spironolactone allopurinol amiodarone tramadol gabapentin pregabalin salbutamol "
        "albuterol codeine fentanyl naproxen diclofenac sertraline citalopram diltiazem verapamil "
        "colchicine quetiapine"
    )
)
#: What a laboratory measures.
_ANALYTES = frozenset(
    _words(
        "creatinine potassium sodium calcium magnesium phosphate glucose hba1c hemoglobin haemoglobin "
        "ferritin tsh troponin crp inr bilirubin albumin cholesterol triglycerides lactate urea ammonia "
        "lipase"
    )
)
#: Two names of one.
SAME_SUBSTANCE: dict[str, str] = {
    "acetaminophen": "paracetamol",
    "albuterol": "salbutamol",
    "haemoglobin": "hemoglobin",
}


@lru_cache(maxsize=4_096)
def is_drug(word: str) -> bool:
    """Whether a word is a drug's name, by the way such names end."""
    return word in _DRUGS or any(
        word.endswith(end) and len(word) >= len(end) + _DRUG_BEGINS_MIN for end in _DRUG_ENDS
    )


def is_analyte(word: str) -> bool:
    """Whether a word names what a laboratory measures."""
    return word in _ANALYTES


def is_substance(word: str) -> bool:
    """Whether it is either."""
    return is_analyte(word) or is_drug(word)
