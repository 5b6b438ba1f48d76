"""For monitors: alive, ready, numbers. No record data, no sign-in."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Response

from condor.core.errors import StoreUnavailable
from condor.server.answers import json_answer
from condor.server.edge import Here
from condor.server.metrics import Metrics
from condor.server.problems import MEDIA_TYPE

router = APIRouter(tags=["health"])

_UNREADY: dict[int | str, dict[str, Any]] = {
    503: {
        "description": "store_unavailable",
        "content": {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}},
    }
}


@router.get("/healthz", summary="The process is alive")
async def healthz() -> Response:
    """It answers."""
    return json_answer({"alive": True})


@router.get("/readyz", summary="Runs can be stored", responses=_UNREADY)
async def readyz(here: Here) -> Response:
    """The store takes writes; where runs are handed over, how many workers there are, and how many wait."""
    await here.condor.store.check_writable()
    if not here.condor.hands_over:
        return json_answer({"ready": True})
    backlog = await here.condor.store.backlog()
    return json_answer({"ready": True, "workers": backlog.workers, "waiting": backlog.waiting})


@router.get(
    "/metrics",
    summary="Numbers for Prometheus",
    responses={200: {"description": "Text", "content": {"text/plain": {"schema": {"type": "string"}}}}},
    response_class=Response,
)
async def metrics(here: Here) -> Response:
    """Counts of requests, streams, runs and answers; of workers, where runs are handed over."""
    if here.condor.hands_over:
        try:
            here.metrics.backlog(await here.condor.store.backlog())
        except StoreUnavailable:
            # The other numbers are wanted just then.
            here.metrics.backlog(None)
    return Response(here.metrics.text(here.condor.counts), media_type=Metrics.content_type)


__all__ = ["router"]
