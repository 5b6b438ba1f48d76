"""What may run next: one table of small graphs, each a promise about holding, blocking and going on."""

from __future__ import annotations

import pytest

from condor.core.graph import CompiledGraph, Coordinate, Node, frontier
from condor.core.ids import Digest, StepId
from condor.core.outcome import StepStatus

OPEN = (StepStatus.STARTED, StepStatus.SUSPENDED, StepStatus.UNKNOWN)


def graph(**nodes: str) -> CompiledGraph:
    """A graph from ``name="after after! …"``: ``!`` where the result is used, ``?name`` is an approval."""
    made = []
    for place, (name, waits) in enumerate(nodes.items()):
        words = waits.split()
        approval = "?" in words
        after = [word for word in words if word != "?"]
        made.append(
            Node(
                coordinate=Coordinate(place),
                step_id=StepId(name),
                kind="approval" if approval else "tool",
                after=tuple(StepId(word.rstrip("!")) for word in after),
                uses=frozenset(StepId(word.rstrip("!")) for word in after if word.endswith("!")),
            )
        )
    return CompiledGraph(nodes=tuple(made), digest=Digest("sha256:0"))


def moves(compiled: CompiledGraph, **statuses: StepStatus) -> tuple[set[str], dict[str, str]]:
    """Ready steps, and blocked ones with what they hung on; steps not named are pending."""
    now = {node.step_id: statuses.get(node.step_id, StepStatus.PENDING) for node in compiled.nodes}
    got = frontier(compiled, now)
    return {node.step_id for node in got.ready}, {node.step_id: step for node, step in got.blocked}


P, OK, DEG = StepStatus.PENDING, StepStatus.SUCCEEDED, StepStatus.DEGRADED
NO, SKIP = StepStatus.FAILED, StepStatus.SKIPPED

CASES: list[tuple[str, dict[str, str], dict[str, StepStatus], set[str], dict[str, str]]] = [
    ("what waits for nothing is ready", {"a": "", "b": ""}, {}, {"a", "b"}, {}),
    ("what waits is not ready", {"a": "", "b": "a"}, {}, {"a"}, {}),
    ("success opens the way", {"a": "", "b": "a"}, {"a": OK}, {"b"}, {}),
    ("a degraded result is a result", {"a": "", "b": "a!"}, {"a": DEG}, {"b"}, {}),
    ("all of them are waited for", {"a": "", "b": "", "c": "a b"}, {"a": OK}, {"b"}, {}),
    ("a failed prerequisite blocks", {"a": "", "b": "a"}, {"a": NO}, set(), {"b": "a"}),
    (
        "beside a success it still blocks",
        {"a": "", "x": "", "b": "x a"},
        {"a": NO, "x": OK},
        set(),
        {"b": "a"},
    ),
    (
        "a result that is not there blocks",
        {"a": "", "x": "", "b": "a! x"},
        {"a": SKIP, "x": OK},
        set(),
        {"b": "a"},
    ),
    ("skipped steps alone block", {"a": "", "x": "", "b": "a x"}, {"a": SKIP, "x": SKIP}, set(), {"b": "a"}),
    (
        "order after a skipped step holds nothing up",
        {"a": "", "x": "", "b": "a x"},
        {"a": SKIP, "x": OK},
        {"b"},
        {},
    ),
    (
        "a planned approval that was not given blocks, whatever else succeeded",
        {"a": "", "ok": "? a", "b": "a! ok"},
        {"a": OK, "ok": SKIP},
        set(),
        {"b": "ok"},
    ),
    ("a given approval opens the way", {"a": "", "ok": "? a", "b": "a! ok"}, {"a": OK, "ok": OK}, {"b"}, {}),
    (
        "blocking runs down the chain in one pass, each named with what it hung on",
        {"a": "", "b": "a", "c": "b", "d": "c!"},
        {"a": NO},
        set(),
        {"b": "a", "c": "b", "d": "c"},
    ),
    (
        "a branch that hangs on more than the failed one goes on",
        {"a": "", "x": "", "b": "a", "c": "b x"},
        {"a": NO, "x": OK},
        {"c"},
        {"b": "a"},
    ),
    ("a settled step is not looked at again", {"a": "", "b": "a"}, {"a": NO, "b": SKIP}, set(), {}),
    ("the first reason is named", {"a": "", "x": "", "b": "x a"}, {"a": NO, "x": NO}, set(), {"b": "x"}),
    ("waiting twice for one step is waiting once", {"a": "", "b": "a a"}, {"a": SKIP}, set(), {"b": "a"}),
]


@pytest.mark.parametrize(
    ("promise", "nodes", "statuses", "ready", "blocked"), CASES, ids=[case[0] for case in CASES]
)
def test_the_frontier(
    promise: str,
    nodes: dict[str, str],
    statuses: dict[str, StepStatus],
    ready: set[str],
    blocked: dict[str, str],
) -> None:
    """Each case is a promise of its own; its name says which."""
    assert (ready, blocked) == moves(graph(**nodes), **statuses), promise


@pytest.mark.parametrize("status", OPEN)
def test_what_hangs_on_an_open_step_is_held(status: StepStatus) -> None:
    """While a step runs, waits for a person or is unknown, its tail is neither run nor given up."""
    compiled = graph(a="", b="a!", c="b", x="", d="x a")
    assert moves(compiled, a=status) == ({"x"}, {})
    assert moves(compiled, a=status, x=NO) == (set(), {})
    assert moves(compiled, a=NO, x=NO) == (set(), {"b": "a", "c": "b", "d": "x"})


def test_ready_steps_come_in_the_order_of_the_plan() -> None:
    """Two runs of one plan start their steps in the same order."""
    compiled = graph(c="", a="", b="")
    statuses = {node.step_id: P for node in compiled.nodes}
    assert [node.step_id for node in frontier(compiled, statuses).ready] == ["c", "a", "b"]


def test_a_graph_knows_its_ends() -> None:
    """Sinks are the steps that nothing waits for: what was asked for."""
    compiled = graph(a="", b="a", c="a", d="b")
    assert compiled.sinks == ("c", "d")
    assert [compiled.is_terminal(StepId(name)) for name in "abcd"] == [False, False, True, True]
    assert compiled.by_id[StepId("b")].after == ("a",)
