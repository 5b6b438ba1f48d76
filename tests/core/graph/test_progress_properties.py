"""Progress says what the frontier says, whatever was changed in between, and in whatever order."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st

from condor.core.graph import CompiledGraph, Progress, frontier
from condor.core.outcome import StepStatus
from tests.core.graph.test_frontier_properties import Statuses, cases

if TYPE_CHECKING:
    from condor.core.ids import StepId

#: Changes of a step's status, by its place (folded).
changes = st.lists(st.tuples(st.integers(0, 8), st.sampled_from(StepStatus), st.booleans()), max_size=30)


def settled(progress: Progress) -> tuple[list[StepId], list[tuple[StepId, StepId]]]:
    """What is ready and what is blocked once the blocked are settled; the progress is left as it stood."""
    copy = Progress(progress._graph, progress)
    blocked: list[tuple[StepId, StepId]] = []
    while True:
        front = copy.frontier()
        blocked += [(node.step_id, culprit) for node, culprit in front.blocked]
        for node, _ in front.blocked:
            copy[node.step_id] = StepStatus.SKIPPED
        if not front.blocked:
            break
    places = {step: node.coordinate for step, node in progress._graph.by_id.items()}
    return [node.step_id for node in front.ready], sorted(blocked, key=lambda pair: places[pair[0]])


@given(cases, changes)
def test_progress_is_the_frontier(
    case: tuple[CompiledGraph, Statuses], made: list[tuple[int, StepStatus, bool]]
) -> None:
    """After every change, looked at or not."""
    graph, now = case
    progress = Progress(graph, now)
    for place, status, looked in made:
        step = graph.nodes[place % len(graph.nodes)].step_id
        progress[step] = now[step] = status
        if looked:
            progress.frontier()
    expected = frontier(graph, now)
    ready, blocked = settled(progress)
    assert [node.step_id for node in expected.ready] == ready
    assert [(node.step_id, culprit) for node, culprit in expected.blocked] == blocked
    direct = progress.frontier()
    assert [node.step_id for node in direct.ready] == ready
    assert {node.step_id for node, _ in direct.blocked} <= {step for step, _ in blocked}
    assert dict(progress) == now


@given(cases, st.integers(0, 9))
def test_a_limit_cuts_what_is_ready(case: tuple[CompiledGraph, Statuses], limit: int) -> None:
    """The first so many of it, and asking again says the same."""
    graph, now = case
    progress = Progress(graph, now)
    whole = progress.frontier().ready
    assert whole[:limit] == progress.frontier(limit).ready
    assert whole == progress.frontier().ready
