"""The allergies of a patient, as recorded.

Rule: "no known allergies" is said only where it is coded so; an empty list is "not recorded".
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from condor import PolicyClass, ToolContext, ToolDescriptor, tool
from condor_hms.catalogue.evidence import (
    allergies_of,
    allergy_status,
    allergy_text,
    is_active_allergy,
    is_denied,
)
from condor_hms.catalogue.hospital import Hospital, reference_of, require_patient
from condor_hms.catalogue.identity import identity
from condor_hms.catalogue.specs import CLINICIANS, patient_arg
from condor_hms.catalogue.terms import ingredient_key
from condor_hms.catalogue.words import concept_text, plural, status_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from condor_hms.fhir.port import Resource

__all__ = ["allergy_list_tools", "allergy_row"]


def allergy_list_tools(hospital: Hospital) -> tuple[ToolDescriptor, ...]:
    """``allergy.list.card`` over an open record."""

    async def list_allergies(_ctx: ToolContext, patient: str) -> dict[str, Any]:
        """The patient's allergies and what the record says where there are none."""
        who = identity(await require_patient(hospital, patient), hospital.today)
        found = await allergies_of(hospital, patient)
        past = [row for row in found if not is_active_allergy(row) and not is_denied(row)]
        return {
            "patient": who,
            "status": allergy_status(found),
            "allergies": [allergy_row(row) for row in found if is_active_allergy(row)],
            "past": [allergy_row(row) for row in past],
            "bySubstance": _by_substance([row for row in found if is_active_allergy(row)]),
        }

    return (
        tool(
            "allergy.list.card",
            policy_class=PolicyClass.READ,
            title="Allergies",
            description=list_allergies.__doc__ or "",
            ops={"read"},
            returns={"/bySubstance/SUBSTANCE/reference": "one allergy, by its substance in lower case"},
            lookups={"bySubstance"},
            roles=CLINICIANS,
            ui_card=True,
            args=(patient_arg(),),
            noun="the allergy list",
            report=_report,
        )(list_allergies),
    )


def _by_substance(allergies: Sequence[Resource]) -> dict[str, dict[str, Any]]:
    """Substance, folded → its one active entry."""
    keys: dict[str, list[Resource]] = {}
    for allergy in allergies:
        text = allergy_text(allergy)
        for key in {ingredient_key(text), ingredient_key(text.removesuffix(" protein"))}:
            keys.setdefault(key, []).append(allergy)
    return {key: allergy_row(same[0]) for key, same in keys.items() if key and len(same) == 1}


def allergy_row(allergy: Resource) -> dict[str, Any]:
    """One allergy, compact, with its text: ``penicillin (high criticality, eruption of skin, mild)``."""
    reactions = [
        concept_text(shown)
        for reaction in allergy.get("reaction") or []
        for shown in reaction.get("manifestation") or []
    ]
    severities = [
        reaction["severity"] for reaction in allergy.get("reaction") or [] if reaction.get("severity")
    ]
    row = {
        "reference": reference_of(allergy),
        "substance": allergy_text(allergy),
        "category": next(iter(allergy.get("category") or []), ""),
        "criticality": allergy.get("criticality", ""),
        "verification": status_of(allergy.get("verificationStatus")),
        "status": status_of(allergy.get("clinicalStatus")),
        "reactions": reactions,
        "severity": severities[0] if severities else "",
    }
    remarks = [f"{row['criticality']} criticality"] if row["criticality"] else []
    shown = ", ".join([*(text.lower() for text in reactions), *severities[:1]])
    remarks += [shown] if shown else []
    remarks += ["unconfirmed"] if row["verification"] == "unconfirmed" else []
    return {**row, "text": row["substance"] + (f" ({', '.join(remarks)})" if remarks else "")}


def _report(args: Mapping[str, Any], value: Any) -> str:
    name, rows = value["patient"]["name"], value["allergies"]
    if not rows:
        return f"{name}: allergies: {value['status']}."
    return f"{name}: {plural(len(rows), 'allergy', 'allergies')}: {'; '.join(row['text'] for row in rows)}."
