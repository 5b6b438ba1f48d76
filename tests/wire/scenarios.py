"""The runs whose streams are golden: each is driven for real, once, in a ward of its own.

The docstring of each says what its streams show.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.wire.orders import FIND, LIST, NOTE, WRITE, WRITE_ALONE, call, nested
from tests.wire.ward import OKAFOR, TTL_S, Ward

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable


async def approved(ward: Ward) -> None:
    """Reads, a card of a tool's own, a write that waits, is approved, and happens."""
    await ward.start(FIND, LIST, WRITE)
    await ward.answer("write", {"approved": True, "reason": "no penicillin reaction since 2019"})


async def denied(ward: Ward) -> None:
    """The write is denied: its call is never opened, the run is aborted, the closing says who said no."""
    await ward.start(FIND, WRITE | {"after": ["find"]})
    await ward.answer("write", {"approved": False, "reason": "allergic to penicillin"})


async def skipped(ward: Ward) -> None:
    """The write is denied and its step skipped; the run goes on and ends degraded."""
    await ward.start(WRITE_ALONE | {"onDeny": "skip"}, call("note", "reminder.clear", patient="pat_1"))
    await ward.answer("write", {"approved": False})


async def clarified(ward: Ward) -> None:
    """A missing argument is asked for, then the completed call needs its approval: two cards, one step."""
    await ward.start(call("write", "medication.prescribe", patient="pat_1", drug="Amoxicillin"))
    await ward.answer("write", {"dose": "250 mg"}, OKAFOR)
    await ward.approve("write")


async def gates(ward: Ward) -> None:
    """Two cards open at once; each answer finds the other as it was."""
    await ward.start(WRITE_ALONE, NOTE, FIND)
    await ward.approve("note")
    await ward.approve("write")


async def failed_read(ward: Ward) -> None:
    """A read fails and what hangs on it never runs: one error in its part, the run failed, no error chunk."""
    await ward.start(call("lab", "lab.read", patient="pat_1"), WRITE | {"after": ["lab"]})


async def as_it_is(ward: Ward) -> None:
    """A last read fails and nothing stands in for it: the decision to leave the plan alone is told."""
    await ward.start(FIND, call("lab", "lab.read", patient="pat_1"))


async def reconciled(ward: Ward) -> None:
    """A call of unknown outcome: its part says so, a person is asked and knows that it happened."""
    await ward.start(call("order", "order.place", drug="Amoxicillin"))
    await ward.approve("order")
    await ward.answer("order", {"happened": True, "reason": "the pharmacy has it"})


async def retried(ward: Ward) -> None:
    """An idempotent call of unknown outcome is made again under its key: two parts, each closed once."""
    await ward.start(call("flag", "chart.flag", chart="pat_1"))
    await ward.approve("flag")


async def edited(ward: Ward) -> None:
    """A call is edited on its card: the card is superseded in its place, a new one shows who changed what."""
    await ward.start(call("diet", "diet.order", patient="pat_1", diet="full", days=3), NOTE)
    await ward.edit("diet", {"diet": "soft", "days": None})
    await ward.answer("diet", {"approved": True, "reason": "sore throat"})
    await ward.approve("note")


async def moved(ward: Ward) -> None:
    """The record moved under an approval: the call says that nothing was done, a new card asks again."""
    await ward.start(call("sign", "chart.sign", chart="pat_1"))
    await ward.approve("sign")
    await ward.approve("sign")


async def stopped(ward: Ward) -> None:
    """A person stops the run: its open cards are withdrawn in their places."""
    await ward.start(WRITE_ALONE, call("note", "chart.append", "write", text="Prescribed."))
    ward.clock.advance(60)
    await ward.condor.stop(ward.run_id, principal=OKAFOR, reason="entered twice")
    await ward.rest()


async def expired(ward: Ward) -> None:
    """Nobody answers in time: the card says that it expired, the run is aborted by the system."""
    await ward.start(WRITE_ALONE)
    ward.clock.advance(TTL_S + 1)
    await ward.condor._running().sweep()
    await ward.rest()


async def plan_nested(ward: Ward) -> None:
    """A plan in the plan, with a planned approval: one flat plan, steps named by their paths."""
    approval = {"id": "ok", "approval": {"title": "Prescribe for Anna Haddad?"}, "after": ["find"]}
    inner = call("write", "medication.prescribe", "ok", patient="pat_1", drug="Amoxicillin", dose="500 mg")
    await ward.start(
        FIND, nested("treat", approval, inner), call("look", "reminder.clear", "treat", patient="x")
    )
    await ward.approve("treat/ok")
    await ward.approve("treat/write")


async def not_understood(ward: Ward) -> None:
    """A request that no planner understands: no plan is guessed, the text says what can be asked."""
    await ward.start(request="make everybody well")


async def empty_output(ward: Ward) -> None:
    """A tool that returns nothing: its output is null, and said to be."""
    await ward.start(call("look", "reminder.clear", patient="pat_1"))


async def secrets(ward: Ward) -> None:
    """A secret in a call's arguments is masked in the card and in the call."""
    await ward.start(call("reset", "portal.reset", user="anna", password="correct horse"))
    await ward.approve("reset")


LAB = call("lab", "lab.fetch", patient="pat_1")


async def substituted(ward: Ward) -> None:
    """A read fails and another tool takes its place: the plan is revised once, the run goes on."""
    await ward.start(LAB, call("look", "reminder.clear", "lab", patient="pat_1"), autonomy="autonomous")


async def plan_asked(ward: Ward) -> None:
    """Under supervision the edit of the plan is asked first; approved, it is told and made."""
    await ward.start(LAB)
    await ward.approve("lab")


async def plan_kept(ward: Ward) -> None:
    """The edit is denied: the step stays failed, its tail is taken out of the plan, once."""
    await ward.start(LAB, call("look", "reminder.clear", "lab", patient="pat_1"), FIND)
    await ward.answer("lab", {"approved": False, "reason": "wait for the laboratory"})


async def breaker(ward: Ward) -> None:
    """A read keeps asking for another way: two replans, then the breaker stops the run and says why."""
    await ward.start(
        FIND,
        call("scan", "scan.find", "find", patient="pat_1"),
        call("note", "chart.append", "scan", text="Scans seen."),
        autonomy="autonomous",
    )


SCENARIOS: tuple[Callable[[Ward], Awaitable[None]], ...] = (
    approved,
    denied,
    skipped,
    clarified,
    gates,
    failed_read,
    reconciled,
    retried,
    moved,
    stopped,
    expired,
    plan_nested,
    not_understood,
    empty_output,
    secrets,
    substituted,
    plan_asked,
    plan_kept,
    breaker,
    edited,
    as_it_is,
)
