"""The tools port: what the pump needs of the tools of this process."""

from __future__ import annotations

import math
from dataclasses import field
from typing import TYPE_CHECKING, Protocol

from condor.core.values import dataclass

if TYPE_CHECKING:
    import datetime
    from collections.abc import Mapping, Sequence

    from condor.core.compiler import CardTools
    from condor.core.ids import Json
    from condor.core.policy.descriptor import ToolDescriptor
    from condor.core.run import Principal
    from condor.core.suspend import CardEvidence


@dataclass(frozen=True, slots=True, kw_only=True)
class Invocation:
    """One call of a tool's function or of one of its hooks."""

    tool: ToolDescriptor
    args: Mapping[str, Json]
    run_id: str
    step_id: str
    attempt: int
    principal: Principal
    approved_by: Principal | None = None
    #: Empty for reads.
    key: str = ""
    versions: Mapping[str, str] = field(default_factory=dict)
    answers: Mapping[str, Json] = field(default_factory=dict)
    #: Seconds that its run may still be worked on.
    left_s: float = math.inf

    @property
    def seconds(self) -> float:
        """What the call has: the tool's time, or what is left of the run's."""
        return min(self.tool.timeout_s, self.left_s)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReconcileAnswer:
    """What the outside system says of a call of unknown outcome; None: it cannot say."""

    happened: bool | None
    value: Json = None


class Toolbox(Protocol):
    """Every tool of the process, and how to run one."""

    @property
    def today(self) -> datetime.date:
        """The day of the record."""
        ...

    def find(self, name: str) -> ToolDescriptor | None:
        """The tool of this name."""
        ...

    def known(self) -> Mapping[str, frozenset[str] | None]:
        """Tool name → the closed set of its arguments (None: open), for the compiler."""
        ...

    def cards(self) -> CardTools:
        """Which tools draw cards and which pin them, for the compiler."""
        ...

    def all(self) -> Sequence[ToolDescriptor]:
        """Every tool, for the planner."""
        ...

    def registered_class(self, name: str) -> object:
        """What the static registry says of a tool's effect class."""
        ...

    def is_effectful(self, tool: ToolDescriptor) -> bool:
        """Whether the tool's class is anything but read."""
        ...

    async def invoke(self, call: Invocation) -> object:
        """Run it within its time; what ended it comes back as a value, only cancellation passes through.

        JSON, ``ToolResult``, ``NeedInput``, an exception, or ``TimedOut``.
        """
        ...

    async def preview(self, call: Invocation) -> CardEvidence:
        """Read what its card must show.

        Raises:
            ToolError: the record cannot be read, so no card can be shown.
        """
        ...

    async def subject(self, call: Invocation) -> CardEvidence:
        """Whom a call is about; its arguments may be incomplete.

        A hook that is missing or fails says nothing. Only ``subject`` and ``alerts`` of it count.
        """
        ...

    async def reconcile(self, call: Invocation) -> ReconcileAnswer:
        """Ask the outside system; a hook that is missing or fails answers None."""
        ...
