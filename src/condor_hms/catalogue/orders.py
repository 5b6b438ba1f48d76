"""Orders to other departments: where they stand, cancelling one, and referrals.

Rule: an order is cancelled by its state; it stays in the record as revoked, with the reason.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from condor import ArgSpec, InputField, NeedInput, PolicyClass, ToolContext, ToolDescriptor, ToolError, tool
from condor_hms.catalogue.hospital import Hospital, reading, reference_of, require, require_patient
from condor_hms.catalogue.identity import identity
from condor_hms.catalogue.record_write import Call, Composed, record_write, without
from condor_hms.catalogue.requests import request_resource
from condor_hms.catalogue.specs import code_arg, patient_arg, priority_arg, record_arg, text_arg, why_arg
from condor_hms.catalogue.words import concept_text, day, plural
from condor_hms.catalogue.writing import Edit

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from condor_hms.fhir.port import Resource

__all__ = ["order_tools"]

_SPECIALTIES = {
    "394579002": "Cardiology",
    "394589003": "Nephrology",
    "394583002": "Endocrinology",
    "394584008": "Gastroenterology",
    "722165004": "Dietetics",
}
_REFERRAL = ("3457005", "Patient referral")
_TOLD_MAX = 6
_ROWS_MAX = 100


def order_tools(hospital: Hospital) -> tuple[ToolDescriptor, ...]:
    """``order.status``, ``order.cancel`` and ``referral.create`` over an open record."""

    async def status(
        _ctx: ToolContext, patient: str | None = None, order: str | None = None
    ) -> dict[str, Any] | NeedInput:
        """Where orders stand: one order, or those of a patient, with their tasks and reports."""
        if order:
            orders = [await require(hospital, order, "ServiceRequest")]
        elif patient:
            await require_patient(hospital, patient)
            with reading():
                orders = await hospital.fhir.search(
                    "ServiceRequest", {"subject": patient, "_sort": "-authored"}
                )
        else:
            spec = patient_arg()
            field = InputField(name="patient", label=spec.label, type=spec.type, hint=spec.hint)
            return NeedInput(fields=(field,), message="Whose orders?")
        subject = patient or str((orders[0].get("subject") or {}).get("reference"))
        return await _value(hospital, subject, orders)

    return (
        tool(
            "order.status",
            policy_class=PolicyClass.READ,
            title="Order status",
            description=status.__doc__ or "",
            ops={"read"},
            lookups={"open", "byName"},
            roles=("doctor", "nurse", "admin"),
            args=(
                ArgSpec(
                    name="patient",
                    label="Patient",
                    type="reference",
                    hint={"lookup": {"tool": "patient.search"}},
                ),
                record_arg("order", "Order", required=False),
            ),
            noun="the status of the orders",
            report=_report,
        )(status),
        *_writes(hospital),
    )


def _writes(hospital: Hospital) -> tuple[ToolDescriptor, ...]:
    return (
        record_write(
            hospital,
            "order.cancel",
            _cancel,
            title="Cancel an order",
            noun="the cancellation of the order",
            roles={"doctor"},
            target=("order", "ServiceRequest"),
            ops={"cancel"},
            editable={"reason"},
            args=(record_arg("order", "Order", "order.status"), why_arg()),
        ),
        record_write(
            hospital,
            "referral.create",
            _refer,
            title="Refer to a specialty",
            noun="the referral",
            roles={"doctor"},
            creates="ServiceRequest",
            editable={"priority", "question"},
            args=(
                patient_arg(),
                code_arg("specialty", "Specialty", _SPECIALTIES, required=True, radio=False),
                priority_arg(),
                text_arg("question", "Question for the specialist", required=True),
            ),
        ),
    )


async def _value(hospital: Hospital, patient: str, orders: Sequence[Resource]) -> dict[str, Any]:
    who = identity(await require_patient(hospital, patient), hospital.today)
    kept = [order for order in orders if order.get("status") != "entered-in-error"]
    with reading():
        tasks, reports = await asyncio.gather(
            hospital.fhir.search("Task", {"patient": patient}),
            hospital.fhir.search("DiagnosticReport", {"subject": patient}),
        )
    done = _about(reports, "basedOn")
    asked = _about(tasks, "focus") | _about(tasks, "basedOn")
    rows = [_row(order, done, asked) for order in kept[:_ROWS_MAX]]
    open_ones = [row for row in rows if row["status"] in ("active", "on-hold")]
    return {
        "patient": who,
        "orders": rows,
        "open": open_ones,
        "byName": _by_name(open_ones),
        "more": max(0, len(kept) - _ROWS_MAX),
    }


def _about(resources: Sequence[Resource], element: str) -> dict[str, Resource]:
    """What points at an order → by that order."""
    found: dict[str, Resource] = {}
    for resource in resources:
        targets = resource.get(element) or []
        for target in targets if isinstance(targets, list) else [targets]:
            found.setdefault(str(target.get("reference")), resource)
    return found


def _row(order: Resource, done: Mapping[str, Resource], asked: Mapping[str, Resource]) -> dict[str, Any]:
    reference = reference_of(order)
    report, task = done.get(reference), asked.get(reference)
    return {
        "reference": reference,
        "what": concept_text(order.get("code")) or "order not named",
        "status": order.get("status", ""),
        "priority": order.get("priority", ""),
        "authoredOn": str(order.get("authoredOn") or "")[:10],
        "report": {"reference": reference_of(report), "status": report.get("status", "")} if report else None,
        "task": {"reference": reference_of(task), "status": task.get("status", "")} if task else None,
    }


def _by_name(rows: Sequence[Mapping[str, Any]]) -> dict[str, Mapping[str, Any]]:
    """Name → the one open order of that name; two of one name are for a person to tell apart."""
    found: dict[str, list[Mapping[str, Any]]] = {}
    for row in rows:
        found.setdefault(str(row["what"]).casefold(), []).append(row)
    return {name: same[0] for name, same in found.items() if len(same) == 1}


def _report(args: Mapping[str, Any], value: Any) -> str:
    rows, name = value["orders"], value["patient"]["name"]
    if not rows:
        return f"{name}: no orders on record."
    told = rows if len(rows) == 1 else value["open"]
    said = [
        f"{row['what']} of {day(row['authoredOn'])}: {row['status']}"
        + (f", report {row['report']['status']}" if row["report"] else "")
        + (f", task {row['task']['status']}" if row["task"] else "")
        for row in told[:_TOLD_MAX]
    ]
    closed = len(rows) + value["more"] - len(told)
    tail = f"{closed} closed" if closed else ""
    more = f"{len(told) - _TOLD_MAX} more open" if len(told) > _TOLD_MAX else ""
    parts = "; ".join(part for part in (*said, more, tail) if part)
    return f"{name}: {plural(len(told), 'open order') if told is not rows else 'one order'}: {parts}."


async def _cancel(call: Call) -> Composed:
    """Cancel an order to another department, with the reason; it stays in the record as revoked."""
    order, why = await call.target(call.args["order"], "ServiceRequest"), call.given("reason")
    what = concept_text(order.get("code")) or "order not named"
    if order.get("status") not in ("active", "on-hold", "draft"):
        raise ToolError(
            f"{reference_of(order)} ({what}) is {order.get('status')}; there is nothing to cancel",
            effect="none",
            code="not_active",
        )
    note = {"text": f"Cancelled: {why}"}
    after = without(order, status="revoked", note=[*(order.get("note") or []), note])
    when = day(order.get("authoredOn"))
    return Composed(
        subject=await call.subject_of(order),
        summary=f"Cancel the order {what} of {when}. Reason: {why}",
        done=f"Order cancelled: {what} of {when}",
        edits=[Edit(before=order, after=after)],
        reason=why,
        before={"order": what, "status": order.get("status")},
        after={"order": what, "status": "revoked", "reason": why},
        facts={"order": what},
    )


async def _refer(call: Call) -> Composed:
    """Refer a patient to a specialty, with the question for the specialist."""
    who, code, question = await call.patient(), str(call.args["specialty"]), call.given("question")
    if code not in _SPECIALTIES:
        raise ToolError(f"{code!a} is no specialty of the list", effect="none", code="bad_specialty")
    label = _SPECIALTIES[code]
    resource = await request_resource(call, _REFERRAL, {"text": f"Referral to {label.lower()}"}, why=question)
    resource["performerType"] = {
        "coding": [{"system": "http://snomed.info/sct", "code": code, "display": label}],
        "text": label,
    }
    return Composed(
        subject=who,
        summary=f"Refer to {label.lower()} ({resource['priority']}): {question}",
        done=f"Referred to {label.lower()} ({resource['priority']}): “{question}”",
        new=[resource],
        after={"referral": label, "question": question, "priority": resource["priority"]},
        facts={"specialty": label},
    )
