"""The processor catalog, to be displayed, and tool kernels, which only tighten."""

from __future__ import annotations

import asyncio
from typing import Any

from fastapi import APIRouter, Request, Response

from condor.core.errors import NotAllowed
from condor.core.run import LOCAL_PERSON
from condor.processors import PROCESSOR_CATALOG, check_setting, configurations_of
from condor.server.answers import answers, body_of, json_answer
from condor.server.auth.who import Caller
from condor.server.edge import Here, SignedIn
from condor.server.reading import read_model
from condor.server.shapes import KernelBody, KernelTryBody, ProcessorsBody

router = APIRouter(prefix="/admin", tags=["admin"])

#: Who looks at the configuration of a server; only an admin changes it.
_LOOKS = frozenset({"admin", "auditor"})


@router.get(
    "/processor-kernels",
    summary="List the message processors",
    responses=answers(200, "Display metadata, with the schema of each configuration", list[dict[str, Any]]),
)
async def list_processors(here: Here, caller: SignedIn) -> Response:
    """From which a console draws forms; what is wired is a setting of the server (`CONDOR_PROCESSORS`).

    `configuration` is what this server was started with; null: the processor is off.
    """
    _check_looks(caller)
    on = configurations_of(here.condor.processors_setting)
    return json_answer(
        [{**entry.to_json(), "configuration": on.get(entry.id)} for entry in PROCESSOR_CATALOG]
    )


@router.post(
    "/processor-kernels/check",
    summary="Check a configuration of the message processors",
    responses=answers(200, "The setting that says it; nothing was changed", dict[str, Any], reads_body=True),
    openapi_extra=body_of(ProcessorsBody),
)
async def check_processors(request: Request, here: Here, caller: SignedIn) -> Response:
    """Refused as a server would refuse it at its start; what is wired changes with the next start alone."""
    _check_looks(caller)
    body = await read_model(request, ProcessorsBody)
    # Word lists and language models are read from disk.
    checked = await asyncio.to_thread(check_setting, body.processors)
    holds = checked["configuration"] == configurations_of(here.condor.processors_setting)
    return json_answer({**checked, "isInForce": holds})


@router.get(
    "/tool-kernels",
    summary="List the tools with a kernel",
    responses=answers(200, "By name, with every revision", list[dict[str, Any]]),
)
async def list_kernels(here: Here, caller: SignedIn) -> Response:
    """What administrators laid on tools."""
    _check_looks(caller)
    return json_answer(await here.condor.kernels.all())


@router.get(
    "/tool-kernels/{tool}",
    summary="Show a tool's kernel",
    responses=answers(200, "The kernel and its revisions", dict[str, Any], 404),
)
async def show_kernel(tool: str, here: Here, caller: SignedIn) -> Response:
    """Revision 0 where nothing was laid on it."""
    _check_looks(caller)
    return json_answer(await here.condor.kernels.one(tool))


@router.post(
    "/tool-kernels/{tool}/check",
    summary="Show what a kernel would change",
    responses=answers(200, "Verdicts now and then; nothing was laid", dict[str, Any], 404, reads_body=True),
    openapi_extra=body_of(KernelTryBody),
)
async def try_kernel(tool: str, request: Request, here: Here, caller: SignedIn) -> Response:
    """The verdict on a call of each op under each autonomy, now and with the kernel; it is refused as PUT."""
    _check_looks(caller)
    body = await read_model(request, KernelTryBody)
    return json_answer(await here.condor.kernels.tried(tool, body.model_dump(by_alias=True)))


@router.put(
    "/tool-kernels/{tool}",
    summary="Lay a kernel on a tool",
    responses=answers(200, "The kernel, as it holds now", dict[str, Any], 404, 409, reads_body=True),
    openapi_extra=body_of(KernelBody),
)
async def put_kernel(tool: str, request: Request, here: Here, caller: SignedIn) -> Response:
    """Raises a tier to high, narrows approvers, shuts the requester out; never the other way.

    It replaces revision `rev`. What holds there and is not named is refused, not taken off; taking something
    off, or widening it, says why.
    """
    _check_looks(caller)
    body = await read_model(request, KernelBody)
    fields = {"hitl_tier", "approver_roles", "requester_excluded"}
    given = body.model_dump(by_alias=True, include=fields, exclude_unset=True)
    laid = await here.condor.kernels.put(
        tool,
        given,
        principal=caller.principal,
        reason=body.reason,
        rev=body.rev,
        remove=body.remove,
    )
    return json_answer(laid)


def _check_looks(caller: Caller) -> None:
    who = caller.principal
    looks = who.id == LOCAL_PERSON.id or not _LOOKS.isdisjoint(who.roles)
    if who.kind != "person" or not looks:
        raise NotAllowed(f"{who.name} is neither admin nor auditor; they look at kernels")


__all__ = ["router"]
