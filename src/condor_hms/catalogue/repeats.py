"""The same thing once more on one day: ordered or recorded again it may be meant, and is never silent."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from condor_hms.catalogue.hospital import reading, reference_of
from condor_hms.catalogue.words import concept_text, day, joined
from condor_hms.catalogue.writing import has_own_tag

if TYPE_CHECKING:
    from collections.abc import Sequence

    from condor_hms.catalogue.record_write import Call
    from condor_hms.fhir.port import Resource

__all__ = ["repeated", "repeated_notes"]

#: States that count: what was taken back or entered in error was not done before.
_COUNTS = frozenset(
    {"active", "draft", "on-hold", "completed", "final", "preliminary", "amended", "corrected"}
)


async def repeated(call: Call, new: Sequence[Resource], element: str, done: str) -> list[dict[str, Any]]:
    """An alert of each new resource that stands in the record already for its day, by its code.

    Args:
        element: the element with the day: ``authoredOn``, ``effectiveDateTime``.
        done: ``ordered``, ``recorded``.
    """
    found: list[dict[str, Any]] = []
    for resource in new:
        codes = {part.get("code") for part in resource["code"]["coding"]}
        when = str(resource[element])[:10]
        params = {"subject": resource["subject"]["reference"], "code": ",".join(sorted(map(str, codes)))}
        with reading():
            standing = await call.hospital.fhir.search(resource["resourceType"], params)
        same = [row for row in standing if str(row.get(element) or "")[:10] == when and _counts(call, row)]
        if same:
            found.append(_alert(concept_text(resource["code"]), when, same, done))
    return found


def repeated_notes(alerts: Sequence[dict[str, Any]]) -> list[str]:
    """What is told of them when it is done."""
    return [f"Note: {alert['summary']}." for alert in alerts]


def _counts(call: Call, row: Resource) -> bool:
    return row.get("status") in _COUNTS and not has_own_tag(row, call.ctx.idempotency_key)


def _alert(what: str, when: str, same: Sequence[Resource], done: str) -> dict[str, Any]:
    references = [reference_of(row) for row in same]
    return {
        "id": f"own-repeated-{what.lower().replace(' ', '-')}",
        "severity": "info",
        "summary": f"{what} was {done} already on {day(when)} ({joined(references)})",
        "action": "Check that a second one is meant",
        "source": "the patient's own record",
        "evidence": [{"reference": reference, "text": what} for reference in references],
    }
