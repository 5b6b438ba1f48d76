"""The post-tool processors that Condor ships, and their order."""

from __future__ import annotations

from typing import TYPE_CHECKING

from condor.core.observers.processors.bounding import OutputBounding
from condor.core.observers.processors.cards import CardBuffering

if TYPE_CHECKING:
    from condor.core.observers.post_tool import PostToolProcessor

#: In this order: what is kept as a card is bounded already.
POST_TOOL_PROCESSORS: tuple[PostToolProcessor, ...] = (OutputBounding(), CardBuffering())

__all__ = ["POST_TOOL_PROCESSORS", "CardBuffering", "OutputBounding"]
