"""THE SUSPEND CONTRACT: why a run waits, for whom, and what answers it.

Whoever asks (the tool policy, a missing input, a planned approval, a reconciliation), the request
has one shape, one identity and one reader of its answer.
"""

from condor.core.suspend.approval_schema import approval_resume_schema, is_approval_schema
from condor.core.suspend.clarification_schema import clarification_resume_schema
from condor.core.suspend.edit import CallEdit, apply_edit, edit_form, read_edit
from condor.core.suspend.evidence import CardEvidence
from condor.core.suspend.identity import (
    approval_step_contract,
    idempotency_key,
    plan_mutation_contract,
    suspend_id,
    tool_contract,
)
from condor.core.suspend.payload import SuspendRequest
from condor.core.suspend.reason import Origin, ReasonCode, read_reason_code
from condor.core.suspend.resume import Answer, read_resume, resume_schema

__all__ = [
    "Answer",
    "CallEdit",
    "CardEvidence",
    "Origin",
    "ReasonCode",
    "SuspendRequest",
    "apply_edit",
    "approval_resume_schema",
    "approval_step_contract",
    "clarification_resume_schema",
    "edit_form",
    "idempotency_key",
    "is_approval_schema",
    "plan_mutation_contract",
    "read_edit",
    "read_reason_code",
    "read_resume",
    "resume_schema",
    "suspend_id",
    "tool_contract",
]
