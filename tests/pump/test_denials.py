"""Denials: what a no takes with it, what it leaves, and that it is not asked around."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from condor import Effect, HitlTier, PolicyClass, ToolContext, tool
from tests.pump.desk import BOB, ask, call, open_desk, read_tool, write_tool

if TYPE_CHECKING:
    from pathlib import Path

    from condor.testing import Ledger


def effects(args: Any) -> tuple[Effect, ...]:
    """Every tool that writes a record does the same to it."""
    return (Effect(verb="write", target=str(args.get("record"))),)


async def test_deny_with_abort_takes_its_siblings(tmp_path: Path, ledger: Ledger) -> None:
    """One transaction: this card denied, the others withdrawn and audited, the run closed as aborted."""
    async with open_desk(tmp_path / "home", write_tool(ledger)) as desk:
        run = await desk.run(*(call(f"w{n}", "book.write", record=f"r{n}", value="x") for n in range(3)))
        end = await desk.deny(await desk.card(run["runId"], "w1"))
        assert (end["status"], ledger.count()) == ("aborted", 0)
        assert [card["status"] for card in end["suspensions"]] == ["withdrawn", "denied", "withdrawn"]
        assert {card["decidedByDisplay"] for card in end["suspensions"]} == {"Bob Ode"}
        rows = await desk.audit(run["runId"])
        assert [(row["decision"], row["actor"]) for row in rows[-4:]] == [
            ("denied", "bob"),
            ("withdrawn", "bob"),
            ("withdrawn", "bob"),
            ("run-ended", "bob"),
        ]
        assert [notice["stepId"] for notice in end["notices"]] == ["w0", "w1", "w2"]
        assert all(line.startswith("⚠ Not completed:") for line in end["closing"].splitlines())


async def test_deny_with_skip_goes_on(tmp_path: Path, ledger: Ledger) -> None:
    """The step is skipped, what hangs on it alone is not reached, the rest of the run goes on."""
    async with open_desk(tmp_path / "home", write_tool(ledger), read_tool(ledger)) as desk:
        run = await desk.run(
            call("a", "book.write", record="a", value="x", on_deny="skip"),
            call("b", "book.write", record="b", value="y", after=["a"]),
            call("c", "book.read"),
        )
        end = await desk.deny(await desk.card(run["runId"]))
        assert end["status"] == "degraded"
        assert {step["id"]: (step["status"], step.get("code")) for step in end["steps"]} == {
            "a": ("skipped", "denied"),
            "b": ("skipped", "upstream"),
            "c": ("succeeded", None),
        }
        assert end["closing"].splitlines() == [
            "book.read: done.",
            "⚠ Not completed: “book.write” was declined by Bob Ode (no). It was not run.",
            "⚠ Not executed: “book.write” was not reached: because a did not succeed.",
        ]


async def test_the_plan_overrides_what_the_tool_says_of_denials(tmp_path: Path, ledger: Ledger) -> None:
    """``onDeny`` of the step, else the tool's, else abort."""
    async with open_desk(tmp_path / "home", write_tool(ledger, on_deny="skip"), read_tool(ledger)) as desk:
        for on_deny, status in ((None, "degraded"), ("skip", "degraded"), ("abort", "aborted")):
            extra = {"on_deny": on_deny} if on_deny else {}
            run = await desk.run(
                call("a", "book.write", record="a", value="x", **extra), call("c", "book.read")
            )
            assert (await desk.deny(await desk.card(run["runId"])))["status"] == status


async def test_a_denied_call_is_not_asked_again(tmp_path: Path, ledger: Ledger) -> None:
    """Report 29: ten times the same call: one card, nine refusals by themselves, an honest end."""
    async with open_desk(tmp_path / "home", write_tool(ledger, on_deny="skip"), read_tool(ledger)) as desk:
        steps = [call("r", "book.read")]
        for n in range(10):
            # Each comes after the one before, whatever became of it.
            after = [f"w{n - 1}", "r"] if n else ["r"]
            steps.append(call(f"w{n}", "book.write", record="a", value="x", after=after))
        run = await desk.run(*steps)
        end = await desk.deny(await desk.card(run["runId"]))
        assert (len(end["suspensions"]), ledger.count()) == (1, 0)
        codes = [step.get("code") for step in end["steps"] if step["id"] != "r"]
        assert codes == ["denied", *["denied_before"] * 9]
        assert end["closing"].count("⚠ Not completed:") == 10
        stopped = await desk.audit(run["runId"], decision="stopped")
        assert [row["reasonCode"] for row in stopped] == ["denied_before"] * 9


async def test_the_same_effect_by_another_tool_is_promoted_and_asked(tmp_path: Path, ledger: Ledger) -> None:
    """A16, A17: a routine write that would do what was denied is no routine any more."""
    tools = (
        write_tool(ledger, on_deny="skip", effect_of=effects),
        write_tool(ledger, "note.write", tier=HitlTier.LOW, effect_of=effects),
        read_tool(ledger),
    )
    async with open_desk(tmp_path / "home", *tools) as desk:
        run = await desk.run(
            call("r", "book.read"),
            call("w", "book.write", record="a", value="x", after=["r"]),
            call("n", "note.write", record="a", value="x", after=["w", "r"]),
            call("m", "note.write", record="b", value="x", after=["w", "r"]),
            autonomy="autonomous",
        )
        await desk.deny(await desk.card(run["runId"]))
        card = await desk.card(run["runId"])
        assert (card["stepId"], card["policy"]["ruleId"], card["policy"]["promotions"]) == (
            "n",
            "mutate.high-tier-always-approval",
            ["denied-effect"],
        )
        assert [entry.record for entry in ledger.entries()] == ["b"]
        assert (await desk.deny(card))["status"] == "aborted"


async def test_a_yes_to_one_of_two_equal_cards_counts(tmp_path: Path, ledger: Ledger) -> None:
    """Two identical calls have a card each: no to one and yes to the other is one execution."""
    async with open_desk(tmp_path / "home", write_tool(ledger, on_deny="skip")) as desk:
        run = await desk.run(
            call("a", "book.write", record="a", value="x"), call("b", "book.write", record="a", value="x")
        )
        await desk.deny(await desk.card(run["runId"], "a"))
        end = await desk.approve(await desk.card(run["runId"], "b"))
        assert (end["status"], ledger.count()) == ("degraded", 1)


async def test_deny_after_a_restart_under_another_policy_runs_nothing(tmp_path: Path, ledger: Ledger) -> None:
    """Report 26: parked as gated, reopened with a tool that would be free: a no is still a no."""
    async with open_desk(tmp_path / "home", write_tool(ledger)) as desk:
        run = await desk.run(call("w", "book.write", record="a", value="x"))

    @tool("book.write", policy_class=PolicyClass.READ)
    async def harmless(ctx: ToolContext, record: str, value: str) -> str:
        ledger.write(record, value)
        return "done"

    async with open_desk(tmp_path / "home", harmless, seed=1) as desk:
        end = await desk.deny(await desk.card(run["runId"]))
        assert (end["status"], ledger.count()) == ("aborted", 0)


async def test_a_tool_that_ignores_its_context_is_not_entered(tmp_path: Path, ledger: Ledger) -> None:
    """Report 27: enforcement is the runtime's, not the author's."""
    entered = []

    @tool("x.run", policy_class=PolicyClass.EXEC)
    async def careless(ctx: ToolContext) -> str:
        entered.append(ctx.approved_by)
        return "done"

    async with open_desk(tmp_path / "home", careless) as desk:
        run = await desk.run(call("x", "x.run"), autonomy="autonomous")
        assert (await desk.deny(await desk.card(run["runId"])))["status"] == "aborted"
        assert entered == []
        run = await desk.run(call("x", "x.run"), autonomy="autonomous")
        await desk.approve(await desk.card(run["runId"]))
        assert entered == [BOB]


async def test_denying_a_planned_approval_with_abort(tmp_path: Path, ledger: Ledger) -> None:
    """The plan's own gate aborts too, unless it says otherwise; the reason is said."""
    async with open_desk(tmp_path / "home", read_tool(ledger)) as desk:
        run = await desk.run(ask("p", "Release it?"), call("r", "book.read", after=["p"]))
        end = await desk.deny(await desk.card(run["runId"]), reason="not yet")
        assert end["status"] == "aborted"
        assert end["closing"].splitlines() == [
            "⚠ Not completed: the approval “Release it?” was declined by Bob Ode (not yet). It was not run.",
            "⚠ Not executed: “book.read” was not reached.",
        ]


@pytest.mark.parametrize("role", ["doctor", "clerk"])
async def test_a_refusal_by_role_is_no_card(tmp_path: Path, ledger: Ledger, role: str) -> None:
    """RBAC comes first: who may not call it is not asked about it, and the closing says so."""
    async with open_desk(tmp_path / "home", write_tool(ledger, roles={role}), read_tool(ledger)) as desk:
        run = await desk.run(call("w", "book.write", record="a"), call("r", "book.read"))
        if role == "clerk":
            assert (await desk.card(run["runId"]))["reasonCode"] == "clarification"
            await desk.condor.stop(run["runId"])
            return
        assert (run["status"], run["suspensions"], ledger.count()) == ("degraded", [], 0)
        assert "⚠ Not executed: “book.write” needs a doctor." in run["closing"]
        (row,) = await desk.audit(run["runId"], decision="stopped")
        assert (row["reasonCode"], row["stepId"]) == ("role", "w")
