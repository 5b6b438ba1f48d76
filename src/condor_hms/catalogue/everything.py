"""The whole record of a patient in one look; it stands in for the summary and has the same parts.

Rule: what FHIR calls ``$everything``, gathered type by type, because many servers lack the operation itself.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from condor import ArgSpec, PolicyClass, ToolContext, ToolDescriptor, tool
from condor_hms.catalogue.hospital import Hospital, reading, require_patient
from condor_hms.catalogue.identity import identity
from condor_hms.catalogue.medicine_list import ORDER_INTENTS
from condor_hms.catalogue.problems import is_problem, problem_row
from condor_hms.catalogue.specs import patient_arg
from condor_hms.catalogue.summary import VITALS, overview, overview_sentence
from condor_hms.catalogue.terms import LAB_TESTS
from condor_hms.catalogue.words import joined, plural, status_of

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from condor_hms.fhir.port import Resource

__all__ = ["everything_tools", "whole_record", "whole_record_sentence"]

#: What belongs to a patient, and the parameter that says so.
_TYPES = {
    "AllergyIntolerance": "patient",
    "Condition": "patient",
    "DiagnosticReport": "patient",
    "Encounter": "patient",
    "Immunization": "patient",
    "MedicationRequest": "patient",
    "MedicationStatement": "patient",
    "Observation": "patient",
    "Procedure": "patient",
    "ServiceRequest": "patient",
}
_COUNTED = frozenset({"registered", "preliminary", "final", "amended", "corrected"})


def everything_tools(hospital: Hospital) -> tuple[ToolDescriptor, ...]:
    """``patient.everything`` over an open record."""

    async def gather_all(_ctx: ToolContext, patient: str, since: str | None = None) -> dict[str, Any]:
        """Everything on record of a patient: the parts of the summary, and how much there is of each kind."""
        who = identity(await require_patient(hospital, patient), hospital.today)
        return await whole_record(hospital, who, since)

    return (
        tool(
            "patient.everything",
            policy_class=PolicyClass.READ,
            title="Patient record ($everything)",
            description=gather_all.__doc__ or "",
            ops={"read"},
            roles={"doctor", "admin"},
            alias_group="patient-overview",
            alias_fidelity="equal",
            args=(
                patient_arg(),
                ArgSpec(
                    name="since",
                    label="Since",
                    type="date",
                    hint={"format": "date", "min": "today-10y", "max": "today"},
                ),
            ),
            noun="the patient record",
            report=_report,
        )(gather_all),
    )


async def whole_record(
    hospital: Hospital, who: Mapping[str, Any], since: str | None = None
) -> dict[str, Any]:
    """The parts of the summary, and how much there is of each kind.

    Args:
        who: as ``identity`` gives it.
        since: only what changed from this ISO date on.
    """
    with reading():
        lists = await asyncio.gather(
            *(hospital.fhir.search(kind, {name: who["reference"]}) for kind, name in _TYPES.items())
        )
    held = {
        kind: [row for row in rows if not since or _changed(row) >= since]
        for kind, rows in zip(_TYPES, lists, strict=True)
    }
    return {**_overview(who, held), "record": {kind: len(rows) for kind, rows in held.items() if rows}}


def _changed(resource: Resource) -> str:
    return str((resource.get("meta") or {}).get("lastUpdated", ""))[:10]


def _overview(who: Mapping[str, Any], held: Mapping[str, Sequence[Resource]]) -> dict[str, Any]:
    """The same parts as the summary, from everything that was read."""
    intents = ORDER_INTENTS.split(",")
    orders = [
        row
        for row in held["MedicationRequest"]
        if row.get("status") in ("active", "on-hold") and row.get("intent") in intents
    ]
    problems = [
        problem_row(row)
        for row in held["Condition"]
        if is_problem(row) and status_of(row.get("clinicalStatus")) == "active"
    ]
    allergies = [
        row
        for row in held["AllergyIntolerance"]
        if status_of(row.get("verificationStatus")) != "entered-in-error"
    ]
    return overview(
        who,
        allergies,
        orders,
        problems,
        _results(held["Observation"], LAB_TESTS),
        _results(held["Observation"], VITALS),
    )


def _results(observations: Sequence[Resource], codes: Collection[str]) -> list[Resource]:
    """Results that count, of these tests, newest first."""
    kept = [
        row
        for row in observations
        if row.get("status") in _COUNTED
        and any(coding.get("code") in codes for coding in (row.get("code") or {}).get("coding") or [])
    ]
    return sorted(kept, key=lambda row: str(row.get("effectiveDateTime", "")), reverse=True)


def _report(args: Mapping[str, Any], value: Any) -> str:
    return whole_record_sentence(value)


def whole_record_sentence(value: Any) -> str:
    """``whole_record`` in words."""
    held = joined([plural(count, kind) for kind, count in value["record"].items()])
    return f"{overview_sentence(value)} On record: {held}." if held else overview_sentence(value)
