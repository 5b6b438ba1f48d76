"""Tool packs: plug-ins that bring tools, a planner and people (entry point group ``condor.packs``)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from condor.ports.faults import Faults, no_faults

if TYPE_CHECKING:
    import datetime
    from collections.abc import Sequence
    from contextlib import AbstractAsyncContextManager
    from pathlib import Path

    from condor.core.policy import ToolDescriptor
    from condor.core.run import Principal
    from condor.ports.model import Planner
    from condor.ports.mounts import Mount, RunView


@dataclass(frozen=True, slots=True, kw_only=True)
class PackSetup:
    """What a pack is opened with."""

    #: The home directory; a pack keeps its own files in it under its own name.
    home: Path
    #: Use the pack's demonstration data, made at first use.
    demo: bool = False
    #: Open without writing anything: the caller only reads.
    read_only: bool = False
    faults: Faults = no_faults
    #: The run log's database as it was given to ``Condor`` (``""``: a file in the home); None: as the setting
    #: says. It may hold a password: it is shown to nobody. Where it is shared, so is what a pack keeps.
    database_url: str | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class DemoScene:
    """A request to try on the demonstration data (`condor demo --list`)."""

    request: str
    #: The principal who asks.
    who: str
    #: What there is to see, in one sentence or two.
    about: str
    autonomy: str = "autonomous"


@dataclass(frozen=True, slots=True, kw_only=True)
class FaultScene:
    """A request that shows what a run does when a tool goes wrong (`condor demo --faults`)."""

    request: str
    #: What goes wrong: ``TOOL=KIND[:TIMES]`` (``condor.testing.read_fault``).
    faults: tuple[str, ...]
    #: What there is to see, in one sentence.
    about: str


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenedPack:
    """What a pack brings while it is open."""

    tools: Sequence[ToolDescriptor]
    planner: Planner | None = None
    #: People who may sign in, in a demo or development home.
    principals: Sequence[Principal] = ()
    #: Who a demo's commands act as when nobody is named.
    default_principal: Principal | None = None
    #: The day of the record; None: today.
    today: datetime.date | None = None
    #: A request that shows what the pack is for (`condor demo`); None: it has none.
    demo_request: str | None = None
    #: Requests to try, in an order that tells a story.
    demo_scenes: Sequence[DemoScene] = ()
    #: What it shows of tools that go wrong.
    fault_scenes: Sequence[FaultScene] = ()
    #: What it serves beside the API, to read.
    mounts: Sequence[Mount] = ()
    #: Forms that a run can be exported in.
    views: Sequence[RunView] = ()
    #: Lines to tell the person who opened it (for example that demo data was made).
    notes: Sequence[str] = field(default_factory=tuple)


class Pack(Protocol):
    """An entry point of group ``condor.packs`` names an object with this shape."""

    #: Its name; also its folder in the home.
    name: str
    #: Whether it has demonstration data to start with when nothing is configured.
    has_demo: bool

    def open(self, setup: PackSetup) -> AbstractAsyncContextManager[OpenedPack]:
        """Open it for the life of a process."""
        ...
