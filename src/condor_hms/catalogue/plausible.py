"""What cannot be: care for somebody who has died, a history before the birth; pure, refused in one line.

Rule: what documents stays possible. A note, a stop, a cancellation, a bill, and what was measured or given
before the death can be written; a new order, a visit, or a reading after it cannot.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from condor import ToolError
from condor_hms.catalogue.words import day

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from condor_hms.fhir.port import Resource

__all__ = ["refuse_after_death", "refuse_before_birth"]

#: Type → the element with its day; "" for what nobody needs who has died, whenever it is.
_CARE = {
    "Appointment": "",
    "ServiceRequest": "",
    "Immunization": "occurrenceDateTime",
    "Observation": "effectiveDateTime",
}
_WORDS = {
    "Appointment": "an appointment",
    "ServiceRequest": "an order",
    "Immunization": "a vaccination",
    "Observation": "a measurement",
}
_OVER = frozenset({"cancelled", "entered-in-error", "fulfilled", "noshow", "revoked", "completed"})


def refuse_after_death(subject: Mapping[str, Any], resources: Iterable[Resource]) -> None:
    """Refuse new care of a patient who is recorded as dead.

    Args:
        subject: as ``identity`` gives it.
        resources: what would be written, new or changed.

    Raises:
        ToolError: one of them is care after the death.
    """
    died = subject.get("deceased")
    if not died:
        return
    for resource in resources:
        kind = str(resource["resourceType"])
        if kind not in _CARE or (not _CARE[kind] and resource.get("status") in _OVER):
            continue
        when = str(resource.get(_CARE[kind]) or "")[:10]
        # Of one who died on a day that is not known, nothing later can be told apart.
        if _CARE[kind] and isinstance(died, str) and when and when <= died:
            continue
        raise ToolError(
            f"{subject['name']} is recorded as {subject['note']}: {_WORDS[kind]} after that cannot be; "
            "if the record is wrong, correct it first; nothing was written",
            effect="none",
            code="deceased",
        )


def refuse_before_birth(subject: Mapping[str, Any], when: object, what: str) -> None:
    """Refuse a day before the patient was born.

    Args:
        when: a FHIR date, of any precision; nothing where none was given.
        what: ``The onset``.

    Raises:
        ToolError: the day is before the birth.
    """
    born, given = str(subject.get("birthDate") or ""), str(when or "")
    length = min(len(born), len(given), 10)
    if length and given[:length] < born[:length]:
        raise ToolError(
            f"{what} ({day(given)}) is before the birth of {subject['name']} ({day(born)}): "
            "give another day; nothing was written",
            effect="none",
            code="bad_date",
        )
