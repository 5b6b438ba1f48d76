"""Answers to cards: the approver is who is signed in, never who a body names."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from fastapi import APIRouter, Request, Response

from condor.core.errors import AnswerRefused, CondorError, NotAnApprover, UnknownId
from condor.runtime.access import readable_run
from condor.server.answers import accepted, answers, body_of
from condor.server.edge import Here, SignedIn
from condor.server.problems import code_of
from condor.server.reading import read_model
from condor.server.shapes import Accepted, ApproveBody, ResumeBody

if TYPE_CHECKING:
    from collections.abc import Iterator

    from condor.core.run import Principal
    from condor.core.suspend import Answer
    from condor.server.edge import Edge

router = APIRouter(prefix="/runs", tags=["answers"])

_TAKEN = answers(202, "Taken: this answer won", Accepted, 404, 409, 429, reads_body=True)


@router.post(
    "/{run_id}/approve",
    summary="Approve or deny a card",
    responses=_TAKEN,
    openapi_extra=body_of(ApproveBody),
    status_code=202,
)
async def approve(run_id: str, request: Request, here: Here, caller: SignedIn) -> Response:
    """Exactly the call that the card shows, once; or not at all."""
    await readable_run(here.condor.store, caller.principal, run_id)
    body = await read_model(request, ApproveBody)
    data: dict[str, Any] = {"approved": body.approved}
    if "reason" in body.model_fields_set:
        data["reason"] = body.reason
    await give(here, caller.principal, run_id, body.suspend_id, data)
    return accepted(runId=run_id, suspendId=body.suspend_id)


@router.post(
    "/{run_id}/resume",
    summary="Answer any card",
    responses=_TAKEN,
    openapi_extra=body_of(ResumeBody),
    status_code=202,
)
async def resume(run_id: str, request: Request, here: Here, caller: SignedIn) -> Response:
    """An approval, the answers to a form, or what became of a call of unknown outcome."""
    await readable_run(here.condor.store, caller.principal, run_id)
    body = await read_model(request, ResumeBody)
    await give(here, caller.principal, run_id, body.suspend_id, body.resume_data)
    return accepted(runId=run_id, suspendId=body.suspend_id)


async def give(here: Edge, who: Principal, run_id: str, suspend_id: str, data: object) -> None:
    """Give one answer; those that had no right to be given are counted against who gives them.

    Raises:
        Refused: ``too_many_requests``.
        UnknownId, AnswerRefused: nothing was changed.
    """
    with counted(here, who):
        await here.condor.resume(run_id, suspend_id, data, principal=who)


async def check(here: Edge, who: Principal, run_id: str, suspend_id: str, data: object) -> Answer:
    """The answer as it would be taken; nothing of it is stored.

    Raises:
        Refused: ``too_many_requests``.
        UnknownId, AnswerRefused: why it would not.
    """
    with counted(here, who, taken=None):
        return await here.condor.check_answer(run_id, suspend_id, data, principal=who)


@contextmanager
def counted(here: Edge, who: Principal, *, taken: str | None = "taken") -> Iterator[None]:
    """Count what becomes of an answer; those that had no right to be given, against who gives them.

    Args:
        taken: what it is counted as where it was taken; None: nothing was.

    Raises:
        Refused: ``too_many_requests``.
    """
    here.refusals.check(who.id)
    try:
        yield
    except (AnswerRefused, UnknownId) as refusal:
        if isinstance(refusal, NotAnApprover | UnknownId):
            here.refusals.count(who.id)
        here.metrics.answer(code_of(refusal))
        raise
    except CondorError:
        here.metrics.answer("error")
        raise
    if taken is not None:
        here.metrics.answer(taken)


__all__ = ["check", "counted", "give", "router"]
