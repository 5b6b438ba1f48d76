"""The plan is told whole where it changed, and no more often."""

from __future__ import annotations

from typing import Any

from condor.core.frames.plan_revised import PlanView, plan_revised_data
from condor.core.outcome import StepStatus
from condor.core.run import EventKind, RunEvent
from tests.core.frames.logs import AT, RUN

GRAPH: dict[str, Any] = {
    "revision": 1,
    "nodes": [
        {"id": "s1", "kind": "tool", "tool": "chart.read", "after": []},
        {"id": "s2", "kind": "tool", "tool": "chart.write", "after": ["s1"], "title": "Write it down"},
        {"id": "s3", "kind": "approval", "after": ["s2"]},
    ],
}


def view() -> PlanView:
    """A plan whose first tool has a name of its own."""
    plan = PlanView({"chart.read": "Read the chart"})
    plan.adopt(GRAPH, 1)
    return plan


def test_a_plan_is_told_with_titles_statuses_and_what_waits_for_what() -> None:
    """The plan's title, else the tool's, else the step's id."""
    assert view().news() == {
        "revision": 1,
        "steps": [
            {"id": "s1", "title": "Read the chart", "status": "pending", "deps": []},
            {"id": "s2", "title": "Write it down", "status": "pending", "deps": ["s1"]},
            {"id": "s3", "title": "s3", "status": "pending", "deps": ["s2"]},
        ],
    }


def test_what_did_not_change_is_not_told_again() -> None:
    """News once; a status that is set as it was is none."""
    plan = view()
    plan.news()
    plan.put("s1", StepStatus.PENDING)
    assert plan.news() is None
    plan.put("s1", StepStatus.SUCCEEDED)
    assert plan.news() is not None
    assert plan.news() is None


def test_a_revised_plan_keeps_how_its_steps_stand() -> None:
    """A substitute takes over its step's place, not its history."""
    plan = view()
    plan.put("s1", StepStatus.SUCCEEDED)
    plan.adopt(GRAPH, 2)
    news: Any = plan.news()
    assert (news["revision"], news["steps"][0]["status"]) == (2, "succeeded")


def test_an_ended_run_leaves_nothing_open() -> None:
    """What never began is skipped; what began without an outcome is unknown, and stays so."""
    plan = view()
    plan.put("s1", StepStatus.STARTED)
    plan.put("s2", StepStatus.SUSPENDED)
    plan.end()
    news: Any = plan.news()
    assert [step["status"] for step in news["steps"]] == ["unknown", "skipped", "skipped"]
    plan.end()
    assert plan.news() is None


def test_an_erased_plan_says_so() -> None:
    """No steps are invented."""
    plan = PlanView({})
    plan.adopt(None, 3)
    assert plan.news() == {"revision": 3, "steps": [], "erased": True}
    assert plan.title_of("s1", "t") == ""


def test_without_a_plan_there_is_no_news() -> None:
    """A request that nobody understood has no plan, not an empty one."""
    plan = PlanView({})
    plan.put("s1", StepStatus.STARTED)
    assert plan.news() is None


def test_a_revision_tells_its_verb_and_place_and_nothing_else() -> None:
    """Facts that clients have no use for stay inside."""
    facts: dict[str, Any] = {
        "revision": 2,
        "verb": "skip-remaining",
        "stepId": "s2",
        "graph": "graph",
        "evidence": "sha256:0",
    }
    event = RunEvent(run_id=RUN, seq=5, kind=EventKind.PLAN_REVISED, at=AT, facts=facts)
    assert plan_revised_data(event) == {"revision": 2, "verb": "skip-remaining", "stepId": "s2"}
