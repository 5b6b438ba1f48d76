"""Notes and documents: drafting, editing a draft, signing, taking out of use.

Rule 1: a draft may be edited; what is signed is final and only superseded.
Rule 2: whoever signs has the whole text before them, and signs that version.
Rule 3: the author of a draft is the person who asked, never the machine; its Provenance says what put it
together.
"""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Any

from condor import ArgSpec, HitlTier, ToolDescriptor, ToolError
from condor_hms.catalogue.documents import DOCUMENT_TYPES, document_row, document_text
from condor_hms.catalogue.hospital import Hospital, reference_of
from condor_hms.catalogue.record_write import Call, Composed, record_write, without
from condor_hms.catalogue.signing import MEANINGS
from condor_hms.catalogue.specs import code_arg, patient_arg, record_arg, text_arg, why_arg
from condor_hms.catalogue.words import day
from condor_hms.catalogue.writing import Edit, person, record_time, versions_of

if TYPE_CHECKING:
    from condor_hms.fhir.port import Resource

__all__ = ["note_tools"]

_ACTIONS = {"update": "Edit text", "delete": "Delete draft"}
_MEANING_LABELS = dict(zip(MEANINGS, ("Author", "Verification", "Witness", "Co-author"), strict=True))
#: As forms list them.
_DRAFT_TYPES = {code: DOCUMENT_TYPES[code] for code in ("11506-3", "18842-5", "57133-1", "34133-9")}


def note_tools(hospital: Hospital) -> tuple[ToolDescriptor, ...]:
    """``note.draft``, ``note.update``, ``document.sign`` and ``document.archive`` over an open record."""
    return (
        record_write(
            hospital,
            "note.draft",
            _draft,
            title="Draft a note",
            noun="the draft",
            roles={"doctor", "nurse"},
            creates="DocumentReference",
            editable={"text"},
            args=(
                patient_arg(),
                code_arg("doc_type", "Type", _DRAFT_TYPES, required=True),
                text_arg("text", "Text", required=True, max_length=20_000),
            ),
        ),
        record_write(
            hospital,
            "note.update",
            _update,
            title="Edit or delete a draft note",
            noun="the change of the draft",
            roles={"doctor", "nurse"},
            target=("document", "DocumentReference"),
            ops=set(_ACTIONS),
            op_arg="action",
            editable={"text"},
            args=(
                record_arg("document", "Draft", "document.search"),
                code_arg("action", "Action", _ACTIONS, required=True),
                ArgSpec(
                    name="text",
                    label="Text",
                    type="string",
                    hint={"textarea": True, "max_length": 20_000},
                    required_if={"action": ("update",)},
                ),
            ),
        ),
        *_document_writes(hospital),
    )


def _document_writes(hospital: Hospital) -> tuple[ToolDescriptor, ...]:
    document = record_arg("document", "Document", "document.search")
    return (
        record_write(
            hospital,
            "document.sign",
            _sign,
            tier=HitlTier.HIGH,
            title="Sign a document",
            noun="the signature",
            roles={"doctor"},
            approver_roles={"doctor"},
            target=("document", "DocumentReference"),
            ops={"sign"},
            ui_card=True,
            editable={"meaning"},
            args=(
                document,
                code_arg(
                    "meaning",
                    "Meaning of signature",
                    _MEANING_LABELS,
                    required=True,
                    vs="signature-type (ASTM E1762)",
                ),
            ),
        ),
        record_write(
            hospital,
            "document.archive",
            _archive,
            title="Archive a document",
            noun="the archiving",
            roles={"doctor", "admin"},
            target=("document", "DocumentReference"),
            ops={"archive"},
            editable={"reason"},
            args=(document, why_arg()),
        ),
    )


async def _draft(call: Call) -> Composed:
    """Draft a note for a patient; it stays a draft until a doctor signs it."""
    who, code, text = await call.patient(), str(call.args["doc_type"]), call.given("text")
    label = DOCUMENT_TYPES[code]
    resource: Resource = {
        "resourceType": "DocumentReference",
        "status": "current",
        "docStatus": "preliminary",
        "type": {"coding": [{"system": "http://loinc.org", "code": code, "display": label}], "text": label},
        "subject": {"reference": who["reference"]},
        "date": record_time(call.hospital, call.ctx),
        "author": [await person(call.hospital, call.ctx.principal)],
        "content": [{"attachment": _attachment(text, f"{label} (draft)")}],
    }
    return Composed(
        subject=who,
        summary=f"Draft: {label}",
        done=f"Note drafted ({label.lower()})",
        new=[resource],
        after={"type": label, "state": "draft", "text": text},
        facts={"type": label},
    )


def _attachment(text: str, title: str) -> dict[str, Any]:
    return {"contentType": "text/plain", "data": base64.b64encode(text.encode()).decode(), "title": title}


async def _update(call: Call) -> Composed:
    """Edit the text of a draft, or delete a draft that should not have been; what is signed stays."""
    document = await _in_state(
        call, "preliminary", "only a draft can be edited; a signed document is superseded"
    )
    row, before = document_row(document), await document_text(call.hospital, document)
    subject = await call.subject_of(document)
    if call.args["action"] == "delete":
        after = without(document, status="entered-in-error", docStatus="entered-in-error")
        return Composed(
            subject=subject,
            summary=f"Delete the draft: {row['title']}",
            done=f"Draft deleted: {row['title']}",
            edits=[Edit(before=document, after=after)],
            reason="draft discarded",
            removes=True,
            before={"text": before, "status": "current"},
            after={"status": "entered-in-error"},
        )
    text = call.given("text")
    attachment = {**_attachment(text, row["title"])}
    return Composed(
        subject=subject,
        summary=f"Edit the draft: {row['title']}",
        done=f"Draft updated: {row['title']}",
        edits=[Edit(before=document, after=without(document, content=[{"attachment": attachment}]))],
        before={"text": before},
        after={"text": text},
    )


async def _in_state(call: Call, state: str, why: str) -> Resource:
    document = await call.target(call.args["document"], "DocumentReference")
    if document.get("docStatus") != state or document.get("status") != "current":
        raise ToolError(
            f"{reference_of(document)} is {document.get('status')}, {document.get('docStatus', 'no state')}; "
            f"{why}; nothing was written",
            effect="none",
            code="wrong_state",
        )
    return document


async def _sign(call: Call) -> Composed:
    """Sign a draft as final: the whole text is shown, and the signature says what it means."""
    document = await _in_state(call, "preliminary", "only a draft can be signed")
    row, text = document_row(document), await document_text(call.hospital, document)
    meaning, ctx = str(call.args["meaning"]), call.ctx
    if meaning not in MEANINGS:
        raise ToolError(f"{meaning!a} is no meaning of the list", effect="none", code="bad_meaning")
    signer = ctx.approved_by or ctx.principal
    after = without(document, docStatus="final", authenticator=await person(call.hospital, signer))
    label = _MEANING_LABELS[meaning]
    return Composed(
        subject=await call.subject_of(document),
        summary=f"Sign {row['title']} of {day(row['date'])} as {label.lower()}",
        done=f"Signed: {row['title']} ({label.lower()}, {signer.name})",
        edits=[Edit(before=document, after=after)],
        signed=meaning,
        before={"state": "draft", "text": await _earlier_text(call, document) or text},
        after={"state": "final", "text": text},
        facts={"type": row["type"], "meaning": label},
    )


async def _earlier_text(call: Call, document: Resource) -> str:
    """The text of the version before, where it differs; what a signer compares with."""
    versions = await versions_of(call.hospital, reference_of(document))
    texts = [await document_text(call.hospital, version) for version in versions]
    return next((text for text in texts if text != texts[0]), "")


async def _archive(call: Call) -> Composed:
    """Take a document out of use, with the reason; it stays in the record as superseded."""
    document, why = await call.target(call.args["document"], "DocumentReference"), call.given("reason")
    row = document_row(document)
    if document.get("status") != "current":
        raise ToolError(
            f"{reference_of(document)} is {document.get('status')}; there is nothing to archive",
            effect="none",
            code="wrong_state",
        )
    return Composed(
        subject=await call.subject_of(document),
        summary=f"Archive {row['title']} of {day(row['date'])}. Reason: {why}",
        done=f"Archived: {row['title']} of {day(row['date'])}",
        edits=[Edit(before=document, after=without(document, status="superseded"))],
        reason=why,
        before={"document": row["title"], "status": "current"},
        after={"document": row["title"], "status": "superseded", "reason": why},
    )
