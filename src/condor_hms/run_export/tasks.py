"""Cards as Tasks: what a person was asked, for whom, until when, and what became of it; pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from condor_hms.run_export.names import derived_id

if TYPE_CHECKING:
    from collections.abc import Mapping

    from condor_hms.fhir.port import Resource
    from condor_hms.run_export.told import Call, People

__all__ = ["TASK_SYSTEM", "approval_task"]

TASK_SYSTEM = "urn:condor:approval"
#: Status of a card → status of the Task. An approval is accepted; a form that was filled in is completed.
_STATUSES = {
    "pending": "requested",
    "approved": "accepted",
    "denied": "rejected",
    "answered": "completed",
    "withdrawn": "cancelled",
    "superseded": "cancelled",
    "expired": "cancelled",
}


def approval_task(card: Mapping[str, Any], call: Call, people: People, *, tenant: str) -> Resource:
    """The Task of one card; its id is made from the card's, so that a repetition is the same Task."""
    card_id, status = str(card["suspendId"]), str(card.get("status"))
    task: Resource = {
        "resourceType": "Task",
        "id": derived_id(tenant, card.get("runId"), "card", card_id),
        "identifier": [{"system": TASK_SYSTEM, "value": card_id}],
        "status": _STATUSES.get(status, "requested"),
        "businessStatus": {"text": status},
        "intent": "order",
        "code": _code(str(card.get("reasonCode"))),
        "description": _description(card),
        "authoredOn": str(card.get("openedAt")),
        "lastModified": str(card.get("decidedAt") or card.get("openedAt")),
        "requester": people.reference(str(card.get("requester") or "")),
    }
    if card.get("reason"):
        task["statusReason"] = {"text": str(card["reason"])}
    if call.patient:
        task["for"] = {"reference": call.patient}
    if call.targets:
        task["focus"] = {"reference": call.targets[0]}
    if card.get("decidedBy"):
        task["owner"] = people.reference(str(card["decidedBy"]))
    if card.get("answerRoles"):
        task["performerType"] = [{"text": str(role)} for role in card["answerRoles"]]
    if card.get("expiresAt"):
        task["restriction"] = {"period": {"end": str(card["expiresAt"])}}
    rule = (card.get("policy") or {}).get("ruleId")
    if rule:
        task["reasonCode"] = {"coding": [{"system": "urn:condor:rule", "code": str(rule)}]}
    task["input"] = [
        {"type": {"text": name}, "valueString": value} for name, value in _inputs(card, str(rule or ""))
    ]
    outputs = _outputs(card, call)
    if outputs:
        task["output"] = outputs
    return task


def _code(reason_code: str) -> dict[str, Any]:
    own = {"system": "urn:condor:reason-code", "code": reason_code}
    if reason_code != "approval":
        return {"coding": [own]}
    return {"coding": [{"system": "http://hl7.org/fhir/CodeSystem/task-code", "code": "approve"}, own]}


def _description(card: Mapping[str, Any]) -> str:
    parts = [card.get("headline"), (card.get("evidence") or {}).get("summary")]
    return ": ".join(str(part) for part in parts if part) or str(card.get("toolName") or "a question")


def _inputs(card: Mapping[str, Any], rule: str) -> list[tuple[str, str]]:
    """What bound the answer: ids, digests and words of closed sets."""
    alerts = (card.get("evidence") or {}).get("alerts") or []
    named = [
        ("contract_hash", card.get("contractHash")),
        ("rule_id", rule),
        ("tool", card.get("toolName")),
        ("op", card.get("op")),
        ("origin", card.get("origin")),
        ("alerts_shown", ", ".join(f"{alert.get('id')} {alert.get('severity')}" for alert in alerts)),
    ]
    return [(name, str(value)) for name, value in named if value]


def _outputs(card: Mapping[str, Any], call: Call) -> list[dict[str, Any]]:
    """What was written because of this card: the last approval of its step has it, as it is in the record."""
    if call.approved is not card:
        return []
    written = [
        {"type": {"text": "written"}, "valueReference": {"reference": version.reference}}
        for version in call.wrote.versions
    ]
    proof = call.wrote.provenance
    if proof is not None:
        reference = {"reference": f"Provenance/{proof['id']}"}
        written.append({"type": {"text": "provenance"}, "valueReference": reference})
    return written
