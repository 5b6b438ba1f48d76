"""The planner port: a typed request becomes plan JSON, or an honest refusal."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import datetime
    from collections.abc import Sequence

    from condor.core.policy import ToolDescriptor
    from condor.core.run import Principal


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanningRequest:
    """What a planner is told."""

    #: As the operator typed it.
    text: str
    principal: Principal
    #: Every tool of the process; the role check is the leaf's, so that a refusal is said, not hidden.
    tools: Sequence[ToolDescriptor]
    #: The day of the record (the demo's is fixed), for relative dates.
    today: datetime.date


class Planner(Protocol):
    """Anything that plans: a playbook, a model."""

    async def plan(self, request: PlanningRequest) -> object:
        """Plan JSON as in the public format; ``parse_plan`` reads it.

        Raises:
            RequestNotUnderstood: no plan; the message says what the planner can do. Never a guess.
        """
        ...
