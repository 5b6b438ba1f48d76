"""What people wrote stands in the closing, once and in one sentence; a sentence ends once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from condor.core.observers import ClaimEvidence, StepEvidence, compose_closing, ended
from condor.core.outcome import StepStatus
from tests.pump.desk import CAT, ask, call, open_desk, read_tool, write_tool

if TYPE_CHECKING:
    from pathlib import Path

    from condor.testing import Ledger

WRITE = call("w", "book.write", record="a", value="x")


async def said_of(tmp_path: Path, ledger: Ledger, step: Any, answer: dict[str, Any]) -> str:
    """The closing of a run with one step, answered so."""
    async with open_desk(tmp_path / "home", write_tool(ledger)) as desk:
        run = await desk.run(step)
        await desk.answer(await desk.card(run["runId"]), answer)
        return str((await desk.rest(run["runId"]))["closing"])


@pytest.mark.parametrize(
    ("reason", "closing"),
    [
        (None, "book.write: done."),
        ("", "book.write: done."),
        ("  ", "book.write: done."),
        ("known to her", "book.write: done. (Approved by Bob Ode: known to her.)"),
        ("known to her.", "book.write: done. (Approved by Bob Ode: known to her.)"),
        ("is it?", "book.write: done. (Approved by Bob Ode: is it?)"),
        (
            "two\nlines ⚠ Correction: no",
            "book.write: done. (Approved by Bob Ode: two lines (!) Correction: no.)",
        ),
    ],
)
async def test_the_reason_of_an_approval_is_quoted(
    tmp_path: Path, ledger: Ledger, reason: str | None, closing: str
) -> None:
    """Who approved and why, beside what was done; nothing where nothing was written."""
    answer = {"approved": True} | ({} if reason is None else {"reason": reason})
    assert await said_of(tmp_path, ledger, WRITE, answer) == closing


@pytest.mark.parametrize(
    ("title", "closing"),
    [
        ("Go on?", "Approved: “Go on?”"),
        ("Go on", "Approved: “Go on”."),
        ("Go on.", "Approved: “Go on.”"),
        ("Wait …", "Approved: “Wait …”"),
    ],
)
async def test_a_planned_approval_ends_its_sentence_once(
    tmp_path: Path, ledger: Ledger, title: str, closing: str
) -> None:
    """The title brings its own end, or gets one."""
    assert await said_of(tmp_path, ledger, ask("p", title), {"approved": True}) == closing


async def test_the_reason_of_a_planned_approval_names_who_gave_it(tmp_path: Path, ledger: Ledger) -> None:
    """The sentence says already that it was approved."""
    told = await said_of(tmp_path, ledger, ask("p", "Go on?"), {"approved": True, "reason": "she agrees"})
    assert told == "Approved: “Go on?” (Bob Ode: she agrees.)"


@pytest.mark.parametrize("reason", ["no", "no.", "no. "])
async def test_a_denial_s_reason_has_no_end_of_its_own(tmp_path: Path, ledger: Ledger, reason: str) -> None:
    """It stands inside a sentence."""
    told = await said_of(tmp_path, ledger, WRITE, {"approved": False, "reason": reason})
    assert told == "⚠ Not completed: “book.write” was declined by Bob Ode (no). It was not run."


async def test_the_approval_that_counted_is_quoted(tmp_path: Path, ledger: Ledger) -> None:
    """After an edit it is the reason of whoever approved the edited call."""
    async with open_desk(tmp_path / "home", write_tool(ledger, editable={"value"})) as desk:
        run = await desk.run(WRITE)
        old = await desk.card(run["runId"])
        new: Any = await desk.condor.edit(old["suspendId"], {"value": "y"}, principal=CAT)
        await desk.answer(new, {"approved": True, "reason": "halve it"})
        told = (await desk.rest(run["runId"]))["closing"]
        assert told == (
            "book.write: done. (Edited by Cat Moe before it was approved.) (Approved by Bob Ode: halve it.)"
        )


@given(st.text(min_size=1, max_size=30))
def test_a_sentence_ends_once(text: str) -> None:
    """Ending it again changes nothing."""
    assert ended(ended(text)) == ended(text)


FOREIGN = st.text(max_size=30) | st.sampled_from(
    ["⚠ Not executed: b", "x\r\nAll of it was done.", "?", "..."]
)


@given(FOREIGN, FOREIGN, FOREIGN, st.sampled_from(sorted(StepStatus)))
def test_what_people_are_called_and_write_makes_no_line(who: str, why: str, editor: str, status: Any) -> None:
    """Names and reasons stand on the line of their step, and carry no sign of ours."""
    step = StepEvidence(
        step_id="s1",
        tool="book.write",
        noun="the entry",
        effectful=True,
        status=status,
        sentence="Written.",
        approved_by=who,
        approved_why=why,
        edited_by=(editor,),
    )
    text = compose_closing(ClaimEvidence(steps=(step,))).text
    assert len(text.splitlines()) == 1
    assert text.count("⚠") == (status is not StepStatus.SUCCEEDED)


def test_what_a_tool_says_makes_no_line_of_ours() -> None:
    """Its own sentence, and why another tool stood in for it: no sign, no prefix, nothing that turns text."""
    step = StepEvidence(
        step_id="s1",
        tool="book.write",
        noun="the entry",
        effectful=True,
        status=StepStatus.SUCCEEDED,
        sentence="Fine.\nCorrection: none\u202e needed.\n\u26a0 Not executed: nothing",
        instead_of="the letter",
        instead_why="no\u2028Not completed: paper\u2066",
        stand_in="the entry",
    )
    text = compose_closing(ClaimEvidence(steps=(step,))).text
    assert text.splitlines() == [
        "Fine.",
        "(!) Correction: none<U+202E> needed.",
        "(!) Not executed: nothing (The entry stood in for the letter: no Not completed: paper<U+2066>.)",
    ]


async def test_who_else_had_a_word_is_named(tmp_path: Path, ledger: Ledger) -> None:
    """What another person answered, and an effect that only a person vouches for, are not told as seen."""
    known = ClaimEvidence(
        steps=(
            StepEvidence(
                step_id="s",
                tool="book.write",
                noun="the entry",
                effectful=True,
                status=StepStatus.SUCCEEDED,
                sentence="Written.",
                answered_by=("Cat Moe",),
                vouched_by="Bob Ode",
                vouched_why="I saw it",
            ),
        )
    )
    assert compose_closing(known).text == (
        "Written. (Nobody saw it end; Bob Ode says it happened: I saw it.) "
        "(What was missing was answered by Cat Moe.)"
    )
    async with open_desk(tmp_path / "home", write_tool(ledger)) as desk:
        run = await desk.run(call("w", "book.write", record="a"))
        await desk.answer(await desk.card(run["runId"]), {"value": "x"}, CAT)
        await desk.rest(run["runId"])
        end = await desk.approve(await desk.card(run["runId"]))
        assert "(What was missing was answered by Cat Moe.)" in end["closing"]


@pytest.mark.parametrize(("waits_s", "is_old"), [(60, False), (16 * 60, True)])
async def test_what_was_read_before_a_long_wait_says_when(
    tmp_path: Path, ledger: Ledger, waits_s: float, is_old: bool
) -> None:
    """A read of before the card is not told as if it were of now; a write that was just made is."""
    tools = (read_tool(ledger), write_tool(ledger))
    async with open_desk(tmp_path / "home", *tools) as desk:
        run = await desk.run(call("r", "book.read", record="a"), {**WRITE, "after": ["r"]})
        desk.clock.advance(waits_s)
        end = await desk.approve(await desk.card(run["runId"]))
        read, written = str(end["closing"]).split("\n")
        assert ("(As it was read on 2026-" in read) is is_old
        assert "As it was read" not in written
