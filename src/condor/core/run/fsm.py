"""RUN_TRANSITIONS: every state change a run can make, and by what.

Law: a transition that is not in this table does not happen; the store refuses it too.
(Mission: run-spine.fsm.ts; ``suspended`` is an active state.)
"""

from __future__ import annotations

from enum import StrEnum
from typing import Literal

from condor.core.errors import TransitionRefused


class RunStatus(StrEnum):
    """Where a run stands."""

    CREATED = "created"
    PLANNING = "planning"
    EXECUTING = "executing"
    SUSPENDED = "suspended"
    SUCCEEDED = "succeeded"
    DEGRADED = "degraded"
    FAILED = "failed"
    ABORTED = "aborted"


TERMINAL = frozenset({RunStatus.SUCCEEDED, RunStatus.DEGRADED, RunStatus.FAILED, RunStatus.ABORTED})
ACTIVE = frozenset(RunStatus) - TERMINAL

TransitionCause = Literal[
    "admitted",
    "planned",
    "not-planned",
    "parked",
    "answered",
    "nothing-left",
    "nothing-reached",
    "denied",
    "stopped",
    "expired",
    "idle",
    "corrupt",
    "bug",
    "breaker",
]

RUN_TRANSITIONS: dict[RunStatus, dict[RunStatus, frozenset[TransitionCause]]] = {
    RunStatus.CREATED: {
        RunStatus.PLANNING: frozenset({"admitted"}),
    },
    RunStatus.PLANNING: {
        RunStatus.EXECUTING: frozenset({"planned"}),
        RunStatus.FAILED: frozenset({"not-planned", "bug", "breaker"}),
        RunStatus.ABORTED: frozenset({"stopped"}),
    },
    RunStatus.EXECUTING: {
        RunStatus.SUSPENDED: frozenset({"parked"}),
        RunStatus.SUCCEEDED: frozenset({"nothing-left"}),
        RunStatus.DEGRADED: frozenset({"nothing-left", "breaker"}),
        RunStatus.FAILED: frozenset({"nothing-reached", "bug", "breaker"}),
        RunStatus.ABORTED: frozenset({"denied", "stopped", "expired"}),
    },
    RunStatus.SUSPENDED: {
        RunStatus.EXECUTING: frozenset({"answered"}),
        RunStatus.FAILED: frozenset({"corrupt"}),
        RunStatus.ABORTED: frozenset({"denied", "stopped", "expired", "idle"}),
    },
    RunStatus.SUCCEEDED: {},
    RunStatus.DEGRADED: {},
    RunStatus.FAILED: {},
    RunStatus.ABORTED: {},
}


def check_transition(old: RunStatus, new: RunStatus, cause: TransitionCause) -> None:
    """Refuse a transition that the table does not have.

    Raises:
        TransitionRefused: our bug; the transaction is not made.
    """
    if cause not in RUN_TRANSITIONS.get(old, {}).get(new, ()):
        raise TransitionRefused(f"a run cannot go from {old} to {new} because of {cause!r}")
