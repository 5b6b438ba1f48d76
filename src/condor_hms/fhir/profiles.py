"""Write profiles: what the hospital layer demands of the types it writes, beyond the structure of R4.

A profile is data: code bindings, reference targets, elements we demand, states and the moves between
them, and elements that never change. Rules that need code stand in `profile_rules`.
"""

from __future__ import annotations

from condor_hms.fhir.profile import (
    AGENTS,
    ANY,
    CLINICIANS,
    NEW_PATIENT,
    SHARED_CODES,
    Profile,
    States,
    moves,
)
from condor_hms.fhir.profiles_clinical import CLINICAL_PROFILES
from condor_hms.fhir.profiles_office import OFFICE_PROFILES

__all__ = ["PROFILES", "Profile", "States"]

_NEW_ORDER = "an order cannot become another order: stop this one and write a new one"


_ALLERGY = Profile(
    codes={
        "type": "allergy-intolerance-type",
        "category": "allergy-intolerance-category",
        "criticality": "allergy-intolerance-criticality",
        "reaction.severity": "reaction-event-severity",
        **SHARED_CODES,
    },
    concepts={
        "clinicalStatus": "allergyintolerance-clinical",
        "verificationStatus": "allergyintolerance-verification",
    },
    targets={
        "patient": ("Patient",),
        "encounter": ("Encounter",),
        "recorder": ("Practitioner", "PractitionerRole", "Patient", "RelatedPerson"),
        "asserter": ("Patient", "RelatedPerson", "Practitioner", "PractitionerRole"),
    },
    literal=("patient",),
    # R4 has code 0..1; ours and US Core: 1..1. An allergy to nothing protects nobody.
    spoken=("code", "reaction.manifestation"),
    fixed={"patient.reference": NEW_PATIENT},
    states=States(path="verificationStatus", moves=moves({"entered-in-error": ""})),
)

_MEDICATION_REQUEST = Profile(
    codes={
        "status": "medicationrequest-status",
        "intent": "medicationrequest-intent",
        "priority": "request-priority",
        "dosageInstruction.timing.repeat.periodUnit": "units-of-time",
        "dosageInstruction.timing.repeat.durationUnit": "units-of-time",
        "dosageInstruction.timing.repeat.dayOfWeek": "days-of-week",
        "dosageInstruction.doseAndRate.doseQuantity.comparator": "quantity-comparator",
        **SHARED_CODES,
    },
    targets={
        "reportedReference": ("Patient", "Practitioner", "PractitionerRole", "RelatedPerson", "Organization"),
        "medicationReference": ("Medication",),
        # R4 also allows Group; an order of ours is for one patient.
        "subject": ("Patient",),
        "encounter": ("Encounter",),
        "supportingInformation": ANY,
        "requester": (*CLINICIANS, "Organization", "Patient", "RelatedPerson", "Device"),
        "performer": (*CLINICIANS, "Organization", "Patient", "Device", "RelatedPerson", "CareTeam"),
        "recorder": CLINICIANS,
        "reasonReference": ("Condition", "Observation"),
        "basedOn": ("CarePlan", "MedicationRequest", "ServiceRequest", "ImmunizationRecommendation"),
        "insurance": ("Coverage", "ClaimResponse"),
        "dispenseRequest.performer": ("Organization",),
        "priorPrescription": ("MedicationRequest",),
        "detectedIssue": ("DetectedIssue",),
        "eventHistory": ("Provenance",),
    },
    literal=("subject", "medicationReference", "priorPrescription"),
    spoken=("medicationCodeableConcept",),
    fixed={
        "subject.reference": NEW_PATIENT,
        "intent": _NEW_ORDER,
        "medicationCodeableConcept": _NEW_ORDER,
        "medicationReference.reference": _NEW_ORDER,
    },
    states=States(
        path="status",
        moves=moves(
            {
                "draft": "draft active cancelled entered-in-error",
                "active": "active on-hold completed stopped cancelled entered-in-error",
                "on-hold": "on-hold active completed stopped cancelled entered-in-error",
                "completed": "entered-in-error",
                "stopped": "entered-in-error",
                "cancelled": "entered-in-error",
                "entered-in-error": "",
            }
        ),
    ),
)

_FLAG = Profile(
    codes={"status": "flag-status", **SHARED_CODES},
    targets={
        "subject": (
            "Patient",
            "Location",
            "Group",
            "Organization",
            "Practitioner",
            "PlanDefinition",
            "Medication",
            "Procedure",
        ),
        "encounter": ("Encounter",),
        "author": ("Device", "Organization", "Patient", "Practitioner", "PractitionerRole"),
    },
    literal=("subject",),
    spoken=("code",),
    fixed={"subject.reference": NEW_PATIENT},
    states=States(path="status", moves=moves({"entered-in-error": ""})),
)

_SERVICE_REQUEST = Profile(
    codes={
        "status": "request-status",
        "intent": "request-intent",
        "priority": "request-priority",
        **SHARED_CODES,
    },
    targets={
        # R4 also allows Group, Location and Device; an order of ours is for one patient.
        "subject": ("Patient",),
        "encounter": ("Encounter",),
        "requester": (*CLINICIANS, "Organization", "Patient", "RelatedPerson", "Device"),
        "performer": (*AGENTS, "CareTeam", "HealthcareService"),
        "reasonReference": ("Condition", "Observation", "DiagnosticReport", "DocumentReference"),
        "basedOn": ("CarePlan", "ServiceRequest", "MedicationRequest"),
        "replaces": ("ServiceRequest",),
        "specimen": ("Specimen",),
        "insurance": ("Coverage", "ClaimResponse"),
        "supportingInfo": ANY,
        "relevantHistory": ("Provenance",),
        "locationReference": ("Location",),
    },
    literal=("subject",),
    # R4 has code 0..1; ours: an order for nothing is none.
    spoken=("code",),
    fixed={"subject.reference": NEW_PATIENT, "intent": _NEW_ORDER, "code": _NEW_ORDER},
    states=States(
        path="status",
        moves=moves(
            {
                "draft": "draft active revoked entered-in-error",
                "active": "active on-hold completed revoked entered-in-error",
                "on-hold": "on-hold active completed revoked entered-in-error",
                # A duplicate may be found out after its twin was done.
                "completed": "revoked entered-in-error",
                "revoked": "entered-in-error",
                "entered-in-error": "",
            }
        ),
    ),
)

_APPOINTMENT = Profile(
    codes={
        "status": "appointmentstatus",
        "participant.status": "participationstatus",
        "participant.required": "participantrequired",
        **SHARED_CODES,
    },
    targets={
        "slot": ("Slot",),
        "basedOn": ("ServiceRequest",),
        "reasonReference": ("Condition", "Procedure", "Observation", "ImmunizationRecommendation"),
        "supportingInformation": ANY,
        "participant.actor": (
            "Patient",
            *CLINICIANS,
            "RelatedPerson",
            "Device",
            "HealthcareService",
            "Location",
        ),
    },
    literal=("slot",),
    states=States(
        path="status",
        moves=moves(
            {
                "booked": "booked arrived checked-in fulfilled cancelled noshow entered-in-error",
                "cancelled": "entered-in-error",
                "fulfilled": "entered-in-error",
                "noshow": "entered-in-error",
                "entered-in-error": "",
            }
        ),
    ),
)

_SLOT = Profile(
    codes={"status": "slotstatus", **SHARED_CODES},
    targets={"schedule": ("Schedule",)},
    literal=("schedule",),
    fixed={
        "schedule.reference": "a slot stays in its schedule: make another one",
        "start": "a slot cannot move: make another one",
        "end": "a slot cannot move: make another one",
    },
    states=States(path="status", moves=moves({"entered-in-error": ""})),
)

_TASK = Profile(
    codes={
        "status": "task-status",
        "intent": "task-intent",
        "priority": "request-priority",
        **SHARED_CODES,
    },
    targets={
        "for": ("Patient",),
        "focus": ANY,
        "basedOn": ANY,
        "partOf": ("Task",),
        "encounter": ("Encounter",),
        "requester": AGENTS,
        "owner": (*AGENTS, "CareTeam", "HealthcareService"),
        "location": ("Location",),
        "reasonReference": ANY,
        "insurance": ("Coverage", "ClaimResponse"),
        "relevantHistory": ("Provenance",),
        "restriction.recipient": (*CLINICIANS, "Patient", "RelatedPerson", "Group", "Organization"),
    },
    literal=("for",),
    fixed={"for.reference": NEW_PATIENT},
    states=States(
        path="status",
        moves=moves(
            {
                "rejected": "entered-in-error",
                "cancelled": "entered-in-error",
                "failed": "entered-in-error",
                "completed": "entered-in-error",
                "entered-in-error": "",
            }
        ),
    ),
)

_PROVENANCE = Profile(
    codes={"entity.role": "provenance-entity-role"},
    targets={
        "target": ANY,
        "location": ("Location",),
        "agent.who": AGENTS,
        "agent.onBehalfOf": AGENTS,
        "entity.what": ANY,
        "signature.who": AGENTS,
        "signature.onBehalfOf": AGENTS,
    },
    literal=("target",),
    append_only=True,
)

#: By FHIR type. A type without a profile is checked for structure only.
PROFILES: dict[str, Profile] = {
    "AllergyIntolerance": _ALLERGY,
    "MedicationRequest": _MEDICATION_REQUEST,
    "Appointment": _APPOINTMENT,
    "Flag": _FLAG,
    "Provenance": _PROVENANCE,
    "ServiceRequest": _SERVICE_REQUEST,
    "Slot": _SLOT,
    "Task": _TASK,
    **CLINICAL_PROFILES,
    **OFFICE_PROFILES,
}
