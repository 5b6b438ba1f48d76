"""What a leaf hands back when it cannot go on: a value, never an exception."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING

from condor.core.values import dataclass

if TYPE_CHECKING:
    from collections.abc import Mapping

    from condor.core.ids import Digest, Json, StepId
    from condor.core.policy.verdict import PolicyVerdict
    from condor.core.suspend.edit import CallEdit
    from condor.core.suspend.reason import Origin, ReasonCode


@dataclass(frozen=True, slots=True, kw_only=True)
class SuspendRequest:
    """One request to a person, before it has a generation and an id."""

    step_id: StepId
    reason: ReasonCode
    origin: Origin
    contract_hash: Digest
    #: Tool name; empty for a planned approval.
    tool: str = ""
    op: str | None = None
    #: Resolved input of the call; empty for a planned approval.
    args: Mapping[str, Json] = field(default_factory=dict)
    #: The verdict that gated; None where the policy did not.
    verdict: PolicyVerdict | None = None
    #: The rule of recovery's gate that asked; empty where the policy did, or nobody.
    gate_rule: str = ""
    #: As declared, beside the effective tier of the verdict.
    hitl_tier: str | None = None
    #: What the answer must look like.
    resume_schema: Mapping[str, object] = field(default_factory=dict)
    ui_schema: Mapping[str, object] = field(default_factory=dict)
    #: From the policy and the descriptor, never from a model.
    headline: str = ""
    #: One sentence that says what is missing or in doubt.
    message: str = ""
    #: What the gate read from the record.
    evidence: Mapping[str, Json] = field(default_factory=dict)
    versions: Mapping[str, str] = field(default_factory=dict)
    evidence_digest: Digest | None = None
    #: Roles that may answer; empty means everybody signed in.
    answer_roles: frozenset[str] = frozenset()
    #: The requester may answer too, whatever the roles say (clarifications).
    requester_may_answer: bool = False
    requester_excluded: bool = False
    #: Form of the arguments that may be edited on the card; empty where none may.
    edit_schema: Mapping[str, object] = field(default_factory=dict)
    edit_ui: Mapping[str, object] = field(default_factory=dict)
    #: Edits that made the call what it is, oldest first.
    edits: tuple[CallEdit, ...] = ()
    #: Digest of the call and ``verb target`` of its effects: what a denial of this card denies.
    call_digest: Digest | None = None
    effects: frozenset[str] = frozenset()
    #: Digest of the descriptor as shown, to say why a card is stale.
    descriptor_digest: Digest | None = None
    #: A reconcile card does not expire.
    expires: bool = True
