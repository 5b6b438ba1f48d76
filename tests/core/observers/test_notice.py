"""What a notice says of a step, where another tool was to do it."""

from __future__ import annotations

from typing import Any

import pytest

from condor.core.observers import StepEvidence, compose_closing
from condor.core.observers.claim_evidence import ClaimEvidence
from condor.core.outcome import StepStatus

_DENIED = {"status": StepStatus.SKIPPED, "code": "denied", "declined_by": "Dr. Rao", "reason": "no."}
_FAILED = {"status": StepStatus.FAILED, "message": "busy", "no_stand_in": "No other tool could: x."}
_CASES: dict[str, tuple[dict[str, Any], str]] = {
    "declined": (_DENIED, "was declined by Dr. Rao (no). It was not run."),
    "expired": (
        {"status": StepStatus.SKIPPED, "code": "expired"},
        "was not approved in time. It was not run.",
    ),
    "failed": (_FAILED, "failed: busy. No other tool could: x."),
    "not reached": ({"status": StepStatus.SKIPPED, "code": "not_reached"}, "was not reached."),
    "waiting": (
        {"status": StepStatus.SKIPPED, "code": "withdrawn", "gated": True, "waiting": True},
        "was still waiting for an answer at the end. It was not run.",
    ),
}


@pytest.mark.parametrize("case", _CASES)
def test_a_stand_in_that_did_not_do_it_either(case: str) -> None:
    """The notice names what was asked for, what was to stand in for it, and why it came to nothing."""
    how, said = _CASES[case]
    whole: dict[str, Any] = {"step_id": "s", "tool": "fax.send", "noun": "the fax", "effectful": True, **how}
    step = StepEvidence(instead_of="the order", instead_why="503", **whole)
    assert compose_closing(ClaimEvidence(steps=(step,))).text == (
        f"⚠ Not completed: the order was not done (503), and the fax, which was to stand in for it, {said}"
    )


def test_a_stand_in_of_unknown_outcome() -> None:
    """Both are named: what was asked for, and what nobody knows the end of."""
    step = StepEvidence(
        step_id="s", tool="fax.send", noun="the fax", effectful=True, status=StepStatus.UNKNOWN,
        message="no answer within 3 s", instead_of="the order", instead_why="503",
    )  # fmt: skip
    assert compose_closing(ClaimEvidence(steps=(step,))).text == (
        "⚠ Not completed: the order was not done (503), and it is not known whether the fax happened "
        "instead: no answer within 3 s. Check the record."
    )


@pytest.mark.parametrize("code", ["denied", "expired", "withdrawn"])
def test_what_was_run_once_is_not_said_to_have_been_never_run(code: str) -> None:
    """A write that was found not to have happened and was asked about anew."""
    waiting = code == "withdrawn"
    step = StepEvidence(
        step_id="s", tool="pay", noun="the payment", effectful=True, status=StepStatus.SKIPPED, code=code,
        declined_by="Bob", attempted=True, gated=True, waiting=waiting,
    )  # fmt: skip
    assert compose_closing(ClaimEvidence(steps=(step,))).text.endswith(" It was not run again.")
