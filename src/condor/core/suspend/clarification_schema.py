"""The form of a clarification, from the missing fields and their hints.

Law 1: a malformed hint never breaks a form: that part of it is dropped, and a field without a usable
hint is free text (mission: hitl-suspend.ts:108-251).
Law 2: every form can be answered. An option that its field's type refuses, and bounds that leave no
room between them, are malformed too.

Hints: ``enum`` (values, or ``{"value", "label"}``), ``multi``, ``min``, ``max``, ``min_length``,
``max_length``, ``format`` (``date``, ``date-time``), ``textarea``, ``radio``, ``lookup``. Bounds of
dates may be relative to the day: ``today``, ``today-10y``, ``now+30d`` (``now`` is the same day).
"""

from __future__ import annotations

import calendar
import datetime
import math
import re
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from condor.core.ids import SAFE_INTEGER_MAX
from condor.core.outcome import is_json
from condor.core.suspend.approval_schema import REASON_CHARS_MAX

if TYPE_CHECKING:
    from condor.core.ids import Json
    from condor.core.outcome import InputField

_RELATIVE = re.compile(r"(?:today|now)(?:([+-])([0-9]{1,4})([dwmy]))?")
_JSON_TYPES = {
    "string": "string",
    "code": "string",
    "reference": "string",
    "date": "string",
    "date-time": "string",
    "integer": "integer",
    "decimal": "number",
    "boolean": "boolean",
    "array": "array",
    "object": "object",
}
#: JSON type of a field → what its options must be; no options for any other.
_OPTION_TYPES: dict[str, type | tuple[type, ...]] = {
    "string": str,
    "array": str,
    "integer": int,
    "number": (int, float),
}


def clarification_resume_schema(
    fields: Iterable[InputField], today: datetime.date
) -> tuple[dict[str, object], dict[str, object]]:
    """JSON Schema and uiSchema of the answer; every field is required, nothing has a default."""
    properties: dict[str, object] = {}
    ui: dict[str, object] = {}
    for item in fields:
        hint = item.hint if isinstance(item.hint, Mapping) else {}
        shape = properties[item.name] = _property(item, hint, today)
        widget = _widget(hint, shape)
        if widget:
            ui[item.name] = widget
    return (
        {
            "type": "object",
            "properties": properties,
            "required": list(properties),
            "additionalProperties": False,
        },
        ui,
    )


def choices(hint: Mapping[str, Json]) -> list[tuple[Json, str]]:
    """The usable options of an ``enum`` hint, as (value, label); empty when it has none.

    No two of them are equal, none is blank: a ``oneOf`` with either could not be answered.
    """
    raw = hint.get("enum")
    if not isinstance(raw, list | tuple):
        return []
    found: list[tuple[Json, str]] = []
    seen: set[str | int | float] = set()
    for option in raw:
        value, label = (
            (option.get("value"), option.get("label")) if isinstance(option, Mapping) else (option, None)
        )
        if not isinstance(value, str | int | float) or isinstance(value, bool) or not is_json(value):
            continue
        if not str(value).strip() or value in seen:
            continue
        seen.add(value)
        found.append((value, _text(label) or str(value)))
    return found


def _text(value: object) -> str:
    """A label as it is; empty when there is none that can be shown."""
    return value if isinstance(value, str) and value.strip() and is_json(value) else ""


def _property(item: InputField, hint: Mapping[str, Json], today: datetime.date) -> dict[str, object]:
    kind = _JSON_TYPES.get(item.type, "string") if isinstance(item.type, str) else "string"
    if hint.get("multi") is True:
        kind = "array"
    allowed = _OPTION_TYPES.get(kind, ())
    options = [
        {"const": value, "title": label} for value, label in choices(hint) if isinstance(value, allowed)
    ]
    shape: dict[str, object] = {"title": _text(item.label) or item.name, "type": kind}
    match kind:
        case "array" if options:
            shape |= {"items": {"type": "string", "oneOf": options}, "minItems": 1, "uniqueItems": True}
        case "array":
            shape |= {"items": {"type": "string", "minLength": 1}, "minItems": 1}
        case "string" | "integer" | "number" if options:
            shape["oneOf"] = options
        case "integer" | "number":
            shape |= _number_bounds(hint, whole=kind == "integer")
        case "string":
            shape |= _text_bounds(item, hint, today)
        case _:  # a boolean or an object has nothing more to say
            pass
    return shape


def _number(value: object) -> float | None:
    usable = isinstance(value, int | float) and not isinstance(value, bool) and is_json(value)
    return value if usable else None  # type: ignore[return-value]


def _number_bounds(hint: Mapping[str, Json], *, whole: bool) -> dict[str, object]:
    least, most = _number(hint.get("min")), _number(hint.get("max"))
    if least is not None and most is not None:
        room = math.ceil(least) <= math.floor(most) if whole else least <= most
        if not room:
            return {}
    return {name: bound for name, bound in (("minimum", least), ("maximum", most)) if bound is not None}


def _text_bounds(item: InputField, hint: Mapping[str, Json], today: datetime.date) -> dict[str, object]:
    form = next((said for said in (hint.get("format"), item.type) if said in ("date", "date-time")), None)
    if form is None:
        return _length_bounds(hint)
    least, most = day_of(hint.get("min"), today), day_of(hint.get("max"), today)
    shape: dict[str, object] = {"format": form}
    if least is not None and most is not None and least > most:
        return shape
    bounds = (("formatMinimum", least), ("formatMaximum", most))
    return shape | {name: bound.isoformat() for name, bound in bounds if bound is not None}


def _length(value: object) -> int | None:
    usable = isinstance(value, int) and not isinstance(value, bool) and 0 < value <= SAFE_INTEGER_MAX
    return value if usable else None  # type: ignore[return-value]


def _length_bounds(hint: Mapping[str, Json]) -> dict[str, object]:
    least, most = _length(hint.get("min_length")) or 1, _length(hint.get("max_length"))
    if least > (REASON_CHARS_MAX if most is None else most):
        return {"minLength": 1}
    return {"minLength": least} if most is None else {"minLength": least, "maxLength": most}


def day_of(bound: object, today: datetime.date) -> datetime.date | None:
    """The day that a date bound means, or None when it is unreadable."""
    if not isinstance(bound, str):
        return None
    relative = _RELATIVE.fullmatch(bound)
    try:
        if relative is None:
            return datetime.datetime.fromisoformat(bound).date()
        sign, count, unit = relative.groups()
        return today if sign is None else _moved(today, int(sign + count), unit)
    except (ValueError, OverflowError):
        return None


def _moved(day: datetime.date, count: int, unit: str) -> datetime.date:
    if unit in "dw":
        return day + datetime.timedelta(days=count * (7 if unit == "w" else 1))
    months = day.year * 12 + day.month - 1 + count * (12 if unit == "y" else 1)
    year, month = divmod(months, 12)
    return datetime.date(year, month + 1, min(day.day, calendar.monthrange(year, month + 1)[1]))


def _widget(hint: Mapping[str, Json], shape: Mapping[str, object]) -> dict[str, object]:
    """How the field is drawn; a widget that its shape cannot fill is not named."""
    widget: dict[str, object] = {}
    free_text = shape["type"] == "string" and "oneOf" not in shape and "format" not in shape
    if hint.get("textarea") is True and free_text:
        widget["ui:widget"] = "textarea"
    elif hint.get("radio") is True and ("oneOf" in shape or shape["type"] == "boolean"):
        widget["ui:widget"] = "radio"
    lookup = hint.get("lookup")
    if isinstance(lookup, Mapping) and isinstance(lookup.get("tool"), str) and is_json(lookup):
        widget["ui:lookup"] = dict(lookup)
    return widget
