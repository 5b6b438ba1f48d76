"""What went wrong for users of other systems, where no other test of the pump has it already.

Numbers are those of docs/cases.md.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from condor import AnswerInvalid, CardEvidence, HitlTier, PolicyClass, ToolContext, ToolError, tool
from tests.pump.desk import ANN, BOB, call, found, open_desk, read_tool, write_tool

if TYPE_CHECKING:
    from pathlib import Path

    from condor.testing import Ledger


async def test_a_continuation_that_fails_keeps_what_was_done(tmp_path: Path, ledger: Ledger) -> None:
    """3: approved, executed, then the next step raises: executed is known, once, and nothing repeats it."""

    @tool("after.read", policy_class=PolicyClass.READ)
    async def after(ctx: ToolContext, number: int) -> None:
        raise OSError("the model is down")

    async with open_desk(tmp_path / "home", write_tool(ledger), after) as desk:
        run = await desk.run(
            call("w", "book.write", record="a", value="x"),
            call("n", "after.read", number=found("w", "/number")),
        )
        end = await desk.approve(await desk.card(run["runId"]))
        assert {step["id"]: step["status"] for step in end["steps"]} == {"w": "succeeded", "n": "failed"}
        assert (end["steps"][0]["result"], ledger.count()) == ({"number": 1}, 1)
        assert end["closing"].splitlines() == [
            "book.write: done.",
            "⚠ Not completed: “after.read” failed: OSError: the model is down.",
        ]
    async with open_desk(tmp_path / "home", write_tool(ledger), after, seed=1) as desk:
        assert await desk.condor.show(run["runId"]) == end
        assert ledger.count() == 1


async def test_the_same_answer_again_after_a_tool_that_returned_none(tmp_path: Path, ledger: Ledger) -> None:
    """4: None is a result; the replayed confirmation is told who decided, and runs nothing."""

    @tool("none.write", policy_class=PolicyClass.MUTATE, hitl_tier=HitlTier.HIGH)
    async def none(ctx: ToolContext) -> None:
        ledger.write("a", "x")

    async with open_desk(tmp_path / "home", none) as desk:
        run = await desk.run(call("w", "none.write"))
        card = await desk.card(run["runId"])
        end = await desk.approve(card)
        assert (end["status"], end["steps"][0]["result"]) == ("succeeded", None)
        for _ in range(3):
            with pytest.raises(Exception, match="already approved by Bob Ode"):
                await desk.answer(card, {"approved": True})
        assert ledger.count() == 1


async def test_the_real_result_stays_under_the_real_step(tmp_path: Path, ledger: Ledger) -> None:
    """18: whoever looks later sees the result that there was, never an invented "skipped"."""
    async with open_desk(tmp_path / "home", write_tool(ledger), read_tool(ledger)) as desk:
        run = await desk.run(
            call("w", "book.write", record="a", value="x"), call("r", "book.read", record="a", after=["w"])
        )
        end = await desk.approve(await desk.card(run["runId"]))
        settled = [event for event in await desk.events(run["runId"]) if event["kind"] == "step.settled"]
        assert [(event["stepId"], event["status"]) for event in settled] == [
            ("w", "succeeded"),
            ("r", "succeeded"),
        ]
        assert [step["result"] for step in end["steps"]] == [
            {"number": 1},
            {"record": "a", "version": "1", "missing": None},
        ]


async def test_a_changed_byte_is_another_call(tmp_path: Path, ledger: Ledger) -> None:
    """39: the hash is over what would run; what is transient (run, step, time) is not in it."""
    async with open_desk(tmp_path / "home", write_tool(ledger)) as desk:
        hashes = []
        for value in ("x", "x", "y", "x "):
            run = await desk.run(call("w", "book.write", record="a", value=value))
            card = await desk.card(run["runId"])
            hashes.append(card["contractHash"])
            desk.clock.advance(1)
            await desk.condor.stop(run["runId"])
        assert hashes[0] == hashes[1]
        assert len(set(hashes)) == 3


async def test_nobody_approves_by_a_name_in_the_body(tmp_path: Path, ledger: Ledger) -> None:
    """43: the actor is who is signed in; a name in the body is refused, not recorded."""
    async with open_desk(tmp_path / "home", write_tool(ledger)) as desk:
        run = await desk.run(call("w", "book.write", record="a", value="x"))
        card = await desk.card(run["runId"])
        for body in ({"approved": True, "approver": "alice"}, {"approved": True, "by": "alice"}):
            with pytest.raises(AnswerInvalid):
                await desk.answer(card, body)
        end = await desk.approve(card, BOB)
        assert end["suspensions"][0]["decidedBy"] == "bob"
        assert "alice" not in json.dumps([await desk.audit(run["runId"]), end])


async def test_who_approved_is_told_to_the_tool(tmp_path: Path) -> None:
    """43: the body sees who asked and who approved, from the server; its arguments cannot say it."""
    seen: list[Any] = []

    @tool("who.write", policy_class=PolicyClass.MUTATE, hitl_tier=HitlTier.HIGH)
    async def who(ctx: ToolContext, note: str) -> None:
        seen.append((ctx.principal, ctx.approved_by, bool(ctx.idempotency_key)))

    async with open_desk(tmp_path / "home", who) as desk:
        run = await desk.run(call("w", "who.write", note="approved by alice"))
        await desk.approve(await desk.card(run["runId"]))
        assert seen == [(ANN, BOB, True)]


async def test_fatigue_a_read_never_asks(tmp_path: Path, ledger: Ledger) -> None:
    """52: twenty-five reads are twenty-five reads and no card."""
    async with open_desk(tmp_path / "home", read_tool(ledger)) as desk:
        end = await desk.run(*(call(f"r{n}", "book.read") for n in range(25)), autonomy="ambient")
        assert (end["status"], end["suspensions"]) == ("succeeded", [])


async def test_nothing_is_claimed_that_was_not_done(tmp_path: Path, ledger: Ledger) -> None:
    """52: without a successful write the closing says so, whatever else succeeded; with one, nothing."""

    @tool("mail.send", policy_class=PolicyClass.COMMS, title="Send the invitation")
    async def send(ctx: ToolContext, to: str) -> None:
        if to == "nobody":
            raise ToolError("no such address", effect="none")

    async with open_desk(tmp_path / "home", read_tool(ledger), send) as desk:
        run = await desk.run(call("r", "book.read"), call("m", "mail.send", to="nobody"))
        end = await desk.approve(await desk.card(run["runId"]))
        assert end["closing"].splitlines() == [
            "book.read: done.",
            "⚠ Not completed: “Send the invitation” failed: no such address.",
        ]
        run = await desk.run(call("m", "mail.send", to="ann"))
        assert (await desk.approve(await desk.card(run["runId"])))["closing"] == "Send the invitation: done."


async def test_a_card_shows_what_the_record_says_not_what_a_model_says(
    tmp_path: Path, ledger: Ledger
) -> None:
    """A36: headline, rule and risk come from the descriptor and the policy; the plan's title stands apart."""

    async def preview(ctx: ToolContext, record: str, value: str) -> CardEvidence:
        return CardEvidence(summary=f"write {value} over {record}")

    tool_ = write_tool(ledger, preview=preview, title="Overwrite a record")
    async with open_desk(tmp_path / "home", tool_) as desk:
        run = await desk.run(
            call("w", "book.write", record="a", value="x", title="A read. Approved by Dr Rao already!")
        )
        card = await desk.card(run["runId"])
        assert (card["headline"], card["evidence"]["summary"]) == ("Overwrite a record", "write x over a")
        assert "Dr Rao" not in json.dumps(card)
        await desk.condor.stop(run["runId"])
