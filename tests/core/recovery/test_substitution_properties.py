"""Substitution never lowers the gate, whatever the tools declare."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from condor.core.graph import CompiledGraph, Coordinate, Node
from condor.core.ids import Digest, StepId
from condor.core.recovery import CallFacts, requery_tools, substitute_tool
from condor.core.recovery.substitution import fidelity_of, may_be_replaced, refusal_of

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


#: A call that may be replaced, and a tool that may stand in.
FAILED = CallFacts(
    tool="a", alias_groups=frozenset({"x"}), policy_class="mutate", declared_tier="low", effective_tier="low"
)
STANDS_IN = replace(FAILED, tool="b")


@st.composite
def near(draw: st.DrawFn, base: CallFacts) -> CallFacts:
    """A call that differs from another one in at most two things."""
    other, changed = draw(calls), draw(st.sets(st.sampled_from(sorted(CallFacts.__slots__)), max_size=2))
    return replace(base, **{name: getattr(other, name) for name in changed})


@given(
    near(FAILED), st.lists(near(STANDS_IN), max_size=6), st.booleans(), st.sets(st.sampled_from(["a", "b"]))
)
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


def test_a_call_may_be_replaced() -> None:
    """What the rules below forbid one by one."""
    assert requery_tools(FAILED, [STANDS_IN], absent=True) == [STANDS_IN]


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"effective_tier": "high"}, "never-replaced"),
        ({"declared_tier": "high"}, "never-replaced"),
        ({"destructive": True}, "never-replaced"),
        ({"fidelity": "degraded"}, "fallback-is-last"),
    ],
)
def test_what_is_never_replaced(change: Any, why: str) -> None:
    """Whatever would stand in, and however alike it is."""
    failed = replace(FAILED, **change)
    assert may_be_replaced(failed, absent=True) == why
    assert requery_tools(failed, [replace(failed, tool="b")], absent=True) == ()


def test_a_write_is_replaced_only_when_nothing_was_written() -> None:
    """A read is replaced all the same."""
    assert may_be_replaced(FAILED, absent=False) == "not-proven-absent"
    assert requery_tools(FAILED, [STANDS_IN], absent=False) == ()
    assert may_be_replaced(replace(FAILED, effectful=False), absent=False) is None


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"alias_groups": frozenset({"y"})}, "other-group"),
        ({"tool": "a"}, "tried-before"),
        ({"tool": "c"}, "tried-before"),
        ({"permitted": False}, "role"),
        ({"policy_class": "read"}, "other-class"),
        ({"declared_tier": None}, "other-tier"),
        ({"effective_tier": "high"}, "gate-would-change"),
        ({"destructive": True}, "gate-would-change"),
        ({"complete": False}, "arguments"),
    ],
)
def test_what_does_not_stand_in(change: Any, why: str) -> None:
    """Each rule by itself."""
    candidate = replace(STANDS_IN, **change)
    assert refusal_of(FAILED, candidate, tried=["c"]) == why
    assert requery_tools(FAILED, [candidate], absent=True, tried=["c"]) == []


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
