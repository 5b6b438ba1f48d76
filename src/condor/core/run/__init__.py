"""The run: its states as a literal table, its events as a closed set."""

from condor.core.run.events import EventKind, RunEvent
from condor.core.run.fsm import (
    ACTIVE,
    RUN_TRANSITIONS,
    TERMINAL,
    RunStatus,
    TransitionCause,
    check_transition,
)
from condor.core.run.principal import (
    DECIDES_NOTHING,
    LOCAL_PERSON,
    NOBODY,
    SYSTEM,
    Approvers,
    Principal,
    approvers_among,
)

__all__ = [
    "ACTIVE",
    "DECIDES_NOTHING",
    "LOCAL_PERSON",
    "NOBODY",
    "RUN_TRANSITIONS",
    "SYSTEM",
    "TERMINAL",
    "Approvers",
    "EventKind",
    "Principal",
    "RunEvent",
    "RunStatus",
    "TransitionCause",
    "approvers_among",
    "check_transition",
]
