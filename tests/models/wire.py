"""A server on loopback that speaks the OpenAI chat wire, and everything that can go wrong on it."""

from __future__ import annotations

import asyncio
import contextlib
import json
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Mapping

KEY = "sk-canary-1f0c9d"
USAGE = {"prompt_tokens": 700, "completion_tokens": 300, "total_tokens": 1000}


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """One answer; what is None is left out."""

    message: Mapping[str, Any] = field(default_factory=dict)
    finish: str = "stop"
    usage: Mapping[str, int] | None = field(default_factory=lambda: dict(USAGE))
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    #: The whole body, instead of a completion.
    raw: bytes | None = None
    #: Says nothing, and holds the line.
    hangs: bool = False
    #: Hangs up without a word.
    drops: bool = False
    #: Said again and again, without an end, as this content type.
    endless: bytes | None = None
    content_type: str = "application/json"
    #: Parts of a stream; the line is cut after so many of them.
    parts: tuple[str, ...] = ()
    cut_after: int | None = None


def call(name: str, args: object, **more: Any) -> Answer:
    """An answer that takes a form; args as JSON or as the text that stands for it."""
    text = args if isinstance(args, str) else json.dumps(args)
    calls = [{"id": "call_1", "type": "function", "function": {"name": name, "arguments": text}}]
    return Answer(message={"content": None, "tool_calls": calls}, finish="tool_calls", **more)


def plan(*steps: Mapping[str, Any], **more: Any) -> Answer:
    """An answer that is a plan."""
    return call("submit_plan", {"steps": list(steps)}, **more)


def words(text: str, **more: Any) -> Answer:
    """An answer in words."""
    return Answer(message={"content": text}, **more)


def refusal(text: str) -> Answer:
    """A provider's refusal."""
    return Answer(message={"content": None, "refusal": text})


def fails(status: int, *, body: object = None, **headers: str) -> Answer:
    """An HTTP error; it quotes the key and what was asked, as some do."""
    said = {"error": {"message": f"no: {KEY} CANARY", "type": "invalid_request_error", "code": "bad"}}
    return Answer(
        status=status,
        raw=json.dumps(body or said).encode(),
        headers={name.replace("_", "-"): value for name, value in headers.items()},
    )


class Endpoint:
    """What was asked, and what is answered next."""

    def __init__(self, script: Callable[[dict[str, Any]], Answer] | None, answers: list[Answer]) -> None:
        self.url = ""
        self.asked: list[dict[str, Any]] = []
        self.keys: list[str] = []
        #: Bytes of an endless answer that were taken.
        self.sent = 0
        self._script = script
        self._answers = answers

    def next(self, body: dict[str, Any]) -> Answer:
        self.asked.append(body)
        if self._script is not None:
            return self._script(body)
        return self._answers.pop(0) if self._answers else fails(418)

    @property
    def prompts(self) -> list[str]:
        """All that each question said, as the model reads it."""
        return ["\n".join(str(one.get("content")) for one in body["messages"]) for body in self.asked]


@asynccontextmanager
async def serving(
    *answers: Answer, script: Callable[[dict[str, Any]], Answer] | None = None
) -> AsyncIterator[Endpoint]:
    """The server on a free port; it answers in this order, or as the script says."""
    endpoint = Endpoint(script, list(answers))
    tasks: set[asyncio.Task[Any]] = set()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        tasks.add(task)
        try:
            await _serve(endpoint, reader, writer)
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass
        finally:
            tasks.discard(task)
            writer.close()
            with contextlib.suppress(ConnectionError):
                await writer.wait_closed()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    endpoint.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
    try:
        yield endpoint
    finally:
        server.close()
        for task in list(tasks):
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _serve(endpoint: Endpoint, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while True:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        headers = {
            name.strip().lower(): value.strip()
            for name, _, value in (line.partition(":") for line in head.split("\r\n")[1:])
        }
        body = json.loads(await reader.readexactly(int(headers.get("content-length", "0"))))
        assert head.startswith("POST /v1/chat/completions "), head
        endpoint.keys.append(headers.get("authorization", ""))
        answer = endpoint.next(body)
        if answer.hangs:
            await asyncio.sleep(3600)
        if answer.drops:
            return
        if answer.endless is not None:
            head = f"HTTP/1.1 {answer.status} X\r\ncontent-type: {answer.content_type}\r\n\r\n"
            writer.write(head.encode())
            while True:
                writer.write(answer.endless)
                await writer.drain()
                endpoint.sent += len(answer.endless)
        if body.get("stream") and answer.raw is None:
            await _stream(writer, answer)
            return
        _write(writer, answer, answer.raw if answer.raw is not None else _completion(answer))
        await writer.drain()


def _write(writer: asyncio.StreamWriter, answer: Answer, body: bytes) -> None:
    lines = [
        f"HTTP/1.1 {answer.status} X",
        "content-type: application/json",
        f"content-length: {len(body)}",
        *(f"{name}: {value}" for name, value in answer.headers.items()),
    ]
    writer.write("\r\n".join([*lines, "", ""]).encode() + body)


def _completion(answer: Answer) -> bytes:
    whole: dict[str, Any] = {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1_790_000_000,
        "model": "fake-1",
        "choices": [
            {
                "index": 0,
                "finish_reason": answer.finish,
                "message": {"role": "assistant", **answer.message},
            }
        ],
    }
    if answer.usage is not None:
        whole["usage"] = answer.usage
    return json.dumps(whole).encode()


async def _stream(writer: asyncio.StreamWriter, answer: Answer) -> None:
    writer.write(b"HTTP/1.1 200 X\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n")
    parts = answer.parts or (str(answer.message.get("content") or ""),)
    for index, part in enumerate(parts):
        if answer.cut_after is not None and index >= answer.cut_after:
            return
        _event(writer, [{"index": 0, "delta": {"role": "assistant", "content": part}, "finish_reason": None}])
        await writer.drain()
    _event(writer, [{"index": 0, "delta": {}, "finish_reason": answer.finish}])
    if answer.usage is not None:
        _event(writer, [], usage=answer.usage)
    writer.write(b"data: [DONE]\n\n")
    await writer.drain()


def _event(writer: asyncio.StreamWriter, choices: list[Any], **more: Any) -> None:
    chunk = {
        "id": "chatcmpl-1",
        "object": "chat.completion.chunk",
        "created": 1_790_000_000,
        "model": "fake-1",
        "choices": choices,
        **more,
    }
    writer.write(b"data: " + json.dumps(chunk).encode() + b"\n\n")
