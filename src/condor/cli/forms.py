"""A card's form, field by field, from its schema; each value is checked by the rules that decide later."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from condor.cli.asking import ask_choice, ask_line, ask_text
from condor.cli.visible import visible
from condor.core.errors import AnswerInvalid, RefusedInput, show
from condor.core.suspend.resume import check_value
from condor.ports.encoding import read_strict_json

if TYPE_CHECKING:
    from condor.cli.screen import Screen

_Shape = Mapping[str, Any]
_Read = Callable[[str], Any]


def ask_form(screen: Screen, card: Mapping[str, Any]) -> dict[str, Any]:
    """The answer to a clarification.

    Raises:
        LeftOpen: the person went away.
    """
    schema, widgets = card.get("resumeSchema") or {}, card.get("uiSchema") or {}
    answer: dict[str, Any] = {}
    for name, shape in (schema.get("properties") or {}).items():
        answer[name] = _ask_field(screen, name, shape, widgets.get(name) or {})
    return answer


def ask_reconcile(screen: Screen) -> dict[str, Any]:
    """The answer to a reconciliation: whether it happened, and how that is known."""
    screen.line("Look at the record itself before you answer.", "bold")
    happened = ask_choice(screen, "Did it happen? [y] yes  [n] no >", {"y": "yes", "n": "no"}) == "y"
    while not (reason := ask_text(screen, "How do you know? >")):
        screen.line("Say how you know; it is kept with the answer.", "yellow")
    return {"happened": happened, "reason": reason}


def read_changes(card: Mapping[str, Any], words: Iterable[str]) -> dict[str, Any]:
    """What ``argument=value`` words change on a card; ``argument=`` takes it out.

    Raises:
        RefusedInput: a word that cannot be read, or an argument that may not be edited.
    """
    shapes = (card.get("editSchema") or {}).get("properties") or {}
    changes: dict[str, Any] = {}
    for word in words:
        name, is_there, text = word.partition("=")
        if not is_there:
            raise RefusedInput(f"{show(word)} is no change; write argument=value, as dose=250")
        if name not in shapes:
            able = f"take {', '.join(shapes)}" if shapes else "its tool allows no edit"
            raise RefusedInput(f"{show(name)} may not be edited on this card; {able}", code="invalid_edit")
        changes[name] = _read_change(name, shapes[name], text)
    return changes


def _read_change(name: str, shape: _Shape, text: str) -> Any:
    if not text.strip():
        return None
    try:
        return _reader(shape, _options(shape))(text)
    except (ValueError, RefusedInput) as fault:
        raise RefusedInput(f"{name}={show(text)} cannot be read: {fault}", code="invalid_edit") from None


def ask_changes(screen: Screen, card: Mapping[str, Any]) -> dict[str, Any]:
    """What a person changes on a card; empty where they go back."""
    shapes = (card.get("editSchema") or {}).get("properties") or {}
    screen.line(f"May be edited: {', '.join(shapes)}. One argument=value a line.", "dim")
    while True:
        given = ask_text(screen, "argument=value >", lines=True)
        try:
            changes = read_changes(card, [line for line in given.split("\n") if line.strip()])
            for name, value in changes.items():
                if value is not None:
                    check_value(value, shapes[name], f"/{name}")
        except (RefusedInput, AnswerInvalid) as fault:
            screen.line(_complaint(fault), "yellow")
            continue
        return changes


def _ask_field(screen: Screen, name: str, shape: _Shape, widget: Mapping[str, Any]) -> Any:
    title = str(shape.get("title") or name)
    screen.line(title, "bold")
    options = _options(shape)
    for number, option in enumerate(options, start=1):
        screen.line(f"  {number:>2}  {option.get('title') or option.get('const')}")
    prompt = _prompt(shape, options, widget)
    while True:
        given = _read_raw(screen, prompt, shape, widget, options)
        try:
            value = _reader(shape, options)(given)
            check_value(value, shape, "")
        except (ValueError, RefusedInput, AnswerInvalid) as fault:
            screen.line(_complaint(fault), "yellow")
            continue
        return value


def _read_raw(
    screen: Screen, prompt: str, shape: _Shape, widget: Mapping[str, Any], options: list[_Shape]
) -> str:
    if shape.get("type") == "array" and not options:
        return ask_text(screen, prompt, lines=True)
    if widget.get("ui:widget") == "textarea":
        return ask_text(screen, prompt, lines=True)
    return ask_line(screen, prompt).strip()


def _options(shape: _Shape) -> list[_Shape]:
    items = shape.get("items") or {} if shape.get("type") == "array" else shape
    return list(items.get("oneOf") or [])


def _prompt(shape: _Shape, options: list[_Shape], widget: Mapping[str, Any]) -> str:
    """What to type, with its bounds."""
    kind = shape.get("type")
    if options:
        return "numbers, separated by commas >" if kind == "array" else "number >"
    least = shape.get("minimum", shape.get("formatMinimum"))
    most = shape.get("maximum", shape.get("formatMaximum"))
    bounds = " ".join(
        part
        for part in (f"from {least}" if least is not None else "", f"to {most}" if most is not None else "")
        if part
    )
    words = {
        "boolean": "yes or no",
        "integer": "whole number",
        "number": "number",
        "array": "one a line",
        "object": "JSON object",
    }
    forms = {"date": "date, as 2026-11-30", "date-time": "moment, as 2026-11-30T09:30:00Z"}
    word = words.get(str(kind)) or forms.get(str(shape.get("format"))) or "text"
    lookup = widget.get("ui:lookup") or {}
    if lookup.get("tool"):
        word += f", as {visible(lookup['tool'])} finds it"
    return f"{word}{f', {bounds}' if bounds else ''} >"


def _reader(shape: _Shape, options: list[_Shape]) -> _Read:
    """How the typed text becomes the field's value; a ValueError says what to type instead."""
    kind = shape.get("type")
    if options and kind == "array":
        return lambda given: [_chosen(part, options) for part in given.split(",") if part.strip()]
    if options:
        return lambda given: _chosen(given, options)
    match kind:
        case "boolean":
            return _yes_or_no
        case "integer":
            return _whole
        case "number":
            return _number
        case "array":
            return lambda given: [line for line in given.split("\n") if line.strip()]
        case "object":
            return lambda given: read_strict_json(given, "the value")
        case _:
            return lambda given: given


def _chosen(given: str, options: list[_Shape]) -> Any:
    """An option by its number, or by its value or title as written."""
    word = given.strip()
    for option in options:
        if word and word.casefold() in (
            str(option.get("const")).casefold(),
            str(option.get("title")).casefold(),
        ):
            return option["const"]
    if word.isascii() and word.isdigit() and 1 <= int(word) <= len(options):
        return options[int(word) - 1]["const"]
    raise ValueError(f"type a number from 1 to {len(options)}")


def _yes_or_no(given: str) -> bool:
    match given.casefold():
        case "y" | "yes" | "true":
            return True
        case "n" | "no" | "false":
            return False
        case _:
            raise ValueError("type yes or no")


def _whole(given: str) -> int:
    if not given.lstrip("+-").isdecimal() or not given.isascii():
        raise ValueError("type a whole number")
    return int(given)


def _number(given: str) -> int | float:
    try:
        value = json.loads(given)
    except ValueError:
        value = None
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError("type a number, as 12 or 2.5")  # noqa: TRY004 - a value, not a type of ours
    return value


def _complaint(fault: Exception) -> str:
    text = visible(fault).removesuffix("; the card stays open")
    return f"{text[:1].upper()}{text[1:]}."


__all__ = ["ask_changes", "ask_form", "ask_reconcile", "read_changes"]
