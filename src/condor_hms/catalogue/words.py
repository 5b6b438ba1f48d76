"""How the record is said: dates, amounts, orders, people. Short clinical English, one spelling each.

Rule 1: nothing is invented. What the record does not say is said to be missing ("dose not recorded").
Rule 2: an amount is written as it was given; a float never shows a tail (500.0 is 500).
"""

from __future__ import annotations

import datetime
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from condor_hms.fhir.port import Resource

__all__ = [
    "DOSE_UNITS",
    "FREQUENCIES",
    "ROUTES",
    "amount",
    "concept_text",
    "day",
    "dose_text",
    "duration_of",
    "joined",
    "moment_text",
    "order_name",
    "order_text",
    "plural",
    "status_of",
]

_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")

#: UCUM code → what a person reads.
DOSE_UNITS: Mapping[str, str] = {
    "mg": "mg",
    "ug": "microgram",
    "g": "g",
    "mL": "mL",
    "[iU]": "units",
    "{tbl}": "tablet",
    "{puff}": "puff",
}
#: Route argument → words.
ROUTES: Mapping[str, str] = {
    "oral": "oral",
    "iv": "intravenous",
    "im": "intramuscular",
    "sc": "subcutaneous",
    "inh": "inhaled",
    "top": "topical",
    "sl": "sublingual",
    "pr": "rectal",
}
#: Frequency argument → words.
FREQUENCIES: Mapping[str, str] = {
    "QD": "once daily",
    "BID": "twice daily",
    "TID": "three times daily",
    "QID": "four times daily",
    "Q4H": "every 4 hours",
    "Q6H": "every 6 hours",
    "Q8H": "every 8 hours",
    "QOD": "on alternate days",
    "HS": "at bedtime",
    "ONCE": "once only",
}

#: SNOMED CT codes of routes in orders already on record → words.
_ROUTE_CODES = {
    "26643006": "oral",
    "47625008": "intravenous",
    "78421000": "intramuscular",
    "34206005": "subcutaneous",
    "447694001": "inhaled",
    "6064005": "topical",
    "37839007": "sublingual",
    "37161004": "rectal",
}
_PERIODS = {"h": "hour", "d": "day", "wk": "week", "mo": "month"}
_TIMES_A_DAY = {1: "once daily", 2: "twice daily", 3: "three times daily", 4: "four times daily"}


def day(value: datetime.date | str | None) -> str:
    """``10 Nov 2026``; of a FHIR date or dateTime its day; a partial date as far as it goes."""
    if isinstance(value, datetime.date):
        return f"{value.day} {_MONTHS[value.month - 1]} {value.year}"
    text = (value or "")[:10]
    parts = text.split("-")
    try:
        if len(parts) == 3:
            return day(datetime.date.fromisoformat(text))
        if len(parts) == 2:
            return f"{_MONTHS[int(parts[1]) - 1]} {parts[0]}"
    except (ValueError, IndexError):
        return text
    return text or "date not recorded"


def moment_text(moment: str) -> str:
    """``2 Dec 2026 09:30`` of a FHIR dateTime, in its own time zone."""
    return f"{day(moment)} {moment[11:16]}".rstrip()


def amount(value: object) -> str:
    """A number without a float's tail."""
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    return str(value)


def plural(count: int, one: str, many: str = "") -> str:
    """``1 allergy``, ``4 allergies``."""
    return f"{count} {one if count == 1 else many or one + 's'}"


def joined(parts: Sequence[str]) -> str:
    """``a, b and c``."""
    if len(parts) < 2:
        return "".join(parts)
    return f"{', '.join(parts[:-1])} and {parts[-1]}"


def concept_text(concept: Mapping[str, Any] | None) -> str:
    """What a CodeableConcept says: its text, else a display, else a code; empty when it says nothing."""
    if not concept:
        return ""
    text = concept.get("text")
    if isinstance(text, str) and text.strip():
        return text.strip()
    codings = concept.get("coding") or []
    for key in ("display", "code"):
        for coding in codings:
            if coding.get(key):
                return str(coding[key])
    return ""


def status_of(concept: Mapping[str, Any] | None) -> str:
    """The first code of a status that is a CodeableConcept."""
    for coding in (concept or {}).get("coding") or []:
        if coding.get("code"):
            return str(coding["code"])
    return ""


def dose_text(value: object, unit: str) -> str:
    """``100 mg``, ``2 puffs``, ``1 tablet``."""
    words = DOSE_UNITS.get(unit, unit)
    if unit in ("{tbl}", "{puff}", "ug") and value not in (1, 1.0):
        words += "s"
    if unit == "[iU]" and value in (1, 1.0):
        words = "unit"
    return f"{amount(value)} {words}"


def order_name(order: Resource) -> str:
    """The medicine's name as the order says it."""
    concept = order.get("medicationCodeableConcept")
    name = concept_text(concept) or (order.get("medicationReference") or {}).get("display", "")
    return name or "medicine not named"


def order_text(order: Resource) -> str:
    """The order in words: ``Nitrofurantoin 100 mg oral, twice daily, for 5 days``."""
    dosage = (order.get("dosageInstruction") or [{}])[0]
    if not _dose_of(dosage) and dosage.get("text"):
        return f"{order_name(order)}: {dosage['text']}"
    head = " ".join(part for part in (order_name(order), _dose_of(dosage), _route_of(dosage)) if part)
    needed = "as needed" if dosage.get("asNeededBoolean") else ""
    tail = [part for part in (_timing_of(dosage), needed, duration_of(dosage)) if part]
    return ", ".join([head, *tail])


def duration_of(dosage: Mapping[str, Any]) -> str:
    """``for 5 days`` where the dosage has a duration; the length of a supply is none."""
    bounds = ((dosage.get("timing") or {}).get("repeat") or {}).get("boundsDuration") or {}
    value, unit = bounds.get("value"), bounds.get("code") or bounds.get("unit") or ""
    if value is None:
        return ""
    word = _PERIODS.get(unit, unit)
    return f"for {amount(value)} {word}{'' if value == 1 or unit not in _PERIODS else 's'}".rstrip()


def _dose_of(dosage: Mapping[str, Any]) -> str:
    quantity = ((dosage.get("doseAndRate") or [{}])[0]).get("doseQuantity") or {}
    if "value" in quantity:
        code = quantity.get("code") or ""
        return dose_text(quantity["value"], code if code in DOSE_UNITS else quantity.get("unit") or code)
    return ""


def _route_of(dosage: Mapping[str, Any]) -> str:
    route = dosage.get("route") or {}
    for coding in route.get("coding") or []:
        if coding.get("code") in _ROUTE_CODES:
            return _ROUTE_CODES[coding["code"]]
    return concept_text(route)


def _timing_of(dosage: Mapping[str, Any]) -> str:
    repeat = (dosage.get("timing") or {}).get("repeat") or {}
    if "HS" in (repeat.get("when") or []):
        return FREQUENCIES["HS"]
    if repeat.get("count") == 1:
        return FREQUENCIES["ONCE"]
    times, period, unit = repeat.get("frequency"), repeat.get("period"), repeat.get("periodUnit")
    if times is None or period is None or unit not in _PERIODS:
        return ""
    if (period, unit) == (1, "d"):
        return _TIMES_A_DAY.get(times, f"{amount(times)} times daily")
    if (times, period, unit) == (1, 2, "d"):
        return FREQUENCIES["QOD"]
    word = _PERIODS[unit]
    every = f"every {word}" if period == 1 else f"every {amount(period)} {word}s"
    return every if times == 1 else f"{amount(times)} times {every}"
