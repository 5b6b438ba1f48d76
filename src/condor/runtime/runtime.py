"""Runtime: start, resume, stop, watch.

Law 1: a parked run is a row. No task, timer or stream is held for it.
Law 2: the store alone is the truth. A run that was executing when a process died goes on at the next
start, or in another process (``driving``).
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from condor.core.errors import (
    RefusedInput,
    RunNotSuspendedError,
    StoreUnavailable,
    SuspensionExpired,
    UnknownId,
)
from condor.core.run import TERMINAL, Principal, RunEvent, RunStatus
from condor.ports.encoding import decode
from condor.ports.store import Conflict
from condor.pump.phases.admit import StartRun, admit
from condor.pump.phases.answer_check import check_answer
from condor.pump.phases.edit_call import EditCall, Edited, edit_call
from condor.pump.phases.halt import stop
from condor.pump.phases.suspend_resume import Accepted, ResumeRun, answer
from condor.runtime.driving import AT_REST, Driving
from condor.runtime.sweeping import Sweeper

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Coroutine, Sequence

    from condor.core.ids import RunId, SessionId, SuspendId
    from condor.core.suspend import Answer
    from condor.ports.dispatcher import Dispatcher
    from condor.ports.jobs import JobEnd
    from condor.ports.store import Claimed, RequestClaim, SuspensionRow
    from condor.pump.ports import PumpPorts
    from condor.pump.segment import Segment
    from condor.runtime.hub import EventHub
    from condor.runtime.snapshot import Shown

_log = logging.getLogger(__name__)
_T = TypeVar("_T")

#: Events read at once by a watcher.
_EVENTS_PAGE = 500
#: Seconds between two looks at a run that nobody works on here.
_LOOK_EVERY_S = 1.0
#: Seconds that a caller waits for what a worker is to do where no worker is there.
_WORKER_S_MAX = 10.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """A run as ``start`` returns it."""

    id: RunId
    session_id: SessionId
    status: RunStatus
    #: False where the same request was sent before under the same key: this is that run.
    is_new: bool = True


class Runtime:
    """The pump with its ports, for one process."""

    def __init__(self, ports: PumpPorts, dispatcher: Dispatcher, hub: EventHub) -> None:
        """Nothing runs until ``recover`` or ``start``."""
        self._ports = ports
        self._dispatcher = dispatcher
        self._hub = hub
        self._driving = Driving(ports, dispatcher, hub)
        self._sweeper = Sweeper(ports, self._driving.wake)

    # -- the four verbs ----------------------------------------------------------------------

    async def start(self, wanted: StartRun) -> Run:
        """Create a run and begin to work on it.

        Raises:
            PlanRefused: nothing is stored.
            RefusedInput: its key was used for another request; nothing is stored.
        """
        return await self._followed_up("start", self._start(wanted))

    async def _start(self, wanted: StartRun) -> tuple[Run, Segment | None]:
        claim = wanted.claim
        taken = claim and await self._ports.store.claimed(claim.principal_id, claim.key)
        if claim and taken:
            return await self._again(claim, taken), None
        try:
            segment = await admit(wanted, self._ports)
        except Conflict as conflict:
            if claim is None or conflict.claimed is None:
                raise
            return await self._again(claim, conflict.claimed), None
        state = segment.state
        return Run(id=state.run_id, session_id=state.session_id, status=state.status), segment

    async def _again(self, claim: RequestClaim, taken: Claimed) -> Run:
        """The run that a request made when it was first sent."""
        if taken.digest != claim.digest:
            raise RefusedInput(
                "the idempotency key was used for another request; take a new one",
                code="idempotency_key_reused",
            )
        row = await self._ports.store.run(taken.run_id)
        # INVARIANT: a key is stored with its run, and runs are never removed.
        assert row is not None, "a claimed run is there"
        return Run(id=row.run_id, session_id=row.session_id, status=row.status, is_new=False)

    async def resume(self, wanted: ResumeRun) -> Accepted:
        """Take one answer; the run goes on in the background.

        Raises:
            UnknownId, AnswerRefused: nothing was changed.
        """
        return await self._followed_up("resume", self._resume(wanted))

    async def _resume(self, wanted: ResumeRun) -> tuple[Accepted, Segment | None]:
        accepted = await self._in_time(wanted.suspend_id, answer(wanted, self._ports))
        if accepted.segment is None:
            self._driving.wake(accepted.run_id)
        return accepted, accepted.segment

    async def check_answer(self, wanted: ResumeRun) -> Answer:
        """The answer as it would be taken; nothing of it is stored.

        Raises:
            UnknownId, AnswerRefused: as ``resume`` would.
        """
        return await self._in_time(wanted.suspend_id, check_answer(wanted, self._ports))

    async def edit(self, wanted: EditCall) -> SuspendId:
        """Take one edit of a call on its card; the card with which the edited call asks.

        Raises:
            UnknownId, AnswerRefused, RefusedInput: nothing was changed.
            RunNotSuspendedError: the edit was taken, but its step came to an end before it could ask.
            StoreUnavailable: nothing was changed, or the edit was taken and its card is still to come.
        """
        edited = await self._followed_up("edit", self._edit(wanted))
        newer = await self._asked_after(edited.accepted, "the edit was taken")
        if not newer:
            raise RunNotSuspendedError(
                f"the edit was taken, but step {edited.accepted.step_id} ended before it asked; "
                f"see `condor show {edited.accepted.run_id}`"
            )
        return newer[0].suspend_id

    async def _edit(self, wanted: EditCall) -> tuple[Edited, Segment | None]:
        edited = await self._in_time(wanted.suspend_id, edit_call(wanted, self._ports))
        if edited.accepted.segment is None:
            self._driving.wake(edited.accepted.run_id)
        return edited, edited.accepted.segment

    async def asked_anew(self, accepted: Accepted) -> SuspendId | None:
        """The card with which a step asks again whose card was stale; None when its run rests without one.

        Raises:
            StoreUnavailable: the card is still to come.
        """
        newer = await self._asked_after(accepted, "nothing ran")
        # Somebody may have closed the first of them meanwhile: what can be answered is an open one.
        still_open = [row for row in newer if row.status == "pending"]
        return next((row.suspend_id for row in [*still_open, *newer]), None)

    async def _asked_after(self, accepted: Accepted, taken: str) -> Sequence[SuspensionRow]:
        """The cards that a step asks with after one that was closed; none when its run rests without one.

        Args:
            taken: what is known so far.

        Raises:
            StoreUnavailable: its run stands still, or no worker is there to ask.
        """
        run_id = accepted.run_id
        with self._hub.watching(run_id) as woken:
            while True:
                woken.clear()
                stored = await self._ports.store.load(run_id)
                rows = stored.suspensions if stored is not None else ()
                found = [row for row in rows if _follows(row, accepted)]
                if found or stored is None or stored.run.status in AT_REST:
                    return found
                if self.stands_still(run_id):
                    raise StoreUnavailable(
                        f"{taken}; run {run_id} goes on when the store takes something again"
                    )
                await self._done_elsewhere(woken, f"{taken}; its card follows")

    async def _done_elsewhere(self, woken: asyncio.Event, taken: str) -> None:
        """Wait until something happens to a run that somebody works on.

        Raises:
            StoreUnavailable: workers drive, and none is there.
        """
        patience_s = _WORKER_S_MAX if self._ports.hands_over else None
        try:
            await asyncio.wait_for(woken.wait(), patience_s)
        except TimeoutError:
            if not (await self._ports.store.backlog()).workers:
                raise StoreUnavailable(f"{taken} when a worker is there; start `condor worker`") from None

    async def stop(self, run_id: str, principal: Principal, reason: str = "") -> None:
        """Stop a run: cards are withdrawn, what is in flight finishes, then it closes as aborted.

        Raises:
            UnknownId, RunNotSuspendedError: nothing was changed.
        """
        await self._followed_up("stop", self._stop(run_id, principal, reason))

    async def _stop(self, run_id: str, principal: Principal, reason: str) -> tuple[None, Segment | None]:
        await stop(run_id, principal, reason, self._ports)
        self._driving.wake(run_id)
        return None, None

    async def watch(self, run_id: str, *, after: int = 0, follow: bool = False) -> AsyncIterator[RunEvent]:
        """The run's events from the log: replayed, then live.

        Args:
            after: sequence number of the last event already seen.
            follow: keep watching while the run is parked; otherwise the end is the run's next rest.

        Raises:
            UnknownId: no such run.
        """
        if await self._ports.store.run(run_id) is None:
            raise UnknownId("run", run_id)
        with self._hub.watching(run_id) as woken:
            while True:
                woken.clear()
                row = await self._ports.store.run(run_id)
                events = await self._ports.store.events(run_id, after=after, limit=_EVENTS_PAGE)
                for stored in events:
                    after = stored.seq
                    yield RunEvent(
                        run_id=run_id,
                        seq=stored.seq,
                        kind=stored.kind,
                        at=stored.at,
                        facts=decode(stored.facts),
                    )
                if events:
                    continue
                ends = TERMINAL if follow else AT_REST
                if row is not None and row.status in ends:
                    return
                await woken.wait()

    # -- beside them -------------------------------------------------------------------------

    async def wait(self, run_id: str) -> Shown:
        """The run as it is stored at its next rest: parked or ended.

        The segment that brought it there, with nobody else's hand between, still knows it, and the store is
        not asked again.

        Raises:
            UnknownId: no such run.
        """
        while True:
            if (live := self._driving.live.get(run_id)) is not None:
                await live.rested.wait()
                if (left := live.as_left()) is not None:
                    return left
            with self._hub.watching(run_id) as woken:
                # Looked at often, and loaded once; what happens meanwhile is heard.
                row = await self._ports.store.run(run_id)
                if row is None:
                    raise UnknownId("run", run_id)
                stored = await self._ports.store.load(run_id) if row.status in AT_REST else None
                if stored is not None and stored.run.status in AT_REST:
                    return stored
                if run_id not in self._driving.live:
                    # Nobody works on it here: another process does, or it waits to be taken up.
                    with contextlib.suppress(TimeoutError):
                        await asyncio.wait_for(woken.wait(), timeout=_LOOK_EVERY_S)

    async def recover(self) -> list[RunId]:
        """Take up every run that was being worked on when its process ended. Which ones there were.

        Once, before anything else is started: what is unfinished then, and no other living process has, is
        nobody's.
        """
        return [
            run_id for run_id in await self._ports.store.unfinished() if await self._driving.take_up(run_id)
        ]

    async def retry_stranded(self) -> int:
        """Take up again what stood still because the store took nothing. How many there were."""
        stranded, self._driving.stranded = self._driving.stranded, set()
        return sum([await self._driving.take_up(run_id) for run_id in stranded])

    async def take_up_orphans(self) -> int:
        """Take up the runs of a process that is gone, and those that no worker will take. How many.

        A process that only lost its connection for a moment is not gone.
        """
        orphans = await self._ports.store.orphaned()
        return sum([await self._driving.take_up(run_id) for run_id in orphans])

    async def hand_over_orphans(self) -> int:
        """The same, by a job for whichever worker takes it."""
        return await self._driving.hand_over_orphans()

    async def work_on(self, run_id: str, epoch: int | None = None) -> JobEnd:
        """Do a job; see ``Driving.work_on``."""
        return await self._driving.work_on(run_id, epoch)

    async def pass_on(self, run_id: str, epoch: int) -> bool:
        """Fence off the worker of a job; see ``Driving.pass_on``."""
        return await self._driving.pass_on(run_id, epoch)

    def leave(self) -> None:
        """This process goes: its runs are handed over, when what is in flight has finished."""
        self._driving.leave()

    def heard(self, run_ids: Sequence[str] | None) -> None:
        """Another process committed something of these runs; None: maybe, of any."""
        if run_ids is None:
            self._hub.announce_all()
            self._driving.wake_all()
        for run_id in run_ids or ():
            self._ports.left.forget(run_id)
            self._hub.announce(run_id, 0)
            self._driving.wake(run_id)

    def stands_still(self, run_id: str) -> bool:
        """Whether a run waits for the store to take something again."""
        return run_id in self._driving.stranded

    async def sweep(self) -> int:
        """End the runs of cards whose time is over, a bounded lot at a time. How many there were."""
        return await self._sweeper.expired()

    async def sweep_idle(self, idle_s: float) -> int:
        """End parked runs that no open card holds and nothing has touched for so long. How many."""
        return await self._sweeper.idle(idle_s)

    async def _in_time(self, suspend_id: str, taking: Coroutine[Any, Any, _T]) -> _T:
        """What comes too late closes its card and so ends the run: told to it where it is at work here."""
        try:
            return await taking
        except SuspensionExpired:
            row = await self._ports.store.suspension(suspend_id)
            if row is not None:
                self._driving.wake(row.run_id)
            raise

    async def _followed_up(self, name: str, work: Coroutine[Any, Any, tuple[_T, Segment | None]]) -> _T:
        """What ``work`` says; what it stored is followed up although its caller is cancelled meanwhile.

        A cancelled caller does not take its unit back: it may be on disk, and somebody must go on from it.
        """
        told: asyncio.Future[_T] = asyncio.get_running_loop().create_future()
        self._dispatcher.dispatch(name, self._carry_out(work, told))
        return await told

    async def _carry_out(
        self, work: Coroutine[Any, Any, tuple[_T, Segment | None]], told: asyncio.Future[_T]
    ) -> None:
        try:
            said, segment = await work
        except BaseException as fault:
            if not told.done():
                told.set_exception(fault)
            if not isinstance(fault, Exception):
                raise
            return
        # Where workers drive, the job was queued in the same transaction.
        live = self._driving.begin(segment) if segment is not None and not self._ports.hands_over else None
        if not told.done():
            told.set_result(said)
        if live is not None:
            await self._driving.to_its_rest(live)


def _follows(row: SuspensionRow, accepted: Accepted) -> bool:
    return row.step_id == accepted.step_id and row.generation > accepted.generation
