"""How a medicine is taken, as arguments, in words and as FHIR.

Rule: no dose, unit, route or frequency has a default; an order without them is no order.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from condor import ArgSpec, ToolError
from condor_hms.catalogue.specs import DOSE_UNIT_HINT, DOSE_VALUE_HINT, choice
from condor_hms.catalogue.words import DOSE_UNITS, FREQUENCIES, ROUTES, dose_text, plural

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = [
    "days",
    "dosage",
    "dosage_words",
    "dose_args",
    "dose_quantity",
    "frequency_arg",
    "route_arg",
    "timing",
]

_ROUTE_LABELS = {
    "oral": "By mouth",
    "iv": "Intravenous",
    "im": "Intramuscular",
    "sc": "Subcutaneous",
    "inh": "Inhaled",
    "top": "Topical",
    "sl": "Sublingual",
    "pr": "Rectal",
}
_FREQUENCY_LABELS = {
    "QD": "Once daily",
    "BID": "Twice daily",
    "TID": "Three times daily",
    "QID": "Four times daily",
    "Q4H": "Every 4 h",
    "Q6H": "Every 6 h",
    "Q8H": "Every 8 h",
    "QOD": "Alternate days",
    "HS": "At bedtime",
    "ONCE": "Once only",
}
#: SNOMED CT codes of the routes.
_ROUTE_CODES = {
    "oral": "26643006",
    "iv": "47625008",
    "im": "78421000",
    "sc": "34206005",
    "inh": "447694001",
    "top": "6064005",
    "sl": "37839007",
    "pr": "37161004",
}
#: Frequency argument → FHIR Timing.repeat.
_TIMINGS: Mapping[str, Mapping[str, Any]] = {
    "QD": {"frequency": 1, "period": 1, "periodUnit": "d"},
    "BID": {"frequency": 2, "period": 1, "periodUnit": "d"},
    "TID": {"frequency": 3, "period": 1, "periodUnit": "d"},
    "QID": {"frequency": 4, "period": 1, "periodUnit": "d"},
    "Q4H": {"frequency": 1, "period": 4, "periodUnit": "h"},
    "Q6H": {"frequency": 1, "period": 6, "periodUnit": "h"},
    "Q8H": {"frequency": 1, "period": 8, "periodUnit": "h"},
    "QOD": {"frequency": 1, "period": 2, "periodUnit": "d"},
    "HS": {"frequency": 1, "period": 1, "periodUnit": "d", "when": ["HS"]},
    "ONCE": {"count": 1},
}
_UCUM = "http://unitsofmeasure.org"


def dose_args(
    *, required: bool, required_if: Mapping[str, tuple[Any, ...]] | None = None
) -> tuple[ArgSpec, ...]:
    """Dose and unit."""
    due = required_if or {}
    return (
        ArgSpec(
            name="dose_value",
            label="Dose",
            type="decimal",
            required=required,
            hint=DOSE_VALUE_HINT,
            required_if=due,
        ),
        ArgSpec(
            name="dose_unit",
            label="Dose unit",
            type="code",
            required=required,
            hint=DOSE_UNIT_HINT,
            required_if=due,
        ),
    )


def route_arg() -> ArgSpec:
    """By which way."""
    return ArgSpec(
        name="route", label="Route", type="code", required=True, hint={"enum": choice(_ROUTE_LABELS)}
    )


def frequency_arg(*, required: bool, required_if: Mapping[str, tuple[Any, ...]] | None = None) -> ArgSpec:
    """How often."""
    return ArgSpec(
        name="frequency",
        label="Frequency",
        type="code",
        required=required,
        hint={"enum": choice(_FREQUENCY_LABELS)},
        required_if=required_if or {},
    )


def dosage_words(order: Mapping[str, Any]) -> str:
    """``100 mg oral, twice daily, for 5 days``.

    Raises:
        ToolError: a part is not stated.
    """
    _require_stated(order)
    dose = dose_text(order["dose_value"], order["dose_unit"])
    parts = [f"{dose} {ROUTES[order['route']]}", FREQUENCIES[order["frequency"]]]
    if order.get("as_needed"):
        parts.append("as needed")
    if order.get("duration_days"):
        parts.append(f"for {plural(order['duration_days'], 'day')}")
    return ", ".join(parts)


def _require_stated(order: Mapping[str, Any]) -> None:
    closed = {"dose_unit": DOSE_UNITS, "route": ROUTES, "frequency": FREQUENCIES}
    wrong = [name for name, known in closed.items() if order.get(name) not in known]
    value = order.get("dose_value")
    if isinstance(value, bool) or not isinstance(value, int | float) or value <= 0:
        wrong.insert(0, "dose_value")
    if not str(order.get("medication") or "").strip():
        wrong.insert(0, "medication")
    if wrong:
        raise ToolError(
            f"the order does not say its {', '.join(wrong)}; nothing was written",
            effect="none",
            code="incomplete",
        )


def dosage(order: Mapping[str, Any]) -> dict[str, Any]:
    """The order's ``Dosage``; see ``dosage_words``."""
    words = dosage_words(order)
    route = order["route"]
    repeat = timing(order["frequency"])
    if order.get("duration_days"):
        repeat["boundsDuration"] = days(order["duration_days"])
    found: dict[str, Any] = {
        "text": words,
        "timing": {"repeat": repeat},
        "route": {
            "coding": [{"system": "http://snomed.info/sct", "code": _ROUTE_CODES[route]}],
            "text": ROUTES[route],
        },
        "doseAndRate": [{"doseQuantity": dose_quantity(order)}],
    }
    if order.get("as_needed") is not None:
        found["asNeededBoolean"] = order["as_needed"]
    return found


def timing(frequency: str) -> dict[str, Any]:
    """``Timing.repeat`` of a frequency."""
    return dict(_TIMINGS[frequency])


def dose_quantity(order: Mapping[str, Any]) -> dict[str, Any]:
    """``dose_value`` and ``dose_unit`` as a Quantity."""
    unit = order["dose_unit"]
    return {"value": order["dose_value"], "unit": DOSE_UNITS[unit], "system": _UCUM, "code": unit}


def days(count: int) -> dict[str, Any]:
    """A Duration."""
    return {"value": count, "unit": "d", "system": _UCUM, "code": "d"}
