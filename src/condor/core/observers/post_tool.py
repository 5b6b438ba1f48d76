"""The post-tool stage: named processors, in a declared order, over what a tool returned.

Law 1: a processor cannot fail a run. One that throws leaves the output as it was, and is counted.
Law 2: a processor never changes record data. It shapes what is *shown*, on a copy; the value that later steps
read and that the record knows is not handed to it.
Law 3: all it may know stands in its ``PostToolContext``; it reads no environment, clock or file.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Protocol

from condor.core.values import dataclass

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from condor.core.ids import Json


@dataclass(frozen=True, slots=True, kw_only=True)
class PostToolContext:
    """Everything a processor may know of the call."""

    run_id: str
    step_id: str
    tool: str
    #: ``succeeded`` or ``degraded``.
    status: str
    #: The tool's descriptor says that it draws a card (``ui_card``).
    draws_card: bool
    #: Keys of the value that later steps look things up by, by the tool's descriptor.
    lookups: frozenset[str] = frozenset()
    #: Size of the value as JSON.
    size_bytes: int
    #: As much of it may be shown.
    shown_bytes_max: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolOutput:
    """What is shown of a result."""

    #: A copy of the value, shaped for showing.
    shown: Json
    #: Something of the value is not in ``shown``.
    cut: bool = False
    #: ``shown`` is a card: it is rendered live and kept for a later pin step.
    card: bool = False


class PostToolProcessor(Protocol):
    """One stage; stateless."""

    @property
    def name(self) -> str:
        """Stable word, under which it is counted."""
        ...

    def applies(self, context: PostToolContext) -> bool:
        """Whether it has anything to do with this output; what it has not is not copied for it."""
        ...

    def process(self, output: ToolOutput, context: PostToolContext) -> ToolOutput:
        """The output as it goes on."""
        ...


def run_post_tool_stage(
    value: Json,
    context: PostToolContext,
    processors: Sequence[PostToolProcessor],
    failed: Callable[[str, BaseException], None],
) -> ToolOutput:
    """Every processor in its order; one that throws, or returns no output, is passed over.

    Args:
        value: as the tool returned it; every processor gets a copy of its own.
        failed: told the name and the fault of one that was passed over.
    """
    output = ToolOutput(shown=value)
    for processor in processors:
        try:
            if not processor.applies(context):
                continue
            shaped = _checked(processor.process(replace(output, shown=_copy(output.shown)), context))
        except BaseException as fault:  # noqa: BLE001 - law 1
            failed(processor.name, fault)
        else:
            output = shaped
    return output


def _checked(shaped: object) -> ToolOutput:
    if not isinstance(shaped, ToolOutput):
        raise TypeError(f"a {type(shaped).__name__} is no ToolOutput")
    return shaped


def _copy(value: Json) -> Json:
    match value:
        case dict():
            return {name: _copy(item) for name, item in value.items()}
        case list() | tuple():
            return [_copy(item) for item in value]
        case _:
            return value
