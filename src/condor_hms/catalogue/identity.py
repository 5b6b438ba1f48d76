"""Who a patient is, in the words that tell two people apart.

Rule 1: a patient is shown with at least two identifiers: name, age and sex, record number.
Rule 2: a record that is inactive, or a person recorded as deceased, is said wherever the patient is named.
"""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING, Any

from condor_hms.alerts.identity import patient_identity
from condor_hms.catalogue.words import day

if TYPE_CHECKING:
    import datetime

    from condor_hms.fhir.port import Resource

__all__ = ["clinician_name", "fold", "identity", "name_words", "record_state"]


def identity(patient: Resource, today: datetime.date) -> dict[str, Any]:
    """``{"reference", "name", "birthDate", "age", "sex", "mrn", "text"}``; what is special about it beside.

    ``age`` is in completed years, None when it is not known; ``text`` is the line for a person. Where the
    record says so: ``deceased`` (the day, or true), ``active: false``, and both in words as ``note``.
    """
    who = patient_identity(patient, today)
    note = record_state(patient)
    mrn = f"MRN {who.mrn}" if who.mrn else "no MRN"
    found = {
        "reference": who.reference,
        "name": who.name,
        "birthDate": who.birth_date,
        "age": who.age_years,
        "sex": who.sex,
        "mrn": who.mrn,
        "text": ", ".join((who.name, who.age, who.sex, mrn)) + (f" ({note})" if note else ""),
    }
    died = str(patient.get("deceasedDateTime") or "")[:10] or patient.get("deceasedBoolean") is True
    return {
        **found,
        **({"deceased": died} if died else {}),
        **({"active": False} if patient.get("active") is False else {}),
        **({"note": note} if note else {}),
    }


def clinician_name(practitioner: Resource) -> str:
    """``Dr Okafor``; the reference where the record has no name."""
    names: list[dict[str, Any]] = practitioner.get("name") or [{}]
    prefix = " ".join(names[0].get("prefix") or names[0].get("given") or [])
    said = f"{prefix} {names[0].get('family') or ''}".strip()
    return said or f"Practitioner/{practitioner['id']}"


def record_state(patient: Resource) -> str:
    """What must be known before anything is done: deceased, inactive; empty for everybody else."""
    said: list[str] = []
    if patient.get("deceasedDateTime"):
        said.append(f"deceased on {day(patient['deceasedDateTime'])}")
    elif patient.get("deceasedBoolean"):
        said.append("deceased")
    if patient.get("active") is False:
        said.append("record inactive")
    return ", ".join(said)


def name_words(patient: Resource) -> tuple[frozenset[str], frozenset[str]]:
    """The folded words of every name of the patient: all of them, and those of family names."""
    whole: set[str] = set()
    family: set[str] = set()
    for name in patient.get("name") or []:
        family.update(fold(name.get("family") or "").split())
        whole.update(fold(" ".join([*(name.get("given") or []), name.get("text") or ""])).split())
    return frozenset(whole | family), frozenset(family)


def fold(text: str) -> str:
    """For comparing names: no accents, case or apostrophes; the hyphen stays, other signs divide words."""
    bare = text.replace("'", "").replace("\u2019", "")
    plain = "".join(
        char for char in unicodedata.normalize("NFKD", bare) if not unicodedata.combining(char)
    ).casefold()
    return " ".join("".join(char if char.isalnum() or char == "-" else " " for char in plain).split())
