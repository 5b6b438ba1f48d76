"""One endpoint and one model, asked one question at a time. The only module that knows the library.

Law 1: a question is asked within its time, repeated attempts included; who is busy says how long to wait.
Law 2: what goes wrong is said in one line with the endpoint's address and never with the key, with what was
asked or with what the endpoint wrote, which may quote either.
Law 3: an answer that does not have the shape asked for comes back as it is; whoever asked refuses it.
Law 4: no more of an answer is read than one can have, and nobody but the address is asked (``transport``).
"""

from __future__ import annotations

import asyncio
import logging
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from condor.core.errors import ModelUnavailable, RefusedInput
from condor.models.question import (
    Question,
    Reply,
    Spent,
    address_of,
    json_of,
    of_status,
    unfenced,
    union_of,
    word_of,
)

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from pydantic_ai.messages import ModelMessage, ModelResponse
    from pydantic_ai.models import Model, ModelRequestParameters
    from pydantic_ai.settings import ModelSettings

    from condor.config import Settings

_log = logging.getLogger(__name__)

#: Where `openai` is when no address is configured.
_OPENAI_URL = "https://api.openai.com/v1"
#: Seconds before a busy or absent endpoint is asked again, where it does not say; each further time twice as
#: long.
_PAUSE_S = 0.5
#: Characters that count as one token where an endpoint does not say what it used: few, so that nothing is
#: free.
_CHARS_PER_TOKEN = 3
_TRANSIENT: Final = frozenset({408, 409, 429, 500, 502, 503, 504, 529})


@dataclass(slots=True)
class Endpoint:
    """One model at one endpoint; reached when it is first asked."""

    settings: Settings
    name: str
    _model: Model[Any] | None = None
    _client: Any = None
    _opening: asyncio.Lock = field(default_factory=asyncio.Lock)

    @property
    def place(self) -> str:
        """Model and address, as texts call them."""
        return f"the model {self.name!a} at {address_of(self.settings)}"

    async def ask(self, question: Question) -> Reply:
        """One answer, whole.

        Raises:
            ModelUnavailable: it cannot be asked, or answered nothing that can be read.
            RefusedInput: the settings name a provider that is not there.
        """
        from pydantic_ai.direct import model_request

        model = await self._opened()
        messages = self._messages(question)
        response: ModelResponse | None = None
        loop = asyncio.get_running_loop()
        ends = loop.time() + self.settings.model_timeout_s
        for attempt in range(self.settings.model_retries + 1):
            try:
                async with asyncio.timeout_at(ends):
                    response = await model_request(
                        model,
                        messages,
                        model_settings=self._settings(),
                        model_request_parameters=self._parameters(question),
                    )
                break
            except Exception as fault:  # noqa: BLE001 - whatever a foreign library raises about it
                pause = self._pause(fault, attempt)
                if pause is None or loop.time() + pause >= ends:
                    raise self._unavailable(fault, question, attempt + 1) from None
                await asyncio.sleep(pause)
        # INVARIANT: the last attempt raises or answers.
        assert response is not None, "no attempt was made"
        return self._read(response, question)

    async def stream(self, question: Question) -> AsyncIterator[str | Spent]:
        """An answer in words, in parts as it is written; the last part is what it cost.

        It is asked once: what has been shown is not said again.

        Raises:
            ModelUnavailable: as ``ask``; also in the middle, and where its provider cut it off. What it cost
                came before.
        """
        from pydantic_ai.direct import model_request_stream
        from pydantic_ai.messages import PartDeltaEvent, PartStartEvent, TextPart, TextPartDelta

        model = await self._opened()
        said = ""
        try:
            async with model_request_stream(
                model,
                self._messages(question),
                model_settings=self._settings(),
                model_request_parameters=self._parameters(question),
            ) as response:
                async for event in response:
                    match event:
                        case PartStartEvent(part=TextPart(content=text)) if text:
                            part = text
                        case PartDeltaEvent(delta=TextPartDelta(content_delta=text)) if text:
                            part = text
                        case _:
                            continue
                    said += part
                    yield part
                whole = response.get()
        except Exception as fault:  # noqa: BLE001 - as in ask
            if said or _timed_out(fault):  # it was written, or is being written, so it is paid for
                yield self.by_length(question, said)
            raise self._unavailable(fault, question, 1) from None
        reply = self._read(whole, question)
        yield Spent(tokens=reply.tokens, cost_usd=reply.cost_usd)
        if reply.refusal:
            raise ModelUnavailable(f"{self.place} would not write {question.about}")
        if reply.cut:
            raise ModelUnavailable(
                f"{self.place} ran into its limit in the middle of {question.about}: look at "
                "CONDOR_MODEL_ANSWER_TOKENS_MAX"
            )

    def by_length(self, question: Question, said: str) -> Spent:
        """What a question and so much of its answer cost, where nobody counts it."""
        return self._priced(*_by_length(question, said))

    async def open(self) -> None:
        """Be ready to ask; nothing is reached.

        Raises:
            RefusedInput: the settings name a provider that is not there.
        """
        await self._opened()

    async def aclose(self) -> None:
        """Let go of its connections."""
        if self._client is not None:
            await self._client.aclose()
            self._model = self._client = None

    # -- opening -----------------------------------------------------------------------------

    async def _opened(self) -> Model[Any]:
        async with self._opening:
            if self._model is not None:
                return self._model
            # The library takes seconds to load; the loop goes on meanwhile.
            opened = await asyncio.to_thread(_open, self.settings, self.name)
            self._model, self._client = opened
            return opened[0]

    # -- asking ------------------------------------------------------------------------------

    def _messages(self, question: Question) -> list[ModelMessage]:
        from pydantic_ai.messages import ModelRequest, UserPromptPart

        return [
            ModelRequest(parts=[UserPromptPart(content=question.text)], instructions=question.instructions)
        ]

    def _settings(self) -> ModelSettings:
        from pydantic_ai.settings import ModelSettings

        wanted = self.settings
        return ModelSettings(
            max_tokens=wanted.model_answer_tokens_max,
            request_timeout=wanted.model_timeout_s,
            parallel_tool_calls=False,
        )

    def _parameters(self, question: Question) -> ModelRequestParameters:
        from pydantic_ai.models import ModelRequestParameters
        from pydantic_ai.output import OutputObjectDefinition
        from pydantic_ai.tools import ToolDefinition

        if not question.forms:
            return ModelRequestParameters()
        if self.settings.model_output == "tool":
            return ModelRequestParameters(
                output_mode="tool",
                allow_text_output=False,
                output_tools=[
                    ToolDefinition(
                        name=form.name,
                        description=form.description,
                        parameters_json_schema=dict(form.schema),
                        strict=False,
                        kind="output",
                    )
                    for form in question.forms
                ],
            )
        native = self.settings.model_output == "json-schema"
        return ModelRequestParameters(
            output_mode="native" if native else "prompted",
            output_object=OutputObjectDefinition(
                name="answer", json_schema=union_of(question.forms), strict=False if native else None
            ),
        )

    # -- reading -----------------------------------------------------------------------------

    def _read(self, response: ModelResponse, question: Question) -> Reply:
        from pydantic_ai.messages import TextPart, ToolCallPart

        text = "".join(part.content for part in response.parts if isinstance(part, TextPart))
        spent = self._spent(response, question, text)
        details = response.provider_details or {}
        refusal = str(details.get("refusal") or "")
        if not refusal and response.finish_reason == "content_filter":
            refusal = "its provider's filter stopped it"
        common: dict[str, Any] = {
            "text": text,
            "refusal": refusal,
            "cut": response.finish_reason == "length",
            "tokens": spent.tokens,
            "cost_usd": spent.cost_usd,
        }
        names = {form.name for form in question.forms}
        for part in response.parts:
            if isinstance(part, ToolCallPart) and part.tool_name in names:
                return Reply(form=part.tool_name, body=json_of(part.args), **common)
        found = json_of(unfenced(text)) if names and text else None
        if isinstance(found, dict) and len(found) == 1 and (form := next(iter(found))) in names:
            return Reply(form=form, body=found[form], **common)
        return Reply(**common)

    def _spent(self, response: ModelResponse, question: Question, text: str) -> Spent:
        """Tokens and US dollars, by the endpoint's word; where it has none, by length."""
        read, written = response.usage.input_tokens, response.usage.output_tokens
        if not read + written:
            called = "".join(str(getattr(part, "args", "")) for part in response.parts)
            read, written = _by_length(question, text + called)
        spent = self._priced(read, written)
        if self.settings.model_input_usd is None and self.settings.model_output_usd is None:
            with suppress(Exception):  # a price list that does not know the model says nothing of its price
                return Spent(tokens=spent.tokens, cost_usd=max(0.0, float(response.cost().total_price)))
        return spent

    def _priced(self, read: int, written: int) -> Spent:
        """Tokens and the configured price of them."""
        cost = read * (self.settings.model_input_usd or 0) + written * (self.settings.model_output_usd or 0)
        return Spent(tokens=read + written, cost_usd=cost / 1e6)

    # -- what went wrong ---------------------------------------------------------------------

    def _pause(self, fault: Exception, attempt: int) -> float | None:
        """Seconds to wait before asking again; None where that makes no sense."""
        from pydantic_ai.exceptions import ModelAPIError, ModelConnectionError

        from condor.models.transport import refusal_of

        if refusal_of(fault):
            return None
        if attempt >= self.settings.model_retries or not isinstance(fault, ModelAPIError):
            return None
        status = getattr(fault, "status_code", None)
        if status not in _TRANSIENT and not isinstance(fault, ModelConnectionError):
            return None
        if fault.retry_after is not None:
            return max(0.0, fault.retry_after)
        return float(_PAUSE_S * 2**attempt)

    def _unavailable(self, fault: Exception, question: Question, attempts: int) -> ModelUnavailable:
        _log.info("%s: %s", self.place, type(fault).__name__)  # its text may quote what was asked
        times = f", asked {attempts} times" if attempts > 1 else ""
        return ModelUnavailable(f"{self.place} {self._why(fault, question)}{times}")

    def _why(self, fault: Exception, question: Question) -> str:
        from pydantic_ai.exceptions import ModelAPIError, ModelConnectionError, ModelHTTPError

        from condor.models.transport import refusal_of

        if refused := refusal_of(fault):
            return refused
        if _timed_out(fault):
            return f"gave no answer within {self.settings.model_timeout_s:g} s"
        if isinstance(fault, ModelHTTPError):
            word = word_of(fault.provider_error_code, fault.provider_error_type)
            return of_status(fault.status_code, fault.retry_after, word)
        if isinstance(fault, ModelConnectionError):
            return "cannot be reached: look at CONDOR_MODEL_BASE_URL and whether it runs"
        if isinstance(fault, ModelAPIError):
            return "broke off in its answer"
        return f"answered something that cannot be read as {question.about}"


def _timed_out(fault: Exception) -> bool:
    from pydantic_ai.exceptions import ModelRequestTimeout, ModelTimeoutError

    return isinstance(fault, TimeoutError | ModelRequestTimeout | ModelTimeoutError)


def _by_length(question: Question, said: str) -> tuple[int, int]:
    """Tokens read and written, where nobody counted them."""
    read = (len(question.instructions) + len(question.text)) // _CHARS_PER_TOKEN + 1
    return read, len(said) // _CHARS_PER_TOKEN + 1


def _open(settings: Settings, name: str) -> tuple[Model[Any], Any]:
    """The model, and what must be closed after it.

    Raises:
        RefusedInput: the provider is not there.
    """
    key, url = settings.model_key.get_secret_value(), settings.model_base_url
    if settings.model_provider == "openai":
        return _open_openai(settings, name, url or _OPENAI_URL, key)
    from pydantic_ai.models import infer_model
    from pydantic_ai.providers import infer_provider_class

    from condor.models.transport import client_of

    reached = client_of(timeout_s=settings.model_timeout_s, connect_s=settings.model_connect_timeout_s)
    given = {"api_key": key, "base_url": url, "http_client": reached}
    try:
        provider = infer_provider_class(settings.model_provider)(
            **{word: value for word, value in given.items() if value}
        )
        model = infer_model(f"{settings.model_provider}:{name}", provider_factory=lambda _: provider)
    except ImportError:
        raise RefusedInput(
            f"CONDOR_MODEL_PROVIDER is {settings.model_provider!a}, whose client library is not installed; "
            f"install pydantic-ai-slim[{settings.model_provider}], or take openai with the provider's "
            f"compatible address"
        ) from None
    except Exception as fault:  # noqa: BLE001 - as many errors as providers
        raise RefusedInput(
            f"CONDOR_MODEL_PROVIDER is {settings.model_provider!a}, which cannot be used "
            f"({type(fault).__name__}); take openai with the provider's compatible address"
        ) from None
    return model, reached


def _open_openai(settings: Settings, name: str, url: str, key: str) -> tuple[Model[Any], Any]:
    from openai import AsyncOpenAI, Timeout
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.profiles.openai import OpenAIModelProfile
    from pydantic_ai.providers.openai_compatible import OpenAICompatibleProvider

    from condor.models.transport import client_of

    reached = client_of(timeout_s=settings.model_timeout_s, connect_s=settings.model_connect_timeout_s)
    client = AsyncOpenAI(
        base_url=url,
        # A placeholder for endpoints that need none; the environment's OPENAI_API_KEY goes nowhere.
        api_key=key or "none",
        max_retries=0,
        timeout=Timeout(settings.model_timeout_s, connect=settings.model_connect_timeout_s),
        http_client=reached,
    )
    own = url == _OPENAI_URL
    # Every endpoint takes `max_tokens` but OpenAI's own, which wants its new name.
    profile = OpenAIModelProfile(
        supports_json_schema_output=True,
        openai_chat_supports_max_completion_tokens=own,
        # A stream that ends without saying so has broken off.
        openai_chat_streaming_requires_finish_reason=True,
    )
    provider = OpenAICompatibleProvider("openai" if own else "endpoint", openai_client=client)
    return OpenAIChatModel(name, provider=provider, profile=profile), reached


__all__ = ["Endpoint"]
