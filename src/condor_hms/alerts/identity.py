"""Who a patient is, in the two identifiers and more that a person needs to be sure; pure."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from condor_hms.fhir.port import Resource

__all__ = ["PatientIdentity", "patient_identity"]

#: Below this age months are told, below one month days: a dose for an infant hangs on them.
_MONTHS_TOLD_BELOW_YEARS = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class PatientIdentity:
    """A patient as a card names them; `str()` gives the line."""

    #: `Patient/id`.
    reference: str
    #: Given and family name, or `name not recorded`.
    name: str
    #: `47 y`, `8 mo`, `12 d`, or `age not recorded`; `about 47 y` if only the year of birth is known.
    age: str
    #: Completed years; None if not known.
    age_years: int | None
    #: male, female, other, or `sex not recorded`.
    sex: str
    #: Medical record number; None if there is none.
    mrn: str | None
    #: As recorded, `YYYY-MM-DD` or less; None if not.
    birth_date: str | None
    #: Whether the record says that the patient has died.
    deceased: bool

    def __str__(self) -> str:
        mrn = "no MRN" if self.mrn is None else f"MRN {self.mrn}"
        return ", ".join((self.name, self.age, self.sex, mrn, *(("deceased",) if self.deceased else ())))


def patient_identity(patient: Resource, today: date) -> PatientIdentity:
    """Read a Patient resource: `Melissa Smith, 47 y, female, MRN POP-000035`."""
    birth_date = patient.get("birthDate")
    age, years = _age(birth_date, today)
    gender = patient.get("gender")
    return PatientIdentity(
        reference=f"Patient/{patient['id']}",
        name=_name(patient),
        age=age,
        age_years=years,
        sex=gender if gender in ("male", "female", "other") else "sex not recorded",
        mrn=_mrn(patient),
        birth_date=birth_date,
        deceased=bool(patient.get("deceasedBoolean")) or "deceasedDateTime" in patient,
    )


def _name(patient: Resource) -> str:
    names = [name for name in patient.get("name", []) if name.get("use") not in ("old", "maiden")]
    for use in ("official", "usual", None):
        for name in names:
            if use is None or name.get("use") == use:
                parts = " ".join([*name.get("given", []), name.get("family", "")]).strip()
                if parts or name.get("text"):
                    return parts or str(name["text"])
    return "name not recorded"


def _mrn(patient: Resource) -> str | None:
    for identifier in patient.get("identifier", []):
        codes = [coding.get("code") for coding in identifier.get("type", {}).get("coding", [])]
        if "MR" in codes and identifier.get("use") != "old" and "value" in identifier:
            return str(identifier["value"])
    return None


def _age(birth_date: str | None, today: date) -> tuple[str, int | None]:
    if birth_date is None:
        return "age not recorded", None
    try:
        born = date.fromisoformat(birth_date + "-01-01"[len(birth_date) - 4 :])
    except ValueError:
        return "age not recorded", None
    if born > today:
        return "age not recorded", None
    months = (today.year - born.year) * 12 + today.month - born.month - (today.day < born.day)
    years = months // 12
    if len(birth_date) < len("YYYY-MM-DD"):
        return f"about {years} y", years
    if years >= _MONTHS_TOLD_BELOW_YEARS:
        return f"{years} y", years
    return (f"{months} mo", years) if months >= 1 else (f"{(today - born).days} d", years)
