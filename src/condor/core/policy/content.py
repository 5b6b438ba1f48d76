"""What arguments say they would do, whatever the op is called.

Law: a removal hidden in the arguments of a harmless-looking call is still a removal. The scan is
always on, so no tool author has to remember it; a false alarm costs one question to a person.
"""

from __future__ import annotations

from collections.abc import Mapping

#: Deeper than this nothing is looked at: it counts as destructive (edges refuse depth 32 first).
_DEPTH_MAX = 32

#: FHIR R4 status codes that take a record out of use (MedicationRequest, ServiceRequest, CarePlan,
#: AllergyIntolerance, DocumentReference, Appointment value sets).
TERMINAL_STATUSES = frozenset(
    {"entered-in-error", "revoked", "cancelled", "canceled", "stopped", "superseded", "refuted"}
)

#: Keys under which FHIR resources carry such a status.
_STATUS_KEYS = frozenset({"status", "docstatus", "verificationstatus", "clinicalstatus"})


def _word(value: object) -> str:
    return value.strip().casefold() if isinstance(value, str) else ""


def _status_words(value: object) -> set[str]:
    """The codes of a status: a plain code, or the codings of a CodeableConcept."""
    if isinstance(value, str):
        return {_word(value)}
    if isinstance(value, Mapping):
        codings = value.get("coding")
        if isinstance(codings, list | tuple):
            return {_word(coding.get("code")) for coding in codings if isinstance(coding, Mapping)}
    return set()


def _says_destructive(node: Mapping[str, object]) -> bool:
    if _word(node.get("method")) == "delete":  # FHIR Bundle.entry.request.method
        return True
    if _word(node.get("op")) == "remove" and "path" in node:  # RFC 6902 JSON Patch
        return True
    return any(
        isinstance(key, str) and key.casefold() in _STATUS_KEYS and _status_words(value) & TERMINAL_STATUSES
        for key, value in node.items()
    )


def destructive_content(value: object, depth: int = 0) -> bool:
    """Whether any part of ``value`` asks for a removal: every entry is looked at, no sampling."""
    if depth > _DEPTH_MAX:
        return True
    if isinstance(value, Mapping):
        return _says_destructive(value) or any(
            destructive_content(item, depth + 1) for item in value.values()
        )
    if isinstance(value, list | tuple):
        return any(destructive_content(item, depth + 1) for item in value)
    return False
