"""Cards that tools draw: which tools do derives from their descriptors, and drives all three behaviours.

The three: the live ``data-ui-block`` frame, the entry in the run's card buffer from which a later pin step
takes its card, and the order in which cards are drawn before they are pinned. There is no second list.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterable

    from condor.core.observers.post_tool import PostToolContext, ToolOutput


class _Described(Protocol):
    """What is looked at of a tool's descriptor."""

    @property
    def name(self) -> str: ...

    @property
    def ui_card(self) -> bool: ...

    @property
    def pins(self) -> str: ...


def card_tools(tools: Iterable[_Described]) -> frozenset[str]:
    """Names of the tools that draw a card from their result."""
    return frozenset(tool.name for tool in tools if tool.ui_card)


def pin_tools(tools: Iterable[_Described]) -> frozenset[str]:
    """Names of the tools that pin a card that was drawn earlier in the run."""
    return frozenset(tool.name for tool in tools if tool.pins)


class CardBuffering:
    """Marks what a card tool returned as a card."""

    name = "card-buffering"

    def applies(self, context: PostToolContext) -> bool:
        """What a tool shows that draws no card stays as it is."""
        return context.draws_card

    def process(self, output: ToolOutput, context: PostToolContext) -> ToolOutput:
        """What it shows is its card."""
        del context
        return replace(output, card=True)
