"""Lookups left out: what a tool keeps for later steps to look things up by repeats what it shows.

Which keys those are stands in the tool's descriptor (``lookups``); the value itself keeps them.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from condor.core.observers.post_tool import PostToolContext, ToolOutput


class LookupsLeftOut:
    """Takes the lookups of a result out of what is shown."""

    name = "lookups-left-out"

    def applies(self, context: PostToolContext) -> bool:
        """A tool without lookups shows what it returned."""
        return bool(context.lookups)

    def process(self, output: ToolOutput, context: PostToolContext) -> ToolOutput:
        """The value without them, where it is an object that has any."""
        shown = output.shown
        if not isinstance(shown, dict) or context.lookups.isdisjoint(shown):
            return output
        kept = {name: item for name, item in shown.items() if name not in context.lookups}
        return replace(output, shown=kept, cut=True)
