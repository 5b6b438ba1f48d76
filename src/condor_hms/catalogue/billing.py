"""Bills: what is open, issuing an invoice, voiding one.

Rule: an invoice and its charge items change together, each on the version that was shown.
"""

from __future__ import annotations

import asyncio
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from condor import HitlTier, PolicyClass, ToolContext, ToolDescriptor, ToolError, tool
from condor_hms.catalogue.hospital import Hospital, reading, reference_of, require_patient
from condor_hms.catalogue.identity import identity
from condor_hms.catalogue.record_write import Call, Composed, record_write, without
from condor_hms.catalogue.specs import code_arg, patient_arg, record_arg, why_arg
from condor_hms.catalogue.words import concept_text, joined, plural
from condor_hms.catalogue.writing import Edit

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from condor_hms.fhir.port import Resource

__all__ = ["billing_tools"]

_ACTIONS = {"issue": "Issue", "void": "Void"}
#: Action → state it may be taken from, state it leads to, state of the charge items after it.
_MOVES = {"issue": ("draft", "issued", "billed"), "void": ("issued", "cancelled", "billable")}


def billing_tools(hospital: Hospital) -> tuple[ToolDescriptor, ...]:
    """``billing.summary.card`` and ``billing.invoice.update`` over an open record."""

    async def summarise(_ctx: ToolContext, patient: str) -> dict[str, Any]:
        """The accounts, charges and invoices of a patient, and what is open."""
        who = identity(await require_patient(hospital, patient), hospital.today)
        with reading():
            accounts, charges, invoices = await asyncio.gather(
                *(
                    hospital.fhir.search(kind, {"subject": patient})
                    for kind in ("Account", "ChargeItem", "Invoice")
                )
            )
        rows = [_invoice_row(invoice) for invoice in invoices]
        return {
            "patient": who,
            "accounts": [
                {
                    "reference": reference_of(account),
                    "name": account.get("name", ""),
                    "status": account.get("status"),
                }
                for account in accounts
            ],
            "charges": [_charge_row(charge) for charge in charges],
            "invoices": rows,
            "unbilled": _total(
                [row["amount"] for row in map(_charge_row, charges) if row["status"] == "billable"]
            ),
            "open": _total([row["amount"] for row in rows if row["status"] == "issued"]),
            "byStatus": _only(rows),
        }

    return (
        tool(
            "billing.summary.card",
            policy_class=PolicyClass.READ,
            title="Bill summary",
            description=summarise.__doc__ or "",
            ops={"read"},
            lookups={"byStatus"},
            roles=("billing", "admin", "doctor"),
            ui_card=True,
            args=(patient_arg(),),
            noun="the bill summary",
            report=_report,
        )(summarise),
        record_write(
            hospital,
            "billing.invoice.update",
            _update,
            tier=HitlTier.HIGH,
            title="Issue or void an invoice",
            noun="the change of the invoice",
            roles={"billing", "admin"},
            approver_roles={"billing"},
            target=("invoice", "Invoice"),
            ops=set(_ACTIONS),
            op_arg="action",
            ui_card=True,
            editable={"reason"},
            args=(
                record_arg("invoice", "Invoice", "billing.summary.card"),
                code_arg("action", "Action", _ACTIONS, required=True),
                why_arg(required=False, required_if={"action": ("void",)}),
            ),
        ),
    )


def _only(rows: Sequence[Mapping[str, Any]]) -> dict[str, Mapping[str, Any]]:
    """State → the one invoice in it."""
    states: dict[str, list[Mapping[str, Any]]] = {}
    for row in rows:
        states.setdefault(str(row["status"]), []).append(row)
    return {state: same[0] for state, same in states.items() if len(same) == 1}


def _money(amount: Mapping[str, Any] | None) -> str:
    """``159.50 USD``; exact to the cent."""
    if not amount or "value" not in amount:
        return "no amount"
    return f"{Decimal(str(amount['value'])).quantize(Decimal('0.01'))} {amount.get('currency', '')}".strip()


def _total(amounts: Sequence[str]) -> str:
    """The sum of amounts, by currency."""
    sums: dict[str, Decimal] = {}
    for amount in amounts:
        value, _, currency = amount.partition(" ")
        if value != "no":
            sums[currency] = sums.get(currency, Decimal(0)) + Decimal(value)
    return joined([f"{value} {currency}".strip() for currency, value in sums.items()]) or "0.00"


def _charge_row(charge: Resource) -> dict[str, Any]:
    return {
        "reference": reference_of(charge),
        "what": concept_text(charge.get("code")) or "charge not named",
        "status": charge.get("status", ""),
        "amount": _money(charge.get("priceOverride")),
    }


def _invoice_row(invoice: Resource) -> dict[str, Any]:
    return {
        "reference": reference_of(invoice),
        "status": invoice.get("status", ""),
        "date": str(invoice.get("date") or "")[:10],
        "amount": _money(invoice.get("totalGross") or invoice.get("totalNet")),
    }


def _report(args: Mapping[str, Any], value: Any) -> str:
    name, invoices = value["patient"]["name"], value["invoices"]
    if not invoices and not value["charges"]:
        return f"{name}: no charges and no invoices on record."
    said = [f"{row['reference']} {row['status']}, {row['amount']}" for row in invoices]
    listed = f": {'; '.join(said)}" if said else ""
    return (
        f"{name}: {plural(len(invoices), 'invoice')}{listed}. Open balance {value['open']}; "
        f"not billed yet {value['unbilled']}."
    )


async def _update(call: Call) -> Composed:
    """Issue a draft invoice, or void an issued one with the reason; its charge items go along."""
    action, why = str(call.args["action"]), call.given("reason")
    wanted, state, charged = _MOVES[action]
    invoice = await call.target(call.args["invoice"], "Invoice")
    if invoice.get("status") != wanted:
        raise ToolError(
            f"{reference_of(invoice)} is {invoice.get('status')}, not {wanted}; nothing was written",
            effect="none",
            code="wrong_state",
        )
    charges = [await call.target(reference, "ChargeItem") for reference in _charge_references(invoice)]
    if not charges:
        raise ToolError(
            f"{reference_of(invoice)} has no charge items; nothing was written",
            effect="none",
            code="no_lines",
        )
    after = without(invoice, status=state, **({"cancelledReason": why} if action == "void" else {}))
    row = _invoice_row(invoice)
    payer = await _payer(call, invoice)
    return Composed(
        subject=await call.subject_of(invoice),
        summary=f"{_ACTIONS[action]} {row['reference']} over {row['amount']}"
        + (f". Reason: {why}" if why else ""),
        done=f"Invoice {'issued' if action == 'issue' else 'voided'}: {row['amount']}",
        edits=[
            Edit(before=invoice, after=after),
            *(Edit(before=charge, after=without(charge, status=charged)) for charge in charges),
        ],
        reason=why,
        before=_shown(invoice, charges),
        after=_shown(after, [without(charge, status=charged) for charge in charges]),
        context=({"label": "Payer", "text": payer}, {"label": "Total", "text": row["amount"]}),
        signed="",
        facts={"amount": row["amount"]},
    )


def _charge_references(invoice: Resource) -> list[str]:
    lines = [
        (line.get("chargeItemReference") or {}).get("reference") for line in invoice.get("lineItem") or []
    ]
    return [line for line in lines if line]


async def _payer(call: Call, invoice: Resource) -> str:
    """Who pays, as the invoice or the patient's coverage says."""
    with reading():
        covers = await call.hospital.fhir.search(
            "Coverage", {"patient": str((invoice.get("subject") or {}).get("reference")), "status": "active"}
        )
    named = [
        str(payor.get("display") or payor.get("reference") or "")
        for cover in covers
        for payor in cover.get("payor") or []
    ]
    return (
        joined([name for name in dict.fromkeys(named) if name])
        or "the patient (no active coverage on record)"
    )


def _shown(invoice: Resource, charges: Sequence[Resource]) -> dict[str, Any]:
    lines = [f"{row['what']} {row['amount']}: {row['status']}" for row in map(_charge_row, charges)]
    return {"invoice": invoice["status"], "lines": lines}
