"""Who may read and stop which run: a short table.

| who | reads | stops |
|---|---|---|
| whoever asked, person or program | their own runs | their own runs |
| a person with a role that a card of it takes, open or closed | that run, its audit rows | that run |
| auditor | every run, every audit row | nothing |
| admin | every run, every audit row | nothing |
| any other program | nothing | nothing |
| a library call that names nobody | every run | every run |

Law 1: what you may not read is not there: 404, with the same words as for an unknown id.
Law 2: one rule at every edge: who may stop is asked in ``Condor.stop``, served or not.
Law 3: reading is decided by who asks now; nothing that a body says changes it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from condor.core.errors import NotAllowed, UnknownId
from condor.core.run import DECIDES_NOTHING, LOCAL_PERSON, Principal
from condor.ports.encoding import decode
from condor.ports.store import CardFilter

if TYPE_CHECKING:
    from collections.abc import Iterable

    from condor.ports.store import RunRow, Store, SuspensionRow


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """What of a run decides who may read it."""

    run_id: str
    #: Id of the principal that asked for it.
    requester: str
    #: Roles that any of its cards takes.
    roles: frozenset[str]
    #: One of its cards takes any person.
    anybody: bool


def standing_of(run: RunRow, cards: Iterable[SuspensionRow]) -> Standing:
    """Of a run and all its cards."""
    taken = [frozenset(decode(card.facts)["answerRoles"]) for card in cards]
    return Standing(
        run_id=run.run_id,
        requester=str(decode(run.requester)["id"]),
        roles=frozenset().union(*taken),
        anybody=not all(taken),
    )


def may_read(who: Principal, run: Standing) -> bool:
    """Whether this principal may know of the run."""
    if who.id == run.requester:
        return True
    if who.kind != "person":
        return False
    return reads_all(who) or run.anybody or bool(who.roles & run.roles)


def reads_all(who: Principal) -> bool:
    """Whether this principal reads every run and every audit row."""
    return who.kind == "person" and bool(who.roles & DECIDES_NOTHING)


async def readable_run(store: Store, who: Principal, run_id: str) -> tuple[RunRow, Standing]:
    """A run that this principal may read.

    Raises:
        UnknownId: there is none.
    """
    run = await store.run(run_id)
    if run is not None:
        standing = standing_of(run, await cards_of(store, run_id))
        if may_read(who, standing):
            return run, standing
    raise UnknownId("run", run_id)


async def check_stop(store: Store, who: Principal, run_id: str) -> None:
    """Whether this principal may stop the run.

    Raises:
        UnknownId: there is none that they may read.
        NotAllowed: they may look at it only.
    """
    if who == LOCAL_PERSON:
        return  # whoever calls this process as a library and names nobody; an unknown id the stop refuses
    run, _ = await readable_run(store, who, run_id)
    if decode(run.requester)["id"] != who.id and who.roles & DECIDES_NOTHING:
        raise NotAllowed(f"{who.name} has a role that decides nothing")


async def readable_card(store: Store, who: Principal, suspend_id: str) -> SuspensionRow:
    """A card that this principal may read.

    Raises:
        UnknownId: there is none.
    """
    card = await store.suspension(suspend_id)
    if card is None:
        raise UnknownId("card", suspend_id)
    try:
        await readable_run(store, who, card.run_id)
    except UnknownId:
        raise UnknownId("card", suspend_id) from None
    return card


async def check_session(store: Store, who: Principal, session_id: str) -> None:
    """Refuse a session that another principal began.

    Raises:
        UnknownId: it is not theirs.
    """
    last = await store.last_of_session(session_id)
    if last is not None and decode(last.requester)["id"] != who.id:
        raise UnknownId("session", session_id)


#: Cards of one run that are looked at: a run has at most 2,000 steps.
_CARDS_MAX = 10_000


async def cards_of(store: Store, run_id: str) -> list[SuspensionRow]:
    """Every card of a run, open or closed."""
    return list(await store.suspensions(CardFilter(run_id=run_id), limit=_CARDS_MAX))


__all__ = [
    "Standing",
    "cards_of",
    "check_session",
    "check_stop",
    "may_read",
    "readable_card",
    "readable_run",
    "reads_all",
    "standing_of",
]
