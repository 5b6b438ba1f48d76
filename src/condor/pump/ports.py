"""What the pump needs from the world, and what it remembers of the runs that it has parked."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from condor.core.observers.processors import POST_TOOL_PROCESSORS
from condor.core.recovery import DEFAULT_LIMITS, Limits
from condor.ports.clock import Clock, timestamp
from condor.ports.counts import uncounted
from condor.ports.messages import no_processors
from condor.pump.left_runs import LeftRuns

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from condor.core.observers.post_tool import PostToolProcessor
    from condor.ports.closing_writer import ClosingWriter
    from condor.ports.counts import Count
    from condor.ports.faults import Faults
    from condor.ports.messages import OutputProcessor
    from condor.ports.model import Confirmer, InputRegenerator, Planner
    from condor.ports.store import Store
    from condor.ports.tools import Toolbox


@dataclass(frozen=True, slots=True, kw_only=True)
class PumpPorts:
    """What the pump needs from the world, picked in ``bootstrap``."""

    store: Store
    toolbox: Toolbox
    planner: Planner | None
    clock: Clock
    faults: Faults
    #: Told after every commit: run id and last sequence number.
    announce: Callable[[str, int], None]
    #: Workers drive the segments: what starts or goes on here is handed over to them.
    hands_over: bool = False
    #: Seconds after which an unanswered card expires.
    suspend_ttl_s: float
    #: Ceilings of recovery, for every run.
    limits: Limits = DEFAULT_LIMITS
    #: Looks a second time at edits of the plan that a rule alone does not settle.
    confirmer: Confirmer | None = None
    #: Makes arguments of a planned call anew that cannot be used.
    regenerator: InputRegenerator | None = None
    #: Writes closing texts; without one the composed closing stands.
    writer: ClosingWriter | None = None
    #: Makes what one written text passes on its way out; None: nothing.
    output_processors: Callable[[], OutputProcessor | None] = no_processors
    #: Counts what went wrong and was passed over, by a word of a closed set.
    count: Count = uncounted
    #: What a result passes before it is shown.
    post_tool: Sequence[PostToolProcessor] = POST_TOOL_PROCESSORS
    #: Runs that rest as they were left here.
    left: LeftRuns = field(default_factory=LeftRuns)

    def at(self) -> str:
        """Now, as it is stored."""
        return timestamp(self.clock.now())
