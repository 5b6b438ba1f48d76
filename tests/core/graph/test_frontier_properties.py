"""Laws of the frontier over any graph and any statuses."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from condor.core.graph import CompiledGraph, Coordinate, Node, frontier
from condor.core.ids import Digest, StepId
from condor.core.outcome import FULFILLED, SETTLED, StepStatus

Statuses = dict[StepId, StepStatus]

#: What a node waits for (earlier places, folded), which of them it uses (bits), its kind, its status.
rows = st.tuples(
    st.lists(st.integers(0, 9), max_size=3),
    st.integers(0, 7),
    st.sampled_from(["tool", "tool", "approval"]),
    st.sampled_from(StepStatus),
)


def _built(given_rows: list[tuple[list[int], int, str, StepStatus]]) -> tuple[CompiledGraph, Statuses]:
    nodes: list[Node] = []
    for place, (waits, bits, kind, _) in enumerate(given_rows):
        after = [StepId(f"s{wait % place}") for wait in waits] if place else []
        nodes.append(
            Node(
                coordinate=Coordinate(place),
                step_id=StepId(f"s{place}"),
                kind="approval" if kind == "approval" else "tool",
                after=tuple(after),
                uses=frozenset(step for bit, step in enumerate(after) if bits >> bit & 1),
            )
        )
    compiled = CompiledGraph(nodes=tuple(nodes), digest=Digest("sha256:0"))
    return compiled, {node.step_id: row[3] for node, row in zip(nodes, given_rows, strict=True)}


#: Any graph in topological order, and any status of each step, whether a run could come to it or not.
cases = st.lists(rows, min_size=1, max_size=9).map(_built)


@given(cases)
def test_nothing_is_ready_before_its_prerequisites(case: tuple[CompiledGraph, Statuses]) -> None:
    """A ready step is pending, all it waits for is settled, all it uses is there, no approval is missing."""
    compiled, now = case
    for node in frontier(compiled, now).ready:
        assert now[node.step_id] is StepStatus.PENDING
        assert all(now[step] in SETTLED for step in node.after)
        assert all(now[step] in FULFILLED for step in node.uses)
        assert all(now[s] in FULFILLED for s in node.after if compiled.by_id[s].kind == "approval")
        assert not any(now[step] is StepStatus.FAILED for step in node.after)


@given(cases)
def test_no_step_is_both_ready_and_blocked(case: tuple[CompiledGraph, Statuses]) -> None:
    """A step moves one way; only pending steps move; a blocked one names a step that it waits for."""
    compiled, now = case
    got = frontier(compiled, now)
    moved = [node.step_id for node in got.ready] + [node.step_id for node, _ in got.blocked]
    assert len(set(moved)) == len(moved)
    assert all(now[step] is StepStatus.PENDING for step in moved)
    assert all(step in node.after for node, step in got.blocked)


@given(cases)
def test_what_hangs_on_an_open_step_is_held(case: tuple[CompiledGraph, Statuses]) -> None:
    """A step that waits for an open one is neither ready nor blocked, nor is what hangs on it."""
    compiled, now = case
    got = frontier(compiled, now)
    moved = {node.step_id for node in got.ready} | {node.step_id for node, _ in got.blocked}
    held = {step for step, status in now.items() if status not in SETTLED and step not in moved}
    for node in compiled.nodes:
        if any(step in held for step in node.after):
            assert node.step_id not in moved


@given(cases)
def test_looking_changes_nothing(case: tuple[CompiledGraph, Statuses]) -> None:
    """The frontier is a function: it leaves the statuses alone and says the same again."""
    compiled, now = case
    before = dict(now)
    assert frontier(compiled, now) == frontier(compiled, now)
    assert before == now


@given(cases, st.lists(st.sampled_from(sorted(SETTLED)), min_size=9, max_size=9))
def test_a_run_always_goes_on_or_rests(case: tuple[CompiledGraph, Statuses], ends: list[StepStatus]) -> None:
    """Settling what is ready and skipping what is blocked ends with all settled, one pass a step at most."""
    compiled, now = case[0], dict.fromkeys(case[0].by_id, StepStatus.PENDING)
    for _ in range(len(compiled.nodes)):
        got = frontier(compiled, now)
        assert got.ready or got.blocked
        now.update({node.step_id: StepStatus.SKIPPED for node, _ in got.blocked})
        now.update({node.step_id: ends[node.coordinate] for node in got.ready})
        if all(status in SETTLED for status in now.values()):
            break
    assert all(status in SETTLED for status in now.values())
    at_rest = frontier(compiled, now)
    assert (at_rest.ready, at_rest.blocked) == ((), ())


@given(cases)
def test_blocking_is_done_in_one_pass(case: tuple[CompiledGraph, Statuses]) -> None:
    """Once the blocked steps are skipped, a second look blocks nothing more and readies nothing new."""
    compiled, now = case
    first = frontier(compiled, now)
    now.update({node.step_id: StepStatus.SKIPPED for node, _ in first.blocked})
    second = frontier(compiled, now)
    assert second.blocked == ()
    assert first.ready == second.ready
