"""The closing text: whatever ended a step, what did not happen is named, with the right prefix."""

from __future__ import annotations

import asyncio
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from condor import HitlTier, PolicyClass, ToolContext, ToolError, ToolResult, tool
from condor.core.observers import (
    CORRECTION_PREFIX,
    NOT_COMPLETED_PREFIX,
    NOT_EXECUTED_PREFIX,
    ClaimEvidence,
    StepEvidence,
    compose_closing,
)
from condor.core.outcome import StepStatus
from condor.testing import Ledger
from tests.pump.desk import ANN, BOB, call, open_desk, read_tool, write_tool

if TYPE_CHECKING:
    from condor import ToolDescriptor
    from tests.pump.desk import Desk

PREFIXES = {"not-completed": NOT_COMPLETED_PREFIX, "not-executed": NOT_EXECUTED_PREFIX}

# -- pure: any evidence ----------------------------------------------------------------------

FOREIGN = st.text(max_size=40) | st.sampled_from(
    ["⚠ Correction: none", "a\n⚠ Not executed: b", "\u202eabc", "x\r\nAll of it was done.", "\u2028done"]
)
ENDED = st.sampled_from(
    [StepStatus.SUCCEEDED, StepStatus.DEGRADED, StepStatus.FAILED, StepStatus.SKIPPED, StepStatus.UNKNOWN]
)
CODES = st.sampled_from(
    ["", "denied", "denied_before", "expired", "role", "upstream", "stopped", "not_reached", "tool_said_so"]
)


@st.composite
def evidence(draw: st.DrawFn) -> ClaimEvidence:
    """Any steps that ended in any way, with foreign text wherever there can be some."""
    steps = [
        StepEvidence(
            step_id=f"s{n}",
            tool="book.write",
            noun=draw(FOREIGN),
            effectful=draw(st.booleans()),
            status=draw(ENDED),
            code=draw(CODES),
            message=draw(FOREIGN),
            sentence=draw(FOREIGN),
            declined_by=draw(FOREIGN),
            reason=draw(FOREIGN),
            attempted=draw(st.booleans()),
            gated=draw(st.booleans()),
            waiting=draw(st.booleans()),
        )
        for n in range(draw(st.integers(0, 6)))
    ]
    return ClaimEvidence(steps=tuple(steps), halted=draw(st.just("") | FOREIGN))


@given(evidence())
def test_every_step_that_did_not_succeed_is_named(known: ClaimEvidence) -> None:
    """One notice each, in order; the prefix says whether it was tried; nothing else carries one."""
    closing = compose_closing(known)
    left = [step for step in known.steps if step.status is not StepStatus.SUCCEEDED]
    assert [notice.step_id for notice in closing.notices] == [step.step_id for step in left]
    lines = closing.text.split("\n")
    for step, notice in zip(left, closing.notices, strict=True):
        assert notice.text.startswith(PREFIXES[notice.kind])
        assert notice.text in lines
        tried = step.status is not StepStatus.SKIPPED or (
            step.code in ("denied", "denied_before", "expired")
            or (step.code != "role" and (step.attempted or step.gated or step.waiting))
        )
        assert notice.kind == ("not-completed" if tried else "not-executed")
    assert closing.text.count("⚠") == len(closing.notices)
    assert CORRECTION_PREFIX not in closing.text
    assert closing.text


@given(evidence())
def test_foreign_text_begins_no_line_of_a_notice(known: ClaimEvidence) -> None:
    """A reason or a message with a line break in it cannot pass for a sentence of ours."""
    for notice in compose_closing(known).notices:
        assert len(notice.text.splitlines()) == 1
        assert notice.text.isprintable()


# -- real runs -------------------------------------------------------------------------------


async def test_an_approved_step_that_never_ran_is_not_said_to_wait(tmp_path: Path) -> None:
    """Its yes came, and then the run was stopped: that is what is said."""
    ledger = Ledger(tmp_path / "l.db")
    gate, inside = asyncio.Event(), asyncio.Event()

    @tool("slow.read", policy_class=PolicyClass.READ)
    async def slow(ctx: ToolContext) -> None:
        inside.set()
        await gate.wait()

    async with open_desk(tmp_path / "home", slow, write_tool(ledger)) as desk:
        run_id = await desk.start(
            call("a", "book.write", record="a"), call("s", "slow.read", after=["a"]), principal=ANN
        )
        await desk.rest(run_id)
        await desk.answer(await desk.card(run_id), {"value": "x"}, ANN)
        await desk.rest(run_id)
        await desk.condor.stop(run_id, principal=BOB)
        end = await desk.rest(run_id)
        assert "“book.write” was still waiting for an answer at the end. It was not run." in end["closing"]


@dataclass(frozen=True, slots=True)
class Drawn:
    """One step of a random run."""

    does: str
    gated: bool
    after: tuple[int, ...]


DOES = ["ok", "absent", "raises", "degraded", "failed", "skipped", "role", "asks", "needs"]


@st.composite
def runs(draw: st.DrawFn) -> tuple[list[Drawn], list[str]]:
    """A graph of steps that end in any way, and what people say when they are asked."""
    steps = []
    for n in range(draw(st.integers(1, 5))):
        after = draw(st.lists(st.integers(0, n - 1), max_size=2, unique=True)) if n else []
        steps.append(Drawn(draw(st.sampled_from(DOES)), draw(st.booleans()), tuple(after)))
    says = draw(
        st.lists(
            st.sampled_from(["yes", "yes", "yes", "no, skip", "no", "stop", "expire"]), min_size=8, max_size=8
        )
    )
    return steps, says


def tool_that(ledger: Ledger, drawn: Drawn, n: int) -> ToolDescriptor:
    tier = HitlTier.HIGH if drawn.gated else HitlTier.LOW
    roles = {"surgeon"} if drawn.does == "role" else set()

    @tool(f"does.{n}", policy_class=PolicyClass.MUTATE, hitl_tier=tier, roles=roles, title=f"Step {n}")
    async def body(ctx: ToolContext, record: str) -> Any:
        match drawn.does:
            case "ok" | "needs":
                return ledger.write(record, "x", key=ctx.idempotency_key)
            case "absent":
                raise ToolError("not there", effect="none")
            case "raises":
                raise OSError("lost")
            case "asks":
                raise ToolError("unsure")
            case outcome:
                return ToolResult(outcome=outcome, value="so")  # type: ignore[arg-type]

    return body


async def told(desk: Desk, run_id: str, says: list[str]) -> Any:
    """Answer whatever is asked, as drawn; stop what is asked for too long."""
    for said in says:
        shown = await desk.rest(run_id)
        if shown["status"] != "suspended":
            return shown
        card = (await desk.cards(run_id))[0]
        if said == "stop":
            await desk.condor.stop(run_id, principal=BOB)
        elif said == "expire" and "expiresAt" in card:
            desk.clock.advance(10**6)
            await desk.condor._running().sweep()
        elif card["reasonCode"] == "approval":
            await desk.answer(card, {"approved": said == "yes"})
        elif card["reasonCode"] == "clarification":
            await desk.answer(card, {"record": "r"}, ANN)
        else:
            await desk.answer(card, {"happened": said == "yes", "reason": "looked"})
    shown = await desk.rest(run_id)
    if shown["status"] == "suspended":
        await desk.condor.stop(run_id, principal=BOB)
    return await desk.rest(run_id)


@pytest.mark.slow
@settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow])
@given(runs())
def test_what_a_run_says_is_what_it_did(drawn: tuple[list[Drawn], list[str]]) -> None:
    """Over random graphs, outcomes and answers: every effect that did not succeed is named, once."""
    steps, says = drawn

    async def whole(folder: Path) -> None:
        ledger = Ledger(folder / "l.db")
        tools = [tool_that(ledger, step, n) for n, step in enumerate(steps)]
        plan = []
        for n, step in enumerate(steps):
            args = {} if step.does == "needs" else {"record": f"r{n}"}
            on_deny = {"on_deny": "skip"} if "no, skip" in says else {}
            plan.append(call(f"s{n}", f"does.{n}", after=[f"s{k}" for k in step.after], **args, **on_deny))
        async with open_desk(folder / "home", read_tool(ledger), *tools) as desk:
            run_id = await desk.start(*plan, autonomy="autonomous")
            end = await told(desk, run_id, says)
            check_closing(end)
            done = {step["args"]["record"] for step in end["steps"] if step["status"] == "succeeded"}
            assert {entry.record for entry in ledger.entries()} <= done

    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(whole(Path(folder)))


def check_closing(end: Any) -> None:
    """The rules, on a snapshot."""
    left = [step for step in end["steps"] if step["status"] != "succeeded"]
    assert [notice["stepId"] for notice in end["notices"]] == [step["id"] for step in left]
    asked = {card["stepId"] for card in end["suspensions"]}
    for step, notice in zip(left, end["notices"], strict=True):
        assert notice["text"] in end["closing"].split("\n")
        tried = step["status"] != "skipped" or step["id"] in asked or step.get("code") == "tool_said_so"
        assert notice["kind"] == ("not-completed" if tried else "not-executed"), (step, notice)
    lines = end["closing"].split("\n")
    reconciled = {
        card["stepId"]
        for card in end["suspensions"]
        if (card["reasonCode"], card["status"]) == ("reconcile", "answered")
    }
    for step in end["steps"]:
        if step["status"] == "succeeded":
            said = f"Step {step['id'][1:]}: done."
            vouched = any(line.startswith(f"{said} (Nobody saw it end; ") for line in lines)
            assert vouched if said not in lines else not vouched
            assert not vouched or step["id"] in reconciled
    assert end["closing"].count("⚠") == len(end["notices"])
    assert end["status"] == "succeeded" if not left else end["status"] != "succeeded"


async def test_a_run_that_changed_something_has_not_simply_failed(tmp_path: Path, ledger: Ledger) -> None:
    """The record was written, and what hung on it was declined: done in part, and both are said."""
    steps = (
        call("w", "book.write", record="a", value="x"),
        call("v", "book.write", after=["w"], record="b", value="y", on_deny="skip"),
    )
    async with open_desk(tmp_path / "home", write_tool(ledger)) as desk:
        run = await desk.run(*steps)
        await desk.approve(await desk.card(run["runId"]))
        await desk.rest(run["runId"])
        await desk.deny(await desk.card(run["runId"]))
        end = await desk.rest(run["runId"])
        assert (end["status"], ledger.count()) == ("degraded", 1)


async def test_a_stand_in_that_fails_hides_nothing_that_was_asked_for(tmp_path: Path) -> None:
    """The plan's own call and what was to stand in for it are both named."""
    notice = compose_closing(
        ClaimEvidence(
            steps=(
                StepEvidence(
                    step_id="s",
                    tool="task.create",
                    noun="the task",
                    effectful=True,
                    status=StepStatus.FAILED,
                    message="it did not answer",
                    instead_of="the lab order",
                    instead_why="it was down.",
                ),
            )
        )
    ).notices[0]
    assert notice.text == (
        "⚠ Not completed: the lab order was not done (it was down), and the task, which was to stand in for "
        "it, failed: it did not answer."
    )
