"""Why an answer is not taken: of who gives it, and of what came first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from condor.core.errors import (
    AlreadyDecided,
    AnswerRefused,
    RunNotSuspendedError,
    StaleSuspension,
    SuspensionExpired,
)
from condor.core.run import DECIDES_NOTHING, TERMINAL, Principal
from condor.ports.encoding import decode
from condor.pump.call import changes_of, decided_by

if TYPE_CHECKING:
    from condor.ports.store import Conflict, SuspensionRow
    from condor.pump.state import RunState


def may_not_answer(principal: Principal, row: SuspensionRow) -> str | None:
    """Why this principal may not answer this card; None when they may."""
    facts = decode(row.facts)
    if principal.kind != "person":
        return f"{principal.name} is a {principal.kind}; only a person answers cards"
    if principal.roles & DECIDES_NOTHING:
        powerless = " and ".join(sorted(principal.roles & DECIDES_NOTHING))
        return f"{principal.name} is {powerless}, a role that decides nothing"
    is_requester = principal.id == facts["requester"]
    if facts["requesterExcluded"] and is_requester:
        return f"{principal.name} asked for this; another person must decide"
    if facts["requesterExcluded"] and principal.id in facts.get("editors", ()):
        return f"{principal.name} edited this call; another person must decide"
    roles = frozenset(facts["answerRoles"])
    if not roles or roles & principal.roles or (facts["requesterMayAnswer"] and is_requester):
        return None
    return f"{principal.name} may not answer this card; it takes {' or '.join(sorted(roles))}"


def check_open(state: RunState, row: SuspensionRow) -> None:
    """Refuse what comes too late.

    Raises:
        AnswerRefused: its subclass says what came first.
    """
    if row.status != "pending":
        raise closed_error(state, row)
    if state.status in TERMINAL:
        raise RunNotSuspendedError(f"run {state.run_id} has ended ({state.status}); nothing was changed")


def closed_error(state: RunState, row: SuspensionRow) -> AnswerRefused:
    """What to tell a late answer."""
    match row.status:
        case "expired":
            return SuspensionExpired(f"the card expired at {row.expires_at}; nothing was run")
        case "superseded" if changes_of(state, row):
            editor = decided_by(state, row).name
            return StaleSuspension(
                f"{editor} edited the call at {row.decided_at or 'an unknown time'}",
                next_suspend_id=_newer(state, row),
            )
        case "superseded":
            return StaleSuspension("a newer card took its place", next_suspend_id=_newer(state, row))
        case _:
            return AlreadyDecided(
                decision=row.status,
                decided_by=decided_by(state, row).name,
                decided_at=row.decided_at or "an unknown time",
            )


def _newer(state: RunState, row: SuspensionRow) -> str | None:
    """The open card that took this one's place."""
    return next((card.suspend_id for card in state.open_suspensions() if card.step_id == row.step_id), None)


def lost_error(conflict: Conflict, state: RunState) -> AnswerRefused:
    """What to tell who lost the compare-and-set."""
    row = conflict.suspension
    if conflict.kind == "expired" and row is not None:
        return SuspensionExpired(f"the card expired at {row.expires_at}; nothing was run")
    if row is not None:
        return closed_error(state, row)
    return RunNotSuspendedError(f"run {state.run_id} waits for nothing")
