"""Seals and checkpoints as values: what is followed, what is held against a chain, what is refused."""

from __future__ import annotations

import dataclasses
import json
from typing import TYPE_CHECKING

import pytest

from condor.core.audit import (
    Checkpoint,
    Mark,
    SealedHeads,
    chain_hash,
    checkpoint_line,
    encode_seal,
    hold_to_checkpoint,
    hold_to_marks,
    missing_run,
    read_checkpoint,
    signed_bytes,
)
from condor.core.errors import RefusedInput
from tests.core.audit.chains import clean

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclasses.dataclass(frozen=True)
class Head:
    run_id: str
    seq: int
    hash: str


@dataclasses.dataclass(frozen=True)
class Seal:
    seq: int
    body: bytes
    prev_hash: str
    hash: str


RUN = clean(6)


def sealed(*bodies: bytes) -> list[Seal]:
    rows: list[Seal] = []
    prev = ""
    for number, body in enumerate(bodies, start=1):
        rows.append(Seal(number, body, prev, chain_hash(prev, number, body)))
        prev = rows[-1].hash
    return rows


def seals(count: int = 3) -> list[Seal]:
    """Of the run after its second, fourth, sixth row …"""
    return sealed(
        *(
            encode_seal("default", f"2026-{n}", [Head(RUN.run_id, 2 * n, RUN.rows[2 * n - 1].hash)])
            for n in range(1, count + 1)
        )
    )


def followed(rows: Sequence[Seal], expected: dict[int, str] | None = None) -> SealedHeads:
    heads = SealedHeads(expected)
    for row in rows:
        heads.follow(row)
    return heads


def test_every_head_is_kept() -> None:
    """Not the last one of a run alone."""
    heads = followed(seals())
    assert (heads.count, heads.at, heads.fault) == (3, "2026-3", None)
    assert [(mark.seal, mark.seq) for mark in heads.marks[RUN.run_id]] == [(1, 2), (2, 4), (3, 6)]
    assert hold_to_marks(RUN, heads.marks[RUN.run_id], "") is None


@pytest.mark.parametrize("field", ["body", "prev_hash", "hash"])
def test_an_edited_seal_is_named(field: str) -> None:
    """And what follows it is no witness any more."""
    rows = seals()
    value = b"{}" if field == "body" else "0" * 64
    rows[1] = dataclasses.replace(rows[1], **{field: value})  # type: ignore[arg-type]
    heads = followed(rows)
    assert heads.fault is not None
    assert (heads.count, heads.fault.what, heads.fault.first_bad_seq) == (1, "seal-broken", 2)


def test_a_removed_seal_is_named() -> None:
    """By the number that is missing."""
    heads = followed([row for row in seals() if row.seq != 2])
    assert heads.fault is not None
    assert (heads.fault.message, heads.fault.run_id) == ("seal 2 was removed", "")


@pytest.mark.parametrize(
    "body",
    [
        b"x",
        b"[]",
        b"{}",
        b'{"at":"2026","heads":[["r",1]]}',
        b'{"at":"2026","heads":[["r","1","h"]]}',
        b'{"at":"2026","heads":[["r",0,"h"]]}',
        b'{"at":1,"heads":[]}',
        b'{"at":"2026","heads":7}',
        b"[" * 100_000,
    ],
)
def test_what_is_no_seal_is_broken(body: bytes) -> None:
    """However well it is linked."""
    heads = followed(sealed(body))
    assert heads.fault is not None
    assert heads.fault.what == "seal-broken"


def test_a_chain_that_lost_or_changed_what_was_sealed_is_named() -> None:
    """By the first seal that holds it."""
    marks = [Mark(1, 2, RUN.rows[1].hash), Mark(2, 4, "0" * 64), Mark(3, 9, "1" * 64)]
    rewritten = hold_to_marks(RUN, marks, "")
    assert rewritten is not None
    assert (rewritten.what, rewritten.first_bad_seq) == ("rewritten", 4)
    assert "seal 2 holds row 4" in rewritten.message
    short = hold_to_marks(RUN, [marks[0], marks[2]], " of the checkpoint")
    assert short is not None
    assert (short.what, short.first_bad_seq) == ("rolled-back", 9)
    assert "seal 3 of the checkpoint holds row 9" in short.message
    gone = missing_run(RUN.run_id, marks, "")
    assert (gone.what, gone.run_id) == ("run-removed", RUN.run_id)


# -- checkpoints -----------------------------------------------------------------------------


def checkpoint(rows: Sequence[Seal], **other: object) -> list[bytes]:
    """Signed with what it says, so that a test sees what is signed."""
    stated = Checkpoint(
        tenant_id="default",
        at="2026",
        seals=len(rows),
        hash=rows[-1].hash if rows else "",
        runs=1,
        key="k",
    )
    stated = dataclasses.replace(stated, **other)  # type: ignore[arg-type]
    return [checkpoint_line(stated, signed_bytes(stated).decode()), *(row.body for row in rows)]


def holds(key: str, body: bytes, signature: str) -> bool:
    return key == "k" and body.decode() == signature


def test_a_checkpoint_holds_what_it_was_made_of() -> None:
    """With its seals, and alone; with ends of lines of any kind."""
    rows = seals()
    against = read_checkpoint([line + b"\r\n" for line in checkpoint(rows)], holds)
    assert against.sealed.marks == followed(rows).marks
    assert against.expected() == {row.seq: row.hash for row in rows}
    brief = read_checkpoint(checkpoint(rows)[:1], holds)
    assert brief.expected() == {3: rows[-1].hash}
    for one in (against, brief, read_checkpoint(checkpoint([]), holds)):
        assert hold_to_checkpoint(followed(seals(), one.expected()), one) is None
        # Sealed on since then.
        assert hold_to_checkpoint(followed(seals(3)), one) is None


def test_seals_that_went_back_or_are_others_are_found() -> None:
    """And where the tenant's chain is broken, that alone is said."""
    against = read_checkpoint(checkpoint(seals()), holds)
    for count in (0, 2):
        back = hold_to_checkpoint(followed(seals()[:count], against.expected()), against)
        assert back is not None
        assert (back.what, back.first_bad_seq) == ("rolled-back", count + 1)
    others = sealed(seals()[0].body, *(row.body.replace(b"2026", b"2025") for row in seals()[1:]))
    other = hold_to_checkpoint(followed(others, against.expected()), against)
    assert other is not None
    assert (other.what, other.first_bad_seq) == ("rewritten", 2)
    broken = followed([seals()[0], seals()[2]], against.expected())
    assert broken.fault is not None
    assert hold_to_checkpoint(broken, against) is None


@pytest.mark.parametrize(
    "lines",
    [
        [],
        [b"x"],
        [b"{}"],
        [b"[]"],
        [b'{"checkpoint":{},"signature":"x"}'],
        [b'{"checkpoint":[1],"signature":"x"}'],
        checkpoint(seals(), seals=-1),
        checkpoint(seals(), runs="many"),
        [checkpoint(seals())[0].replace(b'"v":1', b'"v":2')],
    ],
)
def test_what_is_no_checkpoint_is_refused(lines: list[bytes]) -> None:
    """In one line."""
    with pytest.raises(RefusedInput, match="is no whole checkpoint"):
        read_checkpoint(lines, holds)


def test_a_changed_or_cut_checkpoint_is_refused() -> None:
    """It would prove nothing: the signature covers every member, and through the hash every seal."""
    lines = checkpoint(seals())
    said = json.loads(lines[0])
    for name in ("at", "hash", "key", "tenantId", "runs", "seals"):
        other = 7 if isinstance(said["checkpoint"][name], int) else "x"
        changed = json.dumps({**said, "checkpoint": {**said["checkpoint"], name: other}}).encode()
        with pytest.raises(RefusedInput, match="signature does not hold"):
            read_checkpoint([changed, *lines[1:]], holds)
    edited = lines[1].replace(b"2026", b"2025")
    for rest in (lines[1:3], [*lines[1:], lines[3]], [edited, *lines[2:]], [b"x", *lines[2:]]):
        with pytest.raises(RefusedInput, match="not those that were signed"):
            read_checkpoint([lines[0], *rest], holds)
