"""One look at a patient before they come in: allergies, medicines, problems, latest values.

Rule: every part says when it is empty, and how: "no known allergies" and "not recorded" are different facts.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from condor import PolicyClass, ToolContext, ToolDescriptor, tool
from condor_hms.catalogue.allergy_list import allergy_row
from condor_hms.catalogue.evidence import allergies_of, allergy_status, is_active_allergy
from condor_hms.catalogue.hospital import Hospital, require_patient
from condor_hms.catalogue.identity import identity
from condor_hms.catalogue.medicine_list import current_orders, order_row
from condor_hms.catalogue.problems import problem_rows
from condor_hms.catalogue.results import lab_results, result_row
from condor_hms.catalogue.specs import CLINICIANS, patient_arg
from condor_hms.catalogue.terms import LAB_TESTS
from condor_hms.catalogue.words import amount, day, plural

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from condor_hms.fhir.port import Resource

__all__ = ["VITALS", "latest_rows", "overview", "overview_sentence", "summary_tools", "vital_row"]

#: LOINC codes of the vital signs that a summary tells.
VITALS = {
    "85354-9": "Blood pressure",
    "8867-4": "Heart rate",
    "2708-6": "Oxygen saturation",
    "8310-5": "Temperature",
    "29463-7": "Weight",
}
_SYSTOLIC, _DIASTOLIC = "8480-6", "8462-4"


def summary_tools(hospital: Hospital) -> tuple[ToolDescriptor, ...]:
    """``patient.summary.card`` over an open record."""

    async def summarise(_ctx: ToolContext, patient: str) -> dict[str, Any]:
        """Allergies, active medicines, active problems, latest vital signs and lab results of a patient."""
        who = identity(await require_patient(hospital, patient), hospital.today)
        allergies, orders, problems, labs, vitals = await asyncio.gather(
            allergies_of(hospital, patient),
            current_orders(hospital, patient),
            problem_rows(hospital, patient),
            lab_results(hospital, patient, tuple(LAB_TESTS)),
            lab_results(hospital, patient, tuple(VITALS), category="vital-signs"),
        )
        return overview(who, allergies, orders, problems, labs, vitals)

    return (
        tool(
            "patient.summary.card",
            policy_class=PolicyClass.READ,
            title="Patient summary",
            description=summarise.__doc__ or "",
            ops={"read"},
            roles=CLINICIANS,
            alias_group="patient-overview",
            alias_fidelity="equal",
            ui_card=True,
            args=(patient_arg(),),
            noun="the patient summary",
            report=_report,
        )(summarise),
    )


def overview(
    who: Mapping[str, Any],
    allergies: Sequence[Resource],
    orders: Sequence[Resource],
    problems: Sequence[Mapping[str, Any]],
    labs: Sequence[Resource],
    vitals: Sequence[Resource],
) -> dict[str, Any]:
    """The parts of an overview, from what was read; results newest first."""
    return {
        "patient": who,
        "allergyStatus": allergy_status(allergies),
        "allergies": [allergy_row(row) for row in allergies if is_active_allergy(row)],
        "medicines": [order_row(order) for order in orders],
        "problems": list(problems),
        "labs": latest_rows(labs),
        "vitals": latest_rows(vitals),
    }


def latest_rows(newest_first: Sequence[Resource]) -> list[dict[str, Any]]:
    """The latest result of each test, of results with the newest first."""
    found: dict[str, dict[str, Any]] = {}
    for result in newest_first:
        row = vital_row(result)
        found.setdefault(row["code"], row)
    return list(found.values())


def vital_row(result: Resource) -> dict[str, Any]:
    """One result as ``result_row``, a blood pressure as one reading, a vital sign by its short name."""
    row = _pressure(result_row(result), result)
    return {**row, "test": VITALS.get(row["code"], row["test"])}


def _pressure(row: dict[str, Any], result: Resource) -> dict[str, Any]:
    """A blood pressure panel as ``141/86 mm[Hg]``; anything else as it is."""
    parts = {
        coding.get("code"): (component.get("valueQuantity") or {})
        for component in result.get("component") or []
        for coding in (component.get("code") or {}).get("coding") or []
    }
    high, low = (parts.get(code, {}) for code in (_SYSTOLIC, _DIASTOLIC))
    if "value" not in high or "value" not in low:
        return row
    value = f"{amount(high['value'])}/{amount(low['value'])}"
    unit = "mmHg" if high.get("unit") == "mm[Hg]" else high.get("unit", "")
    return {**row, "value": value, "unit": unit, "text": f"{value} {unit} on {day(row['date'])}"}


def _report(args: Mapping[str, Any], value: Any) -> str:
    return overview_sentence(value)


def overview_sentence(value: Any) -> str:
    """Every part of an overview, in words."""
    allergies, medicines, problems = value["allergies"], value["medicines"], value["problems"]
    parts = [f"{value['patient']['text']}."]
    if allergies:
        named = ", ".join(row["substance"] for row in allergies)
        parts.append(f"{plural(len(allergies), 'allergy', 'allergies')} ({named}).")
    else:
        parts.append(f"Allergies: {value['allergyStatus']}.")
    parts.append(_listed("active medicine", [row["text"] for row in medicines]))
    parts.append(_listed("active problem", [row["text"] for row in problems]))
    for label in ("labs", "vitals"):
        rows = [f"{row['test']} {row['text']}" for row in value[label]]
        if rows:
            parts.append(f"Latest {label}: {'; '.join(rows)}.")
    return " ".join(parts)


def _listed(what: str, texts: Sequence[str]) -> str:
    if not texts:
        return f"No {what}s on record."
    return f"{plural(len(texts), what)} ({'; '.join(texts)})."
