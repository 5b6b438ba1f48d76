"""Plan repair: one candidate of a planner that cannot be run, and the one that it may be mended to.

Law: once, and before anything is compiled. A second candidate that cannot be run either is refused like any
other. It neither revises a compiled graph nor counts as a replan. (Mission: plan-repair.service.ts.)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from condor.core.errors import PlanRefused

#: Candidates of one request: the first, and one repair.
CANDIDATES_MAX = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanFault:
    """What is wrong with a candidate, as its planner is told."""

    #: Stable word.
    code: str
    #: JSON pointer to the place.
    path: str
    #: One line; it quotes words of the plan's own language, never arguments.
    message: str


def fault_of(refusal: PlanRefused) -> PlanFault:
    """The fault that a refusal is about."""
    return PlanFault(code=refusal.code, path=refusal.path, message=str(refusal))


def may_be_repaired(candidates: int) -> bool:
    """Whether a planner may be asked for another candidate after so many."""
    return candidates < CANDIDATES_MAX


__all__ = ["CANDIDATES_MAX", "PlanFault", "fault_of", "may_be_repaired"]
