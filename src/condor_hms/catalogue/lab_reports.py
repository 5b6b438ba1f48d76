"""Laboratory reports: the same numbers as the results, read from the reports that hold them.

Rule: it stands in for ``labs.search`` and says so: every sentence names the reports as its source.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from condor import PolicyClass, ToolContext, ToolDescriptor, tool
from condor_hms.catalogue.hospital import Hospital, reading, reference_of, require_patient
from condor_hms.catalogue.identity import identity
from condor_hms.catalogue.results import lab_args, labs_sentence, labs_value, result_row
from condor_hms.catalogue.specs import CLINICIANS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from condor_hms.fhir.port import Resource

__all__ = ["lab_report_tools"]

#: Reports that count; one that was entered in error or cancelled is no report.
_STATUSES = "registered,partial,preliminary,final,amended,corrected,appended"
#: Results that count.
_COUNTED = frozenset({"registered", "preliminary", "final", "amended", "corrected"})


def lab_report_tools(hospital: Hospital) -> tuple[ToolDescriptor, ...]:
    """``labs.report.search`` over an open record."""

    async def search_reports(_ctx: ToolContext, patient: str, **asked: Any) -> dict[str, Any]:
        """Laboratory results of a patient as the laboratory's reports hold them, newest first."""
        who = identity(await require_patient(hospital, patient), hospital.today)
        tests: Sequence[str] = asked.get("tests") or ()
        reports = await _reports(hospital, patient, asked.get("since"), asked.get("until"))
        results = await _results(hospital, reports, frozenset(tests))
        rows = [{**result_row(result), "report": source} for result, source in results]
        return {**labs_value(who, tests, rows), "reports": len(reports)}

    return (
        tool(
            "labs.report.search",
            policy_class=PolicyClass.READ,
            title="Lab reports",
            description=search_reports.__doc__ or "",
            ops={"read"},
            roles=CLINICIANS,
            alias_group="labs",
            alias_fidelity="equal",
            args=lab_args({"multi": True}),
            noun="the lab reports",
            report=_report,
        )(search_reports),
    )


async def _reports(hospital: Hospital, patient: str, since: str | None, until: str | None) -> list[Resource]:
    params: dict[str, str | list[str]] = {
        "subject": patient,
        "category": "LAB",
        "status": _STATUSES,
        "_sort": "-date",
    }
    dates = [f"ge{since}"] if since else []
    dates += [f"le{until}"] if until else []
    if dates:
        params["date"] = dates
    with reading():
        return await hospital.fhir.search("DiagnosticReport", params)


async def _results(
    hospital: Hospital, reports: Sequence[Resource], codes: frozenset[str]
) -> list[tuple[Resource, str]]:
    """Each result with its report, once, newest first."""
    sources: dict[str, str] = {}
    for report in reports:
        for result in report.get("result") or []:
            sources.setdefault(str(result.get("reference", "")), reference_of(report))
    named = [reference for reference in sources if reference.startswith("Observation/")]
    with reading():
        found = await asyncio.gather(*(hospital.fhir.read(reference) for reference in named))
    kept = [
        result
        for result in found
        if result.get("status") in _COUNTED and (not codes or _code(result) in codes)
    ]
    kept.sort(key=lambda result: str(result.get("effectiveDateTime", "")), reverse=True)
    return [(result, sources[reference_of(result)]) for result in kept]


def _code(result: Resource) -> str:
    coding: dict[str, Any] = next(iter((result.get("code") or {}).get("coding") or []), {})
    return str(coding.get("code", ""))


def _report(args: Mapping[str, Any], value: Any) -> str:
    return labs_sentence(value).removesuffix(".") + " (from lab reports)."
