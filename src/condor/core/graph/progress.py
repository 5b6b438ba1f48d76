"""How the steps of one run stand, and what may run next, kept as they change.

Law: it says what ``frontier`` says, in the time of what has changed since it was last asked; a property test
holds the two together. So a step of a long plan costs what a step of a short one does.
"""

from __future__ import annotations

from bisect import bisect_left
from typing import TYPE_CHECKING, Final

from condor.core.graph.frontier import Frontier, blocked_by
from condor.core.outcome import SETTLED, StepStatus

if TYPE_CHECKING:
    from collections.abc import Mapping

    from condor.core.graph.compiled import CompiledGraph, Node
    from condor.core.ids import StepId


_NOTHING: Final = Frontier(ready=(), blocked=())
_set: Final = dict.__setitem__  # ``super()`` is asked for a dozen times in every run


class Progress(dict["StepId", StepStatus]):
    """Step → status; setting one is the only way to change it."""

    __slots__ = ("_followers", "_free", "_fresh", "_graph", "_waits")

    def __init__(self, graph: CompiledGraph, statuses: Mapping[StepId, StepStatus] | None = None) -> None:
        """Every step is pending, or stands as given."""
        super().__init__(dict.fromkeys(graph.by_id, StepStatus.PENDING))
        self._graph = graph
        #: By coordinate: how many of the steps it waits for are not settled.
        self._waits = [len(node.after) for node in graph.nodes]
        self._followers: dict[StepId, list[int]] = {}
        for node in graph.nodes:
            for step in node.after:
                self._followers.setdefault(step, []).append(node.coordinate)
        #: Coordinates that may have come free since they were last looked at.
        self._fresh = [place for place, waits in enumerate(self._waits) if not waits]
        #: Coordinates that were free when they were looked at, in order.
        self._free: list[int] = []
        for step, status in (statuses or {}).items():
            self[step] = status

    def revise(self, graph: CompiledGraph) -> None:
        """Take an edited graph; an edit moves no step and changes nothing that it waits for."""
        self._graph = graph

    def __setitem__(self, step: StepId, status: StepStatus) -> None:
        was_settled, is_settled = self[step] in SETTLED, status in SETTLED
        _set(self, step, status)
        if was_settled is not is_settled:
            change = -1 if is_settled else 1
            for place in self._followers.get(step, ()):
                self._waits[place] += change
                if not self._waits[place]:
                    self._fresh.append(place)
        if status is StepStatus.PENDING:
            self._fresh.append(self._graph.by_id[step].coordinate)

    def frontier(self, limit: int | None = None) -> Frontier:
        """What may run next, at most ``limit`` steps of it, and what can no longer run.

        A blocked step is named until it is settled; what hangs on it is named once it is.
        """
        blocked = self._look_at_fresh() if self._fresh else ()
        if not self._free and not blocked:
            return _NOTHING
        ready: list[Node] = []
        place = 0
        while place < len(self._free) and (limit is None or len(ready) < limit):
            if self._may_run(self._free[place]):
                ready.append(self._graph.nodes[self._free[place]])
                place += 1
            else:
                del self._free[place]
        return Frontier(ready=tuple(ready), blocked=tuple(blocked))

    def _may_run(self, place: int) -> bool:
        return not self._waits[place] and self[self._graph.nodes[place].step_id] is StepStatus.PENDING

    def _look_at_fresh(self) -> list[tuple[Node, StepId]]:
        fresh, self._fresh = sorted(set(self._fresh)), []
        blocked: list[tuple[Node, StepId]] = []
        for place in fresh:
            if not self._may_run(place):
                continue
            node = self._graph.nodes[place]
            culprit = blocked_by(node, self._graph, self)
            if culprit is not None:
                blocked.append((node, culprit))
                self._fresh.append(place)
            self._put(place, is_free=culprit is None)
        return blocked

    def _put(self, place: int, *, is_free: bool) -> None:
        at = bisect_left(self._free, place)
        is_there = at < len(self._free) and self._free[at] == place
        if is_free and not is_there:
            self._free.insert(at, place)
        elif is_there and not is_free:
            del self._free[at]
