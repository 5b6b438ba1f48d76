"""Laboratory results: the newest first, each with its date, nothing left out in silence."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from condor import ArgSpec, PolicyClass, ToolContext, ToolDescriptor, tool
from condor_hms.alerts import lab_number
from condor_hms.catalogue.hospital import Hospital, reading, reference_of, require_patient
from condor_hms.catalogue.identity import identity
from condor_hms.catalogue.specs import CLINICIANS, Hint, choice, patient_arg, since_arg, until_arg
from condor_hms.catalogue.terms import LAB_TESTS
from condor_hms.catalogue.words import amount, concept_text, day

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from condor_hms.fhir.port import Resource

__all__ = [
    "lab_args",
    "lab_results",
    "labs_sentence",
    "labs_value",
    "result_row",
    "result_tools",
    "unit_text",
]

_LOINC = "http://loinc.org"
#: Results that count; one that was entered in error or cancelled is no result.
_STATUSES = "registered,preliminary,final,amended,corrected"
#: Rows handed back; above it the newest are kept and the rest is counted.
_ROWS_MAX = 100
#: Results of one test that a sentence tells.
_TOLD_MAX = 4


def result_tools(hospital: Hospital) -> tuple[ToolDescriptor, ...]:
    """``labs.search`` over an open record."""

    async def search_labs(_ctx: ToolContext, patient: str, **asked: Any) -> dict[str, Any]:
        """Laboratory results of a patient, newest first; all tests, or those that are named."""
        who = identity(await require_patient(hospital, patient), hospital.today)
        tests: Sequence[str] = asked.get("tests") or ()
        since, until = asked.get("since"), asked.get("until")
        found = await lab_results(hospital, patient, tests, since=since, until=until)
        return labs_value(who, tests, [result_row(result) for result in found])

    return (
        tool(
            "labs.search",
            policy_class=PolicyClass.READ,
            title="Lab results",
            description=search_labs.__doc__ or "",
            ops={"read"},
            roles=CLINICIANS,
            alias_group="labs",
            alias_fidelity="equal",
            args=lab_args({"multi": True, "enum": choice(LAB_TESTS)}),
            noun="the lab results",
            report=_report,
        )(search_labs),
    )


def lab_args(tests: Hint) -> tuple[ArgSpec, ...]:
    """What a tool about lab results is asked by.

    Args:
        tests: how the tests are chosen.
    """
    return (
        patient_arg(),
        ArgSpec(name="tests", label="Tests", type="array", hint=tests),
        since_arg(),
        until_arg(),
    )


def labs_value(
    who: Mapping[str, Any], tests: Sequence[str], newest_first: Sequence[dict[str, Any]]
) -> dict[str, Any]:
    """What a tool about lab results hands back: newest rows, the latest of each test, the rest counted."""
    rows = list(newest_first[:_ROWS_MAX])
    latest: dict[str, dict[str, Any]] = {}
    for row in rows:
        latest.setdefault(row["code"], row)
    return {
        "patient": who,
        "tests": list(tests),
        "results": rows,
        "latest": latest,
        "more": len(newest_first) - len(rows),
    }


async def lab_results(
    hospital: Hospital,
    patient: str,
    codes: Sequence[str],
    *,
    since: str | None = None,
    until: str | None = None,
    category: str = "laboratory",
) -> list[Resource]:
    """Results of these LOINC codes (all without any), newest first."""
    params: dict[str, str | list[str]] = {
        "subject": patient,
        "category": category,
        "status": _STATUSES,
        "_sort": "-date",
    }
    if codes:
        params["code"] = ",".join(f"{_LOINC}|{code}" for code in codes)
    dates = [f"ge{since}"] if since else []
    dates += [f"le{until}"] if until else []
    if dates:
        params["date"] = dates
    with reading():
        return await hospital.fhir.search("Observation", params)


def result_row(result: Resource) -> dict[str, Any]:
    """One result, compact, with its text: ``9.0 % on 7 Oct 2026 (high)``; decimals as the laboratory's."""
    coding: dict[str, Any] = next(iter((result.get("code") or {}).get("coding") or []), {})
    code = str(coding.get("code", ""))
    moment = str(result.get("effectiveDateTime") or (result.get("effectivePeriod") or {}).get("start") or "")
    row = {
        "reference": reference_of(result),
        "code": code,
        "test": LAB_TESTS.get(code) or concept_text(result.get("code")),
        "value": _value_of(result),
        "unit": _unit_of(result),
        "date": moment[:10],
        "interpretation": concept_text(next(iter(result.get("interpretation") or []), None)),
        "status": result.get("status", ""),
    }
    remarks = [row["interpretation"].lower()] if row["interpretation"] not in ("", "Normal", "N") else []
    remarks += [row["status"]] if row["status"] in ("preliminary", "registered") else []
    value = " ".join(part for part in (_shown(row), unit_text(row["unit"], row["test"])) if part)
    return {**row, "text": f"{value} on {day(row['date'])}" + (f" ({', '.join(remarks)})" if remarks else "")}


def unit_text(unit: str, test: str) -> str:
    """The unit as it is read: a UCUM annotation without its braces, and none where it only names the test."""
    bare = unit[1:-1] if unit.startswith("{") and unit.endswith("}") else unit
    return "" if bare.casefold() == test.casefold() else bare


def _shown(row: Mapping[str, Any]) -> str:
    value = row["value"]
    if isinstance(value, bool) or not isinstance(value, int | float):
        return amount(value)
    return lab_number(row["code"], row["unit"], value)


def _unit_of(result: Resource) -> str:
    unit = str((result.get("valueQuantity") or {}).get("unit", ""))
    return {"Cel": "°C", "mm[Hg]": "mmHg"}.get(unit, unit)


def _value_of(result: Resource) -> Any:
    quantity = result.get("valueQuantity") or {}
    if "value" in quantity:
        number = quantity["value"]
        return int(number) if isinstance(number, float) and number.is_integer() else number
    return concept_text(result.get("valueCodeableConcept")) or result.get("valueString") or "no value"


def _report(args: Mapping[str, Any], value: Any) -> str:
    return labs_sentence(value)


def labs_sentence(value: Any) -> str:
    """Each test that was asked for with its latest results, or that there is none."""
    name, asked = value["patient"]["name"], value["tests"]
    by_test: dict[str, list[str]] = {}
    for row in value["results"]:
        by_test.setdefault(row["test"], []).append(row["text"])
    if asked:
        names = [LAB_TESTS.get(code, code) for code in asked]
        said = [_told(test, by_test.get(test, [])) for test in names]
    else:
        said = [_told(test, texts[:1]) for test, texts in by_test.items()] or ["no lab results on record"]
    more = f" ({value['more']} older results are not listed)" if value["more"] else ""
    return f"{name}: {'; '.join(said)}{more}."


def _told(test: str, texts: Sequence[str]) -> str:
    if not texts:
        return f"{test}: no result on record"
    before = texts[1:_TOLD_MAX]
    return f"{test} {texts[0]}" + (f", before that {', '.join(before)}" if before else "")
