"""What must hold of every run at rest, as functions of what it left: each names what is broken.

They read only what a stranger could read: the snapshot, the event log, the audit and the outside ledger.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from condor.testing import Ledger

Json = dict[str, Any]

#: Decisions that close a card.
_CLOSE = {
    "approved": "approved",
    "denied": "denied",
    "answered": "answered",
    "reconciled": "answered",
    "edited": "superseded",
    "withdrawn": ("withdrawn", "superseded"),
    "expired": "expired",
}
#: Those that a person makes, within the card's time.
_BY_PEOPLE = frozenset({"approved", "denied", "answered", "edited"})
#: Keys of effects that others had outside, as ``Protocol.record_moves`` writes them.
OUTSIDE = "outside"


@dataclass(frozen=True, slots=True, kw_only=True)
class Left:
    """What one run left."""

    shown: Json
    events: list[Json]
    audit: list[Json]
    ledger: Ledger

    def cards(self, step_id: str) -> list[Json]:
        """The cards of a step, oldest first."""
        return [card for card in self.shown["suspensions"] if card["stepId"] == step_id]

    def card(self, suspend_id: str) -> Json:
        """One card."""
        return next(card for card in self.shown["suspensions"] if card["suspendId"] == suspend_id)

    def steps(self) -> list[str]:
        """Steps that had a card."""
        return list(dict.fromkeys(card["stepId"] for card in self.shown["suspensions"]))


def what_ran_was_approved(left: Left) -> Iterator[str]:
    """An effect that was approved is exactly the call of the approved card: contract and arguments."""
    granted: dict[str, Json] = {}
    for row in left.audit:
        if row["decision"] in ("approved", "allowed"):
            granted[row["stepId"]] = row
        if row["decision"] == "executed" and row.get("contractHash"):
            said = granted.get(row["stepId"])
            if said is None or said["contractHash"] != row["contractHash"]:
                yield f"step {row['stepId']} ran another contract than was granted"
            elif said["decision"] == "approved":
                card = left.card(said["suspendId"])
                step = next(step for step in left.shown["steps"] if step["id"] == row["stepId"])
                if step["args"] != card["toolInput"]:
                    yield f"step {row['stepId']} ran {step['args']}, and its card showed {card['toolInput']}"


def a_card_that_asked_is_answered_before_its_step_runs(left: Left) -> Iterator[str]:
    """A step that a person was once asked about is never allowed by the table alone, whatever drifted."""
    asked: set[str] = set()
    for row in left.audit:
        if row["decision"] == "suspended" and row.get("reasonCode") == "approval":
            asked.add(row["stepId"])
        if row["decision"] == "allowed" and row["stepId"] in asked:
            yield f"step {row['stepId']} asked a person, and then ran without one"


def a_card_is_closed_once(left: Left) -> Iterator[str]:
    """By one decision, which is its status."""
    closed: dict[str, Json] = {}
    for row in left.audit:
        if row["decision"] in _CLOSE and row.get("suspendId"):
            if row["suspendId"] in closed:
                yield f"card {row['suspendId']} was closed twice"
            closed[row["suspendId"]] = row
    for card in left.shown["suspensions"]:
        found = closed.get(card["suspendId"])
        if (found is None) != (card["status"] == "pending"):
            yield f"card {card['suspendId']} is {card['status']}, and the audit says otherwise"
        elif found is not None and card["status"] not in _CLOSE[found["decision"]]:
            yield f"card {card['suspendId']} is {card['status']}, and the audit says {found['decision']}"


def a_person_decides_in_time(left: Left) -> Iterator[str]:
    """Before the card expired; never the clock, never who may not."""
    for row in left.audit:
        if row["decision"] not in _BY_PEOPLE or not row.get("suspendId"):
            continue
        card = left.card(row["suspendId"])
        if card.get("expiresAt") and row["at"] >= card["expiresAt"]:
            yield f"card {row['suspendId']} was {row['decision']} after its time"
        if row["actor"] == "system":
            yield f"card {row['suspendId']} was {row['decision']} by nobody"
        if card["requesterExcluded"] and row["actor"] in (card["requester"], *card.get("editors", ())):
            yield f"card {row['suspendId']} was {row['decision']} by {row['actor']}, who wrote it"


def editors_are_remembered(left: Left) -> Iterator[str]:
    """Where the requester is excluded, every later card of the step names who edited the call."""
    for step_id in left.steps():
        edited: set[str] = set()
        for card in left.cards(step_id):
            if card["requesterExcluded"] and not edited <= set(card.get("editors", ())):
                yield f"card {card['suspendId']} forgets who edited the call"
            if "edit" in card:
                edited.add(card["decidedBy"])


def edits_add_up(left: Left) -> Iterator[str]:
    """The card after an edit shows the call before it with exactly that edit."""
    for step_id in left.steps():
        cards = left.cards(step_id)
        for before, after in itertools.pairwise(cards):
            if "edit" not in before:
                continue
            expected = {**before["toolInput"], **before["edit"]}
            expected = {name: value for name, value in expected.items() if value is not None}
            if after["toolInput"] != expected:
                yield f"card {after['suspendId']} shows {after['toolInput']} after an edit to {expected}"


def an_edited_call_asks(left: Left) -> Iterator[str]:
    """At rest a step whose last card was edited away has another card, or has ended."""
    ended = left.shown["status"] not in ("suspended", "executing")
    for step_id in left.steps():
        last = left.cards(step_id)[-1]
        step = next(step for step in left.shown["steps"] if step["id"] == step_id)
        if "edit" in last and not ended and step["status"] in ("pending", "started", "suspended"):
            yield f"step {step_id} was edited and asks nobody"


def identity_stays(left: Left) -> Iterator[str]:
    """No edit changes which record a call is about."""
    for step_id in left.steps():
        records = {card["toolInput"].get("record") for card in left.cards(step_id)}
        if len(records) > 1:
            yield f"step {step_id} was about {sorted(map(str, records))}"


def risk_never_falls(left: Left) -> Iterator[str]:
    """A step that was shown as high is never shown, or run, as less."""
    for step_id in left.steps():
        high = False
        for card in left.cards(step_id):
            tier = (card.get("policy") or {}).get("effectiveTier")
            if high and card["reasonCode"] == "approval" and tier == "low":
                yield f"card {card['suspendId']} is low, and one before it was high"
            high = high or (card["reasonCode"] == "approval" and tier == "high")


def what_was_denied_is_not_asked_again(left: Left) -> Iterator[str]:
    """The same call in the same run does not ask after a no, but where a yes to that step came first."""
    denied: list[Json] = []
    approved: set[str] = set()
    for row in left.audit:
        if row["decision"] == "approved":
            approved.add(row["stepId"])
        if row["decision"] not in ("denied", "suspended") or row.get("reasonCode") != "approval":
            continue
        card = left.card(row["suspendId"])
        call = {"tool": card["toolName"], "args": card["toolInput"]}
        if card["origin"] != "tool_policy":
            continue
        if row["decision"] == "denied":
            denied.append(call)
        elif call in denied and row["stepId"] not in approved:
            yield f"step {row['stepId']} asks for {call} again, which was denied"


def no_bug_of_ours_ends_a_run(left: Left) -> Iterator[str]:
    """Nothing that people, time, drift or a full disk do may end a run as failed by a bug."""
    for row in left.audit:
        if row["decision"] == "run-ended" and str(row.get("reasonCode")).endswith(":bug"):
            yield f"run {left.shown['runId']} ended by a bug: {left.shown['closing']}"


def effects_are_what_is_told(left: Left) -> Iterator[str]:
    """One effect for each step that succeeded, one at most for one that is unknown, none for any other."""
    told: dict[str, list[str]] = {}
    for step in left.shown["steps"]:
        record = (step.get("args") or {}).get("record")
        if step["tool"] is not None and step["tool"].endswith(".write") and record is not None:
            told.setdefault(record, []).append(step["status"])
    for record, statuses in told.items():
        count = sum(not entry.key.startswith(OUTSIDE) for entry in left.ledger.entries(record))
        done, unknown = statuses.count("succeeded"), statuses.count("unknown")
        if not done <= count <= done + unknown:
            yield f"{record} has {count} effects of steps that are {statuses}"


INVARIANTS: tuple[Callable[[Left], Iterator[str]], ...] = (
    what_ran_was_approved,
    a_card_that_asked_is_answered_before_its_step_runs,
    a_card_is_closed_once,
    a_person_decides_in_time,
    editors_are_remembered,
    edits_add_up,
    an_edited_call_asks,
    identity_stays,
    risk_never_falls,
    what_was_denied_is_not_asked_again,
    no_bug_of_ours_ends_a_run,
    effects_are_what_is_told,
)


def broken(left: Left) -> list[str]:
    """Everything that does not hold of a run."""
    return [f"{check.__name__}: {why}" for check in INVARIANTS for why in check(left)]
