"""Driving: the segments that this process works on, from their taking up to their rest.

Law 1: who takes a run up raises its epoch, a compare-and-set; of any number of takers one has it.
Law 2: a segment that the store fails leaves its run standing still, to be taken up again; one that fails for
a reason of ours ends its run as failed, with the reason.
Law 3: a process that goes finishes what is in flight, begins nothing new, and hands its runs over.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from condor.core.errors import OurBug, RecordDamaged, StoreUnavailable
from condor.core.run import TERMINAL, RunStatus
from condor.ports.store import Conflict, Expect, Transition
from condor.pump.breaker import open_breaker
from condor.pump.loop import drive
from condor.pump.phases.dispatch import dispatch
from condor.pump.phases.fail import end_failed, readable
from condor.pump.phases.plan import plan
from condor.pump.segment import LookAgain, RunLost, Segment
from condor.pump.staging import LEDGER
from condor.pump.state import StateUnreadable
from condor.pump.taking_up import count_taking_up, give_back

if TYPE_CHECKING:
    from condor.core.ids import RunId
    from condor.ports.dispatcher import Dispatcher
    from condor.ports.jobs import JobEnd
    from condor.ports.store import Committed, RunRow
    from condor.pump.ports import PumpPorts
    from condor.pump.state import RunAsLeft
    from condor.runtime.hub import EventHub

_log = logging.getLogger(__name__)

#: Each attempt to take up a run means that something was stored of it meanwhile.
_RACES_MAX = 100

#: Statuses in which nothing of a run moves by itself.
AT_REST = TERMINAL | {RunStatus.SUSPENDED}


@dataclass(slots=True, kw_only=True)
class Live:
    """A run that is being worked on here."""

    segment: Segment
    rested: asyncio.Event = field(default_factory=asyncio.Event)
    #: The segment was driven to its end; otherwise only the store can say how its run stands.
    driven: bool = False

    def as_left(self) -> RunAsLeft | None:
        """The run at its rest, as far as the segment knows it without asking the store."""
        return self.segment.as_left() if self.driven else None


class Driving:
    """Every segment of one process."""

    def __init__(self, ports: PumpPorts, dispatcher: Dispatcher, hub: EventHub) -> None:
        """Nothing is driven yet."""
        self._ports = ports
        self._dispatcher = dispatcher
        self._hub = hub
        self.live: dict[str, Live] = {}
        #: Runs that stand still because the store took nothing; they are taken up again.
        self.stranded: set[RunId] = set()
        #: Runs whose records something else has written over: left to people.
        self._damaged: set[RunId] = set()
        #: Runs that a job takes up just now.
        self._taking: set[str] = set()
        self._leaves = False

    def wake(self, run_id: str) -> None:
        """Something of a run was stored elsewhere: its segment here looks again."""
        live = self.live.get(run_id)
        if live is not None:
            live.segment.wake.set()

    def wake_all(self) -> None:
        """Something of any run may have been stored."""
        for live in self.live.values():
            live.segment.wake.set()

    # -- taking up ---------------------------------------------------------------------------

    async def take_up(self, run_id: RunId) -> bool:
        """Take up a run that nobody has, in the background; False where there is nothing to do."""
        try:
            taken = await self._taken(run_id)
        except StoreUnavailable:
            self.stranded.add(run_id)
            return False
        if not isinstance(taken, Segment):
            return False
        self._dispatcher.dispatch(run_id, self._as_long_as_it_may(self.begin(taken)))
        return True

    async def _as_long_as_it_may(self, live: Live) -> None:
        try:
            await self.to_its_rest(live)
        except asyncio.CancelledError:
            # The process goes, after its grace.
            if give_back(live.segment):
                with contextlib.suppress(RunLost, LookAgain, Conflict, StoreUnavailable):
                    await live.segment.commit()
            raise

    async def _taken(
        self, run_id: str, *, asks: bool = False, queued_at: int | None = None
    ) -> Segment | JobEnd:
        """The next segment of a run that nobody has; else whether it is known that there is nothing to do.

        Args:
            asks: whoever has it keeps it, as long as that process lives.
            queued_at: the epoch that a job says. Whoever takes its run up raises it by one and no more, or a
                worker that hangs could not be told from one that lost its run (``pass_on``): what this
                process has and does not work on, and what lost its process, is queued anew.
        """
        for _ in range(_RACES_MAX):
            stored, holder = await self._ports.store.offered(run_id)
            if stored is None or stored.run.status in AT_REST or stored.run.run_id in self._damaged:
                return "done"
            if asks and holder in ("elsewhere", "missed"):
                return "later" if holder == "missed" else "done"
            if queued_at is not None and (holder == "here" or queued_at != stored.run.epoch):
                await self._handed_over(run_id, held_at=stored.run.epoch if holder == "here" else None)
                return "done"
            try:
                state = await readable(stored, self._ports)
                # A run's first job is its beginning.
                begins = asks and stored.run.epoch == 1
                stop = None if begins else count_taking_up(state, self._ports.limits)
                raised = await self._raised(stored.run, None if begins or stop else state.payloads[LEDGER])
                state.epoch, state.rev = raised.epoch, raised.rev
            except RecordDamaged:
                # What something else wrote is left to people; the other runs go on.
                _log.exception("run %s is not taken up", run_id)
                self._damaged.add(stored.run.run_id)
                return "done"
            except StateUnreadable:
                return "done"
            except Conflict as conflict:
                if conflict.kind not in ("rev", "status"):
                    return "done"
                continue
            segment = Segment(state, self._ports)
            if stop is not None:
                open_breaker(segment, stop)
            return segment
        raise OurBug(f"answers to run {run_id} keep overtaking its taking up")

    async def _raised(self, run: RunRow, ledger: bytes | None) -> Committed:
        """Begin a segment on a run exactly as it was loaded.

        Args:
            ledger: with the taking up counted; None where it is not.

        INVARIANT: not on a later one of the same epoch, in which a step has an outcome that was not loaded.
        """
        expect = Expect(epoch=run.epoch, rev=run.rev, statuses=frozenset({run.status}))
        unit = Transition(
            run_id=run.run_id,
            tenant_id=run.tenant_id,
            at=self._ports.at(),
            expect=expect,
            raise_epoch=True,
            payloads=[] if ledger is None else [(LEDGER, ledger)],
        )
        committed = await self._ports.store.commit(unit)
        self._ports.faults("unit.acknowledged")
        return committed

    async def hand_over_orphans(self) -> int:
        """Queue a job for each run whose process, or whose job, is gone; and for what is left of this one's.

        A run of this process that it does not work on has lost its job where the database was away.
        """
        store = self._ports.store
        orphans = [run_id for run_id in await store.orphaned() if run_id not in self._damaged]
        handed = sum([await self._handed_over(run_id) for run_id in orphans])
        for run_id in await store.unfinished():
            if self._has(run_id):
                continue
            stored, holder = await store.offered(run_id)
            # Asked again: it may have been begun meanwhile. What is begun from here on has another epoch.
            if stored is None or holder != "here" or self._has(run_id):
                continue
            handed += await self._handed_over(run_id, held_at=stored.run.epoch)
        return handed

    def _has(self, run_id: str) -> bool:
        """Whether it is at work here, or is not to be."""
        return run_id in self.live or run_id in self._taking or run_id in self._damaged

    async def pass_on(self, run_id: str, epoch: int) -> bool:
        """The worker that has a job shows no sign of life: queue its run anew, under another epoch.

        False where the job is to be done again as it is, because its run was not taken up by it, or was since
        by somebody else: whoever does it finds out.

        Args:
            epoch: of the run when the job was queued; who took it up raised it by one.
        """
        row = await self._ports.store.run(run_id)
        if row is None or row.status in AT_REST:
            return True
        if row.epoch != epoch + 1 or not await self._handed_over(run_id, held_at=row.epoch):
            return False
        _log.warning("run %s was left by a worker that shows no sign of life; it is queued again", run_id)
        return True

    async def _handed_over(self, run_id: str, *, held_at: int | None = None) -> bool:
        """Queue a job for a run; from ``held_at`` on its segment can write nothing more."""
        row = await self._ports.store.run(run_id)
        if row is None or row.status in AT_REST:
            return False
        unit = Transition(
            run_id=row.run_id,
            tenant_id=row.tenant_id,
            at=self._ports.at(),
            expect=Expect(epoch=row.epoch if held_at is None else held_at, statuses=frozenset({row.status})),
            raise_epoch=held_at is not None,
            hand_over=True,
        )
        try:
            await self._ports.store.commit(unit)
        except Conflict:
            return False
        return True

    # -- jobs --------------------------------------------------------------------------------

    async def work_on(self, run_id: str, epoch: int | None = None) -> JobEnd:
        """Do a job: take the run up if nobody has it, and work on it until it rests.

        Args:
            run_id: as the job says it; it may be about anything.
            epoch: of the run when the job was queued.

        Raises:
            StoreUnavailable: the run stands still; the job is to be done again.

        Cancelled, it hands the run over, and is done.
        """
        if run_id in self.live or run_id in self._taking:
            return "done"
        self._taking.add(run_id)
        try:
            if self._leaves:
                return "later"
            taken = await self._taken(run_id, asks=True, queued_at=epoch)
            if not isinstance(taken, Segment):
                return taken
            live = self.begin(taken)
        finally:
            self._taking.discard(run_id)
        await self._worked_off(live)
        return "done"

    async def _worked_off(self, live: Live) -> None:
        segment = live.segment
        if self._leaves:
            segment.leave()
        try:
            await self.to_its_rest(live)
        except asyncio.CancelledError:
            # The grace is over. What was in flight is found out about by whoever has the run next.
            await self._hand_back(segment)
        if segment.state.run_id in self.stranded:
            self.stranded.discard(segment.state.run_id)
            raise StoreUnavailable(f"run {segment.state.run_id} stands still: the store takes nothing")

    def leave(self) -> None:
        """This process goes: nothing new is begun, and what rests in between is handed over."""
        self._leaves = True
        for live in self.live.values():
            live.segment.leave()

    async def _hand_back(self, segment: Segment) -> None:
        """Queue a job for a run that is not at rest; another worker is woken at once."""
        if segment.state.status in AT_REST:
            return
        give_back(segment)
        try:
            await segment.commit(hand_over=True)
        except (RunLost, LookAgain, Conflict):
            return
        except StoreUnavailable:
            _log.warning("run %s was not handed over: the store takes nothing", segment.state.run_id)
            self.stranded.add(segment.state.run_id)

    # -- working -----------------------------------------------------------------------------

    def begin(self, segment: Segment) -> Live:
        """From here on it is worked on here."""
        live = self.live[segment.state.run_id] = Live(segment=segment)
        return live

    async def to_its_rest(self, live: Live) -> None:
        """Drive a segment until its run rests, is lost or is handed over."""
        run_id = live.segment.state.run_id
        try:
            await drive(live.segment, dispatch if live.segment.state.graph is not None else plan)
            live.driven = True
            if live.segment.leaving:
                await self._hand_back(live.segment)
        except StoreUnavailable:
            _log.exception("run %s stands still: the store takes nothing; it is taken up again", run_id)
            self.stranded.add(run_id)
        except Exception as fault:  # noqa: BLE001 - it ends its run with a reason, not the process
            _log.exception("run %s ends as failed", run_id)
            await self._fail(live.segment, fault)
        finally:
            if self.live.get(run_id) is live:
                del self.live[run_id]
            live.rested.set()
            self._hub.announce(run_id, 0)

    async def _fail(self, segment: Segment, fault: Exception) -> None:
        why = str(fault) if isinstance(fault, OurBug) else f"a fault of Condor ({type(fault).__name__})"
        run_id = segment.state.run_id
        try:
            ended = await end_failed(run_id, self._ports, why, epoch=segment.state.epoch)
        except StoreUnavailable:
            ended = False
        if not ended:
            _log.error("run %s could not be ended; it is taken up again", run_id)
            self.stranded.add(run_id)


__all__ = ["AT_REST", "Driving", "Live"]
