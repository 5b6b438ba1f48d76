"""What cannot be: care for somebody who has died, a history before the birth; pure, refused in one line.

Rule 1: what documents stays possible. A note, a stop, a hold, a cancellation, a bill, and what was measured
or given before the death can be written; a new order, a visit, or a reading after it cannot.
Rule 2: no medicine is given or supplied: a new prescription, a renewal, a resumed order and a higher dose are
refused. An active order can be changed to no more than it says: a lower dose takes its place, on a card that
warns of the death, as request R12 of the clinic asks. Doses that cannot be compared in mg are refused.
Rule 3: no plan is started, and none is added to; it can be held, completed or cancelled.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from condor import ToolError
from condor_hms.alerts.doses import daily_mg_of, single_mg_of
from condor_hms.catalogue.words import day

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from condor_hms.catalogue.writing import Edit
    from condor_hms.fhir.port import Resource

__all__ = ["refuse_after_death", "refuse_before_birth"]

#: Type → the element with its day; "" for what nobody needs who has died, whenever it is.
_CARE = {
    "Appointment": "",
    "CarePlan": "",
    "MedicationRequest": "",
    "ServiceRequest": "",
    "Immunization": "occurrenceDateTime",
    "Observation": "effectiveDateTime",
}
_WORDS = {
    "Appointment": "an appointment",
    "CarePlan": "more of a treatment plan",
    "MedicationRequest": "more of a medicine",
    "ServiceRequest": "an order",
    "Immunization": "a vaccination",
    "Observation": "a measurement",
}
_OVER = frozenset({"cancelled", "entered-in-error", "fulfilled", "noshow", "revoked", "completed"})
#: States of a type in which nothing is done either.
_ENDED = {"CarePlan": _OVER | {"on-hold"}, "MedicationRequest": _OVER | {"on-hold", "stopped"}}


def refuse_after_death(
    subject: Mapping[str, Any], new: Iterable[Resource], edits: Sequence[Edit] = ()
) -> None:
    """Refuse new care of a patient who is recorded as dead.

    Args:
        subject: as ``identity`` gives it.
        new: what would be made.
        edits: what would be changed, in the same transaction.

    Raises:
        ToolError: one of them is care after the death.
    """
    died = subject.get("deceased")
    if not died:
        return
    for resource in (*new, *(edit.after for edit in edits)):
        kind = str(resource["resourceType"])
        ended = _ENDED.get(kind, _OVER)
        if kind not in _CARE or (not _CARE[kind] and resource.get("status") in ended):
            continue
        if kind == "MedicationRequest" and any(_is_no_more(resource, edit) for edit in edits):
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


def _is_no_more(order: Resource, edit: Edit) -> bool:
    """Whether it takes the place of an active order that stops with it, and gives and supplies no more."""
    old = edit.before
    follows = (order.get("priorPrescription") or {}).get("reference") == f"{old['resourceType']}/{old['id']}"
    if not follows or (old.get("status"), edit.after.get("status")) != ("active", "stopped"):
        return False
    if "dispenseRequest" in order:
        return False
    for mg_of in (single_mg_of, daily_mg_of):
        before, after = (mg_of(row.get("dosageInstruction") or []) for row in (old, order))
        if before is None or after is None or after > before:
            return False
    return True


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
