"""What a patient is ordered to take: the list, and which order a medicine's name means.

Rule: a name means an order only where exactly one active order has it. Two active orders of one medicine are
ambiguous; neither is offered by name, so that a person chooses.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from condor import ArgSpec, PolicyClass, ToolContext, ToolDescriptor, tool
from condor_hms.catalogue.hospital import Hospital, reading, reference_of, require_patient, version_of
from condor_hms.catalogue.identity import identity
from condor_hms.catalogue.specs import CLINICIANS, choice, patient_arg
from condor_hms.catalogue.terms import ingredient_key
from condor_hms.catalogue.words import day, joined, order_name, order_text, plural

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from condor_hms.fhir.port import Resource

__all__ = ["ORDER_INTENTS", "current_orders", "medicine_list_tools", "order_doses", "order_row"]

#: Intents that tell somebody to give a medicine; proposals and plans do not.
ORDER_INTENTS = "order,original-order,reflex-order,filler-order,instance-order"
_STATUSES = {"active": "Active", "on-hold": "On hold", "stopped": "Stopped", "all": "All"}


def medicine_list_tools(hospital: Hospital) -> tuple[ToolDescriptor, ...]:
    """``medication.list.card`` over an open record."""

    async def list_medicines(_ctx: ToolContext, patient: str, status: str | None = None) -> dict[str, Any]:
        """The patient's medicine orders: active and on hold, or those of one status."""
        who = identity(await require_patient(hospital, patient), hospital.today)
        orders = await current_orders(hospital, patient, status or "active,on-hold")
        return {
            "patient": who,
            "status": status or "active,on-hold",
            "medicines": [order_row(order) for order in orders],
            "byIngredient": _by_ingredient(orders, "active"),
            "heldByIngredient": _by_ingredient(orders, "on-hold"),
            "byDose": _by_dose(orders),
        }

    return (
        tool(
            "medication.list.card",
            policy_class=PolicyClass.READ,
            title="Current medicines",
            description=list_medicines.__doc__ or "",
            ops={"read"},
            returns={"/byIngredient/INGREDIENT/reference": "one order, by its ingredient in lower case"},
            lookups={"byIngredient", "heldByIngredient", "byDose"},
            roles=CLINICIANS,
            alias_group="medication-list",
            alias_fidelity="equal",
            ui_card=True,
            args=(
                patient_arg(),
                ArgSpec(
                    name="status",
                    label="Status",
                    type="code",
                    hint={"enum": choice(_STATUSES), "radio": True},
                ),
            ),
            noun="the list of medicines",
            report=_report,
        )(list_medicines),
    )


async def current_orders(hospital: Hospital, patient: str, status: str = "active") -> list[Resource]:
    """Orders of these statuses, in the order they were written; ``all`` gives every status."""
    params = {"subject": patient, "intent": ORDER_INTENTS}
    if status != "all":
        params["status"] = status
    with reading():
        return await hospital.fhir.search("MedicationRequest", params)


def order_row(order: Resource) -> dict[str, Any]:
    """One order, compact: enough to refer to it, to show it and to stop it."""
    return {
        "reference": reference_of(order),
        "version": version_of(order),
        "name": order_name(order),
        "text": order_text(order),
        "status": order.get("status", ""),
        "authoredOn": (order.get("authoredOn") or "")[:10],
        "doseUnit": _dose_unit(order),
    }


def _dose_unit(order: Resource) -> str | None:
    """The UCUM code that its one dose is in."""
    units = {
        (rate.get("doseQuantity") or {}).get("code")
        for dosage in order.get("dosageInstruction") or []
        for rate in dosage.get("doseAndRate") or []
    }
    return next(iter(units)) if len(units) == 1 else None


def _by_ingredient(orders: Sequence[Resource], status: str) -> dict[str, dict[str, Any]]:
    """Ingredient → its one order of a status, by its folded name and by its name as written."""
    active = [order for order in orders if order.get("status") == status]
    keys: dict[str, list[Resource]] = {}
    for order in active:
        keys.setdefault(ingredient_key(order_name(order)), []).append(order)
    found: dict[str, dict[str, Any]] = {}
    for key, same in keys.items():
        if key and len(same) == 1:
            found[key] = found[order_name(same[0]).casefold()] = order_row(same[0])
    return found


def _by_dose(orders: Sequence[Resource]) -> dict[str, dict[str, Any]]:
    """``aspirin 325`` and ``aspirin 325 mg`` → the one active order of an ingredient, by the dose it has."""
    named = _by_ingredient(orders, "active")
    found: dict[str, dict[str, Any]] = {}
    for order in orders:
        doses = order_doses(order)
        for key, row in named.items():
            if row["reference"] == reference_of(order) and len(doses) == 1:
                value, unit = next(iter(doses))
                found[f"{key} {value:g}"] = found[f"{key} {value:g} {unit}"] = row
    return found


def order_doses(order: Resource) -> set[tuple[float, str]]:
    """Its single doses: number and UCUM code; empty where none is structured."""
    quantities = [
        rate.get("doseQuantity") or {}
        for dosage in order.get("dosageInstruction") or []
        for rate in dosage.get("doseAndRate") or []
    ]
    return {
        (float(quantity["value"]), str(quantity.get("code") or quantity.get("unit") or ""))
        for quantity in quantities
        if quantity.get("value") is not None
    }


def _report(args: Mapping[str, Any], value: Any) -> str:
    rows, name = value["medicines"], value["patient"]["name"]
    status = args.get("status") or "active"
    if not rows:
        return f"{name}: no {'' if status == 'all' else status + ' '}medicines on record."
    if args.get("status"):
        said = [f"{row['text']} ({row['status']}, {day(row['authoredOn'])})" for row in rows]
        return f"{name}: {plural(len(rows), 'medicine order')}: {'; '.join(said)}."
    active = [row["text"] for row in rows if row["status"] == "active"]
    held = [row["text"] for row in rows if row["status"] == "on-hold"]
    text = f"{name}: {plural(len(active), 'active medicine')}" + (f": {'; '.join(active)}" if active else "")
    return text + (f". On hold: {joined(held)}." if held else ".")
