"""AG-UI 1.0: a thread is a session; a post asks, or answers every open interrupt.

Law 1: a post that answers nothing while the thread waits gets ``RUN_ERROR``, never the card again.
Law 2: messages of tools and assistants that a client brings are not looked at; its context is quoted text,
so that what is planned beside it asks.
"""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING, Any

from fastapi import APIRouter, Request, Response

from condor.core.errors import AlreadyDecided, CondorError, RunNotSuspendedError
from condor.core.frames.ag_ui import AgUi
from condor.core.ids import short_token
from condor.core.run import RunStatus
from condor.runtime.access import cards_of, check_session
from condor.server.answers import answers, body_of
from condor.server.edge import Here, SignedIn
from condor.server.live import EventStream, Feed, Rest, sse_data, telling, titles_of, told_events
from condor.server.problems import Refused, code_of
from condor.server.reading import read_model
from condor.server.routes.answering import check, give
from condor.server.shapes import AgUiBody

if TYPE_CHECKING:
    from collections.abc import Mapping

    from condor.core.run import Principal
    from condor.ports.store import RunRow
    from condor.server.auth import Caller
    from condor.server.edge import Edge
    from condor.server.shapes import AgUiAnswer

router = APIRouter(tags=["ag-ui"])


@router.post(
    "/agui",
    summary="Run an AG-UI agent",
    responses=answers(200, "AG-UI events", None, 404, 429, media_type="text/event-stream", reads_body=True),
    openapi_extra=body_of(AgUiBody),
)
async def run_agent(request: Request, here: Here, caller: SignedIn) -> Response:
    """Ask with a user message, or answer with `resume`; what cannot be is told as `RUN_ERROR`."""
    body = await read_model(request, AgUiBody)
    await check_session(here.condor.store, caller.principal, body.thread_id)
    caller.need("runs:start")

    async def tell(feed: Feed) -> None:
        try:
            run_id, after = await _begun(here, caller, body)
        except _Unfit as unfit:
            for event in _error(body, unfit.code, str(unfit)):
                feed.write(sse_data(event))
            return
        await _tell(here, body, run_id, after, feed)

    return EventStream(lambda: telling(tell), here.streams, caller=caller, kind="ag-ui")


class _Unfit(Exception):
    """A post that is no step of the thread."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


async def _begun(here: Edge, caller: Caller, body: AgUiBody) -> tuple[str, int]:
    """The run that the post began or goes on with, and what of it was told already."""
    last = await here.condor.store.last_of_session(body.thread_id)
    waits = last is not None and last.status is RunStatus.SUSPENDED
    if last is not None and body.resume:
        await _answer_all(here, caller.principal, last, body.resume)
        return last.run_id, last.seq
    if body.resume:
        raise _Unfit("run_not_suspended", "the thread waits for nothing")
    if waits:
        raise _Unfit("interrupted", "the thread waits for an answer: post `resume` with every open interrupt")
    quoted = _quoted(body)
    text, key = _asked(body, quoted)
    try:
        run = await here.condor.start(
            text, principal=caller.principal, session_id=body.thread_id, key=key, quoted=quoted
        )
    except CondorError as refusal:
        raise _Unfit(code_of(refusal), str(refusal)) from None
    if run.is_new:
        here.metrics.started(caller.principal.kind)
    return run.id, 0


def _asked(body: AgUiBody, quoted: Mapping[str, str]) -> tuple[str, str | None]:
    """The last thing that was said, and the key under which it is one request however often it is sent.

    A client's context changes with its page: the same words beside another one are another request.
    """
    last = next((message for message in reversed(body.messages) if message.role == "user"), None)
    text = _words(last.content) if last is not None else ""
    if last is None or not text.strip():
        raise _Unfit("invalid_input", "no user message with text: nothing is asked")
    named = [body.thread_id, last.id, text, *([dict(quoted)] if quoted else [])]
    return text, f"agui:{short_token(named)}" if last.id else None


def _quoted(body: AgUiBody) -> dict[str, str]:
    """The context that a client brings, by what each is: texts from elsewhere."""
    quoted: dict[str, str] = {}
    for number, one in enumerate(body.context, 1):
        if one.value.strip():
            name = one.description.strip() or f"context {number}"
            again = (f"{name} ({copy})" for copy in count(2))
            quoted[name if name not in quoted else next(free for free in again if free not in quoted)] = (
                one.value
            )
    return quoted


def _words(content: Any) -> str:
    """A message's text, whether it is one or a list of parts."""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    texts = [part.get("text") for part in parts if isinstance(part, dict) and part.get("type") == "text"]
    return "\n".join(text for text in texts if isinstance(text, str))


async def _answer_all(here: Edge, who: Principal, run: RunRow, given: list[AgUiAnswer]) -> None:
    """Give every answer, in the order in which the cards were opened.

    All are there and each would be taken, or none is given.
    """
    named = {answer.interrupt_id: answer for answer in given}
    in_turn = await _covered(here, run, named, given)
    try:
        for suspend_id in in_turn:
            await check(here, who, run.run_id, suspend_id, named[suspend_id].payload)
    except (CondorError, Refused) as refusal:
        raise _refused(refusal, []) from None
    taken: list[str] = []
    for suspend_id in in_turn:
        try:
            await give(here, who, run.run_id, suspend_id, named[suspend_id].payload)
        except (AlreadyDecided, RunNotSuspendedError) as refusal:
            if not taken:
                raise _refused(refusal, taken) from None
            # An answer before it, a denial, has closed this card too.
        except (CondorError, Refused) as refusal:
            raise _refused(refusal, taken) from None
        else:
            taken.append(suspend_id)


async def _covered(
    here: Edge, run: RunRow, named: Mapping[str, AgUiAnswer], given: list[AgUiAnswer]
) -> list[str]:
    """The interrupts that are answered, in turn; every open one is among them."""
    cards = await cards_of(here.condor.store, run.run_id)
    is_open = [card.suspend_id for card in cards if card.status == "pending"]
    if len(named) != len(given):
        raise _Unfit("invalid_input", "one interrupt is answered twice")
    if any(answer.status == "cancelled" for answer in given):
        raise _Unfit("invalid_input", "a cancelled interrupt is no answer: deny with payload.approved false")
    if missing := [suspend_id for suspend_id in is_open if suspend_id not in named]:
        raise _Unfit("interrupted", f"resume must cover every open interrupt; it lacks {', '.join(missing)}")
    return [*is_open, *sorted(named.keys() - set(is_open))]


def _refused(refusal: Exception, taken: list[str]) -> _Unfit:
    code = code_of(refusal) if isinstance(refusal, CondorError) else getattr(refusal, "code", "error")
    before = f" (taken before it: {', '.join(taken)})" if taken else ""
    return _Unfit(code, f"{refusal}{before}")


async def _tell(here: Edge, body: AgUiBody, run_id: str, after: int, feed: Feed) -> None:
    told = AgUi(
        run_id,
        thread_id=body.thread_id,
        client_run_id=body.run_id,
        after=after,
        titles=titles_of(here.condor),
    )
    async for news in told_events(here.condor, run_id):
        if isinstance(news, Rest):  # noqa: SIM108 - one of two shapes, and a type checker knows which
            events = told.finish(news.status, news.seq)
        else:
            events = told.project(*news)
        for said in events:
            feed.write(sse_data(said))


def _error(body: AgUiBody, code: str, message: str) -> list[dict[str, Any]]:
    begun = {"type": "RUN_STARTED", "threadId": body.thread_id, "runId": body.run_id}
    return [begun, {"type": "RUN_ERROR", "code": code, "message": message}]


__all__ = ["router"]
