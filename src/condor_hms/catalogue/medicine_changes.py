"""Changing a medicine that is ordered: its dose, a pause, a renewal.

Rule 1: an order is never rewritten. A new dose is a new order that names the old one, and the old one ends,
in one transaction.
Rule 2: route and the rest of the order are taken over as they stand; dose and frequency are as stated.
Rule 3: alerts are computed on the record as it will be, without the order that ends.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from condor import ArgSpec, HitlTier, ToolDescriptor, ToolError
from condor_hms.alerts import ProposedMedication, check_medication, check_orders
from condor_hms.catalogue.discontinuing import ordered_row, require_status
from condor_hms.catalogue.dosage import dose_args, dose_quantity, frequency_arg, timing
from condor_hms.catalogue.evidence import alert_rows, clinical_context, medication_record
from condor_hms.catalogue.hospital import Hospital, reading, reference_of
from condor_hms.catalogue.medicine_list import current_orders, order_doses
from condor_hms.catalogue.prescribing import (
    alerts_for,
    as_standing,
    monitoring,
    overridden,
    override,
    watched_notes,
)
from condor_hms.catalogue.record_write import Call, Composed, record_write, without
from condor_hms.catalogue.specs import code_arg, date_arg, record_arg, why_arg
from condor_hms.catalogue.words import (
    FREQUENCIES,
    concept_text,
    day,
    dose_text,
    order_name,
    order_text,
    plural,
)
from condor_hms.catalogue.writing import Edit, person, record_time

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from condor_hms.alerts import Alert, MedicationRecord
    from condor_hms.fhir.port import Resource

__all__ = ["medicine_change_tools"]

_ACTIONS = {"update": "Change dose or timing", "hold": "Hold", "resume": "Resume"}
#: How a reason begins that says in which sense a dose changes.
_SENSE = re.compile(r"dose (?:(?P<more>increased|raised)|(?:reduced|lowered|decreased))(?!\w)", re.IGNORECASE)
_DUE = {"action": ("update",)}
#: What a new order takes over from the one that it follows.
_KEPT = (
    "intent",
    "medicationCodeableConcept",
    "medicationReference",
    "subject",
    "encounter",
    "category",
    "reasonCode",
)


def medicine_change_tools(hospital: Hospital) -> tuple[ToolDescriptor, ...]:
    """``medication.update`` and ``prescription.renew`` over an open record."""
    return (
        record_write(
            hospital,
            "medication.update",
            _update,
            tier=HitlTier.HIGH,
            title="Change a medicine",
            noun="the change of the medicine",
            roles={"doctor"},
            approver_roles={"doctor"},
            creates="MedicationRequest",
            target=("order", "MedicationRequest"),
            ops=set(_ACTIONS),
            op_arg="action",
            ui_card=True,
            editable={"dose_value", "dose_unit", "frequency", "reason"},
            may_ask={"override_reason"},
            args=(
                record_arg("order", "Medicine order", "medication.list.card"),
                code_arg("action", "Change", _ACTIONS, required=True),
                *dose_args(required=False, required_if=_DUE),
                frequency_arg(required=False, required_if=_DUE),
                why_arg(),
            ),
        ),
        record_write(
            hospital,
            "prescription.renew",
            _renew,
            tier=HitlTier.HIGH,
            title="Renew a prescription",
            noun="the renewal",
            roles={"doctor"},
            approver_roles={"doctor"},
            creates="MedicationRequest",
            target=("order", "MedicationRequest"),
            ops={"renew"},
            ui_card=True,
            editable={"quantity", "refills", "valid_until"},
            may_ask={"override_reason"},
            args=(
                record_arg("order", "Prescription", "medication.list.card"),
                ArgSpec(
                    name="quantity",
                    label="Quantity",
                    type="integer",
                    required=True,
                    hint={"min": 1, "max": 1000},
                ),
                ArgSpec(name="refills", label="Refills", type="integer", hint={"min": 0, "max": 11}),
                date_arg("valid_until", "Valid until", "today", "today+365d", required=True),
            ),
        ),
    )


async def _update(call: Call) -> Composed:
    """Change the dose or timing of an active medicine, hold it, or resume it; a doctor approves and signs."""
    action, why = str(call.args["action"]), call.given("reason")
    order = await call.target(call.args["order"], "MedicationRequest")
    wanted = "on-hold" if action == "resume" else "active"
    require_status(order, wanted, nothing="nothing was written")
    if action == "update":
        return await _new_dose(call, order, why)
    state = "on-hold" if action == "hold" else "active"
    text = order_text(order)
    patient = await call.subject_of(order)
    record = await medication_record(call.hospital, patient["reference"])
    alerts = _standing(call, record, order) if action == "hold" else _resumed(call, record, order)
    after = overridden(call, without(order, status=state, statusReason={"text": why}))
    said = "On hold" if action == "hold" else "Resumed"
    return Composed(
        subject=patient,
        summary=f"{_ACTIONS[action]} {text}. Reason: {why}",
        done=f"{said}: {text}",
        edits=[Edit(before=order, after=after)],
        reason=why,
        signed="",
        before={"order": text, "status": order["status"]},
        after={"order": text, "status": state, "reason": why},
        alerts=await _rows(call, as_standing(alerts), patient),
        requires=() if action == "hold" else override(alerts, can_monitor=False),
        context=await _context(call, record, order),
        facts={"order": text},
    )


async def _new_dose(call: Call, order: Resource, why: str) -> Composed:
    text, patient = order_text(order), await call.subject_of(order)
    new = await _following(call, order)
    new["dosageInstruction"] = [_dosage(call, order)]
    _check_change(call, order, new, why)
    new = overridden(call, new)
    words = order_text(new)
    record = await medication_record(call.hospital, patient["reference"])
    proposed = {**call.args, "medication": order_name(order)}
    alerts = alerts_for(call.hospital, record, proposed, replaces=frozenset({reference_of(order)}))
    orders = await current_orders(call.hospital, patient["reference"])
    before = [order_text(row) for row in orders]
    after = [words if row["id"] == order["id"] else order_text(row) for row in orders]
    stopped = without(order, status="stopped", statusReason={"text": why})
    rows = await _rows(call, as_standing(alerts), patient)
    watched = await monitoring(call, patient, words, rows)
    name, dose = order_name(order), dose_text(call.args["dose_value"], call.args["dose_unit"])
    return Composed(
        subject=patient,
        summary=f"Change {text} to {words}. Reason: {why}",
        done=f"Dose changed: {text} is now {words}",
        new=[new, *watched],
        edits=[Edit(before=order, after=stopped)],
        reason=why,
        signed="",
        before={"order": text, "medicines": before},
        after={"order": words, "medicines": after},
        alerts=rows,
        requires=override(alerts),
        notes=watched_notes(watched),
        context=await _context(call, record, order),
        facts={
            "order": words,
            "before": text,
            "forPatient": f"Your {name.lower()} is now {dose}, {FREQUENCIES[call.args['frequency']]}.",
        },
    )


def _check_change(call: Call, order: Resource, new: Resource, why: str) -> None:
    """The new dose is another one, and in the sense that the reason says (“Dose reduced: …”)."""
    text = order_text(order)
    old, now = order_doses(order), order_doses(new)
    lines: list[dict[str, Any]] = order.get("dosageInstruction") or [{}]
    repeat = (lines[0].get("timing") or {}).get("repeat")
    if old == now and repeat == timing(call.args["frequency"]):
        raise ToolError(
            f"{text} has that dose and timing already; nothing was written", effect="none", code="no_change"
        )
    said = _SENSE.match(why)
    if said is None or len(old) != 1:
        return
    (before, unit), (after, new_unit) = next(iter(old)), next(iter(now))
    more = said["more"] is not None
    if unit == new_unit and (after <= before if more else after >= before):
        raise ToolError(
            f"{text} stands at {dose_text(before, unit)}: {dose_text(after, new_unit)} is not "
            f"{'more' if more else 'less'}, as “{said[0]}” says; nothing was written",
            effect="none",
            code="other_sense",
        )


async def _following(call: Call, order: Resource) -> Resource:
    """A new active order that follows another."""
    kept = {name: order[name] for name in _KEPT if name in order}
    return {
        "resourceType": "MedicationRequest",
        **kept,
        "status": "active",
        "authoredOn": record_time(call.hospital, call.ctx),
        "requester": await person(call.hospital, call.ctx.principal),
        "priorPrescription": {"reference": reference_of(order)},
    }


def _dosage(call: Call, order: Resource) -> dict[str, Any]:
    """The order's dosage with the stated dose and frequency; its route and PRN stay."""
    lines: list[dict[str, Any]] = order.get("dosageInstruction") or [{}]
    if len(lines) > 1:
        raise ToolError(
            f"{reference_of(order)} has {len(lines)} dosage lines: stop it and prescribe it anew",
            effect="none",
            code="several_dosages",
        )
    args, old = call.args, lines[0]
    route = concept_text(old.get("route"))
    words = " ".join(part for part in (dose_text(args["dose_value"], args["dose_unit"]), route) if part)
    found: dict[str, Any] = {
        "text": f"{words}, {FREQUENCIES[args['frequency']]}",
        "timing": {"repeat": timing(args["frequency"])},
        "doseAndRate": [{"doseQuantity": dose_quantity(args)}],
    }
    return {**found, **{name: old[name] for name in ("route", "asNeededBoolean") if name in old}}


def _standing(call: Call, record: MedicationRecord, order: Resource) -> Sequence[Alert]:
    """The alerts of standing orders that this one takes part in: what holding it would end."""
    alerts = check_orders(record, call.hospital.rules, call.hospital.today)
    reference = reference_of(order)
    return [alert for alert in alerts if any(item.reference == reference for item in alert.evidence)]


def _resumed(call: Call, record: MedicationRecord, order: Resource) -> Sequence[Alert]:
    """What speaks against taking it again, in the dose that stands in the order."""
    lines: list[dict[str, Any]] = order.get("dosageInstruction") or [{}]
    rates: list[dict[str, Any]] = lines[0].get("doseAndRate") or [{}]
    dose = rates[0].get("doseQuantity") or {}
    repeat = (lines[0].get("timing") or {}).get("repeat") or {}
    daily = repeat.get("frequency") if (repeat.get("period"), repeat.get("periodUnit")) == (1, "d") else None
    proposed = ProposedMedication(
        medication=order_name(order),
        dose_value=dose.get("value"),
        dose_unit=dose.get("code") or dose.get("unit"),
        frequency_per_day=daily,
        replaces=frozenset({reference_of(order)}),
    )
    return check_medication(record, proposed, call.hospital.rules, call.hospital.today)


async def _rows(
    call: Call, alerts: Sequence[Alert], patient: Mapping[str, Any]
) -> tuple[dict[str, Any], ...]:
    return alert_rows(alerts, patient, await current_orders(call.hospital, patient["reference"]))


async def _context(call: Call, record: MedicationRecord, order: Resource) -> tuple[dict[str, Any], ...]:
    context = await clinical_context(call.hospital, record, medication=order_name(order))
    return (ordered_row(order), *context)


async def _renew(call: Call) -> Composed:
    """Renew a prescription: quantity, refills and how long it is valid; the old one is completed."""
    order = await call.target(call.args["order"], "MedicationRequest")
    require_status(order, "active", nothing="there is nothing to renew")
    patient, text = await call.subject_of(order), order_text(order)
    new = await _following(call, order)
    if "dosageInstruction" in order:
        new["dosageInstruction"] = order["dosageInstruction"]
    supply: dict[str, Any] = {
        "validityPeriod": {"start": call.hospital.today.isoformat(), "end": call.args["valid_until"]},
        "quantity": {"value": call.args["quantity"]},
    }
    if call.args.get("refills") is not None:
        supply["numberOfRepeatsAllowed"] = call.args["refills"]
    new["dispenseRequest"] = supply
    new = overridden(call, new)
    record = await medication_record(call.hospital, patient["reference"])
    alerts = _resumed(call, record, order)
    rows = await _rows(call, as_standing(alerts), patient)
    watched = await monitoring(call, patient, text, rows)
    refills = plural(call.args.get("refills") or 0, "refill")
    words = (
        f"{text}; {call.args['quantity']} to dispense, {refills}, valid until {day(call.args['valid_until'])}"
    )
    return Composed(
        subject=patient,
        summary=f"Renew {words}",
        done=f"Renewed: {words}",
        new=[new, *watched],
        edits=[Edit(before=order, after=without(order, status="completed"))],
        signed="",
        before={"order": text, "status": "active", "ordered": str(order.get("authoredOn") or "")[:10]},
        after={"order": words, "status": "active", "replaces": reference_of(order)},
        alerts=rows,
        requires=override(alerts),
        notes=watched_notes(watched),
        context=(
            {"label": "Last fill", "text": await _last_fill(call, order)},
            *await _context(call, record, order),
        ),
        facts={"order": words},
    )


async def _last_fill(call: Call, order: Resource) -> str:
    """When it was last dispensed."""
    params = {"prescription": reference_of(order), "_sort": "-whenhandedover"}
    with reading():
        fills = await call.hospital.fhir.search("MedicationDispense", params)
    handed = next((str(fill["whenHandedOver"]) for fill in fills if fill.get("whenHandedOver")), "")
    return day(handed) if handed else "not recorded"
