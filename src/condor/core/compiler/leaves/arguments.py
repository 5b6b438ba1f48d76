"""Are the arguments of a call there, known and well-formed? What is not is asked for, field by field."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from condor.core.errors import AnswerInvalid
from condor.core.outcome import InputField
from condor.core.plan.reference import shown_token
from condor.core.policy.descriptor import is_missing
from condor.core.suspend.clarification_schema import clarification_resume_schema
from condor.core.suspend.resume import check_shape

if TYPE_CHECKING:
    import datetime
    from collections.abc import Mapping

    from condor.core.ids import Digest, Json
    from condor.core.policy.descriptor import ArgSpec, ToolDescriptor

#: How a card begins that asks again after an approval of its call.
NOT_RUN: Final = "Not run, although it was approved: "
#: Longest text argument, in characters: the edge refuses bodies over 256 KB as a whole.
_TEXT_CHARS_MAX = 200_000
_SHAPES_KEPT_MAX = 1_024
#: Memo: the shapes of a descriptor's arguments on one day. Pure, so forgetting it changes nothing.
_shapes_kept: dict[tuple[Digest, datetime.date], Mapping[str, Mapping[str, object]]] = {}


def as_field(spec: ArgSpec) -> InputField:
    """An argument as a form field."""
    return InputField(name=spec.name, label=spec.label, type=spec.type, hint=spec.hint)


def _shape(spec: ArgSpec, today: datetime.date) -> Mapping[str, object]:
    """The argument's shape: as its form field, but a list or object without options is open inside."""
    schema, _ui = clarification_resume_schema([as_field(spec)], today)
    shape = dict(schema["properties"][spec.name])  # type: ignore[index]
    if shape["type"] == "array" and "oneOf" not in shape["items"]:
        shape["items"] = {"type": "any"}
    shape.setdefault("maxLength", _TEXT_CHARS_MAX)
    return shape


def _shapes(tool: ToolDescriptor, today: datetime.date) -> Mapping[str, Mapping[str, object]]:
    key = (tool.digest, today)
    found = _shapes_kept.get(key)
    if found is None:
        if len(_shapes_kept) >= _SHAPES_KEPT_MAX:
            _shapes_kept.clear()
        found = _shapes_kept[key] = {spec.name: _shape(spec, today) for spec in tool.args}
    return found


def faulty_arguments(
    tool: ToolDescriptor,
    args: Mapping[str, Json],
    today: datetime.date,
    also_required: tuple[str, ...] = (),
    unsaid: frozenset[str] = frozenset(),
) -> tuple[tuple[ArgSpec, str], ...]:
    """The arguments to ask for, each with what is wrong with it.

    Args:
        also_required: optional arguments that the plan or the state of the record makes necessary.
        unsaid: those of them that no person gave. A reason to pass over a critical alert is of somebody who
            saw it; in a plan it was written before the record was looked at, by a program or a model as well.
    """
    faults: list[tuple[ArgSpec, str]] = []
    shapes = _shapes(tool, today)
    for spec in tool.args:
        value = args.get(spec.name)
        if is_missing(value) or spec.name in unsaid:
            if spec.name in also_required or spec.is_required_with(args):
                faults.append((spec, "missing"))
            continue
        try:
            # Not ``check_value``: what a record holds may be carried on as it is.
            check_shape(value, shapes[spec.name], f"/{spec.name}")
        except AnswerInvalid as refusal:
            faults.append((spec, str(refusal).removesuffix("; the card stays open")))
    return tuple(faults)


def unknown_arguments(tool: ToolDescriptor, args: Mapping[str, Json]) -> tuple[str, ...]:
    """Arguments outside the tool's closed set, each as it may be printed."""
    if not tool.args_closed:
        return ()
    return tuple(shown_token(name) for name in args if name not in tool.args_by_name)
