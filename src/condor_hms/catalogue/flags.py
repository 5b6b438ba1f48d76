"""Patient flags. The tool is of the old kind: it says only that it writes.

Rule: without a class and a tier of its own the policy treats it as a record write of high tier; a flag that
is there already is shown before a second one is set.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from condor import ToolDescriptor, ToolError
from condor_hms.catalogue.hospital import Hospital, reading, reference_of
from condor_hms.catalogue.record_write import Call, Composed, record_write
from condor_hms.catalogue.specs import code_arg, patient_arg, text_arg
from condor_hms.catalogue.terms import FLAGS
from condor_hms.catalogue.words import concept_text, joined
from condor_hms.catalogue.writing import identified, person

if TYPE_CHECKING:
    from collections.abc import Sequence

    from condor_hms.fhir.port import Resource

__all__ = ["flag_tools"]

#: Flag → code and display of the FHIR R4 flag-category code system.
_CATEGORIES = {
    "falls": ("safety", "Safety"),
    "infection": ("clinical", "Clinical"),
    "behaviour": ("behavioral", "Behavioral"),
    "dnacpr": ("advance-directive", "Advance Directive"),
}


def flag_tools(hospital: Hospital) -> tuple[ToolDescriptor, ...]:
    """``flag.set`` over an open record."""
    return (
        record_write(
            hospital,
            "flag.set",
            _flag,
            tier=None,
            title="Set a patient flag",
            noun="the flag",
            roles={"doctor", "nurse"},
            editable={"note"},
            creates="Flag",
            args=(patient_arg(), code_arg("flag", "Flag", FLAGS, required=True), text_arg("note", "Note")),
        ),
    )


async def _flag(call: Call) -> Composed:
    """Set a flag on a patient's record: falls risk, infection control, behaviour, or DNACPR in place."""
    who, flag = await call.patient(), str(call.args["flag"])
    resource = _resource(call.hospital, who["reference"], flag, call.given("note"))
    resource["author"] = await person(call.hospital, call.ctx.principal)
    with reading():
        active = await call.hospital.fhir.search("Flag", {"subject": who["reference"], "status": "active"})
    others = [row for row in active if not identified(row, call.ctx.idempotency_key)]
    before = [concept_text(row.get("code")) for row in others]
    existing = [row for row in others if _says(row, flag)]
    known = f"already on record: {_named(existing)}" if existing else "no such flag on record"
    text = resource["code"]["text"]
    return Composed(
        subject=who,
        summary=f"Set the flag “{text}”",
        done=f"Flag set: {FLAGS[flag]}",
        new=[resource],
        before={"flags": before},
        after={"flags": [*before, text]},
        context=({"label": "Existing flag", "text": known},),
        notes=[f"It was already on record: {_named(existing)}."] if existing else [],
        facts={"flag": FLAGS[flag]},
    )


def _resource(hospital: Hospital, patient: str, flag: str, note: str) -> Resource:
    """The flag as FHIR, but for who set it. A note stands in its text: Flag has no other place for it."""
    if flag not in FLAGS:
        raise ToolError(f"{flag!a} is not a flag of the list", effect="none", code="bad_flag")
    code, display = _CATEGORIES[flag]
    coding = {
        "system": "http://terminology.hl7.org/CodeSystem/flag-category",
        "code": code,
        "display": display,
    }
    return {
        "resourceType": "Flag",
        "status": "active",
        "category": [{"coding": [coding], "text": display}],
        "code": {"text": _text(flag, note)},
        "subject": {"reference": patient},
        "period": {"start": hospital.today.isoformat()},
    }


def _text(flag: str, note: str) -> str:
    return f"{FLAGS[flag]}: {note}" if note else FLAGS[flag]


def _says(flag: Resource, wanted: str) -> bool:
    """Whether a flag says this, with or without a note."""
    return concept_text(flag.get("code")).casefold().split(":")[0].strip() == FLAGS[wanted].casefold()


def _named(flags: Sequence[Resource]) -> str:
    return joined([f"{reference_of(row)} {concept_text(row.get('code'))}" for row in flags])
