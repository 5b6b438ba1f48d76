"""Races, each made to happen: an answer that overtakes a park, a journal entry, an end."""

from __future__ import annotations

import asyncio
import random
import threading
from typing import TYPE_CHECKING, Any

import pytest

from condor import (
    AlreadyDecided,
    CardEvidence,
    Effect,
    HitlTier,
    PolicyClass,
    Principal,
    SuspensionExpired,
    ToolContext,
    tool,
)
from condor.core.errors import RunNotSuspendedError
from condor.testing import ActAt
from tests.pump.desk import ANN, BOB, CAT, PATIENCE_S, call, open_desk, read_tool, write_tool

if TYPE_CHECKING:
    from pathlib import Path

    from condor import ToolDescriptor
    from condor.testing import Ledger
    from tests.pump.desk import Desk


class HeldWriter:
    """Holds the store's writer at its next commit, until it is let go."""

    def __init__(self) -> None:
        self.holding, self._go = threading.Event(), threading.Event()
        self.faults = ActAt("writer.before-commit", self._hold, armed=False)

    def _hold(self) -> None:
        self.holding.set()
        assert self._go.wait(PATIENCE_S), "nobody let the writer go"

    async def held(self) -> None:
        """Until the writer stands still."""
        assert await asyncio.to_thread(self.holding.wait, PATIENCE_S)

    def let_go(self) -> None:
        self._go.set()


async def turns(count: int = 20) -> None:
    """Let everything that can run in the loop run."""
    for _ in range(count):
        await asyncio.sleep(0)


def waiting_write(ledger: Ledger, gate: asyncio.Event, name: str = "slow.write") -> ToolDescriptor:
    """A gated write whose card takes until ``gate`` opens."""

    async def preview(ctx: ToolContext, record: str, value: str) -> CardEvidence:
        await gate.wait()
        return CardEvidence(summary=f"{record} becomes {value}")

    return write_tool(ledger, name, preview=preview)


async def test_an_answer_while_the_last_card_is_being_parked(tmp_path: Path, ledger: Ledger) -> None:
    """The run rests in the moment in which an earlier card is answered: it goes on, nobody is forgotten."""
    gate, writer = asyncio.Event(), HeldWriter()
    tools = (write_tool(ledger), waiting_write(ledger, gate))
    async with open_desk(tmp_path / "home", *tools, faults=writer.faults) as desk:
        run_id = await desk.start(
            call("a", "book.write", record="a", value="x"), call("b", "slow.write", record="b", value="y")
        )
        await desk.seen(run_id, "approval.required")
        card = await desk.card(run_id, "a")
        assert (await desk.condor.show(run_id))["status"] == "executing"
        writer.faults.arm()
        gate.set()
        await writer.held()  # the park of b, with which the run rests
        answered = asyncio.create_task(desk.answer(card, {"approved": True}))
        await turns()
        writer.let_go()
        await answered
        run = await desk.rest(run_id)
        assert {step["id"]: step["status"] for step in run["steps"]} == {"a": "succeeded", "b": "suspended"}
        assert (await desk.approve(await desk.card(run_id, "b")))["status"] == "succeeded"
        assert ledger.count() == 2


def held_at_resume(
    ledger: Ledger, gate: asyncio.Event, reread: asyncio.Event, **options: Any
) -> ToolDescriptor:
    """A write whose record is read quickly for the card and slowly, until ``gate`` opens, before it runs."""
    calls = []

    async def preview(ctx: ToolContext, record: str, value: str) -> CardEvidence:
        calls.append(record)
        if len(calls) == 2:
            reread.set()
            await gate.wait()
        return CardEvidence(summary=f"{record} becomes {value}")

    return write_tool(ledger, "held.write", preview=preview, **options)


@pytest.mark.parametrize("ending", ["deny", "stop"])
async def test_what_was_not_begun_when_a_run_is_halted_never_begins(
    tmp_path: Path, ledger: Ledger, ending: str
) -> None:
    """An approved write that is about to be journalled when the run is denied or stopped is not entered."""
    gate, reread = asyncio.Event(), asyncio.Event()
    tools = (write_tool(ledger), held_at_resume(ledger, gate, reread))
    async with open_desk(tmp_path / "home", *tools) as desk:
        run = await desk.run(
            call("a", "book.write", record="a", value="x"), call("b", "held.write", record="b", value="y")
        )
        await desk.answer(await desk.card(run["runId"], "b"), {"approved": True})
        await reread.wait()
        if ending == "deny":
            await desk.answer(await desk.card(run["runId"], "a"), {"approved": False})
        else:
            await desk.condor.stop(run["runId"], principal=BOB)
        await turns()
        gate.set()
        end = await desk.rest(run["runId"])
        assert (end["status"], ledger.count()) == ("aborted", 0)
        assert {step["status"] for step in end["steps"]} == {"skipped"}
        assert "started" not in {event["kind"] for event in await desk.events(run["runId"])}


async def test_a_verdict_that_was_overtaken_is_made_again(tmp_path: Path, ledger: Ledger) -> None:
    """The same effect is denied while an approved call is about to run: promoted, and asked again."""
    gate, reread = asyncio.Event(), asyncio.Event()

    def effects(args: Any) -> tuple[Effect, ...]:
        return (Effect(verb="write", target="the book"),)

    tools = (
        write_tool(ledger, on_deny="skip", effect_of=effects),
        held_at_resume(ledger, gate, reread, tier=HitlTier.LOW, effect_of=effects),
    )
    async with open_desk(tmp_path / "home", *tools) as desk:
        run = await desk.run(
            call("a", "book.write", record="a", value="x"), call("b", "held.write", record="b", value="y")
        )
        await desk.answer(await desk.card(run["runId"], "b"), {"approved": True})
        await reread.wait()
        await desk.answer(await desk.card(run["runId"], "a"), {"approved": False})
        await turns()
        gate.set()
        again = await desk.rest(run["runId"])
        card = await desk.card(run["runId"], "b")
        assert (again["status"], card["generation"], ledger.count()) == ("suspended", 2, 0)
        assert card["policy"]["promotions"] == ["denied-effect"]
        assert (await desk.approve(card))["status"] == "degraded"
        assert [entry.record for entry in ledger.entries()] == ["b"]


async def test_a_stop_while_the_run_closes(tmp_path: Path, ledger: Ledger) -> None:
    """The stop is first in line when the run wants to end: one end, and nothing of the other is stored."""
    gate, writer = asyncio.Event(), HeldWriter()

    @tool("gate.read", policy_class=PolicyClass.READ)
    async def gate_read(ctx: ToolContext) -> str:
        await gate.wait()
        return "now"

    async with open_desk(tmp_path / "home", gate_read, read_tool(ledger), faults=writer.faults) as desk:
        run_id = await desk.start(call("a", "gate.read"))
        writer.faults.arm()
        other = asyncio.create_task(desk.run(call("a", "book.read")))
        await writer.held()
        stopping = asyncio.create_task(desk.condor.stop(run_id, principal=ANN, reason="enough"))
        await turns()
        gate.set()
        await turns()
        writer.let_go()
        await stopping
        end = await desk.rest(run_id)
        assert end["status"] == "aborted"
        assert end["closing"].startswith("The run was stopped by Ann Ito (enough).")
        assert (await other)["status"] == "succeeded"


@pytest.mark.parametrize("what", ["answer", "deny", "start", "stop"])
async def test_a_caller_that_goes_away_leaves_nothing_standing(
    tmp_path: Path, ledger: Ledger, what: str
) -> None:
    """A client disconnects while its unit is on the way to the disk: what was stored is gone on from."""
    writer = HeldWriter()
    tools = (read_tool(ledger), write_tool(ledger))
    async with open_desk(tmp_path / "home", *tools, faults=writer.faults) as desk:
        step = call("w", "book.write", record="a", value="x")
        run_id = "" if what == "start" else (await desk.run(step))["runId"]
        writer.faults.arm()
        match what:
            case "start":
                caller = asyncio.ensure_future(desk.run(step))
            case "stop":
                caller = asyncio.ensure_future(desk.condor.stop(run_id, principal=BOB))
            case _:
                given = {"approved": what == "answer"}
                caller = asyncio.ensure_future(desk.answer(await desk.card(run_id), given))
        await writer.held()
        caller.cancel()
        await turns()
        writer.let_go()
        await desk.run(call("r", "book.read"))  # whose units are behind that one
        end = await desk.rest(run_id or (await desk.condor._stored().runs())[-1].run_id)
        ends = {"answer": "succeeded", "deny": "aborted", "start": "suspended", "stop": "aborted"}
        assert (caller.cancelled(), end["status"]) == (True, ends[what])
        assert ledger.count() == (1 if what == "answer" else 0)


async def test_a_stop_that_comes_too_late_says_so(tmp_path: Path, ledger: Ledger) -> None:
    """An ended run stays as it ended."""
    async with open_desk(tmp_path / "home", read_tool(ledger)) as desk:
        run = await desk.run(call("a", "book.read"))
        with pytest.raises(RunNotSuspendedError) as refused:
            await desk.condor.stop(run["runId"])
        assert refused.value.code == "run_not_active"
        assert await desk.condor.show(run["runId"]) == run


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(20))
async def test_a_hundred_answers_have_one_winner(tmp_path: Path, ledger: Ledger, seed: int) -> None:
    """A28, reports 1 and 2: 50 yes and 50 no at once: one is taken, 99 are told whose, one write or none."""
    chance = random.Random(seed)
    voters = [Principal(id=f"p{n}", display=f"Person {n}") for n in range(100)]
    says = [n % 2 == 0 for n in range(100)]
    chance.shuffle(says)
    async with open_desk(tmp_path / "home", write_tool(ledger)) as desk:
        run = await desk.run(call("w", "book.write", record="a", value="x"))
        card = await desk.card(run["runId"])

        async def vote(n: int) -> str | None:
            try:
                await desk.answer(card, {"approved": says[n], "reason": f"vote {n}"}, voters[n])
            except AlreadyDecided as refused:
                return f"{refused.decision} by {refused.decided_by}"
            return None

        order = list(range(100))
        chance.shuffle(order)
        fates = dict(zip(order, await asyncio.gather(*(vote(n) for n in order)), strict=True))
        (winner,) = [n for n, fate in fates.items() if fate is None]
        word = "approved" if says[winner] else "denied"
        assert {fate for fate in fates.values() if fate} == {f"{word} by Person {winner}"}, f"seed {seed}"
        end = await desk.rest(run["runId"])
        assert (end["status"], ledger.count()) == (("succeeded", 1) if says[winner] else ("aborted", 0))
        assert [row["actor"] for row in await desk.audit(run["runId"], decision=word)] == [f"p{winner}"]


async def test_answers_to_many_cards_at_once(tmp_path: Path, ledger: Ledger) -> None:
    """Answers to different cards of one run do not lose each other, however they interleave."""
    async with open_desk(tmp_path / "home", write_tool(ledger)) as desk:
        run = await desk.run(*(call(f"w{n}", "book.write", record=f"r{n}", value="x") for n in range(12)))
        cards = await desk.cards(run["runId"])
        assert len({card["suspendId"] for card in cards}) == 12
        await asyncio.gather(*(desk.answer(card, {"approved": True}) for card in cards))
        end = await desk.rest(run["runId"])
        assert (end["status"], sorted(entry.record for entry in ledger.entries())) == (
            "succeeded",
            sorted(f"r{n}" for n in range(12)),
        )


async def test_expiry_and_an_answer_at_the_same_moment(tmp_path: Path, ledger: Ledger) -> None:
    """A29: at the deadline it is one of the two, never both, and never a yes because time ran out."""
    async with open_desk(tmp_path / "home", write_tool(ledger), ttl_s=60) as desk:
        outcomes = []
        for n in range(40):
            run = await desk.run(call("w", "book.write", record=f"r{n}", value="x"))
            card = await desk.card(run["runId"])
            desk.clock.advance(59.999 if n % 2 else 60)
            said, _ = await asyncio.gather(_tried(desk, card), desk.condor._running().sweep())
            desk.clock.advance(1)
            await desk.condor._running().sweep()
            end = await desk.rest(run["runId"])
            assert end["status"] == ("succeeded" if said else "aborted")
            assert ledger.count(f"r{n}") == (1 if said else 0)
            outcomes.append(said)
        assert outcomes == [n % 2 == 1 for n in range(40)]


async def _tried(desk: Desk, card: Any) -> bool:
    try:
        await desk.answer(card, {"approved": True}, CAT)
    except SuspensionExpired:
        return False
    return True
