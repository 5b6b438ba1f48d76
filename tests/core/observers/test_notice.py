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
