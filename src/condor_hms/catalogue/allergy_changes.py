"""Changing an allergy entry: its criticality, that it is resolved, that it should never have been.

Rule: an entry is never deleted. One in error keeps its place in the history with no clinical status (ait-2).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from condor import ToolDescriptor, ToolError
from condor_hms.catalogue.allergy_list import allergy_row
from condor_hms.catalogue.allergy_record import CRITICALITIES, allergy_status_concept
from condor_hms.catalogue.evidence import allergy_text, ended_alerts, ended_notes
from condor_hms.catalogue.hospital import Hospital, reference_of
from condor_hms.catalogue.record_write import Call, Composed, record_write, without
from condor_hms.catalogue.specs import code_arg, record_arg, why_arg
from condor_hms.catalogue.words import status_of
from condor_hms.catalogue.writing import Edit

if TYPE_CHECKING:
    from condor_hms.fhir.port import Resource

__all__ = ["allergy_change_tools"]

_ACTIONS = {"update": "Change details", "resolve": "Mark resolved", "remove": "Remove (entered in error)"}


def allergy_change_tools(hospital: Hospital) -> tuple[ToolDescriptor, ...]:
    """``allergy.update`` over an open record."""
    return (
        record_write(
            hospital,
            "allergy.update",
            _update,
            title="Update an allergy",
            noun="the change of the allergy entry",
            roles={"doctor", "nurse", "pharmacist"},
            target=("allergy", "AllergyIntolerance"),
            ops=set(_ACTIONS),
            op_arg="action",
            ends={"resolve"},
            editable={"criticality", "reason"},
            args=(
                record_arg("allergy", "Allergy", "allergy.list.card"),
                code_arg("action", "Action", _ACTIONS, required=True),
                code_arg("criticality", "Criticality", CRITICALITIES, required_if={"action": ("update",)}),
                why_arg(required=False, required_if={"action": ("remove",)}),
            ),
        ),
    )


async def _update(call: Call) -> Composed:
    """Change the criticality of an allergy, mark it resolved, or remove an entry made in error."""
    action, why = str(call.args["action"]), call.given("reason")
    allergy = await call.target(call.args["allergy"], "AllergyIntolerance")
    text = allergy_text(allergy)
    if status_of(allergy.get("verificationStatus")) == "entered-in-error":
        raise ToolError(
            f"{reference_of(allergy)} ({text}) was entered in error; nothing was written",
            effect="none",
            code="not_standing",
        )
    after, words = _changed(allergy, action, str(call.args.get("criticality") or ""))
    patient = await call.subject_of(allergy, "patient")
    # While it stands in a lower grade, it still warns.
    alerts = () if action == "update" else await ended_alerts(call.hospital, patient, reference_of(allergy))
    return Composed(
        subject=patient,
        summary=f"{_ACTIONS[action]}: allergy to {text}" + (f". Reason: {why}" if why else ""),
        done=f"Allergy {words}: {text}",
        edits=[Edit(before=allergy, after=after)],
        reason=why,
        removes=action == "remove",
        before={"allergy": allergy_row(allergy)["text"], "status": _state(allergy)},
        after={"allergy": allergy_row(after)["text"], "status": _state(after)},
        alerts=alerts,
        notes=ended_notes(alerts),
        facts={"substance": text},
    )


def _changed(allergy: Resource, action: str, criticality: str) -> tuple[Resource, str]:
    match action:
        case "remove":
            error = allergy_status_concept("verification", "entered-in-error", "Entered in Error")
            return without(allergy, "clinicalStatus", verificationStatus=error), "removed"
        case "resolve":
            resolved = allergy_status_concept("clinical", "resolved", "Resolved")
            if status_of(allergy.get("clinicalStatus")) == "resolved":
                raise ToolError(
                    "it is resolved already; nothing was written", effect="none", code="no_change"
                )
            return without(allergy, clinicalStatus=resolved), "resolved"
        case _:
            if allergy.get("criticality") == criticality:
                raise ToolError(
                    f"its criticality is {criticality} already; nothing was written",
                    effect="none",
                    code="no_change",
                )
            return without(allergy, criticality=criticality), f"updated to {criticality} criticality"


def _state(allergy: Resource) -> str:
    return status_of(allergy.get("clinicalStatus")) or status_of(allergy.get("verificationStatus"))
