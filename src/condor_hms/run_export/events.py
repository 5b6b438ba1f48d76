"""Audit rows as AuditEvents (R4; the shapes of IHE BALP where there are any); pure.

Law 1: one row, one event. The chain is the truth and this a view of it: each event carries its row's number
and hashes, so that it can be held to the chain.
Law 2: an event says who, when, which rule and which resource; never what stands in it.
"""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any

from condor_hms.fhir.own_systems import CONDOR
from condor_hms.run_export.names import derived_id
from condor_hms.run_export.told import SYSTEM, Call, Version

if TYPE_CHECKING:
    from collections.abc import Mapping

    from condor_hms.fhir.port import Resource
    from condor_hms.run_export.told import People

__all__ = ["audit_event"]

_LIFECYCLE = "http://terminology.hl7.org/CodeSystem/iso-21089-lifecycle"
_EVENTS = "http://terminology.hl7.org/CodeSystem/audit-event-type"
_DICOM = "http://dicom.nema.org/resources/ontology/DCM"
_ENTITY = "http://terminology.hl7.org/CodeSystem/audit-entity-type"
_ROLE = "http://terminology.hl7.org/CodeSystem/object-role"
_INTERACTION = "http://hl7.org/fhir/restful-interaction"

_APPLICATION = {"system": _DICOM, "code": "110100", "display": "Application Activity"}
_REST = {"system": _EVENTS, "code": "rest", "display": "Restful Operation"}


def _lifecycle(code: str, display: str) -> dict[str, str]:
    return {"system": _LIFECYCLE, "code": code, "display": f"{display} Record Lifecycle Event"}


_HOLD, _UNHOLD = _lifecycle("hold", "Add Legal Hold"), _lifecycle("unhold", "Remove Legal Hold")
_ATTEST, _AMEND = _lifecycle("attest", "Attest"), _lifecycle("amend", "Amend (Update)")
#: Decision → (type, outcome, what is told of it). What is not here is application activity.
_KINDS: Mapping[str, tuple[Mapping[str, str], str, str]] = {
    "suspended": (_HOLD, "0", "run parked for a person"),
    "approved": (_ATTEST, "0", "approved"),
    "denied": (_ATTEST, "4", "denied"),
    "answered": (_ATTEST, "0", "answered"),
    "reconciled": (_ATTEST, "0", "an unknown outcome was settled"),
    "edited": (_AMEND, "0", "the call was edited; another card took this one's place"),
    "withdrawn": (_UNHOLD, "4", "withdrawn without an answer"),
    "expired": (_UNHOLD, "4", "expired without an answer"),
    "decision-rejected": (_ATTEST, "4", "an answer was refused; nothing changed"),
    "unknown": (_REST, "8", "whether it happened is not known"),
    "executed": (_REST, "0", "done"),
    "stopped": (_APPLICATION, "4", "stopped"),
}
#: How a call ended that did not simply succeed → FHIR's outcome.
_OUTCOMES = {"degraded": "4", "skipped": "4", "failed": "8", "unknown": "8"}
#: Provenance's activity → FHIR interaction and AuditEvent action. A removal is an update: the resource stays.
_DONE = {"CREATE": ("create", "C"), "UPDATE": ("update", "U"), "DELETE": ("update", "U")}
#: Member of a row → name of the detail that carries it.
_DETAILS = {
    "tool": "tool",
    "op": "op",
    "policyClass": "policy_class",
    "hitlTier": "hitl_tier",
    "effectiveTier": "effective_tier",
    "ruleId": "rule_id",
    "approvalId": "approval_id",
    "suspendId": "suspend_id",
    "reasonCode": "reason_code",
    "origin": "origin",
    "contractHash": "contract_hash",
    "payloadDigest": "payload_digest",
    "reasonDigest": "reason_digest",
    "sessionId": "session_id",
    "runId": "run_id",
    "seq": "audit_seq",
    "prevHash": "audit_prev_hash",
    "hash": "audit_hash",
}


def audit_event(row: Mapping[str, Any], call: Call | None, people: People) -> Resource:
    """The AuditEvent of one row.

    Args:
        call: the step that the row is about; None for a row of the whole run.
    """
    decision = str(row.get("decision"))
    kind, outcome, said = _KINDS.get(decision, (_APPLICATION, "0", decision))
    status = _status(row, decision)
    if status:
        outcome, said = _OUTCOMES[status], status
    subtypes, action = _what_was_done(row, decision, call, status)
    return {
        "resourceType": "AuditEvent",
        "id": derived_id(row.get("tenantId", "default"), row.get("runId"), "audit", row.get("seq")),
        "type": dict(kind),
        "subtype": subtypes,
        "action": action,
        "recorded": str(row.get("at")),
        "outcome": outcome,
        "outcomeDesc": said,
        "agent": _agents(str(row.get("actor") or ""), people, is_write=action in "CU"),
        "source": {
            "observer": dict(CONDOR),
            "type": [
                {
                    "system": "http://terminology.hl7.org/CodeSystem/security-source-type",
                    "code": "4",
                    "display": "Application Server",
                }
            ],
        },
        "entity": _entities(row, decision, call, status),
    }


def _status(row: Mapping[str, Any], decision: str) -> str:
    """What came of a call that did not simply succeed (``failed:code``); empty for one that did."""
    status = str(row.get("reasonCode") or "").partition(":")[0]
    return status if decision in ("executed", "reconciled") and status in _OUTCOMES else ""


def _what_was_done(
    row: Mapping[str, Any], decision: str, call: Call | None, status: str
) -> tuple[list[dict[str, str]], str]:
    """Subtypes and action."""
    code = f"hitl.{decision}" if row.get("suspendId") else decision
    own = {"system": "urn:condor:audit", "code": code}
    if decision == "executed" and row.get("policyClass") == "read":
        return [{"system": _INTERACTION, "code": "read", "display": "read"}, own], "R"
    if not _was_written(decision, call, status):
        return [own], "E"
    interaction, action = _DONE.get(call.wrote.activity if call else "", ("update", "U"))
    return [{"system": _INTERACTION, "code": interaction, "display": interaction}, own], action


def _was_written(decision: str, call: Call | None, status: str) -> bool:
    """Whether this row is the one that tells of what stands in the record."""
    is_end = decision in ("executed", "reconciled") and status in ("", "degraded")
    return is_end and call is not None and bool(call.wrote.versions)


def _agents(actor: str, people: People, *, is_write: bool) -> list[dict[str, Any]]:
    is_system = actor in ("", SYSTEM)
    condor: dict[str, Any] = {
        "type": {"coding": [{"system": _DICOM, "code": "110153", "display": "Source Role ID"}]},
        "who": dict(CONDOR),
        "requestor": is_system,
    }
    record = {
        "type": {"coding": [{"system": _DICOM, "code": "110152", "display": "Destination Role ID"}]},
        "who": {"display": "the patient record"},
        "requestor": False,
    }
    machines = [condor, record] if is_write else [condor]
    if is_system:
        return machines
    who = people.reference(actor)
    informant = {
        "system": "http://terminology.hl7.org/CodeSystem/v3-ParticipationType",
        "code": "INF",
        "display": "informant",
    }
    person: dict[str, Any] = {
        "type": {"coding": [informant]},
        "who": who,
        "altId": actor,
        "name": str(who.get("display") or actor),
        "requestor": True,
    }
    roles = [
        {"coding": [{"system": "urn:condor:role", "code": role}]} for role in people.roles.get(actor, ())
    ]
    return [*machines, {**person, "role": roles} if roles else person]


def _entities(row: Mapping[str, Any], decision: str, call: Call | None, status: str) -> list[dict[str, Any]]:
    found = []
    if call is not None:
        is_written = _was_written(decision, call, status)
        named = call.wrote.versions if is_written else tuple(Version(reference=name) for name in call.targets)
        if call.patient:
            found.append(_entity(call.patient, "1", "Person", "1", "Patient"))
        found += [
            _entity(version.reference, "2", "System Object", "4", "Domain Resource", version.details)
            for version in named
        ]
    step = row.get("stepId")
    value = f"{row.get('runId')}:{step}" if step else str(row.get("runId"))
    found.append(
        {
            "what": {"identifier": {"system": "urn:condor:run-step", "value": value}},
            "type": {
                "system": "https://profiles.ihe.net/ITI/BALP/CodeSystem/BasicAuditEntityType",
                "code": "XrequestId",
            },
            "detail": [{"type": name, "valueString": value} for name, value in _details(row, decision, call)],
        }
    )
    return found


def _details(row: Mapping[str, Any], decision: str, call: Call | None) -> list[tuple[str, str]]:
    details = [
        (name, str(row[member])) for member, name in _DETAILS.items() if row.get(member) not in (None, "")
    ]
    if row.get("promotions"):
        details.append(("promotions", ", ".join(map(str, row["promotions"]))))
    if decision == "approved" and call is not None:
        details += _of_the_approval(row, call)
    return details


def _of_the_approval(row: Mapping[str, Any], call: Call) -> list[tuple[str, str]]:
    """What 21 CFR 11.50 asks of a signature, and what the approver had before them."""
    card = next((card for card in call.cards if card.get("suspendId") == row.get("suspendId")), {})
    details = [("seconds_open", _seconds_open(card))]
    signature = call.wrote.signature if call.approved is card else {}
    if signature:
        meaning = (signature.get("type") or [{}])[0]
        details += [
            ("printed_name", str((signature.get("who") or {}).get("display") or "")),
            ("signature_meaning", str(meaning.get("code") or "")),
            ("signature_meaning_display", str(meaning.get("display") or "")),
            ("signature_time", str(signature.get("when") or "")),
        ]
    alerts = (card.get("evidence") or {}).get("alerts") or []
    shown = [f"{alert.get('id')} {alert.get('severity') or ''}".strip() for alert in alerts]
    if shown:
        details.append(("alerts_shown", ", ".join(shown)))
    given = card.get("toolInput") or {}
    # An argument of the call, or an answer beside its arguments.
    override = given.get("override_reason") or (given.get("$answers") or {}).get("override_reason")
    if override:
        details.append(("override_reason", str(override)))
    return [(name, value) for name, value in details if value]


def _seconds_open(card: Mapping[str, Any]) -> str:
    """How long it waited; empty where the card was erased."""
    try:
        opened, decided = (datetime.fromisoformat(str(card[name])) for name in ("openedAt", "decidedAt"))
    except (LookupError, ValueError):
        return ""
    return str(round((decided - opened).total_seconds()))


def _entity(
    reference: str,
    kind: str,
    kind_said: str,
    role: str,
    role_said: str,
    details: tuple[tuple[str, str], ...] = (),
) -> dict[str, Any]:
    found: dict[str, Any] = {
        "what": {"reference": reference},
        "type": {"system": _ENTITY, "code": kind, "display": kind_said},
        "role": {"system": _ROLE, "code": role, "display": role_said},
    }
    told = [{"type": name, "valueString": value} for name, value in details]
    return {**found, "detail": told} if told else found
