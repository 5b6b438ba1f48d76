"""Which search parameters the embedded store answers, as one literal table.

Rule: a parameter that is not in the table is refused. Names and elements are those of the FHIR R4 search
parameter registry (https://hl7.org/fhir/R4/searchparameter-registry.html); here is what the tools ask for.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

__all__ = ["Kind", "Param", "params_of"]

#: How values are indexed and compared. `folded`: a token compared without regard to case; `id`: not indexed.
Kind: TypeAlias = Literal["id", "token", "folded", "reference", "date", "name", "phone"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Param:
    """One search parameter of one resource type."""

    #: How its values are indexed and compared.
    kind: Kind
    #: Dotted element paths; lists on the way are walked.
    paths: tuple[str, ...]
    #: Reference parameters only: keep references to this type; None keeps all.
    target: str | None = None
    #: Not of the R4 registry: a server is never asked by it.
    own: bool = False


def _token(*paths: str) -> Param:
    return Param(kind="token", paths=paths)


def _date(*paths: str) -> Param:
    return Param(kind="date", paths=paths)


def _ref(*paths: str, target: str | None = None) -> Param:
    return Param(kind="reference", paths=paths, target=target)


def _patient(path: str) -> Param:
    return _ref(path, target="Patient")


#: Every type has these. `_tag` is how an idempotency key of a run is found again.
_COMMON: dict[str, Param] = {
    "_id": Param(kind="id", paths=()),
    "_tag": _token("meta.tag"),
    "identifier": _token("identifier"),
}
_PERSON: dict[str, Param] = {
    "name": Param(kind="name", paths=("name",)),
    "phone": Param(kind="phone", paths=("telecom",)),
    "active": _token("active"),
    "gender": _token("gender"),
    "birthdate": _date("birthDate"),
}
_SUBJECT: dict[str, Param] = {"subject": _ref("subject"), "patient": _patient("subject")}
_STATUS: dict[str, Param] = {"status": _token("status")}
_OWN_STATUS = Param(kind="token", paths=("status",), own=True)
_PATIENT: dict[str, Param] = {"patient": _patient("patient")}
_ENCOUNTER: dict[str, Param] = {"encounter": _ref("encounter")}
_CLINICAL: dict[str, Param] = {
    "clinical-status": _token("clinicalStatus"),
    "verification-status": _token("verificationStatus"),
    "category": _token("category"),
    "code": _token("code"),
}

_TABLE: dict[str, dict[str, Param]] = {
    "Account": _SUBJECT | _STATUS,
    "AllergyIntolerance": _PATIENT
    | _CLINICAL
    | {"criticality": _token("criticality"), "date": _date("recordedDate")},
    "Appointment": _STATUS
    | {
        "patient": _patient("participant.actor"),
        "practitioner": _ref("participant.actor", target="Practitioner"),
        "actor": _ref("participant.actor"),
        "slot": _ref("slot"),
        "date": _date("start"),
    },
    "AuditEvent": {"entity": _ref("entity.what"), "agent": _ref("agent.who"), "date": _date("recorded")},
    "CarePlan": _SUBJECT | _STATUS | _ENCOUNTER | {"category": _token("category"), "date": _date("period")},
    "CareTeam": _SUBJECT | _STATUS | {"participant": _ref("participant.member")},
    "ChargeItem": _SUBJECT | {"account": _ref("account"), "status": _OWN_STATUS},
    "Communication": _SUBJECT | _STATUS | {"recipient": _ref("recipient"), "sent": _date("sent")},
    "Condition": _SUBJECT
    | _CLINICAL
    | _ENCOUNTER
    | {"onset-date": _date("onsetDateTime", "onsetPeriod"), "recorded-date": _date("recordedDate")},
    "Consent": _PATIENT | _STATUS | {"category": _token("category"), "date": _date("dateTime")},
    "Coverage": _STATUS | {"beneficiary": _ref("beneficiary"), "patient": _patient("beneficiary")},
    "DiagnosticReport": _SUBJECT
    | _STATUS
    | _ENCOUNTER
    | {
        "category": _token("category"),
        "code": _token("code"),
        "date": _date("effectiveDateTime", "effectivePeriod"),
        "issued": _date("issued"),
        "result": _ref("result"),
        "based-on": _ref("basedOn"),
    },
    "DocumentReference": _SUBJECT
    | _STATUS
    | {
        "type": _token("type"),
        "category": _token("category"),
        "date": _date("date"),
        "author": _ref("author"),
        "encounter": _ref("context.encounter"),
    },
    "Encounter": _SUBJECT
    | _STATUS
    | {"class": _token("class"), "date": _date("period"), "participant": _ref("participant.individual")},
    "FamilyMemberHistory": _PATIENT | _STATUS,
    "Flag": _SUBJECT
    | {"status": _OWN_STATUS}
    | _ENCOUNTER
    | {"date": _date("period"), "author": _ref("author")},
    "Goal": _SUBJECT | {"lifecycle-status": _token("lifecycleStatus"), "start-date": _date("startDate")},
    "ImagingStudy": _SUBJECT | _STATUS | {"started": _date("started"), "modality": _token("modality")},
    "Immunization": _PATIENT
    | _STATUS
    | {"date": _date("occurrenceDateTime"), "vaccine-code": _token("vaccineCode")},
    "Invoice": _SUBJECT | _STATUS | {"account": _ref("account"), "date": _date("date")},
    "Location": {"name": Param(kind="name", paths=("name",)), "status": _token("status")},
    "MedicationAdministration": _SUBJECT
    | _STATUS
    | {"request": _ref("request"), "effective-time": _date("effectiveDateTime", "effectivePeriod")},
    "MedicationDispense": _SUBJECT
    | _STATUS
    | {
        "prescription": _ref("authorizingPrescription"),
        "whenhandedover": _date("whenHandedOver"),
        "whenprepared": _date("whenPrepared"),
    },
    "MedicationRequest": _SUBJECT
    | _STATUS
    | _ENCOUNTER
    | {
        "intent": _token("intent"),
        "code": _token("medicationCodeableConcept"),
        "category": _token("category"),
        "authoredon": _date("authoredOn"),
        "requester": _ref("requester"),
    },
    "MedicationStatement": _SUBJECT | _STATUS | {"effective": _date("effectiveDateTime", "effectivePeriod")},
    "Observation": _SUBJECT
    | _STATUS
    | _ENCOUNTER
    | {
        "category": _token("category"),
        "code": _token("code"),
        "date": _date("effectiveDateTime", "effectivePeriod", "effectiveInstant"),
        "based-on": _ref("basedOn"),
    },
    "Organization": {"name": Param(kind="name", paths=("name", "alias")), "active": _token("active")},
    "Patient": _PERSON | {"identifier": Param(kind="folded", paths=("identifier",))},
    "Practitioner": _PERSON | {"birthdate": Param(kind="date", paths=("birthDate",), own=True)},
    "PractitionerRole": {
        "practitioner": _ref("practitioner"),
        "organization": _ref("organization"),
        "role": _token("code"),
        "specialty": _token("specialty"),
        "active": _token("active"),
    },
    "Procedure": _SUBJECT
    | _STATUS
    | {"date": _date("performedDateTime", "performedPeriod"), "code": _token("code")},
    "Provenance": {
        "target": _ref("target"),
        "patient": _patient("target"),
        "agent": _ref("agent.who"),
        "recorded": _date("recorded"),
    },
    "Schedule": {"actor": _ref("actor"), "active": _token("active"), "date": _date("planningHorizon")},
    "ServiceRequest": _SUBJECT
    | _STATUS
    | _ENCOUNTER
    | {
        "intent": _token("intent"),
        "code": _token("code"),
        "category": _token("category"),
        "authored": _date("authoredOn"),
        "based-on": _ref("basedOn"),
    },
    "Slot": _STATUS | {"schedule": _ref("schedule"), "start": _date("start")},
    "Specimen": _SUBJECT | _STATUS,
    "Task": {
        "patient": _patient("for"),
        "subject": _ref("for"),
        "status": _token("status"),
        "focus": _ref("focus"),
        "based-on": _ref("basedOn"),
        "owner": _ref("owner"),
        "code": _token("code"),
        "authored-on": _date("authoredOn"),
    },
}


_BY_TYPE: dict[str, dict[str, Param]] = {name: _COMMON | own for name, own in _TABLE.items()}


def params_of(resource_type: str) -> dict[str, Param]:
    """The search parameters of a type by name; a type without a row has the common ones only."""
    return _BY_TYPE.get(resource_type, _COMMON)
