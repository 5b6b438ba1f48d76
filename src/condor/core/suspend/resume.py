"""Reading an answer: strict, by reason code, before anything is stored.

Law: an answer either has exactly the card's shape or changes nothing. ``approved`` is the boolean
``True`` or it is no approval; ``"true"``, ``1`` and a missing key are refused, not interpreted.
"""

from __future__ import annotations

import datetime
import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from condor.core.errors import AnswerInvalid, show
from condor.core.ids import kind_of
from condor.core.outcome import is_json
from condor.core.plan.reference import shown_token
from condor.core.suspend.approval_schema import REASON_CHARS_MAX, approval_resume_schema
from condor.core.suspend.reason import ReasonCode

if TYPE_CHECKING:
    from condor.core.ids import Json

#: Options named in a refusal.
_OPTIONS_SHOWN_MAX = 12
#: RFC 3339 full-date and date-time; a moment without its offset is a guess.
_FORMS = {
    "date": (re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}"), "2026-11-30"),
    "date-time": (
        re.compile(
            r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{1,9})?(Z|[+-][0-9]{2}:[0-9]{2})"
        ),
        "2026-11-30T09:30:00Z",
    ),
}


#: Unicode categories of what nobody sees: control and format characters, line and paragraph separators.
_HIDDEN = frozenset({"Cc", "Cf", "Zl", "Zp"})
#: Zero-width non-joiner and joiner: spelling in some scripts, a disguise behind an ASCII letter.
_JOINERS = "\u200c\u200d"


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
            "reason": {
                "type": "string",
                "title": "How you know",
                "minLength": 1,
                "maxLength": REASON_CHARS_MAX,
            },
        },
        "required": ["happened", "reason"],
        "additionalProperties": False,
    }


def resume_schema(reason: ReasonCode) -> dict[str, object]:
    """The fixed schema of an approval or a reconciliation (a clarification has its own)."""
    return reconcile_resume_schema() if reason is ReasonCode.RECONCILE else approval_resume_schema()


def read_resume(reason: ReasonCode, schema: Mapping[str, object], data: object) -> Answer:
    """An answer of exactly the card's shape.

    Args:
        schema: the card's; an approval and a reconciliation have one shape whatever it says.

    Raises:
        AnswerInvalid: with the place of the first fault. The message quotes no value of the answer.
    """
    if not is_json(data):
        raise AnswerInvalid(
            "the answer holds something that is not JSON (NaN, a lone surrogate, a number beyond 2**53)"
        )
    if not isinstance(data, Mapping):
        raise AnswerInvalid(f"the answer is {kind_of(data)}; send an object")
    if reason is not ReasonCode.CLARIFICATION:
        schema = resume_schema(reason)
    properties = cast("Mapping[str, Mapping[str, object]]", schema.get("properties", {}))
    required = cast("list[str]", schema.get("required", []))
    for key in data:
        if key not in properties:
            raise AnswerInvalid(
                f"unknown key {show(key)}; take {', '.join(properties)}", path=f"/{shown_token(key)}"
            )
    for key in required:
        if key not in data:
            raise AnswerInvalid(f"{key} is missing", path=f"/{shown_token(key)}")
    # A reason reaches no record and is shown escaped: no sign in it keeps a person from saying no.
    check = check_value if reason is ReasonCode.CLARIFICATION else check_shape
    for key, value in data.items():
        check(value, properties[key], f"/{shown_token(key)}")
    return Answer(reason_code=reason, body=cast("Mapping[str, Json]", data))


def check_value(value: object, shape: Mapping[str, object], path: str) -> None:
    """One value that a person gives, against one property of a form schema.

    Raises:
        AnswerInvalid: with ``path``.
    """
    check_shape(value, shape, path)
    items = cast("Mapping[str, object]", shape.get("items") or {})
    if not (shape.get("oneOf") or items.get("oneOf")):  # an option is the author's own word
        _check_visible(value, path)


def _check_visible(value: object, path: str) -> None:
    """Every text in a value can be seen as it is: what a person approves is what is written.

    Control characters, bidirectional overrides and isolates, and zero-width characters are refused; a line
    break and a tab are not, nor a joiner between letters that need one (Persian, Hindi, emoji).
    """
    if isinstance(value, str):
        if value.isprintable():
            return
        for place, char in enumerate(value):
            if _is_hidden(value, place):
                raise AnswerInvalid(
                    f"U+{ord(char):04X} at character {place + 1} cannot be seen or changes how the text "
                    "reads; take it out",
                    path=path,
                )
    elif type(value) is dict or isinstance(value, Mapping):
        for key, item in value.items():
            below = f"{path}/{shown_token(str(key))}"
            _check_visible(str(key), below)
            _check_visible(item, below)
    elif isinstance(value, list | tuple):
        for index, item in enumerate(value):
            _check_visible(item, f"{path}/{index}")


def _is_hidden(text: str, place: int) -> bool:
    char = text[place]
    if char in "\n\t" or text[place : place + 2] == "\r\n":
        return False
    if char in _JOINERS:
        return place == 0 or text[place - 1].isascii() or text[place - 1] in _JOINERS
    return unicodedata.category(char) in _HIDDEN


def check_shape(value: object, shape: Mapping[str, object], path: str) -> None:
    """One value against one property of a form schema; type ``any`` is open inside.

    Raises:
        AnswerInvalid: with ``path``.
    """
    options = cast("list[Mapping[str, object]]", shape.get("oneOf") or [])
    match shape.get("type"):
        case "any":
            return
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
    # The type is checked above, so `==` meets no boolean; 1 and 1.0 are one number in JSON.
    if options and not any(option["const"] == value for option in options):
        offered = ", ".join(str(option["const"]) for option in options[:_OPTIONS_SHOWN_MAX])
        raise AnswerInvalid(f"that is no option; take one of {show(offered)}", path=path)


def _need(held: bool, value: object, wanted: str, path: str) -> None:  # noqa: FBT001 - a condition, not a switch
    if not held:
        raise AnswerInvalid(f"{kind_of(value)} stands where {wanted} belongs", path=path)


def _check_array(value: object, shape: Mapping[str, object], path: str) -> None:
    _need(isinstance(value, list | tuple), value, "an array", path)
    items = cast("list[object]", value)
    if len(items) < cast("int", shape.get("minItems", 0)):
        raise AnswerInvalid("choose at least one", path=path)
    for index, item in enumerate(items):
        check_shape(item, cast("Mapping[str, object]", shape.get("items", {})), f"{path}/{index}")
    if shape.get("uniqueItems") is True and len(set(items)) < len(items):
        raise AnswerInvalid("one of them stands twice", path=path)


def _check_bounds(value: float, shape: Mapping[str, object], path: str) -> None:
    least, most = cast("float | None", shape.get("minimum")), cast("float | None", shape.get("maximum"))
    if least is not None and value < least:
        raise AnswerInvalid(f"the number is below {least}", path=path)
    if most is not None and value > most:
        raise AnswerInvalid(f"the number is above {most}", path=path)


def _check_text(value: str, shape: Mapping[str, object], path: str) -> None:
    least, most = (
        cast("int", shape.get("minLength", 0)),
        cast("int", shape.get("maxLength", REASON_CHARS_MAX)),
    )
    # What nobody can see is not written.
    seen = value if value.isprintable() else "".join(filter(str.isprintable, value))
    if len(seen.strip()) < least:
        raise AnswerInvalid(f"write at least {least} character{'s' if least > 1 else ''}", path=path)
    if len(value) > most:
        raise AnswerInvalid(f"{len(value)} characters are too many; at most {most}", path=path)
    form = shape.get("format")
    if form in _FORMS:
        _check_moment(value, form, shape, path)


def _check_moment(value: str, form: str, shape: Mapping[str, object], path: str) -> None:
    pattern, example = _FORMS[form]
    try:
        if not pattern.fullmatch(value):
            raise ValueError(value)  # noqa: TRY301 - joins the parser's own refusal
        day = datetime.datetime.fromisoformat(value).date()
    except ValueError:
        raise AnswerInvalid(f"that is no {form}; write it as {example}", path=path) from None
    least, most = shape.get("formatMinimum"), shape.get("formatMaximum")
    if isinstance(least, str) and day.isoformat() < least:
        raise AnswerInvalid(f"the day is before {least}", path=path)
    if isinstance(most, str) and day.isoformat() > most:
        raise AnswerInvalid(f"the day is after {most}", path=path)
