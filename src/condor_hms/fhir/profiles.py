"""Write profiles: what this slice demands of the types it writes, beyond the structure of R4.

A profile is data: code bindings, reference targets, elements we demand, states and the moves between
them, and elements that never change. Rules that need code stand in `profile_rules`.
"""

from __future__ import annotations

from dataclasses import dataclass, field

__all__ = ["PROFILES", "Profile", "States"]

_AGENTS = ("Practitioner", "PractitionerRole", "RelatedPerson", "Patient", "Device", "Organization")
_CLINICIANS = ("Practitioner", "PractitionerRole")
#: Stands for any type: the element may point at everything that exists.
_ANY = ("Resource",)


@dataclass(frozen=True, slots=True, kw_only=True)
class States:
    """The states of a resource and where each may go; a state that is no key may go anywhere."""

    #: Dotted path of the state; a CodeableConcept counts by the code of the bound system.
    path: str
    #: Allowed next states by state. An empty set is terminal: nothing may change any more.
    moves: dict[str, frozenset[str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """The write profile of one type. Paths are dotted, without the type and without indices."""

    #: Value set name by path of a `code` element.
    codes: dict[str, str] = field(default_factory=dict)
    #: Value set name by path of a CodeableConcept element: one coding must be of the set.
    concepts: dict[str, str] = field(default_factory=dict)
    #: Reference targets by path of a Reference. Source: R4 StructureDefinitions; narrower where noted.
    targets: dict[str, tuple[str, ...]] = field(default_factory=dict)
    #: References that must be literal (`Type/id`), never only a display or an identifier.
    literal: tuple[str, ...] = ()
    #: CodeableConcepts that must say something: a text, a code or a display.
    spoken: tuple[str, ...] = ()
    #: Paths that an update may not change, with the advice that goes with it.
    fixed: dict[str, str] = field(default_factory=dict)
    #: The state machine; None where the type has none.
    states: States | None = None
    #: A version, once written, is final: no update at all.
    append_only: bool = False


_NEW_PATIENT = "a record cannot move to another patient: mark this one entered-in-error and write a new one"
_NEW_ORDER = "an order cannot become another order: stop this one and write a new one"
_SHARED_CODES = {"identifier.use": "identifier-use", "text.status": "narrative-status"}


def _moves(table: dict[str, str]) -> dict[str, frozenset[str]]:
    return {state: frozenset(following.split()) for state, following in table.items()}


_ALLERGY = Profile(
    codes={
        "type": "allergy-intolerance-type",
        "category": "allergy-intolerance-category",
        "criticality": "allergy-intolerance-criticality",
        "reaction.severity": "reaction-event-severity",
        **_SHARED_CODES,
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
    fixed={"patient.reference": _NEW_PATIENT},
    states=States(path="verificationStatus", moves=_moves({"entered-in-error": ""})),
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
        **_SHARED_CODES,
    },
    targets={
        "reportedReference": ("Patient", "Practitioner", "PractitionerRole", "RelatedPerson", "Organization"),
        "medicationReference": ("Medication",),
        # R4 also allows Group; an order of ours is for one patient.
        "subject": ("Patient",),
        "encounter": ("Encounter",),
        "supportingInformation": _ANY,
        "requester": (*_CLINICIANS, "Organization", "Patient", "RelatedPerson", "Device"),
        "performer": (*_CLINICIANS, "Organization", "Patient", "Device", "RelatedPerson", "CareTeam"),
        "recorder": _CLINICIANS,
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
        "subject.reference": _NEW_PATIENT,
        "intent": _NEW_ORDER,
        "medicationCodeableConcept": _NEW_ORDER,
        "medicationReference.reference": _NEW_ORDER,
    },
    states=States(
        path="status",
        moves=_moves(
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
    codes={"status": "flag-status", **_SHARED_CODES},
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
    fixed={"subject.reference": _NEW_PATIENT},
    states=States(path="status", moves=_moves({"entered-in-error": ""})),
)

_SERVICE_REQUEST = Profile(
    codes={
        "status": "request-status",
        "intent": "request-intent",
        "priority": "request-priority",
        **_SHARED_CODES,
    },
    targets={
        # R4 also allows Group, Location and Device; an order of ours is for one patient.
        "subject": ("Patient",),
        "encounter": ("Encounter",),
        "requester": (*_CLINICIANS, "Organization", "Patient", "RelatedPerson", "Device"),
        "performer": (*_AGENTS, "CareTeam", "HealthcareService"),
        "reasonReference": ("Condition", "Observation", "DiagnosticReport", "DocumentReference"),
        "basedOn": ("CarePlan", "ServiceRequest", "MedicationRequest"),
        "replaces": ("ServiceRequest",),
        "specimen": ("Specimen",),
        "insurance": ("Coverage", "ClaimResponse"),
        "supportingInfo": _ANY,
        "relevantHistory": ("Provenance",),
        "locationReference": ("Location",),
    },
    literal=("subject",),
    # R4 has code 0..1; ours: an order for nothing is none.
    spoken=("code",),
    fixed={"subject.reference": _NEW_PATIENT, "intent": _NEW_ORDER, "code": _NEW_ORDER},
    states=States(
        path="status",
        moves=_moves(
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
        **_SHARED_CODES,
    },
    targets={
        "slot": ("Slot",),
        "basedOn": ("ServiceRequest",),
        "reasonReference": ("Condition", "Procedure", "Observation", "ImmunizationRecommendation"),
        "supportingInformation": _ANY,
        "participant.actor": (
            "Patient",
            *_CLINICIANS,
            "RelatedPerson",
            "Device",
            "HealthcareService",
            "Location",
        ),
    },
    literal=("slot",),
    states=States(
        path="status",
        moves=_moves(
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
    codes={"status": "slotstatus", **_SHARED_CODES},
    targets={"schedule": ("Schedule",)},
    literal=("schedule",),
    fixed={
        "schedule.reference": "a slot stays in its schedule: make another one",
        "start": "a slot cannot move: make another one",
        "end": "a slot cannot move: make another one",
    },
    states=States(path="status", moves=_moves({"entered-in-error": ""})),
)

_TASK = Profile(
    codes={
        "status": "task-status",
        "intent": "task-intent",
        "priority": "request-priority",
        **_SHARED_CODES,
    },
    targets={
        "for": ("Patient",),
        "focus": _ANY,
        "basedOn": _ANY,
        "partOf": ("Task",),
        "encounter": ("Encounter",),
        "requester": _AGENTS,
        "owner": (*_AGENTS, "CareTeam", "HealthcareService"),
        "location": ("Location",),
        "reasonReference": _ANY,
        "insurance": ("Coverage", "ClaimResponse"),
        "relevantHistory": ("Provenance",),
    },
    literal=("for",),
    fixed={"for.reference": _NEW_PATIENT},
    states=States(
        path="status",
        moves=_moves(
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
        "target": _ANY,
        "location": ("Location",),
        "agent.who": _AGENTS,
        "agent.onBehalfOf": _AGENTS,
        "entity.what": _ANY,
        "signature.who": _AGENTS,
        "signature.onBehalfOf": _AGENTS,
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
}
