"""What cannot follow what, and what R4's invariants of dates and contacts say: refused with the path."""

from __future__ import annotations

import datetime
import inspect
import shutil
from typing import TYPE_CHECKING, Any

import pytest

from condor_hms.fhir import course_rules
from condor_hms.fhir.embedded import EmbeddedFhirStore
from condor_hms.fhir.port import FhirStore, ValidationRefused
from condor_hms.fhir.validation import check_content
from tests.hms.fhir.support import HELEN, TODAY, bundle, order
from tests.hms.fhir.test_malformed import CONDITION, INVOICE, MESSAGE, NOTE, PRESSURE, VACCINE

if TYPE_CHECKING:
    from pathlib import Path

WHO: dict[str, Any] = {"reference": HELEN}
PATIENT: dict[str, Any] = {
    "resourceType": "Patient",
    "name": [{"family": "Test"}],
    "gender": "female",
    "birthDate": "1980-01-01",
}
#: The restriction names whom the task is for, and that is no slot.
FOR_A_SLOT = {"restriction": {"recipient": [{"reference": "Slot/slot-oka-1201-0900"}]}}
TASK: dict[str, Any] = {
    "resourceType": "Task",
    "status": "requested",
    "intent": "order",
    "description": "call",
    "for": WHO,
    "authoredOn": "2026-11-30T09:00:00Z",
}
VISIT: dict[str, Any] = {
    "resourceType": "Appointment",
    "status": "booked",
    "start": "2026-12-05T09:00:00Z",
    "end": "2026-12-05T09:30:00Z",
    "participant": [{"actor": WHO, "status": "accepted"}],
}
CLINICAL = "http://terminology.hl7.org/CodeSystem/condition-clinical"
ENDED = {"coding": [{"system": CLINICAL, "code": "resolved"}]}
FILE = [{"attachment": {"contentType": "text/plain", "url": "file:///etc/passwd"}}]


def dose(value: float) -> dict[str, Any]:
    quantity = {"value": value, "unit": "mg"}
    return {"dosageInstruction": [{"text": "x", "doseAndRate": [{"doseQuantity": quantity}]}]}


CASES: list[tuple[dict[str, Any], dict[str, Any], str]] = [
    (VISIT, {"cancelationReason": {"text": "x"}}, "Appointment.cancelationReason"),
    (TASK, {"lastModified": "2026-11-29T09:00:00Z"}, "Task.lastModified"),
    (PATIENT, {"contact": [{"gender": "male"}]}, "Patient.contact[0]"),
    (PATIENT, {"contact": [{"name": {"text": "x"}, "gender": "m"}]}, "Patient.contact[0].gender"),
    (PATIENT, {"telecom": [{"value": "123"}]}, "Patient.telecom[0].system"),
    (PATIENT, {"gender": "f"}, "Patient.gender"),
    (PATIENT, {"deceasedDateTime": "1970-01-01"}, "Patient.deceasedDateTime"),
    (PATIENT, {"birthDate": "2199-01-01"}, "Patient.birthDate"),
    (order(), dose(1e300), "MedicationRequest.dosageInstruction[0].doseAndRate[0].doseQuantity.value"),
    (order(), dose(2e9), "MedicationRequest.dosageInstruction[0].doseAndRate[0].doseQuantity.value"),
    (PRESSURE, {"effectiveDateTime": "2099-01-01T00:00:00Z"}, "Observation.effectiveDateTime"),
    (
        PRESSURE,
        {"referenceRange": [{"low": {"value": 9}, "high": {"value": 1}}]},
        "Observation.referenceRange[0].high",
    ),
    (VACCINE, {"occurrenceDateTime": "2031-01-01"}, "Immunization.occurrenceDateTime"),
    (
        CONDITION,
        {"clinicalStatus": ENDED, "onsetDateTime": "2026-11-01", "abatementDateTime": "2025-01-01"},
        "Condition.abatementDateTime",
    ),
    (
        MESSAGE,
        {"status": "completed", "sent": "2026-11-30T10:00:00Z", "received": "2026-11-29T10:00:00Z"},
        "Communication.received",
    ),
    (INVOICE, {"totalNet": {"value": -10, "currency": "USD"}}, "Invoice.totalNet.value"),
    (NOTE, {"content": FILE}, "DocumentReference.content[0].attachment.url"),
]


@pytest.mark.parametrize(("resource", "wrong", "path"), CASES)
def test_what_cannot_be_is_refused_with_its_path(
    resource: dict[str, Any], wrong: dict[str, Any], path: str
) -> None:
    """The one thing that is wrong is what is told."""
    assert path in {issue.path for issue in check_content({**resource, **wrong}, today=TODAY)}


GOOD: list[tuple[dict[str, Any], dict[str, Any]]] = [
    (VISIT, {"status": "cancelled", "cancelationReason": {"text": "x"}}),
    (TASK, {"lastModified": "2026-11-30T09:00:00Z"}),
    (PATIENT, {"telecom": [{"system": "phone", "value": "123"}], "deceasedDateTime": "1980"}),
    (order(), dose(5_000_000)),
    (CONDITION, {"clinicalStatus": ENDED, "onsetDateTime": "2026-11-01", "abatementDateTime": "2026-11"}),
    (NOTE, {"content": [{"attachment": {"contentType": "text/plain", "url": "https://example.org/a"}}]}),
    (NOTE, {"content": [{"attachment": {"contentType": "text/plain", "url": "Binary/7"}}]}),
]


@pytest.mark.parametrize(("resource", "right"), GOOD, ids=lambda part: part.get("resourceType", ""))
def test_what_can_be_is_accepted(resource: dict[str, Any], right: dict[str, Any]) -> None:
    """The same, the other way round."""
    assert check_content({**resource, **right}, today=TODAY) == []


async def test_a_task_is_restricted_to_somebody(demo_store: FhirStore) -> None:
    """R4: Patient, Practitioner, PractitionerRole, RelatedPerson, Group or Organization."""
    entry = {"resource": {**TASK, **FOR_A_SLOT}, "request": {"method": "POST", "url": "Task"}}
    with pytest.raises(ValidationRefused) as refusal:
        await demo_store.transact(bundle(entry))
    assert "Task.restriction.recipient[0].reference" in {issue.path for issue in refusal.value.issues}


NEW_YEAR = datetime.date(2024, 1, 1)


@pytest.mark.parametrize(("day", "refused"), [("2025-01-01", False), ("2025-01-02", True)])
def test_the_day_is_the_one_that_is_handed_in(day: str, refused: bool) -> None:
    """A year after it and no more, whatever a clock says; 2024 has 366 days."""
    issues = check_content({**VACCINE, "occurrenceDateTime": day}, today=NEW_YEAR)
    assert [issue.rule for issue in issues] == ["future"] * refused


async def test_a_store_takes_its_own_clock(demo_file: Path, tmp_path: Path) -> None:
    """Ten years behind, what is written today is far ahead; a record that stands at its day takes it."""
    path = tmp_path / "record.db"
    shutil.copy(demo_file, path)
    entry = {"resource": order(), "request": {"method": "POST", "url": "MedicationRequest"}}
    behind = datetime.datetime(2016, 11, 30, tzinfo=datetime.UTC)
    async with EmbeddedFhirStore(path, now=lambda: behind) as store:
        with pytest.raises(ValidationRefused, match="more than a year ahead"):
            await store.transact(bundle(entry))
        store.stand_at(TODAY)
        assert (await store.transact(bundle(entry))).outcomes[0].status == "created"


def test_no_rule_reads_a_clock() -> None:
    """The module is pure, as it says."""
    assert ".now(" not in inspect.getsource(course_rules) and ".today(" not in inspect.getsource(course_rules)
