"""Imaging: what was made, and ordering more.

Rule: a side is never assumed. Where the body has none, the order says so.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from condor import ArgSpec, PolicyClass, ToolContext, ToolDescriptor, ToolError, tool
from condor_hms.catalogue.hospital import Hospital, reading, reference_of, require_patient
from condor_hms.catalogue.identity import identity
from condor_hms.catalogue.record_write import Call, Composed, record_write
from condor_hms.catalogue.requests import request_resource
from condor_hms.catalogue.specs import CLINICIANS, code_arg, patient_arg, priority_arg, since_arg, text_arg
from condor_hms.catalogue.words import concept_text, day, plural

if TYPE_CHECKING:
    from collections.abc import Mapping

    from condor_hms.fhir.port import Resource

__all__ = ["imaging_tools"]

_MODALITIES = {"CR": "X-ray", "CT": "CT", "MR": "MRI", "US": "Ultrasound", "NM": "Nuclear medicine"}
_SIDES = {"left": "Left", "right": "Right", "both": "Both", "na": "Not applicable"}
_PREGNANCY = {"no": "No", "yes": "Yes", "unknown": "Unknown"}
_IMAGING = ("363679005", "Imaging")
#: Modalities with ionising radiation.
_RADIATION = frozenset({"CR", "CT", "NM"})
_TOLD_MAX = 6


def imaging_tools(hospital: Hospital) -> tuple[ToolDescriptor, ...]:
    """``imaging.search`` and ``order.imaging.create`` over an open record."""

    async def search(_ctx: ToolContext, patient: str, since: str | None = None) -> dict[str, Any]:
        """Imaging studies of a patient and the radiology reports, newest first."""
        who = identity(await require_patient(hospital, patient), hospital.today)
        dates = {"started": f"ge{since}"} if since else {}
        issued = {"date": f"ge{since}"} if since else {}
        with reading():
            studies, reports = await asyncio.gather(
                hospital.fhir.search("ImagingStudy", {"subject": patient, "_sort": "-started", **dates}),
                hospital.fhir.search(
                    "DiagnosticReport", {"subject": patient, "category": "RAD", "_sort": "-date", **issued}
                ),
            )
        rows = [_study(study) for study in studies] + [_report_row(report) for report in reports]
        return {"patient": who, "imaging": sorted(rows, key=lambda row: str(row["date"]), reverse=True)}

    return (
        tool(
            "imaging.search",
            policy_class=PolicyClass.READ,
            title="Imaging",
            description=search.__doc__ or "",
            ops={"read"},
            roles=CLINICIANS,
            args=(patient_arg(), since_arg()),
            noun="the imaging",
            report=_report,
        )(search),
        record_write(
            hospital,
            "order.imaging.create",
            _order,
            title="Order imaging",
            noun="the imaging order",
            roles={"doctor"},
            creates="ServiceRequest",
            editable={"priority", "indication", "pregnancy"},
            args=(
                patient_arg(),
                code_arg("modality", "Modality", _MODALITIES, required=True),
                ArgSpec(name="body_site", label="Body site", type="string", required=True),
                code_arg("laterality", "Side", _SIDES, required=True),
                priority_arg(),
                text_arg("indication", "Clinical question", required=True),
                code_arg("pregnancy", "Pregnant", _PREGNANCY),
            ),
        ),
    )


def _study(study: Resource) -> dict[str, Any]:
    modalities = [coding.get("display") or coding.get("code") for coding in study.get("modality") or []]
    sites = [
        str((series.get("bodySite") or {}).get("display"))
        for series in study.get("series") or []
        if (series.get("bodySite") or {}).get("display")
    ]
    what = study.get("description") or " ".join(
        [*map(str, modalities[:1]), *(f"of {site}" for site in sites[:1])]
    )
    return {
        "reference": reference_of(study),
        "date": str(study.get("started") or "")[:10],
        "what": what or "imaging study",
        "status": study.get("status", ""),
    }


def _report_row(report: Resource) -> dict[str, Any]:
    conclusion = str(report.get("conclusion") or "")
    return {
        "reference": reference_of(report),
        "date": str(report.get("effectiveDateTime") or report.get("issued") or "")[:10],
        "what": "report: " + (concept_text(report.get("code")) or "imaging"),
        "conclusion": conclusion,
        "status": report.get("status", ""),
    }


def _report(args: Mapping[str, Any], value: Any) -> str:
    rows, name = value["imaging"], value["patient"]["name"]
    if not rows:
        return f"{name}: no imaging on record."
    said = [
        f"{row['what']} on {day(row['date'])}" + (f" ({row['conclusion']})" if row.get("conclusion") else "")
        for row in rows[:_TOLD_MAX]
    ]
    more = f"; {len(rows) - _TOLD_MAX} more" if len(rows) > _TOLD_MAX else ""
    return f"{name}: {plural(len(rows), 'imaging entry', 'imaging entries')}: {'; '.join(said)}{more}."


async def _order(call: Call) -> Composed:
    """Order imaging for a patient: modality, body site, side, and the clinical question."""
    who = await call.patient()
    modality, site = _MODALITIES.get(str(call.args["modality"])), call.given("body_site")
    side = str(call.args["laterality"])
    if modality is None or side not in _SIDES or not site:
        raise ToolError(
            "an imaging order says modality, body site and side; nothing was written",
            effect="none",
            code="incomplete",
        )
    where = site if side == "na" else f"{site}, {side}"
    what = f"{modality} {where}"
    resource = await request_resource(call, _IMAGING, {"text": what}, why=call.given("indication"))
    resource["bodySite"] = [{"text": where}]
    pregnancy = call.args.get("pregnancy")
    if pregnancy:
        resource["note"] = [{"text": f"Pregnant: {_PREGNANCY[pregnancy].lower()}"}]
    alerts = _pregnancy_alert(call, pregnancy)
    return Composed(
        subject=who,
        summary=f"Order {what}: {call.given('indication')}",
        done=f"{what} ordered ({call.given('indication')})",
        new=[resource],
        after={"order": what, "question": call.given("indication")},
        alerts=alerts,
        notes=[f"Warning: {alerts[0]['summary']}."] if alerts else [],
        facts={"ordered": what},
    )


def _pregnancy_alert(call: Call, pregnancy: object) -> list[dict[str, Any]]:
    if pregnancy not in ("yes", "unknown") or call.args["modality"] not in _RADIATION:
        return []
    said = {"yes": "the patient is pregnant", "unknown": "pregnancy is not known"}[str(pregnancy)]
    return [
        {
            "id": "own-radiation-pregnancy",
            "severity": "warning",
            "summary": f"{_MODALITIES[call.args['modality']]} uses ionising radiation and {said}",
            "action": "Check, or choose ultrasound or MRI",
            "source": "what was asked for",
            "evidence": [],
        }
    ]
