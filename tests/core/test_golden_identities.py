"""Identities are for ever: cards, approvals and idempotency keys of an older version must still be found.

``golden_identities.json`` was written once. A value in it that changes makes every open card stale and
every journalled key unknown: that is a new version of the identity, never a refresh of this file.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from condor.core.ids import canonical_json, digest_of, short_token
from condor.core.policy import ArgSpec, HitlTier, PolicyClass, ToolDescriptor
from condor.core.suspend import (
    CardEvidence,
    ReasonCode,
    approval_step_contract,
    idempotency_key,
    suspend_id,
    tool_contract,
)

GOLDEN = Path(__file__).parent / "golden_identities.json"

INPUT: dict[str, Any] = {
    "patient": "Patient/1900",
    "dose": 2.5,
    "note": "\u20ac \u2028 \U0001f600 \x0f",
    "times": [1, None, True, {"z": [], "a": {}}],
    "\u00e9": 1e21,
}
DESCRIPTOR = ToolDescriptor(
    name="medication.prescribe",
    title="Prescribe",
    description="Not part of the digest",
    policy_class=PolicyClass.MUTATE,
    hitl_tier=HitlTier.HIGH,
    ops=frozenset({"create", "cancel"}),
    op_arg="op",
    roles=frozenset({"doctor", "pharmacist"}),
    approver_roles=frozenset({"doctor"}),
    requester_excluded=True,
    metadata={"mutating": True},
    args=(
        ArgSpec(name="op", label="What", type="code", required=True, hint={"enum": ["create", "cancel"]}),
        ArgSpec(name="dose", type="decimal", hint={"min": 0.5}),
    ),
)
BARE = ToolDescriptor(name="patient.search", policy_class=PolicyClass.READ)


def now() -> dict[str, str]:
    """Every identity, as this version makes it."""
    contract = tool_contract(
        tool=DESCRIPTOR.name,
        descriptor=DESCRIPTOR.digest,
        op="create",
        resolved_input=INPUT,
        policy_class=PolicyClass.MUTATE,
        effective_tier=HitlTier.HIGH,
        versions={"Patient/1900": "3", "MedicationRequest/7": "1"},
    )
    waits = {
        f"suspend id, {reason}, generation {generation}": suspend_id(
            run_id="run_01", step_id="s3/s1", contract_hash=contract, reason=reason, generation=generation
        )
        for reason in ReasonCode
        for generation in (1, 2)
    }
    return {
        "canonical JSON": canonical_json(INPUT).decode(),
        "digest": digest_of(INPUT),
        "digest of nothing": digest_of({}),
        "token": short_token(INPUT),
        "descriptor": DESCRIPTOR.digest,
        "descriptor, bare": BARE.digest,
        "contract": contract,
        "contract, bare": tool_contract(
            tool=BARE.name,
            descriptor=BARE.digest,
            op=None,
            resolved_input={},
            policy_class=PolicyClass.READ,
            effective_tier=None,
            versions={},
        ),
        "contract of a planned approval": approval_step_contract(step_id="s2", title="Go on?", body="why"),
        "idempotency key": idempotency_key(
            run_id="run_01", step_id="s3/s1", tool=DESCRIPTOR.name, resolved_input=INPUT
        ),
        "evidence": CardEvidence(
            alerts=({"id": "a1", "severity": "critical"},), context=({"label": "eGFR", "text": "28"},)
        ).digest,
        "evidence of nothing": CardEvidence().digest,
        **waits,
    }


STORED: dict[str, str] = json.loads(GOLDEN.read_text(encoding="utf-8")) if GOLDEN.is_file() else {}


def test_nothing_was_left_out() -> None:
    """Every identity of this version has its golden value, and none was dropped."""
    assert set(STORED) == set(now())


@pytest.mark.parametrize("name", now())
def test_an_identity_is_what_it_was(name: str) -> None:
    """A later version makes the same id of the same thing."""
    assert STORED[name] == now()[name]
