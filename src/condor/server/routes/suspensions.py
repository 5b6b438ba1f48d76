"""The inbox: cards that you may read, and whether you may answer them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, cast

from fastapi import APIRouter, Depends, Query, Request, Response

from condor.core.errors import UnknownId
from condor.core.suspend import Origin, ReasonCode
from condor.ports.cards import CardFilter, CardOrder, SuspensionStatus
from condor.pump.phases.refusals import may_not_answer
from condor.runtime import suspension_json
from condor.runtime.access import readable_card, readable_run, reads_all
from condor.runtime.inbox import checked_filter
from condor.server.answers import answers, json_answer
from condor.server.edge import Here, SignedIn
from condor.server.pages import Limit, next_link
from condor.server.reading import whole_number
from condor.server.shapes import Suspension

if TYPE_CHECKING:
    from condor.core.run import Principal
    from condor.ports.store import Store, SuspensionRow

router = APIRouter(prefix="/suspensions", tags=["cards"])

_MOMENT: Final = (
    "RFC 3339: opened at this time or later (`openedFrom`), at this time or before (`openedUntil`)."
)
#: Cards looked at for one page, of which the caller may read some.
_LOOKED_AT_MAX: Final = 2_000
_LOOK: Final = 200


def _wanted(
    status: Annotated[SuspensionStatus | None, Query()] = None,
    run_id: Annotated[str | None, Query(alias="runId")] = None,
    kind: Annotated[ReasonCode | None, Query(description="What is asked for.")] = None,
    origin: Annotated[Origin | None, Query(description="Which mechanism asks.")] = None,
    tool: Annotated[str | None, Query(description="Tool name.")] = None,
    tier: Annotated[Literal["high", "low"] | None, Query(description="Effective tier.")] = None,
    requester: Annotated[str | None, Query(description="Id of who asked for the run.")] = None,
    subject: Annotated[str | None, Query(description="Whom or what it is about, `Patient/pt-1`.")] = None,
    opened_from: Annotated[str | None, Query(alias="openedFrom", description=_MOMENT)] = None,
    opened_until: Annotated[str | None, Query(alias="openedUntil", description=_MOMENT)] = None,
) -> CardFilter:
    return CardFilter(
        status=status,
        run_id=run_id,
        reason_code=kind,
        origin=origin,
        tool=tool,
        tier=tier,
        requester=requester,
        subject=subject,
        opened_from=opened_from,
        opened_until=opened_until,
    )


Wanted = Annotated[CardFilter, Depends(_wanted)]


@router.get(
    "",
    summary="List cards by the time they were opened",
    responses=answers(200, "Cards; a `Link` header leads to the next page", list[Suspension]),
)
async def list_suspensions(
    request: Request,
    here: Here,
    caller: SignedIn,
    wanted: Wanted,
    order: Annotated[CardOrder, Query(description="By the time they were opened.")] = "oldest",
    limit: Limit = "50",
    after: Annotated[str, Query(description="`suspendId` of the last card of the page before.")] = "",
) -> Response:
    """`status=pending` is the inbox. A page may be short and have a next one all the same."""
    most = whole_number(limit, name="limit", most=200)
    wanted = checked_filter(wanted)
    caller.need("runs:read")
    store, who = here.condor.store, caller.principal
    found: list[dict[str, Any]] = []
    looked_at, last = 0, ""
    while len(found) < most and looked_at < _LOOKED_AT_MAX:
        rows = await store.suspensions(wanted, order=order, limit=_LOOK, after=after)
        for row in rows:
            after = last = row.suspend_id
            if reads_all(who) or await _may_read(store, who, row):
                found.append(await card_json(store, who, row))
                if len(found) == most:
                    break
        looked_at += len(rows)
        if len(rows) < _LOOK and len(found) < most:
            last = ""
            break
    return json_answer(found, headers=next_link(request, after=last))


async def _may_read(store: Store, who: Principal, row: SuspensionRow) -> bool:
    try:
        await readable_run(store, who, row.run_id)
    except UnknownId:
        return False
    return True


@router.get("/{suspend_id}", summary="Show a card", responses=answers(200, "The card", Suspension, 404))
async def show_suspension(suspend_id: str, here: Here, caller: SignedIn) -> Response:
    """The card as it was shown, and how it stands."""
    row = await readable_card(here.condor.store, caller.principal, suspend_id)
    caller.need("runs:read")
    return json_answer(await card_json(here.condor.store, caller.principal, row))


async def card_json(store: Store, who: Principal, row: SuspensionRow) -> dict[str, Any]:
    """One card for one reader."""
    keys = [f"card:{row.suspend_id}", f"answer:{row.suspend_id}"]
    shown = suspension_json(row, await store.payloads(row.run_id, keys))
    may = row.status == "pending" and may_not_answer(who, row) is None
    return {**cast("dict[str, Any]", shown), "mayAnswer": may}


__all__ = ["card_json", "router"]
