"""The graph a plan compiles to: flat, ordered, addressed by coordinates.

Law: a graph is compiled once. Whatever happens in the run edits it in place at a coordinate and
raises its revision; nothing recompiles.
"""

from __future__ import annotations

from dataclasses import field, replace
from typing import TYPE_CHECKING, Literal, NewType

from condor.core.values import dataclass

if TYPE_CHECKING:
    from collections.abc import Mapping

    from condor.core.ids import Digest, Json, StepId
    from condor.core.plan.model import OnDeny

#: A node's place in topological order; stable for the life of the run.
Coordinate = NewType("Coordinate", int)


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """One leaf of the graph."""

    coordinate: Coordinate
    #: The step's path: ``s3/s1`` for step s1 of the plan nested in s3.
    step_id: StepId
    kind: Literal["tool", "approval"]
    #: Tool name; empty for an approval.
    tool: str = ""
    #: Arguments; their references name step ids of this graph.
    args: Mapping[str, Json] = field(default_factory=dict)
    #: Every step that must be settled first, references included.
    after: tuple[StepId, ...] = ()
    #: The steps among ``after`` whose results this one uses.
    uses: frozenset[StepId] = frozenset()
    on_deny: OnDeny | None = None
    title: str = ""
    body: str = ""
    #: The attempt at which its tool took this coordinate: 1, or that of the edit that put it here.
    since: int = 1
    #: Tools that were here before, the plan's own first.
    tried: tuple[str, ...] = ()
    #: How well the one stands in for the other.
    fidelity: Literal["equal", "degraded"] = "equal"
    #: It was planned, or its arguments were made, after untrusted text entered the run.
    untrusted: bool = False

    @property
    def instead_of(self) -> str:
        """The tool that the plan named, where another one stands in for it; else nothing."""
        return self.tried[0] if self.tried and self.tried[0] != self.tool else ""

    def payload(self, part: str) -> str:
        """The name of the payload with this step's ``args`` or ``result``; another tool has its own."""
        return f"{part}:{self.step_id}" if self.since == 1 else f"{part}:{self.step_id}:{self.since}"


@dataclass(frozen=True, slots=True, kw_only=True)
class CompiledGraph:
    """Nodes in topological order."""

    nodes: tuple[Node, ...]
    revision: int = 1
    #: Digest of the plan as parsed and compiled.
    digest: Digest
    by_id: Mapping[StepId, Node] = field(init=False, repr=False, compare=False)
    #: Steps that others wait for.
    waited_for: frozenset[StepId] = field(init=False, repr=False, compare=False)
    #: Steps that nothing waits for.
    sinks: tuple[StepId, ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Index the nodes."""
        object.__setattr__(self, "by_id", {node.step_id: node for node in self.nodes})
        waited_for = {step for node in self.nodes for step in node.after}
        object.__setattr__(self, "waited_for", frozenset(waited_for))
        object.__setattr__(self, "sinks", tuple(n.step_id for n in self.nodes if n.step_id not in waited_for))

    def is_terminal(self, step_id: StepId) -> bool:
        """Whether nothing waits for this step."""
        return step_id not in self.waited_for

    def edited(self, node: Node) -> CompiledGraph:
        """The next revision: this graph with another node at a coordinate that it has."""
        nodes = list(self.nodes)
        # INVARIANT: an edit moves no step and makes none.
        assert nodes[node.coordinate].step_id == node.step_id, "an edit stays at its coordinate"
        nodes[node.coordinate] = node
        return replace(self, nodes=tuple(nodes), revision=self.revision + 1)
