"""What planning, a call and a second opinion cost reaches the breaker; over a ceiling the run stops."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from condor import HitlTier, PolicyClass, ToolContext, ToolDescriptor, ToolResult, tool
from condor.core.recovery import Charge
from condor.ports.model import Confirmation, Proposal
from condor.pump.breaker import pay
from condor.pump.segment import Segment
from condor.pump.state import RunState
from condor.testing import ScriptedConfirmer, faulty
from tests.pump.desk import call, open_desk, read_tool, write_tool

if TYPE_CHECKING:
    from pathlib import Path

    from condor.testing import Ledger

LIMITS = {"tokens_max": 1_000, "cost_usd_max": 0.5}


def costly(
    name: str = "costly.read", *, tokens: Any = 0, cost_usd: Any = 0, **options: Any
) -> ToolDescriptor:
    """A read that says what it cost."""

    @tool(name, policy_class=PolicyClass.READ, **options)
    async def read(ctx: ToolContext) -> ToolResult:
        return ToolResult(value="found", tokens=tokens, cost_usd=cost_usd)

    return read


class Thinker:
    """A planner whose plans cost something."""

    def __init__(self, *thoughts: object) -> None:
        self.thoughts = list(thoughts)

    async def plan(self, request: Any) -> object:
        """The first thought."""
        return self.thoughts[0]

    async def repair(self, request: Any) -> object:
        """The second one."""
        return self.thoughts[1]


PLAN = {"steps": [call("r", "book.read")]}


async def asked(desk: Any) -> Any:
    """Words that become a plan."""
    run = await desk.condor.start("look it up")
    return await desk.rest(run.id)


async def test_a_call_is_charged_and_the_run_goes_on(tmp_path: Path) -> None:
    """What fits is charged; a restart has it."""
    home = tmp_path / "home"
    tools = costly(tokens=300, cost_usd=0.1), costly("dear.read", tokens=300, cost_usd=0.1)
    async with open_desk(home, *tools, limits=LIMITS) as desk:
        end = await desk.run(call("a", "costly.read"), call("b", "dear.read", after=["a"]))
        assert end["status"] == "succeeded"
    async with open_desk(home, *tools, limits=LIMITS, seed=1) as desk:
        shown: Any = await desk.condor.show(end["runId"])
        budget = shown["budget"]
        assert budget["tokens"] == {"used": 600, "limit": 1_000, "unit": "tokens"}
        assert budget["cost_usd"] == {"used": 0.2, "limit": 0.5, "unit": "US dollars"}
        assert "stop" not in budget


@pytest.mark.parametrize(
    ("cost", "limit", "said"),
    [
        ({"tokens": 1_500_000}, "tokens_max", "1,500,000 of at most 1,000 tokens"),
        ({"cost_usd": 0.75}, "cost_usd_max", "0.75 of at most 0.5 US dollars"),
    ],
)
async def test_a_call_over_a_ceiling_stops_the_run(tmp_path: Path, cost: Any, limit: str, said: str) -> None:
    """The step stays done, nothing more is begun; closing, show, log and audit say which ceiling."""
    async with open_desk(tmp_path / "home", costly(**cost), limits=LIMITS) as desk:
        end = await desk.run(call("a", "costly.read"), call("b", "costly.read", after=["a"]))
        assert (end["status"], [step["status"] for step in end["steps"]]) == (
            "degraded", ["succeeded", "skipped"],
        )  # fmt: skip
        assert end["budget"]["stop"]["limit"] == limit
        assert end["budget"][limit.removesuffix("_max")]["used"] == 0, "what does not fit is not charged"
        assert f"stopped by its circuit breaker: {said} were used up" in end["closing"]
        (stop,) = [one for one in await desk.events(end["runId"]) if one["kind"] == "breaker.stopped"]
        assert (stop["limit"], stop["outcome"], stop["stepId"]) == (limit, "degraded", "a")
        (row,) = await desk.audit(end["runId"], decision="stopped")
        assert row["reasonCode"] == f"breaker.{limit}"


async def test_a_write_over_a_ceiling_is_done_and_told(tmp_path: Path, ledger: Ledger) -> None:
    """What was written was written; it is neither repeated nor called failed."""

    @tool("dear.write", policy_class=PolicyClass.MUTATE, hitl_tier=HitlTier.LOW, noun="the order")
    async def write(ctx: ToolContext) -> ToolResult:
        ledger.write("a", "x", key=ctx.idempotency_key, once=False)
        return ToolResult(value=1, tokens=5_000)

    async with open_desk(tmp_path / "home", write, limits=LIMITS) as desk:
        end = await desk.run(call("w", "dear.write"), autonomy="autonomous")
        assert (end["status"], end["steps"][0]["status"], ledger.count()) == ("degraded", "succeeded", 1)
        assert "executed" in await desk.decisions(end["runId"])


@pytest.mark.parametrize(
    "cost", [{"tokens": -1}, {"tokens": "9"}, {"cost_usd": float("nan")}, {"tokens": 10**400}]
)
async def test_a_cost_that_is_none_is_no_answer(tmp_path: Path, cost: Any) -> None:
    """Nothing can be bought back: the answer does not count."""
    async with open_desk(tmp_path / "home", costly(**cost)) as desk:
        end = await desk.run(call("a", "costly.read"))
        assert (end["status"], end["steps"][0]["code"]) == ("failed", "bad_result")


async def test_planning_is_charged_repair_too(tmp_path: Path, ledger: Ledger) -> None:
    """Both candidates are paid for."""
    planner = Thinker(Proposal(plan={"steps": 1}, tokens=300), Proposal(plan=PLAN, tokens=200, cost_usd=0.25))
    async with open_desk(tmp_path / "home", read_tool(ledger), planner=planner, limits=LIMITS) as desk:
        end = await asked(desk)
        assert (end["status"], end["budget"]["tokens"]["used"]) == ("succeeded", 500)
        assert end["budget"]["cost_usd"]["used"] == 0.25


@pytest.mark.parametrize(
    "first", [Proposal(plan=PLAN, tokens=1_001), Proposal(plan={"steps": 1}, tokens=999)]
)
async def test_planning_over_a_ceiling_stops_the_run(tmp_path: Path, ledger: Ledger, first: Proposal) -> None:
    """Before anything of the plan runs, whichever candidate it was."""
    planner = Thinker(first, Proposal(plan=PLAN, tokens=2))
    async with open_desk(tmp_path / "home", read_tool(ledger), planner=planner, limits=LIMITS) as desk:
        end = await asked(desk)
        assert (end["status"], end["steps"], end["budget"]["stop"]["limit"]) == ("failed", [], "tokens_max")
        assert end["closing"] == (
            "The run was stopped by its circuit breaker: 1,001 of at most 1,000 tokens were used up."
        )


async def test_a_refusal_is_paid_for_too(tmp_path: Path) -> None:
    """It says what it says, and the budget has what it cost."""
    planner = Thinker(Proposal(refusal="I can look up books", tokens=40))
    async with open_desk(tmp_path / "home", planner=planner) as desk:
        end = await asked(desk)
        assert (end["status"], end["closing"], end["budget"]["tokens"]["used"]) == (
            "failed", "I can look up books", 40,
        )  # fmt: skip


async def test_a_planner_that_says_nonsense_of_its_cost_has_failed(tmp_path: Path) -> None:
    """It is no plan."""
    planner = Thinker(Proposal(plan=PLAN, tokens=-5))
    async with open_desk(tmp_path / "home", planner=planner) as desk:
        end = await asked(desk)
        assert (end["status"], "no amount" in end["closing"]) == ("failed", True)


async def test_a_confirmer_over_a_ceiling_is_the_stops_cause(tmp_path: Path) -> None:
    """Not "the second look said to stop": it said nothing of the kind."""
    confirmer = ScriptedConfirmer(Confirmation(verb="retry-with-different-tool", tokens=2_000))

    @tool("less.read", policy_class=PolicyClass.READ, alias_group="g", alias_fidelity="degraded")
    async def less(ctx: ToolContext) -> str:
        return "less"

    broken = faulty(costly(alias_group="g"), "break")
    async with open_desk(tmp_path / "home", broken, less, confirmer=confirmer, limits=LIMITS) as desk:
        end = await desk.run(call("a", "costly.read"), autonomy="autonomous")
        assert (end["status"], end["budget"]["stop"]["limit"], end["budget"]["stop"]["used"]) == (
            "failed", "tokens_max", 2_000,
        )  # fmt: skip
        assert (end["recovery"][0]["verb"], end["recovery"][0]["stop"]) == ("halt", "tokens_max")


async def test_what_is_spent_beside_a_card_stays_spent(tmp_path: Path, ledger: Ledger) -> None:
    """Parked and restarted, the budget is what it was; the next call meets the ceiling."""
    home, tools = tmp_path / "home", (costly(tokens=600), write_tool(ledger))
    steps = (
        call("a", "costly.read"),
        call("w", "book.write", record="a", value="x", after=["a"]),
        call("b", "costly.read", after=["w"]),
    )
    async with open_desk(home, *tools, limits=LIMITS) as desk:
        run = await desk.run(*steps)
    async with open_desk(home, *tools, limits=LIMITS, seed=1) as desk:
        end = await desk.approve(await desk.card(run["runId"]))
        assert (end["budget"]["tokens"]["used"], end["budget"]["stop"]["used"]) == (600, 1_200)


async def test_what_was_staged_early_does_not_overwrite_what_was_spent_since(
    tmp_path: Path, ledger: Ledger
) -> None:
    """A ledger that waited to be stored is stored as it is then: a restart has all that was spent."""
    async with open_desk(tmp_path / "home", write_tool(ledger), limits=LIMITS) as desk:
        parked = await desk.run(call("w", "book.write", record="a", value="x"))
        ports = desk.condor._running()._ports
        stored = await ports.store.load(parked["runId"])
        assert stored is not None
        segment = Segment(RunState.from_store(stored), ports)
        assert pay(segment, Charge(tokens=10)) is None
        waiting = segment.take_facts()
        assert pay(segment, Charge(tokens=30)) is None
        await segment.commit()
        segment.facts = waiting
        await segment.commit()
        after = await ports.store.load(parked["runId"])
        assert after is not None
        assert RunState.from_store(after).ledger.used()["tokens_max"] == 40
