"""Stopping a medicine: the order that is shown, in the state that is shown, for a reason.

Rule 1: the tool is of low tier by declaration; its verb is destructive, so every call is promoted and asked.
Rule 2: only an active order can be stopped, and only in the version that a person saw.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from condor import ToolDescriptor, ToolError
from condor_hms.alerts import check_orders
from condor_hms.catalogue.evidence import alert_rows, clinical_context, medication_record
from condor_hms.catalogue.hospital import Hospital, reference_of
from condor_hms.catalogue.medicine_list import current_orders
from condor_hms.catalogue.record_write import Call, Composed, record_write, without
from condor_hms.catalogue.specs import code_arg, record_arg, text_arg
from condor_hms.catalogue.words import day, order_name, order_text
from condor_hms.catalogue.writing import Edit

if TYPE_CHECKING:
    from condor_hms.alerts import Alert, MedicationRecord
    from condor_hms.fhir.port import Resource

__all__ = ["discontinuing_tools", "ordered_row", "require_status"]

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
    return (
        record_write(
            hospital,
            "medication.discontinue",
            _stop,
            title="Discontinue a medicine",
            noun="the discontinuation",
            roles={"doctor"},
            editable={"reason_code", "reason"},
            target=("order", "MedicationRequest"),
            ops={"discontinue"},
            verb="stop",
            args=(
                record_arg("order", "Medicine order", "medication.list.card"),
                code_arg("reason_code", "Reason", _REASONS, required=True),
                text_arg("reason", "Details"),
            ),
        ),
    )


async def _stop(call: Call) -> Composed:
    """Stop an active medicine order, with the reason; the order stays in the record as stopped."""
    why = _reason_text(str(call.args["reason_code"]), call.given("reason"))
    order = await call.target(call.args["order"], "MedicationRequest")
    require_status(order, "active", nothing="there is nothing to stop")
    patient = await call.subject_of(order)
    record = await medication_record(call.hospital, patient["reference"])
    orders = await current_orders(call.hospital, patient["reference"])
    text = order_text(order)
    context = await clinical_context(call.hospital, record, medication=order_name(order))
    return Composed(
        subject=patient,
        summary=f"Stop {text}. Reason: {why}",
        done=f"Stopped: {text}",
        edits=[Edit(before=order, after=without(order, status="stopped", statusReason={"text": why}))],
        reason=why,
        before={"order": text, "status": "active"},
        after={"order": text, "status": "stopped", "reason": why},
        alerts=alert_rows(_about(record, reference_of(order), call.hospital), patient, orders),
        context=(ordered_row(order), *context),
        facts={"order": text, "status": {"before": "active", "after": "stopped"}},
    )


def _reason_text(reason_code: str, reason: str) -> str:
    if reason_code not in _REASONS:
        raise ToolError(f"{reason_code!a} is not a reason of the list", effect="none", code="bad_reason")
    return f"{reason_code}: {reason}" if reason else reason_code


def require_status(order: Resource, *wanted: str, nothing: str) -> None:
    """Refuse an order that is in no state to be changed so.

    Raises:
        ToolError: which state it is in, and what there is not to do.
    """
    if order.get("status") not in wanted:
        raise ToolError(
            f"{reference_of(order)} ({order_name(order)}) is {order.get('status', 'without a status')}, "
            f"not {' or '.join(wanted)}; {nothing}",
            effect="none",
            code="not_" + wanted[0].replace("-", "_"),
        )


def ordered_row(order: Resource) -> dict[str, str]:
    """When and by whom it was ordered, as a card shows it."""
    name = (order.get("requester") or {}).get("display")
    by = f" by {name}" if name else ""
    return {"label": "Ordered", "text": f"{day(order.get('authoredOn'))}{by}"}


def _about(record: MedicationRecord, reference: str, hospital: Hospital) -> list[Alert]:
    """The alerts of the standing orders that this order takes part in: what stopping it would end."""
    alerts = check_orders(record, hospital.rules, hospital.today)
    return [alert for alert in alerts if any(item.reference == reference for item in alert.evidence)]
