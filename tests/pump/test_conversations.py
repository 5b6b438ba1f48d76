"""Conversations, whole: every event of a run in its order, as a script."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from condor import HitlTier
from condor.testing import play, script
from tests.pump.desk import ANN, BOB, ask, call, nested, open_desk, read_tool, write_tool

if TYPE_CHECKING:
    from pathlib import Path

    from condor.testing import Ledger

PEOPLE = {"ann": ANN, "bob": BOB}

MAIN_JOB = (
    [call("find", "book.read"), call("write", "book.write", record="a", value="x", after=["find"])],
    """
    >> start
    << run.started
    << plan.ready
    << step.started find
    << step.settled find succeeded
    << approval.required write
    >> approve write as bob
    << suspension.closed write approved
    << step.started write
    << step.settled write succeeded
    << text.done
    << run.ended succeeded
    """,
)
DENIED = (
    [call("find", "book.read"), call("write", "book.write", record="a", value="x", after=["find"])],
    """
    >> start
    << run.started
    << plan.ready
    << step.started find
    << step.settled find succeeded
    << approval.required write
    >> deny write as bob : not hers
    << suspension.closed write denied
    << step.settled write skipped denied
    << text.done
    << claim.corrected write
    << run.ended aborted
    """,
)
ASKED_FIRST = (
    [call("write", "book.write", record="a")],
    """
    >> start
    << run.started
    << plan.ready
    << clarification.required write
    >> answer write as ann : {"value": "x"}
    << suspension.closed write answered
    << approval.required write
    >> approve write as bob
    << suspension.closed write approved
    << step.started write
    << step.settled write succeeded
    << text.done
    << run.ended succeeded
    """,
)
TWO_GATES = (
    [
        nested("both", *(call(name, "book.write", record=name, value="x", on_deny="skip") for name in "ab")),
        ask("go", "Go on?", after=["both"]),
        call("read", "book.read", after=["go"]),
    ],
    """
    >> start
    << run.started
    << plan.ready
    << approval.required both/a
    << approval.required both/b
    >> deny both/b as bob
    << suspension.closed both/b denied
    << step.settled both/b skipped denied
    >> approve both/a as bob
    << suspension.closed both/a approved
    << step.started both/a
    << step.settled both/a succeeded
    << approval.required go
    >> approve go as ann
    << suspension.closed go approved
    << step.settled go succeeded
    << step.started read
    << step.settled read succeeded
    << text.done
    << claim.corrected both/b
    << run.ended degraded
    """,
)
STOPPED = (
    [call("write", "book.write", record="a", value="x"), call("read", "book.read", after=["write"])],
    """
    >> start
    << run.started
    << plan.ready
    << approval.required write
    >> stop as bob
    << suspension.closed write withdrawn
    << step.settled write skipped withdrawn
    << step.settled read skipped not_reached
    << text.done
    << claim.corrected write
    << claim.corrected read
    << run.ended aborted
    """,
)


@pytest.mark.parametrize(
    ("plan", "lines"),
    [MAIN_JOB, DENIED, ASKED_FIRST, TWO_GATES, STOPPED],
    ids=["main job", "denied", "asked first", "two gates", "stopped"],
)
async def test_a_conversation_goes_as_written(
    tmp_path: Path, ledger: Ledger, plan: list[Any], lines: str
) -> None:
    """Command by command, event by event, nothing more and nothing less."""
    async with open_desk(tmp_path / "home", read_tool(ledger), write_tool(ledger)) as desk:
        assert await play(desk.condor, lines, plan={"steps": plan}, people=PEOPLE) == script(lines)


async def test_an_effect_of_unknown_outcome(tmp_path: Path, ledger: Ledger) -> None:
    """Known to be unknown, asked about, and settled by what a person found."""
    lines = """
    >> start
    << run.started
    << plan.ready
    << step.started write
    << step.settled write unknown timeout
    << reconcile.required write
    >> answer write as bob : {"happened": true, "reason": "it is in the book"}
    << suspension.closed write answered
    << step.settled write succeeded
    << text.done
    << run.ended succeeded
    """
    tool = write_tool(ledger, tier=HitlTier.LOW)
    body = tool.function
    assert body is not None

    async def lost(*args: Any, **kwargs: Any) -> object:
        await body(*args, **kwargs)
        raise TimeoutError

    object.__setattr__(tool, "function", lost)
    plan = {"steps": [call("write", "book.write", record="a", value="x")]}
    async with open_desk(tmp_path / "home", tool) as desk:
        went = await play(desk.condor, lines, plan=plan, people=PEOPLE, autonomy="autonomous")
        assert went == script(lines)


@pytest.mark.parametrize(
    ("line", "why"),
    [
        (">> dance", "no command"),
        (">> approve write as eve", "names nobody"),
        (">> approve read as bob", "open are write"),
    ],
)
async def test_a_script_that_cannot_be_played_says_why(
    tmp_path: Path, ledger: Ledger, line: str, why: str
) -> None:
    """A mistake in the script is told apart from one in the run."""
    async with open_desk(tmp_path / "home", write_tool(ledger), check=False) as desk:
        plan = {"steps": [call("write", "book.write", record="a", value="x")]}
        with pytest.raises(ValueError, match=why):
            await play(desk.condor, f">> start\n{line}", plan=plan, people=PEOPLE)
