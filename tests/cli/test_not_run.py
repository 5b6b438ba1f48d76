"""An approval after which the call asks again is not told like one that ran."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

import pytest
from rich.console import Console

from condor import CardEvidence, HitlTier, InputField, PolicyClass, RecordMoved, ToolContext, tool
from condor.cli.not_run import asked_again, not_run_line
from condor.cli.run_view import run_view
from condor.testing import Ledger, ToolFault, faulty
from tests.pump.desk import BOB, call, open_desk, read_tool, write_tool

if TYPE_CHECKING:
    from pathlib import Path

ALERT = {"id": "c", "severity": "critical", "summary": "an allergy", "source": "record"}
WHY = InputField(name="why", label="Override reason")


def drawn(run: Any) -> str:
    """What `condor show` says, without breaks of lines and frames."""
    out = io.StringIO()
    Console(file=out, width=100, color_system=None).print(run_view(run, columns=100))
    return " ".join(out.getvalue().replace("│", " ").split())


@pytest.mark.parametrize(
    ("later", "why"),
    [
        (
            {"alerts": (ALERT,)},
            "an alert has appeared or become more severe since the approval: decide again",
        ),
        ({"versions": {"Order/a": "2"}}, "what was approved has changed since"),
        ({"requires": (WHY,), "alerts": (ALERT,)}, "Override reason is missing"),
    ],
)
async def test_what_was_approved_and_asks_again_did_not_run(
    tmp_path: Path, later: dict[str, Any], why: str
) -> None:
    """The approval's line, and the new card, say that nothing was run and why."""
    moved = False

    async def preview(ctx: ToolContext, record: str, value: str) -> CardEvidence:
        return CardEvidence(**later) if moved else CardEvidence()

    ledger = Ledger(tmp_path / "ledger.db")
    async with open_desk(tmp_path / "home", write_tool(ledger, preview=preview)) as desk:
        run = await desk.run(call("w", "book.write", record="a", value="x"))
        first = await desk.card(run["runId"])
        moved = True
        asked = await desk.approve(first)
        assert ledger.count() == 0
        approved, newer = asked["suspensions"]
        assert asked_again(asked, approved) == newer
        assert not_run_line(newer).startswith(f"Not run: {why}")
        said = drawn(asked)
        assert not_run_line(newer) in said
        assert newer["message"].startswith(f"Not run, although it was approved: {why}")
        assert f"Not run, although it was approved: {why}" in said


async def test_a_tool_that_finds_the_record_moved_has_not_run(tmp_path: Path) -> None:
    """The new card's message is the tool's own; that nothing ran is said beside it."""

    @tool("book.turn", policy_class=PolicyClass.MUTATE, hitl_tier=HitlTier.HIGH)
    async def turn(ctx: ToolContext) -> None:
        raise RecordMoved("the order is now closed")

    async with open_desk(tmp_path / "home", turn) as desk:
        run = await desk.run(call("w", "book.turn"))
        said = drawn(await desk.approve(await desk.card(run["runId"])))
        assert "Not run: the order is now closed; a new card asks (" in said
        assert f"Not run, although {BOB.name} approved it: this card asks again." in said


async def test_a_step_that_was_tried_again_says_how_often(tmp_path: Path) -> None:
    """A shown run does not hide the attempts that came to nothing."""
    fails_twice = faulty(read_tool(Ledger(tmp_path / "ledger.db")), ToolFault(kind="fail", times=2))
    async with open_desk(tmp_path / "home", fails_twice) as desk:
        run = await desk.run(call("r", "book.read", record="a"))
        assert run["status"] == "succeeded"
        assert "attempts 3 in all" in drawn(run)
