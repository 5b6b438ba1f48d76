"""The tools that stand in for others, and those that they stand in for: what they read and write."""

from __future__ import annotations

from typing import Any

import pytest

from condor import RecordMoved, ToolError
from tests.hms.catalogue.desk import JOHN, MELISSA, Desk

OKAFOR = "Practitioner/dr-okafor"
LEONARD = "Patient/pt-7b9efe220e71"


async def test_reports_hold_the_same_numbers(desk: Desk) -> None:
    """Every latest value that the reports hold is the results' own."""
    args = {"patient": LEONARD, "tests": ["4548-4", "2160-0"]}
    results, reports = await desk.call("labs.search", args), await desk.call("labs.report.search", args)
    for code, row in reports["latest"].items():
        assert results["latest"][code]["value"] == row["value"]
        assert row["report"].startswith("DiagnosticReport/")
    assert set(reports["latest"]) == {"4548-4", "2160-0"}
    assert desk.report("labs.report.search", args, reports).endswith("(from lab reports).")


async def test_everything_has_the_parts_of_the_summary(desk: Desk) -> None:
    """What refers to the summary finds the same in it."""
    args = {"patient": MELISSA}
    summary, whole = (
        await desk.call("patient.summary.card", args),
        await desk.call("patient.everything", args),
    )
    for part in ("patient", "allergyStatus", "allergies", "problems"):
        assert summary[part] == whole[part], part
    for part in ("medicines", "labs", "vitals"):
        expected, got = ({row["reference"]: row for row in value[part]} for value in (summary, whole))
        assert expected == got, part
    assert whole["record"]["Observation"] > 0
    assert "On record:" in desk.report("patient.everything", args, whole)


async def test_reported_medicines_are_no_orders(desk: Desk) -> None:
    """An empty list says that the orders were not read."""
    value = await desk.call("medication.statement.list", {"patient": MELISSA})
    said = desk.report("medication.statement.list", {"patient": MELISSA}, value)
    assert value["reported"] == []
    assert "what is ordered could not be read" in said


async def test_free_time_is_free(desk: Desk) -> None:
    """Slots as kept; computed time overlaps no booked appointment."""
    args = {"practitioner": OKAFOR, "from": "2026-12-01"}
    slots, computed = await desk.call("schedule.slots", args), await desk.call("schedule.availability", args)
    assert slots["free"]
    assert computed["free"]
    starts = {row["start"] for row in computed["free"]}
    assert "2026-12-01T09:00:00Z" not in starts, "an appointment is booked then"
    assert {row["start"] for row in slots["free"]} >= {"2026-12-02T09:30:00Z"}
    for tool, value in (("schedule.slots", slots), ("schedule.availability", computed)):
        said = desk.report(tool, args, value)
        assert said.startswith("Dr Okafor has ")
        assert "free slots, the first" in said
    last = await desk.call("schedule.slots", {**args, "to": "2026-12-01"})
    assert {row["start"][:10] for row in last["free"]} <= {"2026-12-01"}


async def test_an_order_is_one_transaction(desk: Desk) -> None:
    """One active order a test, the same over repetitions under one key, found by it afterwards."""
    args = {
        "patient": JOHN,
        "tests": ["2823-3", "2160-0", "2823-3"],
        "priority": "urgent",
        "indication": "K 5.2",
    }
    before = await desk.search("ServiceRequest", subject=JOHN)
    first = await desk.call("order.lab.create", args)
    again = await desk.call("order.lab.create", args)
    assert (first["reference"], again["replayed"]) == (again["reference"], True)
    new = [row for row in await desk.search("ServiceRequest", subject=JOHN) if row not in before]
    assert sorted(row["code"]["text"] for row in new) == ["Creatinine", "Potassium"]
    assert {(row["status"], row["priority"]) for row in new} == {("active", "urgent")}
    assert (await desk.reconcile("order.lab.create", args)).happened is True
    assert (await desk.reconcile("order.lab.create", args, idempotency_key="other")).happened is False
    shown = await desk.preview("order.lab.create", args)
    assert shown.summary == "Order Potassium and Creatinine (urgent)"
    assert "Ordered Potassium and Creatinine (urgent)" in desk.report("order.lab.create", args, first)


async def test_a_booking_takes_its_slot(desk: Desk) -> None:
    """Slot and appointment together; a taken slot is said, nothing is written; a repetition is the same."""
    args = {"patient": MELISSA, "practitioner": OKAFOR, "slot": "Slot/slot-oka-1202-0930", "reason": "Review"}
    shown = await desk.preview("appointment.book", args)
    assert shown.summary == "Book 2 Dec 2026 09:30 with Dr Okafor"
    first = await desk.call("appointment.book", args, record_versions=shown.versions)
    again = await desk.call("appointment.book", args)
    assert (first["reference"], again["replayed"]) == (again["reference"], True)
    (slot,) = await desk.search("Slot", _id="slot-oka-1202-0930")
    assert slot["status"] == "busy"
    with pytest.raises(RecordMoved):
        await desk.call("appointment.book", {**args, "patient": JOHN}, idempotency_key="second")
    assert (await desk.reconcile("appointment.book", args)).happened is True
    with pytest.raises(ToolError, match="is not a slot of"):
        await desk.call(
            "appointment.book", {**args, "practitioner": "Practitioner/dr-lindholm"}, idempotency_key="third"
        )


async def test_a_task_is_requested(desk: Desk) -> None:
    """For a group of staff, with its day, once."""
    args = {"patient": JOHN, "description": "Repeat potassium", "owner_role": "nurse", "due": "2026-12-03"}
    first = await desk.call("task.create", args)
    again = await desk.call("task.create", args)
    assert first["reference"] == again["reference"]
    task = await desk.fhir.read(first["reference"])
    assert (task["status"], task["priority"], task["restriction"]["period"]["end"]) == (
        "requested", "routine", "2026-12-03",
    )  # fmt: skip
    assert "I left a task for the nurse" in desk.report("task.create", args, first)
    assert "due 3 Dec 2026" in (await desk.preview("task.create", args)).summary
    assert (await desk.reconcile("task.create", args)).happened is True


@pytest.mark.parametrize(
    ("name", "args", "derived"),
    [
        (
            "order.lab.create",
            {"patient": JOHN, "tests": ["2823-3"], "priority": "urgent"},
            {
                "patient": JOHN,
                "description": "Lab interface is down: order an urgent potassium by phone",
                "owner_role": "lab",
                "priority": "urgent",
            },
        ),
        ("order.lab.create", {"patient": JOHN}, None),
        ("appointment.book", {"patient": JOHN}, KeyError),
        ("medication.prescribe", {"patient": JOHN}, None),
    ],
)
def test_a_tasks_arguments_follow_from_what_it_stands_in_for(
    desk: Desk, name: str, args: Any, derived: Any
) -> None:
    """Only from a call that says what was wanted."""
    derive = desk.tools["task.create"].alias_args
    assert derive is not None
    if isinstance(derived, type):
        with pytest.raises(derived):
            derive(name, args)
    else:
        assert derived == derive(name, args)


@pytest.mark.parametrize(
    ("resource", "rule"),
    [
        ({"resourceType": "Task", "status": "requested", "intent": "order"}, "say what is to be done"),
        ({"resourceType": "Task", "status": "bogus", "intent": "order", "description": "x"}, "task-status"),
        (
            {
                "resourceType": "ServiceRequest",
                "status": "active",
                "intent": "order",
                "subject": {"reference": JOHN},
            },
            "code",
        ),
        (
            {
                "resourceType": "Appointment",
                "status": "booked",
                "participant": [{"actor": {"reference": JOHN}, "status": "accepted"}],
            },
            "this status needs start and end",
        ),
        (
            {
                "resourceType": "Slot",
                "schedule": {"reference": "Schedule/none"},
                "status": "free",
                "start": "2026-12-01T09:00:00Z",
                "end": "2026-12-01T09:30:00Z",
            },
            "Schedule/none",
        ),
    ],
)
async def test_malformed_writes_are_refused(desk: Desk, resource: dict[str, Any], rule: str) -> None:
    """The write profiles of the new types hold."""
    entry = {"resource": resource, "request": {"method": "POST", "url": resource["resourceType"]}}
    with pytest.raises(Exception, match=rule):
        await desk.fhir.transact({"resourceType": "Bundle", "type": "transaction", "entry": [entry]})
