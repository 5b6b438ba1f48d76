"""Ordering laboratory tests: one order a test, all of them in one transaction.

Rule: nothing is defaulted but what a form calls routine; who orders is who asked.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from condor import ArgSpec, ToolDescriptor, ToolError
from condor_hms.catalogue.hospital import Hospital, reading
from condor_hms.catalogue.record_write import Call, Composed, record_write
from condor_hms.catalogue.repeats import repeated, repeated_notes
from condor_hms.catalogue.requests import request_resource
from condor_hms.catalogue.specs import PRIORITIES, choice, patient_arg, priority_arg, text_arg
from condor_hms.catalogue.words import concept_text, joined

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from condor_hms.fhir.port import Resource

__all__ = ["ORDERED_TESTS", "lab_order_tools"]

#: LOINC code → label of the tests that can be ordered.
ORDERED_TESTS: Mapping[str, str] = {
    "4548-4": "HbA1c",
    "2160-0": "Creatinine",
    "2823-3": "Potassium",
    "6301-6": "INR",
    "58410-2": "Full blood count",
}
_LABORATORY = ("108252007", "Laboratory procedure")


def lab_order_tools(hospital: Hospital) -> tuple[ToolDescriptor, ...]:
    """``order.lab.create`` over an open record."""
    return (
        record_write(
            hospital,
            "order.lab.create",
            _order,
            title="Order lab tests",
            noun="the lab order",
            roles={"doctor", "nurse"},
            editable={"priority", "when", "indication"},
            creates="ServiceRequest",
            alias=("lab-order", "equal"),
            args=(
                patient_arg(),
                ArgSpec(
                    name="tests",
                    label="Tests",
                    type="array",
                    required=True,
                    hint={"multi": True, "enum": choice(ORDERED_TESTS)},
                ),
                priority_arg(),
                ArgSpec(
                    name="when",
                    label="When",
                    type="date-time",
                    hint={"format": "date-time", "min": "now", "max": "now+90d"},
                ),
                text_arg("indication", "Indication"),
            ),
        ),
    )


async def _order(call: Call) -> Composed:
    """Order laboratory tests for a patient; one active order for each test."""
    who = await call.patient()
    tests = list(dict.fromkeys(call.args["tests"]))
    before = await _active(call.hospital, who["reference"])
    what = _what(tests, call.args.get("priority") or "routine")
    new = [await _resource(call, code) for code in tests]
    again = await repeated(call, new, "authoredOn", "ordered")
    return Composed(
        subject=who,
        summary=f"Order {what}",
        done=f"Ordered {what}",
        new=new,
        alerts=again,
        notes=repeated_notes(again),
        before={"activeOrders": before},
        after={"activeOrders": [*before, *_names(tests)]},
        facts={"ordered": what, "tests": tests},
    )


async def _resource(call: Call, code: str) -> Resource:
    if code not in ORDERED_TESTS:
        raise ToolError(f"{code!a} is not a test of the list", effect="none", code="bad_test")
    display = ORDERED_TESTS[code]
    concept = {
        "coding": [{"system": "http://loinc.org", "code": code, "display": display}],
        "text": display,
    }
    resource = await request_resource(call, _LABORATORY, concept, why=call.given("indication"))
    if call.args.get("when"):
        resource["occurrenceDateTime"] = call.args["when"]
    return resource


async def _active(hospital: Hospital, patient: str) -> list[str]:
    params = {"subject": patient, "status": "active", "intent": "order", "category": _LABORATORY[0]}
    with reading():
        found = await hospital.fhir.search("ServiceRequest", params)
    return [concept_text(order.get("code")) or "test not named" for order in found]


def _names(tests: Sequence[str]) -> list[str]:
    return [ORDERED_TESTS.get(code, code) for code in tests]


def _what(tests: Sequence[str], priority: str) -> str:
    return f"{joined(_names(tests))} ({PRIORITIES.get(priority, priority).lower()})"
