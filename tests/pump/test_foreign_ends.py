"""Foreign code that raises what ends programs and tasks: it ends its own call, at once, by its name."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, Any

import pytest

from condor import CardEvidence, HitlTier, PolicyClass, ToolContext, tool
from condor.pump import retries
from tests.pump.desk import call, open_desk

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


class Stop(BaseException):
    """A tool author's own."""


#: Each makes one, because an exception keeps its traceback.
ENDS: dict[str, Callable[[], BaseException]] = {
    "BaseExceptionGroup": lambda: BaseExceptionGroup("several", [KeyboardInterrupt()]),
    "GeneratorExit": GeneratorExit,
    "KeyboardInterrupt": KeyboardInterrupt,
    "Stop": lambda: Stop("enough"),
    "SystemExit": lambda: SystemExit(4),
}
#: Longest that one of them may take, in seconds; the tools below have 30.
SOON_S = 3.0


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(retries, "RETRY_PAUSE_S", 0)


@pytest.mark.parametrize("name", sorted(ENDS))
@pytest.mark.parametrize("is_plain", [False, True])
async def test_a_tool_that_raises_no_exception_has_failed_at_once(
    tmp_path: Path, name: str, is_plain: bool
) -> None:
    """A read has failed, a write is unknown; neither is taken for silence."""

    async def ends(ctx: ToolContext) -> None:
        raise ENDS[name]()

    def ends_plainly(ctx: ToolContext) -> None:
        raise ENDS[name]()

    function = ends_plainly if is_plain else ends
    read = tool("e.read", policy_class=PolicyClass.READ)(function)
    write = tool("e.write", policy_class=PolicyClass.MUTATE, hitl_tier=HitlTier.LOW)(function)
    async with open_desk(tmp_path / "home", read, write) as desk:
        begun = time.monotonic()
        end = await desk.run(call("r", "e.read"), call("w", "e.write"), autonomy="autonomous")
        assert time.monotonic() - begun < SOON_S
        assert {step["id"]: (step["status"], step["code"]) for step in end["steps"]} == {
            "r": ("failed", "tool_raised"),
            "w": ("unknown", "tool_raised"),
        }
        card = await desk.card(end["runId"])
        assert name in card["message"]
        assert "no answer" not in card["message"]
        await desk.answer(card, {"happened": True, "reason": "it is in the record"})
        closing = (await desk.rest(end["runId"]))["closing"]
        assert (name in closing, "no answer" in closing) == (True, False)


@pytest.mark.parametrize("name", sorted(ENDS))
async def test_hooks_that_raise_no_exception_cost_their_run_no_more_than_one_that_does(
    tmp_path: Path, name: str
) -> None:
    """effect_of, preview, alias_args, report: the run rests where it would have, and the process goes on."""

    def raises(*_args: object, **_kwargs: object) -> Any:
        raise ENDS[name]()

    async def looks(ctx: ToolContext) -> CardEvidence:
        raise ENDS[name]()

    @tool("ok.read", policy_class=PolicyClass.READ, report=raises)
    async def ok(ctx: ToolContext) -> str:
        return "read"

    @tool("effect.write", policy_class=PolicyClass.MUTATE, hitl_tier=HitlTier.LOW, effect_of=raises)
    async def effect(ctx: ToolContext) -> str:
        return "written"

    @tool("look.write", policy_class=PolicyClass.MUTATE, hitl_tier=HitlTier.HIGH, preview=looks)
    async def look(ctx: ToolContext) -> str:
        raise AssertionError("it ran")

    @tool("one.read", policy_class=PolicyClass.READ, alias_group="g")
    async def one(ctx: ToolContext) -> None:
        raise ValueError("no")

    @tool("two.read", policy_class=PolicyClass.READ, alias_group="g", alias_args=raises)
    async def two(ctx: ToolContext) -> str:
        raise AssertionError("it ran")

    async with open_desk(tmp_path / "home", ok, effect, look, one, two) as desk:
        run = await desk.run(
            call("r", "ok.read"),
            call("w", "effect.write"),
            call("l", "look.write"),
            call("o", "one.read"),
            autonomy="autonomous",
        )
        assert {step["id"]: step["status"] for step in run["steps"]} == {
            "r": "succeeded",
            "w": "suspended",
            "l": "failed",
            "o": "failed",
        }
        end = await desk.approve(await desk.card(run["runId"]))
        assert end["status"] == "degraded"
        assert name in end["closing"]


@pytest.mark.parametrize("name", sorted(ENDS))
async def test_models_that_raise_no_exception(tmp_path: Path, name: str) -> None:
    """A planner's run fails and says so; for a confirmer a person is asked; a writer costs its prose."""

    class Model:
        async def plan(self, request: Any) -> object:
            raise ENDS[name]()

        async def confirm(self, question: Any) -> Any:
            raise ENDS[name]()

        def write(self, request: Any) -> Any:
            raise ENDS[name]()

    @tool("one.read", policy_class=PolicyClass.READ, alias_group="g")
    async def one(ctx: ToolContext) -> None:
        raise ValueError("no")

    @tool("two.read", policy_class=PolicyClass.READ, alias_group="g", alias_fidelity="degraded")
    async def two(ctx: ToolContext) -> str:
        return "less"

    model: Any = Model()
    async with open_desk(tmp_path / "home", one, two, planner=model, confirmer=model, writer=model) as desk:
        planned = await desk.rest((await desk.condor.start("anything")).id)
        assert planned["status"] == "failed"
        assert f"the planner failed ({name})" in planned["closing"]
        run = await desk.run(call("r", "one.read"), autonomy="autonomous")
        card = await desk.card(run["runId"])
        assert card["origin"] == "plan_mutation"
        assert (await desk.approve(card))["status"] == "degraded"


async def test_a_writer_that_ends_in_the_middle(tmp_path: Path) -> None:
    """What it raises while it writes ends its prose, not the process."""

    class Writer:
        async def write(self, request: Any) -> Any:
            if request is not None:
                raise SystemExit(5)
            yield

    @tool("ok.read", policy_class=PolicyClass.READ)
    async def ok(ctx: ToolContext) -> str:
        return "read"

    writer: Any = Writer()
    async with open_desk(tmp_path / "home", ok, writer=writer) as desk:
        assert (await desk.run(call("r", "ok.read")))["status"] == "succeeded"


@pytest.mark.parametrize(
    ("raised", "said"),
    [
        (TimeoutError("connect timed out"), "it raised TimeoutError: connect timed out"),
        (TimeoutError(), "it raised TimeoutError."),
        (StopAsyncIteration(), "failed: StopAsyncIteration."),
        (asyncio.CancelledError(), "failed: EscapedCancellation: it was cancelled, and not by Condor."),
        (ValueError("  "), "failed: ValueError."),
    ],
    ids=["timeout", "timeout-without-words", "without-words", "cancellation", "blank"],
)
async def test_what_a_tool_raised_is_said_as_it_was(tmp_path: Path, raised: BaseException, said: str) -> None:
    """Its own TimeoutError is no silence of the tool; a name without words has no colon."""

    @tool("t.read", policy_class=PolicyClass.READ)
    async def read(ctx: ToolContext) -> None:
        raise raised

    async with open_desk(tmp_path / "home", read) as desk:
        end = await desk.run(call("r", "t.read"))
        assert said in end["closing"]
        assert end["steps"][0]["attempt"] == (4 if isinstance(raised, TimeoutError) else 1)
