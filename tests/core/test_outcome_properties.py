"""The law of unknown outcomes, over anything a tool can do."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from condor.core.errors import RecordMoved, ToolError
from condor.core.ids import canonical_json
from condor.core.outcome import (
    InputField,
    NeedInput,
    StepOutcome,
    StepStatus,
    TimedOut,
    ToolResult,
    classify_step_outcome,
)
from tests.core.strategies import json_values, junk

errors = st.one_of(
    st.builds(
        ToolError,
        st.text(max_size=5),
        retryable=st.booleans(),
        effect=st.sampled_from(["none", "unknown", "None", ""]),
        code=st.one_of(st.none(), st.text(max_size=5)),
    ),
    st.builds(RecordMoved, st.text(max_size=5)),
    st.sampled_from([ValueError("x"), KeyError(1), RuntimeError(), OSError(5, "io"), RecursionError()]),
    st.builds(Exception, junk),
)
returned = st.one_of(
    junk,
    errors,
    st.builds(TimedOut, seconds=st.floats(0, 100)),
    st.builds(
        ToolResult,
        outcome=st.one_of(st.sampled_from(["succeeded", "degraded", "failed", "skipped"]), junk),
        value=junk,
        needs_replan=junk,
    ),
    st.builds(
        NeedInput,
        fields=st.one_of(junk, st.tuples(st.builds(InputField, name=junk, label=junk, type=junk, hint=junk))),
        message=junk,
    ),
)


@given(returned, st.booleans())
def test_the_classifier_is_total(given_back: Any, effectful: bool) -> None:
    """Whatever a tool does, there is an outcome, and it can be stored."""
    got = classify_step_outcome(given_back, effectful=effectful)
    if isinstance(got, StepOutcome):
        canonical_json([got.status, got.value, got.code, got.message, got.needs_replan, got.may_retry])
    else:
        assert got is given_back
        assert got.fields


@given(returned)
def test_an_effect_is_called_failed_only_where_its_absence_is_said(given_back: Any) -> None:
    """Exceptions, silence and rubbish are unknown: only the tool's own word makes an effect failed."""
    got = classify_step_outcome(given_back, effectful=True)
    if not isinstance(got, StepOutcome) or got.status is not StepStatus.FAILED:
        return
    match given_back:
        case ToolError():
            assert given_back.effect == "none"
        case _:
            assert isinstance(given_back, ToolResult)
            assert given_back.outcome == "failed"


@given(returned)
def test_a_read_is_never_unknown(given_back: Any) -> None:
    """What changes nothing cannot have changed something."""
    got = classify_step_outcome(given_back, effectful=False)
    assert not isinstance(got, StepOutcome) or got.status is not StepStatus.UNKNOWN


@given(st.one_of(errors, st.builds(TimedOut, seconds=st.floats(0, 100))))
def test_an_exception_is_never_done(given_back: Any) -> None:
    """Whatever was raised, the step is not reported as done, skipped or partly done."""
    for effectful in (True, False):
        got = classify_step_outcome(given_back, effectful=effectful)
        assert isinstance(got, StepOutcome)
        assert got.status in (StepStatus.FAILED, StepStatus.UNKNOWN)


@given(json_values)
def test_json_is_success_and_kept_as_it_is(value: Any) -> None:
    """The value of a step is what its tool returned."""
    for effectful in (True, False):
        expected = StepOutcome(status=StepStatus.SUCCEEDED, value=value)
        assert expected == classify_step_outcome(value, effectful=effectful)
