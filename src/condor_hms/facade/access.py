"""Which role reads which type through the facade: a literal table.

Law 1: nobody reads here what no reading tool gives their role; a test runs every reading tool and compares.
Law 2: what belongs to a patient and has no reading tool of its own is for those who may read a whole record
(``patient.everything``); what names the house and its people is for everybody who works in it.
Law 3: a type that is not in the table is not served.
Law 4: the review of an emergency read says who read whom and why. It is there for those who review and for no
one else, and no other Task is there for them: who may not see a resource is answered as if there were none.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

from condor_hms.breakglass.notes import REVIEW

if TYPE_CHECKING:
    from collections.abc import Mapping

    from condor import Principal
    from condor_hms.fhir.port import Resource

__all__ = [
    "DIRECTORY",
    "READERS",
    "REVIEWERS",
    "TASK_READERS",
    "WHOLE_RECORD",
    "is_review",
    "may_read",
    "may_see",
    "types_of",
]

_CLINICAL = "doctor nurse pharmacist admin"
#: As ``patient.everything``.
_EVERYTHING = "doctor admin"
_WARD = "doctor nurse admin"
_OFFICE = "billing admin doctor"
_STAFF = "doctor nurse pharmacist receptionist billing admin"

#: Who reads reviews of emergency reads, as ``breakglass.list``; and who reads every other Task.
REVIEWERS = frozenset({"auditor", "admin"})
TASK_READERS = frozenset(_WARD.split())

#: Types that name the house and its people.
DIRECTORY = frozenset({"Endpoint", "Location", "Organization", "Practitioner", "PractitionerRole"})
#: Types of a patient's record that no reading tool reads by itself.
WHOLE_RECORD = frozenset(
    {
        "CareTeam",
        "Communication",
        "Consent",
        "Coverage",
        "FamilyMemberHistory",
        "Flag",
        "MedicationAdministration",
        "MedicationDispense",
        "Specimen",
    }
)
_TABLE = {
    "Account": _OFFICE,
    "AllergyIntolerance": _CLINICAL,
    "Appointment": "doctor nurse receptionist admin",
    "AuditEvent": "auditor admin",
    "Binary": _WARD,
    "CarePlan": _CLINICAL,
    "ChargeItem": _OFFICE,
    "Condition": _CLINICAL,
    "DiagnosticReport": _CLINICAL,
    "DocumentReference": _WARD,
    "Encounter": _STAFF,
    "Goal": _CLINICAL,
    "ImagingStudy": _CLINICAL,
    "Immunization": _EVERYTHING,
    "Invoice": _OFFICE,
    "MedicationRequest": _CLINICAL,
    "MedicationStatement": _CLINICAL,
    "Observation": _CLINICAL,
    "Patient": _STAFF,
    "Procedure": _EVERYTHING,
    "Provenance": "auditor admin",
    "Schedule": "doctor nurse receptionist",
    "ServiceRequest": _WARD,
    "Slot": "doctor nurse receptionist",
}
#: FHIR type → the roles that read it.
READERS: Mapping[str, frozenset[str]] = MappingProxyType(
    dict(
        sorted(
            {
                **{name: frozenset(roles.split()) for name, roles in _TABLE.items()},
                **dict.fromkeys(WHOLE_RECORD, frozenset(_EVERYTHING.split())),
                **dict.fromkeys(DIRECTORY, frozenset(_STAFF.split())),
                "Task": REVIEWERS | TASK_READERS,
            }.items()
        )
    )
)


def may_read(who: Principal, resource_type: str) -> bool:
    """Whether one of their roles reads this type."""
    return bool(who.roles & READERS.get(resource_type, frozenset()))


def may_see(who: Principal, resource: Resource) -> bool:
    """Whether they read this resource, whose type they read."""
    if resource["resourceType"] != "Task":
        return may_read(who, resource["resourceType"])
    return bool(who.roles & (REVIEWERS if is_review(resource) else TASK_READERS))


def is_review(task: Resource) -> bool:
    """Whether a Task is the review of an emergency read, in whichever system its code is said to be."""
    codings = (task.get("code") or {}).get("coding") or []
    return any(coding.get("code") == REVIEW["code"] for coding in codings)


def types_of(who: Principal) -> tuple[str, ...]:
    """Every type that they read, by name."""
    return tuple(name for name in READERS if may_read(who, name))
