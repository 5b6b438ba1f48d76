"""What an approval is bound to, and the identity that makes one wait one card."""

from __future__ import annotations

import itertools
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from condor.core.ids import Digest
from condor.core.policy import HitlTier, PolicyClass
from condor.core.suspend import (
    CardEvidence,
    ReasonCode,
    approval_step_contract,
    idempotency_key,
    suspend_id,
    tool_contract,
)
from tests.core.strategies import json_objects, texts

CALL: dict[str, Any] = {
    "tool": "medication.prescribe",
    "descriptor": Digest("sha256:d"),
    "op": "create",
    "resolved_input": {"patient": "Patient/1", "dose": 5, "notes": ["a", "b"]},
    "policy_class": PolicyClass.MUTATE,
    "effective_tier": HitlTier.HIGH,
    "versions": {"Patient/1": "3", "MedicationRequest/9": "1"},
}
OTHER_CALLS: list[dict[str, Any]] = [
    {"tool": "medication.prescribe2"},
    {"descriptor": "sha256:e"},
    {"op": "update"},
    {"op": None},
    {"resolved_input": {"patient": "Patient/1", "dose": 5, "notes": ["b", "a"]}},
    {"resolved_input": {"patient": "Patient/1", "dose": 5.5, "notes": ["a", "b"]}},
    {"resolved_input": {"patient": "Patient/1", "dose": "5", "notes": ["a", "b"]}},
    {"resolved_input": {"patient": "Patient/1", "dose": 5, "notes": ["a", "b"], "x": None}},
    {"resolved_input": {}},
    {"policy_class": PolicyClass.EXEC},
    {"policy_class": None},
    {"effective_tier": HitlTier.LOW},
    {"effective_tier": None},
    {"versions": {"Patient/1": "4", "MedicationRequest/9": "1"}},
    {"versions": {"Patient/1": "3"}},
    {"versions": {}},
]


def test_the_contract_changes_with_each_part() -> None:
    """Change a byte of what would run, or of the record it was shown on, and it is another contract."""
    hashes = [tool_contract(**{**CALL, **changes}) for changes in ({}, *OTHER_CALLS)]
    assert len(set(hashes)) == len(hashes)


def test_the_contract_does_not_change_with_order() -> None:
    """The same call and the same versions, written in another order, are the same contract."""
    turned = {
        **CALL,
        "versions": dict(reversed(CALL["versions"].items())),
        "resolved_input": dict(reversed(CALL["resolved_input"].items())),
    }
    assert tool_contract(**CALL) == tool_contract(**turned)


def test_a_class_is_the_same_as_word_and_as_member() -> None:
    """A verdict read back from a store has the contract of the one that was made."""
    assert tool_contract(**CALL) == tool_contract(
        **{**CALL, "policy_class": "mutate", "effective_tier": "high"}
    )


def test_what_is_no_class_has_a_contract_that_lasts() -> None:
    """An unknown class is the same contract after a restart: no address of an object is in it."""
    first, second = (tool_contract(**{**CALL, "policy_class": object(), "op": ["x"]}) for _ in range(2))
    assert first == second


def test_the_input_decides_where_an_op_is_no_word() -> None:
    """An op of another type is in the input, and that is in the contract."""
    one, other = ({**CALL, "op": op, "resolved_input": {"op": op}} for op in (1, [1]))
    assert tool_contract(**one) != tool_contract(**other)


def test_a_planned_approval_has_a_contract_of_its_own() -> None:
    """The step itself is what is approved; it can never be the contract of a tool call."""
    step = {"step_id": "s2", "title": "Go on?", "body": ""}
    others = [{"step_id": "s3"}, {"title": "Go on"}, {"body": "x"}, {"title": "", "body": "Go on?"}]
    hashes = [approval_step_contract(**{**step, **changes}) for changes in ({}, *others)]
    assert len(set(hashes)) == len(hashes)
    assert approval_step_contract(**step) == hashes[0]


WAIT: dict[str, Any] = {
    "run_id": "run_1",
    "step_id": "s1",
    "contract_hash": "sha256:c",
    "reason": ReasonCode.APPROVAL,
    "generation": 1,
}
OTHER_WAITS: list[dict[str, Any]] = [
    {"run_id": "run_2"},
    {"step_id": "s2"},
    {"contract_hash": "sha256:d"},
    {"reason": ReasonCode.CLARIFICATION},
    {"reason": ReasonCode.RECONCILE},
    {"generation": 2},
    {"run_id": "run_1s", "step_id": "1"},
]


def test_one_identity_is_one_card() -> None:
    """The same wait has the same id on any path and after any restart; any changed part is another wait."""
    ids = [suspend_id(**{**WAIT, **changes}) for changes in ({}, *OTHER_WAITS)]
    assert len(set(ids)) == len(ids)
    assert suspend_id(**WAIT) == ids[0]


def test_an_id_is_opaque_and_of_one_shape() -> None:
    """``sus_`` and 26 characters of base32: safe in a URL, a shell and a log."""
    assert re.fullmatch(r"sus_[a-z2-7]{26}", suspend_id(**WAIT))
    key = idempotency_key(run_id="r", step_id="s", tool="t", resolved_input={})
    assert re.fullmatch(r"idem_[a-z2-7]{26}", key)


@given(st.permutations(["run_id", "step_id", "contract_hash"]), texts, texts, texts)
def test_parts_of_an_identity_do_not_run_into_each_other(names: list[str], a: str, b: str, c: str) -> None:
    """Two identities with different parts never share an id, however the parts are cut."""
    one = {**WAIT, **dict(zip(names, (a, b, c), strict=True))}
    for first, second in itertools.combinations(names, 2):
        other = {**one, first: one[second], second: one[first]}
        assert (suspend_id(**one) == suspend_id(**other)) == (one == other)


EFFECT: dict[str, Any] = {"run_id": "r", "step_id": "s", "tool": "t", "resolved_input": {"a": 1}}


@pytest.mark.parametrize(
    "changes", [{"run_id": "q"}, {"step_id": "u"}, {"tool": "v"}, {"resolved_input": {"a": 2}}]
)
def test_one_effect_has_one_key(changes: dict[str, Any]) -> None:
    """Over retries and re-asks the key stays; another call of the same run has another."""
    assert idempotency_key(**EFFECT) == idempotency_key(**EFFECT)
    assert idempotency_key(**EFFECT) != idempotency_key(**{**EFFECT, **changes})


@given(json_objects, json_objects)
def test_equal_input_is_equal_contract(first: dict[str, Any], second: dict[str, Any]) -> None:
    """Two inputs share a contract exactly when they are the same JSON."""
    one, other = ({**CALL, "resolved_input": given_input} for given_input in (first, second))
    assert (tool_contract(**one) == tool_contract(**other)) == _same_json(first, second)


def _same_json(first: Any, second: Any) -> bool:
    """Equality of JSON: true is not 1, 1.0 is 1, and a tuple is a list."""
    if isinstance(first, bool) or isinstance(second, bool):
        return first is second
    if isinstance(first, dict) and isinstance(second, dict):
        return first.keys() == second.keys() and all(_same_json(first[key], second[key]) for key in first)
    if isinstance(first, list | tuple) and isinstance(second, list | tuple):
        return len(first) == len(second) and all(map(_same_json, first, second))
    return bool(first == second)


ALERT = {"id": "a1", "severity": "critical", "summary": "Interaction"}


def test_evidence_has_a_digest_of_what_was_shown_beside_the_call() -> None:
    """A new alert, a worse one, or other context is another digest; versions are the contract's matter."""
    shown = CardEvidence(
        alerts=(ALERT,), context=({"label": "eGFR", "text": "28"},), versions={"Patient/1": "3"}
    )
    others = [
        CardEvidence(alerts=(), context=shown.context),
        CardEvidence(alerts=(ALERT, {**ALERT, "id": "a2"}), context=shown.context),
        CardEvidence(alerts=({**ALERT, "severity": "warning"},), context=shown.context),
        CardEvidence(alerts=(ALERT,), context=()),
        CardEvidence(alerts=(), context=(ALERT, *shown.context)),
    ]
    digests = [evidence.digest for evidence in (shown, *others)]
    assert len(set(digests)) == len(digests)
    moved = CardEvidence(alerts=shown.alerts, context=shown.context, versions={"Patient/1": "4"})
    assert shown.digest == moved.digest


def test_evidence_leaves_out_what_is_not_there() -> None:
    """A card has no empty parts; a nought is not empty."""
    assert CardEvidence().to_json() == {}
    full = CardEvidence(
        subject={"reference": "Patient/1"},
        summary="Amoxicillin 500 mg",
        before=0,
        after=False,
        alerts=(ALERT,),
        context=({"label": "x", "text": "y"},),
        versions={"Patient/1": "3"},
        requires=("override_reason",),
    )
    assert full.to_json() == {
        "subject": {"reference": "Patient/1"},
        "summary": "Amoxicillin 500 mg",
        "before": 0,
        "after": False,
        "alerts": [ALERT],
        "context": [{"label": "x", "text": "y"}],
        "versions": {"Patient/1": "3"},
    }
