"""The event log's words, and its one JSON shape."""

from __future__ import annotations

from condor.core.run import EventKind, RunEvent

#: The closed set of the contract.
CONTRACT = {
    *("run.started", "plan.ready", "plan.revised", "step.started", "step.settled", "card.rendered"),
    *("approval.required", "clarification.required", "reconcile.required", "suspension.closed"),
    *("breaker.stopped", "text.delta", "text.done", "claim.corrected", "run.ended"),
}


def test_the_kinds_are_the_contract() -> None:
    """Clients know every kind there will ever be in this version."""
    assert set(EventKind) == CONTRACT


def test_an_event_is_one_flat_object() -> None:
    """Facts stand beside the head, in the order they were given."""
    event = RunEvent(run_id="run_1", seq=3, kind=EventKind.STEP_STARTED, at="t", facts={"step": "s1", "n": 1})
    assert list(event.to_json().items()) == [
        ("type", "step.started"),
        ("runId", "run_1"),
        ("seq", 3),
        ("at", "t"),
        ("step", "s1"),
        ("n", 1),
    ]


def test_no_fact_can_pose_as_another_event() -> None:
    """A fact named like a part of the head does not replace it."""
    event = RunEvent(
        run_id="run_1",
        seq=3,
        kind=EventKind.STEP_STARTED,
        at="t",
        facts={"type": "run.ended", "runId": "run_2", "seq": 9, "at": "never"},
    )
    assert event.to_json() == {"type": "step.started", "runId": "run_1", "seq": 3, "at": "t"}
