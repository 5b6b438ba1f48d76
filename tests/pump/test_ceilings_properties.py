"""The ceilings in whole runs: any configuration, any behaviour of the tools, any restarts between.

What was spent is counted here, from the calls and the log; the ledger is not asked about itself.
``CONDOR_CEILINGS`` sets how many runs are thought of.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import tempfile
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest import mock

from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from condor import (
    HitlTier,
    PolicyClass,
    StaleSuspension,
    ToolContext,
    ToolDescriptor,
    ToolError,
    ToolResult,
    tool,
)
from condor.core.recovery import LIMITS
from condor.core.run import TERMINAL
from condor.ports import deadline
from condor.pump import retries
from condor.testing import SeededClock
from tests.pump.desk import PATIENCE_S, open_desk

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

RUNS = int(os.environ.get("CONDOR_CEILINGS", "40"))
#: Cards answered in one run before it is stopped by hand: more than any budget allows edits.
ANSWERS_MAX = 60
NIGHT_S = 40_000
TTL_S = 3e8

RAISES: dict[str, Callable[[], Exception]] = {
    "fail": lambda: ToolError("no", retryable=True, effect="none"),
    "break": lambda: ToolError("no", effect="none"),
    "vague": lambda: ToolError("something", retryable=True),
    "timeout": TimeoutError,
}
SAYS: dict[str, object] = {
    "rubbish": object(),
    "less": ToolResult(outcome="degraded", value="less"),
    "said-failed": ToolResult(outcome="failed", value="no"),
    "skip": ToolResult(outcome="skipped"),
    "replan": ToolResult(value="done", needs_replan=True),
    "replan-failed": ToolResult(outcome="failed", value="no", needs_replan=True),
}
DEAR = ToolResult(value="dear", tokens=400, cost_usd=0.004)
SLOW_S = 700
BEHAVIOURS = (*RAISES, *SAYS, "ok", "hang", "stubborn", "slow", "dear")

#: What may be configured, and junk: zero, negative, NaN, beyond the bounds, words.
anything = st.one_of(
    st.integers(-2, 8),
    st.sampled_from([float("nan"), float("inf"), 10**12, "3", "many", None, True, 2.5]),
)
configurations = st.dictionaries(st.sampled_from([limit.name for limit in LIMITS]), anything, max_size=8)
tools = st.lists(
    st.fixed_dictionaries(
        {
            "script": st.lists(st.sampled_from(BEHAVIOURS), min_size=1, max_size=4),
            "write": st.booleans(),
            "idempotent": st.booleans(),
            "group": st.sampled_from(["", "g"]),
            "fidelity": st.sampled_from(["equal", "degraded"]),
        }
    ),
    min_size=1,
    max_size=4,
)
plans = st.lists(
    st.tuples(st.integers(0, 3), st.lists(st.integers(0, 5), max_size=2)), min_size=1, max_size=6
)


@dataclass
class World:
    """What the tools did, as they know it."""

    clock: SeededClock
    calls: list[tuple[str, str]] = field(default_factory=list)
    #: Seconds that calls have taken: all the work there is.
    worked_s: float = 0
    tokens: int = 0
    let_go: asyncio.Event = field(default_factory=asyncio.Event)

    async def act(self, how: str, ctx: ToolContext, name: str) -> object:
        """One call."""
        self.calls.append((ctx.step_id, name))
        if how in RAISES:
            raise RAISES[how]()
        if how in SAYS:
            return SAYS[how]
        match how:
            case "hang":
                await asyncio.Event().wait()
            case "stubborn":
                await self.until_let_go()
            case "slow":
                self.clock.advance(SLOW_S)
                self.worked_s += SLOW_S
            case "dear":
                self.tokens += DEAR.tokens
                return DEAR
            case _:
                pass
        return how

    async def until_let_go(self) -> None:
        """Whoever cancels."""
        while not self.let_go.is_set():
            with contextlib.suppress(asyncio.CancelledError):
                await self.let_go.wait()


def make(world: World, number: int, of: dict[str, Any]) -> ToolDescriptor:
    """A tool that behaves by its script, the last word of it for ever."""
    name, script = f"t{number}.call", of["script"]
    options: dict[str, Any] = {"policy_class": PolicyClass.READ}
    if of["write"]:
        options = {
            "policy_class": PolicyClass.MUTATE,
            "hitl_tier": HitlTier.LOW,
            "idempotent": of["idempotent"],
        }
    if of["group"]:
        options |= {"alias_group": of["group"], "alias_fidelity": of["fidelity"]}

    @tool(name, timeout_s=0.005, **options)
    async def act(ctx: ToolContext) -> Any:
        done = sum(called == name for _, called in world.calls)
        return await world.act(script[min(done, len(script) - 1)], ctx, name)

    return act


def counted_as(name: str, configured: dict[str, Any]) -> float:
    """What a ceiling has to be, said again without the code that clamps it."""
    limit = next(limit for limit in LIMITS if limit.name == name)
    said: Any = configured.get(name)
    if type(said) is str:
        said = int(said) if said.isdecimal() else None
    if type(said) not in (int, float) or not limit.floor <= said <= limit.most:
        return limit.default
    return limit.default if limit.whole and said != int(said) else float(said)


def shown_steps(plan: list[tuple[int, list[int]]], count: int) -> list[dict[str, Any]]:
    """The plan; a step waits for earlier ones alone."""
    return [
        {
            "id": f"s{place}",
            "tool": f"t{number % count}.call",
            "after": sorted({f"s{other}" for other in after if other < place}),
        }
        for place, (number, after) in enumerate(plan)
    ]


def answers_of(pattern: list[bool]) -> Iterator[bool]:
    """For ever."""
    while True:
        yield from pattern


def check_budget(shown: Any, configured: dict[str, Any]) -> None:
    """No figure stands above its ceiling, and the ceilings are those that were configured."""
    for limit in LIMITS:
        figure = shown["budget"][limit.name.removesuffix("_max")]
        assert figure["limit"] == counted_as(limit.name, configured), limit.name
        if limit.name != "wall_time_s_max":
            assert figure["used"] <= figure["limit"], (limit.name, figure)


def check_counts(world: World, events: list[Any], configured: dict[str, Any]) -> None:
    """The same, counted from what happened."""
    edits = [one for one in events if one["kind"] == "plan.revised" and "toTool" in one]
    assert len(edits) <= counted_as("plan_mutations_max", configured)
    assert sum(bool(one.get("replan")) for one in edits) <= counted_as("replans_max", configured) <= 5
    alike = Counter(
        (one["stepId"], one["decision"], one["rule"], one["fromTool"], one["toTool"]) for one in edits
    )
    assert max(alike.values(), default=0) <= counted_as("identical_decisions_max", configured)
    moved = Counter(one["stepId"] for one in edits if one["fromTool"] != one["toTool"])
    for step, calls in Counter(step for step, _ in world.calls).items():
        assert calls <= 1 + moved[step] + counted_as("retries_per_step_max", configured), step
    again = Counter(world.calls)
    assert max(again.values(), default=0) <= 1 + counted_as("identical_inputs_max", configured)
    wall = counted_as("wall_time_s_max", configured)
    assert world.worked_s <= wall + SLOW_S * 6, "only what was at work goes over"


async def whole(home: Path, case: dict[str, Any]) -> Any:
    """A run from its start to its end, with its answers, its restarts and its nights; its last snapshot."""
    clock = SeededClock(0)
    world = World(clock)
    made = [make(world, number, of) for number, of in enumerate(case["tools"])]
    configured, answers = case["limits"], answers_of(case["answers"])
    run_id, before = "", None
    for session in range(ANSWERS_MAX):
        async with open_desk(home, *made, clock=clock, seed=session, ttl_s=TTL_S, limits=configured) as desk:
            if not run_id:
                run_id = await desk.start(*shown_steps(case["plan"], len(made)), autonomy=case["autonomy"])
            shown = await desk.rest(run_id)
            if before is not None and not case["restarts"]:
                before = None
            if before is not None:
                assert shown["budget"] == before, "a restart and a night cost and refill nothing"
            while shown["status"] not in TERMINAL:
                check_budget(shown, configured)
                card = (await desk.cards(run_id))[0]
                yes = next(answers)
                if card["reasonCode"] == "reconcile":
                    body: dict[str, Any] = {"happened": True, "reason": "seen"}
                else:
                    body = {"approved": yes} if yes else {"approved": False, "reason": "no"}
                with contextlib.suppress(
                    StaleSuspension
                ):  # an edit that was made meanwhile; it is asked anew
                    await desk.answer(card, body)
                shown = await desk.rest(run_id)
                if case["restarts"] and shown["status"] not in TERMINAL:
                    break
            before = shown["budget"]
            check_budget(shown, configured)
            check_counts(world, await desk.events(run_id), configured)
            world.let_go.set()
            await asyncio.sleep(0)
            world.let_go.clear()
            if shown["status"] in TERMINAL:
                if "stop" in shown["budget"]:
                    assert shown["status"] in ("failed", "degraded")
                    assert shown["closing"].startswith("The run was stopped by its circuit breaker:")
                return shown
        clock.advance(NIGHT_S)
    raise AssertionError("it never ended")


def driven(case: dict[str, Any]) -> Any:
    """The end of the run, made in a directory and a loop of its own, without pauses."""
    with (
        tempfile.TemporaryDirectory() as folder,
        mock.patch.object(retries, "RETRY_PAUSE_S", 0),
        mock.patch.object(deadline, "UNWIND_S", 0.001),
    ):
        return asyncio.run(asyncio.wait_for(whole(Path(folder), case), PATIENCE_S))


cases = st.fixed_dictionaries(
    {
        "limits": configurations,
        "tools": tools,
        "plan": plans,
        "autonomy": st.sampled_from(["autonomous", "guarded"]),
        "answers": st.lists(st.booleans(), min_size=1, max_size=3),
        "restarts": st.booleans(),
    }
)


#: An idempotent write of an unknown end is entered again: the same call, with the same arguments.
FOUND_OUT_ABOUT = {
    "limits": {"identical_inputs_max": 1},
    "tools": [{"script": ["vague"], "write": True, "idempotent": True, "group": "", "fidelity": "equal"}],
    "plan": [(0, [])],
    "autonomy": "autonomous",
    "answers": [True],
    "restarts": False,
}


@settings(max_examples=RUNS, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@example(FOUND_OUT_ABOUT)
@given(cases)
def test_no_run_exceeds_a_ceiling(case: dict[str, Any]) -> None:
    """Whatever is configured, whatever the tools do, whoever answers, however often it is restarted."""
    driven(case)


storms = st.fixed_dictionaries(
    {
        "limits": configurations,
        "tools": st.just([]),
        "plan": st.just([(0, [])]),
        "autonomy": st.sampled_from(["autonomous", "guarded"]),
        "answers": st.just([True]),
        "restarts": st.booleans(),
    }
)


@settings(max_examples=RUNS // 2, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(storms, st.sampled_from(["replan", "replan-failed"]), st.booleans())
def test_a_step_that_always_replans_ends_typed(case: dict[str, Any], how: str, others: bool) -> None:
    """At most the configured replans (1 to 5, else 2), then a stop with its cause; under a watch too."""
    one: dict[str, Any] = {"script": [how], "write": False, "idempotent": False, "fidelity": "equal"}
    one["group"] = "g" if others else ""
    end = driven({**case, "tools": [one, one] if others else [one]})
    assert (end["status"], "stop" in end["budget"]) == ("failed", True)
    assert end["budget"]["replans"]["used"] <= counted_as("replans_max", case["limits"])
