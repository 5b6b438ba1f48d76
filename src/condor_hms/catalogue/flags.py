"""Patient flags. The tool is of the old kind: it says only that it writes.

Rule: without a class and a tier of its own the policy treats it as a record write of high tier; a flag that
is there already is shown before a second one is set.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from condor import ArgSpec, CardEvidence, Reconciled, ToolContext, ToolDescriptor, ToolError, tool
from condor_hms.catalogue.hospital import Hospital, reading, reference_of, require_patient
from condor_hms.catalogue.identity import identity
from condor_hms.catalogue.specs import choice, patient_arg
from condor_hms.catalogue.terms import FLAGS
from condor_hms.catalogue.words import concept_text, joined
from condor_hms.catalogue.writing import Written, create, identified, person, reconcile_created

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

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

    async def set_flag(ctx: ToolContext, patient: str, flag: str, note: str | None = None) -> dict[str, Any]:
        """Set a flag on a patient's record: falls risk, infection control, behaviour, or DNACPR in place."""
        who = identity(await require_patient(hospital, patient), hospital.today)
        resource = _resource(hospital, patient, flag, note)
        resource["author"] = await person(hospital, ctx.principal)
        before = await _existing(hospital, patient, flag)
        others = [row for row in before if not identified(row, ctx.idempotency_key)]
        return _value(flag, who, others, await create(hospital, ctx, resource))

    async def show(_ctx: ToolContext, patient: str, flag: str, note: str | None = None) -> CardEvidence:
        return await _evidence(hospital, patient, flag, note)

    async def reconcile(ctx: ToolContext, patient: str, flag: str, note: str | None = None) -> Reconciled:
        who = identity(await require_patient(hospital, patient), hospital.today)
        before = await _existing(hospital, patient, flag)
        others = [row for row in before if not identified(row, ctx.idempotency_key)]
        return await reconcile_created(
            hospital, ctx, "Flag", lambda written: _value(flag, who, others, written)
        )

    return (
        tool(
            "flag.set",
            title="Set a patient flag",
            description=set_flag.__doc__ or "",
            ops={"create"},
            roles={"doctor", "nurse"},
            idempotent=True,
            args=(
                patient_arg(),
                ArgSpec(
                    name="flag",
                    label="Flag",
                    type="code",
                    required=True,
                    hint={"enum": choice(FLAGS), "radio": True},
                ),
                ArgSpec(name="note", label="Note", type="string", hint={"textarea": True}),
            ),
            metadata={"mutating": True},
            noun="the flag",
            report=_report,
            preview=show,
            reconcile=reconcile,
        )(set_flag),
    )


def _resource(hospital: Hospital, patient: str, flag: str, note: str | None) -> Resource:
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


def _text(flag: str, note: str | None) -> str:
    return f"{FLAGS[flag]}: {note.strip()}" if note and note.strip() else FLAGS[flag]


async def _existing(hospital: Hospital, patient: str, flag: str) -> list[Resource]:
    """Active flags that say the same, with or without a note."""
    with reading():
        found = await hospital.fhir.search("Flag", {"subject": patient, "status": "active"})
    label = FLAGS.get(flag, "").casefold()
    return [row for row in found if concept_text(row.get("code")).casefold().split(":")[0].strip() == label]


def _named(flags: Sequence[Resource]) -> str:
    return joined([f"{reference_of(row)} {concept_text(row.get('code'))}" for row in flags])


async def _evidence(hospital: Hospital, patient: str, flag: str, note: str | None) -> CardEvidence:
    who = identity(await require_patient(hospital, patient), hospital.today)
    text = _resource(hospital, patient, flag, note)["code"]["text"]
    with reading():
        active = await hospital.fhir.search("Flag", {"subject": patient, "status": "active"})
    before = [concept_text(row.get("code")) for row in active]
    existing = await _existing(hospital, patient, flag)
    known = f"already on record: {_named(existing)}" if existing else "no such flag on record"
    return CardEvidence(
        subject=who,
        summary=f"Set the flag “{text}”",
        before={"flags": before},
        after={"flags": [*before, text]},
        context=({"label": "Existing flag", "text": known},),
    )


def _value(
    flag: str, who: Mapping[str, Any], existing: Sequence[Resource], written: Written
) -> dict[str, Any]:
    return {
        **written.to_json(),
        "flag": FLAGS[flag],
        "patient": who["text"],
        "alreadyOnRecord": [
            {"reference": reference_of(row), "text": concept_text(row.get("code"))} for row in existing
        ],
    }


def _report(args: Mapping[str, Any], value: Any) -> str:
    said = (
        f"Flag set: {value['flag']} for {value['patient']}, {value['reference']} version {value['version']}."
    )
    known = joined([f"{row['reference']} {row['text']}" for row in value["alreadyOnRecord"]])
    return f"{said} It was already on record: {known}." if known else said
