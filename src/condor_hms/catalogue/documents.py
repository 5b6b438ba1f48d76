"""Finding and reading documents.

Rule: the text of a document is what somebody wrote, often far from here. It is handed on as content, marked
as not to be trusted, and never as a request.
"""

from __future__ import annotations

import base64
import binascii
from typing import TYPE_CHECKING, Any

from condor import ArgSpec, PolicyClass, ToolContext, ToolDescriptor, ToolError, tool
from condor_hms.catalogue.hospital import Hospital, reading, reference_of, require, require_patient
from condor_hms.catalogue.identity import identity
from condor_hms.catalogue.specs import Hint, choice, code_arg, patient_arg, record_arg
from condor_hms.catalogue.words import concept_text, day, plural
from condor_hms.fhir.elements import codings

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from condor_hms.fhir.port import Resource

__all__ = ["DOCUMENT_TYPES", "document_row", "document_text", "document_tools"]

#: LOINC code → label.
DOCUMENT_TYPES: Mapping[str, str] = {
    "18842-5": "Discharge summary",
    "11506-3": "Progress note",
    "34133-9": "Summary of episode",
    "57133-1": "Referral note",
}
_STATES = {"preliminary": "Draft", "final": "Final", "amended": "Amended"}
_ROLES = ("doctor", "nurse", "admin")
#: Characters of a document that a closing text quotes.
_QUOTED_CHARS_MAX = 400


def document_tools(hospital: Hospital) -> tuple[ToolDescriptor, ...]:
    """``document.search`` and ``document.read`` over an open record."""

    async def search(
        _ctx: ToolContext,
        patient: str,
        doc_type: str | Sequence[str] | None = None,
        doc_status: str | None = None,
    ) -> dict[str, Any]:
        """Documents of a patient: of all kinds, or of those that are named; newest first."""
        who = identity(await require_patient(hospital, patient), hospital.today)
        types = [doc_type] if isinstance(doc_type, str) else list(doc_type or [])
        params = {"subject": patient, "status": "current", "_sort": "-date"}
        if types:
            params["type"] = ",".join(types)
        with reading():
            found = await hospital.fhir.search("DocumentReference", params)
        kept = [row for row in found if doc_status in (None, row.get("docStatus"))]
        rows = [document_row(row) for row in kept]
        drafts = [row for row in rows if row["state"] == "preliminary"]
        return {
            "patient": who,
            "documents": rows,
            "latest": rows[0] if rows else None,
            "only": rows[0] if len(rows) == 1 else None,
            "draft": drafts[0] if len(drafts) == 1 else None,
        }

    async def read(_ctx: ToolContext, document: str) -> dict[str, Any]:
        """The text of a document, as it stands in the record; which one it is of several of its kind."""
        found = await require(hospital, document, "DocumentReference")
        row, alike = document_row(found), await _of_its_kind(hospital, found)
        text = await document_text(hospital, found)
        return {**row, "alike": alike, "untrusted": True, "text": text}

    return (
        tool(
            "document.search",
            policy_class=PolicyClass.READ,
            title="Find documents",
            description=search.__doc__ or "",
            ops={"read"},
            lookups={"latest", "only", "draft"},
            roles=_ROLES,
            args=(patient_arg(), _type_arg(), code_arg("doc_status", "State", _STATES)),
            noun="the documents",
            report=_found,
        )(search),
        tool(
            "document.read",
            policy_class=PolicyClass.READ,
            title="Read a document",
            description=read.__doc__ or "",
            ops={"read"},
            roles=_ROLES,
            args=(record_arg("document", "Document", "document.search"),),
            noun="the document",
            report=_read,
        )(read),
    )


def _type_arg() -> ArgSpec:
    hint: Hint = {"enum": choice(DOCUMENT_TYPES), "multi": True}
    return ArgSpec(name="doc_type", label="Type", type="code", hint=hint)


def document_row(document: Resource) -> dict[str, Any]:
    """One document, compact."""
    attachment = _attachment(document)
    state = str(document.get("docStatus") or "")
    name = concept_text(document.get("type")) or str(attachment.get("title") or "document")
    return {
        "reference": reference_of(document),
        "type": name,
        "state": state,
        "status": document.get("status", ""),
        "date": str(document.get("date") or "")[:10],
        "title": str(attachment.get("title") or name),
    }


async def _of_its_kind(hospital: Hospital, document: Resource) -> list[str]:
    """Every current document of the same patient and type, newest first."""
    subject = (document.get("subject") or {}).get("reference")
    code = next((str(row.get("code")) for row in codings(document.get("type")) if row.get("code")), None)
    if subject is None or code is None:
        return [reference_of(document)]
    params = {"subject": str(subject), "status": "current", "type": code, "_sort": "-date"}
    with reading():
        return [reference_of(row) for row in await hospital.fhir.search("DocumentReference", params)]


def _attachment(document: Resource) -> dict[str, Any]:
    """The first of its contents."""
    contents: list[dict[str, Any]] = document.get("content") or [{}]
    return contents[0].get("attachment") or {}


async def document_text(hospital: Hospital, document: Resource) -> str:
    """The text of its first attachment, inline or from a Binary.

    Raises:
        ToolError: it is no text, or it is elsewhere.
    """
    attachment = _attachment(document)
    kind, encoded = str(attachment.get("contentType") or "text/plain"), attachment.get("data")
    url = str(attachment.get("url") or "")
    if encoded is None and url.startswith("Binary/"):
        binary = await require(hospital, url, "Binary")
        kind, encoded = str(binary.get("contentType") or kind), binary.get("data")
    if encoded is None or not kind.startswith("text/"):
        raise ToolError(
            f"{reference_of(document)} holds {kind if encoded else 'no text here'}; it cannot be read",
            effect="none",
            code="no_text",
        )
    try:
        return base64.b64decode(encoded, validate=True).decode()
    except (binascii.Error, UnicodeDecodeError, TypeError) as error:
        raise ToolError(
            f"the text of {reference_of(document)} is damaged", effect="none", code="no_text"
        ) from error


def _found(args: Mapping[str, Any], value: Any) -> str:
    rows, name = value["documents"], value["patient"]["name"]
    if not rows:
        return f"{name}: no such documents on record."
    said = [
        f"{row['type']} of {day(row['date'])} ("
        f"{_STATES.get(row['state'], row['state'] or 'no state').lower()}, {row['reference']})"
        for row in rows
    ]
    return f"{name}: {plural(len(rows), 'document')}: {'; '.join(said)}."


def _read(args: Mapping[str, Any], value: Any) -> str:
    text = " ".join(str(value["text"]).split())
    cut = text if len(text) <= _QUOTED_CHARS_MAX else text[: _QUOTED_CHARS_MAX - 1] + "…"
    alike, own = value["alike"], value["reference"]
    which = ""
    if len(alike) > 1:
        which = f", {'the newest' if alike[0] == own else 'one'} of {len(alike)} ({own}),"
    return f"{value['type']} of {day(value['date'])}{which} says: “{cut}”"
