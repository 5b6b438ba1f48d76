"""Who did what to a record, as the record itself tells it: AuditEvent and Provenance.

Rule: for auditors. It shows ids, versions, people and rules, never the content of what was changed.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from condor import PolicyClass, ToolContext, ToolDescriptor, ToolError, tool
from condor_hms.catalogue.hospital import Hospital, reading, reference_of
from condor_hms.catalogue.specs import record_arg, since_arg
from condor_hms.catalogue.words import concept_text, joined, moment_text, plural
from condor_hms.fhir.own_systems import IDEMPOTENCY_SYSTEM
from condor_hms.fhir.references import is_local

if TYPE_CHECKING:
    from collections.abc import Mapping

    from condor_hms.fhir.port import Resource

__all__ = ["audit_trail_tools"]

_TOLD_MAX = 5
_ROWS_MAX = 200
#: What an AuditEvent's details say of a call.
_DETAILS = ("tool", "op", "rule_id", "policy_class", "hitl_tier", "reason_code", "run_id", "approval_id")


def audit_trail_tools(hospital: Hospital) -> tuple[ToolDescriptor, ...]:
    """``audit.trail`` over an open record."""

    async def trail(_ctx: ToolContext, target: str, since: str | None = None) -> dict[str, Any]:
        """Who asked for, approved and wrote what about a record or a patient, newest first."""
        if not is_local(target):
            raise ToolError(
                f"{target[:60]!a} names no record: give Type/id", effect="none", code="bad_reference"
            )
        audited = {"entity": target, **({"date": f"ge{since}"} if since else {})}
        proved = {"target": target, **({"recorded": f"ge{since}"} if since else {})}
        with reading():
            events, provenances = await asyncio.gather(
                hospital.fhir.search("AuditEvent", audited), hospital.fhir.search("Provenance", proved)
            )
            versions = await _versions(hospital, target)
        rows = [_event(event) for event in events] + [_provenance(row) for row in provenances]
        rows.sort(key=lambda row: str(row["when"]), reverse=True)
        return {
            "target": target,
            "versions": versions,
            "trail": rows[:_ROWS_MAX],
            "more": max(0, len(rows) - _ROWS_MAX),
        }

    return (
        tool(
            "audit.trail",
            policy_class=PolicyClass.READ,
            title="Audit trail",
            description=trail.__doc__ or "",
            ops={"read"},
            roles={"auditor", "admin"},
            args=(record_arg("target", "Record or patient"), since_arg()),
            noun="the audit trail",
            report=_report,
        )(trail),
    )


async def _versions(hospital: Hospital, target: str) -> list[dict[str, Any]]:
    if (await hospital.fhir.versions([target]))[target] is None:
        return []
    return [
        {
            "version": str((row.get("meta") or {}).get("versionId", "")),
            "at": str((row.get("meta") or {}).get("lastUpdated", "")),
            "by": next(
                (
                    str(tag.get("code"))
                    for tag in (row.get("meta") or {}).get("tag") or []
                    if tag.get("system") == IDEMPOTENCY_SYSTEM
                ),
                "",
            ),
        }
        for row in await hospital.fhir.history(target)
    ]


def _who(agent: Mapping[str, Any]) -> str:
    who = agent.get("who") or {}
    return str(agent.get("name") or who.get("display") or who.get("reference") or "somebody")


def _event(event: Resource) -> dict[str, Any]:
    details = {
        str(detail.get("type")): str(detail.get("valueString"))
        for entity in event.get("entity") or []
        for detail in entity.get("detail") or []
    }
    codes = [str(coding.get("code")) for coding in event.get("subtype") or []]
    return {
        "reference": reference_of(event),
        "when": str(event.get("recorded") or ""),
        "what": next(iter(codes), "event"),
        "people": [_who(agent) for agent in event.get("agent") or [] if agent.get("requestor")],
        "outcome": str(event.get("outcomeDesc") or event.get("outcome") or ""),
        **{name: details[name] for name in _DETAILS if name in details},
    }


def _provenance(provenance: Resource) -> dict[str, Any]:
    roles = {concept_text(agent.get("type")): _who(agent) for agent in provenance.get("agent") or []}
    signatures: list[dict[str, Any]] = provenance.get("signature") or []
    return {
        "reference": reference_of(provenance),
        "when": str(provenance.get("recorded") or ""),
        "what": concept_text(provenance.get("activity")).lower() or "write",
        "people": [f"{name} ({role})" for role, name in roles.items() if role != "assembler"],
        "why": concept_text(next(iter(provenance.get("reason") or []), None)),
        "signed": [
            {"by": _who(row), "meaning": row["type"][0].get("display", ""), "when": row.get("when", "")}
            for row in signatures
        ],
    }


def _report(args: Mapping[str, Any], value: Any) -> str:
    rows, target = value["trail"], value["target"]
    versions = plural(len(value["versions"]), "version")
    if not rows:
        return f"{target}: {versions}; nobody's doing is on record."
    said = [
        f"{row['what']} on {moment_text(row['when'])} by {joined(row['people']) or 'nobody named'}"
        + (f" (rule {row['rule_id']})" if row.get("rule_id") else "")
        + (f": {row['why']}" if row.get("why") else "")
        for row in rows[:_TOLD_MAX]
    ]
    count = len(rows) + value["more"]
    more = f"; {count - _TOLD_MAX} earlier" if count > _TOLD_MAX else ""
    return f"{target}: {versions}, {plural(count, 'entry', 'entries')}: {'; '.join(said)}{more}."
