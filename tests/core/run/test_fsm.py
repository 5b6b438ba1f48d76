"""The run table: every transition it has, and none that it has not."""

from __future__ import annotations

import itertools
from typing import Any, get_args

import pytest

from condor.core.errors import OurBug, TransitionRefused
from condor.core.run import ACTIVE, RUN_TRANSITIONS, TERMINAL, RunStatus, TransitionCause, check_transition

#: The states that the contract lets follow each state.
CONTRACT = {
    "created": {"planning"},
    "planning": {"executing", "failed", "aborted"},
    "executing": {"suspended", "succeeded", "degraded", "failed", "aborted"},
    "suspended": {"executing", "failed", "aborted"},
    "succeeded": set(),
    "degraded": set(),
    "failed": set(),
    "aborted": set(),
}
CAUSES: tuple[TransitionCause, ...] = get_args(TransitionCause)
EVERY = list(itertools.product(RunStatus, RunStatus, CAUSES))


def test_the_table_is_the_contract() -> None:
    """Each state is followed by exactly the states that the contract names."""
    assert {old: set(new) for old, new in RUN_TRANSITIONS.items()} == CONTRACT


def test_every_transition_has_a_cause_and_every_cause_a_transition() -> None:
    """Nothing happens for no reason, and no reason is idle."""
    named = [causes for row in RUN_TRANSITIONS.values() for causes in row.values()]
    assert all(named)
    assert set().union(*named) == set(CAUSES)


@pytest.mark.parametrize("old", RunStatus)
def test_what_the_table_has_is_let_through_and_nothing_else(old: RunStatus) -> None:
    """Each of the states by each of the causes: the table alone decides."""
    for _, new, cause in (row for row in EVERY if row[0] is old):
        if cause in RUN_TRANSITIONS[old].get(new, ()):
            check_transition(old, new, cause)
        else:
            with pytest.raises(TransitionRefused) as refusal:
                check_transition(old, new, cause)
            assert f"a run cannot go from {old} to {new} because of {cause!r}" == str(refusal.value)
            assert isinstance(refusal.value, OurBug)


def test_terminal_states_are_final() -> None:
    """A run that has ended stays as it ended; every other state can still end."""
    assert {status for status, row in RUN_TRANSITIONS.items() if not row} == TERMINAL
    assert set(RunStatus) == TERMINAL | ACTIVE
    assert not TERMINAL & ACTIVE
    for start in ACTIVE:
        seen, front = {start}, {start}
        while front:
            front = {new for old in front for new in RUN_TRANSITIONS[old]} - seen
            seen |= front
        assert seen & TERMINAL


def test_every_state_can_be_reached() -> None:
    """No state stands in the table for nothing."""
    seen, front = {RunStatus.CREATED}, {RunStatus.CREATED}
    while front:
        front = {new for old in front for new in RUN_TRANSITIONS[old]} - seen
        seen |= front
    assert seen == set(RunStatus)


def test_suspended_is_active() -> None:
    """A run that waits for a person has not ended (mission: run-spine.fsm.ts)."""
    assert RunStatus.SUSPENDED in ACTIVE


def test_a_run_can_pass_many_gates() -> None:
    """Executing and suspended follow each other as often as there are gates."""
    for _ in range(3):
        check_transition(RunStatus.EXECUTING, RunStatus.SUSPENDED, "parked")
        check_transition(RunStatus.SUSPENDED, RunStatus.EXECUTING, "answered")


@pytest.mark.parametrize("junk", ["Created", "", None, "done"])
def test_a_state_that_is_none_is_refused(junk: Any) -> None:
    """A row that somebody wrote by hand moves nowhere."""
    with pytest.raises(TransitionRefused):
        check_transition(junk, RunStatus.PLANNING, "admitted")
    with pytest.raises(TransitionRefused):
        check_transition(RunStatus.CREATED, junk, "admitted")
    with pytest.raises(TransitionRefused):
        check_transition(RunStatus.CREATED, RunStatus.PLANNING, junk)


def test_a_stored_state_is_a_state() -> None:
    """What the store gives back as text moves like the state it names."""
    check_transition("suspended", "executing", "answered")  # type: ignore[arg-type]
