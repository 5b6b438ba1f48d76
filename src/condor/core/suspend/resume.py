"""Reading an answer: strict, by reason code, before anything is stored.

Law: an answer either has exactly the card's shape or changes nothing. ``approved`` is the boolean
``True`` or it is no approval; ``"true"``, ``1`` and a missing key are refused, not interpreted.
"""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from dataclasses import dataclass
from typing import cast

from condor.core.errors import AnswerInvalid, show
from condor.core.ids import Json
from condor.core.outcome import is_json
from condor.core.suspend.approval_schema import REASON_CHARS_MAX, approval_resume_schema
from condor.core.suspend.reason import ReasonCode

_DATE_TIME_CHARS_MAX = 40


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """A well-shaped answer."""

    reason_code: ReasonCode
    #: As given.
    body: Mapping[str, Json]

    @property
    def approved(self) -> bool:
        """Approval: said yes. Nothing but ``True`` is yes."""
        return self.reason_code is ReasonCode.APPROVAL and self.body.get("approved") is True

    @property
    def happened(self) -> bool:
        """Reconcile: the effect is there."""
        return self.reason_code is ReasonCode.RECONCILE and self.body.get("happened") is True

    @property
    def reason(self) -> str:
        """What the person wrote beside it."""
        reason = self.body.get("reason")
        return reason if isinstance(reason, str) and self.reason_code is not ReasonCode.CLARIFICATION else ""


def reconcile_resume_schema() -> dict[str, object]:
    """JSON Schema of a reconcile answer."""
    return {
        "type": "object",
        "properties": {
            "happened": {"type": "boolean", "title": "It happened"},
            "reason": {"type": "string", "title": "How you know", "minLength": 1, "maxLength": REASON_CHARS_MAX},
        },
        "required": ["happened", "reason"],
        "additionalProperties": False,
    }


def resume_schema(reason: ReasonCode) -> dict[str, object]:
    """The fixed schema of an approval or a reconciliation (a clarification has its own)."""
    return reconcile_resume_schema() if reason is ReasonCode.RECONCILE else approval_resume_schema()


def read_resume(reason: ReasonCode, schema: Mapping[str, object], data: object) -> Answer:
    """An answer of exactly the card's shape.

    Raises:
        AnswerInvalid: with the place of the first fault.
    """
    if not isinstance(data, Mapping):
        raise AnswerInvalid(f"the answer is {show(data)}; send an object")
    if not is_json(data):
        raise AnswerInvalid("the answer holds something that is not JSON (NaN, a lone surrogate, a number beyond 2**53)")
    properties = cast("Mapping[str, Mapping[str, object]]", schema.get("properties", {}))
    required = cast("list[str]", schema.get("required", []))
    for key in data:
        if key not in properties:
            raise AnswerInvalid(f"unknown key {show(key)}; take {', '.join(properties)}", path=f"/{key}")
    for key in required:
        if key not in data:
            raise AnswerInvalid(f"{key} is missing", path=f"/{key}")
    for key, value in data.items():
        check_value(value, properties[key], f"/{key}")
    return Answer(reason_code=reason, body=cast("Mapping[str, Json]", data))


def check_value(value: object, shape: Mapping[str, object], path: str) -> None:
    """One value against one property of a form schema.

    Raises:
        AnswerInvalid: with ``path``.
    """
    options = cast("list[Mapping[str, object]] | None", shape.get("oneOf"))
    match shape.get("type"):
        case "boolean":
            _need(isinstance(value, bool), value, "true or false", path)
        case "integer":
            _need(isinstance(value, int) and not isinstance(value, bool), value, "a whole number", path)
            _check_bounds(cast("int", value), shape, path)
        case "number":
            _need(isinstance(value, int | float) and not isinstance(value, bool), value, "a number", path)
            _check_bounds(cast("float", value), shape, path)
        case "array":
            _check_array(value, shape, path)
        case "object":
            _need(isinstance(value, Mapping), value, "an object", path)
        case _:
            _need(isinstance(value, str), value, "a text", path)
            if not options:
                _check_text(cast("str", value), shape, path)
    if options and not any(option["const"] == value and type(option["const"]) is type(value) for option in options):
        raise AnswerInvalid(
            f"{show(value)} is not an option; take {', '.join(str(option['const']) for option in options)}", path=path
        )


def _need(held: bool, value: object, wanted: str, path: str) -> None:  # noqa: FBT001 - a condition, not a switch
    if not held:
        raise AnswerInvalid(f"{show(value)} is not {wanted}", path=path)


def _check_array(value: object, shape: Mapping[str, object], path: str) -> None:
    _need(isinstance(value, list | tuple), value, "an array", path)
    items = cast("list[object]", value)
    if len(items) < cast("int", shape.get("minItems", 0)):
        raise AnswerInvalid("choose at least one", path=path)
    for index, item in enumerate(items):
        check_value(item, cast("Mapping[str, object]", shape.get("items", {})), f"{path}/{index}")


def _check_bounds(value: float, shape: Mapping[str, object], path: str) -> None:
    least, most = cast("float | None", shape.get("minimum")), cast("float | None", shape.get("maximum"))
    if least is not None and value < least:
        raise AnswerInvalid(f"{value} is below {least}", path=path)
    if most is not None and value > most:
        raise AnswerInvalid(f"{value} is above {most}", path=path)


def _check_text(value: str, shape: Mapping[str, object], path: str) -> None:
    least, most = cast("int", shape.get("minLength", 0)), cast("int", shape.get("maxLength", REASON_CHARS_MAX))
    if len(value.strip()) < least:
        raise AnswerInvalid(f"write at least {least} character{'s' if least > 1 else ''}", path=path)
    if len(value) > most:
        raise AnswerInvalid(f"{len(value)} characters are too many; at most {most}", path=path)
    if shape.get("format") in ("date", "date-time"):
        _check_moment(value, shape, path)


def _check_moment(value: str, shape: Mapping[str, object], path: str) -> None:
    try:
        if len(value) > _DATE_TIME_CHARS_MAX:
            raise ValueError(value)  # noqa: TRY301 - joins the parser's own refusal
        day = (
            datetime.date.fromisoformat(value)
            if shape["format"] == "date"
            else datetime.datetime.fromisoformat(value).date()
        )
    except ValueError:
        example = "2026-11-30" if shape["format"] == "date" else "2026-11-30T09:30:00Z"
        raise AnswerInvalid(f"{show(value)} is not a {shape['format']}; write it as {example}", path=path) from None
    least, most = shape.get("formatMinimum"), shape.get("formatMaximum")
    if isinstance(least, str) and day.isoformat() < least:
        raise AnswerInvalid(f"{value} is before {least}", path=path)
    if isinstance(most, str) and day.isoformat() > most:
        raise AnswerInvalid(f"{value} is after {most}", path=path)
