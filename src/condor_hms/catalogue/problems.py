"""The patient's problems: what is active, or what was, as it was recorded."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from condor import ArgSpec, PolicyClass, ToolContext, ToolDescriptor, tool
from condor_hms.catalogue.hospital import Hospital, reading, reference_of, require_patient
from condor_hms.catalogue.identity import identity
from condor_hms.catalogue.specs import CLINICIANS, choice, patient_arg
from condor_hms.catalogue.terms import problem_name
from condor_hms.catalogue.words import concept_text, day, plural, status_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from condor_hms.fhir.port import Resource

__all__ = ["is_problem", "problem_row", "problem_rows", "problem_tools"]

_STATUSES = {"active": "Active", "resolved": "Resolved", "all": "All"}
#: FHIR condition-clinical codes that each choice means; "all" asks for no status.
_CODES = {"active": "active,recurrence,relapse", "resolved": "resolved,inactive,remission"}


def problem_tools(hospital: Hospital) -> tuple[ToolDescriptor, ...]:
    """``condition.list.card`` over an open record."""

    async def list_problems(
        _ctx: ToolContext, patient: str, clinical_status: str | None = None
    ) -> dict[str, Any]:
        """The patient's problems: the active ones, or those of one status."""
        who = identity(await require_patient(hospital, patient), hospital.today)
        status = clinical_status or "active"
        rows = await problem_rows(hospital, patient, status)
        return {"patient": who, "status": status, "problems": rows, "byName": _by_name(rows)}

    return (
        tool(
            "condition.list.card",
            policy_class=PolicyClass.READ,
            title="Problems",
            description=list_problems.__doc__ or "",
            ops={"read"},
            returns={"/byName/NAME/reference": "one problem, by its name in lower case"},
            lookups={"byName"},
            roles=CLINICIANS,
            ui_card=True,
            args=(
                patient_arg(),
                ArgSpec(
                    name="clinical_status",
                    label="Status",
                    type="code",
                    hint={"enum": choice(_STATUSES), "radio": True},
                ),
            ),
            noun="the problem list",
            report=_report,
        )(list_problems),
    )


def _by_name(rows: Sequence[Mapping[str, Any]]) -> dict[str, Mapping[str, Any]]:
    """Problem, folded, under the name it is known by and as it is written → the one of that name."""
    names: dict[str, list[Mapping[str, Any]]] = {}
    for row in rows:
        text = str(row["text"])
        written = text.partition(" (")[0]
        for name in {problem_name(part).casefold() for part in (text, written)}:
            names.setdefault(name, []).append(row)
    return {name: same[0] for name, same in names.items() if len(same) == 1}


async def problem_rows(hospital: Hospital, patient: str, status: str = "active") -> list[dict[str, Any]]:
    """Problems of one status, compact; what was refuted or entered in error is none."""
    params = {"subject": patient}
    if status in _CODES:
        params["clinical-status"] = _CODES[status]
    with reading():
        found = await hospital.fhir.search("Condition", params)
    return [problem_row(row) for row in found if is_problem(row)]


def is_problem(condition: Resource) -> bool:
    """Whether it counts: what was refuted or entered in error does not."""
    return status_of(condition.get("verificationStatus")) not in ("refuted", "entered-in-error")


def problem_row(condition: Resource) -> dict[str, Any]:
    """One problem, compact."""
    began = condition.get("onsetDateTime") or (condition.get("onsetPeriod") or {}).get("start") or ""
    return {
        "reference": reference_of(condition),
        "text": concept_text(condition.get("code")) or "problem not named",
        "status": status_of(condition.get("clinicalStatus")),
        "onset": str(began)[:10],
    }


def _report(args: Mapping[str, Any], value: Any) -> str:
    rows, name, status = value["problems"], value["patient"]["name"], value["status"]
    word = "" if status == "all" else f"{status} "
    if not rows:
        return f"{name}: no {word}problems on record."
    said = [row["text"] + (f" (since {day(row['onset'])})" if row["onset"] else "") for row in rows]
    return f"{name}: {plural(len(rows), word + 'problem')}: {'; '.join(said)}."
