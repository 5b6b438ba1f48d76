"""Answers to cards, as a caller of the library gives them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from condor.core.errors import StaleSuspension
from condor.core.run import LOCAL_PERSON, Principal
from condor.ports.store import CardFilter
from condor.pump.phases.suspend_resume import ResumeRun

if TYPE_CHECKING:
    from condor.core.suspend import Answer
    from condor.ports.store import Store
    from condor.runtime.runtime import Runtime


class Answering:
    """Given to the runtime that is open."""

    def _running(self) -> Runtime:
        raise NotImplementedError

    def _stored(self) -> Store:
        raise NotImplementedError

    async def resume(
        self, run_id: str | None, suspend_id: str, data: object, *, principal: Principal = LOCAL_PERSON
    ) -> None:
        """Answer a card; the run goes on in the background.

        Raises:
            UnknownId, AnswerRefused: its subclass says why; nothing was changed.
            StaleSuspension: nothing ran; a new card shows what would run now.
        """
        runtime = self._running()
        wanted = ResumeRun(run_id=run_id, suspend_id=suspend_id, data=data, principal=principal)
        accepted = await runtime.resume(wanted)
        if accepted.stale is None:
            return
        await runtime.wait(accepted.run_id)
        newer = await self._stored().suspensions(CardFilter(status="pending", run_id=accepted.run_id))
        fresh = next((row.suspend_id for row in newer if row.step_id == accepted.step_id), None)
        raise StaleSuspension(accepted.stale, next_suspend_id=fresh)

    async def check_answer(
        self, run_id: str, suspend_id: str, data: object, *, principal: Principal = LOCAL_PERSON
    ) -> Answer:
        """Whether an answer would be taken as things stand; nothing of it is stored.

        Raises:
            UnknownId, AnswerRefused: its subclass says why ``resume`` would refuse it.
        """
        wanted = ResumeRun(run_id=run_id, suspend_id=suspend_id, data=data, principal=principal)
        return await self._running().check_answer(wanted)


__all__ = ["Answering"]
