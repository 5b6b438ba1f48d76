"""Tasks for the staff; also what is left when an order or a booking cannot be made.

Rule: a task is no order and no booking. Where it stands in for one, it says what a person has to do instead.
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
from condor_hms.catalogue.hospital import Hospital, require_patient
from condor_hms.catalogue.identity import identity
from condor_hms.catalogue.lab_orders import ORDERED_TESTS
from condor_hms.catalogue.specs import PRIORITIES, choice
from condor_hms.catalogue.words import day, joined
from condor_hms.catalogue.writing import Written, create, person, reconcile_created, record_time

if TYPE_CHECKING:
    from collections.abc import Mapping

    from condor_hms.fhir.port import Resource

__all__ = ["OWNER_ROLES", "task_tools"]

OWNER_ROLES: Mapping[str, str] = {
    "nurse": "Nurse",
    "pharmacist": "Pharmacist",
    "receptionist": "Front desk",
    "lab": "Laboratory",
    "billing": "Billing",
}


def task_tools(hospital: Hospital) -> tuple[ToolDescriptor, ...]:
    """``task.create`` over an open record."""

    async def create_task(ctx: ToolContext, **args: Any) -> dict[str, Any]:
        """Give a task to a group of staff; it is requested, not done."""
        who = await _who(hospital, args.get("patient"))
        return _value(args, who, await create(hospital, ctx, await _resource(hospital, ctx, args)))

    async def show(_ctx: ToolContext, **args: Any) -> CardEvidence:
        who = await _who(hospital, args.get("patient"))
        text = _text(args)
        return CardEvidence(subject=who or {}, summary=text, after={"task": text})

    async def reconcile(ctx: ToolContext, **args: Any) -> Reconciled:
        who = await _who(hospital, args.get("patient"))
        return await reconcile_created(hospital, ctx, "Task", lambda written: _value(args, who, written))

    return (
        tool(
            "task.create",
            policy_class=PolicyClass.MUTATE,
            hitl_tier=HitlTier.LOW,
            title="Give a task to staff",
            description=create_task.__doc__ or "",
            ops={"create"},
            roles={"doctor", "nurse", "pharmacist", "receptionist", "billing"},
            alias_group="lab-order,booking",
            alias_fidelity="degraded",
            alias_args=_instead_of,
            idempotent=True,
            metadata={"mutating": True},
            args=_arguments(),
            noun="the task",
            report=_report,
            preview=show,
            reconcile=reconcile,
        )(create_task),
    )


def _arguments() -> tuple[ArgSpec, ...]:
    return (
        ArgSpec(
            name="patient", label="Patient", type="reference", hint={"lookup": {"tool": "patient.search"}}
        ),
        ArgSpec(
            name="description", label="What to do", type="string", required=True, hint={"textarea": True}
        ),
        ArgSpec(
            name="owner_role",
            label="For",
            type="code",
            required=True,
            hint={"enum": choice(OWNER_ROLES), "radio": True},
        ),
        ArgSpec(
            name="due",
            label="Due",
            type="date",
            hint={"format": "date", "min": "today", "max": "today+180d"},
        ),
        ArgSpec(
            name="priority",
            label="Priority",
            type="code",
            hint={"enum": choice(PRIORITIES), "radio": True, "vs": "request-priority"},
        ),
    )


def _instead_of(name: str, args: Mapping[str, Any]) -> dict[str, Any] | None:
    """The task that stands in for an order or a booking: what a person has to do instead."""
    kept = {key: args[key] for key in ("patient", "priority") if args.get(key)}
    if name == "order.lab.create":
        tests = joined([ORDERED_TESTS.get(code, code).lower() for code in args.get("tests") or []])
        if not tests:
            return None
        urgency = f"{args['priority']} " if args.get("priority") not in (None, "routine") else ""
        article = "an" if (urgency or tests)[:1] in "aeiou" else "a"
        what = f"Lab interface is down: order {article} {urgency}{tests} by phone"
        return {**kept, "description": what, "owner_role": "lab"}
    if name == "appointment.book":
        return {
            **kept,
            "description": f"Booking is down: book {args['slot']} with {args['practitioner']} by hand",
            "owner_role": "receptionist",
        }
    return None


async def _who(hospital: Hospital, patient: str | None) -> dict[str, Any] | None:
    return identity(await require_patient(hospital, patient), hospital.today) if patient else None


async def _resource(hospital: Hospital, ctx: ToolContext, args: Mapping[str, Any]) -> Resource:
    if args["owner_role"] not in OWNER_ROLES:
        raise ToolError(f"{args['owner_role']!a} is no group of staff", effect="none", code="bad_owner")
    now = record_time(hospital, ctx)
    resource: Resource = {
        "resourceType": "Task",
        "status": "requested",
        "intent": "order",
        "priority": args.get("priority") or "routine",
        "description": args["description"].strip(),
        "authoredOn": now,
        "lastModified": now,
        "requester": await person(hospital, ctx.principal),
        "performerType": [{"text": OWNER_ROLES[args["owner_role"]]}],
    }
    if args.get("patient"):
        resource["for"] = {"reference": args["patient"]}
    if args.get("due"):
        resource["restriction"] = {"period": {"end": args["due"]}}
    return resource


def _text(args: Mapping[str, Any]) -> str:
    due = f", due {day(args['due'])}" if args.get("due") else ""
    return (
        f"{PRIORITIES[args.get('priority') or 'routine']} task for {_owner(args)}{due}: {args['description']}"
    )


def _owner(args: Mapping[str, Any]) -> str:
    return f"the {OWNER_ROLES.get(args['owner_role'], args['owner_role']).lower()}"


def _value(args: Mapping[str, Any], who: Mapping[str, Any] | None, written: Written) -> dict[str, Any]:
    return {
        **written.to_json(),
        "owner": _owner(args),
        "priority": args.get("priority") or "routine",
        "description": args["description"].strip(),
        "patient": who["text"] if who else "",
    }


def _report(args: Mapping[str, Any], value: Any) -> str:
    urgency = "a" if value["priority"] == "routine" else f"an {value['priority']}"
    urgency = urgency.replace("an stat", "a stat")
    about = f" about {value['patient']}" if value["patient"] else ""
    return (
        f"I left {urgency} task for {value['owner']}{about}: “{value['description']}” ({value['reference']})."
    )
