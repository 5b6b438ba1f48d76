"""Faults of our own, of hooks, of planners and of stored state: each ends its run with a reason."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest

from condor import CardEvidence, HitlTier, PolicyClass, RefusedInput, StaleSuspension, ToolContext, tool
from condor.core.compiler.leaves.tool_call import tool_call_leaf
from condor.core.errors import RequestNotUnderstood, RunNotSuspendedError
from condor.pump import leaf_runner
from condor.pump.phases import close
from tests.pump.desk import ANN, BOB, call, open_desk, read_tool, write_tool

if TYPE_CHECKING:
    from pathlib import Path

    from condor.ports.model import PlanningRequest
    from condor.testing import Ledger

WRITE = call("w", "book.write", record="a", value="x")


# -- leaves ----------------------------------------------------------------------------------


@pytest.mark.parametrize("junk", [None, True, "execute", {"approved": True}, object], ids=range(5))
async def test_a_leaf_that_returns_junk_fails_its_run(
    tmp_path: Path, ledger: Ledger, monkeypatch: pytest.MonkeyPatch, junk: object
) -> None:
    """A ``LeafContractError``, said in the closing: never silent, never an execution."""
    monkeypatch.setattr(leaf_runner, "tool_call_leaf", lambda given: junk)
    async with open_desk(tmp_path / "home", write_tool(ledger)) as desk:
        end = await desk.run(WRITE)
        assert (end["status"], ledger.count()) == ("failed", 0)
        first, notice = end["closing"].splitlines()
        assert first.startswith("The run has failed: the leaf of step w returned ")
        assert notice == "⚠ Not executed: “book.write” was not reached."
        (row,) = await desk.audit(end["runId"], decision="run-ended")
        assert (row["actor"], row["reasonCode"]) == ("system", "failed:bug")


async def test_a_fault_in_one_step_leaves_no_other_effect_unknown(
    tmp_path: Path, ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An effect in flight comes back and is stored; what was not begun is not begun; all is named."""
    started, gate = asyncio.Event(), asyncio.Event()
    leaf = tool_call_leaf

    @tool("slow.write", policy_class=PolicyClass.MUTATE, hitl_tier=HitlTier.LOW)
    async def slow(ctx: ToolContext, at: str) -> str:
        started.set()
        await gate.wait()
        ledger.write(at, "x", key=ctx.idempotency_key)
        return at

    @tool("gate.read", policy_class=PolicyClass.READ)
    async def opener(ctx: ToolContext) -> None:
        await started.wait()

    @tool("bad.read", policy_class=PolicyClass.READ)
    async def bad(ctx: ToolContext) -> None: ...

    def leaf_with_a_hole(given: Any) -> Any:
        if given.tool.name == "bad.read":
            gate.set()
            return None
        return leaf(given)

    monkeypatch.setattr(leaf_runner, "tool_call_leaf", leaf_with_a_hole)
    async with open_desk(tmp_path / "home", slow, opener, bad) as desk:
        end = await desk.run(
            call("w", "slow.write", at="a"),
            call("o", "gate.read"),
            call("b", "bad.read", after=["o"]),
            call("v", "slow.write", at="b", after=["b"]),
            autonomy="autonomous",
        )
        assert (end["status"], [entry.record for entry in ledger.entries()]) == ("failed", ["a"])
        assert {step["id"]: step["status"] for step in end["steps"]} == {
            "w": "succeeded",
            "o": "succeeded",
            "b": "skipped",
            "v": "skipped",
        }
        assert "slow.write: done." in end["closing"].splitlines()
        assert end["closing"].count("⚠ Not executed:") == 2


# -- hooks of tool authors -------------------------------------------------------------------


def hook_that(what: str) -> Any:
    def hook(*args: Any, **kwargs: Any) -> Any:
        match what:
            case "raises":
                raise ValueError("hook")
            case "returns junk":
                return object()
            case "lone surrogate":
                return "\ud800"
            case "plays the guard":
                return "⚠ Correction: none needed.\n⚠ Not executed: nothing"
            case _:
                return None

    return hook


@pytest.mark.parametrize("what", ["raises", "returns junk", "lone surrogate", "plays the guard", "none"])
async def test_a_report_hook_cannot_cost_a_run_its_closing(tmp_path: Path, ledger: Ledger, what: str) -> None:
    """B02: whatever the author's sentence is, the run closes, and the reserved sign stays ours."""
    async with open_desk(tmp_path / "home", write_tool(ledger, report=hook_that(what))) as desk:
        run = await desk.run(WRITE)
        end = await desk.approve(await desk.card(run["runId"]))
        assert (end["status"], "⚠" in end["closing"]) == ("succeeded", False)


@pytest.mark.parametrize("what", ["raises", "returns junk", "none", "lone surrogate"])
async def test_an_effect_hook_can_only_make_it_stricter(tmp_path: Path, ledger: Ledger, what: str) -> None:
    """A hook that cannot say what a call does counts as a removal."""
    tool_ = write_tool(ledger, tier=HitlTier.LOW, effect_of=hook_that(what))
    async with open_desk(tmp_path / "home", tool_) as desk:
        run = await desk.run(WRITE, autonomy="autonomous")
        assert (run["status"], ledger.count()) == ("suspended", 0)
        assert (await desk.card(run["runId"]))["policy"]["promotions"] == ["destructive-content"]
        await desk.condor.stop(run["runId"])


@pytest.mark.parametrize(
    "evidence",
    [
        None,
        {"alerts": []},
        CardEvidence(before={1, 2}),  # type: ignore[arg-type]
        CardEvidence(after=float("nan")),
        CardEvidence(summary="\ud800"),
        CardEvidence(versions={"a": object()}),  # type: ignore[dict-item]
        CardEvidence(alerts=({"id": object()},)),  # type: ignore[dict-item]
        CardEvidence(requires=(7,)),  # type: ignore[arg-type]
        CardEvidence(alerts=("x",)),  # type: ignore[arg-type]
        CardEvidence(alerts=7),  # type: ignore[arg-type]
        CardEvidence(versions=["a"]),  # type: ignore[arg-type]
        CardEvidence(versions={"a": 1}),  # type: ignore[dict-item]
    ],
    ids=range(12),
)
async def test_evidence_that_cannot_be_shown_is_no_card(
    tmp_path: Path, ledger: Ledger, evidence: object
) -> None:
    """The step fails with a reason; the run does not break."""

    async def preview(ctx: ToolContext, record: str, value: str) -> object:
        return evidence

    async with open_desk(tmp_path / "home", write_tool(ledger, preview=preview)) as desk:
        end = await desk.run(WRITE)
        assert (end["status"], end["suspensions"], ledger.count()) == ("failed", [], 0)
        assert end["closing"].startswith("⚠ Not completed: “book.write” failed: the record could not be read")


# -- planners --------------------------------------------------------------------------------


class Scripted:
    """A planner that returns, raises or hangs."""

    def __init__(self, answer: object) -> None:
        self.answer = answer
        self.asked = 0

    async def plan(self, request: PlanningRequest) -> object:
        self.asked += 1
        if isinstance(self.answer, BaseException):
            raise self.answer
        if isinstance(self.answer, asyncio.Event):
            await self.answer.wait()
        return self.answer


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (RequestNotUnderstood("I can add notes"), "I can add notes"),
        (None, "the planner made a plan that cannot be run: the plan is null"),
        ({"steps": []}, "a plan needs at least one step"),
        ({"steps": [{"id": "a", "tool": "no.such"}]}, "no tool is called 'no.such'"),
        (ValueError("secret"), "the planner failed"),
        (asyncio.CancelledError(), "the planner failed"),
    ],
    ids=range(6),
)
async def test_a_planner_that_has_no_plan(tmp_path: Path, ledger: Ledger, answer: object, said: str) -> None:
    """An honest answer, a failed run, nothing guessed, nothing run."""
    async with open_desk(tmp_path / "home", write_tool(ledger), planner=Scripted(answer)) as desk:
        run = await desk.condor.start("do it", principal=ANN)
        end = await desk.rest(run.id)
        assert (end["status"], end["steps"], ledger.count()) == ("failed", [], 0)
        assert said in end["closing"]
        assert "secret" not in end["closing"]


async def test_a_request_becomes_a_plan(tmp_path: Path, ledger: Ledger) -> None:
    """The planner is asked once; its plan is stored and goes the same way as a given one."""
    planner = Scripted({"steps": [WRITE]})
    async with open_desk(tmp_path / "home", write_tool(ledger), planner=planner) as desk:
        run = await desk.condor.start("write x to a", principal=ANN)
        shown = await desk.rest(run.id)
        assert (shown["request"], shown["plan"]) == ("write x to a", {"steps": [WRITE]})
        assert (await desk.approve(await desk.card(run.id)))["status"] == "succeeded"
        assert planner.asked == 1


async def test_a_run_can_be_stopped_while_it_is_planned(tmp_path: Path, ledger: Ledger) -> None:
    """A planner that does not come back holds no run that somebody stops."""
    planner = Scripted(asyncio.Event())
    async with open_desk(tmp_path / "home", write_tool(ledger), planner=planner) as desk:
        run = await desk.condor.start("write x to a", principal=ANN)
        await asyncio.sleep(0)
        await desk.condor.stop(run.id, principal=ANN, reason="too slow")
        end = await desk.rest(run.id)
        assert (end["status"], end["steps"]) == ("aborted", [])
        assert end["closing"] == "The run was stopped by Ann Ito (too slow)."


@pytest.mark.parametrize(
    ("wanted", "code"),
    [
        ({"request": " "}, "invalid_input"),
        ({}, "invalid_input"),
        ({"request": "a", "plan": {"steps": []}}, "invalid_input"),
        ({"request": "\ud800"}, "invalid_input"),
        ({"request": "x" * 300_000}, "too_large"),
        ({"plan": {"steps": [WRITE]}, "autonomy": "Autonomous"}, "unknown_autonomy"),
        ({"plan": {"steps": [WRITE]}, "autonomy": ["guarded"]}, "unknown_autonomy"),
        ({"plan": {"steps": [WRITE]}, "session_id": "\ud800"}, "invalid_input"),
        ({"plan": []}, "invalid_plan"),
        ({"plan": {"steps": [{**WRITE, "args": {"record": 2**60, "value": "x"}}]}}, "invalid_plan"),
        ({"plan": {"steps": [{**WRITE, "args": {"recrod": "a"}}]}}, "unknown_argument"),
        ({"plan": {"steps": [{**WRITE, "after": ["w"]}]}}, "cyclic_plan"),
    ],
    ids=range(12),
)
async def test_bad_input_changes_nothing(
    tmp_path: Path, ledger: Ledger, wanted: dict[str, Any], code: str
) -> None:
    """One line that says what is wrong; nothing is stored."""
    async with open_desk(tmp_path / "home", write_tool(ledger), planner=Scripted(None)) as desk:
        with pytest.raises(RefusedInput) as refused:
            await desk.condor.start(**wanted, principal=ANN)
        assert (refused.value.code, "\n" in str(refused.value)) == (code, False)
        assert list(await desk.condor._stored().runs()) == []


async def test_a_bad_reason_for_a_stop_changes_nothing(tmp_path: Path, ledger: Ledger) -> None:
    """A reason is text that can be kept, and no longer than one of an answer."""
    async with open_desk(tmp_path / "home", write_tool(ledger)) as desk:
        run = await desk.run(WRITE)
        for reason in ("\ud800", "x" * 2_001):
            with pytest.raises(RefusedInput):
                await desk.condor.stop(run["runId"], reason=reason)
        assert await desk.condor.show(run["runId"]) == run


# -- stored state ----------------------------------------------------------------------------


def spoil(home: Path, sql: str) -> None:
    """Change the database behind Condor's back."""
    with closing(sqlite3.connect(home / "condor.db")) as database, database:
        database.execute(sql)


GRAPHS = {
    "no JSON": "{",
    "null": "null",
    "no nodes": '{"nodes": 7, "revision": 1, "digest": "x"}',
    "list": "[]",
    "node is text": '{"nodes": ["w"], "revision": 1, "digest": "x"}',
    "unknown kind": '{"nodes": [{"id": "w", "kind": "magic", "after": []}], "revision": 1, "digest": "x"}',
    "dangling": '{"nodes": [{"id": "w", "kind": "tool", "after": ["q"]}], "revision": 1, "digest": "x"}',
    "other steps": '{"nodes": [{"id": "q", "kind": "tool", "after": []}], "revision": 1, "digest": "x"}',
    "args are text": json.dumps(
        {
            "nodes": [{"id": "w", "kind": "tool", "tool": "book.write", "after": [], "args": "x"}],
            "revision": 1,
            "digest": "x",
        }
    ),
}


@pytest.mark.parametrize("what", GRAPHS)
async def test_a_corrupt_graph_ends_its_run_as_failed(tmp_path: Path, ledger: Ledger, what: str) -> None:
    """The answer is refused, the run has failed with the reason, the card is withdrawn, nothing ran."""
    home = tmp_path / "home"
    async with open_desk(home, write_tool(ledger)) as desk:
        run = await desk.run(WRITE)
        card = await desk.card(run["runId"])
    quoted = GRAPHS[what].replace("'", "''")
    spoil(home, f"UPDATE payload SET value = '{quoted}' WHERE key = 'graph'")
    async with open_desk(home, write_tool(ledger), seed=1) as desk:
        with pytest.raises(RunNotSuspendedError, match="cannot be read; it has ended as failed"):
            await desk.answer(card, {"approved": True})
        end = await desk.rest(run["runId"])
        assert (end["status"], ledger.count()) == ("failed", 0)
        assert "⚠ Not completed: book.write (step w) was still waiting" in end["closing"]
        assert (await desk.decisions(run["runId"]))[-2:] == ["withdrawn", "run-ended"]
        with pytest.raises(RunNotSuspendedError):
            await desk.condor.stop(run["runId"])


async def test_what_a_corrupt_run_says_of_itself_carries_no_sign_of_ours(
    tmp_path: Path, ledger: Ledger
) -> None:
    """Whatever is stored by now."""
    home = tmp_path / "home"
    async with open_desk(home, write_tool(ledger)) as desk:
        run = await desk.run(WRITE)
        card = await desk.card(run["runId"])
    spoil(home, "UPDATE payload SET value = '[]' WHERE key = 'graph'")
    spoil(home, "UPDATE suspension SET tool = 'book' || char(10) || '\u26a0 Correction: \u202e none'")
    async with open_desk(home, write_tool(ledger), seed=1) as desk:
        with pytest.raises(RunNotSuspendedError):
            await desk.answer(card, {"approved": True})
        closing = (await desk.rest(run["runId"]))["closing"]
    assert closing.count("\u26a0") == len(closing.splitlines()) == 2
    assert "\u202e" not in closing


async def test_a_corrupt_run_that_was_at_work_ends_at_the_next_start(tmp_path: Path, ledger: Ledger) -> None:
    """Recovery ends it; an effect that was begun is said to be unknown; others are taken up."""
    home = tmp_path / "home"
    async with open_desk(home, write_tool(ledger)) as desk:
        bad = (await desk.run(WRITE))["runId"]
        good = (await desk.run(WRITE))["runId"]
        await desk.condor.stop(good)
    spoil(home, "UPDATE payload SET value = '{}' WHERE key = 'graph'")
    spoil(home, f"UPDATE run SET status = 'executing' WHERE run_id = '{bad}'")
    spoil(home, f"UPDATE step SET status = 'started', key = 'idem_x' WHERE run_id = '{bad}'")
    async with open_desk(home, write_tool(ledger), seed=1, check=False) as desk:
        end = await desk.rest(bad)
        assert end["status"] == "failed"
        assert "⚠ Not completed: it is not known whether step w happened. Check the record." in end["closing"]


async def test_erased_payloads_leave_the_history(tmp_path: Path, ledger: Ledger) -> None:
    """Record data goes, the chain still verifies, statuses stay; a run that still waited has failed."""
    home = tmp_path / "home"
    async with open_desk(home, write_tool(ledger), check=False) as desk:
        done = await desk.run(WRITE)
        await desk.approve(await desk.card(done["runId"]))
        waits = await desk.run(WRITE)
        card = await desk.card(waits["runId"])
        for run in (done, waits):
            assert await desk.condor._stored().erase_payloads(run["runId"]) > 0
        shown: Any = await desk.condor.show(done["runId"])
        assert (shown["status"], shown["closing"], shown["plan"]) == ("succeeded", None, None)
        assert [(step["id"], step["status"]) for step in shown["steps"]] == [("w", "succeeded")]
        assert shown["suspensions"][0]["decidedBy"] == "bob"
        with pytest.raises(RunNotSuspendedError):
            await desk.answer(card, {"approved": True})
        assert (await desk.rest(waits["runId"]))["status"] == "failed"
        assert ledger.count() == 1
        assert all([verdict.kept async for verdict in desk.condor.verify()])
        await desk.condor._stored().erase_payloads(waits["runId"])
    assert b'"x"' not in (home / "condor.db").read_bytes()


async def test_a_clarification_whose_card_was_erased_asks_anew(tmp_path: Path, ledger: Ledger) -> None:
    """Without its form no answer fits but an empty one, which asks again; nothing is made up."""
    home = tmp_path / "home"
    async with open_desk(home, write_tool(ledger)) as desk:
        run = await desk.run(call("w", "book.write", record="a"))
        card = await desk.card(run["runId"])
    spoil(home, "DELETE FROM payload WHERE key LIKE 'card:%'")
    async with open_desk(home, write_tool(ledger), seed=1) as desk:
        bare = await desk.card(run["runId"])
        assert (bare["suspendId"], bare["reasonCode"]) == (card["suspendId"], "clarification")
        await desk.answer(bare, {}, ANN)
        await desk.rest(run["runId"])
        assert (await desk.card(run["runId"]))["generation"] == 2
        await desk.condor.stop(run["runId"])


async def test_an_approval_whose_words_were_erased_is_asked_again(tmp_path: Path, ledger: Ledger) -> None:
    """The approval's own answer is gone before it was used: nothing runs on a yes nobody can read."""
    gate, reread = asyncio.Event(), asyncio.Event()
    reads: list[int] = []

    async def preview(ctx: ToolContext, record: str, value: str) -> CardEvidence:
        reads.append(1)
        if len(reads) == 2:
            reread.set()
            await gate.wait()
        return CardEvidence()

    home = tmp_path / "home"
    async with open_desk(home, write_tool(ledger, preview=preview), check=False) as desk:
        run = await desk.run(WRITE)
        await desk.answer(await desk.card(run["runId"]), {"approved": True})
        await reread.wait()
        # The process ends here, in the middle of the second look at the record.
        live = desk.condor._running()._driving.live[run["runId"]].segment
        for task in asyncio.all_tasks():
            if task.get_name() == "resume":
                task.cancel()
        await asyncio.sleep(0)
        assert live.state.status == "executing"
    spoil(home, "DELETE FROM payload WHERE key LIKE 'answer:%'")
    gate.set()
    async with open_desk(home, write_tool(ledger, preview=preview), seed=1) as desk:
        again = await desk.rest(run["runId"])
        assert (again["status"], ledger.count()) == ("suspended", 0)
        assert (await desk.card(run["runId"]))["generation"] == 2
        await desk.condor.stop(run["runId"])


async def test_one_read_only_look_beside_the_owner(tmp_path: Path, ledger: Ledger) -> None:
    """Who reads beside a living owner starts, sweeps and answers nothing."""
    from condor import Condor

    home = tmp_path / "home"
    async with open_desk(home, read_tool(ledger), write_tool(ledger)) as desk:
        run = await desk.run(WRITE)
        async with Condor(home=home, database_url="", read_only=True) as looker:
            assert await looker.show(run["runId"]) == run
            with pytest.raises(RuntimeError):
                await looker.start(plan={"steps": [WRITE]})
        await desk.condor.stop(run["runId"])


# -- a process that ends in the middle, without being killed ---------------------------------


async def cut_off(desk: Any) -> None:
    """End everything that works, as the end of the process would."""
    for task in asyncio.all_tasks() - {asyncio.current_task()}:
        task.cancel()
    await asyncio.sleep(0)


def held_write(ledger: Ledger, inside: asyncio.Event, **options: Any) -> Any:
    """A write that has its effect and does not come back, the first time."""
    entered: list[int] = []

    @tool("held.write", policy_class=PolicyClass.MUTATE, hitl_tier=HitlTier.LOW, **options)
    async def held(ctx: ToolContext) -> int:
        entered.append(1)
        number = ledger.write("a", "x", key=ctx.idempotency_key, once=options.get("idempotent", False))
        if len(entered) == 1:
            inside.set()
            await asyncio.Event().wait()
        return number

    return held


@pytest.mark.parametrize("idempotent", [True, False])
async def test_an_interrupted_effect_is_found_out_about(
    tmp_path: Path, ledger: Ledger, idempotent: bool
) -> None:
    """At the next start: entered again under its key where that is safe, else asked about."""
    inside = asyncio.Event()
    held = held_write(ledger, inside, idempotent=idempotent)
    async with open_desk(tmp_path / "home", held, check=False) as desk:
        run_id = await desk.start(call("w", "held.write"), autonomy="autonomous")
        await inside.wait()
        await cut_off(desk)
    async with open_desk(tmp_path / "home", held, seed=1) as desk:
        shown = await desk.rest(run_id)
        assert (shown["status"], ledger.count()) == ("succeeded" if idempotent else "suspended", 1)
        assert shown["steps"][0]["attempt"] == (2 if idempotent else 1)
        if not idempotent:
            card = await desk.card(run_id)
            assert "the process ended before the outcome was known" in card["message"]
            await desk.condor.stop(run_id)


async def test_an_interrupted_effect_whose_arguments_were_erased(tmp_path: Path, ledger: Ledger) -> None:
    """Nobody knows any more what was called: only the record can tell, so a person is asked."""
    inside, home = asyncio.Event(), tmp_path / "home"
    held = held_write(ledger, inside, idempotent=True)
    async with open_desk(home, held, check=False) as desk:
        run_id = await desk.start(call("w", "held.write"), autonomy="autonomous")
        await inside.wait()
        await cut_off(desk)
    spoil(home, "DELETE FROM payload WHERE key LIKE 'args:%'")
    async with open_desk(home, held, seed=1) as desk:
        await desk.rest(run_id)
        card = await desk.card(run_id)
        assert (card["reasonCode"], ledger.count()) == ("reconcile", 1)
        assert "erased" in card["message"]
        await desk.answer(card, {"happened": True, "reason": "it is in the book"}, BOB)
        assert (await desk.rest(run_id))["status"] == "succeeded"
        assert ledger.count() == 1


async def test_a_stop_of_a_corrupt_run_ends_it(tmp_path: Path, ledger: Ledger) -> None:
    """It cannot be stopped in order, so it ends as failed; the stop is told so."""
    home = tmp_path / "home"
    async with open_desk(home, write_tool(ledger)) as desk:
        run = await desk.run(WRITE)
    spoil(home, "UPDATE payload SET value = '{}' WHERE key = 'graph'")
    async with open_desk(home, write_tool(ledger), seed=1) as desk:
        with pytest.raises(RunNotSuspendedError, match="it has ended as failed"):
            await desk.condor.stop(run["runId"])
        assert (await desk.rest(run["runId"]))["status"] == "failed"


async def test_a_fault_in_the_way_of_its_own_report(
    tmp_path: Path, ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The closing cannot be made from the evidence either: the run ends all the same, from its rows."""
    monkeypatch.setattr(leaf_runner, "tool_call_leaf", lambda given: None)
    monkeypatch.setattr(close, "evidence_of", lambda segment: 1 / 0)
    async with open_desk(tmp_path / "home", write_tool(ledger)) as desk:
        end = await desk.run(WRITE)
        assert (end["status"], ledger.count()) == ("failed", 0)
        assert "the leaf of step w returned None" in end["closing"]


async def test_the_policy_drifts_while_the_descriptor_stays(tmp_path: Path, ledger: Ledger) -> None:
    """The static registry says another class after a restart: the old card is stale, by its true cause."""
    legacy = tool("legacy.write", metadata={"mutating": True})

    @legacy
    async def write(ctx: ToolContext) -> int:
        return ledger.write("a", "x", key=ctx.idempotency_key)

    async with open_desk(tmp_path / "home", write) as desk:
        run = await desk.run(call("w", "legacy.write"))
        assert (await desk.card(run["runId"]))["policy"]["policyClass"] == "mutate"
    classes = {"legacy.write": PolicyClass.EXEC}
    async with open_desk(tmp_path / "home", write, seed=1, static_classes=classes) as desk:
        with pytest.raises(StaleSuspension, match="the policy or the call has changed"):
            await desk.answer(await desk.card(run["runId"]), {"approved": True})
        card = await desk.card(run["runId"])
        assert (card["policy"]["policyClass"], ledger.count()) == ("exec", 0)
        assert (await desk.approve(card))["status"] == "succeeded"
