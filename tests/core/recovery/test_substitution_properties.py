"""Substitution never lowers the gate, whatever the tools declare."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from condor.core.graph import CompiledGraph, Coordinate, Node
from condor.core.ids import Digest, StepId
from condor.core.recovery import CallFacts, requery_tools, substitute_tool
from condor.core.recovery.substitution import fidelity_of, refusal_of

tiers = st.sampled_from([None, "low", "high"])
calls = st.builds(
    CallFacts,
    tool=st.sampled_from(["a", "b", "c", "d"]),
    alias_groups=st.frozensets(st.sampled_from(["x", "y"]), max_size=2),
    fidelity=st.sampled_from([None, "equal", "degraded"]),
    policy_class=st.sampled_from(["read", "mutate", "exec", "comms"]),
    declared_tier=tiers,
    effective_tier=tiers,
    destructive=st.booleans(),
    effectful=st.booleans(),
    permitted=st.booleans(),
    args=st.dictionaries(st.sampled_from(["p", "q"]), st.integers(), max_size=2),
    complete=st.booleans(),
    loses=st.booleans(),
)


@given(calls, st.lists(calls, max_size=6), st.booleans(), st.sets(st.sampled_from(["a", "b"])))
def test_a_substitute_never_lowers_the_gate(
    failed: CallFacts,
    candidates: list[CallFacts],
    absent: bool,
    tried: set[str],
) -> None:
    """A16: no substitution in which the tier falls; nothing high, destructive or not proven absent."""
    found = requery_tools(failed, candidates, absent=absent, tried=tried)
    for candidate in found:
        assert refusal_of(failed, candidate, tried=tried) is None
        assert failed.alias_groups & candidate.alias_groups
        assert candidate.policy_class == failed.policy_class
        assert candidate.declared_tier == failed.declared_tier
        assert candidate.effective_tier == failed.effective_tier
        assert candidate.permitted
        assert candidate.complete
        assert candidate.tool != failed.tool
        assert candidate.tool not in tried
        assert not candidate.destructive
    if found:
        assert not failed.destructive
        assert "high" not in (failed.declared_tier, failed.effective_tier)
        assert absent or not failed.effectful
        assert failed.fidelity != "degraded"
    fidelities = [fidelity_of(candidate) for candidate in found]
    assert fidelities == sorted(fidelities, reverse=True), "what does the same comes first"


@given(calls, st.integers(2, 9))
def test_an_edit_changes_one_node(candidate: CallFacts, attempt: int) -> None:
    """The step keeps id, coordinate and what it waits for; the graph is one revision on."""
    nodes = tuple(
        Node(
            coordinate=Coordinate(place),
            step_id=StepId(f"s{place}"),
            kind="tool",
            tool="planned",
            args={"p": {"$from": "s0"}},
            after=(StepId("s0"),) if place else (),
            uses=frozenset({StepId("s0")}) if place else frozenset(),
        )
        for place in range(3)
    )
    graph = CompiledGraph(nodes=nodes, digest=Digest("x"))
    edited = substitute_tool(graph, StepId("s1"), candidate, attempt=attempt)
    assert (edited.revision, edited.digest) == (2, graph.digest)
    assert (edited.nodes[0], edited.nodes[2]) == (nodes[0], nodes[2])
    node = edited.nodes[1]
    assert (node.tool, node.args, node.since) == (candidate.tool, candidate.args, attempt)
    assert (node.step_id, node.after, node.uses) == ("s1", ("s0",), frozenset())
    assert (node.instead_of, node.payload("args")) == ("planned", f"args:s1:{attempt}")
    back = substitute_tool(edited, StepId("s1"), replace(candidate, tool="planned"), attempt=9)
    assert back.nodes[1].instead_of == ""
    assert back.nodes[1].fidelity == node.fidelity
