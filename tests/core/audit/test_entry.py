"""What an audit entry says, and in which bytes."""

from __future__ import annotations

import dataclasses
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from condor.core.audit import DECISIONS, AuditEntry, encode_entry
from condor.core.ids import canonical_json

#: The names on the wire, as every client knows them.
WIRE_NAMES = {
    "at": "at",
    "tenant_id": "tenantId",
    "run_id": "runId",
    "session_id": "sessionId",
    "step_id": "stepId",
    "approval_id": "approvalId",
    "suspend_id": "suspendId",
    "decision": "decision",
    "reason_code": "reasonCode",
    "origin": "origin",
    "tool": "tool",
    "op": "op",
    "policy_class": "policyClass",
    "hitl_tier": "hitlTier",
    "effective_tier": "effectiveTier",
    "promotions": "promotions",
    "rule_id": "ruleId",
    "actor": "actor",
    "contract_hash": "contractHash",
    "reason_digest": "reasonDigest",
    "payload_digest": "payloadDigest",
}
REQUIRED = {"at", "tenant_id", "run_id", "session_id"}

texts = st.text(st.characters(exclude_categories=["Cs"]))


@st.composite
def entries(draw: st.DrawFn) -> AuditEntry:
    fields = {name: draw(texts if name in REQUIRED else texts | st.none()) for name in WIRE_NAMES}
    fields["decision"] = draw(st.sampled_from(DECISIONS))
    promotions = tuple(draw(st.lists(texts, max_size=3)))
    return AuditEntry(**{**fields, "promotions": promotions})  # type: ignore[arg-type]


@given(entries())
def test_its_bytes_are_canonical(entry: AuditEntry) -> None:
    """The bytes written out by hand are those of RFC 8785, without what is None."""
    wanted = {
        wire: list(value) if isinstance(value, tuple) else value
        for name, wire in WIRE_NAMES.items()
        if (value := getattr(entry, name)) not in (None, ())
    }
    assert encode_entry(entry) == canonical_json(wanted)


def test_every_field_is_on_the_wire() -> None:
    """No field can be added to an entry and be left out of what is hashed."""
    assert [field.name for field in dataclasses.fields(AuditEntry)] == list(WIRE_NAMES)
    fields = {name: name for name in WIRE_NAMES}
    body = encode_entry(AuditEntry(**{**fields, "promotions": ("promotions",)}))  # type: ignore[arg-type]
    assert set(json.loads(body)) == set(WIRE_NAMES.values())


def test_the_decisions_are_the_contracts() -> None:
    """The closed set, word for word."""
    assert " ".join(DECISIONS) == (
        "run-started allowed suspended approved denied answered edited withdrawn expired executed unknown "
        "reconciled plan-revised plan-kept stopped corrected decision-rejected run-ended"
    )


def test_a_text_without_canonical_form_is_refused() -> None:
    """A lone surrogate has no bytes that every language agrees on."""
    with pytest.raises(ValueError, match="surrogates"):
        encode_entry(AuditEntry(at="", run_id="r", session_id="s", decision="allowed", actor="\ud800"))
