"""Whether a text names a medicine or an allergen; pure.

Rule 1: whole words only, case and accents aside: `heparin` is not in `enoxaparin`.
Rule 2: a combination (`a/b`) is named where all its parts are, in any order.
Rule 3: a denial names nothing: `No known penicillin allergy`.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

__all__ = [
    "allergen_words",
    "core_words",
    "has_class_stem",
    "is_beta_lactam",
    "is_denial",
    "is_penicillin",
    "known_synonyms",
    "mentions",
    "normalise",
]

#: Names of one substance in other countries, and brand names a doctor is likely to type (US and UK).
_SYNONYMS: dict[str, str] = {
    "paracetamol": "acetaminophen",
    "tylenol": "acetaminophen",
    "salbutamol": "albuterol",
    "acetylsalicylic acid": "aspirin",
    "celebrex": "celecoxib",
    "advil": "ibuprofen",
    "motrin": "ibuprofen",
    "nurofen": "ibuprofen",
    "aleve": "naproxen",
    "naprosyn": "naproxen",
    "voltaren": "diclofenac",
    "voltarol": "diclofenac",
    "toradol": "ketorolac",
    "brilinta": "ticagrelor",
    "brilique": "ticagrelor",
    "plavix": "clopidogrel",
    "coumadin": "warfarin",
    "eliquis": "apixaban",
    "xarelto": "rivaroxaban",
    "lovenox": "enoxaparin",
    "clexane": "enoxaparin",
    "zocor": "simvastatin",
    "zoloft": "sertraline",
    "lustral": "sertraline",
    "prozac": "fluoxetine",
    "lexapro": "escitalopram",
    "cipralex": "escitalopram",
    "celexa": "citalopram",
    "paxil": "paroxetine",
    "seroxat": "paroxetine",
    "effexor": "venlafaxine",
    "cymbalta": "duloxetine",
    "glucophage": "metformin",
    "aldactone": "spironolactone",
    "augmentin": "amoxicillin clavulanate",
    "co amoxiclav": "amoxicillin clavulanate",
    "amoxycillin": "amoxicillin",
    "amoxil": "amoxicillin",
    "trimox": "amoxicillin",
    "benzylpenicillin": "penicillin g",
    "phenoxymethylpenicillin": "penicillin v",
    "penicillin vk": "penicillin v",
    "bicillin": "penicillin g",
    "floxapen": "flucloxacillin",
    "tazocin": "piperacillin tazobactam",
    "zosyn": "piperacillin tazobactam",
    "unasyn": "ampicillin sulbactam",
    "cephalexin": "cefalexin",
    "keflex": "cefalexin",
    "rocephin": "ceftriaxone",
    "zinnat": "cefuroxime",
    "ceftin": "cefuroxime",
    "bactrim": "trimethoprim sulfamethoxazole",
    "septra": "trimethoprim sulfamethoxazole",
    "septrin": "trimethoprim sulfamethoxazole",
    "cotrimoxazole": "co trimoxazole",
    "sulphonamide": "sulfonamide",
    "sulfonamides": "sulfonamide",
    "sulphonamides": "sulfonamide",
    "penicillins": "penicillin",
    "nsaids": "nsaid",
}
_SYNONYM = re.compile(rf"(?<= )(?:{'|'.join(sorted(_SYNONYMS, key=len, reverse=True))})(?= )")
_FORM_TEXT = """
mg mcg ug g ml iu units unit tablet tablets tab tabs capsule capsules cap caps oral po iv im sc inhaler puff
puffs injection solution suspension cream ointment gel patch er xl xr sr mr dr modified release hydrochloride
hcl maleate besylate tartrate succinate daily once twice bd bid tds tid qds qid od qd prn
"""
#: Words that say how a medicine is made or given, not which it is.
_FORM_WORDS = frozenset(_FORM_TEXT.split())
_ALLERGY_TEXT = """
allergy allergic hypersensitivity intolerance adverse reaction to of substance substances with structure and
drug product containing medication
"""
#: Words around the allergen in the names of allergies.
_ALLERGY_WORDS = frozenset(_ALLERGY_TEXT.split())
#: Stems of international names (WHO INN): penicillins; cephalosporins and carbapenems.
_PENICILLIN = re.compile(r" \w*cillins? ")
_OTHER_BETA_LACTAM = re.compile(r" (?:cef\w+|ceph\w+|\w+penem) ")
_DENIAL = re.compile(r"\b(no known|no history of|no allergy|not allergic|negative for|denies)\b")


@lru_cache(maxsize=4096)
def normalise(text: str) -> str:
    """Lower-case words with one blank before, between and after them, synonyms replaced."""
    plain = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", text).casefold())
    # A soft hyphen or a zero-width mark is not seen: it divides no word.
    plain = "".join(
        char for char in plain if not unicodedata.combining(char) and unicodedata.category(char) != "Cf"
    )
    words = " ".join(["", *re.findall(r"[^\W_]+", plain), ""])
    return _SYNONYM.sub(lambda match: _SYNONYMS[match.group()], words)


def mentions(text: str, name: str) -> bool:
    """Whether the text names this substance; `a/b` is named where both are."""
    words = normalise(text)
    return all(part in words for part in _parts(name))


@lru_cache(maxsize=1024)
def _parts(name: str) -> tuple[str, ...]:
    return tuple(normalise(part) for part in name.split("/") if part.strip())


def core_words(text: str) -> str:
    """The normalised words that say which medicine it is: strengths, forms and timing left out."""
    kept = [word for word in normalise(text).split() if word not in _FORM_WORDS and not word[0].isdigit()]
    return f" {' '.join(kept)} " if kept else ""


def allergen_words(text: str) -> str:
    """The normalised words that say to what an allergy is; empty for a denial."""
    if is_denial(text):
        return ""
    kept = [word for word in normalise(text).split() if word not in _ALLERGY_WORDS]
    return f" {' '.join(kept)} " if kept else ""


def is_denial(text: str) -> bool:
    """Whether the text says that there is no such allergy."""
    return _DENIAL.search(normalise(text)) is not None


def is_penicillin(text: str) -> bool:
    """Whether it names a penicillin by its stem, ``-cillin``."""
    return _PENICILLIN.search(normalise(text)) is not None


def is_beta_lactam(text: str) -> bool:
    """Whether it names another beta-lactam by its stem: ``cef-``, ``-penem``."""
    return _OTHER_BETA_LACTAM.search(normalise(text)) is not None


def has_class_stem(text: str) -> bool:
    """Whether the rules know its class by a stem, whatever the name."""
    return is_penicillin(text) or is_beta_lactam(text)


def known_synonyms() -> tuple[str, ...]:
    """Every name that is folded onto another, and those it is folded onto."""
    return (*_SYNONYMS, *_SYNONYMS.values())
