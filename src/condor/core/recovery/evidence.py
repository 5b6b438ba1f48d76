"""What a decision about the plan may rest on: closed words and flags.

Law: no text of a conversation, no record data, no id. So a decision can be made again from what is stored,
and nothing that a tool or a model says can talk it into anything.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from condor.core.outcome import FULFILLED, StepStatus

#: What a re-query of the tools found for the step: nothing, the same tool alone, or another one.
Way = Literal["none", "same", "degraded", "equal"]


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanMutationEvidence:
    """How one leaf ended, as recovery sees it."""

    status: StepStatus
    #: Nothing waits for the step.
    terminal: bool
    #: The run was dispatched under a person's watch.
    supervised: bool
    #: The tool asked for another way inside the graph.
    needs_replan: bool = False
    #: The circuit breaker has opened.
    breaker_open: bool = False
    #: A person was asked about the edit and said no.
    declined: bool = False
    way: Way = "none"

    @property
    def fulfilled(self) -> bool:
        """A dependent step may build on it."""
        return self.status in FULFILLED

    @property
    def is_quiet(self) -> bool:
        """It did what it should and asks for nothing: the run goes on."""
        return self.status in FULFILLED and not self.needs_replan and not self.breaker_open


__all__ = ["PlanMutationEvidence", "Way"]
