"""A segment: one process working on one run, from a start or an answer to the next rest.

Law 1: every unit of a segment carries its epoch; a process that lost the run can write nothing.
Law 2: what *happened* (facts) is committed whatever else came between; what is *decided* (moves: an
intent, a park, an end) is committed only if every answer given so far has been seen. Otherwise the
facts are saved, the moves dropped, and the segment looks again (``LookAgain``).
"""

from __future__ import annotations

import asyncio
from collections import deque
from dataclasses import replace
from typing import TYPE_CHECKING

from condor.core.audit import AuditEntry, encode_entry
from condor.core.errors import OurBug, StoreUnavailable
from condor.core.outcome import FULFILLED, StepOutcome, StepStatus
from condor.core.run import TERMINAL, EventKind, RunStatus, TransitionCause, check_transition
from condor.core.suspend import Origin
from condor.ports.encoding import encode
from condor.ports.store import Committed, Conflict, Expect, NewRun, StepRow, Transition
from condor.pump.post_tool import BUFFER, present, shown_beside, with_card
from condor.pump.staging import LEDGER, Staging, decision_payload

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from condor.core.compiler.leaves import Suspend
    from condor.core.ids import StepId
    from condor.pump.ports import PumpPorts
    from condor.pump.state import RunAsLeft, RunState


class LookAgain(Exception):
    """An answer came between; the facts are saved and the run must be looked at again."""


class RunLost(Exception):
    """Another segment has the run; this one writes nothing more."""


class Segment:
    """The working memory of one run in one process."""

    def __init__(self, state: RunState, ports: PumpPorts, *, create: NewRun | None = None) -> None:
        """Begin a segment on a loaded (or just created) run."""
        self.state = state
        self.ports = ports
        #: What happened and is not stored yet.
        self.facts = Staging()
        #: Leaves at work, by step.
        self.tasks: dict[asyncio.Task[Suspend | None], StepId] = {}
        #: Suspend requests of leaves that came back together.
        self.asked: deque[Suspend] = deque()
        #: Set when an answer was recorded meanwhile.
        self.wake = asyncio.Event()
        #: Held from an edit of the graph to its commit: the next one starts from what it made.
        self.editing = asyncio.Lock()
        #: The outcome of an effect is among the facts: store it before anything else takes time.
        self.effect_at_stake = False
        #: The loop has failed, or the process goes: leaves at work finish, nothing new is begun.
        self.leaving = False
        #: Answers were taken over from the store: what else stands there only the store can say.
        self._looked = False
        self._create = create
        self._begun_s = ports.clock.monotonic()
        if state.ledger.limits is not ports.limits and state.ledger.limits != ports.limits:
            state.ledger = replace(state.ledger, limits=ports.limits)

    def worked_ms(self) -> int:
        """Milliseconds worked on the run: by segments before this one, and here until now."""
        return self.state.worked_ms + int((self.ports.clock.monotonic() - self._begun_s) * 1_000)

    # -- gathering ---------------------------------------------------------------------------

    def event(self, kind: EventKind, into: Staging | None = None, **facts: object) -> None:
        """Stage an event."""
        self._part(into).event(kind, facts)

    def audit(self, entry: AuditEntry, into: Staging | None = None) -> None:
        """Stage an audit entry; the payload that it vouches for is staged before it."""
        self._part(into).audit_row(encode_entry(entry, self.state.payloads))

    def payload(self, key: str, value: object, into: Staging | None = None) -> bytes:
        """Stage a payload and keep it in memory."""
        body = encode(value)
        self._part(into).payload(key, body)
        self.state.payloads[key] = body
        return body

    def _part(self, into: Staging | None) -> Staging:
        # Not `into or …`: a Staging without rows is false.
        return self.facts if into is None else into

    def take_facts(self) -> Staging:
        """The facts so far, to be stored only if the moves that they follow from are."""
        facts, self.facts = self.facts, Staging()
        return facts

    def note_step(self, row: StepRow) -> None:
        """A step is not where its journal says any more; its leaf is still at work on it here."""
        self.state.steps[row.step_id] = row
        self.facts.step(row)

    def settle(
        self,
        step_id: StepId,
        outcome: StepOutcome,
        *,
        effectful: bool = False,
        drawn_by: str = "",
    ) -> None:
        """A step has ended: memory at once, the store with the next unit.

        Args:
            drawn_by: the tool that draws a card from this result, if it was reached.
        """
        row = self.state.row(step_id).moved(outcome.status, code=outcome.code)
        self.state.put_step(row)
        self.facts.step(row)
        output = None
        if outcome.status in FULFILLED and outcome.value is not None:
            output = present(
                outcome.value,
                state=self.state,
                step_id=step_id,
                status=outcome.status,
                drawn_by=drawn_by,
                toolbox=self.ports.toolbox,
                processors=self.ports.post_tool,
                count=self.ports.count,
            )
        result = self.tell_end(step_id, outcome, **(shown_beside(output) if output else {}))
        self.state.ledger = self.state.ledger.settled(step_id)
        if output and output.card:
            self.payload(BUFFER, with_card(self.state, step_id, drawn_by, result))
            self.event(EventKind.CARD_RENDERED, stepId=step_id, tool=drawn_by, block=result)
        self.effect_at_stake = self.effect_at_stake or effectful

    def tell_end(self, step_id: StepId, outcome: StepOutcome, **more: object) -> str:
        """Stage how one attempt ended, without settling its step; the name of the payload with its result.

        Args:
            more: what else the payload keeps.
        """
        body: dict[str, object] = {"value": outcome.value, "at": self.ports.at(), **more}
        if outcome.message:
            body["message"] = outcome.message
        result = self.state.node(step_id).payload("result")
        self.payload(result, body)
        self.state.forget_result(step_id)
        attempt = self.state.attempt(step_id)
        decided = self.state.payload(decision_payload(step_id, attempt))
        self.event(
            EventKind.STEP_SETTLED,
            stepId=step_id,
            status=outcome.status,
            code=outcome.code or None,
            attempt=attempt,
            result=result,
            **({fact: decided.get(fact) for fact in ("decision", "rule", "verb")} if decided else {}),
        )
        return result

    # -- committing --------------------------------------------------------------------------

    async def commit(
        self,
        moves: Staging | None = None,
        *,
        status: RunStatus | None = None,
        cause: TransitionCause | None = None,
        halt: Mapping[str, object] | None = None,
        seen: int | None = None,
        **more: bool,
    ) -> Committed:
        """Store the facts, and the moves if every answer has been seen.

        Args:
            status: the run's new status; ``cause`` says why (``RUN_TRANSITIONS``).
            halt: why the run is being stopped.
            seen: answers that were known when the moves were decided; default: as many as are known now.
            more: ``raise_epoch``, ``count_answer``, ``hand_over`` of ``Transition``.

        Raises:
            LookAgain: an answer came between; facts are stored, moves are not.
            RunLost: the run belongs to a later segment.
            Conflict: a card that this unit closes was closed or has expired, or the key that it creates a run
                under is taken; nothing is stored.
            StoreUnavailable: nothing is stored, the facts are kept for the next unit; or that is in doubt.
        """
        if moves is not None:
            self._check_may_move(seen)
        if status is not None:
            # INVARIANT: a caller that changes the status says why.
            check_transition(self.state.status, status, cause or "bug")
        facts, self.facts = self.facts, Staging()
        at_stake, self.effect_at_stake = self.effect_at_stake, False  # from here on it is the next unit's
        sees_answers = (moves is not None or status is not None) and self._create is None
        together = facts if moves is None else facts.joined(moves)
        unit = self._unit(together, status, halt, sees_answers=sees_answers, **more)
        try:
            committed = await self.ports.store.commit(unit)
        except Conflict as conflict:
            if conflict.kind == "answers" and facts:
                await self._save(facts)
            raise self._explained(conflict) from None
        except StoreUnavailable as fault:
            if not fault.in_doubt:
                facts.absorb(self.facts)
                self.facts, self.effect_at_stake = facts, at_stake or self.effect_at_stake
            raise
        if moves is not None:
            for row in moves.step_rows():
                self.state.put_step(row)
        self.state.status = status or self.state.status
        self._applied(unit, committed, sees_answers=sees_answers)
        return committed

    def _check_may_move(self, seen: int | None) -> None:
        if self.leaving:
            raise RunLost
        if seen is not None and seen != self.state.answers:
            raise LookAgain

    async def _save(self, facts: Staging) -> None:
        unit = self._unit(facts, None, None, sees_answers=False)
        try:
            committed = await self.ports.store.commit(unit)
        except Conflict as conflict:
            raise self._explained(conflict) from None
        self.state.note(unit, committed)
        self._announce(committed)

    def _explained(self, conflict: Conflict) -> Exception:
        if conflict.kind in ("answers", "rev"):
            return LookAgain()
        if conflict.kind in ("epoch", "status"):
            return RunLost()
        if conflict.kind in ("decided", "expired", "claimed"):
            return conflict
        return OurBug(f"run {self.state.run_id}: a unit was refused ({conflict.kind})")

    def _unit(
        self,
        parts: Staging,
        status: RunStatus | None,
        halt: Mapping[str, object] | None,
        *,
        sees_answers: bool,
        **more: bool,
    ) -> Transition:
        state = self.state
        # An answer goes on differently from a parked run than from one at work; none takes up an end.
        as_it_stands = "count_answer" in more or "raise_epoch" in more
        expect = (
            Expect()
            if self._create is not None
            else Expect(
                epoch=state.epoch,
                answers=state.answers if sees_answers else None,
                rev=state.left_at,
                statuses=frozenset({state.status}) if as_it_stands else None,
            )
        )
        return Transition(
            run_id=state.run_id,
            tenant_id=state.tenant_id,
            at=self.ports.at(),
            create=self._create,
            expect=expect,
            status=status if self._create is None else None,
            halt=encode(halt) if halt is not None else None,
            worked_ms=self.worked_ms(),
            steps=parts.step_rows(),
            park=parts.park,
            decide=parts.decide,
            consume=parts.consume,
            events=parts.events,
            audit=parts.audit,
            payloads=self._with_ledger_as_it_is(parts.payloads),
            **more,
        )

    def _with_ledger_as_it_is(self, payloads: Sequence[tuple[str, bytes]]) -> Sequence[tuple[str, bytes]]:
        """A staged ledger is what was spent when it was staged; a later unit may have stored more."""
        others = [payload for payload in payloads if payload[0] != LEDGER]
        if len(others) == len(payloads):
            return payloads
        latest = self.state.payloads[LEDGER] = encode(self.state.ledger.to_json())
        return [*others, (LEDGER, latest)]

    def _applied(self, unit: Transition, committed: Committed, *, sees_answers: bool) -> None:
        state = self.state
        self._create = None
        state.note(unit, committed)
        if sees_answers:
            # INVARIANT: an answer counts as seen only by whoever has looked at it (``look_again``).
            state.answers = committed.answers
        self._announce(committed)

    def _announce(self, committed: Committed) -> None:
        self.ports.faults("unit.acknowledged")
        self.ports.left.forget(self.state.run_id)
        if committed.last_seq:
            self.ports.announce(self.state.run_id, committed.last_seq)

    # -- looking -----------------------------------------------------------------------------

    async def look_again(self) -> None:
        """Take what answers changed since this segment last looked."""
        self.wake.clear()
        self._looked = True
        stored = await self.ports.store.load(self.state.run_id)
        if stored is None or stored.run.epoch != self.state.epoch:
            raise RunLost
        self.state.refresh(stored)
        self._ask_anew()

    def _ask_anew(self) -> None:
        """What the policy asks is judged again in the light of the answers; other waits stay as they are."""
        asked, self.asked = self.asked, deque()
        for wait in asked:
            if wait.request.origin is Origin.TOOL_POLICY:
                self.state.statuses[wait.request.step_id] = StepStatus.PENDING
            else:
                self.asked.append(wait)

    def as_left(self) -> RunAsLeft | None:
        """The run at the rest that this segment brought it to; None where only the store can say."""
        rests = self.state.status is RunStatus.SUSPENDED or self.state.status in TERMINAL
        sure = rests and self.state.alone and not (self._looked or self.leaving or self.facts)
        return self.state.as_left() if sure else None

    def leave(self) -> None:
        """Begin nothing new: the run is left to another segment."""
        self.leaving = True
        self.wake.set()

    def in_flight(self) -> bool:
        """Whether a leaf is at work."""
        return bool(self.tasks)


def entry(segment: Segment, decision: str, **columns: object) -> AuditEntry:
    """An audit entry of this run, with the time and the actor filled in."""
    state = segment.state
    columns.setdefault("actor", state.requester.id)
    return AuditEntry(
        at=segment.ports.at(),
        tenant_id=state.tenant_id,
        run_id=state.run_id,
        session_id=state.session_id,
        decision=decision,  # type: ignore[arg-type]
        **columns,  # type: ignore[arg-type]
    )
