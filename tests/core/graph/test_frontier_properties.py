"""Laws of the frontier over any graph and any statuses."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from condor.core.graph import CompiledGraph, Coordinate, Node, frontier
from condor.core.ids import Digest, StepId
from condor.core.outcome import FULFILLED, SETTLED, StepStatus

NODES_MAX = 10


@st.composite
def graphs(draw: st.DrawFn) -> CompiledGraph:
    """Any graph in topological order."""
    nodes: list[Node] = []
    for place in range(draw(st.integers(1, NODES_MAX))):
        earlier = [node.step_id for node in nodes]
        after = draw(st.lists(st.sampled_from(earlier), max_size=3)) if earlier else []
        nodes.append(
            Node(
                coordinate=Coordinate(place),
                step_id=StepId(f"s{place}"),
                kind=draw(st.sampled_from(["tool", "tool", "approval"])),
                after=tuple(after),
                uses=frozenset(step for step in after if draw(st.booleans())),
            )
        )
    return CompiledGraph(nodes=tuple(nodes), digest=Digest("sha256:0"))


def statuses_of(compiled: CompiledGraph, draw: st.DataObject) -> dict[StepId, StepStatus]:
    """Any status for each step, whether the run could have come to it or not."""
    return {node.step_id: draw.draw(st.sampled_from(StepStatus)) for node in compiled.nodes}


@given(graphs(), st.data())
def test_nothing_is_ready_before_its_prerequisites(compiled: CompiledGraph, data: st.DataObject) -> None:
    """A ready step is pending, all it waits for is settled, all it uses is there, no approval is missing."""
    now = statuses_of(compiled, data)
    for node in frontier(compiled, now).ready:
        assert now[node.step_id] is StepStatus.PENDING
        assert all(now[step] in SETTLED for step in node.after)
        assert all(now[step] in FULFILLED for step in node.uses)
        assert all(now[s] in FULFILLED for s in node.after if compiled.by_id[s].kind == "approval")
        assert not any(now[step] is StepStatus.FAILED for step in node.after)


@given(graphs(), st.data())
def test_no_step_is_both_ready_and_blocked(compiled: CompiledGraph, data: st.DataObject) -> None:
    """A step moves one way; only pending steps move; a blocked one names a step that it waits for."""
    now = statuses_of(compiled, data)
    got = frontier(compiled, now)
    moved = [node.step_id for node in got.ready] + [node.step_id for node, _ in got.blocked]
    assert len(set(moved)) == len(moved)
    assert all(now[step] is StepStatus.PENDING for step in moved)
    assert all(step in node.after for node, step in got.blocked)


@given(graphs(), st.data())
def test_what_hangs_on_an_open_step_is_held(compiled: CompiledGraph, data: st.DataObject) -> None:
    """A step that waits for an open one is neither ready nor blocked, nor is what hangs on it."""
    now = statuses_of(compiled, data)
    got = frontier(compiled, now)
    moved = {node.step_id for node in got.ready} | {node.step_id for node, _ in got.blocked}
    held = {step for step, status in now.items() if status not in SETTLED and step not in moved}
    for node in compiled.nodes:
        if any(step in held for step in node.after):
            assert node.step_id not in moved


@given(graphs(), st.data())
def test_looking_changes_nothing(compiled: CompiledGraph, data: st.DataObject) -> None:
    """The frontier is a function: it leaves the statuses alone and says the same again."""
    now = statuses_of(compiled, data)
    before = dict(now)
    assert frontier(compiled, now) == frontier(compiled, now)
    assert before == now


ENDS = st.sampled_from(sorted(SETTLED))


@given(graphs(), st.data())
def test_a_run_always_goes_on_or_rests(compiled: CompiledGraph, data: st.DataObject) -> None:
    """Settling what is ready and skipping what is blocked ends with all settled, one pass a step at most."""
    now = dict.fromkeys(compiled.by_id, StepStatus.PENDING)
    for _ in range(len(compiled.nodes)):
        got = frontier(compiled, now)
        assert got.ready or got.blocked
        now.update({node.step_id: StepStatus.SKIPPED for node, _ in got.blocked})
        now.update({node.step_id: data.draw(ENDS) for node in got.ready})
        if all(status in SETTLED for status in now.values()):
            break
    assert all(status in SETTLED for status in now.values())
    at_rest = frontier(compiled, now)
    assert (at_rest.ready, at_rest.blocked) == ((), ())


@given(graphs(), st.data())
def test_blocking_is_done_in_one_pass(compiled: CompiledGraph, data: st.DataObject) -> None:
    """Once the blocked steps are skipped, a second look blocks nothing more and readies nothing new."""
    now = statuses_of(compiled, data)
    first = frontier(compiled, now)
    now.update({node.step_id: StepStatus.SKIPPED for node, _ in first.blocked})
    second = frontier(compiled, now)
    assert second.blocked == ()
    assert first.ready == second.ready
