"""Doses in milligrams and times a day, read from text-free data only; pure.

Rule: what is not stated is None, never a default; a caller that needs the number says that it is not known.
"""

from __future__ import annotations

from typing import Any

__all__ = ["FREQUENCIES", "daily_mg_of", "dosage_text", "frequency_per_day", "single_mg_of", "to_mg"]

#: Milligrams in one unit (UCUM code or the way people write it). Other units need the product's strength.
_MG_PER_UNIT = {"mg": 1.0, "g": 1000.0, "ug": 0.001, "mcg": 0.001}

#: Doses a day by the tools' frequency codes; None: once only.
FREQUENCIES: dict[str, float | None] = {
    "QD": 1.0,
    "BID": 2.0,
    "TID": 3.0,
    "QID": 4.0,
    "Q4H": 6.0,
    "Q6H": 4.0,
    "Q8H": 3.0,
    "QOD": 0.5,
    "HS": 1.0,
    "ONCE": None,
}
#: Days in one unit of time (UCUM), for FHIR Timing.
_DAYS_PER_UNIT = {"min": 1 / 1440, "h": 1 / 24, "d": 1.0, "wk": 7.0, "mo": 30.0, "a": 365.0}


def frequency_per_day(code: str) -> float | None:
    """Doses a day of a frequency code; None for once only. Raises `KeyError` for an unknown code."""
    return FREQUENCIES[code]


def to_mg(value: float | None, unit: str | None) -> float | None:
    """A quantity in mg; None if it is not a weight."""
    factor = _MG_PER_UNIT.get(unit or "")
    return None if value is None or factor is None else float(value) * factor


def single_mg_of(dosages: list[dict[str, Any]]) -> float | None:
    """The largest single dose of FHIR Dosages in mg; None if any of them is not known in mg."""
    doses = [_dose_mg(dosage) for dosage in dosages]
    known = [dose for dose in doses if dose is not None]
    return max(known) if known and len(known) == len(doses) else None


def daily_mg_of(dosages: list[dict[str, Any]]) -> float | None:
    """The dose of a day of FHIR Dosages in mg, summed; None if any is not known, such as one as needed."""
    total = 0.0
    for dosage in dosages:
        dose, times = _dose_mg(dosage), _times_a_day(dosage)
        if dose is None or times is None or _is_as_needed(dosage):
            return None
        total += dose * times
    return total if dosages else None


def dosage_text(dosages: list[dict[str, Any]]) -> str:
    """Doses and timing as a person reads them; empty if none is stated."""
    return "; ".join(filter(None, (_one_dosage_text(dosage) for dosage in dosages)))


def _quantity(dosage: dict[str, Any]) -> dict[str, Any]:
    rates = dosage.get("doseAndRate") or [{}]
    quantity = rates[0].get("doseQuantity", {})
    return quantity if isinstance(quantity, dict) else {}


def _dose_mg(dosage: dict[str, Any]) -> float | None:
    quantity = _quantity(dosage)
    return to_mg(quantity.get("value"), quantity.get("code", quantity.get("unit")))


def _times_a_day(dosage: dict[str, Any]) -> float | None:
    repeat = dosage.get("timing", {}).get("repeat", {})
    frequency, period, unit = repeat.get("frequency"), repeat.get("period"), repeat.get("periodUnit")
    if not frequency or not period or unit not in _DAYS_PER_UNIT:
        return None
    return float(frequency) / (float(period) * _DAYS_PER_UNIT[unit])


def _is_as_needed(dosage: dict[str, Any]) -> bool:
    return bool(dosage.get("asNeededBoolean")) or "asNeededCodeableConcept" in dosage


def _one_dosage_text(dosage: dict[str, Any]) -> str:
    quantity, times = _quantity(dosage), _times_a_day(dosage)
    if "value" not in quantity:
        return str(dosage.get("text", ""))
    words = [str(quantity["value"]).removesuffix(".0"), str(quantity.get("unit", quantity.get("code", "")))]
    if times is not None and times >= 1:
        words.append(f"{times:g} a day")
    elif times is not None:
        words.append(f"every {1 / times:g} days")
    if _is_as_needed(dosage):
        words.append("as needed")
    bounds = dosage.get("timing", {}).get("repeat", {}).get("boundsDuration", {})
    days = _DAYS_PER_UNIT.get(bounds.get("code", bounds.get("unit", "")))
    if days is not None and "value" in bounds:
        count = float(bounds["value"]) * days
        words.append(f"for {count:g} day{'' if count == 1 else 's'}")
    return " ".join(filter(None, words))
