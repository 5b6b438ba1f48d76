"""The post-tool processors that Condor ships, and their order."""

from __future__ import annotations

from typing import TYPE_CHECKING

from condor.core.observers.processors.bounding import OutputBounding
from condor.core.observers.processors.cards import CardBuffering
from condor.core.observers.processors.lookups import LookupsLeftOut

if TYPE_CHECKING:
    from condor.core.observers.post_tool import PostToolProcessor

#: In this order: what nobody is shown takes no room, and what is kept as a card is bounded already.
POST_TOOL_PROCESSORS: tuple[PostToolProcessor, ...] = (LookupsLeftOut(), OutputBounding(), CardBuffering())

__all__ = ["POST_TOOL_PROCESSORS", "CardBuffering", "LookupsLeftOut", "OutputBounding"]
