"""Runs: start, list, show, follow, stop."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Final

from fastapi import APIRouter, Header, Query, Request, Response

from condor.core.errors import UnknownId
from condor.runtime import run_line
from condor.runtime.access import check_session, readable_run, reads_all
from condor.server.answers import accepted, answers, body_of, json_answer
from condor.server.edge import Here, SignedIn, Streaming
from condor.server.live import UI_HEADERS, EventStream, Feed, sse_data, telling
from condor.server.pages import Limit, next_link
from condor.server.reading import read_model, whole_number
from condor.server.shapes import Accepted, RunLine, RunSnapshot, StartBody, StopBody

if TYPE_CHECKING:
    from condor.core.run import Principal
    from condor.server.auth import Caller
    from condor.server.edge import Edge

router = APIRouter(prefix="/runs", tags=["runs"])

#: Runs looked at for one page, of which the caller may read some.
_LOOKED_AT_MAX: Final = 2_000
_LOOK: Final = 200


@router.post(
    "",
    summary="Start a run from a request or a plan",
    responses=answers(201, "The run; it goes on in the background", RunSnapshot, 404, reads_body=True),
    openapi_extra=body_of(StartBody),
    status_code=201,
)
async def start_run(
    request: Request,
    here: Here,
    caller: SignedIn,
    idempotency_key: Annotated[str | None, Header(description="The same key and body make one run.")] = None,
) -> Response:
    """Start a run. Under an `Idempotency-Key` the same body, sent again, is the same run."""
    body = await read_model(request, StartBody)
    condor, who = here.condor, caller.principal
    if body.session_id is not None:
        await check_session(condor.store, who, body.session_id)
    caller.need("runs:start")
    run = await condor.start(
        body.request,
        plan=body.plan,
        autonomy=body.autonomy,
        principal=who,
        session_id=body.session_id,
        key=None if idempotency_key is None else f"http:{idempotency_key}",
        quoted=body.quoted,
    )
    if run.is_new:
        here.metrics.started(who.kind)
    headers = {"location": f"/api/v1/runs/{run.id}"}
    if not run.is_new:
        headers["idempotency-replayed"] = "true"
    return json_answer(await condor.show(run.id), 201, headers)


@router.get(
    "",
    summary="List the runs that you may read, newest first",
    responses=answers(200, "Runs; a `Link` header leads to the next page", list[RunLine]),
)
async def list_runs(
    request: Request,
    here: Here,
    caller: SignedIn,
    session_id: Annotated[
        str | None, Query(alias="sessionId", max_length=200, description="Only runs of this session.")
    ] = None,
    limit: Limit = "50",
    before: Annotated[str, Query(max_length=200)] = "",
) -> Response:
    """Newest first. A page may be short and have a next one all the same."""
    most = whole_number(limit, name="limit", most=200)
    caller.need("runs:read")
    lines, last = await _readable_lines(here, caller.principal, session_id, most, before)
    return json_answer(lines, headers=next_link(request, before=last))


async def _readable_lines(
    here: Edge, who: Principal, session_id: str | None, most: int, before: str
) -> tuple[list[dict[str, Any]], str]:
    """A page of lines, and where the next one begins; empty where there is none."""
    store, lines, looked_at = here.condor.store, [], 0
    while looked_at < _LOOKED_AT_MAX:
        if session_id is None:
            rows = await store.runs(limit=_LOOK, before=before)
        else:
            rows = await store.runs_of_session(session_id, limit=_LOOK, before=before)
        for row in rows:
            before = row.run_id
            if not reads_all(who):
                try:
                    await readable_run(store, who, row.run_id)
                except UnknownId:
                    continue
            lines.append(run_line(row, await store.payloads(row.run_id, ["request"])))
            if len(lines) == most:
                return lines, before
        looked_at += len(rows)
        if len(rows) < _LOOK:
            return lines, ""
    return lines, before


@router.get(
    "/{run_id}",
    summary="Show a run",
    responses=answers(200, "Everything of it, and what it waits for", RunSnapshot, 404),
)
async def show_run(run_id: str, here: Here, caller: SignedIn) -> Response:
    """Status, plan, graph, steps, cards, closing, and why it waits."""
    await readable_run(here.condor.store, caller.principal, run_id)
    caller.need("runs:read")
    return json_answer(await here.condor.show(run_id))


@router.get(
    "/{run_id}/stream",
    summary="Follow a run as an AI SDK UI message",
    responses=answers(
        200,
        "The whole message, then live until the run rests",
        None,
        404,
        429,
        media_type="text/event-stream",
    ),
)
async def stream_run(run_id: str, here: Here, caller: Streaming) -> Response:
    """Always the whole message from its start; ends where the run rests. To leave does not touch the run."""
    await readable_run(here.condor.store, caller.principal, run_id)
    caller.need("runs:read")
    return message_stream(here, caller, run_id)


def message_stream(here: Edge, caller: Caller, run_id: str) -> EventStream:
    """A run's UI message as an answer."""
    return EventStream(
        lambda: here.feeds.reading(run_id), here.streams, caller=caller, kind="ui-message", headers=UI_HEADERS
    )


@router.get(
    "/{run_id}/events",
    summary="Follow a run's event log",
    responses=answers(200, "Events: ids, digests and states", None, 404, 429, media_type="text/event-stream"),
)
async def stream_events(
    run_id: str, here: Here, caller: Streaming, after: Annotated[str, Query()] = "0"
) -> Response:
    """The events of the log after `after`, until the run rests; then the snapshot, as `condor run --json`."""
    await readable_run(here.condor.store, caller.principal, run_id)
    begin = whole_number(after, name="after", least=0, most=10**8)
    caller.need("runs:read")

    async def tell(feed: Feed) -> None:
        async for event in here.condor.watch(run_id, after=begin):
            feed.write(sse_data(event.to_json()))
        feed.write(sse_data({"type": "run.snapshot", "run": await here.condor.show(run_id)}))

    return EventStream(lambda: telling(tell), here.streams, caller=caller, kind="events")


@router.post(
    "/{run_id}/stop",
    summary="Stop a run",
    responses=answers(202, "It stops; open cards are withdrawn", Accepted, 404, 409, reads_body=True),
    openapi_extra=body_of(StopBody),
    status_code=202,
)
async def stop_run(run_id: str, request: Request, here: Here, caller: SignedIn) -> Response:
    """What is in flight finishes and is told; then the run closes as aborted."""
    await readable_run(here.condor.store, caller.principal, run_id)
    body = await read_model(request, StopBody)
    caller.need("runs:stop")
    await here.condor.stop(run_id, principal=caller.principal, reason=body.reason)
    return accepted(runId=run_id)


__all__ = ["message_stream", "router"]
