"""Prescribing a medicine: always a person's decision, on a card that shows the whole order.

Rule 1: no dose, unit, route or frequency has a default; what is not said is asked for.
Rule 2: the approver signs the order that was shown. Without an approver nothing is written.
Rule 3: a critical alert needs a reason; the reason is kept on the order. Who will monitor leaves a task to do
so, in the same transaction.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from condor import ArgSpec, HitlTier, InputField, ToolDescriptor
from condor_hms.alerts import ProposedMedication, check_medication, frequency_per_day
from condor_hms.alerts.model import SEVERITIES
from condor_hms.catalogue.dosage import days, dosage, dosage_words, dose_args, frequency_arg, route_arg
from condor_hms.catalogue.evidence import alert_rows, clinical_context, medication_record
from condor_hms.catalogue.medicine_list import current_orders
from condor_hms.catalogue.medicine_names import (
    AS_TYPED,
    MEANT,
    medicine_name,
    name_alert,
    plain_name,
    which_medicine,
)
from condor_hms.catalogue.record_write import Call, Composed, record_write
from condor_hms.catalogue.specs import Hint, choice, patient_arg, text_arg
from condor_hms.catalogue.tasks import task_resource
from condor_hms.catalogue.terms import ONLY_ROUTE, ingredient_key
from condor_hms.catalogue.words import FREQUENCIES, joined, order_text, plural
from condor_hms.catalogue.writing import person, record_time

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from condor_hms.alerts import Alert, MedicationRecord
    from condor_hms.catalogue.hospital import Hospital
    from condor_hms.fhir.port import Resource

__all__ = [
    "OVERRIDE_REASONS",
    "alerts_for",
    "as_standing",
    "monitoring",
    "overridden",
    "override",
    "prescribing_tools",
    "watched_notes",
]

_WILL_MONITOR = "will-monitor"
OVERRIDE_REASONS: Mapping[str, str] = {
    _WILL_MONITOR: "Will monitor as recommended",
    "tolerated-before": "Patient has tolerated it before",
    "benefit-exceeds-risk": "Benefit exceeds risk",
    "no-alternative": "No reasonable alternative",
    "incorrect-alert": "Alert is incorrect for this patient",
}
_OVERRIDE_LABEL: Final = "Reason for overriding the alert"


def prescribing_tools(hospital: Hospital) -> tuple[ToolDescriptor, ...]:
    """``medication.prescribe`` over an open record."""
    return (
        record_write(
            hospital,
            "medication.prescribe",
            _prescribe,
            tier=HitlTier.HIGH,
            title="Prescribe a medicine",
            noun="the prescription",
            roles={"doctor"},
            approver_roles={"doctor"},
            editable=_EDITABLE,
            creates="MedicationRequest",
            ui_card=True,
            args=_arguments(),
        ),
    )


#: How the medicine is taken, for how long, and why; another patient or medicine is another order.
_EDITABLE = frozenset(
    {"dose_value", "dose_unit", "route", "frequency", "duration_days", "as_needed", "indication"}
    | {"quantity", "refills", "override_reason"}
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
        *dose_args(required=True),
        route_arg(),
        frequency_arg(required=True),
        ArgSpec(name="duration_days", label="Duration (days)", type="integer", hint={"min": 1, "max": 365}),
        ArgSpec(name="as_needed", label="As needed (PRN)", type="boolean", hint={"radio": True}),
        text_arg("indication", "Indication"),
        ArgSpec(name="quantity", label="Quantity to dispense", type="integer", hint={"min": 1, "max": 1000}),
        ArgSpec(name="refills", label="Refills", type="integer", hint={"min": 0, "max": 11}),
        ArgSpec(name="override_reason", label=_OVERRIDE_LABEL, type="code", hint=override_hint),
    )


async def _prescribe(call: Call) -> Composed:
    """Prescribe a medicine: dose, route and frequency are always stated; a doctor approves and signs."""
    patient = await call.patient()
    record = await medication_record(call.hospital, patient["reference"])
    order, unclear = _named(call, record)
    orders = await current_orders(call.hospital, patient["reference"])
    rows = alert_rows(alerts_for(call.hospital, record, order), patient, orders)
    before = [order_text(row) for row in orders]
    words = _in_words(order)
    critical = any(row["severity"] == "critical" for row in rows)
    resource = _resource(order)
    if critical and order.get("override_reason"):
        resource["note"] = [_overridden(order["override_reason"])]
    resource["authoredOn"] = record_time(call.hospital, call.ctx)
    resource["requester"] = await person(call.hospital, call.ctx.principal)
    watched = await monitoring(call, patient, words, rows) if critical else []
    return Composed(
        subject=patient,
        summary=words,
        done=f"Prescribed: {words}",
        new=[resource, *watched],
        signed="",
        before={"medicines": before},
        after={
            "medicines": [*before, words],
            **({"tasks": [task["description"] for task in watched]} if watched else {}),
        },
        alerts=rows,
        context=[
            *_taken_route(order),
            *await clinical_context(call.hospital, record, medication=str(order.get("medication"))),
        ],
        requires=unclear or (("override_reason",) if critical else ()),
        notes=watched_notes(watched),
        facts={"order": words},
    )


def _named(call: Call, record: MedicationRecord) -> tuple[Mapping[str, Any], tuple[InputField, ...]]:
    """The order under the medicine's name, and the question which one is meant while that is open."""
    typed = plain_name(str(call.args["medication"]), "Medicine")
    order = {**call.args, "medication": typed}
    name = medicine_name(typed, call.hospital.rules, record)
    meant = call.ctx.answers.get(MEANT)
    if not name.near or meant == AS_TYPED:
        return order, ()
    if meant == name.near:
        return {**order, "medication": name.near.capitalize()}, ()
    return order, (which_medicine(name),)


def _taken_route(order: Mapping[str, Any]) -> list[dict[str, str]]:
    """The route that a request need not name, said on the card as what it is: a fact of the product."""
    medicine, route = str(order.get("medication") or ""), str(order.get("route") or "")
    if ONLY_ROUTE.get(ingredient_key(medicine)) != route:
        return []
    text = f"{route}: taken from the product where the request names none; {medicine} exists for no other"
    return [{"label": "Route", "text": text}]


async def monitoring(
    call: Call, patient: Mapping[str, Any], words: str, rows: Sequence[Mapping[str, Any]]
) -> list[Resource]:
    """The task that “will monitor” promises; none for another reason."""
    if _reason_of(call) != _WILL_MONITOR:
        return []
    against = [
        f"{row['summary'].rstrip('. ')}: {row['action'].rstrip('. ')}"
        for row in rows
        if row["severity"] != "info"
    ]
    what = f"Monitor {patient['name']} on {words}. {joined(against) or 'As recommended'}."
    return [await task_resource(call, what, owner="nurse", priority="urgent", patient=patient["reference"])]


def watched_notes(tasks: Iterable[Resource]) -> list[str]:
    """What is told of the tasks to monitor."""
    return [f"A task to monitor was left for the nurse: “{task['description']}”." for task in tasks]


def alerts_for(
    hospital: Hospital,
    record: MedicationRecord,
    order: Mapping[str, Any],
    *,
    replaces: frozenset[str] = frozenset(),
) -> tuple[Alert, ...]:
    """What speaks against this order in this record, worst first.

    Args:
        replaces: orders that it takes the place of.
    """
    frequency = str(order.get("frequency"))
    name = medicine_name(str(order.get("medication")), hospital.rules, record)
    proposed = ProposedMedication(
        medication=name.compared,
        dose_value=order.get("dose_value"),
        dose_unit=order.get("dose_unit"),
        frequency_per_day=frequency_per_day(frequency) if frequency in FREQUENCIES else None,
        replaces=replaces,
    )
    alerts = (*check_medication(record, proposed, hospital.rules, hospital.today), *name_alert(name))
    return tuple(sorted(alerts, key=lambda alert: SEVERITIES.index(alert.severity)))


def _in_words(order: Mapping[str, Any]) -> str:
    """``Nitrofurantoin 100 mg oral, twice daily, for 5 days, for UTI``."""
    parts = [f"{str(order.get('medication')).strip()} {dosage_words(order)}"]
    if order.get("indication"):
        parts.append(f"for {order['indication']}")
    if order.get("quantity"):
        parts.append(f"dispense {order['quantity']}")
    if order.get("refills"):
        parts.append(plural(order["refills"], "refill"))
    return ", ".join(parts)


def _resource(order: Mapping[str, Any]) -> Resource:
    """The order as FHIR, but for who asked and when."""
    resource: dict[str, Any] = {
        "resourceType": "MedicationRequest",
        "status": "active",
        "intent": "order",
        "medicationCodeableConcept": {"text": str(order["medication"]).strip()},
        "subject": {"reference": order["patient"]},
        "dosageInstruction": [dosage(order)],
    }
    supply = _supply(order)
    if supply:
        resource["dispenseRequest"] = supply
    if order.get("indication"):
        resource["reasonCode"] = [{"text": order["indication"]}]
    return resource


def _reason_of(call: Call) -> object:
    """Why a critical alert is passed over, said as an argument or beside them."""
    return call.args.get("override_reason") or call.ctx.answers.get("override_reason")


def _overridden(reason: object) -> dict[str, str]:
    return {"text": f"Alert overridden: {OVERRIDE_REASONS.get(str(reason), reason)}"}


def override(alerts: Iterable[Alert], *, can_monitor: bool = True) -> tuple[InputField, ...]:
    """What a call with these alerts has to be told beside its arguments.

    Args:
        can_monitor: the call leaves the task that “will monitor” promises.
    """
    if not any(alert.severity == "critical" for alert in as_standing(alerts)):
        return ()
    reasons = {word: text for word, text in OVERRIDE_REASONS.items() if can_monitor or word != _WILL_MONITOR}
    hint: Hint = {"enum": choice(reasons), "radio": True}
    return (InputField(name="override_reason", label=_OVERRIDE_LABEL, type="code", hint=hint),)


def as_standing(alerts: Iterable[Alert]) -> list[Alert]:
    """The alerts as a card of a changed order shows them: critical is only what the call itself would do.

    What another order does anyway is told as that, a warning: nobody is asked to pass over it here, and no
    card shows a critical alert that a bare approval passes. Only the checks know which those are: an alert
    of the call's own medicine may have the rule, the evidence, and even the words of one that stands.
    """
    return [
        replace(alert, severity="warning", summary=f"Stands already, from another order: {alert.summary}")
        if alert.severity == "critical" and alert.stands
        else alert
        for alert in alerts
    ]


def overridden(call: Call, resource: Resource) -> Resource:
    """A resource with the reason for which an alert was passed over as its last note, if there was one."""
    reason = _reason_of(call)
    return {**resource, "note": [*resource.get("note", ()), _overridden(reason)]} if reason else resource


def _supply(order: Mapping[str, Any]) -> dict[str, Any]:
    supply: dict[str, Any] = {}
    if order.get("duration_days"):
        supply["expectedSupplyDuration"] = days(order["duration_days"])
    if order.get("quantity"):
        supply["quantity"] = {"value": order["quantity"]}
    if order.get("refills") is not None:
        supply["numberOfRepeatsAllowed"] = order["refills"]
    return supply
