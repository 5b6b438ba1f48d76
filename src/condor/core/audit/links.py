"""How the audit rows of one run are linked, and the words of a verdict on them.

Law: each row's hash covers the hash before it, its own number and its body; the run's row keeps the
number and the hash of the last one.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

#: What was done to a chain.
Tampering = Literal[
    "edited",  # a row's content, number or hash was changed
    "removed",  # a row is missing between others
    "inserted",  # a row stands there that the run did not write, or twice
    "reordered",  # rows changed places, or contents
    "truncated",  # the last rows are missing
    "foreign",  # a row of another run
    "head-mismatch",  # the rows hold together, but not with what the run's row says of them
    "run-removed",  # the run's row is missing
    "status-edited",  # the run's row does not say how the run ended
    "card-edited",  # a card's row does not say how the card ended
    "payload-edited",  # a card, or what closed it, is not the one that was written
    "rewritten",  # the rows hold together, but are not those that were sealed
    "rolled-back",  # what was sealed is not there any more
    "seal-broken",  # the tenant's own chain does not hold together
]


class ChainRow(Protocol):
    """One row as stored; ``ports.store.AuditRow`` is one."""

    @property
    def seq(self) -> int:
        """The number it claims."""
        ...

    @property
    def body(self) -> bytes:
        """The entry's bytes."""
        ...

    @property
    def prev_hash(self) -> str:
        """The hash before it, as it claims."""
        ...

    @property
    def hash(self) -> str:
        """Its own hash, as it claims."""
        ...


class Chain(Protocol):
    """One run's rows in stored order; ``ports.store.AuditChain`` is one."""

    @property
    def run_id(self) -> str:
        """The run."""
        ...

    @property
    def audit_seq(self) -> int:
        """How many rows the run's row counts; below 0 when that row is missing."""
        ...

    @property
    def audit_head(self) -> str:
        """Hash of the last row, as the run's row says; ``""`` before the first."""
        ...

    @property
    def rows(self) -> Sequence[ChainRow]:
        """The rows that are there."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class ChainVerdict:
    """Whether a run's chain is whole; if not, where it breaks first and how."""

    #: The run.
    run_id: str
    #: Nothing was found.
    kept: bool
    #: How many rows there are.
    rows: int
    #: Number of the first bad row; None when the chain is kept or no single row can be named.
    first_bad_seq: int | None = None
    #: What was done; None when the chain is kept.
    what: Tampering | None = None
    #: One line for a person, with run and row.
    message: str


def chain_hash(prev_hash: str, seq: int, body: bytes) -> str:
    """Hash of one row: hex SHA-256 over the previous row's hash, its own number and its body.

    Args:
        prev_hash: hex hash of the row before, ``""`` for the first.
        seq: 1, 2, 3 … within the run.
        body: RFC 8785 bytes of the entry.
    """
    return hashlib.sha256(b"%b\n%d\n%b" % (prev_hash.encode(), seq, body)).hexdigest()


def other_run(run_id: str, body: bytes) -> str | None:
    """The run that a body names, if it is not this one."""
    # In JSON a quote inside a text is escaped, so these bytes are a member and nothing else.
    if b'"runId":"%b"' % run_id.encode() in body:
        return None
    try:
        entry = json.loads(body)
    except (ValueError, RecursionError):
        return None
    named = entry.get("runId", run_id) if isinstance(entry, Mapping) else run_id
    return None if named == run_id else str(named)
