"""Ordering laboratory tests: one order a test, all of them in one transaction.

Rule: nothing is defaulted but what a form calls routine; who orders is who asked.
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
from condor_hms.catalogue.hospital import Hospital, reading, require_patient
from condor_hms.catalogue.identity import identity
from condor_hms.catalogue.specs import PRIORITIES, choice, patient_arg
from condor_hms.catalogue.words import concept_text, joined
from condor_hms.catalogue.writing import Written, create_all, person, reconcile_created, record_time

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
_LABORATORY = {
    "coding": [{"system": "http://snomed.info/sct", "code": "108252007", "display": "Laboratory procedure"}],
    "text": "Laboratory procedure",
}


def lab_order_tools(hospital: Hospital) -> tuple[ToolDescriptor, ...]:
    """``order.lab.create`` over an open record."""

    async def order(ctx: ToolContext, patient: str, tests: Sequence[str], **rest: Any) -> dict[str, Any]:
        """Order laboratory tests for a patient; one active order for each test."""
        who = identity(await require_patient(hospital, patient), hospital.today)
        resources = [await _resource(hospital, ctx, patient, code, rest) for code in _distinct(tests)]
        return _value(who, tests, rest, (await create_all(hospital, ctx, resources))[0])

    async def show(_ctx: ToolContext, patient: str, tests: Sequence[str], **rest: Any) -> CardEvidence:
        who = identity(await require_patient(hospital, patient), hospital.today)
        before = await _active(hospital, patient)
        return CardEvidence(
            subject=who,
            summary=f"Order {_what(tests, rest)}",
            before={"activeOrders": before},
            after={"activeOrders": [*before, *_names(tests)]},
        )

    async def reconcile(ctx: ToolContext, patient: str, tests: Sequence[str], **rest: Any) -> Reconciled:
        who = identity(await require_patient(hospital, patient), hospital.today)
        return await reconcile_created(
            hospital, ctx, "ServiceRequest", lambda written: _value(who, tests, rest, written)
        )

    return (
        tool(
            "order.lab.create",
            policy_class=PolicyClass.MUTATE,
            hitl_tier=HitlTier.LOW,
            title="Order lab tests",
            description=order.__doc__ or "",
            ops={"create"},
            roles={"doctor", "nurse"},
            alias_group="lab-order",
            alias_fidelity="equal",
            idempotent=True,
            metadata={"mutating": True},
            args=_arguments(),
            noun="the lab order",
            report=_report,
            preview=show,
            reconcile=reconcile,
        )(order),
    )


def _arguments() -> tuple[ArgSpec, ...]:
    return (
        patient_arg(),
        ArgSpec(
            name="tests",
            label="Tests",
            type="array",
            required=True,
            hint={"multi": True, "enum": choice(ORDERED_TESTS)},
        ),
        ArgSpec(
            name="priority",
            label="Priority",
            type="code",
            hint={"enum": choice(PRIORITIES), "radio": True, "vs": "request-priority"},
        ),
        ArgSpec(
            name="when",
            label="When",
            type="date-time",
            hint={"format": "date-time", "min": "now", "max": "now+90d"},
        ),
        ArgSpec(name="indication", label="Indication", type="string", hint={"textarea": True}),
    )


def _distinct(tests: Sequence[str]) -> list[str]:
    return list(dict.fromkeys(tests))


async def _resource(
    hospital: Hospital, ctx: ToolContext, patient: str, code: str, rest: Mapping[str, Any]
) -> Resource:
    if code not in ORDERED_TESTS:
        raise ToolError(f"{code!a} is not a test of the list", effect="none", code="bad_test")
    display = ORDERED_TESTS[code]
    resource: Resource = {
        "resourceType": "ServiceRequest",
        "status": "active",
        "intent": "order",
        "category": [_LABORATORY],
        "priority": rest.get("priority") or "routine",
        "code": {
            "coding": [{"system": "http://loinc.org", "code": code, "display": display}],
            "text": display,
        },
        "subject": {"reference": patient},
        "authoredOn": record_time(hospital, ctx),
        "requester": await person(hospital, ctx.principal),
    }
    if rest.get("when"):
        resource["occurrenceDateTime"] = rest["when"]
    if rest.get("indication"):
        resource["reasonCode"] = [{"text": rest["indication"].strip()}]
    return resource


async def _active(hospital: Hospital, patient: str) -> list[str]:
    params = {"subject": patient, "status": "active", "intent": "order", "category": "108252007"}
    with reading():
        found = await hospital.fhir.search("ServiceRequest", params)
    return [concept_text(order.get("code")) or "test not named" for order in found]


def _names(tests: Sequence[str]) -> list[str]:
    return [ORDERED_TESTS.get(code, code) for code in _distinct(tests)]


def _what(tests: Sequence[str], rest: Mapping[str, Any]) -> str:
    priority = rest.get("priority") or "routine"
    return f"{joined(_names(tests))} ({PRIORITIES.get(priority, priority).lower()})"


def _value(
    who: Mapping[str, Any], tests: Sequence[str], rest: Mapping[str, Any], written: Written
) -> dict[str, Any]:
    return {**written.to_json(), "ordered": _what(tests, rest), "tests": list(tests), "patient": who["text"]}


def _report(args: Mapping[str, Any], value: Any) -> str:
    return f"Ordered {value['ordered']} for {value['patient']} ({value['reference']})."
