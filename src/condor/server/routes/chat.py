"""A chat of the AI SDK: its last user message is a request, what it quotes (``data-quote``) is data.

Law 1: what else it holds is not looked at: client-kept history, tool parts and approval parts are never an
answer to a card.
Law 2: the same message, sent again, is the same run.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from fastapi import APIRouter, Request, Response

from condor.core.errors import UnknownId
from condor.core.ids import short_token
from condor.core.run import TERMINAL
from condor.runtime.access import check_session, readable_run
from condor.server.answers import answers, body_of
from condor.server.edge import Here, SignedIn, Streaming
from condor.server.problems import Refused
from condor.server.reading import read_model
from condor.server.routes.runs import message_stream
from condor.server.shapes import ChatBody

if TYPE_CHECKING:
    from condor.server.shapes import ChatMessage

router = APIRouter(prefix="/chat", tags=["chat"])


@router.post(
    "",
    summary="Ask in a chat",
    responses=answers(
        200, "The run's message", None, 404, 409, 429, media_type="text/event-stream", reads_body=True
    ),
    openapi_extra=body_of(ChatBody),
)
async def ask(request: Request, here: Here, caller: SignedIn) -> Response:
    """Start a run from the last user message; the answer is its message, live until it rests."""
    body = await read_model(request, ChatBody)
    condor, who = here.condor, caller.principal
    await check_session(condor.store, who, body.id)
    text, key, quoted = _asked(body)
    caller.need("runs:start")
    if body.trigger == "regenerate-message":
        last = await condor.store.last_of_session(body.id)
        if last is not None and last.status not in TERMINAL:
            raise Refused("run_active", runId=last.run_id)
        key = None
    run = await condor.start(text, principal=who, session_id=body.id, key=key, quoted=quoted)
    if run.is_new:
        here.metrics.started(who.kind)
    return message_stream(here, caller, run.id)


def _asked(body: ChatBody) -> tuple[str, str | None, dict[str, str]]:
    """The request in words, the key under which it is one run, and the texts that it quotes."""
    last = body.messages[-1] if body.messages else None
    if last is None or last.role != "user":
        raise Refused(
            "invalid_input",
            "the last message is not a user's: nothing is asked; `approve` or `resume` answers a card",
            at="/messages",
        )
    text = _words(last)
    if not text.strip():
        raise Refused("invalid_input", "the last message has no text", at="/messages")
    return text, f"chat:{short_token([body.id, last.id, text])}" if last.id else None, _quoted(last)


def _words(message: ChatMessage) -> str:
    """The text parts of a message, one after the other."""
    texts = [
        part["text"]
        for part in message.parts
        if isinstance(part, dict) and part.get("type") == "text" and isinstance(part.get("text"), str)
    ]
    return "\n".join(texts)


def _quoted(message: ChatMessage) -> dict[str, str]:
    """The texts of its ``data-quote`` parts, by where they are from."""
    quoted: dict[str, str] = {}
    for at, part in enumerate(message.parts):
        if not isinstance(part, dict) or part.get("type") != "data-quote":
            continue
        said = part.get("data")
        source, text = (said.get("source"), said.get("text")) if isinstance(said, dict) else (None, None)
        if not isinstance(source, str) or not isinstance(text, str) or source in quoted:
            raise Refused(
                "invalid_input",
                "a data-quote part has data {source, text}, two texts, and each source once",
                at=f"/messages/parts/{at}",
            )
        quoted[source] = text
    return quoted


@router.get(
    "/{chat_id}/stream",
    summary="Take up a chat's stream",
    responses={
        **answers(200, "The latest run's message", None, 429, media_type="text/event-stream"),
        204: {"description": "Nothing to take up: no such chat, or none that you may read"},
    },
)
async def take_up(chat_id: str, here: Here, caller: Streaming) -> Response:
    """The whole message of the chat's latest run, then live until it rests."""
    last = await here.condor.store.last_of_session(chat_id)
    if last is None:
        return Response(status_code=204)
    try:
        await readable_run(here.condor.store, caller.principal, last.run_id)
    except UnknownId:
        return Response(status_code=204)
    caller.need("runs:read")
    return message_stream(here, caller, last.run_id)


__all__ = ["router"]
