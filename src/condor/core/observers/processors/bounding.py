"""Output bounding: what is shown of a result is bounded, is JSON, and says what was cut.

A cut text ends with ``… (N more characters)``; a cut list ends with ``{"$cut": {"items": N}}``; a cut object
has the key ``$cut`` with ``{"keys": N}``; what is nested too deep is ``{"$cut": {"levels": true}}``. ``$``
begins no argument of a tool, so a plan cannot take it for data.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from condor.core.observers.post_tool import PostToolContext, ToolOutput
from condor.core.values import dataclass

if TYPE_CHECKING:
    from condor.core.ids import Json

CUT = "$cut"
#: Levels that anybody reads; deeper ones are cut.
_DEPTH_MAX = 32


@dataclass(frozen=True, slots=True, kw_only=True)
class _Bounds:
    items: int
    chars: int


#: From generous to what always fits: tried in this order.
_BOUNDS = tuple(
    _Bounds(items=items, chars=chars)
    for items, chars in ((500, 8_000), (200, 4_000), (100, 2_000), (50, 1_000), (20, 400), (8, 200), (3, 80))
)


class OutputBounding:
    """Cuts long texts, lists and objects, as little as it takes."""

    name = "output-bounding"

    def applies(self, context: PostToolContext) -> bool:
        """What fits is shown whole."""
        return context.size_bytes > context.shown_bytes_max

    def process(self, output: ToolOutput, context: PostToolContext) -> ToolOutput:
        """The least cut that fits; none where what a processor before it left fits."""
        if output.cut and size_of(output.shown) <= context.shown_bytes_max:
            return output
        for bounds in _BOUNDS:
            shown = _bounded(output.shown, bounds)
            if size_of(shown) <= context.shown_bytes_max:
                return ToolOutput(shown=shown, cut=True, card=output.card)
        return ToolOutput(shown={CUT: {"bytes": context.size_bytes}}, cut=True, card=output.card)


def _bounded(value: Json, bounds: _Bounds, depth: int = 0) -> Json:
    match value:
        case str() if len(value) > bounds.chars:
            return f"{value[: bounds.chars]}… ({len(value) - bounds.chars:,} more characters)"
        case dict() | list() if depth >= _DEPTH_MAX:
            return {CUT: {"levels": True}}
        case dict():
            kept: dict[str, Json] = {
                (name if len(name) <= bounds.chars else name[: bounds.chars] + "…"): _bounded(
                    item, bounds, depth + 1
                )
                for name, item in list(value.items())[: bounds.items]
            }
            left = len(value) - len(kept)
            return {**kept, CUT: {"keys": left}} if left else kept
        case list():
            items = [_bounded(item, bounds, depth + 1) for item in value[: bounds.items]]
            left = len(value) - len(items)
            return [*items, {CUT: {"items": left}}] if left else items
        case _:
            return value


def size_of(value: Json) -> int:
    """Bytes of a value as JSON, at least: escapes are counted as one character of four bytes."""
    match value:
        case str():
            return 2 + (len(value) if value.isascii() else 4 * len(value))
        case dict():
            return 2 + sum(size_of(name) + size_of(item) + 2 for name, item in value.items())
        case list() | tuple():
            return 2 + sum(size_of(item) + 1 for item in value)
        case _:
            return len(str(value))
