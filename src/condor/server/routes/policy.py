"""The policy and the tools: what would be asked, and why. Nothing is run."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request, Response

from condor.server.answers import answers, body_of, json_answer
from condor.server.edge import Here, SignedIn
from condor.server.reading import read_model
from condor.server.shapes import ExplainBody
from condor.tools.explain import policy_matrix, tool_json, when_asked

router = APIRouter(tags=["policy"])


@router.get(
    "/policy/rules",
    summary="Show the policy's rules",
    responses=answers(200, "In their order", list[dict[str, Any]]),
)
async def list_rules(caller: SignedIn) -> Response:
    """The matrix, row by row as it is searched."""
    caller.need("policy:read")
    return json_answer(policy_matrix())


@router.post(
    "/policy/explain",
    summary="Show the verdict that a call would get",
    responses=answers(200, "The verdict; nothing was run", dict[str, Any], 404, reads_body=True),
    openapi_extra=body_of(ExplainBody),
)
async def explain(request: Request, here: Here, caller: SignedIn) -> Response:
    """Which rule would decide, what promotes the call, who might answer, what is missing."""
    body = await read_model(request, ExplainBody)
    verdict = here.condor.explain(body.tool, body.args, autonomy=body.autonomy)
    caller.need("policy:read")
    return json_answer(verdict)


@router.get("/tools", summary="List the tools", responses=answers(200, "By name", list[dict[str, Any]]))
async def list_tools(here: Here, caller: SignedIn) -> Response:
    """Class, tier, ops, when a person is asked, who may call, who approves, what each takes.

    `approvers` is resolved, kernels included: `roles`, or `anybody` signed in; neither: nobody (`isShut`).
    """
    caller.need("policy:read")
    tools = sorted(here.condor.tools, key=lambda tool: tool.name)
    return json_answer([{**tool_json(tool), "asks": when_asked(tool, here.condor.explain)} for tool in tools])


__all__ = ["router"]
