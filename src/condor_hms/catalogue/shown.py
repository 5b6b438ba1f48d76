"""What a card showed is what runs: its content is bound to the approval, not only the versions it edits.

Rule 1: the subject, the summary, the record before and after, and the facts beside them are one digest among
the versions of the card. Where they would be shown differently after the approval, a person looks again.
Rule 2: alerts are not part of it: one that is gone or milder stops nothing, a worse one asks by itself.
Rule 3: whoever speaks or makes a file composes once more and compares, right before it is done.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from typing import Any

from condor import CardEvidence, RecordMoved, ToolContext, ToolDescriptor

__all__ = ["SHOWN", "check_shown", "with_bound_cards"]

#: Stands among the versions of a card, for what was composed from the record for it.
SHOWN = "content of the card"


def with_bound_cards(tool: ToolDescriptor) -> ToolDescriptor:
    """The tool, whose cards are bound to what they show; one without a preview as it is."""
    preview = tool.preview
    if preview is None:
        return tool

    async def show(ctx: ToolContext, **given: Any) -> object:
        evidence = await preview(ctx, **given)
        if not isinstance(evidence, CardEvidence):
            return evidence  # The gate says what is wrong with it.
        return replace(evidence, versions={**evidence.versions, SHOWN: _digest(evidence)})

    return replace(tool, preview=show)


def check_shown(ctx: ToolContext, card: CardEvidence) -> None:
    """Refuse to run what composes differently now than on the card that was approved.

    Raises:
        RecordMoved: it does; nothing was done.
    """
    seen = ctx.record_versions.get(SHOWN)
    if seen is not None and seen != _digest(card):
        raise RecordMoved("the record has changed what the approved card showed; nothing was done")


def _digest(evidence: CardEvidence) -> str:
    shown = [
        dict(evidence.subject),
        evidence.summary,
        evidence.before,
        evidence.after,
        [dict(row) for row in evidence.context],
    ]
    canonical = json.dumps(shown, sort_keys=True, ensure_ascii=False, separators=(",", ":"), default=dict)
    return hashlib.sha256(canonical.encode()).hexdigest()
