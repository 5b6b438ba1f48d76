"""What may run next, and what can no longer run.

Law 1: a step is ready when everything it waits for is settled and it can still be done.
Law 2: a step that uses a result that is not there, or waits for a failed step or for a planned
approval that was not given, is *blocked*. A step that merely comes after another skipped one is
blocked only when it hangs on skipped steps alone.
Law 3: while a step is open (running, suspended, unknown) what hangs on it is held, not blocked.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from condor.core.outcome import FULFILLED, SETTLED, StepStatus
from condor.core.values import dataclass

if TYPE_CHECKING:
    from collections.abc import Mapping

    from condor.core.graph.compiled import CompiledGraph, Node
    from condor.core.ids import StepId


@dataclass(frozen=True, slots=True, kw_only=True)
class Frontier:
    """The next moves of a run."""

    ready: tuple[Node, ...]
    #: Steps that cannot run any more, each with the step it hung on.
    blocked: tuple[tuple[Node, StepId], ...]


def blocked_by(node: Node, graph: CompiledGraph, statuses: Mapping[StepId, StepStatus]) -> StepId | None:
    """The step for whose sake this one cannot run, all that it waits for being settled; None: it can."""
    unfulfilled = [step for step in node.after if statuses[step] not in FULFILLED]
    for step in unfulfilled:
        # INVARIANT: nothing runs past a planned approval that a person did not give.
        if step in node.uses or statuses[step] is StepStatus.FAILED or graph.by_id[step].kind == "approval":
            return step
    if unfulfilled and len(unfulfilled) == len(node.after):
        return unfulfilled[0]
    return None


def frontier(graph: CompiledGraph, statuses: Mapping[StepId, StepStatus]) -> Frontier:
    """What may run next; a blocked step blocks what hangs on it in the same pass.

    Args:
        statuses: the status of every step of the graph.
    """
    now = dict(statuses)
    ready: list[Node] = []
    blocked: list[tuple[Node, StepId]] = []
    for node in graph.nodes:  # topological order: a node's prerequisites were looked at before it
        if now[node.step_id] is not StepStatus.PENDING:
            continue
        if not all(now[step] in SETTLED for step in node.after):
            continue
        culprit = blocked_by(node, graph, now)
        if culprit is None:
            ready.append(node)
        else:
            blocked.append((node, culprit))
            now[node.step_id] = StepStatus.SKIPPED
    return Frontier(ready=tuple(ready), blocked=tuple(blocked))
