"""Generating a report of a patient: a file, made from the record by a fixed template.

Rule 1: it writes nothing to the record; a note that is to be kept is drafted as one.
Rule 2: the same record on the same day gives the same file; the file's digest is told.
"""

from __future__ import annotations

import asyncio
import hashlib
import os
from typing import TYPE_CHECKING, Any

from condor import CardEvidence, PolicyClass, ToolContext, ToolDescriptor, ToolError, tool
from condor_hms.catalogue.allergy_list import allergy_row
from condor_hms.catalogue.evidence import alert_rows, allergies_of, allergy_status, is_active_allergy
from condor_hms.catalogue.hospital import Hospital, reading, require_patient
from condor_hms.catalogue.identity import identity
from condor_hms.catalogue.medicine_list import current_orders
from condor_hms.catalogue.problems import problem_rows
from condor_hms.catalogue.results import lab_results
from condor_hms.catalogue.shown import check_shown
from condor_hms.catalogue.specs import code_arg, patient_arg
from condor_hms.catalogue.summary import VITALS, latest_rows
from condor_hms.catalogue.terms import LAB_TESTS
from condor_hms.catalogue.words import concept_text, day, order_text
from condor_hms.reports import FORMATS, Page, Part, render

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

__all__ = ["TEMPLATES", "reporting_tools"]

TEMPLATES: Mapping[str, str] = {
    "discharge": "Discharge summary",
    "clinic-letter": "Clinic letter",
    "medication-chart": "Medication chart",
}
#: Template → the parts it has, in order.
_PARTS = {
    "discharge": ("stay", "problems", "allergies", "medicines", "labs", "vitals"),
    "clinic-letter": ("problems", "allergies", "medicines", "labs"),
    "medication-chart": ("allergies", "medicines", "held"),
}
_FOOTER = "Generated from the record; not signed. Demonstration software: not for care."
#: Half a minute is long for a page; a font that is read for the first time takes some of it.
_TIMEOUT_S = 60.0


def reporting_tools(hospital: Hospital) -> tuple[ToolDescriptor, ...]:
    """``report.generate`` over an open record."""

    async def generate(ctx: ToolContext, patient: str, template: str, output: str) -> dict[str, Any]:
        """Make a report of a patient from the record: discharge summary, clinic letter, medication chart."""
        folder = _folder(hospital)
        who = identity(await require_patient(hospital, patient), hospital.today)
        page = await _page(hospital, who, template, ctx.principal.name)
        check_shown(ctx, _card(folder, who, page, output))
        content = await asyncio.to_thread(render, page, output)
        digest = hashlib.sha256(content).hexdigest()
        name = f"{template}-{digest[:16]}.{output}"
        await asyncio.to_thread(_keep, folder, name, content)
        return {
            "file": str(folder / name),
            "sha256": digest,
            "bytes": len(content),
            "title": page.title,
            "format": FORMATS[output][0],
            "patient": who["text"],
        }

    async def show(ctx: ToolContext, patient: str, template: str, output: str) -> CardEvidence:
        who = identity(await require_patient(hospital, patient), hospital.today)
        page = await _page(hospital, who, template, ctx.principal.name)
        return _card(_folder(hospital), who, page, output)

    return (
        tool(
            "report.generate",
            policy_class=PolicyClass.EXEC,
            title="Generate a report",
            description=generate.__doc__ or "",
            ops={"execute"},
            roles={"doctor", "nurse"},
            approver_roles={"doctor", "nurse"},
            idempotent=True,
            ui_card=True,
            timeout_s=_TIMEOUT_S,
            args=(
                patient_arg(),
                code_arg("template", "Template", TEMPLATES, required=True),
                code_arg(
                    "output", "Format", {code: label for code, (label, _) in FORMATS.items()}, required=True
                ),
            ),
            noun="the report",
            report=_report,
            preview=show,
        )(generate),
    )


def _card(folder: Path, who: Mapping[str, Any], page: Page, output: str) -> CardEvidence:
    return CardEvidence(
        subject=who,
        summary=f"Generate the {page.title.lower()} as {FORMATS[output][0]}",
        after={part.heading: list(part.lines) for part in page.parts},
        alerts=alert_rows((), who),
        context=({"label": "Kept in", "text": str(folder)},),
    )


def _folder(hospital: Hospital) -> Path:
    if hospital.reports is None:
        raise ToolError("there is no folder for reports here", effect="none", code="no_folder")
    return hospital.reports


def _keep(folder: Path, name: str, content: bytes) -> None:
    """Write the file whole or not at all; only its owner may read it."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        beside = folder / f".{name}.{os.getpid()}"
        with os.fdopen(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        beside.replace(folder / name)
    except OSError as error:
        raise ToolError(f"the report cannot be kept: {error}", effect="none", code="no_folder") from error


async def _page(hospital: Hospital, who: Mapping[str, Any], template: str, author: str) -> Page:
    patient = str(who["reference"])
    orders, held, allergies, problems = await asyncio.gather(
        current_orders(hospital, patient),
        current_orders(hospital, patient, "on-hold"),
        allergies_of(hospital, patient),
        problem_rows(hospital, patient),
    )
    active = [allergy_row(row)["text"] for row in allergies if is_active_allergy(row)]
    parts = {
        "stay": Part(heading="Stay", lines=await _stay(hospital, patient)),
        "problems": Part(heading="Problems", lines=tuple(row["text"] for row in problems)),
        "allergies": Part(heading="Allergies", lines=tuple(active) or (allergy_status(allergies),)),
        "medicines": Part(heading="Medicines", lines=tuple(order_text(order) for order in orders)),
        "held": Part(heading="On hold", lines=tuple(order_text(order) for order in held)),
        "labs": Part(heading="Latest results", lines=await _results(hospital, patient, LAB_TESTS)),
        "vitals": Part(
            heading="Latest vital signs", lines=await _results(hospital, patient, VITALS, "vital-signs")
        ),
    }
    return Page(
        title=TEMPLATES[template],
        subject=str(who["text"]),
        made=f"{day(hospital.today)}, for {author}",
        parts=tuple(parts[name] for name in _PARTS[template]),
        footer=_FOOTER,
    )


async def _stay(hospital: Hospital, patient: str) -> tuple[str, ...]:
    """The latest inpatient stay."""
    with reading():
        found = await hospital.fhir.search(
            "Encounter", {"subject": patient, "class": "IMP", "_sort": "-date", "_count": "1"}
        )
    if not found:
        return ()
    period = found[0].get("period") or {}
    reasons = [concept_text(reason) for reason in found[0].get("reasonCode") or []]
    until = f" to {day(period['end'])}" if period.get("end") else ", not discharged yet"
    return (f"{day(period.get('start'))}{until}", *(f"Reason: {reason}" for reason in reasons if reason))


async def _results(
    hospital: Hospital, patient: str, codes: Mapping[str, str], category: str = "laboratory"
) -> tuple[str, ...]:
    found = await lab_results(hospital, patient, tuple(codes), category=category)
    return tuple(f"{row['test']} {row['text']}" for row in latest_rows(found))


def _report(args: Mapping[str, Any], value: Any) -> str:
    return (
        f"Report generated: {value['title'].lower()} of {value['patient']} as {value['format']} "
        f"({value['file']}, {value['bytes']} bytes, sha256 {value['sha256'][:12]}…)."
    )
