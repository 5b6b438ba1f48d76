"""Write profiles of what is known about a patient: problems, plans, measurements, vaccinations, reports."""

from __future__ import annotations

from condor_hms.fhir.profile import ANY, CLINICIANS, NEW_PATIENT, SHARED_CODES, Profile, States, moves

__all__ = ["CLINICAL_PROFILES"]

_PEOPLE = (*CLINICIANS, "Patient", "RelatedPerson")
_CARERS = (*_PEOPLE, "Device", "Organization", "CareTeam")
_REASONS = ("Condition", "Observation", "DiagnosticReport", "DocumentReference")

_CONDITION = Profile(
    codes=SHARED_CODES,
    concepts={"clinicalStatus": "condition-clinical", "verificationStatus": "condition-ver-status"},
    targets={
        # R4 also allows Group; a problem of ours is one patient's.
        "subject": ("Patient",),
        "encounter": ("Encounter",),
        "recorder": _PEOPLE,
        "asserter": _PEOPLE,
        "stage.assessment": ("ClinicalImpression", "DiagnosticReport", "Observation"),
        "evidence.detail": ANY,
    },
    literal=("subject",),
    # R4 has code 0..1; ours: a problem that is not named is none.
    spoken=("code",),
    fixed={"subject.reference": NEW_PATIENT},
    states=States(path="verificationStatus", moves=moves({"entered-in-error": ""})),
)

_CARE_PLAN = Profile(
    codes={
        "status": "request-status",
        "intent": "care-plan-intent",
        "activity.detail.kind": "care-plan-activity-kind",
        "activity.detail.status": "care-plan-activity-status",
        **SHARED_CODES,
    },
    targets={
        "basedOn": ("CarePlan",),
        "replaces": ("CarePlan",),
        "partOf": ("CarePlan",),
        "subject": ("Patient",),
        "encounter": ("Encounter",),
        "author": _CARERS,
        "contributor": _CARERS,
        "careTeam": ("CareTeam",),
        "addresses": ("Condition",),
        "supportingInfo": ANY,
        "goal": ("Goal",),
        "activity.outcomeReference": ANY,
        "activity.reference": (
            *("Appointment", "CommunicationRequest", "DeviceRequest", "MedicationRequest", "NutritionOrder"),
            *("Task", "ServiceRequest", "VisionPrescription", "RequestGroup"),
        ),
        "activity.detail.reasonReference": _REASONS,
        "activity.detail.goal": ("Goal",),
        "activity.detail.location": ("Location",),
        "activity.detail.performer": (*_CARERS, "HealthcareService"),
        "activity.detail.productReference": ("Medication", "Substance"),
    },
    literal=("subject",),
    fixed={"subject.reference": NEW_PATIENT, "intent": "a plan stays what it is: make another one"},
    states=States(
        path="status",
        moves=moves(
            {
                "draft": "draft active revoked entered-in-error",
                "active": "active on-hold completed revoked entered-in-error",
                "on-hold": "on-hold active completed revoked entered-in-error",
                "completed": "entered-in-error",
                "revoked": "entered-in-error",
                "entered-in-error": "",
            }
        ),
    ),
)

_OBSERVATION = Profile(
    codes={"status": "observation-status", "valueQuantity.comparator": "quantity-comparator", **SHARED_CODES},
    targets={
        "basedOn": (
            *("CarePlan", "DeviceRequest", "ImmunizationRecommendation", "MedicationRequest"),
            *("NutritionOrder", "ServiceRequest"),
        ),
        "partOf": (
            *("MedicationAdministration", "MedicationDispense", "MedicationStatement", "Procedure"),
            *("Immunization", "ImagingStudy"),
        ),
        # R4 also allows Group, Device and Location; a measurement of ours is one patient's.
        "subject": ("Patient",),
        "focus": ANY,
        "encounter": ("Encounter",),
        "performer": (*_PEOPLE, "Organization", "CareTeam"),
        "specimen": ("Specimen",),
        "device": ("Device", "DeviceMetric"),
        "hasMember": ("Observation", "QuestionnaireResponse", "MolecularSequence"),
        "derivedFrom": (
            *("DocumentReference", "ImagingStudy", "Media", "QuestionnaireResponse", "Observation"),
            "MolecularSequence",
        ),
    },
    # R4 has subject 0..1; ours: a number belongs to somebody.
    literal=("subject",),
    others=("focus",),
    spoken=("code",),
    fixed={
        "subject.reference": NEW_PATIENT,
        "code": "a measurement stays what it measures: mark this one entered-in-error and record a new one",
        "effectiveDateTime": "a measurement stays when it was: void this one and record a new one",
    },
    states=States(
        path="status",
        moves=moves(
            {
                "final": "amended corrected entered-in-error",
                "amended": "amended corrected entered-in-error",
                "corrected": "amended corrected entered-in-error",
                "cancelled": "entered-in-error",
                "entered-in-error": "",
            }
        ),
    ),
)

_IMMUNIZATION = Profile(
    codes={"status": "immunization-status", **SHARED_CODES},
    targets={
        "patient": ("Patient",),
        "encounter": ("Encounter",),
        "location": ("Location",),
        "manufacturer": ("Organization",),
        "performer.actor": (*CLINICIANS, "Organization"),
        "reasonReference": ("Condition", "Observation", "DiagnosticReport"),
        "reaction.detail": ("Observation",),
        "protocolApplied.authority": ("Organization",),
    },
    literal=("patient",),
    spoken=("vaccineCode",),
    fixed={
        "patient.reference": NEW_PATIENT,
        "vaccineCode": "a vaccination stays what was given: mark it entered-in-error and record a new one",
    },
    states=States(path="status", moves=moves({"entered-in-error": ""})),
)

_MEDICATION_STATEMENT = Profile(
    codes={"status": "medication-statement-status", **SHARED_CODES},
    targets={
        "basedOn": ("MedicationRequest", "CarePlan", "ServiceRequest"),
        "partOf": (
            *("MedicationAdministration", "MedicationDispense", "MedicationStatement", "Procedure"),
            "Observation",
        ),
        "medicationReference": ("Medication",),
        "subject": ("Patient",),
        "context": ("Encounter", "EpisodeOfCare"),
        "informationSource": (*_PEOPLE, "Organization"),
        "derivedFrom": ANY,
        "reasonReference": ("Condition", "Observation", "DiagnosticReport"),
    },
    literal=("subject", "medicationReference"),
    spoken=("medicationCodeableConcept",),
    fixed={"subject.reference": NEW_PATIENT},
    states=States(path="status", moves=moves({"entered-in-error": ""})),
)

#: By FHIR type.
CLINICAL_PROFILES: dict[str, Profile] = {
    "CarePlan": _CARE_PLAN,
    "Condition": _CONDITION,
    "Immunization": _IMMUNIZATION,
    "MedicationStatement": _MEDICATION_STATEMENT,
    "Observation": _OBSERVATION,
}
