"""Bundles and resources that the tests of the record are written with."""

import datetime
import json
from pathlib import Path
from typing import Any

from condor_hms.fhir.port import FhirStore, Resource

JOHN = "Patient/pt-65e78d9ba50c"
MELISSA = "Patient/pt-0612cf63eb84"
HELEN = "Patient/pt-bf0d2c068a08"
OKAFOR = "Practitioner/dr-okafor"
CELECOXIB = "MedicationRequest/rxopd-9d32703ea963"
WHEAT = "AllergyIntolerance/allergy-a3ad6c07c32f"
FALLS = "Flag/flag-9001"

#: The demonstration's day.
TODAY = datetime.date(2026, 11, 30)
IDEM = "urn:condor:idem"
CLINICAL = "http://terminology.hl7.org/CodeSystem/allergyintolerance-clinical"
VERIFICATION = "http://terminology.hl7.org/CodeSystem/allergyintolerance-verification"
UCUM = "http://unitsofmeasure.org"

EXAMPLES: dict[str, list[dict[str, Any]]] = json.loads(
    (Path(__file__).parents[1] / "data" / "example_writes.json").read_text(encoding="utf-8")
)


def concept(system: str, code: str) -> Resource:
    return {"coding": [{"system": system, "code": code}]}


def allergy(**changes: Any) -> Resource:
    return {
        "resourceType": "AllergyIntolerance",
        "clinicalStatus": concept(CLINICAL, "active"),
        "verificationStatus": concept(VERIFICATION, "confirmed"),
        "category": ["medication"],
        "criticality": "high",
        "code": {"text": "Ibuprofen"},
        "patient": {"reference": JOHN},
        "recorder": {"reference": OKAFOR},
        "reaction": [{"manifestation": [{"text": "Angioedema"}], "severity": "severe"}],
    } | changes


def order(**changes: Any) -> Resource:
    return {
        "resourceType": "MedicationRequest",
        "status": "active",
        "intent": "order",
        "medicationCodeableConcept": {"text": "Nitrofurantoin"},
        "subject": {"reference": MELISSA},
        "authoredOn": "2026-11-30T09:30:00Z",
        "requester": {"reference": OKAFOR},
        "dosageInstruction": [dosage()],
    } | changes


def dosage(**changes: Any) -> Resource:
    quantity = {"value": 100, "unit": "mg", "system": UCUM, "code": "mg"}
    return {
        "text": "100 mg oral BID",
        "timing": {"repeat": {"frequency": 2, "period": 1, "periodUnit": "d"}},
        "doseAndRate": [{"doseQuantity": quantity}],
    } | changes


def flag(**changes: Any) -> Resource:
    return {
        "resourceType": "Flag",
        "status": "active",
        "code": {"text": "Falls risk"},
        "subject": {"reference": HELEN},
        "author": {"reference": OKAFOR},
    } | changes


def provenance(*targets: str, **changes: Any) -> Resource:
    return {
        "resourceType": "Provenance",
        "target": [{"reference": target} for target in targets],
        "recorded": "2026-11-30T09:30:00Z",
        "agent": [{"who": {"reference": OKAFOR}}],
    } | changes


def post(resource: Resource, key: str | None = None, *, full_url: str | None = None) -> Resource:
    """A create; with a key it is conditional on the identifier that it also carries."""
    request = {"method": "POST", "url": resource["resourceType"]}
    if key is not None:
        resource = resource | {"identifier": [{"system": IDEM, "value": key}]}
        request["ifNoneExist"] = f"identifier={IDEM}|{key}"
    entry: Resource = {"resource": resource, "request": request}
    return entry if full_url is None else {"fullUrl": full_url, **entry}


def post_tagged(resource: Resource, key: str) -> Resource:
    """A create that is conditional on its tag, as a Provenance is, which has no identifier."""
    resource = resource | {"meta": {"tag": [{"system": IDEM, "code": key}]}}
    request = {"method": "POST", "url": resource["resourceType"], "ifNoneExist": f"_tag={IDEM}|{key}"}
    return {"resource": resource, "request": request}


def put(resource: Resource, version: str | None) -> Resource:
    url = f"{resource['resourceType']}/{resource['id']}"
    request = {"method": "PUT", "url": url}
    return {
        "resource": resource,
        "request": request if version is None else request | {"ifMatch": f'W/"{version}"'},
    }


def bundle(*entries: Resource) -> Resource:
    return {"resourceType": "Bundle", "type": "transaction", "entry": list(entries)}


async def changed(store: FhirStore, reference: str, **changes: Any) -> tuple[Resource, str]:
    """A resource of the record with some elements replaced (None removes one), and its version."""
    resource = await store.read(reference)
    version = resource.pop("meta")["versionId"]
    resource |= changes
    return {key: value for key, value in resource.items() if value is not None}, version


async def everything(store: FhirStore) -> dict[str, str]:
    """Version by reference of all that a write of these tests could touch."""
    found = {}
    for resource_type in ("AllergyIntolerance", "MedicationRequest", "Flag", "Provenance", "Patient"):
        for resource in await store.search(resource_type, {}):
            found[f"{resource_type}/{resource['id']}"] = resource["meta"]["versionId"]
    return found
