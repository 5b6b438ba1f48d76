"""Edit before approve: a call is changed on its card, and asks again. Nothing runs, nothing is approved."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Header, Request, Response

from condor.runtime.access import readable_card
from condor.server.answers import answers, body_of, json_answer
from condor.server.edge import Here, SignedIn
from condor.server.reading import read_model
from condor.server.routes.answering import counted
from condor.server.routes.suspensions import card_json
from condor.server.shapes import EditBody, Suspension

router = APIRouter(prefix="/suspensions", tags=["cards"])


@router.post(
    "/{suspend_id}/edit",
    summary="Change a call on its card, before anybody approves it",
    responses=answers(
        201, "The card of the call as edited; the one before is superseded", Suspension, 404, 409, 429,
        reads_body=True,
    ),
    openapi_extra=body_of(EditBody),
    status_code=201,
)  # fmt: skip
async def edit_suspension(
    suspend_id: str,
    request: Request,
    here: Here,
    caller: SignedIn,
    idempotency_key: Annotated[
        str | None, Header(description="The same key and body are one edit of this card.")
    ] = None,
) -> Response:
    """Whoever may answer the card may edit what its `editSchema` lists. An edit approves nothing."""
    condor, who = here.condor, caller.principal
    await readable_card(condor.store, who, suspend_id)
    body = await read_model(request, EditBody)
    with counted(here, who, taken="edited"):
        newer = await condor.edit(suspend_id, body.args, principal=who, key=idempotency_key)
    new_id = str(newer["suspendId"])
    row = await readable_card(condor.store, who, new_id)
    headers = {"location": f"/api/v1/suspensions/{new_id}"}
    return json_answer(await card_json(condor.store, who, row), 201, headers)


__all__ = ["router"]
