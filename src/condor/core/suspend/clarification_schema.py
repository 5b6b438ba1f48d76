"""The form of a clarification, from the missing fields and their hints.

Law: a malformed hint never breaks a form: that part of it is dropped, and a field without a usable
hint is free text (mission: hitl-suspend.ts:108-251).

Hints: ``enum`` (values, or ``{"value", "label"}``), ``multi``, ``min``, ``max``, ``min_length``,
``max_length``, ``format`` (``date``, ``date-time``), ``textarea``, ``radio``, ``lookup``. Bounds of
dates may be relative to the day: ``today``, ``today-10y``, ``today+30d``.
"""

from __future__ import annotations

import calendar
import datetime
import re
from collections.abc import Iterable, Mapping

from condor.core.ids import Json
from condor.core.outcome import InputField

_RELATIVE = re.compile(r"today(?:([+-])(\d{1,4})([dwmy]))?")
_JSON_TYPES = {
    "string": "string",
    "code": "string",
    "reference": "string",
    "date": "string",
    "date-time": "string",
    "integer": "integer",
    "decimal": "number",
    "boolean": "boolean",
    "object": "object",
}


def clarification_resume_schema(
    fields: Iterable[InputField], today: datetime.date
) -> tuple[dict[str, object], dict[str, object]]:
    """JSON Schema and uiSchema of the answer; every field is required, nothing has a default."""
    properties: dict[str, object] = {}
    ui: dict[str, object] = {}
    for item in fields:
        properties[item.name] = _property(item, today)
        widget = _widget(item)
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
    """The usable options of an ``enum`` hint, as (value, label); empty when it has none."""
    raw = hint.get("enum")
    if not isinstance(raw, list | tuple):
        return []
    found: list[tuple[Json, str]] = []
    for option in raw:
        if isinstance(option, Mapping):
            value, label = option.get("value"), option.get("label")
            if isinstance(value, str | int | float) and not isinstance(value, bool):
                found.append((value, label if isinstance(label, str) else str(value)))
        elif isinstance(option, str | int | float) and not isinstance(option, bool):
            found.append((option, str(option)))
    return found


def _property(item: InputField, today: datetime.date) -> dict[str, object]:
    hint = item.hint if isinstance(item.hint, Mapping) else {}
    shape: dict[str, object] = {"title": item.label or item.name}
    options = choices(hint)
    one_of: dict[str, object] = (
        {"oneOf": [{"const": value, "title": label} for value, label in options]} if options else {}
    )
    if hint.get("multi") is True or item.type == "array":
        shape |= {"type": "array", "items": {"type": "string", **one_of}, "minItems": 1}
        return shape
    shape["type"] = _JSON_TYPES.get(item.type, "string")
    shape |= one_of
    if shape["type"] in ("integer", "number"):
        shape |= _number_bounds(hint)
    elif shape["type"] == "string" and not options:
        shape |= _text_bounds(item, hint, today)
    return shape


def _number_bounds(hint: Mapping[str, Json]) -> dict[str, object]:
    names = {"min": "minimum", "max": "maximum"}
    return {
        names[key]: hint[key]
        for key in names
        if isinstance(hint.get(key), int | float) and not isinstance(hint.get(key), bool)
    }


def _text_bounds(item: InputField, hint: Mapping[str, Json], today: datetime.date) -> dict[str, object]:
    shape: dict[str, object] = {}
    form = hint.get("format") if hint.get("format") in ("date", "date-time") else None
    form = form or (item.type if item.type in ("date", "date-time") else None)
    if form is not None:
        shape["format"] = form
        for key, name in (("min", "formatMinimum"), ("max", "formatMaximum")):
            bound = day_of(hint.get(key), today)
            if bound is not None:
                shape[name] = bound.isoformat()
        return shape
    least = hint.get("min_length")
    shape["minLength"] = least if isinstance(least, int) and not isinstance(least, bool) and least > 0 else 1
    most = hint.get("max_length")
    if isinstance(most, int) and not isinstance(most, bool) and most > 0:
        shape["maxLength"] = most
    return shape


def day_of(bound: object, today: datetime.date) -> datetime.date | None:
    """The day that a date bound means, or None when it is unreadable."""
    if not isinstance(bound, str):
        return None
    relative = _RELATIVE.fullmatch(bound)
    try:
        if relative is None:
            return datetime.date.fromisoformat(bound)
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


def _widget(item: InputField) -> dict[str, object]:
    hint = item.hint if isinstance(item.hint, Mapping) else {}
    widget: dict[str, object] = {}
    if hint.get("textarea") is True:
        widget["ui:widget"] = "textarea"
    elif hint.get("radio") is True:
        widget["ui:widget"] = "radio"
    lookup = hint.get("lookup")
    if isinstance(lookup, Mapping) and isinstance(lookup.get("tool"), str):
        widget["ui:lookup"] = dict(lookup)
    return widget
