"""What stands beside a chain that is whole: bodies that are none, and what accuses nobody."""

from __future__ import annotations

import dataclasses
import json
from typing import TYPE_CHECKING

import pytest

from condor.core.audit import AuditEntry, encode_entry, hold_records, vouched_payload
from condor.core.ids import digest_of_bytes
from tests.core.audit.chains import Row, linked

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


@dataclasses.dataclass(frozen=True)
class Card:
    suspend_id: str
    status: str
    decided_by: str | None = None


@dataclasses.dataclass(frozen=True)
class Records:
    rows: Sequence[Row]
    status: str = "executing"
    cards: Sequence[Card] = ()
    payloads: Mapping[str, bytes] = dataclasses.field(default_factory=dict)
    run_id: str = "run_a"
    audit_seq: int = 0
    audit_head: str = ""


def entry(decision: str, **fields: object) -> AuditEntry:
    return AuditEntry(at="2026", run_id="run_a", session_id="s", decision=decision, **fields)  # type: ignore[arg-type]


def rows(*entries: AuditEntry | bytes) -> list[Row]:
    made: list[Row] = []
    prev = ""
    for number, one in enumerate(entries, start=1):
        made.append(linked(prev, number, one if isinstance(one, bytes) else encode_entry(one)))
        prev = made[-1].hash
    return made


OPENED = entry("suspended", suspend_id="c")
APPROVED = entry("approved", suspend_id="c", actor="bob")


def test_what_agrees_accuses_nobody() -> None:
    """An open card, a closed one, an end; payloads that are erased or that no row vouches for."""
    assert hold_records(Records(rows())) is None
    assert hold_records(Records(rows(OPENED), cards=[Card("c", "pending")])) is None
    closed = rows(OPENED, APPROVED, entry("run-ended", reason_code="succeeded:nothing-left"))
    payloads = {"card:c": b"{}", "answer:c": b"{}"}
    for there in ({}, payloads):
        records = Records(closed, "succeeded", [Card("c", "approved", "bob")], there)
        assert hold_records(records) is None


@pytest.mark.parametrize("body", [b'{"suspendId":', b'["suspendId":1]', b'["\\"suspendId\\":", "suspendId"]'])
def test_a_body_that_is_no_entry_is_named(body: bytes) -> None:
    """Well linked as it may be."""
    body = body if b'"suspendId":' in body else b'[{"suspendId":1}]'
    found = hold_records(Records(rows(OPENED, body), cards=[Card("c", "pending")]))
    assert found is not None
    assert (found.what, found.first_bad_seq) == ("edited", 2)


@pytest.mark.parametrize(
    ("records", "what"),
    [
        (Records(rows(), "succeeded"), "status-edited"),
        (Records(rows(entry("run-ended", reason_code="failed:bug")), "succeeded"), "status-edited"),
        (Records(rows(entry("run-ended", reason_code="failed:bug")), "executing"), "status-edited"),
        (Records(rows(OPENED), cards=[Card("c", "approved", "bob")]), "card-edited"),
        (Records(rows(OPENED)), "card-edited"),
        (Records(rows(), cards=[Card("c", "pending")]), "card-edited"),
        (Records(rows(OPENED, APPROVED), cards=[Card("c", "denied", "bob")]), "card-edited"),
        (Records(rows(OPENED, APPROVED), cards=[Card("c", "approved", "eve")]), "card-edited"),
    ],
)
def test_what_is_at_odds_is_named(records: Records, what: str) -> None:
    """The run's end, and how each card ended and by whom."""
    found = hold_records(records)
    assert found is not None
    assert (found.run_id, found.what) == ("run_a", what)


def test_a_row_vouches_for_the_payload_of_its_unit() -> None:
    """The card as it was opened, and what closed it; other rows vouch for none."""
    payloads = {"card:c": b"card", "answer:c": b"answer"}
    assert json.loads(encode_entry(OPENED, payloads))["payloadDigest"] == digest_of_bytes(b"card")
    assert json.loads(encode_entry(APPROVED, payloads))["payloadDigest"] == digest_of_bytes(b"answer")
    assert "payloadDigest" not in json.loads(encode_entry(APPROVED, {"card:c": b"card"}))
    assert vouched_payload("decision-rejected", "c") is None
    assert vouched_payload("approved", None) is None
    made = rows(encode_entry(OPENED, payloads))
    for there, what in (({"card:c": b"card"}, None), ({"card:c": b"CARD"}, "payload-edited")):
        found = hold_records(Records(made, cards=[Card("c", "pending")], payloads=there))
        assert (found.what if found else None) == what
