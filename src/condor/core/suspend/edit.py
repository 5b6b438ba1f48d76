"""An edit of a call on its card: what a person changed, before anybody approves it.

Law 1: an edit is never an approval. It supersedes the card; the call as edited gets a card of its own.
Law 2: only arguments that the descriptor names as editable, and only values that a form of them would take.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import TYPE_CHECKING, cast

from condor.core.errors import AnswerInvalid, EditInvalid, show
from condor.core.ids import kind_of
from condor.core.outcome import is_json
from condor.core.plan.reference import shown_token
from condor.core.suspend.clarification_schema import clarification_resume_schema
from condor.core.suspend.resume import check_value
from condor.core.values import dataclass

if TYPE_CHECKING:
    import datetime
    from collections.abc import Iterable

    from condor.core.ids import Json
    from condor.core.outcome import InputField


@dataclass(frozen=True, slots=True, kw_only=True)
class CallEdit:
    """One edit of one call."""

    #: The card that it superseded.
    suspend_id: str
    #: Who edited: id, and as texts call them.
    by: str
    display: str
    #: RFC 3339.
    at: str
    #: The arguments that it changed, by name; one that was or is not there is not among them.
    before: Mapping[str, Json] = field(default_factory=dict)
    after: Mapping[str, Json] = field(default_factory=dict)

    def to_json(self) -> dict[str, Json]:
        """The edit as the next card shows it."""
        return {
            "suspendId": self.suspend_id,
            "by": self.by,
            "byDisplay": self.display,
            "at": self.at,
            "before": self.before,
            "after": self.after,
        }


def edit_form(
    fields: Iterable[InputField], required: frozenset[str], today: datetime.date
) -> tuple[dict[str, object], dict[str, object]]:
    """JSON Schema and uiSchema of an edit; nothing is required, and what the tool can do without may be null.

    Args:
        required: arguments that the tool cannot do without.
    """
    schema, ui = clarification_resume_schema(fields, today)
    if not schema["properties"]:
        return {}, {}
    shapes = cast("dict[str, dict[str, object]]", schema["properties"])
    loose = {
        name: shape if name in required else {**shape, "nullable": True} for name, shape in shapes.items()
    }
    return {**schema, "properties": loose, "required": [], "minProperties": 1}, ui


def read_edit(schema: Mapping[str, object], given: object) -> Mapping[str, Json]:
    """The arguments to change, by name, each an argument that may be edited; null takes one out.

    Raises:
        EditInvalid: with the place of the first fault.
    """
    if not is_json(given):
        raise EditInvalid(
            "the edit holds something that is not JSON (NaN, a lone surrogate, a number beyond 2**53)"
        )
    if not isinstance(given, Mapping):
        raise EditInvalid(f"the edit is {kind_of(given)}; send an object of arguments")
    shapes = cast("Mapping[str, Mapping[str, object]]", schema["properties"])
    if not given:
        raise EditInvalid(f"the edit names no argument; take {', '.join(shapes)}")
    for name, value in given.items():
        path = f"/{shown_token(name)}"
        if name not in shapes:
            raise EditInvalid(f"{show(name)} may not be edited; take {', '.join(shapes)}", path=path)
        if value is None and shapes[name].get("nullable") is not True:
            raise EditInvalid(f"{name} is needed: change it, but do not take it out", path=path)
        if value is not None:
            _check(value, shapes[name], path)
    return cast("Mapping[str, Json]", given)


def _check(value: object, shape: Mapping[str, object], path: str) -> None:
    """One value, as the form of a clarification would take it."""
    try:
        check_value(value, shape, path)
    except AnswerInvalid as refusal:
        raise EditInvalid(refusal.why, path=refusal.path) from None


def apply_edit(args: Mapping[str, Json], changes: Mapping[str, Json]) -> dict[str, Json]:
    """The arguments after an edit."""
    edited = {**args, **changes}
    return {name: value for name, value in edited.items() if not (name in changes and value is None)}
