"""Chains for tests, and everything that somebody with a database shell can do to one."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, TypeAlias

from condor.core.audit import AuditEntry, Decision, Tampering, chain_hash, encode_entry

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


@dataclasses.dataclass(frozen=True)
class Row:
    seq: int
    body: bytes
    prev_hash: str
    hash: str


@dataclasses.dataclass(frozen=True)
class Run:
    run_id: str
    audit_seq: int
    audit_head: str
    rows: Sequence[Row]


def body(run_id: str, number: int, decision: Decision = "allowed") -> bytes:
    return encode_entry(
        AuditEntry(at="2026", run_id=run_id, session_id="ses", decision=decision, step_id=f"s{number}")
    )


def linked(prev: str, seq: int, content: bytes) -> Row:
    return Row(seq, content, prev, chain_hash(prev, seq, content))


def clean(length: int, run_id: str = "run_a") -> Run:
    rows: list[Row] = []
    head = ""
    for seq in range(1, length + 1):
        rows.append(linked(head, seq, body(run_id, seq)))
        head = rows[-1].hash
    return Run(run_id, length, head, rows)


#: What was done: the chain after it, the number that must be named, and the word.
Case: TypeAlias = "tuple[Run, int | None, Tampering]"


def with_rows(run: Run, rows: Sequence[Row]) -> Run:
    return dataclasses.replace(run, rows=list(rows))


def changed(run: Run, at: int, **fields: object) -> list[Row]:
    rows = list(run.rows)
    rows[at - 1] = dataclasses.replace(rows[at - 1], **fields)  # type: ignore[arg-type]
    return rows


def edit_body(run: Run, at: int) -> Case:
    return with_rows(run, changed(run, at, body=body(run.run_id, at, "denied"))), at, "edited"


def edit_hash(run: Run, at: int) -> Case:
    return with_rows(run, changed(run, at, hash="0" * 64)), at, "edited"


def edit_prev(run: Run, at: int) -> Case:
    return with_rows(run, changed(run, at, prev_hash="0" * 64)), at, "edited"


def edit_number(run: Run, at: int) -> Case:
    return with_rows(run, changed(run, at, seq=len(run.rows) + 7)), at, "edited"


def edit_and_rehash(run: Run, at: int) -> Case:
    """The forger knows how hashes are made; the next row, or the run, does not go on from his."""
    row = linked(run.rows[at - 1].prev_hash, at, body(run.run_id, at, "denied"))
    rows = changed(run, at, body=row.body, hash=row.hash)
    return with_rows(run, rows), at, "head-mismatch" if at == len(rows) else "edited"


def edit_link_and_rehash(run: Run, at: int) -> Case:
    row = linked("f" * 64, at, body(run.run_id, at, "denied"))
    return with_rows(run, changed(run, at, **dataclasses.asdict(row))), at, "edited"


def edit_number_and_body(run: Run, at: int) -> Case:
    rows = changed(run, at, seq=len(run.rows) + 7, body=b"{}")
    # Of the last row nothing is left that tells it from a row further on.
    return with_rows(run, rows), at, "removed" if at == len(rows) else "edited"


def remove(run: Run, at: int) -> Case:
    rows = [row for row in run.rows if row.seq != at]
    return with_rows(run, rows), at, "truncated" if at == len(run.rows) else "removed"


def remove_and_renumber(run: Run, at: int) -> Case:
    rows = [dataclasses.replace(row, seq=row.seq - (row.seq > at)) for row in run.rows if row.seq != at]
    return with_rows(run, rows), at, "truncated" if at == len(run.rows) else "removed"


def truncate(run: Run, at: int) -> Case:
    return with_rows(run, run.rows[: at - 1]), at, "truncated"


def forge_before(run: Run, at: int) -> Case:
    """A forged row ``at``, well made, the true ones renumbered to make room."""
    forged = linked(run.rows[at - 1].prev_hash, at, body(run.run_id, 99, "approved"))
    moved = [dataclasses.replace(row, seq=row.seq + 1) for row in run.rows[at - 1 :]]
    return with_rows(run, [*run.rows[: at - 1], forged, *moved]), at, "inserted"


def forge_badly_before(run: Run, at: int) -> Case:
    forged = Row(at, body(run.run_id, 99, "approved"), "0" * 64, "f" * 64)
    moved = [dataclasses.replace(row, seq=row.seq + 1) for row in run.rows[at - 1 :]]
    return with_rows(run, [*run.rows[: at - 1], forged, *moved]), at, "inserted"


def forge_beside(run: Run, at: int) -> Case:
    """A second row with the number ``at``, stored last, as an INSERT does."""
    forged = linked(run.rows[at - 1].prev_hash, at, body(run.run_id, 99, "approved"))
    return with_rows(run, [*run.rows, forged]), at, "inserted"


def forge_unlinked_before(run: Run, at: int) -> Case:
    forged = linked("f" * 64, at, body(run.run_id, 99, "approved"))
    moved = [dataclasses.replace(row, seq=row.seq + 1) for row in run.rows[at - 1 :]]
    return with_rows(run, [*run.rows[: at - 1], forged, *moved]), at, "inserted"


def forge_in_place(run: Run, at: int) -> Case:
    """A forged row where the true one stood, and the true one at the end."""
    row = run.rows[at - 1]
    forged = linked(row.prev_hash, at, body(run.run_id, 99, "approved"))
    return with_rows(run, [*run.rows[: at - 1], forged, *run.rows[at:], row]), at, "inserted"


def forge_badly_beside(run: Run, at: int) -> Case:
    forged = Row(at, body(run.run_id, 99, "approved"), "0" * 64, "f" * 64)
    return with_rows(run, [*run.rows, forged]), at, "inserted"


def forge_beside_in_order(run: Run, at: int) -> Case:
    """A second row with the number ``at``, as a store lists it that sorts by number."""
    forged = linked(run.rows[at - 1].prev_hash, at, body(run.run_id, 99, "approved"))
    return with_rows(run, [*run.rows[: at - 1], forged, *run.rows[at - 1 :]]), at, "inserted"


def double(run: Run, at: int) -> Case:
    return with_rows(run, [*run.rows, run.rows[at - 1]]), at, "inserted"


def double_in_order(run: Run, at: int) -> Case:
    return with_rows(run, [*run.rows[:at], run.rows[at - 1], *run.rows[at:]]), at, "inserted"


def append(run: Run, _at: int) -> Case:
    """A well-made row at the end, which the run does not count."""
    number = len(run.rows) + 1
    forged = linked(run.audit_head, number, body(run.run_id, number, "approved"))
    return with_rows(run, [*run.rows, forged]), number, "inserted"


def append_badly(run: Run, _at: int) -> Case:
    number = len(run.rows) + 1
    forged = Row(number, body(run.run_id, number, "approved"), "0" * 64, "f" * 64)
    return with_rows(run, [*run.rows, forged]), number, "inserted"


def swap_places(run: Run, at: int) -> Case:
    """Two neighbours stored in the other order, each with all it says."""
    rows = list(run.rows)
    rows[at - 1], rows[at] = rows[at], rows[at - 1]
    return with_rows(run, rows), at, "reordered"


def swap_numbers(run: Run, at: int) -> Case:
    rows = list(run.rows)
    rows[at - 1], rows[at] = (
        dataclasses.replace(rows[at - 1], seq=at + 1),
        dataclasses.replace(rows[at], seq=at),
    )
    return with_rows(run, rows), at, "reordered"


def swap_numbers_in_order(run: Run, at: int) -> Case:
    swapped, named, what = swap_numbers(run, at)
    return with_rows(run, sorted(swapped.rows, key=lambda row: row.seq)), named, what


def swap_bodies(run: Run, at: int) -> Case:
    rows = list(run.rows)
    rows[at - 1], rows[at] = (
        dataclasses.replace(rows[at - 1], body=rows[at].body),
        dataclasses.replace(rows[at], body=rows[at - 1].body),
    )
    return with_rows(run, rows), at, "reordered"


def swap_contents(run: Run, at: int) -> Case:
    """Body and hash of two neighbours, numbers and links left."""
    rows = list(run.rows)
    rows[at - 1], rows[at] = (
        dataclasses.replace(rows[at - 1], body=rows[at].body, hash=rows[at].hash),
        dataclasses.replace(rows[at], body=rows[at - 1].body, hash=rows[at - 1].hash),
    )
    return with_rows(run, rows), at, "reordered"


def plant_foreign(run: Run, at: int) -> Case:
    """The row ``at`` of another run in place of ours."""
    other = clean(len(run.rows), "run_b").rows[at - 1]
    return with_rows(run, changed(run, at, **dataclasses.asdict(other))), at, "foreign"


def plant_foreign_well(run: Run, at: int) -> Case:
    """A row that names another run, linked as it should be; the run's own row adapted too."""
    rows = list(run.rows[: at - 1])
    head = rows[-1].hash if rows else ""
    for row in run.rows[at - 1 :]:
        content = row.body.replace(b"run_a", b"run_b") if row.seq == at else row.body
        rows.append(linked(head, row.seq, content))
        head = rows[-1].hash
    return dataclasses.replace(run, rows=rows, audit_head=head), at, "foreign"


def remove_and_edit_next(run: Run, at: int) -> Case:
    rows = changed(run, at + 1, body=body(run.run_id, 99, "denied"))
    return with_rows(run, [row for row in rows if row.seq != at]), at, "removed"


#: Done to any row.
TO_ANY_ROW: tuple[Callable[[Run, int], Case], ...] = (
    edit_body,
    edit_hash,
    edit_prev,
    edit_number,
    edit_and_rehash,
    edit_link_and_rehash,
    edit_number_and_body,
    remove,
    remove_and_renumber,
    truncate,
    forge_before,
    forge_badly_before,
    forge_unlinked_before,
    forge_in_place,
    forge_beside,
    forge_badly_beside,
    forge_beside_in_order,
    double,
    double_in_order,
    append,
    append_badly,
    plant_foreign,
    plant_foreign_well,
)
#: Done to a row and the one after it.
TO_TWO_ROWS: tuple[Callable[[Run, int], Case], ...] = (
    swap_places,
    swap_numbers,
    swap_numbers_in_order,
    swap_bodies,
    swap_contents,
    remove_and_edit_next,
)
