"""Stopping a medicine: the order that is shown, in the state that is shown, for a reason.

Rule 1: the tool is of low tier by declaration; its verb is destructive, so every call is promoted and asked.
Rule 2: only an active order can be stopped, and only in the version that a person saw.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from condor import (
    ArgSpec,
    CardEvidence,
    Effect,
    HitlTier,
    PolicyClass,
    Reconciled,
    ToolContext,
    ToolDescriptor,
    ToolError,
    tool,
)
from condor_hms.alerts import check_orders
from condor_hms.catalogue.evidence import alert_rows, clinical_context, medication_record
from condor_hms.catalogue.hospital import (
    Hospital,
    reference_of,
    require,
    require_patient,
    version_of,
)
from condor_hms.catalogue.identity import identity
from condor_hms.catalogue.medicine_list import current_orders
from condor_hms.catalogue.specs import choice
from condor_hms.catalogue.words import day, order_name, order_text
from condor_hms.catalogue.writing import Written, moved, own_version, update, versions_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from condor_hms.alerts import Alert, MedicationRecord
    from condor_hms.fhir.port import Resource

__all__ = ["discontinuing_tools"]

_REASONS = {
    "allergy": "Allergy or intolerance",
    "interaction": "Interaction",
    "ineffective": "Not effective",
    "completed": "Course complete",
    "patient-request": "Patient request",
    "error": "Ordered in error",
}


def discontinuing_tools(hospital: Hospital) -> tuple[ToolDescriptor, ...]:
    """``medication.discontinue`` over an open record."""

    async def discontinue(
        ctx: ToolContext, order: str, reason_code: str, reason: str | None = None
    ) -> dict[str, Any]:
        """Stop an active medicine order, with the reason; the order stays in the record as stopped."""
        now = await require(hospital, order, "MedicationRequest")
        seen = ctx.record_versions.get(order, version_of(now))
        if seen != version_of(now) or now.get("status") != "active":
            versions = await versions_of(hospital, order)
            own = own_version(versions, ctx.idempotency_key)
            if own is not None:
                return await _value(hospital, own, _replayed(own))
            if seen != version_of(now):
                raise moved(_seen(versions, seen), now, _differences)
        _require_active(now)
        why = _reason_text(reason_code, reason)
        after = {**now, "status": "stopped", "statusReason": {"text": why}}
        written = await update(hospital, ctx, before=now, after=after, reason=why, differences=_differences)
        return await _value(hospital, now, written)

    async def show(
        _ctx: ToolContext, order: str, reason_code: str, reason: str | None = None
    ) -> CardEvidence:
        return await _evidence(hospital, order, _reason_text(reason_code, reason))

    async def reconcile(
        ctx: ToolContext, order: str, reason_code: str, reason: str | None = None
    ) -> Reconciled:
        return await _reconciled(hospital, ctx, order)

    return (
        tool(
            "medication.discontinue",
            policy_class=PolicyClass.MUTATE,
            hitl_tier=HitlTier.LOW,
            title="Discontinue a medicine",
            description=discontinue.__doc__ or "",
            ops={"discontinue"},
            roles={"doctor"},
            idempotent=True,
            args=_arguments(),
            metadata={"mutating": True},
            noun="the discontinuation",
            effect_of=_effects,
            report=_report,
            preview=show,
            reconcile=reconcile,
        )(discontinue),
    )


def _arguments() -> tuple[ArgSpec, ...]:
    return (
        ArgSpec(
            name="order",
            label="Medicine order",
            type="reference",
            required=True,
            hint={"lookup": {"tool": "medication.list.card"}},
        ),
        ArgSpec(
            name="reason_code",
            label="Reason",
            type="code",
            required=True,
            hint={"enum": choice(_REASONS), "radio": True},
        ),
        ArgSpec(name="reason", label="Details", type="string", hint={"textarea": True}),
    )


def _effects(args: Mapping[str, Any]) -> tuple[Effect, ...]:
    return (Effect(verb="stop", target=str(args.get("order")), destructive=True),)


def _reason_text(reason_code: str, reason: str | None) -> str:
    if reason_code not in _REASONS:
        raise ToolError(f"{reason_code!a} is not a reason of the list", effect="none", code="bad_reason")
    return f"{reason_code}: {reason.strip()}" if reason and reason.strip() else reason_code


def _require_active(order: Resource) -> None:
    if order.get("status") != "active":
        raise ToolError(
            f"{reference_of(order)} ({order_name(order)}) is {order.get('status', 'without a status')}, "
            "not active; there is nothing to stop",
            effect="none",
            code="not_active",
        )


def _seen(versions: Sequence[Resource], seen: str) -> Resource:
    """The version a person saw; where it is not kept, one that says only its version."""
    unknown: Resource = {"resourceType": "MedicationRequest", "meta": {"versionId": seen}}
    return next((row for row in versions if version_of(row) == seen), unknown)


def _replayed(own: Resource) -> Written:
    return Written(reference=reference_of(own), version=version_of(own), replayed=True)


def _differences(seen: Resource, now: Resource) -> list[str]:
    """What moved, in words: status and order text first, then the names of other elements."""
    said: list[str] = []
    if seen.get("status") != now.get("status"):
        said.append(f"status {seen.get('status', 'not known')} → {now.get('status')}")
    if order_text(seen) != order_text(now):
        said.append(f"{order_text(seen)} → {order_text(now)}")
    told = {"status", "dosageInstruction", "medicationCodeableConcept", "meta"}
    others = sorted(name for name in {*seen, *now} - told if seen.get(name) != now.get(name))
    return [*said, *others]


async def _evidence(hospital: Hospital, reference: str, why: str) -> CardEvidence:
    order = await require(hospital, reference, "MedicationRequest")
    _require_active(order)
    subject = str((order.get("subject") or {}).get("reference"))
    patient = identity(await require_patient(hospital, subject), hospital.today)
    record = await medication_record(hospital, patient["reference"])
    orders = await current_orders(hospital, patient["reference"])
    text = order_text(order)
    context = await clinical_context(hospital, record, medication=order_name(order))
    prescribed = {"label": "Ordered", "text": f"{day(order.get('authoredOn'))}{_by(order)}"}
    return CardEvidence(
        subject=patient,
        summary=f"Stop {text}. Reason: {why}",
        before={"order": text, "status": "active"},
        after={"order": text, "status": "stopped", "reason": why},
        alerts=alert_rows(_about(record, reference, hospital), patient, orders),
        context=(prescribed, *context),
        versions={reference: version_of(order)},
    )


def _by(order: Resource) -> str:
    name = (order.get("requester") or {}).get("display")
    return f" by {name}" if name else ""


def _about(record: MedicationRecord, reference: str, hospital: Hospital) -> list[Alert]:
    """The alerts of the standing orders that this order takes part in: what stopping it would end."""
    alerts = check_orders(record, hospital.rules, hospital.today)
    return [alert for alert in alerts if any(item.reference == reference for item in alert.evidence)]


async def _value(hospital: Hospital, order: Resource, written: Written) -> dict[str, Any]:
    subject = str((order.get("subject") or {}).get("reference"))
    patient = identity(await require_patient(hospital, subject), hospital.today)
    return {
        **written.to_json(),
        "order": order_text(order),
        "patient": patient["text"],
        "status": {"before": "active", "after": "stopped"},
    }


async def _reconciled(hospital: Hospital, ctx: ToolContext, order: str) -> Reconciled:
    """Whether one of the order's versions carries this call's tag."""
    try:
        versions = await versions_of(hospital, order)
    except ToolError as error:
        if error.may_retry:
            return Reconciled(happened=None)
        raise
    own = own_version(versions, ctx.idempotency_key)
    if own is None:
        return Reconciled(happened=False)
    return Reconciled(happened=True, value=await _value(hospital, own, _replayed(own)))


def _report(args: Mapping[str, Any], value: Any) -> str:
    return (
        f"Stopped: {value['order']} for {value['patient']} "
        f"({value['reference']} active → stopped, version {value['version']})."
    )
