"""A run in another form, as a pack makes it: for whoever may read the run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fastapi import APIRouter, Response

from condor.runtime.access import readable_run
from condor.runtime.run_record import run_record
from condor.server.answers import answers
from condor.server.edge import Here, SignedIn
from condor.server.problems import Refused

if TYPE_CHECKING:
    from collections.abc import Mapping

    from condor.ports.mounts import RunView

router = APIRouter(prefix="/runs", tags=["runs"])


@router.get(
    "/{run_id}/export/{form}",
    summary="Export a run in a form of an opened pack",
    responses=answers(200, "The run in that form; `fhir`: a Bundle", None, 404, media_type="application/*"),
    response_class=Response,
)
async def export_run(run_id: str, form: str, here: Here, caller: SignedIn) -> Response:
    """Made anew each time, with the same ids: AuditEvents, Tasks and Provenance, where the form is `fhir`."""
    await readable_run(here.condor.store, caller.principal, run_id)
    view = _view(here.condor.views, form)
    caller.need("runs:read")
    body = await view.render(await run_record(here.condor, here.condor.store, run_id))
    return Response(body, media_type=view.media_type)


def _view(views: Mapping[str, RunView], form: str) -> RunView:
    """The form of that name.

    Raises:
        Refused: no opened pack has it.
    """
    if form not in views:
        known = ", ".join(sorted(views)) or "none"
        raise Refused("not_found", f"no opened pack has this form of a run; there are: {known}")
    return views[form]


__all__ = ["router"]
