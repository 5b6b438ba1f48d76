"""What an endpoint may send and where a question goes: no answer without an end, no other host."""

from __future__ import annotations

import gzip
import json
from typing import TYPE_CHECKING, Any

import pytest

from condor.core.errors import ModelUnavailable
from condor.models import transport
from condor.models.endpoint import Endpoint
from tests.models.test_endpoint import PROSE, QUESTION, settings_of
from tests.models.wire import Answer, fails, serving, words

if TYPE_CHECKING:
    from condor.models.question import Spent

_HIDDEN = json.dumps(
    {
        "id": "x",
        "object": "chat.completion.chunk",
        "created": 1,
        "model": "fake-1",
        "choices": [{"index": 0, "delta": {"reasoning_content": "y" * 10_000}, "finish_reason": None}],
    }
)
#: How much an endpoint may have sent into the buffers of two sockets after nobody reads any more.
_BUFFERED_BYTES_MAX = 16 * 1024 * 1024

ENDLESS: dict[str, tuple[Answer, str]] = {
    "a body": (Answer(endless=b" " * 65_536), "more than 2097152 bytes"),
    "an error": (Answer(endless=b" " * 65_536, status=400), "more than 2097152 bytes"),
    "a line": (
        Answer(endless=b"x" * 65_536, content_type="text/event-stream"),
        "a line of more than 262144 bytes",
    ),
    "parts that are not shown": (
        Answer(endless=f"data: {_HIDDEN}\n\n".encode(), content_type="text/event-stream"),
        "more than 8388608 bytes",
    ),
}


async def _streamed(endpoint: Endpoint) -> list[str | Spent]:
    return [part async for part in endpoint.stream(PROSE)]


@pytest.mark.parametrize(("answer", "said"), ENDLESS.values(), ids=ENDLESS)
async def test_an_answer_without_an_end_is_left(answer: Answer, said: str) -> None:
    """One line says how much was read; it is not asked again, and no more is taken from the socket."""
    async with serving(answer, answer, answer) as served:
        endpoint = Endpoint(settings_of(served.url, model_timeout_s=20), "fake-1")
        is_stream = answer.content_type != "application/json"
        with pytest.raises(ModelUnavailable, match=said):
            await (_streamed(endpoint) if is_stream else endpoint.ask(QUESTION))
        await endpoint.aclose()
        assert len(served.asked) == 1
        assert served.sent < _BUFFERED_BYTES_MAX


async def test_a_question_goes_nowhere_else() -> None:
    """A redirect is said and not followed: the other host is asked nothing."""
    async with serving() as other:
        elsewhere = fails(307, location=f"{other.url}/chat/completions")
        async with serving(elsewhere, elsewhere) as served:
            endpoint = Endpoint(settings_of(served.url), "fake-1")
            for asking in (endpoint.ask(QUESTION), _streamed(endpoint)):
                with pytest.raises(
                    ModelUnavailable, match=r"sends elsewhere \(307\), and nothing is sent there"
                ):
                    await asking
            await endpoint.aclose()
            assert len(served.asked) == 2
        assert other.asked == []


async def test_no_proxy_of_the_environment_hears_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the environment names: the address is asked itself."""
    async with serving(words("yes")) as served:
        for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
            monkeypatch.setenv(name, "http://127.0.0.1:9")
        monkeypatch.delenv("NO_PROXY", raising=False)
        monkeypatch.delenv("no_proxy", raising=False)
        endpoint = Endpoint(settings_of(served.url, model_retries=0), "fake-1")
        assert (await endpoint.ask(QUESTION)).text == "yes"
        await endpoint.aclose()


async def test_nothing_is_unpacked() -> None:
    """An answer is asked for unpacked; one that is packed all the same is not unpacked into memory."""
    packed = Answer(raw=gzip.compress(b" " * 1_000_000), headers={"content-encoding": "gzip"})
    async with serving(packed) as served:
        endpoint = Endpoint(settings_of(served.url), "fake-1")
        with pytest.raises(ModelUnavailable, match="packs its answer unasked"):
            await endpoint.ask(QUESTION)
        await endpoint.aclose()


async def test_lines_are_measured_across_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """A long line in many parts is as long as in one; many short lines are none."""
    monkeypatch.setattr(transport, "LINE_BYTES_MAX", 4_000)
    short = words("", parts=("It ", "was ", "done.") * 40)
    long = words("", parts=("x" * 5_000,))
    async with serving(short, long) as served:
        endpoint = Endpoint(settings_of(served.url), "fake-1")
        said: list[Any] = [part for part in await _streamed(endpoint) if isinstance(part, str)]
        assert "".join(said) == "It was done." * 40
        with pytest.raises(ModelUnavailable, match="a line of more than 4000 bytes"):
            await _streamed(endpoint)
        await endpoint.aclose()
