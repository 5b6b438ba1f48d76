"""A machine of runs: start, park, answer, edit, crash, expire, stop and drift, in whatever order.

Rules are what people, time, disks and releases do. After every rule each run at rest keeps its invariants
(``invariants.py``). A card that was shown before a drift cannot be approved; an answer to a closed card is
refused and names who closed it; of two answers at once one wins.
"""

from __future__ import annotations

import asyncio
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from condor import CardEvidence, Effect, HitlTier, PolicyClass, RecordMoved, ToolContext, tool
from condor.core.errors import AlreadyDecided, AnswerRefused, StoreUnavailable
from condor.core.run import SYSTEM, TERMINAL, RunStatus
from condor.testing import FailDisk, Ledger, SeededClock
from tests.pump.desk import ANN, BOB, CAT, ask, call, check_run, found, open_desk, read_tool, write_tool
from tests.simulation.invariants import OUTSIDE, Left, broken

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractAsyncContextManager

    from condor import ToolDescriptor
    from tests.pump.desk import Desk

TTL_S = 600.0
#: Points at which the process can be gone, but those inside the writer's own thread (``test_crash.py``).
CUT_POINTS = (
    "answer.checked", "answer.committed", "segment.begun", "step.decided", "intent.staged",
    "intent.committed", "fhir.before-commit", "fhir.after-commit", "tool.returned", "outcome.staged",
    "closing.composed", "end.staged", "unit.acknowledged", "end.announced",
)  # fmt: skip

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
    "state": [call("w", "state.write", record="{r}", value="x", status="cancelled")],
    "state kept": [call("w", "state.write", record="{r}", value="x")],
    "four eyes": [call("w", "four.write", record="{r}", value="x")],
    "seen": [call("w", "seen.write", record="{r}", value="x")],
    "twins": [
        call("a", "plain.write", record="{r}", value="x", on_deny="skip"),
        ask("p", "And again?"),
        call("b", "plain.write", record="{r}", value="x", after=["p"], on_deny="skip"),
    ],
}
PEOPLE = (ANN, BOB, CAT)
#: Who closes cards, as texts call them.
NAMES = {person.id: person.name for person in (*PEOPLE, SYSTEM)}


class Cut(BaseException):
    """The process is gone here: nothing may handle it."""


class Faultline:
    """Points that refuse a group as a full disk does, or end the process; both once, when armed."""

    def __init__(self) -> None:
        """Nothing is armed."""
        self.disk = FailDisk(1, armed=False)
        self.point, self.passes = "", 0
        self.is_cut = False

    def __call__(self, point: str) -> None:
        """Pass a point."""
        self.disk(point)
        if self.is_cut and point != "writer.before-commit" and point != "writer.after-commit":
            raise Cut
        if point == self.point:
            self.passes -= 1
            if self.passes <= 0:
                self.point, self.is_cut = "", True
                raise Cut


def shop(ledger: Ledger, *, title: str, removes: bool) -> list[ToolDescriptor]:
    """The tools as a release has them.

    Args:
        title: of every write; a part of the descriptor's digest.
        removes: calls of ``state.write`` count as removals; code, so no part of the digest.
    """

    def effects(args: Any) -> tuple[Effect, ...]:
        return (Effect(verb="write", target=str(args.get("record")), destructive=removes),)

    async def seen_before(ctx: ToolContext, record: str, value: str) -> CardEvidence:
        return CardEvidence(summary=value, versions={f"Book/{record}": ledger.version(record)})

    @tool(
        "seen.write",
        policy_class=PolicyClass.MUTATE,
        hitl_tier=HitlTier.HIGH,
        title=title,
        preview=seen_before,
        editable={"value"},
    )
    async def seen(ctx: ToolContext, record: str, value: str) -> int:
        if ctx.record_versions.get(f"Book/{record}") != ledger.version(record):
            raise RecordMoved("somebody has written it since")
        return ledger.write(record, value, key=ctx.idempotency_key, once=False, faults=ctx.faults)

    @tool(
        "state.write",
        policy_class=PolicyClass.MUTATE,
        hitl_tier=HitlTier.LOW,
        title=title,
        effect_of=effects,
        editable={"value", "status"},
    )
    async def state(ctx: ToolContext, record: str, value: str, status: str = "active") -> int:
        return ledger.write(record, value, key=ctx.idempotency_key, once=False, faults=ctx.faults)

    edits: dict[str, Any] = {"title": title, "editable": {"value"}}
    return [
        read_tool(ledger),
        write_tool(ledger, "plain.write", **edits),
        write_tool(ledger, "low.write", tier=HitlTier.LOW, **edits),
        write_tool(ledger, "idem.write", idempotent=True, **edits),
        write_tool(ledger, "asks.write", reconciles=True, **edits),
        write_tool(ledger, "four.write", requester_excluded=True, **edits),
        seen,
        state,
    ]


class Protocol(RuleBasedStateMachine):
    """Condor under rules."""

    #: Plans that are started; a planted bug is looked for in those that it can show in.
    plans: ClassVar[tuple[str, ...]] = tuple(sorted(PLANS))
    #: Rules that are played besides ``start`` and ``settle``; None: all. ``rough`` is the world that breaks.
    only: ClassVar[frozenset[str] | None] = None
    #: Whether calls of ``state.write`` count as removals at first.
    removes_first: ClassVar[bool] = False
    #: What a machine ends with that found something.
    ends_with: ClassVar[type[Exception]] = AssertionError
    #: What was found broken, in any machine of this class.
    violations: ClassVar[list[str]] = []

    def __init__(self) -> None:
        super().__init__()
        self._folder = tempfile.TemporaryDirectory()
        self.home = Path(self._folder.name) / "home"
        self.ledger = Ledger(Path(self._folder.name) / "ledger.db")
        self.loop = asyncio.new_event_loop()
        self.clock = SeededClock()
        self.opened = self.started = self.moved = 0
        self.title, self.removes = "Write", self.removes_first
        self._open()

    # -- life --------------------------------------------------------------------------------

    def _open(self) -> None:
        self.opened += 1
        self.faults = Faultline()
        at = self.clock.now()
        self.clock = SeededClock(self.opened, at=at)
        self._context: AbstractAsyncContextManager[Desk] = open_desk(
            self.home,
            *shop(self.ledger, title=self.title, removes=self.removes),
            clock=self.clock,
            faults=self.faults,
            ttl_s=TTL_S,
            check=False,
            tend=False,
        )
        self.desk: Desk = self._do(self._context.__aenter__())

    def _do(self, work: Any) -> Any:
        return self.loop.run_until_complete(asyncio.wait_for(work, timeout=90))

    def _do_alive(self, work: Any) -> Any:
        """Do it in a process that may end meanwhile: then nobody is left who would answer.

        Raises:
            Cut: it has ended, whether or not this call itself came past the point.
        """

        async def watched() -> Any:
            doing = asyncio.ensure_future(work)
            while not doing.done():
                await asyncio.wait([doing], timeout=0.05)
                if self.faults.is_cut and not doing.done():
                    doing.cancel()
                    await asyncio.gather(doing, return_exceptions=True)
                    raise Cut
            return await doing

        return self._do(watched())

    def _close(self) -> None:
        self._do(self._context.__aexit__(None, None, None))

    def _gone(self) -> None:
        """The process is gone: nothing more of it is heard; another one takes up what it left."""
        self.faults.is_cut = True
        for task in asyncio.all_tasks(self.loop):
            task.cancel()
        self._do(asyncio.sleep(0))
        self.faults.point = ""
        self._close()
        self._open()

    def teardown(self) -> None:
        try:
            self._settle()
            self.every_run_at_rest_is_whole()
        finally:
            self.put_away()

    def put_away(self) -> None:
        """Close everything, wherever it stands."""
        self._close()
        self.loop.close()
        self._folder.cleanup()

    def _settle(self) -> None:
        """Let everything that can move come to its rest, over a crash if one comes."""

        async def rest() -> None:
            for row in await self.desk.condor._stored().runs(limit=1_000):
                await self.desk.rest(row.run_id)

        async def tended() -> bool:
            # Nobody tends here: a run may come to stand still while others are waited for.
            resting = asyncio.ensure_future(rest())
            while not resting.done():
                if self.faults.is_cut:
                    resting.cancel()
                    await asyncio.gather(resting, return_exceptions=True)
                    return False
                await self.desk.condor._running().retry_stranded()
                await asyncio.wait([resting], timeout=0.05)
            await resting
            return True

        while not (self._survived(tended) and not self.faults.is_cut):
            self._gone()

    def _survived(self, work: Callable[[], Any]) -> bool:
        try:
            return bool(self._do(work()))
        except Cut:
            return False

    def _tried(self, work: Any) -> bool:
        """Do what may be refused: a closed card, an ended run, a full disk; whether it was taken."""
        try:
            self._do_alive(work)
        except (AnswerRefused, StoreUnavailable):
            return False
        except Cut:
            self._gone()
            return False
        return True

    def _broken(self, why: str) -> None:
        type(self).violations.append(why)
        raise self.ends_with(why)

    def may(self, name: str) -> bool:
        """Whether a rule is played."""
        return self.only is None or name in self.only

    # -- what people do ----------------------------------------------------------------------

    @rule(pick=st.integers(0, 99), autonomy=st.sampled_from(["guarded", "autonomous"]))
    def start(self, pick: int, autonomy: str) -> None:
        """A run of one of the plans."""
        self.started += 1
        record = f"r{self.started}-"
        steps = PLANS[self.plans[pick % len(self.plans)]]
        self._tried(self.desk.start(*(_named(step, record) for step in steps), autonomy=autonomy))
        self._settle()

    def _cards(self, status: str = "pending") -> list[Any]:
        async def found() -> list[Any]:
            rows = await self.desk.condor._stored().runs(limit=1_000)
            shown: list[Any] = [await self.desk.condor.show(row.run_id) for row in rows]
            return [card for run in shown for card in run["suspensions"]]

        return [card for card in self._do(found()) if (card["status"] == "pending") == (status == "pending")]

    def _said(self, card: Any, *, yes: bool) -> dict[str, Any]:
        match card["reasonCode"]:
            case "approval":
                return {"approved": yes, "reason": "so"} if not yes else {"approved": True}
            case "clarification":
                return dict.fromkeys(card["resumeSchema"]["properties"], "x")
            case _:
                mine = [
                    entry
                    for entry in self.ledger.entries(card["toolInput"].get("record"))
                    if not entry.key.startswith(OUTSIDE)
                ]
                return {"happened": bool(mine), "reason": "looked"}

    @precondition(lambda self: self.may("answer"))
    @rule(pick=st.integers(0, 9), yes=st.booleans(), who=st.integers(0, 2), wait=st.booleans())
    def answer(self, pick: int, yes: bool, who: int, wait: bool) -> None:
        """One of the open cards: approved or denied, filled in, or reconciled by what the record says."""
        cards = self._cards()
        if not cards:
            return
        card = cards[pick % len(cards)]
        person = ANN if card["reasonCode"] == "clarification" else PEOPLE[who]
        taken = self._tried(self.desk.answer(card, self._said(card, yes=yes), person))
        drifted = card["origin"] == "tool_policy" and card["headline"] != self.title
        if taken and yes and drifted and card["reasonCode"] == "approval":
            self._broken("a card that was shown before the descriptor changed was approved")
        if wait or self.faults.is_cut:
            self._settle()

    @precondition(lambda self: self.may("edit"))
    @rule(
        pick=st.integers(0, 9),
        value=st.sampled_from("xyz"),
        part=st.sampled_from(["value", "status", "both"]),
        who=st.integers(0, 2),
        wait=st.booleans(),
    )
    def edit(self, pick: int, value: str, part: str, who: int, wait: bool) -> None:
        """The value of a call on one of the open cards; of a state, its status or both."""
        cards = [card for card in self._cards() if card.get("editSchema")]
        if not cards:
            return
        card = cards[pick % len(cards)]
        args = {"value": value}
        if card["toolName"] == "state.write" and part != "value":
            args = {"status": "active"} if part == "status" else {"value": value, "status": "active"}
        self._tried(self.desk.condor.edit(card["suspendId"], args, principal=PEOPLE[who]))
        if wait or self.faults.is_cut:
            self._settle()

    @precondition(lambda self: self.may("edit_identity"))
    @rule(pick=st.integers(0, 9), who=st.integers(0, 2))
    def edit_identity(self, pick: int, who: int) -> None:
        """The record that a call is about: never taken."""
        cards = [card for card in self._cards() if card["toolInput"].get("record")]
        if cards:
            card = cards[pick % len(cards)]
            args = {"record": "somebody else's"}
            self._tried(self.desk.condor.edit(card["suspendId"], args, principal=PEOPLE[who]))

    @precondition(lambda self: self.may("answer_late"))
    @rule(pick=st.integers(0, 99), yes=st.booleans())
    def answer_late(self, pick: int, yes: bool) -> None:
        """A card that is closed: refused, and who closed it is named."""
        closed = self._cards("closed")
        if not closed:
            return
        card = closed[pick % len(closed)]
        try:
            self._do_alive(self.desk.answer(card, self._said(card, yes=yes), CAT))
        except AlreadyDecided as late:
            winner = NAMES.get(card["decidedBy"], card["decidedBy"])
            if late.decided_by != winner:
                self._broken(f"a late answer was told {late.decided_by}, and it was {winner}")
        except (AnswerRefused, StoreUnavailable):
            pass
        except Cut:
            self._gone()
        else:
            self._broken(f"an answer to card {card['suspendId']} ({card['status']}) was taken")

    @precondition(lambda self: self.may("answer_at_once"))
    @rule(pick=st.integers(0, 9))
    def answer_at_once(self, pick: int) -> None:
        """Yes, no and an edit of one card at the same moment: at most one is taken."""
        cards = [card for card in self._cards() if card["reasonCode"] == "approval"]
        if not cards:
            return
        card = cards[pick % len(cards)]

        async def race() -> int:
            tries = [
                self.desk.answer(card, {"approved": True}, BOB),
                self.desk.answer(card, {"approved": False}, CAT),
                self.desk.condor.edit(card["suspendId"], {"value": "at once"}, principal=CAT),
                self.desk.answer(card, {"approved": True}, BOB),
            ]
            ends = await asyncio.gather(*tries, return_exceptions=True)
            for end in ends:
                if isinstance(end, BaseException) and not isinstance(end, AnswerRefused | StoreUnavailable):
                    raise end
            return sum(not isinstance(end, BaseException) for end in ends)

        try:
            taken = self._do_alive(race())
        except Cut:
            self._gone()
            return
        if taken > 1:
            self._broken(f"{taken} answers to card {card['suspendId']} were taken")
        self._settle()

    @precondition(lambda self: self.may("stop"))
    @rule(pick=st.integers(0, 9))
    def stop(self, pick: int) -> None:
        """One of the runs that have not ended."""
        runs = self._do(self.desk.condor._stored().runs(limit=1_000))
        active = [row.run_id for row in runs if row.status not in TERMINAL]
        if active:
            self._tried(self.desk.condor.stop(active[pick % len(active)], principal=ANN))

    # -- what the world does -----------------------------------------------------------------

    @precondition(lambda self: self.may("pass_time"))
    @rule(seconds=st.sampled_from([1.0, TTL_S / 2, TTL_S]), sweeps=st.booleans())
    def pass_time(self, seconds: float, sweeps: bool) -> None:
        """The clock goes on; expired cards are swept, now or later."""
        self.clock.advance(seconds)
        if sweeps:
            self._tried(self.desk.condor._running().sweep())

    @precondition(lambda self: self.may("record_moves"))
    @rule(pick=st.integers(0, 9))
    def record_moves(self, pick: int) -> None:
        """Somebody else writes the record that an open card is about."""
        cards = [card for card in self._cards() if card["toolName"] == "seen.write"]
        if cards:
            self.moved += 1
            record = cards[pick % len(cards)]["toolInput"]["record"]
            self.ledger.write(record, "by others", key=f"{OUTSIDE}-{self.moved}")

    @precondition(lambda self: self.may("drift"))
    @rule(kind=st.sampled_from(["descriptor", "policy"]))
    def drift(self, kind: str) -> None:
        """A release: every write has another title, or calls of one tool count as removals."""
        self._settle()
        if kind == "descriptor":
            self.title = "Rewrite" if self.title == "Write" else "Write"
        else:
            self.removes = not self.removes
        self._close()
        self._open()

    @precondition(lambda self: self.may("rough"))
    @rule()
    def fill_disk(self) -> None:
        """The next group is refused."""
        self.faults.disk.arm()

    @precondition(lambda self: self.may("rough"))
    @rule()
    def reopen(self) -> None:
        """Closed in peace, opened again."""
        self._close()
        self._open()

    @precondition(lambda self: self.may("rough"))
    @rule()
    def cut_off(self) -> None:
        """The process is gone in the middle of its work."""
        self._gone()

    @precondition(lambda self: self.may("rough"))
    @rule(point=st.sampled_from(CUT_POINTS), passes=st.integers(1, 3))
    def cut_at(self, point: str, passes: int) -> None:
        """The process will be gone at the next, second or third passing of a point."""
        self.faults.point, self.faults.passes = point, passes

    @precondition(lambda self: self.started > 0)
    @rule()
    def settle(self) -> None:
        """Everything comes to its rest."""
        self._settle()

    # -- what holds --------------------------------------------------------------------------

    @invariant()
    def every_chain_is_kept(self) -> None:
        """After every rule."""

        async def verdicts() -> list[Any]:
            return [verdict async for verdict in self.desk.condor.verify()]

        assert [verdict for verdict in self._do(verdicts()) if not verdict.kept] == []

    @invariant()
    def every_run_at_rest_is_whole(self) -> None:
        """Events, cards, permissions and every invariant."""
        for row in self._do(self.desk.condor._stored().runs(limit=1_000)):
            at_rest = row.status in TERMINAL or row.status is RunStatus.SUSPENDED
            if at_rest and row.run_id not in self.desk.condor._running()._driving.live:
                try:
                    self._do(check_run(self.desk, row.run_id))
                except AssertionError as fault:
                    self._broken(f"check_run: {fault}")
                for why in broken(self._do(self._left(row.run_id))):
                    self._broken(why)

    async def _left(self, run_id: str) -> Left:
        return Left(
            shown=await self.desk.condor.show(run_id),
            events=await self.desk.events(run_id),
            audit=await self.desk.audit(run_id),
            ledger=self.ledger,
        )


def _named(step: dict[str, Any], record: str) -> dict[str, Any]:
    args = step.get("args", {})
    own = {key: item.replace("{r}", record) if isinstance(item, str) else item for key, item in args.items()}
    return {**step, "args": own} if "args" in step else step
