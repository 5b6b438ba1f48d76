"""The plan as types: steps that call a tool, ask a person, or hold a plan of their own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeAlias

from condor.core.values import dataclass

if TYPE_CHECKING:
    from collections.abc import Mapping

    from condor.core.ids import Json

OnDeny = Literal["abort", "skip"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolStep:
    """Call one tool."""

    id: str
    tool: str
    #: JSON with references in it, resolved when the step runs.
    args: Mapping[str, Json]
    after: tuple[str, ...] = ()
    #: What a denial does to the run; None leaves it to the tool.
    on_deny: OnDeny | None = None
    title: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovalStep:
    """Ask a person before what comes after. It never satisfies the tool policy."""

    id: str
    title: str
    #: What the person is told besides the title.
    body: str = ""
    after: tuple[str, ...] = ()
    on_deny: OnDeny | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class NestedPlan:
    """A plan inside a plan; its steps are named ``outer/inner``."""

    id: str
    plan: Plan
    after: tuple[str, ...] = ()


Step: TypeAlias = "ToolStep | ApprovalStep | NestedPlan"


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """Steps in the order written; what may run when is the graph's to say."""

    steps: tuple[Step, ...]
