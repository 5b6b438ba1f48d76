"""What stands beside a chain, held against it: the run's status, its cards, and payloads that rows vouch for.

Law 1: only a chain that is whole is a witness; a broken one is accused by ``verify_chain``.
Law 2: a payload that is not there accuses nobody: record data may be erased.

What no row says cannot be held against one: which of its active statuses a run has, steps, events, results.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final, Protocol

from condor.core.audit.entry import CLOSES, vouched_payload
from condor.core.audit.links import Chain, ChainVerdict, Tampering
from condor.core.ids import digest_of_bytes
from condor.core.run import TERMINAL

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

_ENDS: Final = frozenset(str(status) for status in TERMINAL)


class Card(Protocol):
    """How a card ended, as its own row says; ``ports.store.CardMark`` is one."""

    @property
    def suspend_id(self) -> str:
        """The card."""
        ...

    @property
    def status(self) -> str:
        """Its status, whatever stands there."""
        ...

    @property
    def decided_by(self) -> str | None:
        """Who closed it."""
        ...


class Records(Chain, Protocol):
    """A chain and what stands beside it; ``ports.store.AuditChain`` is one."""

    @property
    def status(self) -> str:
        """The run's status, whatever stands there."""
        ...

    @property
    def cards(self) -> Sequence[Card]:
        """The run's cards."""
        ...

    @property
    def payloads(self) -> Mapping[str, bytes]:
        """Cards, and what closed them, by key."""
        ...


def hold_records(records: Records) -> ChainVerdict | None:
    """What does not agree with a chain that is whole; None when all does."""
    ended = ""
    opened: set[str] = set()
    closed: dict[str, Mapping[str, Any]] = {}
    for row in records.rows:
        # Bodies are canonical: their members are found by their bytes, and most rows are no witness here.
        if b'"suspendId":' not in row.body and b'"decision":"run-ended"' not in row.body:
            continue
        entry = _entry(row.body)
        if entry is None:
            text = f"row {row.seq} of run {records.run_id} is no audit entry"
            return _bad(records, row.seq, "edited", text)
        decision, card = entry["decision"], entry.get("suspendId", "")
        if decision == "run-ended":
            ended = entry.get("reasonCode", "").partition(":")[0]
        elif decision == "suspended":
            opened.add(card)
        elif decision in CLOSES:
            closed[card] = entry
        fault = _payload_fault(records, row.seq, decision, card, entry.get("payloadDigest"))
        if fault is not None:
            return fault
    if (records.status if records.status in _ENDS else "") != ended:
        said = f"ended as {ended}" if ended else "has not ended"
        text = f"the row of run {records.run_id} says {records.status}, and its audit that it {said}"
        return _bad(records, None, "status-edited", text)
    return next(_card_faults(records, opened, closed), None)


def _entry(body: bytes) -> Mapping[str, str] | None:
    """The texts of an entry; None for what is none."""
    try:
        found = json.loads(body)
    except (ValueError, RecursionError):
        return None
    if not isinstance(found, dict) or not isinstance(found.get("decision"), str):
        return None
    return {name: value for name, value in found.items() if isinstance(value, str)}


def _payload_fault(
    records: Records, seq: int, decision: str, card: str, digest: str | None
) -> ChainVerdict | None:
    """A payload that a row vouches for and that is another one now."""
    key = vouched_payload(decision, card or None)
    if key is None or digest is None or key not in records.payloads:
        return None
    if digest_of_bytes(records.payloads[key]) == digest:
        return None
    text = f"the payload {key} of run {records.run_id} is not the one that audit row {seq} vouches for"
    return _bad(records, seq, "payload-edited", text)


def _card_faults(
    records: Records, opened: set[str], closed: Mapping[str, Mapping[str, Any]]
) -> Iterator[ChainVerdict]:
    """Cards whose own row tells another story than the audit."""
    for card in records.cards:
        end = closed.get(card.suspend_id)
        statuses = CLOSES[end["decision"]] if end is not None else frozenset({"pending"})
        where = f"card {card.suspend_id} of run {records.run_id}"
        if card.suspend_id not in opened:
            yield _bad(records, None, "card-edited", f"{where} was never opened, as its audit says")
        elif card.status not in statuses:
            said = f"was {end['decision']}" if end is not None else "is open"
            text = f"the row of {where} says {card.status}, and its audit that it {said}"
            yield _bad(records, None, "card-edited", text)
        elif end is not None and card.decided_by != end.get("actor"):
            text = (
                f"the row of {where} says that {card.decided_by} closed it, and its audit {end.get('actor')}"
            )
            yield _bad(records, None, "card-edited", text)
    missing = sorted(opened - {card.suspend_id for card in records.cards})
    if missing:
        text = f"the row of card {missing[0]} of run {records.run_id} was removed"
        yield _bad(records, None, "card-edited", text)


def _bad(records: Records, seq: int | None, what: Tampering, message: str) -> ChainVerdict:
    return ChainVerdict(
        run_id=records.run_id,
        kept=False,
        rows=len(records.rows),
        first_bad_seq=seq,
        what=what,
        message=message,
    )
