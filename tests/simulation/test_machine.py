"""The protocol of cards as a machine (hypothesis, stateful), and bugs of ours that it does not let pass."""

from __future__ import annotations

import os
import random
from typing import TYPE_CHECKING, Any, ClassVar

import pytest
from hypothesis import HealthCheck, settings

from tests.simulation.invariants import INVARIANTS
from tests.simulation.protocol import PLANS, TTL_S, Protocol
from tests.simulation.protocol_bugs import BUGS

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.simulation.protocol_bugs import Bug

#: Machines and steps of each; `make crash` raises them.
EXAMPLES = int(os.environ.get("CONDOR_MACHINES", "12"))
STEPS = int(os.environ.get("CONDOR_MACHINE_STEPS", "25"))
#: Machines that a planted bug is looked for in, and steps of each.
HUNTED, HUNT_STEPS = 40, 10

TestProtocol = pytest.mark.slow(Protocol.TestCase)
TestProtocol.settings = settings(
    max_examples=EXAMPLES,
    stateful_step_count=STEPS,
    deadline=None,
    suppress_health_check=list(HealthCheck),
)

#: How a hunt plays each rule: the same rules as the machine's, drawn by a seed, few enough to hit each other.
DRAWN: dict[str, Callable[[random.Random], dict[str, Any]]] = {
    "answer": lambda by: {
        "pick": by.randrange(9),
        "yes": by.random() < 0.6,
        "who": by.randrange(3),
        "wait": True,
    },
    "edit": lambda by: {
        "pick": by.randrange(9),
        "value": by.choice("xyz"),
        "part": by.choice(["value", "status", "both"]),
        "who": by.randrange(3),
        "wait": True,
    },
    "edit_identity": lambda by: {"pick": by.randrange(9), "who": by.randrange(3)},
    "answer_at_once": lambda by: {"pick": by.randrange(9)},
    "stop": lambda by: {"pick": by.randrange(9)},
    "pass_time": lambda by: {"seconds": by.choice([1.0, TTL_S]), "sweeps": by.random() < 0.5},
    "record_moves": lambda by: {"pick": by.randrange(9)},
    "drift": lambda by: {"kind": by.choice(["descriptor", "policy"])},
}


class Found(Exception):
    """Enough was seen of a machine."""


def hunt(bug: Bug) -> list[str]:
    """What is found broken first by machines that play what the bug can show under; empty: nothing."""

    class Hunt(Protocol):
        """Only what can show the bug."""

        violations: ClassVar[list[str]] = []
        ends_with: ClassVar[type[Exception]] = Found

    Hunt.plans, Hunt.only, Hunt.removes_first = bug.plans, bug.rules, bug.removes
    for seed in range(HUNTED):
        by, machine = random.Random(seed), Hunt()
        try:
            machine.start(pick=0, autonomy=by.choice(["guarded", "autonomous"]))
            machine.every_run_at_rest_is_whole()
            for _ in range(HUNT_STEPS):
                name = by.choice(sorted(bug.rules))
                getattr(machine, name)(**DRAWN[name](by))
                machine.every_run_at_rest_is_whole()
        except Found:
            return Hunt.violations
        finally:
            machine.put_away()
    return []


@pytest.mark.slow
@pytest.mark.parametrize("name", BUGS)
def test_a_planted_bug_is_found(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each is caught by an invariant or by a rule that was promised otherwise."""
    BUGS[name].plant(monkeypatch)
    assert hunt(BUGS[name]) != []


def test_bugs_and_invariants_are_of_use() -> None:
    """A bug names plans and rules that there are; an invariant says what it holds."""
    assert {plan for bug in BUGS.values() for plan in bug.plans} <= PLANS.keys()
    assert set().union(*(bug.rules for bug in BUGS.values())) == DRAWN.keys()
    assert all(check.__doc__ for check in INVARIANTS)
