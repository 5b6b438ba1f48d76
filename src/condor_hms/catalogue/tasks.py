"""Tasks for the staff; also what is left when an order or a booking cannot be made.

Rule: a task is no order and no booking. Where it stands in for one, it says what a person has to do instead.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from condor import ArgSpec, ToolDescriptor, ToolError
from condor_hms.catalogue.lab_orders import ORDERED_TESTS
from condor_hms.catalogue.record_write import Call, Composed, record_write
from condor_hms.catalogue.specs import PRIORITIES, code_arg, date_arg, priority_arg, record_arg, text_arg
from condor_hms.catalogue.words import day, joined
from condor_hms.catalogue.writing import person, record_time

if TYPE_CHECKING:
    from collections.abc import Mapping

    from condor_hms.catalogue.hospital import Hospital
    from condor_hms.fhir.port import Resource

__all__ = ["OWNER_ROLES", "task_resource", "task_tools"]

OWNER_ROLES: Mapping[str, str] = {
    "nurse": "Nurse",
    "pharmacist": "Pharmacist",
    "receptionist": "Front desk",
    "lab": "Laboratory",
    "billing": "Billing",
}


def task_tools(hospital: Hospital) -> tuple[ToolDescriptor, ...]:
    """``task.create`` over an open record."""
    return (
        record_write(
            hospital,
            "task.create",
            _task,
            title="Give a task to staff",
            noun="the task",
            roles={"doctor", "nurse", "pharmacist", "receptionist", "billing"},
            editable={"description", "due", "priority"},
            creates="Task",
            alias=("lab-order,booking", "degraded"),
            alias_args=_instead_of,
            args=_arguments(),
        ),
    )


def _arguments() -> tuple[ArgSpec, ...]:
    return (
        record_arg("patient", "Patient", "patient.search", required=False),
        text_arg("description", "What to do", required=True),
        code_arg("owner_role", "For", OWNER_ROLES, required=True),
        date_arg("due", "Due", "today", "today+180d"),
        priority_arg(),
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


async def _task(call: Call) -> Composed:
    """Give a task to a group of staff; it is requested, not done."""
    who = await call.patient() if call.args.get("patient") else {}
    owner, priority = call.args["owner_role"], call.args.get("priority") or "routine"
    if owner not in OWNER_ROLES:
        raise ToolError(f"{owner!a} is no group of staff", effect="none", code="bad_owner")
    what, due = call.given("description"), call.args.get("due")
    group = f"the {OWNER_ROLES[owner].lower()}"
    text = f"{PRIORITIES[priority]} task for {group}{f', due {day(due)}' if due else ''}: {what}"
    article = {"routine": "a", "stat": "a stat"}.get(priority, f"an {priority}")
    about = " about {who}" if who else ""
    return Composed(
        subject=who,
        summary=text,
        done=f"I left {article} task for {group}{about}: “{what}”",
        new=[
            await task_resource(
                call, what, owner=owner, priority=priority, due=due, patient=who.get("reference")
            )
        ],
        after={"task": text},
        facts={"owner": group, "priority": priority, "description": what},
    )


async def task_resource(
    call: Call,
    description: str,
    *,
    owner: str,
    priority: str,
    due: str | None = None,
    patient: str | None = None,
) -> Resource:
    """A requested task by whoever asked.

    Args:
        owner: a key of ``OWNER_ROLES``.
        due: ISO date.
        patient: ``Patient/id``.
    """
    now = record_time(call.hospital, call.ctx)
    resource: Resource = {
        "resourceType": "Task",
        "status": "requested",
        "intent": "order",
        "priority": priority,
        "description": description,
        "authoredOn": now,
        "lastModified": now,
        "requester": await person(call.hospital, call.ctx.principal),
        "performerType": [{"text": OWNER_ROLES[owner]}],
    }
    if patient:
        resource["for"] = {"reference": patient}
    if due:
        resource["restriction"] = {"period": {"end": due}}
    return resource
