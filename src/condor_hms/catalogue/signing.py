"""Signatures: the meaning, the printed name and the time, bound to what was signed.

Rule: 21 CFR 11.50 asks for all three. Without an approver nothing is signed, and what needs a signature is
not written.
"""

from __future__ import annotations

import base64
import hashlib
import json
from typing import TYPE_CHECKING, Any

from condor import ToolContext, ToolError
from condor_hms.catalogue.writing import clock_time, person

if TYPE_CHECKING:
    from collections.abc import Mapping

    from condor_hms.catalogue.hospital import Hospital
    from condor_hms.fhir.port import Resource

__all__ = ["AUTHOR", "MEANINGS", "VERIFICATION", "signature", "signature_rows"]

AUTHOR = "1.2.840.10065.1.12.1.1"
VERIFICATION = "1.2.840.10065.1.12.1.5"
#: ASTM E1762-95 signature meanings (the FHIR R4 signature-type value set) that can be chosen → display.
MEANINGS: Mapping[str, str] = {
    AUTHOR: "Author's Signature",
    VERIFICATION: "Verification Signature",
    "1.2.840.10065.1.12.1.8": "Witness Signature",
    "1.2.840.10065.1.12.1.2": "Coauthor's Signature",
}


def signature_rows(ctx: ToolContext, meaning: str) -> tuple[dict[str, str], ...]:
    """What a card says of the signature that its approval will be: meaning, printed name, time.

    Args:
        meaning: as ``signature`` takes it.
    """
    said = MEANINGS.get(meaning) or (
        f"{MEANINGS[AUTHOR]} where {ctx.principal.name}, who asked, approves; else {MEANINGS[VERIFICATION]}"
    )
    return (
        {"label": "Meaning of the signature", "text": said},
        {"label": "Printed name", "text": f"whoever approves this card; asked for by {ctx.principal.name}"},
        {"label": "Time", "text": "when it is written, right after it is approved"},
    )


async def signature(
    hospital: Hospital, ctx: ToolContext, resource: Resource, meaning: str = ""
) -> dict[str, Any]:
    """The approver's signature on a resource.

    ``data`` is the SHA-256 of the resource as it was approved (sorted compact JSON); it binds the signature
    to it and is no cryptographic proof of the person.

    Args:
        meaning: a code of ``MEANINGS``; without one, author or verification by who approved.

    Raises:
        ToolError: nobody approved.
    """
    if ctx.approved_by is None:
        raise ToolError("nobody approved this; it was not written", effect="none", code="not_approved")
    code = meaning or (AUTHOR if ctx.approved_by.id == ctx.principal.id else VERIFICATION)
    canonical = json.dumps(resource, sort_keys=True, ensure_ascii=False, separators=(",", ":")).encode()
    return {
        "type": [{"system": "urn:iso-astm:E1762-95:2013", "code": code, "display": MEANINGS[code]}],
        "when": clock_time(ctx),
        "who": await person(hospital, ctx.approved_by),
        "targetFormat": "application/fhir+json",
        "sigFormat": "application/octet-stream",
        "data": base64.b64encode(hashlib.sha256(canonical).digest()).decode(),
    }
