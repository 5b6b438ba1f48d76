"""What an emergency read leaves in the record: an AuditEvent, and a Task by which it is reviewed; pure.

The AuditEvent has DICOM's code for an emergency override and, as its purpose, HL7's "break the glass"; the
Task is the queue: `requested` waits, `completed` was reviewed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from condor_hms.fhir.port import Resource

__all__ = ["FINDINGS", "REVIEW", "access_event", "review_task", "reviewed"]

#: The code of a review's Task.
REVIEW: Mapping[str, str] = {"system": "urn:condor:task", "code": "breakglass-review"}
#: What a review can find.
FINDINGS: Mapping[str, str] = {"justified": "Justified", "not-justified": "Not justified"}

_DICOM = "http://dicom.nema.org/resources/ontology/DCM"
_REASONS = "http://terminology.hl7.org/CodeSystem/v3-ActReason"
_ENTITY = "http://terminology.hl7.org/CodeSystem/audit-entity-type"
_ROLE = "http://terminology.hl7.org/CodeSystem/object-role"
_SOURCE = "http://terminology.hl7.org/CodeSystem/security-source-type"


def access_event(
    who: Mapping[str, Any],
    roles: tuple[str, ...],
    patient: str,
    reason: str,
    *,
    now: str,
    run: str,
    step: str,
) -> Resource:
    """The AuditEvent of one emergency read.

    Args:
        who: Reference to whoever reads, with the printed name.
        patient: ``Patient/id``.
        now: FHIR instant.
        run: the run whose audit chain holds the read, and the step in it.
    """
    details = {"reason": reason, "run_id": run, "step_id": step}
    purpose = {"coding": [{"system": _REASONS, "code": "BTG", "display": "break the glass"}]}
    return {
        "resourceType": "AuditEvent",
        "type": {"system": _DICOM, "code": "110113", "display": "Security Alert"},
        "subtype": [{"system": _DICOM, "code": "110127", "display": "Emergency Override Started"}],
        "action": "R",
        "recorded": now,
        "outcome": "0",
        "purposeOfEvent": [purpose],
        "agent": [
            {
                "who": dict(who),
                "name": str(who.get("display") or ""),
                "requestor": True,
                "role": [{"coding": [{"system": "urn:condor:role", "code": role}]} for role in roles],
                "purposeOfUse": [purpose],
            }
        ],
        "source": {
            "observer": {"display": "Condor"},
            "type": [{"system": _SOURCE, "code": "4", "display": "Application Server"}],
        },
        "entity": [
            {
                "what": {"reference": patient},
                "type": {"system": _ENTITY, "code": "1", "display": "Person"},
                "role": {"system": _ROLE, "code": "1", "display": "Patient"},
                "detail": [{"type": name, "valueString": text} for name, text in details.items()],
            }
        ],
    }


def review_task(
    who: Mapping[str, Any], subject: Mapping[str, Any], reason: str, event: str, *, now: str
) -> Resource:
    """The review that waits.

    Args:
        subject: as ``identity`` gives it.
        event: reference to the AuditEvent.
    """
    return {
        "resourceType": "Task",
        "status": "requested",
        "intent": "order",
        "priority": "urgent",
        "code": {"coding": [dict(REVIEW)], "text": "Review of an emergency read"},
        "description": f"Emergency read of {subject['text']} by {who.get('display')}: {reason}",
        "focus": {"reference": event},
        "for": {"reference": subject["reference"]},
        "authoredOn": now,
        "lastModified": now,
        "requester": dict(who),
        "performerType": [{"text": "Auditor"}],
        "reasonCode": {"text": reason},
    }


def reviewed(task: Resource, who: Mapping[str, Any], finding: str, comment: str, *, now: str) -> Resource:
    """The Task after its review."""
    note = {"authorReference": dict(who)} if "reference" in who else {"authorString": str(who.get("display"))}
    result = {"type": {"text": "finding"}, "valueCode": finding}
    return {
        **task,
        "status": "completed",
        "lastModified": now,
        "owner": dict(who),
        "output": [*(task.get("output") or []), result],
        "note": [*(task.get("note") or []), {**note, "time": now, "text": comment}],
    }
