"""One question on the OpenAI wire: what comes back, and what is said of everything that can go wrong."""

from __future__ import annotations

import json
import logging
from typing import TYPE_CHECKING, Any

import pytest

from condor.config import Settings
from condor.core.errors import ModelUnavailable, RefusedInput
from condor.models import check_models, models_of
from condor.models import endpoint as endpoint_module
from condor.models.endpoint import Endpoint
from condor.models.question import Form, Question, Spent
from tests.models.wire import KEY, Answer, call, fails, plan, refusal, serving, words

if TYPE_CHECKING:
    from tests.models import wire

FORMS = (
    Form(name="submit_plan", description="the plan", schema={"type": "object", "properties": {}}),
    Form(name="cannot_plan", description="none", schema={"type": "object", "properties": {}}),
)
QUESTION = Question(about="a plan", instructions="Be brief.", text="CANARY", forms=FORMS)
PROSE = Question(about="a closing", instructions="Be brief.", text="CANARY")
GOOD = {"steps": [{"id": "s1"}]}


@pytest.fixture(autouse=True)
def _no_patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """Who does not say how long to wait is asked again at once."""
    monkeypatch.setattr(endpoint_module, "_PAUSE_S", 0.001)


def settings_of(url: str, **more: Any) -> Settings:
    """A model there, with a key."""
    return Settings(model_name="fake-1", model_base_url=url, model_key=KEY, **more)  # type: ignore[arg-type]


async def asked(served: wire.Endpoint, question: Question = QUESTION, **more: Any) -> Any:
    """One answer of the endpoint."""
    endpoint = Endpoint(settings_of(served.url, **more), "fake-1")
    try:
        return await endpoint.ask(question)
    finally:
        await endpoint.aclose()


async def test_a_form_is_taken_by_a_tool_call() -> None:
    """The forms are the tools, one of which must be called; the key travels in its header alone."""
    async with serving(call("submit_plan", GOOD)) as served:
        reply = await asked(served)
    assert (reply.form, reply.body, reply.tokens) == ("submit_plan", GOOD, 1000)
    (body,) = served.asked
    assert [tool["function"]["name"] for tool in body["tools"]] == ["submit_plan", "cannot_plan"]
    assert (body["tool_choice"], body["max_tokens"], body["stream"]) == ("required", 8000, False)
    assert [one["role"] for one in body["messages"]] == ["system", "user"]
    assert served.keys == [f"Bearer {KEY}"]
    assert KEY not in json.dumps(body)


@pytest.mark.parametrize("output", ["json-schema", "prompt"])
async def test_a_form_without_tools(output: str) -> None:
    """The same forms as a schema of the response, or told in words; a fence around the JSON does no harm."""
    told = json.dumps({"submit_plan": GOOD})
    async with serving(words(told), words(f"```json\n{told}\n```")) as served:
        replies = [await asked(served, model_output=output) for _ in range(2)]
    assert [(one.form, one.body) for one in replies] == [("submit_plan", GOOD)] * 2
    body = served.asked[0]
    assert "tools" not in body
    assert ("response_format" in body) >= (output == "json-schema")
    assert "submit_plan" in json.dumps(body)


@pytest.mark.parametrize(
    ("answer", "form", "body", "text"),
    [
        (call("submit_plan", '{"steps":['), "submit_plan", '{"steps":[', ""),
        (call("submit_plan", '{"a":1,"a":2}'), "submit_plan", '{"a":1,"a":2}', ""),
        (call("another_tool", {}), "", None, ""),
        (words("I would start with"), "", None, "I would start with"),
        (words('{"submit_plan": {}, "cannot_plan": {}}'), "", None, '{"submit_plan": {}, "cannot_plan": {}}'),
    ],
    ids=["broken JSON", "a key twice", "no form of ours", "words", "two forms"],
)
async def test_what_has_not_the_shape_comes_back_as_it_is(
    answer: Answer, form: str, body: Any, text: str
) -> None:
    """Nothing is mended, guessed or taken for a form that it is not."""
    async with serving(answer) as served:
        reply = await asked(served)
    assert (reply.form, reply.body, reply.text) == (form, body, text)


async def test_a_refusal_and_a_cut_are_told_apart() -> None:
    """A provider's refusal has its words; an answer that ran into its limit says so."""
    cut = call("submit_plan", '{"steps":[')
    async with serving(refusal("not this"), Answer(message=cut.message, finish="length")) as served:
        assert (await asked(served)).refusal == "not this"
        assert (await asked(served)).cut


DEAD: dict[str, tuple[list[Answer], str]] = {
    "the key": ([fails(401)], r"refuses the key \(401\): look at CONDOR_MODEL_KEY"),
    "the name": ([fails(404)], r"is not there \(404\): look at CONDOR_MODEL_NAME"),
    "a bad request": ([fails(400)], r"refuses what it was asked \(400, bad\)"),
    "busy for long": (
        [fails(429, retry_after="600")],
        r"is busy or its quota is used up \(429\), and asks to come back in 600 s$",
    ),
    "its own fault": ([fails(503)] * 3, r"has a fault of its own \(503\), asked 3 times"),
    "no word": ([Answer(drops=True)] * 3, "cannot be reached: .*, asked 3 times"),
    "no JSON": ([Answer(raw=b"<html>sorry CANARY</html>")], "broke off in its answer"),
    "no completion": ([Answer(raw=b'{"said": "CANARY"}')], "cannot be read as a plan"),
    "silence": ([Answer(hangs=True)], "gave no answer within 0.5 s"),
}


@pytest.mark.parametrize(("answers", "said"), DEAD.values(), ids=DEAD)
async def test_what_goes_wrong_is_said_in_one_line(
    answers: list[Answer], said: str, caplog: pytest.LogCaptureFixture
) -> None:
    """Which model, where, what and which setting; never the key, what was asked or what came back."""
    caplog.set_level(logging.DEBUG, "condor")
    async with serving(*answers) as served:
        with pytest.raises(ModelUnavailable, match=said) as refused:
            await asked(served, model_timeout_s=3 if len(answers) > 1 else 0.5)
        assert len(served.asked) == len(answers)
    told = str(refused.value)
    assert told.startswith(f"the model 'fake-1' at {served.url.removesuffix('/v1')} ")
    ours = "".join(record.getMessage() for record in caplog.records if record.name.startswith("condor"))
    for text in (told, ours):
        assert KEY not in text
        assert "CANARY" not in text
    assert refused.value.__cause__ is None


async def test_nothing_that_is_asked_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    """However much is to be logged: neither the key, nor what is asked, nor what is answered."""
    caplog.set_level(logging.DEBUG)
    async with serving(words("ANSWER-CANARY"), fails(400)) as served:
        await asked(served)
        with pytest.raises(ModelUnavailable):
            await asked(served)
    assert [text for text in (KEY, "CANARY") if text in caplog.text] == []


async def test_nobody_there() -> None:
    """A refused connection is the same clear line."""
    async with serving() as served:
        url = served.url
    endpoint = Endpoint(settings_of(url, model_retries=0), "fake-1")
    with pytest.raises(ModelUnavailable, match="cannot be reached: look at CONDOR_MODEL_BASE_URL"):
        await endpoint.ask(QUESTION)
    await endpoint.aclose()


async def test_who_is_busy_is_asked_again_when_it_says() -> None:
    """A 429 with its `retry-after`, then a plan: asked twice, with the same question."""
    async with serving(fails(429, retry_after="0.05"), call("submit_plan", GOOD)) as served:
        assert (await asked(served)).body == GOOD
    assert served.asked[0] == served.asked[1]


async def test_tokens_and_cost() -> None:
    """By the endpoint's word and the configured price; where it has no word, by length: nothing is free."""
    async with serving(plan(), plan(usage=None)) as served:
        told = await asked(served, model_input_usd=2.0, model_output_usd=10.0)
        silent = await asked(served)
    assert (told.tokens, told.cost_usd) == (1000, pytest.approx(0.0044))
    assert silent.tokens > 5
    assert silent.cost_usd == 0


async def test_a_stream_comes_in_parts_and_ends_with_its_cost() -> None:
    """As it is written; the cost last."""
    async with serving(words("", parts=("It ", "was ", "done."))) as served:
        endpoint = Endpoint(settings_of(served.url), "fake-1")
        parts = [part async for part in endpoint.stream(PROSE)]
        await endpoint.aclose()
    assert parts == ["It ", "was ", "done.", Spent(tokens=1000, cost_usd=0.0)]
    assert served.asked[0]["stream"] is True


@pytest.mark.parametrize(
    "answer",
    [
        words("", parts=("It ", "was ", "done."), cut_after=2),
        fails(500),
        Answer(hangs=True),
        Answer(drops=True),
    ],
    ids=["breaks off", "500", "silence", "no word"],
)
async def test_a_stream_that_breaks_says_so(answer: Answer) -> None:
    """It is not begun anew, and its end is not taken for one."""
    async with serving(answer) as served:
        endpoint = Endpoint(settings_of(served.url, model_timeout_s=0.5), "fake-1")
        parts: list[str | Spent] = []
        with pytest.raises(ModelUnavailable):
            async for part in endpoint.stream(PROSE):
                parts.append(part)  # noqa: PERF401 - what came before the error is looked at
        await endpoint.aclose()
        assert len(served.asked) == 1
    # What was written is paid for.
    assert bool(parts) is any(isinstance(part, Spent) and part.tokens > 0 for part in parts)


async def test_a_provider_that_is_not_there_is_refused() -> None:
    """An unknown one, and one whose client library is not installed."""
    for name in ("nobody", "anthropic"):
        endpoint = Endpoint(Settings(model_name="x", model_provider=name, model_key=KEY), "x")  # type: ignore[arg-type]
        with pytest.raises(RefusedInput, match=f"CONDOR_MODEL_PROVIDER is '{name}'") as refused:
            await endpoint.ask(QUESTION)
        assert KEY not in str(refused.value)


async def test_the_doctors_question() -> None:
    """One word is asked for; without a model that is said."""
    async with serving(words("yes")) as served:
        said = await check_models(settings_of(served.url), asks=True)
        assert said.endswith("answers (1000 tokens)")
        assert "for plan, confirm, regenerate, write" in await check_models(
            settings_of(served.url), asks=False
        )
    with pytest.raises(RefusedInput, match="no model is configured"):
        await check_models(Settings(), asks=True)


def test_only_what_is_asked_for_is_there() -> None:
    """`CONDOR_MODEL_FOR` takes uses away; without a name there is nothing."""
    some = models_of(Settings(model_name="x", model_for="confirm, write"))
    assert (some.planner, some.regenerator) == (None, None)
    assert some.confirmer is not None
    assert some.writer is not None
    none = models_of(Settings())
    assert (none.planner, none.confirmer, none.writer, none.endpoints) == (None, None, None, ())
