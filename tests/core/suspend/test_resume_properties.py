"""Laws of the answer reader over anything that can be sent."""

from __future__ import annotations

import contextlib
import datetime
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from condor.core.errors import AnswerInvalid
from condor.core.outcome import InputField
from condor.core.suspend import ReasonCode, clarification_resume_schema, read_resume, resume_schema
from tests.core.strategies import json_values, junk

SCHEMA, _ = clarification_resume_schema(
    [
        InputField(name="dose", type="decimal", hint={"min": 0}),
        InputField(name="when", type="date"),
        InputField(name="tests", type="code", hint={"multi": True, "enum": ["a", "b"]}),
    ],
    datetime.date(2026, 11, 30),
)
KEYS = ["approved", "reason", "happened", "dose", "when", "tests", "approverId"]
bodies = st.one_of(
    junk,
    st.dictionaries(
        st.sampled_from(KEYS), st.one_of(st.sampled_from([True, False, "true", 1, "2026-11-30", ["a"]]), junk)
    ),
)


@given(bodies)
def test_only_true_itself_approves(body: Any) -> None:
    """Of everything that can be sent, one shape is a yes."""
    with contextlib.suppress(AnswerInvalid):
        answer = read_resume(ReasonCode.APPROVAL, resume_schema(ReasonCode.APPROVAL), body)
        assert set(body) <= {"approved", "reason"}
        assert type(body["approved"]) is bool
        assert answer.approved is body["approved"]
        assert not answer.happened


@given(st.sampled_from([ReasonCode.CLARIFICATION, ReasonCode.RECONCILE]), bodies)
def test_no_other_card_can_approve(reason: ReasonCode, body: Any) -> None:
    """An answer to another kind of card approves nothing, whatever it says; and nothing else is raised."""
    schema = SCHEMA if reason is ReasonCode.CLARIFICATION else resume_schema(reason)
    with contextlib.suppress(AnswerInvalid):
        answer = read_resume(reason, schema, body)
        assert not answer.approved
        assert isinstance(answer.reason, str)
        assert set(answer.body) == set(schema["required"])  # type: ignore[call-overload]


@given(st.dictionaries(st.text(max_size=6), json_values, max_size=3), junk)
def test_an_approval_is_read_by_its_fixed_shape(properties: dict[str, Any], body: Any) -> None:
    """Whatever schema a stored card carries, an approval is read the same way."""
    fixed = resume_schema(ReasonCode.APPROVAL)
    assert _read(fixed, body) == _read({"properties": properties}, body)


def _read(schema: dict[str, Any], body: Any) -> str:
    try:
        return repr(read_resume(ReasonCode.APPROVAL, schema, body))
    except AnswerInvalid as refusal:
        return str(refusal)
