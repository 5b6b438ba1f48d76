"""Prescribing a medicine: always a person's decision, on a card that shows the whole order.

Rule 1: no dose, unit, route or frequency has a default; what is not said is asked for.
Rule 2: the approver signs the order that was shown. Without an approver nothing is written.
Rule 3: a critical alert needs a reason; the reason is kept on the order.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from condor import (
    ArgSpec,
    CardEvidence,
    HitlTier,
    PolicyClass,
    Reconciled,
    ToolContext,
    ToolDescriptor,
    ToolError,
    tool,
)
from condor_hms.alerts import ProposedMedication, check_medication, frequency_per_day
from condor_hms.catalogue.evidence import alert_rows, clinical_context, medication_record
from condor_hms.catalogue.hospital import Hospital, require_patient
from condor_hms.catalogue.identity import identity
from condor_hms.catalogue.medicine_list import current_orders
from condor_hms.catalogue.specs import DOSE_UNIT_HINT, DOSE_VALUE_HINT, Hint, choice, patient_arg
from condor_hms.catalogue.words import DOSE_UNITS, FREQUENCIES, ROUTES, dose_text, order_text, plural
from condor_hms.catalogue.writing import (
    Written,
    create,
    person,
    reconcile_created,
    record_time,
    signature,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from condor_hms.alerts import Alert, MedicationRecord
    from condor_hms.fhir.port import Resource

__all__ = ["OVERRIDE_REASONS", "alerts_for", "prescribing_tools"]

OVERRIDE_REASONS: Mapping[str, str] = {
    "will-monitor": "Will monitor as recommended",
    "tolerated-before": "Patient has tolerated it before",
    "benefit-exceeds-risk": "Benefit exceeds risk",
    "no-alternative": "No reasonable alternative",
    "incorrect-alert": "Alert is incorrect for this patient",
}
_ROUTE_LABELS = {
    "oral": "By mouth",
    "iv": "Intravenous",
    "im": "Intramuscular",
    "sc": "Subcutaneous",
    "inh": "Inhaled",
    "top": "Topical",
    "sl": "Sublingual",
    "pr": "Rectal",
}
_FREQUENCY_LABELS = {
    "QD": "Once daily",
    "BID": "Twice daily",
    "TID": "Three times daily",
    "QID": "Four times daily",
    "Q4H": "Every 4 h",
    "Q6H": "Every 6 h",
    "Q8H": "Every 8 h",
    "QOD": "Alternate days",
    "HS": "At bedtime",
    "ONCE": "Once only",
}
#: SNOMED CT codes of the routes.
_ROUTE_CODES = {
    "oral": "26643006",
    "iv": "47625008",
    "im": "78421000",
    "sc": "34206005",
    "inh": "447694001",
    "top": "6064005",
    "sl": "37839007",
    "pr": "37161004",
}
#: Frequency argument → FHIR Timing.repeat.
_TIMINGS: Mapping[str, Mapping[str, Any]] = {
    "QD": {"frequency": 1, "period": 1, "periodUnit": "d"},
    "BID": {"frequency": 2, "period": 1, "periodUnit": "d"},
    "TID": {"frequency": 3, "period": 1, "periodUnit": "d"},
    "QID": {"frequency": 4, "period": 1, "periodUnit": "d"},
    "Q4H": {"frequency": 1, "period": 4, "periodUnit": "h"},
    "Q6H": {"frequency": 1, "period": 6, "periodUnit": "h"},
    "Q8H": {"frequency": 1, "period": 8, "periodUnit": "h"},
    "QOD": {"frequency": 1, "period": 2, "periodUnit": "d"},
    "HS": {"frequency": 1, "period": 1, "periodUnit": "d", "when": ["HS"]},
    "ONCE": {"count": 1},
}
_UCUM = "http://unitsofmeasure.org"


def prescribing_tools(hospital: Hospital) -> tuple[ToolDescriptor, ...]:
    """``medication.prescribe`` over an open record."""

    async def prescribe(ctx: ToolContext, **order: Any) -> dict[str, Any]:
        """Prescribe a medicine: dose, route and frequency are always stated; a doctor approves and signs."""
        patient = identity(await require_patient(hospital, order.get("patient")), hospital.today)
        resource = _resource(order)
        resource["authoredOn"] = record_time(hospital, ctx)
        resource["requester"] = await person(hospital, ctx.principal)
        signed = await signature(hospital, ctx, resource)
        return _value(order, patient["text"], await create(hospital, ctx, resource, signed=signed))

    async def show(_ctx: ToolContext, **order: Any) -> CardEvidence:
        return await _evidence(hospital, order)

    async def reconcile(ctx: ToolContext, **order: Any) -> Reconciled:
        patient = identity(await require_patient(hospital, order.get("patient")), hospital.today)
        return await reconcile_created(
            hospital, ctx, "MedicationRequest", lambda written: _value(order, patient["text"], written)
        )

    return (
        tool(
            "medication.prescribe",
            policy_class=PolicyClass.MUTATE,
            hitl_tier=HitlTier.HIGH,
            title="Prescribe a medicine",
            description=prescribe.__doc__ or "",
            ops={"create"},
            roles={"doctor"},
            approver_roles={"doctor"},
            idempotent=True,
            ui_card=True,
            args=_arguments(),
            metadata={"mutating": True},
            noun="the prescription",
            report=_report,
            preview=show,
            reconcile=reconcile,
        )(prescribe),
    )


def _arguments() -> tuple[ArgSpec, ...]:
    medicine_hint: Hint = {"min_length": 2, "lookup": {"terminology": "RxNorm"}}
    override_hint: Hint = {
        "enum": choice(OVERRIDE_REASONS),
        "radio": True,
        "when": "interaction.check returned critical",
    }
    return (
        patient_arg(),
        ArgSpec(name="medication", label="Medicine", type="string", required=True, hint=medicine_hint),
        ArgSpec(name="dose_value", label="Dose", type="decimal", required=True, hint=DOSE_VALUE_HINT),
        ArgSpec(name="dose_unit", label="Dose unit", type="code", required=True, hint=DOSE_UNIT_HINT),
        ArgSpec(
            name="route", label="Route", type="code", required=True, hint={"enum": choice(_ROUTE_LABELS)}
        ),
        ArgSpec(
            name="frequency",
            label="Frequency",
            type="code",
            required=True,
            hint={"enum": choice(_FREQUENCY_LABELS)},
        ),
        ArgSpec(name="duration_days", label="Duration (days)", type="integer", hint={"min": 1, "max": 365}),
        ArgSpec(name="as_needed", label="As needed (PRN)", type="boolean", hint={"radio": True}),
        ArgSpec(name="indication", label="Indication", type="string", hint={"textarea": True}),
        ArgSpec(name="quantity", label="Quantity to dispense", type="integer", hint={"min": 1, "max": 1000}),
        ArgSpec(name="refills", label="Refills", type="integer", hint={"min": 0, "max": 11}),
        ArgSpec(
            name="override_reason", label="Reason for overriding the alert", type="code", hint=override_hint
        ),
    )


async def _evidence(hospital: Hospital, order: Mapping[str, Any]) -> CardEvidence:
    """The card: who, the order in words, the list before and after, alerts, and what to weigh them with."""
    patient = identity(await require_patient(hospital, order.get("patient")), hospital.today)
    record = await medication_record(hospital, patient["reference"])
    orders = await current_orders(hospital, patient["reference"])
    rows = alert_rows(alerts_for(hospital, record, order), patient, orders)
    before = [order_text(row) for row in orders]
    words = _in_words(order)
    critical = any(row["severity"] == "critical" for row in rows)
    return CardEvidence(
        subject=patient,
        summary=words,
        before={"medicines": before},
        after={"medicines": [*before, words]},
        alerts=rows,
        context=await clinical_context(hospital, record, medication=str(order.get("medication"))),
        versions={},
        requires=("override_reason",) if critical else (),
    )


def alerts_for(hospital: Hospital, record: MedicationRecord, order: Mapping[str, Any]) -> tuple[Alert, ...]:
    """What speaks against this order in this record, worst first."""
    frequency = str(order.get("frequency"))
    proposed = ProposedMedication(
        medication=str(order.get("medication")),
        dose_value=order.get("dose_value"),
        dose_unit=order.get("dose_unit"),
        frequency_per_day=frequency_per_day(frequency) if frequency in FREQUENCIES else None,
    )
    return check_medication(record, proposed, hospital.rules, hospital.today)


def _dosage_words(order: Mapping[str, Any]) -> str:
    """``100 mg oral, twice daily, for 5 days``."""
    _require_stated(order)
    dose = dose_text(order["dose_value"], order["dose_unit"])
    parts = [f"{dose} {ROUTES[order['route']]}", FREQUENCIES[order["frequency"]]]
    if order.get("as_needed"):
        parts.append("as needed")
    if order.get("duration_days"):
        parts.append(f"for {plural(order['duration_days'], 'day')}")
    return ", ".join(parts)


def _in_words(order: Mapping[str, Any]) -> str:
    """``Nitrofurantoin 100 mg oral, twice daily, for 5 days, for UTI``."""
    parts = [f"{str(order.get('medication')).strip()} {_dosage_words(order)}"]
    if order.get("indication"):
        parts.append(f"for {order['indication']}")
    if order.get("quantity"):
        parts.append(f"dispense {order['quantity']}")
    if order.get("refills"):
        parts.append(plural(order["refills"], "refill"))
    return ", ".join(parts)


def _require_stated(order: Mapping[str, Any]) -> None:
    """Never a default: an order without these four is no order."""
    closed = {"dose_unit": DOSE_UNITS, "route": ROUTES, "frequency": FREQUENCIES}
    wrong = [name for name, known in closed.items() if order.get(name) not in known]
    value = order.get("dose_value")
    if isinstance(value, bool) or not isinstance(value, int | float) or value <= 0:
        wrong.insert(0, "dose_value")
    if not str(order.get("medication") or "").strip():
        wrong.insert(0, "medication")
    if wrong:
        raise ToolError(
            f"the order does not say its {', '.join(wrong)}; nothing was written",
            effect="none",
            code="incomplete",
        )


def _resource(order: Mapping[str, Any]) -> Resource:
    """The order as FHIR, but for who asked and when."""
    words = _dosage_words(order)
    unit, route = order["dose_unit"], order["route"]
    repeat = dict(_TIMINGS[order["frequency"]])
    days = order.get("duration_days")
    duration = {"value": days, "unit": "d", "system": _UCUM, "code": "d"}
    if days:
        repeat["boundsDuration"] = duration
    dose = {"value": order["dose_value"], "unit": DOSE_UNITS[unit], "system": _UCUM, "code": unit}
    dosage: dict[str, Any] = {
        "text": words,
        "timing": {"repeat": repeat},
        "route": {
            "coding": [{"system": "http://snomed.info/sct", "code": _ROUTE_CODES[route]}],
            "text": ROUTES[route],
        },
        "doseAndRate": [{"doseQuantity": dose}],
    }
    if order.get("as_needed") is not None:
        dosage["asNeededBoolean"] = order["as_needed"]
    resource: dict[str, Any] = {
        "resourceType": "MedicationRequest",
        "status": "active",
        "intent": "order",
        "medicationCodeableConcept": {"text": str(order["medication"]).strip()},
        "subject": {"reference": order["patient"]},
        "dosageInstruction": [dosage],
    }
    supply = _supply(order, duration)
    if supply:
        resource["dispenseRequest"] = supply
    if order.get("indication"):
        resource["reasonCode"] = [{"text": order["indication"]}]
    if order.get("override_reason"):
        reason = OVERRIDE_REASONS.get(order["override_reason"], order["override_reason"])
        resource["note"] = [{"text": f"Alert overridden: {reason}"}]
    return resource


def _supply(order: Mapping[str, Any], duration: Mapping[str, Any]) -> dict[str, Any]:
    supply: dict[str, Any] = {}
    if order.get("duration_days"):
        supply["expectedSupplyDuration"] = dict(duration)
    if order.get("quantity"):
        supply["quantity"] = {"value": order["quantity"]}
    if order.get("refills") is not None:
        supply["numberOfRepeatsAllowed"] = order["refills"]
    return supply


def _value(order: Mapping[str, Any], patient: str, written: Written) -> dict[str, Any]:
    return {**written.to_json(), "order": _in_words(order), "patient": patient}


def _report(args: Mapping[str, Any], value: Any) -> str:
    written = f"{value['reference']} version {value['version']}"
    return f"Prescribed: {value['order']} for {value['patient']}. {written}."
