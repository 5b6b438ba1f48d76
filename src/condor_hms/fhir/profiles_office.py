"""Write profiles of what is kept about the work: documents, messages, bills, the audit."""

from __future__ import annotations

from condor_hms.fhir.profile import AGENTS, ANY, CLINICIANS, NEW_PATIENT, SHARED_CODES, Profile, States, moves

__all__ = ["OFFICE_PROFILES"]

_DOCUMENT_REFERENCE = Profile(
    codes={
        "status": "document-reference-status",
        "docStatus": "composition-status",
        "relatesTo.code": "document-relationship-type",
        **SHARED_CODES,
    },
    targets={
        # R4 also allows Practitioner, Group and Device; a document of ours is about one patient.
        "subject": ("Patient",),
        "author": AGENTS,
        "authenticator": (*CLINICIANS, "Organization"),
        "custodian": ("Organization",),
        "relatesTo.target": ("DocumentReference",),
        "context.encounter": ("Encounter", "EpisodeOfCare"),
        "context.sourcePatientInfo": ("Patient",),
        "context.related": ANY,
    },
    literal=("subject",),
    # R4 has type 0..1; ours: a document says what it is.
    spoken=("type",),
    fixed={"subject.reference": NEW_PATIENT},
    states=States(
        path="status", moves=moves({"superseded": "superseded entered-in-error", "entered-in-error": ""})
    ),
)

_COMMUNICATION = Profile(
    codes={"status": "event-status", "priority": "request-priority", **SHARED_CODES},
    targets={
        "basedOn": ANY,
        "partOf": ANY,
        "inResponseTo": ("Communication",),
        "subject": ("Patient",),
        "about": ANY,
        "encounter": ("Encounter",),
        "recipient": (*AGENTS, "Group", "CareTeam", "HealthcareService"),
        "sender": (*AGENTS, "HealthcareService"),
        "reasonReference": ("Condition", "Observation", "DiagnosticReport", "DocumentReference"),
        "payload.contentReference": ANY,
    },
    literal=("recipient",),
    fixed={
        "recipient": "a message stays with whom it was approved for: send another one",
        "payload": "a message stays as it was approved: send another one",
    },
    states=States(
        path="status",
        moves=moves(
            {
                "preparation": "preparation in-progress not-done on-hold stopped completed entered-in-error",
                "in-progress": "in-progress stopped completed entered-in-error",
                "completed": "entered-in-error",
                "stopped": "entered-in-error",
                "not-done": "entered-in-error",
                "entered-in-error": "",
            }
        ),
    ),
)

_INVOICE = Profile(
    codes={
        "status": "invoice-status",
        "lineItem.priceComponent.type": "invoice-priceComponentType",
        "totalPriceComponent.type": "invoice-priceComponentType",
        **SHARED_CODES,
    },
    targets={
        "subject": ("Patient",),
        "recipient": ("Organization", "Patient", "RelatedPerson"),
        "participant.actor": (*CLINICIANS, "Organization", "Patient", "Device", "RelatedPerson"),
        "issuer": ("Organization",),
        "account": ("Account",),
        "lineItem.chargeItemReference": ("ChargeItem",),
    },
    literal=("subject", "lineItem.chargeItemReference"),
    fixed={"subject.reference": NEW_PATIENT},
    states=States(
        path="status",
        moves=moves(
            {
                "draft": "draft issued cancelled entered-in-error",
                "issued": "issued balanced cancelled entered-in-error",
                "balanced": "balanced cancelled entered-in-error",
                "cancelled": "entered-in-error",
                "entered-in-error": "",
            }
        ),
    ),
)

_CHARGE_ITEM = Profile(
    codes={"status": "chargeitem-status", **SHARED_CODES},
    targets={
        "partOf": ("ChargeItem",),
        "subject": ("Patient",),
        "context": ("Encounter", "EpisodeOfCare"),
        "performer.actor": (*AGENTS, "CareTeam"),
        "performingOrganization": ("Organization",),
        "requestingOrganization": ("Organization",),
        "costCenter": ("Organization",),
        "enterer": AGENTS,
        "service": (
            *("DiagnosticReport", "ImagingStudy", "Immunization", "MedicationAdministration"),
            *("MedicationDispense", "Observation", "Procedure", "SupplyDelivery"),
        ),
        "productReference": ("Device", "Medication", "Substance"),
        "account": ("Account",),
        "supportingInformation": ANY,
    },
    literal=("subject",),
    spoken=("code",),
    fixed={"subject.reference": NEW_PATIENT},
    states=States(path="status", moves=moves({"entered-in-error": ""})),
)

_AUDIT_EVENT = Profile(
    codes={
        "action": "audit-event-action",
        "outcome": "audit-event-outcome",
        "agent.network.type": "network-type",
        "text.status": "narrative-status",
    },
    targets={
        "agent.who": AGENTS,
        "agent.location": ("Location",),
        "source.observer": AGENTS,
        "entity.what": ANY,
    },
    append_only=True,
)

#: By FHIR type.
OFFICE_PROFILES: dict[str, Profile] = {
    "AuditEvent": _AUDIT_EVENT,
    "ChargeItem": _CHARGE_ITEM,
    "Communication": _COMMUNICATION,
    "DocumentReference": _DOCUMENT_REFERENCE,
    "Invoice": _INVOICE,
}
