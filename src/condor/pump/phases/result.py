"""What a phase may say to the loop: a closed set."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, TypeAlias

from condor.core.values import dataclass
from condor.pump.segment import Segment

if TYPE_CHECKING:
    from condor.core.compiler.leaves import Suspend


@dataclass(frozen=True, slots=True)
class Next:
    """Go on with this phase."""

    phase: Phase


@dataclass(frozen=True, slots=True)
class Suspended:
    """A step must wait: park it."""

    asked: Suspend
    #: Nothing else of the run can move.
    rests: bool


@dataclass(frozen=True, slots=True)
class Rest:
    """Something is open, nothing runs or can run, and every wait is parked already."""


@dataclass(frozen=True, slots=True)
class Stopped:
    """The run was stopped by an answer, a stop or an expiry: close it."""


@dataclass(frozen=True, slots=True)
class Done:
    """The run has its terminal state."""


PhaseResult: TypeAlias = Next | Suspended | Rest | Stopped | Done
Phase: TypeAlias = Callable[[Segment], Awaitable[PhaseResult]]
