"""Many runs and steps at once, stops, and a store that refuses: nothing acknowledged is lost."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, Any

import pytest

from condor import Condor, HitlTier, PolicyClass, Principal, ToolContext, tool
from condor.core.errors import NotAllowed, RefusedInput, StaleSuspension, StoreUnavailable, UnknownId
from condor.core.ids import StepId
from condor.ports.jobs import Backlog
from condor.pump.phases.suspend_resume import Accepted
from condor.runtime import tending
from condor.testing import FailDisk
from tests.pump.desk import ANN, BOB, ROBOT, call, check_everything, open_desk, read_tool, write_tool

if TYPE_CHECKING:
    from pathlib import Path

    from condor.ports.store import Committed, Transition
    from condor.testing import Ledger

WRITE = call("w", "book.write", record="a", value="x")


class Meeting:
    """A read that comes back only when so many are in it at once."""

    def __init__(self, wanted: int) -> None:
        self.inside, self.most = 0, 0
        self._met = asyncio.Event()
        self.wanted = wanted

    def as_tool(self) -> Any:
        @tool("meet", policy_class=PolicyClass.READ, timeout_s=5)
        async def meet(ctx: ToolContext) -> int:
            self.inside += 1
            self.most = max(self.most, self.inside)
            if self.inside == self.wanted:
                self._met.set()
            await self._met.wait()
            self.inside -= 1
            return self.most

        return meet


async def test_independent_steps_run_at_the_same_time(tmp_path: Path) -> None:
    """Six steps that wait for each other inside their bodies all come back."""
    meeting = Meeting(6)
    async with open_desk(tmp_path / "home", meeting.as_tool()) as desk:
        end = await desk.run(*(call(f"m{n}", "meet") for n in range(6)))
        assert (end["status"], meeting.most) == ("succeeded", 6)


async def test_no_more_steps_at_once_than_is_polite(tmp_path: Path) -> None:
    """Of forty ready steps sixteen are at work at once; all are done in the end."""
    meeting = Meeting(16)
    async with open_desk(tmp_path / "home", meeting.as_tool()) as desk:
        end = await desk.run(*(call(f"m{n}", "meet") for n in range(40)))
        assert (end["status"], meeting.most) == ("succeeded", 16)


async def test_sixty_four_runs_at_once(tmp_path: Path, ledger: Ledger) -> None:
    """Each parks once, is answered once and writes once."""
    async with open_desk(tmp_path / "home", read_tool(ledger), write_tool(ledger)) as desk:

        async def whole(n: int) -> str:
            run = await desk.run(
                call("r", "book.read"), call("w", "book.write", after=["r"], record=f"r{n}", value="x")
            )
            end = await desk.approve(await desk.card(run["runId"]))
            return str(end["status"])

        assert set(await asyncio.gather(*(whole(n) for n in range(64)))) == {"succeeded"}
        assert sorted(entry.record for entry in ledger.entries()) == sorted(f"r{n}" for n in range(64))
        assert desk.condor._running()._driving.live == {}


async def test_an_answer_arrives_while_other_steps_run(tmp_path: Path, ledger: Ledger) -> None:
    """A card can be answered as soon as it is open; what it gates runs beside what still runs."""
    gate = asyncio.Event()

    @tool("slow.read", policy_class=PolicyClass.READ)
    async def slow(ctx: ToolContext) -> int:
        await gate.wait()
        return ledger.count()

    async with open_desk(tmp_path / "home", slow, write_tool(ledger)) as desk:
        run_id = await desk.start(call("s", "slow.read"), WRITE)
        await desk.seen(run_id, "approval.required")
        assert (await desk.condor.show(run_id))["status"] == "executing"
        await desk.answer(await desk.card(run_id), {"approved": True})
        await desk.seen(run_id, "step.settled")
        gate.set()
        end = await desk.rest(run_id)
        assert (end["status"], end["steps"][0]["result"]) == ("succeeded", 1)


# -- stop ------------------------------------------------------------------------------------


async def test_stop_while_parked(tmp_path: Path, ledger: Ledger) -> None:
    """Cards are withdrawn, the run is aborted, who stopped it and why is said."""
    async with open_desk(tmp_path / "home", write_tool(ledger)) as desk:
        run = await desk.run(WRITE)
        await desk.condor.stop(run["runId"], principal=BOB, reason="wrong patient")
        end = await desk.rest(run["runId"])
        assert (end["status"], ledger.count()) == ("aborted", 0)
        assert end["closing"].splitlines() == [
            "The run was stopped by Bob Ode (wrong patient).",
            "⚠ Not completed: “book.write” was still waiting for an answer at the end. It was not run.",
        ]
        assert [row["actor"] for row in (await desk.audit(run["runId"]))[-3:]] == ["bob"] * 3


async def test_stop_while_an_effect_is_in_flight(tmp_path: Path, ledger: Ledger) -> None:
    """What is in flight finishes and is journalled; what comes after it does not begin."""
    inside, gate = asyncio.Event(), asyncio.Event()

    @tool("slow.write", policy_class=PolicyClass.MUTATE, hitl_tier=HitlTier.LOW)
    async def slow(ctx: ToolContext) -> int:
        inside.set()
        await gate.wait()
        return ledger.write("a", "x", key=ctx.idempotency_key)

    async with open_desk(tmp_path / "home", slow, write_tool(ledger, tier=HitlTier.LOW)) as desk:
        run_id = await desk.start(
            call("s", "slow.write"),
            call("w", "book.write", record="b", value="y", after=["s"]),
            autonomy="autonomous",
        )
        await inside.wait()
        await desk.condor.stop(run_id, principal=ANN)
        assert (await desk.condor.show(run_id))["status"] == "executing"
        await desk.condor.stop(run_id, principal=ANN)  # it is being stopped already
        gate.set()
        end = await desk.rest(run_id)
        assert (end["status"], [entry.record for entry in ledger.entries()]) == ("aborted", ["a"])
        assert end["closing"].splitlines() == [
            "The run was stopped by Ann Ito.",
            "slow.write: done.",
            "⚠ Not executed: “book.write” was not reached.",
        ]
        assert "executed" in await desk.decisions(run_id)


async def test_stop_takes_a_run_that_exists(tmp_path: Path, ledger: Ledger) -> None:
    """An unknown run is nobody's; an auditor stops nothing; a program may stop what it started.

    To another program it is not there; who has the process and names nobody stops it.
    """
    auditor = Principal(id="aud", roles=frozenset({"auditor"}))
    async with open_desk(tmp_path / "home", write_tool(ledger)) as desk:
        with pytest.raises(UnknownId):
            await desk.condor.stop("run_none")
        run = await desk.run(WRITE, principal=ROBOT)
        with pytest.raises(NotAllowed, match="decides nothing"):
            await desk.condor.stop(run["runId"], principal=auditor)
        for stranger in (
            Principal(id="other", kind="program", roles=BOB.roles),
            Principal(id="local", kind="program"),
        ):
            with pytest.raises(UnknownId):
                await desk.condor.stop(run["runId"], principal=stranger)
        assert await desk.condor.show(run["runId"]) == run
        await desk.condor.stop(run["runId"], principal=ROBOT)
        assert (await desk.rest(run["runId"]))["status"] == "aborted"
        theirs = await desk.run(WRITE, principal=ANN)
        await desk.condor.stop(theirs["runId"])
        assert (await desk.rest(theirs["runId"]))["status"] == "aborted"


async def test_closing_a_process_lets_effects_in_flight_finish(tmp_path: Path, ledger: Ledger) -> None:
    """Leaving ``async with`` gives work its grace; the run has rested, nothing is unknown."""
    inside = asyncio.Event()

    @tool("slow.write", policy_class=PolicyClass.MUTATE, hitl_tier=HitlTier.LOW)
    async def slow(ctx: ToolContext) -> int:
        inside.set()
        await asyncio.sleep(0.05)
        return ledger.write("a", "x", key=ctx.idempotency_key)

    async with open_desk(tmp_path / "home", slow, check=False) as desk:
        run_id = await desk.start(call("s", "slow.write"), autonomy="autonomous")
        await inside.wait()
    async with open_desk(tmp_path / "home", slow, seed=1) as desk:
        end: Any = await desk.condor.show(run_id)
        assert (end["status"], ledger.count(), end["steps"][0]["attempt"]) == ("succeeded", 1, 1)


# -- who may be autonomous -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("principal", "autonomy", "given", "status"),
    [
        (ANN, "autonomous", "autonomous", "succeeded"),
        (ANN, "guarded", "guarded", "suspended"),
        (ANN, "ambient", "ambient", "suspended"),
        (ROBOT, "autonomous", "guarded", "suspended"),
        (ROBOT, "ambient", "ambient", "suspended"),
        (Principal(id="system", kind="system"), "autonomous", "guarded", "suspended"),
    ],
)
async def test_only_a_person_is_autonomous(
    tmp_path: Path, ledger: Ledger, principal: Principal, autonomy: str, given: str, status: str
) -> None:
    """Report 47: a program's run is guarded at most; where nobody is there to approve, it parks."""
    async with open_desk(tmp_path / "home", write_tool(ledger, tier=HitlTier.LOW)) as desk:
        run = await desk.run(WRITE, principal=principal, autonomy=autonomy)
        assert (run["autonomy"], run["status"]) == (given, status)
        assert ledger.count() == (1 if status == "succeeded" else 0)
        if status == "suspended":
            await desk.condor.stop(run["runId"])


async def test_the_default_is_guarded(tmp_path: Path, ledger: Ledger) -> None:
    """Nothing said means watched."""
    async with open_desk(tmp_path / "home", write_tool(ledger, tier=HitlTier.LOW)) as desk:
        run = await desk.run(WRITE)
        assert (run["autonomy"], run["status"], run["why"]["waitsFor"][0]["ruleId"]) == (
            "guarded",
            "suspended",
            "mutate.low-tier-supervised-approval",
        )
        await desk.condor.stop(run["runId"])


async def test_a_parked_run_holds_nothing(tmp_path: Path, ledger: Ledger) -> None:
    """Report 37: no idle limit ends a parked run; it is a row, with no task, timer or stream."""
    async with open_desk(tmp_path / "home", write_tool(ledger), ttl_s=10**6) as desk:
        before = len(asyncio.all_tasks())
        run = await desk.run(WRITE)
        assert (desk.condor._running()._driving.live, len(asyncio.all_tasks())) == ({}, before)
        desk.clock.advance(10**6 - 1)
        assert await desk.condor._running().sweep() == 0
        assert (await desk.approve(await desk.card(run["runId"])))["status"] == "succeeded"


# -- the store refuses -----------------------------------------------------------------------


@pytest.mark.parametrize("nth", range(1, 8))
async def test_a_full_disk_at_each_commit(tmp_path: Path, ledger: Ledger, nth: int) -> None:
    """B10: what was not taken was not acknowledged; what was goes on; one effect in the end."""
    disk = FailDisk(nth, armed=False)
    tools = (read_tool(ledger), write_tool(ledger, idempotent=True), read_tool(ledger, "book.again"))
    async with open_desk(tmp_path / "home", *tools, faults=disk, tend=False) as desk:
        disk.arm()
        steps = (
            call("r", "book.read"),
            call("w", "book.write", after=["r"], record="a", value="x"),
            call("s", "book.again", after=["w"]),
        )
        try:
            run_id = await desk.start(*steps)
        except StoreUnavailable:
            assert list(await desk.condor._stored().runs()) == []
            run_id = await desk.start(*steps)
        shown = await _gone_on(desk, run_id)
        card = await desk.card(run_id)
        try:
            await desk.answer(card, {"approved": True})
        except StoreUnavailable:
            assert await desk.condor.show(run_id) == shown
            assert ledger.count() == 0
            await desk.answer(card, {"approved": True})
        end = await _gone_on(desk, run_id)
        assert (end["status"], ledger.count(), len(end["suspensions"])) == ("succeeded", 1, 1)


async def _gone_on(desk: Any, run_id: str) -> Any:
    """The run at its rest; taken up again if it stands still."""
    async with asyncio.timeout(10):
        while True:
            resting = asyncio.ensure_future(desk.condor.wait(run_id))
            done, _ = await asyncio.wait({resting}, timeout=0.2)
            if done:
                return resting.result()
            resting.cancel()
            await desk.condor._running().retry_stranded()


async def test_a_full_disk_while_an_effect_is_in_flight_loses_no_outcome(
    tmp_path: Path, ledger: Ledger
) -> None:
    """The outcome is kept until the disk takes it: it is known, not unknown, and nothing is repeated."""
    disk = FailDisk(1, armed=False)

    @tool("once.write", policy_class=PolicyClass.MUTATE, hitl_tier=HitlTier.LOW)
    async def once(ctx: ToolContext) -> int:
        number = ledger.write("a", "x")
        disk.arm()
        return number

    tools = (once, read_tool(ledger))
    async with open_desk(tmp_path / "home", *tools, faults=disk, tend=False) as desk:
        run_id = await desk.start(
            call("w", "once.write"), call("r", "book.read", after=["w"]), autonomy="autonomous"
        )
        end = await _gone_on(desk, run_id)
        assert (end["status"], ledger.count()) == ("succeeded", 1)
        assert "unknown" not in await desk.decisions(run_id)


async def test_a_decision_that_cannot_be_stored_is_no_decision(tmp_path: Path, ledger: Ledger) -> None:
    """The audit row stands in the same unit, so a refused disk leaves the card open and nothing run."""
    disk = FailDisk(1, armed=False)
    async with open_desk(tmp_path / "home", write_tool(ledger), faults=disk) as desk:
        run = await desk.run(WRITE)
        card = await desk.card(run["runId"])
        disk.arm()
        with pytest.raises(StoreUnavailable) as refused:
            await desk.answer(card, {"approved": True})
        assert (refused.value.code, refused.value.retryable) == ("store_unavailable", True)
        assert await desk.condor.show(run["runId"]) == run
        assert "approved" not in await desk.decisions(run["runId"])
        assert (await desk.approve(card))["status"] == "succeeded"
        assert ledger.count() == 1


async def test_the_tender_outlives_a_refusing_disk(
    tmp_path: Path, ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Looking after expired cards and stranded runs goes on when the store refused once."""
    monkeypatch.setattr(tending, "TEND_EVERY_S", 0.01)
    disk = FailDisk(1, armed=False)
    async with open_desk(tmp_path / "home", write_tool(ledger), faults=disk, ttl_s=60) as desk:
        run = await desk.run(WRITE)
        desk.clock.advance(60)
        disk.arm()
        begun = time.monotonic()
        end = await desk.rest(run["runId"])
        while end["status"] == "suspended":
            assert time.monotonic() - begun < 5
            await asyncio.sleep(0.01)
            end = await desk.rest(run["runId"])
        assert end["status"] == "aborted"


async def test_a_stale_card_s_successor_is_told_while_others_run(tmp_path: Path, ledger: Ledger) -> None:
    """Who answered it is shown the new card as soon as there is one, not at the run's rest."""
    held, entered = asyncio.Event(), asyncio.Event()

    @tool("slow.write", policy_class=PolicyClass.MUTATE, hitl_tier=HitlTier.HIGH)
    async def slow(ctx: ToolContext) -> int:
        entered.set()
        await held.wait()
        return 1

    async with open_desk(tmp_path / "home", write_tool(ledger), slow) as desk:
        run_id = (await desk.run(WRITE, call("s", "slow.write")))["runId"]
    changed = write_tool(ledger, tier=HitlTier.LOW)
    async with open_desk(tmp_path / "home", changed, slow, seed=1) as desk:
        card = await desk.card(run_id, "w")
        await desk.answer(await desk.card(run_id, "s"), {"approved": True})
        await entered.wait()
        async with asyncio.timeout(2):
            with pytest.raises(StaleSuspension) as told:
                await desk.answer(card, {"approved": True})
        assert told.value.next_suspend_id == (await desk.card(run_id, "w"))["suspendId"] != card["suspendId"]
        held.set()
        await desk.rest(run_id)


async def test_who_answered_a_stale_card_is_shown_one_that_is_open(tmp_path: Path, ledger: Ledger) -> None:
    """Somebody else has edited its successor meanwhile."""
    async with open_desk(tmp_path / "home", write_tool(ledger, editable=("value",))) as desk:
        first = await desk.card((await desk.run(WRITE))["runId"])
        second = await desk.condor.edit(str(first["suspendId"]), {"value": "y"}, principal=BOB)
        third = await desk.condor.edit(str(second["suspendId"]), {"value": "z"}, principal=BOB)
        stale = Accepted(
            run_id=first["runId"], step_id=StepId("w"), generation=1, segment=None, stale="it moved"
        )
        assert await desk.condor._running().asked_anew(stale) == third["suspendId"]


async def test_a_stale_card_of_a_run_that_stands_still_says_so(tmp_path: Path, ledger: Ledger) -> None:
    """The store takes the answer and then no card: nobody waits for ever."""
    async with open_desk(tmp_path / "home", write_tool(ledger)) as desk:
        card = await desk.card((await desk.run(WRITE))["runId"])
    disk = FailDisk(2, armed=False)
    changed = write_tool(ledger, tier=HitlTier.LOW)
    async with open_desk(tmp_path / "home", changed, seed=1, faults=disk, tend=False) as desk:
        disk.arm()
        async with asyncio.timeout(2):
            with pytest.raises(StoreUnavailable, match=r"nothing ran; run .* goes on when the store takes"):
                await desk.answer(card, {"approved": True})
        assert await desk.condor._running().retry_stranded() == 1
        newer = await desk.card((await desk.rest(card["runId"]))["runId"])
        assert newer["suspendId"] != card["suspendId"]


@pytest.mark.parametrize("fault", [ValueError, StoreUnavailable])
@pytest.mark.parametrize("fails", ["refresh", "backlog"])
async def test_who_only_attends_outlives_a_fault(
    monkeypatch: pytest.MonkeyPatch, fault: type[Exception], fails: str
) -> None:
    """Kernels are read again after a look that failed, whatever of it did."""
    monkeypatch.setattr(tending, "TEND_EVERY_S", 0.01)
    faults, refreshed = iter([fault("once")]), asyncio.Event()

    def look(name: str) -> None:
        if name == fails and (found := next(faults, None)):
            raise found

    async def refresh() -> None:
        look("refresh")
        refreshed.set()

    async def backlog() -> Backlog:
        look("backlog")
        return Backlog(workers=1)

    attending = asyncio.create_task(tending.attend(refresh=refresh, backlog=backlog))
    await asyncio.wait(
        {attending, asyncio.ensure_future(refreshed.wait())}, timeout=2, return_when="FIRST_COMPLETED"
    )
    assert refreshed.is_set()
    await tending.cancelled(attending)


async def test_an_address_that_is_no_text_is_named(tmp_path: Path) -> None:
    """One line with what to write instead."""
    with pytest.raises(RefusedInput, match="database_url is 123, no address; write sqlite:///"):
        async with Condor(database_url=123, home=tmp_path / "home"):  # type: ignore[arg-type]
            pass


async def test_what_may_be_stored_is_not_stored_twice(tmp_path: Path, ledger: Ledger) -> None:
    """The outcome of a write is on disk, and nobody knows: the run is read again, and says it once."""
    tools = (write_tool(ledger, tier=HitlTier.LOW), read_tool(ledger))
    async with open_desk(tmp_path / "home", *tools, tend=False) as desk:
        store, lost = desk.condor.store, [True]
        commit = store.commit

        async def lost_once(unit: Transition) -> Committed:
            committed = await commit(unit)
            if lost and any(b'"executed"' in body and b'"w"' in body for body in unit.audit):
                lost.clear()
                doubt = StoreUnavailable("whether it is stored is not known")
                doubt.in_doubt = True
                raise doubt
            return committed

        store.commit = lost_once  # type: ignore[method-assign]
        run_id = await desk.start(
            call("w", "book.write", record="a", value="x"), call("r", "book.read"), autonomy="autonomous"
        )
        end = await _gone_on(desk, run_id)
        assert (end["status"], ledger.count(), lost) == ("succeeded", 1, [])
        said = [(row["decision"], row.get("stepId")) for row in await desk.audit(run_id)]
        assert said.count(("executed", "w")) == 1, said
        await check_everything(desk)
