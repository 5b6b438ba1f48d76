"""Answers to cards, edits and stops, as a caller of the library gives them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from condor.core.errors import StaleSuspension
from condor.core.run import LOCAL_PERSON, Principal
from condor.pump.phases.edit_call import EditCall
from condor.pump.phases.suspend_resume import ResumeRun
from condor.runtime import edge
from condor.runtime.access import check_stop
from condor.runtime.readings import Readings

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from condor.core.ids import Json
    from condor.core.suspend import Answer
    from condor.runtime.runtime import Runtime


class Answering(Readings):
    """Given to the runtime that is open."""

    def _running(self) -> Runtime:
        raise NotImplementedError

    async def resume(
        self, run_id: str | None, suspend_id: str, data: object, *, principal: Principal = LOCAL_PERSON
    ) -> None:
        """Answer a card; the run goes on in the background.

        Raises:
            UnknownId, AnswerRefused: its subclass says why; nothing was changed.
            StaleSuspension: nothing ran; a new card shows what would run now.
            StoreUnavailable: nothing was changed; or the card was stale, nothing ran, its next comes later.
        """
        runtime = self._running()
        wanted = ResumeRun(run_id=run_id, suspend_id=suspend_id, data=data, principal=principal)
        accepted = await runtime.resume(wanted)
        if accepted.stale is None:
            return
        fresh = await runtime.asked_anew(accepted)
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

    async def edit(
        self,
        suspend_id: str,
        args: Mapping[str, Any],
        *,
        principal: Principal = LOCAL_PERSON,
        key: str | None = None,
    ) -> dict[str, Json]:
        """Change a call on its card before anybody approves it; the card that takes its place.

        Args:
            args: the arguments to change, by name; None takes one out.
            key: the same edit of a card under the same key is one edit, however often it is sent.

        Raises:
            UnknownId, AnswerRefused: its subclass says why; nothing was changed.
            RefusedInput: the key was used for another edit of this card.
            RunNotSuspendedError: the edit was taken, but its step came to an end before it could ask.
            StoreUnavailable: nothing was changed, or the edit was taken and its card is still to come.
        """
        if key is not None:
            edge.check_key(key)
        wanted = EditCall(suspend_id=suspend_id, args=args, principal=principal, key=key)
        return await self.suspension(await self._running().edit(wanted))

    async def stop(self, run_id: str, *, principal: Principal = LOCAL_PERSON, reason: str = "") -> None:
        """Stop a run; open cards are withdrawn, what is in flight finishes.

        Raises:
            UnknownId: there is none, or none that this principal may know of; nothing was changed.
            RunNotSuspendedError, NotAllowed, RefusedInput: nothing was changed.
        """
        await check_stop(self._stored(), principal, run_id)
        edge.check_reason(reason)
        await self._running().stop(run_id, principal, reason)


__all__ = ["Answering"]
