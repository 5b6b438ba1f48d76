"""A machine of runs: whatever is done in whatever order, what must hold does (hypothesis, stateful).

Rules start runs, answer, stop, let time pass, sweep, fill the disk, close and reopen, and cut the process off
in the middle of its work. After every rule each run at rest keeps its invariants; an effect is on record once
for a step that succeeded, and never for one that a person denied.
"""

from __future__ import annotations

import asyncio
import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from condor import HitlTier
from condor.core.errors import AnswerRefused, StoreUnavailable
from condor.core.run import TERMINAL, RunStatus
from condor.testing import FailDisk, Ledger, SeededClock
from tests.pump.desk import ANN, BOB, Desk, ask, call, check_run, found, open_desk, read_tool, write_tool

if TYPE_CHECKING:
    from contextlib import AbstractAsyncContextManager

#: Machines and steps of each; `make crash` raises them.
EXAMPLES = int(os.environ.get("CONDOR_MACHINES", "12"))
STEPS = int(os.environ.get("CONDOR_MACHINE_STEPS", "25"))
TTL_S = 600.0

#: Plans by name; ``{r}`` becomes a record of the run's own.
PLANS: dict[str, list[dict[str, Any]]] = {
    "gated": [call("r", "book.read"), call("w", "plain.write", after=["r"], record="{r}", value="x")],
    "routine": [call("w", "low.write", record="{r}", value="x"), call("r", "book.read", after=["w"])],
    "parallel": [call(f"w{n}", "idem.write", record="{r}" + str(n), value="x") for n in range(3)],
    "sequence": [
        call("a", "asks.write", record="{r}a", value="x", on_deny="skip"),
        ask("p", "Go on?", after=["a"]),
        call("b", "asks.write", record="{r}b", value=found("a", "/number"), after=["p"]),
    ],
    "missing": [call("w", "plain.write", record="{r}")],
}


def _named(step: dict[str, Any], record: str) -> dict[str, Any]:
    args = step.get("args", {})
    own = {key: item.replace("{r}", record) if isinstance(item, str) else item for key, item in args.items()}
    return {**step, "args": own} if "args" in step else step


class Runs(RuleBasedStateMachine):
    """Condor under rules."""

    def __init__(self) -> None:
        super().__init__()
        self._folder = tempfile.TemporaryDirectory()
        self.home = Path(self._folder.name) / "home"
        self.ledger = Ledger(Path(self._folder.name) / "ledger.db")
        self.loop = asyncio.new_event_loop()
        self.clock = SeededClock()
        self.opened = 0
        self.started = 0
        self._open()

    # -- life --------------------------------------------------------------------------------

    def _open(self) -> None:
        self.opened += 1
        self.disk = FailDisk(1, armed=False)
        at = self.clock.now()
        self.clock = SeededClock(self.opened, at=at)
        tools = (
            read_tool(self.ledger),
            write_tool(self.ledger, "plain.write"),
            write_tool(self.ledger, "low.write", tier=HitlTier.LOW),
            write_tool(self.ledger, "idem.write", idempotent=True),
            write_tool(self.ledger, "asks.write", reconciles=True),
        )
        self._context: AbstractAsyncContextManager[Desk] = open_desk(
            self.home, *tools, clock=self.clock, faults=self.disk, ttl_s=TTL_S, check=False, tend=False
        )
        self.desk: Desk = self._do(self._context.__aenter__())

    def _do(self, work: Any) -> Any:
        return self.loop.run_until_complete(asyncio.wait_for(work, timeout=90))

    def _close(self) -> None:
        self._do(self._context.__aexit__(None, None, None))

    def teardown(self) -> None:
        self._settle()
        self._close()
        self.loop.close()
        self._folder.cleanup()

    def _settle(self) -> None:
        """Let everything that can move come to its rest."""

        async def rest() -> None:
            for row in await self.desk.condor._stored().runs(limit=1_000):
                await self.desk.rest(row.run_id)

        async def tended() -> None:
            # Nobody tends here: a run may come to stand still while others are waited for.
            resting = asyncio.ensure_future(rest())
            while not resting.done():
                await self.desk.condor._running().retry_stranded()
                await asyncio.wait([resting], timeout=0.05)
            await resting

        self._do(tended())

    # -- rules -------------------------------------------------------------------------------

    @rule(name=st.sampled_from(sorted(PLANS)), autonomy=st.sampled_from(["guarded", "autonomous"]))
    def start(self, name: str, autonomy: str) -> None:
        """A run of one of the plans."""
        self.started += 1
        record = f"r{self.started}-"
        steps = [
            {
                **step,
                "args": {k: v.replace("{r}", record) if isinstance(v, str) else v for k, v in args.items()},
            }
            if (args := step.get("args"))
            else step
            for step in PLANS[name]
        ]
        self._tried(self.desk.start(*steps, autonomy=autonomy))

    @rule(which=st.integers(0, 9), yes=st.booleans(), wait=st.booleans())
    def answer(self, which: int, yes: bool, wait: bool) -> None:
        """One of the open cards, approved or denied, filled in or reconciled by what the record says."""
        cards: Any = self._do(self.desk.condor.pending(limit=100))
        if not cards:
            return
        card = cards[which % len(cards)]
        match card["reasonCode"]:
            case "approval":
                data: dict[str, Any] = {"approved": yes}
            case "clarification":
                data = dict.fromkeys(card["resumeSchema"]["properties"], "x")
            case _:
                happened = self.ledger.count(card["toolInput"].get("record")) > 0
                data = {"happened": happened, "reason": "looked"}
        self._tried(self.desk.answer(card, data, ANN if card["reasonCode"] == "clarification" else BOB))
        if wait:
            self._settle()

    @rule(which=st.integers(0, 9))
    def stop(self, which: int) -> None:
        """One of the runs that have not ended."""
        runs = self._do(self.desk.condor._stored().runs(limit=1_000))
        active = [row.run_id for row in runs if row.status not in TERMINAL]
        if active:
            self._tried(self.desk.condor.stop(active[which % len(active)], principal=BOB))

    @rule(seconds=st.sampled_from([1.0, TTL_S / 2, TTL_S]))
    def pass_time(self, seconds: float) -> None:
        """The clock goes on; expired cards are swept."""
        self.clock.advance(seconds)
        self._tried(self.desk.condor._running().sweep())

    @rule()
    def fill_disk(self) -> None:
        """The next group is refused."""
        self.disk.arm()

    @rule()
    def reopen(self) -> None:
        """Closed in peace, opened again."""
        self._close()
        self._open()

    @rule()
    def cut_off(self) -> None:
        """The process is gone in the middle of its work: nothing more of it is heard."""

        for task in asyncio.all_tasks(self.loop):
            task.cancel()
        self._do(asyncio.sleep(0))
        self._close()
        self._open()

    @precondition(lambda self: self.started > 0)
    @rule()
    def settle(self) -> None:
        """Everything comes to its rest."""
        self._settle()

    def _tried(self, work: Any) -> None:
        """What may be refused, because the card is closed, the run is over or the disk is full."""
        try:
            self._do(work)
        except (AnswerRefused, StoreUnavailable):
            return

    # -- what holds --------------------------------------------------------------------------

    @invariant()
    def every_chain_is_kept(self) -> None:
        """After every rule."""

        async def verdicts() -> list[Any]:
            return [verdict async for verdict in self.desk.condor.verify()]

        assert [verdict for verdict in self._do(verdicts()) if not verdict.kept] == []

    @invariant()
    def every_run_at_rest_is_whole(self) -> None:
        """Events, cards, permissions; one effect for each step that succeeded and did not ask in vain."""
        for row in self._do(self.desk.condor._stored().runs(limit=1_000)):
            if row.status in TERMINAL or row.status is RunStatus.SUSPENDED:
                if row.run_id in self.desk.condor._running()._live:
                    continue
                self._do(check_run(self.desk, row.run_id))
                self._check_effects(self._do(self.desk.condor.show(row.run_id)))

    def _check_effects(self, shown: Any) -> None:
        for step in shown["steps"]:
            record = (step.get("args") or {}).get("record")
            if step["tool"] is None or not step["tool"].endswith(".write") or record is None:
                continue
            count = self.ledger.count(record)
            match step["status"]:
                case "succeeded":
                    assert count == 1, (record, count)
                case "unknown":
                    assert count <= 1, (record, count)
                case "skipped" if step.get("code") in ("denied", "expired"):
                    assert count == 0, (record, count)
                case _:
                    assert count <= 1, (record, count)


TestRuns = pytest.mark.slow(Runs.TestCase)
TestRuns.settings = settings(
    max_examples=EXAMPLES,
    stateful_step_count=STEPS,
    deadline=None,
    suppress_health_check=list(HealthCheck),
)
