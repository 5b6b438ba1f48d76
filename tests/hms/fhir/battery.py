"""Kinds of malformed writes, from the rules of FHIR R4 and of a hospital, kept aside from the validator.

Written from https://hl7.org/fhir/R4 before the validator was looked at, so that it says what a checker by
trade would try, not what this one happens to know. On the first try 45 of the 63 kinds were refused by the
path of the element (47 where the path of the request counts); the rest were mended by rules of data types,
narratives, contained resources, units and patients, not kind by kind. Each kind spoils one element of a
write that is accepted as it stands; what is asked for is a refusal that names that element.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tests.hms.fhir.support import EXAMPLES, FALLS, JOHN, bundle

if TYPE_CHECKING:
    from condor_hms.fhir.port import Resource

#: As a value: the element is taken away.
GONE = object()

HUGE = "a" * (1024 * 1024 + 1)
DOSE = ("dosageInstruction", 0, "doseAndRate", 0, "doseQuantity")
RATE = ("dosageInstruction", 0, "doseAndRate", 0)
#: Of the request: a resource goes where its type says.
_URL = "Bundle.entry.request.url"
_DOSE_PATH = "dosageInstruction.doseAndRate.doseQuantity.value"
UCUM = "http://unitsofmeasure.org"
ALLERGY_CLINICAL = "http://terminology.hl7.org/CodeSystem/allergyintolerance-clinical"
#: A condition of Melissa Smith.
MELISSAS_CONDITION = "Condition/cond-905b12cb0266"


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """One kind of mistake in one element of one type."""

    #: A slug of its own.
    name: str
    #: The rule that is broken, by its place in FHIR R4, or ours.
    rule: str
    #: The tool whose example write is spoiled, and the type of the resource in it.
    tool: str
    resource_type: str
    #: Element by its steps → what stands there instead.
    edits: dict[tuple[str | int, ...], Any]
    #: Paths without indexes, of which a refusal has to name one (or a part of it).
    paths: tuple[str, ...]

    def resource(self) -> Resource:
        """The spoiled resource, as a new one."""
        found = example(self.tool, self.resource_type)
        for steps, value in self.edits.items():
            at: Any = found
            for step in steps[:-1]:
                at = at[step]
            if value is GONE:
                del at[steps[-1]]
            else:
                at[steps[-1]] = value
        return found

    def write(self) -> Resource:
        """The transaction with the spoiled resource as a create."""
        return create(self.resource(), self.resource_type)


def example(tool: str, resource_type: str) -> Resource:
    """A resource of an example write, as a new one without an id and without its key."""
    for case in EXAMPLES[tool]:
        for entry in case["bundle"]["entry"]:
            if entry["resource"]["resourceType"] == resource_type:
                found: Resource = json.loads(json.dumps(entry["resource"]))
                for name in ("id", "identifier"):
                    found.pop(name, None)
                if resource_type == "Provenance":
                    found["target"] = [{"reference": FALLS}]
                return found
    msg = f"no {resource_type} in the example writes of {tool}"
    raise LookupError(msg)


def create(resource: Resource, resource_type: str) -> Resource:
    return bundle({"resource": resource, "request": {"method": "POST", "url": resource_type}})


def kind(
    name: str,
    rule: str,
    tool: str,
    resource_type: str,
    edits: dict[tuple[str | int, ...], Any],
    *paths: str,
) -> Kind:
    full = tuple(path if path == _URL else f"{resource_type}.{path}".rstrip(".") for path in paths)
    return Kind(name=name, rule=rule, tool=tool, resource_type=resource_type, edits=edits, paths=full)


_ORDER = ("medication.prescribe", "MedicationRequest")
_ALLERGY = ("allergy.record", "AllergyIntolerance")
_PROBLEM = ("condition.record", "Condition")
_PLAN = ("treatment.create", "CarePlan")
_VITALS = ("vitals.record", "Observation")
_NOTE = ("note.draft", "DocumentReference")
_VISIT = ("appointment.book", "Appointment")
_TASK = ("task.create", "Task")
_FLAG = ("flag.set", "Flag")
_MESSAGE = ("communication.send", "Communication")
_VACCINE = ("immunization.record", "Immunization")
_LAB = ("order.lab.create", "ServiceRequest")
_INVOICE = ("billing.invoice.update", "Invoice")
_CHARGE = ("billing.invoice.update", "ChargeItem")
_WHO = ("medication.prescribe", "Provenance")

#: JSON, data types, and elements: https://hl7.org/fhir/R4/json.html, …/datatypes.html
SHAPE = (
    kind("object-for-string", "datatypes", *_ALLERGY, {("code", "text"): {"a": 1}}, "code.text"),
    kind("unknown-field", "json", *_ORDER, {("dosage",): [{"text": "daily"}]}, "dosage"),
    kind("required-missing", "cardinality", *_ORDER, {("subject",): GONE}, "subject"),
    kind(
        "required-missing-inside",
        "cardinality",
        *_ALLERGY,
        {("reaction", 0, "manifestation"): GONE},
        "reaction.manifestation",
    ),
    kind("one-where-many", "cardinality", *_ALLERGY, {("category",): "medication"}, "category"),
    kind("many-where-one", "cardinality", *_TASK, {("description",): ["Repeat"]}, "description"),
    kind(
        "choice-twice",
        "choice of types",
        *_PROBLEM,
        {("onsetString",): "in June"},
        "onset",
        "onset[x]",
        "onsetString",
        "onsetDateTime",
    ),
    kind(
        "choice-of-no-such-type",
        "choice of types",
        *_PROBLEM,
        {("onsetDecimal",): 1.5},
        "onsetDecimal",
        "onset[x]",
    ),
    kind("empty-object", "json: no empty object", *_PROBLEM, {("code",): {}}, "code"),
    kind("empty-array", "json: no empty array", *_ORDER, {("reasonCode",): []}, "reasonCode"),
    kind("null", "json: no null", *_TASK, {("description",): None}, "description"),
    kind("number-as-string", "datatypes", *_ORDER, {(*DOSE, "value"): "100"}, _DOSE_PATH),
    kind("boolean-as-number", "datatypes", *_ORDER, {(*DOSE, "value"): True}, _DOSE_PATH),
    kind("no-finite-number", "datatypes", *_ORDER, {(*DOSE, "value"): float("inf")}, _DOSE_PATH),
    kind("boolean-as-string", "datatypes", *_VACCINE, {("primarySource",): "true"}, "primarySource"),
    kind(
        "wrong-type-in-backbone",
        "datatypes",
        *_ALLERGY,
        {("reaction", 0, "severity"): 3},
        "reaction.severity",
    ),
    kind(
        "positive-integer-zero",
        "datatypes: positiveInt",
        *_ORDER,
        {("dosageInstruction", 0, "timing", "repeat", "frequency"): 0},
        "dosageInstruction.timing.repeat.frequency",
    ),
    kind("blank-string", "datatypes: string", *_FLAG, {("code", "text"): "   "}, "code.text"),
    kind(
        "control-characters",
        "datatypes: string",
        *_MESSAGE,
        {("payload", 0, "contentString"): "a\u0007b"},
        "payload",
    ),
    kind("oversize-string", "datatypes: string, 1 MB", *_TASK, {("description",): HUGE}, "description"),
    kind(
        "uri-with-spaces",
        "datatypes: uri",
        *_LAB,
        {("code", "coding", 0, "system"): "not a uri"},
        "code.coding.system",
    ),
    kind(
        "code-with-spaces",
        "datatypes: code",
        *_LAB,
        {("code", "coding", 0, "code"): " 2823-3"},
        "code.coding.code",
    ),
    kind(
        "bad-base64",
        "datatypes: base64Binary",
        *_NOTE,
        {("content", 0, "attachment", "data"): "not base64!"},
        "content.attachment.data",
    ),
    kind("id-with-bad-characters", "datatypes: id", *_FLAG, {("id",): "flag_1/é"}, "id"),
    kind("other-resource-type", "http: create", *_FLAG, {("resourceType",): "Condition"}, _URL),
    kind("no-such-resource-type", "resource list", *_FLAG, {("resourceType",): "Banner"}, _URL),
)

#: Dates and times: https://hl7.org/fhir/R4/datatypes.html#dateTime
TIME = (
    kind(
        "date-that-is-not",
        "dateTime",
        *_PROBLEM,
        {("onsetDateTime",): "2026-02-30"},
        "onsetDateTime",
        "onset",
    ),
    kind(
        "date-in-local-notation",
        "dateTime",
        *_VACCINE,
        {("occurrenceDateTime",): "30/11/2026"},
        "occurrenceDateTime",
        "occurrence",
    ),
    kind("instant-without-zone", "instant", *_VISIT, {("start",): "2026-12-02T09:30:00"}, "start"),
    kind("time-without-zone", "dateTime", *_ORDER, {("authoredOn",): "2026-11-30T09:30:00"}, "authoredOn"),
    kind(
        "period-reversed",
        "per-1",
        *_PLAN,
        {("period",): {"start": "2026-11-30", "end": "2026-11-01"}},
        "period",
    ),
    kind("start-without-end", "app-2", *_VISIT, {("end",): GONE}, "end", "start", ""),
    kind(
        "end-before-start",
        "ours: a visit ends after it starts",
        *_VISIT,
        {("end",): "2026-12-02T08:00:00Z"},
        "end",
        "start",
    ),
)

#: Codes: https://hl7.org/fhir/R4/terminologies.html
CODES = (
    kind("code-of-no-value-set", "required binding", *_ORDER, {("status",): "bogus"}, "status"),
    kind("status-of-another-type", "required binding", *_LAB, {("status",): "preliminary"}, "status"),
    kind(
        "code-of-another-system",
        "required binding",
        *_ALLERGY,
        {("clinicalStatus", "coding", 0, "code"): "confirmed"},
        "clinicalStatus",
    ),
    kind(
        "system-of-nobody",
        "required binding",
        *_ALLERGY,
        {("clinicalStatus", "coding", 0, "system"): "http://example.org/codes"},
        "clinicalStatus",
    ),
    kind("bad-language", "bcp-47", *_NOTE, {("language",): "english please"}, "language"),
    kind(
        "currency-of-nobody",
        "required binding",
        *_CHARGE,
        {("priceOverride", "currency"): "DOLLARS"},
        "priceOverride.currency",
    ),
    kind(
        "unit-of-another-quantity",
        "profile bp: mm[Hg]",
        *_VITALS,
        {("component", 0, "valueQuantity", "code"): "kg", ("component", 0, "valueQuantity", "unit"): "kg"},
        "component.valueQuantity",
    ),
    kind(
        "duration-in-no-time-unit",
        "drt-1",
        *_ORDER,
        {("dispenseRequest", "expectedSupplyDuration", "code"): "mg"},
        "dispenseRequest.expectedSupplyDuration",
    ),
)

#: References: https://hl7.org/fhir/R4/references.html
REFERENCES = (
    kind("bare-id", "reference form", *_FLAG, {("subject", "reference"): "pt-bf0d2c068a08"}, "subject"),
    kind("dangling", "integrity", *_FLAG, {("subject", "reference"): "Patient/nobody"}, "subject"),
    kind(
        "type-that-may-not",
        "target",
        *_ALLERGY,
        {("patient", "reference"): "Practitioner/dr-okafor"},
        "patient",
    ),
    kind("type-beside", "ref type", *_FLAG, {("subject", "type"): "Practitioner"}, "subject"),
    kind(
        "of-another-patient",
        "ours: a reason is the same patient's",
        *_ORDER,
        {("subject", "reference"): JOHN, ("reasonReference",): [{"reference": MELISSAS_CONDITION}]},
        "reasonReference",
    ),
    kind("fragment-of-nothing", "ref-1", *_FLAG, {("author", "reference"): "#nobody"}, "author"),
    kind(
        "contained-and-unused",
        "dom-3",
        *_FLAG,
        {("contained",): [{"resourceType": "Practitioner", "id": "p1"}]},
        "contained",
    ),
)

#: Narrative, extensions, and what may not be ignored: …/narrative.html, …/extensibility.html
AROUND = (
    kind(
        "narrative-with-script",
        "txt-1",
        *_PROBLEM,
        {
            ("text",): {
                "status": "generated",
                "div": '<div xmlns="http://www.w3.org/1999/xhtml"><script>alert(1)</script></div>',
            }
        },
        "text",
    ),
    kind(
        "narrative-that-is-not-closed",
        "xhtml",
        *_PROBLEM,
        {("text",): {"status": "generated", "div": '<div xmlns="http://www.w3.org/1999/xhtml"><p>open'}},
        "text",
    ),
    kind("extension-without-url", "extension", *_FLAG, {("extension",): [{"valueString": "x"}]}, "extension"),
    kind(
        "extension-both-ways",
        "ext-1",
        *_FLAG,
        {
            ("extension",): [
                {"url": "http://a.b/c", "valueString": "x", "extension": [{"url": "d", "valueString": "y"}]}
            ]
        },
        "extension",
    ),
    kind(
        "modifier-nobody-knows",
        "modifierExtension must be understood",
        *_FLAG,
        {("modifierExtension",): [{"url": "http://a.b/not", "valueBoolean": True}]},
        "modifierExtension",
    ),
    kind(
        "rules-nobody-knows",
        "implicitRules must be understood",
        *_FLAG,
        {("implicitRules",): "http://a.b/rules"},
        "implicitRules",
    ),
)

#: What contradicts itself, or cannot be meant: invariants of the types, and of a hospital.
SENSE = (
    kind(
        "negative-dose",
        "ours",
        *_ORDER,
        {(*DOSE, "value"): -100},
        _DOSE_PATH,
        _DOSE_PATH.removesuffix(".value"),
    ),
    kind(
        "dose-range-reversed",
        "rng-2",
        *_ORDER,
        {
            (*RATE, "doseRange"): {
                "low": {"value": 200, "unit": "mg", "system": UCUM, "code": "mg"},
                "high": {"value": 100, "unit": "mg", "system": UCUM, "code": "mg"},
            },
            DOSE: GONE,
        },
        "dosageInstruction.doseAndRate.doseRange",
    ),
    kind(
        "period-without-unit",
        "tim-2",
        *_ORDER,
        {("dosageInstruction", 0, "timing", "repeat", "periodUnit"): GONE},
        "dosageInstruction.timing",
    ),
    kind(
        "over-and-still-active",
        "con-4",
        *_PROBLEM,
        {("abatementDateTime",): "2026-11-20"},
        "abatement",
        "abatement[x]",
        "abatementDateTime",
        "clinicalStatus",
    ),
    kind(
        "wrong-and-still-active",
        "ait-2",
        *_ALLERGY,
        {("verificationStatus", "coding", 0, "code"): "entered-in-error"},
        "clinicalStatus",
        "verificationStatus",
    ),
    kind(
        "value-and-no-value",
        "obs-6",
        *_VITALS,
        {("component", 0, "dataAbsentReason"): {"text": "unknown"}},
        "component",
    ),
    kind(
        "attachment-of-no-type",
        "att-1",
        *_NOTE,
        {("content", 0, "attachment", "contentType"): GONE},
        "content.attachment",
    ),
    kind("nobody-did-it", "cardinality", *_WHO, {("agent",): GONE}, "agent"),
    kind(
        "total-in-two-currencies",
        "ours",
        *_INVOICE,
        {("totalGross", "currency"): "EUR"},
        "totalGross",
        "totalNet",
    ),
)

KINDS: tuple[Kind, ...] = (*SHAPE, *TIME, *CODES, *REFERENCES, *AROUND, *SENSE)
