"""Recording a problem, and changing what was recorded.

Rule 1: an active problem is not recorded twice; the one that is there is named.
Rule 2: a resolved problem says when (con-4); one in error has no clinical status (con-5) and is not deleted.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from condor import ArgSpec, ToolDescriptor, ToolError
from condor_hms.catalogue.denials import refuse_doubt
from condor_hms.catalogue.evidence import ended_alerts, ended_notes
from condor_hms.catalogue.hospital import Hospital, reading, reference_of
from condor_hms.catalogue.plausible import refuse_before_birth
from condor_hms.catalogue.problems import is_problem, problem_row
from condor_hms.catalogue.record_write import Call, Composed, record_write, without
from condor_hms.catalogue.specs import code_arg, date_arg, patient_arg, record_arg, why_arg
from condor_hms.catalogue.terms import PROBLEMS, problem_name
from condor_hms.catalogue.words import concept_text, day, status_of
from condor_hms.catalogue.writing import Edit, identified, person, record_time

if TYPE_CHECKING:
    from collections.abc import Sequence

    from condor_hms.fhir.port import Resource

__all__ = ["problem_record_tools"]

_CERTAINTIES = {"confirmed": "Confirmed", "provisional": "Provisional", "differential": "Differential"}
_ACTIONS = {"update": "Change", "resolve": "Resolve", "remove": "Remove (entered in error)"}
_HL7 = "http://terminology.hl7.org/CodeSystem/condition-"
_ICD = "http://hl7.org/fhir/sid/icd-10-cm"


def problem_record_tools(hospital: Hospital) -> tuple[ToolDescriptor, ...]:
    """``condition.record`` and ``condition.update`` over an open record."""
    return (
        record_write(
            hospital,
            "condition.record",
            _record,
            title="Add a problem",
            noun="the problem entry",
            roles={"doctor"},
            creates="Condition",
            editable={"verification", "onset"},
            args=(
                patient_arg(),
                ArgSpec(
                    name="problem",
                    label="Problem",
                    type="string",
                    required=True,
                    hint={"min_length": 2, "lookup": {"terminology": "ICD-10-CM/SNOMED CT"}},
                ),
                code_arg("verification", "Certainty", _CERTAINTIES, required=True, vs="condition-ver-status"),
                date_arg("onset", "Onset", "today-100y", "today"),
            ),
        ),
        record_write(
            hospital,
            "condition.update",
            _update,
            title="Update a problem",
            noun="the change of the problem",
            roles={"doctor"},
            target=("condition", "Condition"),
            ops=set(_ACTIONS),
            op_arg="action",
            ends={"resolve"},
            editable={"abatement", "reason"},
            args=(
                record_arg("condition", "Problem", "condition.list.card"),
                code_arg("action", "Action", _ACTIONS, required=True),
                date_arg(
                    "abatement", "Resolved on", "today-100y", "today", required_if={"action": ("resolve",)}
                ),
                why_arg(required=False, required_if={"action": ("remove",)}),
            ),
        ),
    )


def _status(kind: str, code: str, display: str) -> dict[str, Any]:
    return {"coding": [{"system": f"{_HL7}{kind}", "code": code, "display": display}], "text": display}


async def _record(call: Call) -> Composed:
    """Add a problem to a patient's list: what it is, how certain, and since when where it is known."""
    who, name = await call.patient(), problem_name(call.given("problem"))
    refuse_doubt("problem", name)
    refuse_before_birth(who, call.args.get("onset"), "The onset")
    certainty = str(call.args["verification"])
    coding = PROBLEMS.get(name.casefold())
    code: dict[str, Any] = {"text": name}
    if coding is not None:
        code["coding"] = [{"system": _ICD, "code": coding[0], "display": coding[1]}]
    with reading():
        found = await call.hospital.fhir.search("Condition", {"subject": who["reference"]})
    active = [row for row in found if _is_active(row) and not identified(row, call.ctx.idempotency_key)]
    known = _same(active, name, coding)
    resource: Resource = {
        "resourceType": "Condition",
        "clinicalStatus": _status("clinical", "active", "Active"),
        "verificationStatus": _status("ver-status", certainty, _CERTAINTIES[certainty]),
        "category": [_status("category", "problem-list-item", "Problem List Item")],
        "code": code,
        "subject": {"reference": who["reference"]},
        "recordedDate": record_time(call.hospital, call.ctx),
        "recorder": await person(call.hospital, call.ctx.principal),
    }
    onset = call.args.get("onset")
    if onset:
        resource["onsetDateTime"] = onset
    words = f"{name} ({certainty}{f', since {day(onset)}' if onset else ''})"
    before = [problem_row(row)["text"] for row in active]
    return Composed(
        subject=who,
        summary=f"Add the problem {words}",
        done=f"Problem added: {words}",
        new=[resource],
        before={"problems": before},
        after={"problems": before if known else [*before, words]},
        known=f"already on record: {reference_of(known)}, {problem_row(known)['text']}" if known else "",
        facts={"problem": name},
    )


def _is_active(condition: Resource) -> bool:
    return is_problem(condition) and status_of(condition.get("clinicalStatus")) in (
        "active",
        "recurrence",
        "relapse",
    )


def _same(active: Sequence[Resource], name: str, coding: tuple[str, str] | None) -> Resource | None:
    for row in active:
        concept = row.get("code") or {}
        codes = {part.get("code") for part in concept.get("coding") or []}
        if concept_text(concept).casefold() == name.casefold() or (coding is not None and coding[0] in codes):
            return row
    return None


async def _update(call: Call) -> Composed:
    """Resolve a problem with its date, remove an entry made in error, or add a remark to one."""
    action, why = str(call.args["action"]), call.given("reason")
    condition = await call.target(call.args["condition"], "Condition")
    row = problem_row(condition)
    if not is_problem(condition):
        raise ToolError(
            f"{row['reference']} ({row['text']}) was refuted or entered in error; nothing was written",
            effect="none",
            code="not_standing",
        )
    after, words = _changed(call, condition, action, why)
    patient = await call.subject_of(condition)
    alerts = () if action == "update" else await ended_alerts(call.hospital, patient, reference_of(condition))
    return Composed(
        subject=patient,
        summary=f"{_ACTIONS[action]}: {row['text']}" + (f". Reason: {why}" if why else ""),
        done=f"Problem {words}: {row['text']}",
        edits=[Edit(before=condition, after=after)],
        reason=why,
        removes=action == "remove",
        before={"problem": row["text"], "status": row["status"]},
        after={"problem": row["text"], "status": problem_row(after)["status"] or "entered-in-error"},
        alerts=alerts,
        notes=ended_notes(alerts),
        facts={"problem": row["text"]},
    )


def _changed(call: Call, condition: Resource, action: str, why: str) -> tuple[Resource, str]:
    match action:
        case "remove":
            error = _status("ver-status", "entered-in-error", "Entered in Error")
            return without(condition, "clinicalStatus", verificationStatus=error), "removed"
        case "resolve":
            ended = str(call.args["abatement"])
            began = str(condition.get("onsetDateTime") or "")
            if began and ended < began[: len(ended)]:
                raise ToolError(
                    f"it began on {day(began)}; it cannot have ended on {day(ended)}",
                    effect="none",
                    code="bad_date",
                )
            if (status_of(condition.get("clinicalStatus")), condition.get("abatementDateTime")) == (
                "resolved",
                ended,
            ):
                raise ToolError(
                    "it is resolved on that day already; nothing was written", effect="none", code="no_change"
                )
            other = ("abatementAge", "abatementPeriod", "abatementRange", "abatementString")
            resolved = _status("clinical", "resolved", "Resolved")
            changed = without(condition, *other, clinicalStatus=resolved, abatementDateTime=ended)
            return changed, f"resolved on {day(ended)}"
        case _:
            if not why:
                raise ToolError(
                    "a change of a problem says what is to be noted; nothing was written",
                    effect="none",
                    code="no_change",
                )
            note = {"time": record_time(call.hospital, call.ctx), "text": why}
            return without(condition, note=[*(condition.get("note") or []), note]), f"updated with “{why}”"
