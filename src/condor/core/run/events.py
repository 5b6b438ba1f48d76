"""The event log of a run: a closed set of kinds, the only source of frames and replay.

Law: an event holds ids, digests and words of closed sets. Arguments, results and texts stand in
payloads that it names, so that they can be erased while the history stays.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from condor.core.ids import Json


class EventKind(StrEnum):
    """Every kind there is."""

    RUN_STARTED = "run.started"
    PLAN_READY = "plan.ready"
    PLAN_REVISED = "plan.revised"
    STEP_STARTED = "step.started"
    STEP_SETTLED = "step.settled"
    CARD_RENDERED = "card.rendered"
    APPROVAL_REQUIRED = "approval.required"
    CLARIFICATION_REQUIRED = "clarification.required"
    RECONCILE_REQUIRED = "reconcile.required"
    SUSPENSION_CLOSED = "suspension.closed"
    BREAKER_STOPPED = "breaker.stopped"
    TEXT_DELTA = "text.delta"
    TEXT_DONE = "text.done"
    CLAIM_CORRECTED = "claim.corrected"
    RUN_ENDED = "run.ended"


@dataclass(frozen=True, slots=True, kw_only=True)
class RunEvent:
    """One stored event."""

    run_id: str
    #: 1, 2, 3 … within the run, without gaps.
    seq: int
    kind: EventKind
    #: RFC 3339, UTC, milliseconds.
    at: str
    #: Facts: ids, statuses, digests, names of payloads. No record data.
    facts: Mapping[str, Json] = field(default_factory=dict)

    def to_json(self) -> dict[str, Json]:
        """The event as one JSON object: ``{"type", "runId", "seq", "at", …facts}``.

        No fact can stand in for one of the four.
        """
        head: dict[str, Json] = {
            "type": self.kind,
            "runId": self.run_id,
            "seq": self.seq,
            "at": self.at,
        }
        return {**head, **self.facts, **head}
