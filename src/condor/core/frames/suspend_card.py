"""The suspend card: one shape for every gate. Only the suspend funnel draws one.

Law 1: headline, verb, target and risk come from the policy and the descriptor; a model's words stand
apart, if at all.
Law 2: secrets are masked at any depth; the contract hash is over the raw arguments.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from condor.core.frames.masking import masked_members

if TYPE_CHECKING:
    from condor.core.ids import Json
    from condor.core.suspend.payload import SuspendRequest


def suspend_card(
    request: SuspendRequest, *, suspend_id: str, run_id: str, generation: int, expires_at: str | None
) -> dict[str, Json]:
    """The card as stored and shown; its ``status`` is added from the suspension where it is read."""
    card: dict[str, Json] = {
        "kind": request.reason,
        "suspendId": suspend_id,
        "runId": run_id,
        "stepId": request.step_id,
        "contractHash": request.contract_hash,
        "reasonCode": request.reason,
        "origin": request.origin,
        "generation": generation,
        "toolName": request.tool,
        "toolInput": masked_members(request.args),
        "headline": request.headline,
        "resumeSchema": request.resume_schema,  # type: ignore[dict-item]
    }
    if request.op is not None:
        card["op"] = request.op
    if request.ui_schema:
        card["uiSchema"] = request.ui_schema  # type: ignore[assignment]
    if request.message:
        card["message"] = request.message
    if request.evidence:
        card["evidence"] = masked_members(request.evidence)
    if request.edit_schema:
        card["editSchema"] = request.edit_schema  # type: ignore[assignment]
        if request.edit_ui:
            card["editUiSchema"] = request.edit_ui  # type: ignore[assignment]
    if request.edits:
        card["edits"] = masked_members([edit.to_json() for edit in request.edits])
    if expires_at is not None:
        card["expiresAt"] = expires_at
    if request.verdict is not None:
        card["policy"] = policy_facts(request)
    return card


def policy_facts(request: SuspendRequest) -> dict[str, Json]:
    """The verdict as cards and stored suspensions carry it."""
    verdict = request.verdict
    if verdict is None:
        return {}
    return {
        "policyClass": verdict.policy_class,
        "hitlTier": request.hitl_tier,
        "effectiveTier": verdict.effective_tier,
        "promotions": list(verdict.promotions),
        "ruleId": verdict.rule_id,
    }
