"""A planned approval: the plan itself asks. It knows nothing of the tool policy and never satisfies it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from condor.core.compiler.leaves.step import LeafStep, Settle, Suspend
from condor.core.outcome import StepOutcome, StepStatus
from condor.core.suspend.identity import approval_step_contract
from condor.core.suspend.payload import SuspendRequest
from condor.core.suspend.reason import Origin, ReasonCode
from condor.core.suspend.resume import Answer, resume_schema
from condor.core.values import dataclass

if TYPE_CHECKING:
    from condor.core.graph.compiled import Node


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovalInput:
    """A planned approval and its answer so far."""

    node: Node
    #: The answer to this step's approved card, if there is one.
    answer: Answer | None = None


def approval_leaf(given: ApprovalInput) -> LeafStep:
    """Ask, or go on when a person said yes."""
    node = given.node
    if given.answer is not None and given.answer.approved:
        return Settle(outcome=StepOutcome(status=StepStatus.SUCCEEDED, value={"approved": True}))
    return Suspend(
        request=SuspendRequest(
            step_id=node.step_id,
            reason=ReasonCode.APPROVAL,
            origin=Origin.PLANNED_APPROVAL,
            contract_hash=approval_step_contract(step_id=node.step_id, title=node.title, body=node.body),
            resume_schema=resume_schema(ReasonCode.APPROVAL),
            headline=node.title,
            message=node.body,
            requester_may_answer=True,
        )
    )
