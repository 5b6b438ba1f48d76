"""Every kind of tampering is seen, the first bad row is named, and no clean chain is accused."""

from __future__ import annotations

import dataclasses
import hashlib
from typing import TYPE_CHECKING

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from condor.core.audit import ChainVerdict, chain_hash, verify_chain
from tests.core.audit.chains import (
    TO_ANY_ROW,
    TO_TWO_ROWS,
    Case,
    Row,
    Run,
    body,
    clean,
    linked,
    with_rows,
)

if TYPE_CHECKING:
    from collections.abc import Callable

Tamper = "Callable[[Run, int], Case]"


def assert_named(case: Case) -> None:
    run, number, what = case
    verdict = verify_chain(run)
    assert (verdict.kept, verdict.what, verdict.first_bad_seq) == (False, what, number), verdict.message
    assert run.run_id in verdict.message
    assert str(number) in verdict.message
    assert "\n" not in verdict.message


def test_the_hash_can_be_made_by_anybody() -> None:
    """Hex SHA-256 over previous hash, newline, number, newline, body: one line in any language."""
    assert chain_hash("ab", 12, b"{}") == hashlib.sha256(b"ab\n12\n{}").hexdigest()


@pytest.mark.parametrize("length", [0, 1, 2, 6, 1_000])
def test_a_clean_chain_is_kept(length: int) -> None:
    """Nobody is accused."""
    assert verify_chain(clean(length)) == ChainVerdict(
        run_id="run_a", kept=True, rows=length, message=f"run run_a: {length} rows, unbroken"
    )


@pytest.mark.parametrize("at", range(1, 7))
@pytest.mark.parametrize("tamper", TO_ANY_ROW, ids=lambda tamper: tamper.__name__)
def test_a_row_is_named(tamper: Callable[[Run, int], Case], at: int) -> None:
    """Whatever is done to whichever of six rows, that row is named, with the right word."""
    assert_named(tamper(clean(6), at))


@pytest.mark.parametrize("at", range(1, 6))
@pytest.mark.parametrize("tamper", TO_TWO_ROWS, ids=lambda tamper: tamper.__name__)
def test_the_first_of_two_rows_is_named(tamper: Callable[[Run, int], Case], at: int) -> None:
    """Two rows that changed places are called that, and the first is named."""
    assert_named(tamper(clean(6), at))


@pytest.mark.parametrize("tamper", [*TO_ANY_ROW, *TO_TWO_ROWS], ids=lambda tamper: tamper.__name__)
@given(length=st.integers(2, 12), at=st.integers(1, 11))
def test_any_row_of_any_chain_is_named(tamper: Callable[[Run, int], Case], length: int, at: int) -> None:
    """The same over chains of every length."""
    assume(at < length)
    assert_named(tamper(clean(length), at))


@given(data=st.data(), length=st.integers(0, 8))
def test_whatever_is_left_is_judged(data: st.DataObject, length: int) -> None:
    """Any rows in any order under any numbers: kept exactly when they are the rows that were written."""
    run = clean(length)
    others = clean(length + 1, "run_b").rows
    forged = [linked("", 1, body("run_a", 99)), Row(0, b"\xff", "", ""), Row(-5, b"[" * 5_000, "x", "y")]
    pool = st.sampled_from([*run.rows, *others, *forged])
    rows = data.draw(st.lists(pool, max_size=length + 2) | st.permutations(run.rows))
    verdict = verify_chain(with_rows(run, rows))
    assert verdict.kept == (list(rows) == list(run.rows))
    assert verdict.kept == (verdict.what is None)
    assert verdict.rows == len(rows)


def test_rows_removed_together_are_told_together() -> None:
    """Rows 3 to 5 are one loss."""
    run = clean(8)
    rows = [row for row in run.rows if not 3 <= row.seq <= 5]
    assert verify_chain(with_rows(run, rows)).message == "rows 3 to 5 of run run_a were removed"
    tail = verify_chain(with_rows(run, run.rows[:6]))
    assert tail.message == "rows 7 to 8 of run run_a were removed from the end"


def test_everything_removed_is_seen() -> None:
    """An empty table is no clean chain."""
    verdict = verify_chain(with_rows(clean(3), []))
    assert (verdict.what, verdict.first_bad_seq) == ("truncated", 1)


def test_a_removed_run_is_named() -> None:
    """Rows without their run accuse."""
    verdict = verify_chain(dataclasses.replace(clean(3), audit_seq=-1, audit_head=""))
    assert (verdict.what, verdict.first_bad_seq) == ("run-removed", None)
    assert verdict.message == "the row of run run_a was removed; 3 audit rows are left"


def test_rows_moved_to_a_run_that_is_not_there_are_named() -> None:
    """A row whose run id was changed is found where it is, too."""
    stray = Run("run_ghost", -1, "", [clean(3).rows[1]])
    verdict = verify_chain(stray)
    assert (verdict.what, verdict.first_bad_seq) == ("foreign", 2)
    assert "run_a" in verdict.message


@pytest.mark.parametrize(
    ("fields", "number"),
    [({"audit_seq": 2}, 3), ({"audit_seq": 5}, 4), ({"audit_head": "0" * 64}, 3), ({"audit_head": ""}, 3)],
)
def test_an_edited_run_row_is_seen(fields: dict[str, object], number: int) -> None:
    """The run's own count and head are held against the rows."""
    verdict = verify_chain(dataclasses.replace(clean(3), **fields))  # type: ignore[arg-type]
    assert (verdict.what, verdict.first_bad_seq) == ("head-mismatch", number)


def test_a_head_without_rows_is_seen() -> None:
    """A run that counts no rows keeps no hash."""
    verdict = verify_chain(dataclasses.replace(clean(0), audit_head="0" * 64))
    assert (verdict.what, verdict.first_bad_seq) == ("head-mismatch", None)


def test_a_run_set_back_to_nothing_is_seen() -> None:
    """Count and head set to a new run's, the rows left: they are more than the run wrote."""
    verdict = verify_chain(dataclasses.replace(clean(3), audit_seq=0, audit_head=""))
    assert (verdict.what, verdict.first_bad_seq) == ("inserted", 1)


def test_a_body_that_is_no_entry_names_no_run() -> None:
    """Foreign bytes are judged by their hash, not by what they fail to say."""
    run = clean(0)
    row = linked("", 1, b'["runId"]')
    assert verify_chain(dataclasses.replace(run, audit_seq=1, audit_head=row.hash, rows=[row])).kept


def test_a_long_broken_chain_is_judged_in_time() -> None:
    """Ten thousand renumbered rows are told from ten thousand edited ones without trying every pair."""
    run = clean(10_000)
    rows = [dataclasses.replace(row, seq=row.seq + 1) for row in run.rows[1:]]
    assert_named((with_rows(run, [run.rows[0], *rows]), 2, "edited"))
    junk = [dataclasses.replace(row, body=b"{}") for row in run.rows]
    assert_named((with_rows(run, junk), 1, "edited"))
