"""Why a run waits, and who asked: two closed sets and one reader.

Law: the reason code is set by the server when it parks and is read by ``read_reason_code`` alone,
so that no two places can disagree; nothing in a tool's arguments can be taken for it.
"""

from __future__ import annotations

from enum import StrEnum


class ReasonCode(StrEnum):
    """What kind of answer is needed."""

    APPROVAL = "approval"
    CLARIFICATION = "clarification"
    RECONCILE = "reconcile"


class Origin(StrEnum):
    """Which mechanism gated."""

    TOOL_POLICY = "tool_policy"
    TOOL_INPUT = "tool_input"
    PLANNED_APPROVAL = "planned_approval"
    PLAN_MUTATION = "plan_mutation"
    RECONCILE = "reconcile"


def read_reason_code(stored: object) -> ReasonCode:
    """The reason code of a stored suspension; anything unreadable is an approval, the strictest."""
    return _BY_WORD.get(stored, ReasonCode.APPROVAL) if isinstance(stored, str) else ReasonCode.APPROVAL


_BY_WORD = {reason.value: reason for reason in ReasonCode}
