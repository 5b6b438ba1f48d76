"""Edits of the plan that meet each other, a changed world, or an open breaker: what was shown is made."""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING, Any

import pytest

from condor import HitlTier, PolicyClass, ToolContext, ToolDescriptor, ToolError, ToolResult, tool
from condor.core.errors import StaleSuspension
from condor.core.recovery import Charge, GateVerb
from condor.ports.model import Confirmation
from condor.pump import retries
from condor.pump.breaker import pay
from condor.pump.phases.suspend_resume import ResumeRun
from condor.pump.segment import Segment
from condor.testing import ScriptedConfirmer, ToolFault, faulty
from tests.pump.desk import ANN, BOB, ask, call, open_desk

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(autouse=True)
def _no_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(retries, "RETRY_PAUSE_S", 0)


def source(name: str, **options: Any) -> ToolDescriptor:
    """A read of an alias group that says its own name."""
    options = {"policy_class": PolicyClass.READ, "alias_group": "books", **options}

    @tool(name, **options)
    async def read(ctx: ToolContext, record: str = "a") -> dict[str, Any]:
        return {"record": record, "said": name}

    return read


def down(name: str = "one.read", **options: Any) -> ToolDescriptor:
    """One that fails each time, and is not asked again."""
    return faulty(source(name, **options), ToolFault(kind="break", said="503"))


async def told(desk: Any, run_id: str, kind: str) -> list[Any]:
    """Events of one kind."""
    return [event for event in await desk.events(run_id) if event["kind"] == kind]


@pytest.mark.parametrize("failing", [8, 9, 14])
async def test_only_edits_that_are_made_are_charged_and_told(tmp_path: Path, failing: int) -> None:
    """Steps that fail together, more of them than there is budget for: ledger, log, audit and show agree."""
    entered: list[str] = []
    together = asyncio.Barrier(failing)

    @tool("order.put", policy_class=PolicyClass.MUTATE, hitl_tier=HitlTier.LOW, alias_group="orders")
    async def order(ctx: ToolContext, record: str) -> None:
        await together.wait()
        raise ToolError("down", effect="none")

    @tool("task.put", policy_class=PolicyClass.MUTATE, hitl_tier=HitlTier.LOW, alias_group="orders")
    async def task(ctx: ToolContext, record: str) -> dict[str, str]:
        entered.append(record)
        return {"task": record}

    async with open_desk(tmp_path / "home", order, task) as desk:
        steps = [call(f"s{number}", "order.put", record=str(number)) for number in range(failing)]
        end = await desk.run(*steps, autonomy="autonomous")
        made = await told(desk, end["runId"], "plan.revised")
        kept = [one for one in end["recovery"] if one["verb"] == "retry-with-different-tool"]
        assert len(made) == len(kept) == end["budget"]["plan_mutations"]["used"] == min(failing, 8)
        assert len(await desk.audit(end["runId"], decision="plan-revised")) == len(made)
        assert end["graph"]["revision"] == len(made) + 1
        stops = await told(desk, end["runId"], "breaker.stopped")
        assert len(stops) == len(await desk.audit(end["runId"], decision="stopped")) == (failing > 8)
        if failing == 8:
            assert len(entered) == 8


async def test_edits_approved_at_once_are_made_as_they_were_shown(tmp_path: Path) -> None:
    """Each card shows a revision; after the first edit the others are asked anew, answered or not."""
    async with open_desk(tmp_path / "home", down(), source("two.read")) as desk:
        run = await desk.run(*(call(f"s{number}", "one.read", record=str(number)) for number in range(3)))
        shown = {card["suspendId"]: card["contractHash"] for card in await desk.cards(run["runId"])}
        answers = [desk.answer(card, {"approved": True}) for card in await desk.cards(run["runId"])]
        assert [one for one in await asyncio.gather(*answers, return_exceptions=True) if one is None]
        end: Any = await desk.rest(run["runId"])
        while end["status"] == "suspended":
            card, *_ = await desk.cards(run["runId"])
            shown[card["suspendId"]] = card["contractHash"]
            with contextlib.suppress(StaleSuspension):
                await desk.answer(card, {"approved": True})
            end = await desk.rest(run["runId"])
        assert (end["status"], end["graph"]["revision"]) == ("succeeded", 4)
        rows = await desk.audit(run["runId"], decision="plan-revised")
        approved = {row["suspendId"] for row in await desk.audit(run["runId"], decision="approved")}
        assert len(rows) == 3
        assert all(shown[row["suspendId"]] == row["contractHash"] for row in rows)
        assert {row["suspendId"] for row in rows} <= approved


def without_args(of: str, args: Any) -> Any:
    return {"record": f"another than {args.get('record')}"}


@pytest.mark.parametrize(
    "now",
    [
        {"alias_fidelity": "degraded"},
        {"alias_args": without_args},
        {"title": "Another tool of that name"},
    ],
    ids=["does less", "other arguments", "other descriptor"],
)
async def test_an_edit_that_has_drifted_is_asked_anew(tmp_path: Path, now: dict[str, Any]) -> None:
    """What was shown is what is agreed to: the old card is stale and a new one takes its place."""
    home = tmp_path / "home"
    async with open_desk(home, down(), source("two.read")) as desk:
        run = await desk.run(call("s", "one.read"))
    async with open_desk(home, down(), source("two.read", **now), seed=1) as desk:
        old = await desk.card(run["runId"])
        with pytest.raises(StaleSuspension, match=r"two\.read would be called otherwise"):
            await desk.answer(old, {"approved": True})
        new = await desk.card(run["runId"])
        assert new["suspendId"] != old["suspendId"]
        end = await desk.approve(new)
        assert (end["status"], end["steps"][0]["tool"]) == (
            "degraded" if "alias_fidelity" in now else "succeeded", "two.read",
        )  # fmt: skip


@pytest.mark.parametrize("gone", ["one.read", "two.read"])
async def test_an_edit_is_not_answered_where_its_tools_are_not(tmp_path: Path, gone: str) -> None:
    """The answer is refused and the card stays open; with the tools of the run it is taken."""
    home, tools = tmp_path / "home", {"one.read": down(), "two.read": source("two.read")}
    async with open_desk(home, *tools.values()) as desk:
        run = await desk.run(call("s", "one.read"))
        card = await desk.card(run["runId"])
    async with open_desk(home, *(tool for name, tool in tools.items() if name != gone), seed=1) as desk:
        told = rf"there is no tool {gone} in this process; start it with the tools of this run"
        with pytest.raises(StaleSuspension, match=told):
            await desk.answer(card, {"approved": True})
        with pytest.raises(StaleSuspension, match=told):
            await desk.condor._running().check_answer(
                ResumeRun(run_id=None, suspend_id=card["suspendId"], data={"approved": True}, principal=BOB)
            )
        assert (await desk.card(run["runId"]))["suspendId"] == card["suspendId"]
    async with open_desk(home, *tools.values(), seed=2) as desk:
        end = await desk.approve(card)
        assert (end["status"], end["steps"][0]["tool"]) == ("succeeded", "two.read")


@pytest.mark.parametrize("gone", ["other class", "other role"])
async def test_an_edit_that_cannot_be_made_any_more(tmp_path: Path, gone: str) -> None:
    """The answer is refused as stale, the step ends as it had ended, and it is said why nothing stood in."""
    home = tmp_path / "home"
    instead = {
        "other class": [source("two.read", policy_class=PolicyClass.EXEC)],
        "other role": [source("two.read", roles=frozenset({"nobody"}))],
    }[gone]
    async with open_desk(home, down(), source("two.read")) as desk:
        run = await desk.run(call("s", "one.read"))
    async with open_desk(home, down(), *instead, seed=1) as desk:
        with pytest.raises(StaleSuspension, match=r"two\.read may not do this step any more"):
            await desk.answer(await desk.card(run["runId"]), {"approved": True})
        end: Any = await desk.rest(run["runId"])
        assert (end["status"], end["steps"][0]["tool"]) == ("failed", "one.read")
        assert [one["rule"] for one in end["recovery"]] == ["end.as-it-is"]
        assert await desk.audit(run["runId"], decision="plan-kept")
        assert "No other tool could stand in for it" in end["closing"]


async def test_a_declined_edit_is_a_decision_of_its_own(tmp_path: Path) -> None:
    """In show, in the audit after the denial, and by nobody but the system."""
    async with open_desk(tmp_path / "home", down(), source("two.read")) as desk:
        run = await desk.run(call("s", "one.read"))
        end = await desk.deny(await desk.card(run["runId"]))
        assert [(one["rule"], one["verb"]) for one in end["recovery"]] == [("end.declined", "none")]
        decisions = await desk.decisions(end["runId"])
        assert decisions.index("denied") < decisions.index("plan-kept")
        (row,) = await desk.audit(end["runId"], decision="plan-kept")
        assert (row["actor"], row["ruleId"]) == ("system", "end.declined")
        (asked,) = await desk.audit(end["runId"], decision="suspended")
        assert asked["ruleId"] == "end.supervised"


async def test_a_second_look_that_tightens_is_told(tmp_path: Path) -> None:
    """Which verb the rule had is kept beside the stricter one; on a last step it has an audit row too."""
    strict = ScriptedConfirmer(Confirmation(verb=GateVerb.SKIP_REMAINING))
    less = source("two.read", alias_fidelity="degraded")
    async with open_desk(tmp_path / "home", down(), less, confirmer=strict) as desk:
        end = await desk.run(call("s", "one.read"), autonomy="autonomous")
        (one,) = end["recovery"]
        assert (one["verb"], one["ruleVerb"]) == ("skip-remaining", "retry-with-different-tool")
        (row,) = await desk.audit(end["runId"], decision="plan-kept")
        decisions = await desk.decisions(end["runId"])
        assert row["reasonCode"] == "continue:skip-remaining"
        assert decisions.index("executed") < decisions.index("plan-kept")


async def test_what_others_spent_beside_an_open_breaker_is_told(tmp_path: Path) -> None:
    """Twelve at once: the stop says all that is gone, once, and the closing says the same."""
    together = asyncio.Barrier(12)

    @tool("ask.model", policy_class=PolicyClass.READ)
    async def ask(ctx: ToolContext, n: int) -> ToolResult:
        await together.wait()
        return ToolResult(value=n, tokens=300_000)

    async with open_desk(tmp_path / "home", ask) as desk:
        steps = [call(f"s{n}", "ask.model", n=n) for n in range(12)]
        end = await desk.run(*steps, autonomy="autonomous")
        stop = end["budget"]["stop"]
        assert (stop["limit"], stop["used"]) == ("tokens_max", 3_600_000)
        assert "3,600,000 of at most 1,000,000 tokens" in end["closing"]
        assert len(await told(desk, end["runId"], "breaker.stopped")) == 1


async def test_an_approver_of_an_edit_is_its_actor(tmp_path: Path) -> None:
    """The row of an applied edit names who agreed to it, and the contract that was shown."""
    async with open_desk(tmp_path / "home", down(), source("two.read")) as desk:
        run = await desk.run(call("s", "one.read"))
        card = await desk.card(run["runId"])
        await desk.approve(card, BOB)
        (row,) = await desk.audit(run["runId"], decision="plan-revised")
        assert (row["actor"], row["contractHash"]) == (BOB.id, card["contractHash"])
        assert row["actor"] != ANN.id


@pytest.fixture
def met(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """``meet``: what happens once, right before an edit is stored; ``segment``: whose edit that was."""
    seen: dict[str, Any] = {}
    commit = Segment.commit

    async def met_commit(self: Segment, moves: Any = None, **rest: Any) -> Any:
        if moves is not None and any(kind == "plan.revised" for kind, _ in moves.events):
            seen["segment"] = self
            if meet := seen.pop("meet", None):
                await meet(self)
        return await commit(self, moves, **rest)

    monkeypatch.setattr(Segment, "commit", met_commit)
    return seen


async def test_an_edit_that_another_overtook_is_charged_once(tmp_path: Path, met: dict[str, Any]) -> None:
    """An answer comes between, then the other edit: the one that is asked anew has cost nothing yet."""
    async with open_desk(tmp_path / "home", down(), source("two.read")) as desk:
        steps = (call("s0", "one.read", record="0"), call("s1", "one.read", record="1"), ask("c", "Go on?"))
        run = await desk.run(*steps)
        cards = {card["stepId"]: card for card in await desk.cards(run["runId"])}

        async def meet(segment: Segment) -> None:
            await desk.answer(cards["s1"], {"approved": True})
            while not segment.editing._waiters:  # noqa: ASYNC110
                await asyncio.sleep(0.001)
            await desk.answer(cards["c"], {"approved": True})

        met["meet"] = meet
        await desk.answer(cards["s0"], {"approved": True})
        end: Any = await desk.rest(run["runId"])
        assert (end["status"], end["graph"]["revision"]) == ("suspended", 2)
        assert end["budget"]["plan_mutations"]["used"] == 1
        end = await desk.approve(await desk.card(run["runId"]))
        assert (end["status"], end["graph"]["revision"]) == ("succeeded", 3)
        assert end["budget"]["plan_mutations"]["used"] == 2
        assert len(await told(desk, run["runId"], "plan.revised")) == 2


async def test_an_edit_that_a_stop_overtook_costs_nothing(tmp_path: Path, met: dict[str, Any]) -> None:
    """The step ends as it had ended; others' charges in between stay."""
    async with open_desk(tmp_path / "home", down(), source("two.read")) as desk:
        run = await desk.run(call("s", "one.read"))

        async def meet(segment: Segment) -> None:
            pay(segment, Charge(tokens=7))
            await desk.condor.stop(run["runId"])

        met["meet"] = meet
        end = await desk.approve(await desk.card(run["runId"]))
        ledger = met["segment"].state.ledger
        assert (end["status"], end["steps"][0]["status"]) == ("aborted", "failed")
        assert end["graph"]["revision"] == 1
        assert (ledger.plan_mutations, ledger.tokens, ledger.steps) == (0, 7, {})
        assert (end["budget"]["plan_mutations"]["used"], end["budget"]["tokens"]["used"]) == (0, 7)
