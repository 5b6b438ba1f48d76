"""Foreign code that does not end when its time is over: nobody waits for it, and nothing it says is heard."""

from __future__ import annotations

import asyncio
import contextlib
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any

import pytest

from condor import HitlTier, PolicyClass, Reconciled, ToolContext, ToolDescriptor, tool
from condor.ports import deadline
from condor.ports.deadline import EscapedCancellation, EscapedExit, OutOfTime, Stragglers
from condor.pump import recovery, retries
from condor.pump.phases import plan as planning
from tests.pump.desk import call, open_desk

if TYPE_CHECKING:
    from pathlib import Path

    from condor.testing import Ledger

#: Longest that a run may take whose foreign code never lets go, in seconds.
SOON_S = 5.0


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(deadline, "UNWIND_S", 0.01)
    monkeypatch.setattr(retries, "RETRY_PAUSE_S", 0)


async def stubborn(let_go: asyncio.Event) -> None:
    """Wait until let go, whoever cancels."""
    while not let_go.is_set():
        with contextlib.suppress(asyncio.CancelledError):
            await let_go.wait()


async def test_a_read_that_swallows_its_cancellation(tmp_path: Path, caplog: Any) -> None:
    """It has failed at its deadline, four tries long; what comes later is logged and not heard."""
    let_go = asyncio.Event()

    @tool("slow.read", policy_class=PolicyClass.READ, timeout_s=0.02)
    async def slow(ctx: ToolContext) -> str:
        await stubborn(let_go)
        return "late"

    async with open_desk(tmp_path / "home", slow) as desk:
        begun = time.monotonic()
        end = await desk.run(call("r", "slow.read"))
        assert time.monotonic() - begun < SOON_S
        assert (end["status"], end["steps"][0]["code"], end["steps"][0]["attempt"]) == (
            "failed",
            "timeout",
            4,
        )
        assert caplog.text.count("it is abandoned") == 4
        let_go.set()
        await asyncio.sleep(0.05)
        assert caplog.text.count("what came of it is not looked at") == 4
        assert await desk.condor.show(end["runId"]) == end


def late_write(ledger: Ledger, let_go: asyncio.Event, **options: Any) -> ToolDescriptor:
    """A write that is abandoned before it writes."""

    async def asked(ctx: ToolContext) -> Reconciled:
        return Reconciled(happened=ledger.find(ctx.idempotency_key) is not None)

    @tool(
        "late.write",
        policy_class=PolicyClass.MUTATE,
        hitl_tier=HitlTier.LOW,
        timeout_s=0.02,
        reconcile=asked,
        **options,
    )
    async def write(ctx: ToolContext) -> None:
        await stubborn(let_go)
        ledger.write("a", "x", key=ctx.idempotency_key, once=False)

    return write


@pytest.mark.parametrize("idempotent", [False, True])
async def test_an_abandoned_write_proves_nothing(tmp_path: Path, ledger: Ledger, idempotent: bool) -> None:
    """While it may still write it is neither taken for undone nor entered again: a person is asked."""
    let_go = asyncio.Event()
    async with open_desk(tmp_path / "home", late_write(ledger, let_go, idempotent=idempotent)) as desk:
        run = await desk.run(call("w", "late.write"), autonomy="autonomous")
        assert (run["status"], run["steps"][0]["status"]) == ("suspended", "unknown")
        card = await desk.card(run["runId"])
        assert card["reasonCode"] == "reconcile"
        let_go.set()
        await asyncio.sleep(0.05)
        assert ledger.count("a") == 1
        await desk.answer(card, {"happened": True, "reason": "it is in the record"})
        end = await desk.rest(run["runId"])
        assert (end["status"], ledger.count("a")) == ("succeeded", 1)


async def test_a_preview_that_swallows_its_cancellation(tmp_path: Path) -> None:
    """A card is not held up: the step fails, and nothing runs."""
    let_go = asyncio.Event()

    async def look(ctx: ToolContext) -> None:
        await stubborn(let_go)

    @tool("w.write", policy_class=PolicyClass.MUTATE, hitl_tier=HitlTier.HIGH, timeout_s=0.02, preview=look)
    async def write(ctx: ToolContext) -> None:
        raise AssertionError("it ran")

    async with open_desk(tmp_path / "home", write) as desk:
        end = await desk.run(call("w", "w.write"))
        assert (end["status"], end["steps"][0]["status"]) == ("failed", "failed")
        let_go.set()


async def test_a_planner_that_swallows_its_cancellation(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its time is over: the run ends and says so."""
    monkeypatch.setattr(planning, "PLANNING_S_MAX", 0.02)
    let_go = asyncio.Event()

    class Planner:
        async def plan(self, request: Any) -> object:
            await stubborn(let_go)
            return {"steps": []}

    async with open_desk(tmp_path / "home", planner=Planner()) as desk:
        begun = time.monotonic()
        run = await desk.condor.start("anything")
        end = await desk.rest(run.id)
        assert time.monotonic() - begun < SOON_S
        assert (end["status"], "gave no plan within 0.02 s" in end["closing"]) == ("failed", True)
        let_go.set()


async def test_a_confirmer_that_swallows_its_cancellation(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A person is asked instead; the same for one that lets a cancellation of its own escape."""
    monkeypatch.setattr(recovery, "CONFIRM_S_MAX", 0.02)
    let_go = asyncio.Event()

    class Confirmer:
        def __init__(self) -> None:
            self.asked = 0

        async def confirm(self, question: Any) -> Any:
            self.asked += 1
            if self.asked == 2:
                raise asyncio.CancelledError
            await stubborn(let_go)

    @tool("one.read", policy_class=PolicyClass.READ, alias_group="g")
    async def one(ctx: ToolContext) -> None:
        raise ValueError("no")

    @tool("two.read", policy_class=PolicyClass.READ, alias_group="g", alias_fidelity="degraded")
    async def two(ctx: ToolContext) -> str:
        return "less"

    async with open_desk(tmp_path / "home", one, two, confirmer=Confirmer()) as desk:
        for _ in range(2):
            run = await desk.run(call("r", "one.read"), autonomy="autonomous")
            assert (await desk.card(run["runId"]))["origin"] == "plan_mutation"
            await desk.condor.stop(run["runId"])
        let_go.set()


async def test_the_caller_is_cancelled_beside_stubborn_work() -> None:
    """The cancellation passes at once; so does a result, an error and an end of the program."""
    stragglers, let_go = Stragglers(), asyncio.Event()
    waiting = asyncio.create_task(stragglers.within(stubborn(let_go), 60, "work"))
    await asyncio.sleep(0)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert "work" in stragglers
    let_go.set()
    await asyncio.sleep(0.01)
    assert "work" not in stragglers

    async def ends(how: BaseException) -> None:
        raise how

    for how, seen in (
        (ValueError("x"), ValueError),
        (SystemExit(1), EscapedExit),
        (KeyboardInterrupt(), EscapedExit),
        (GeneratorExit(), EscapedExit),
        (BaseExceptionGroup("x", [SystemExit()]), EscapedExit),
        (StopAsyncIteration(), StopAsyncIteration),
        (asyncio.CancelledError(), EscapedCancellation),
        (TimeoutError(), TimeoutError),
    ):
        with pytest.raises(seen) as ended:
            await stragglers.within(ends(how), 60, "work")
        assert not isinstance(ended.value, OutOfTime)
    assert await stragglers.within(asyncio.sleep(0, "done"), 60, "work") == "done"


ENDLESS = """
import asyncio, contextlib, sys
from condor import Condor, PolicyClass, ToolContext, tool
from condor.ports import deadline

deadline.UNWIND_S = 0.01

@tool("endless.read", policy_class=PolicyClass.READ, timeout_s=0.01)
async def endless(ctx: ToolContext) -> None:
    while True:
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.sleep(60)

async def main() -> None:
    async with Condor(tools=[endless], home=sys.argv[1], database_url="") as condor:
        run = await condor.start(plan={"steps": [{"id": "r", "tool": "endless.read", "args": {}}]})
        print((await condor.wait(run.id))["status"])

asyncio.run(main())
"""


def test_a_process_ends_beside_work_that_never_does(tmp_path: Path) -> None:
    """Closing the loop does not wait for what was abandoned."""
    done = subprocess.run(
        [sys.executable, "-c", ENDLESS, str(tmp_path)],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, "failed\n"), done.stderr
