"""Somebody with a database shell changes the audit: every row and kind is found and named."""

from __future__ import annotations

import asyncio
import shutil
import sqlite3
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from condor.core.audit import ChainVerdict, verify_chain
from condor.ports.store import AuditFilter, Transition
from condor.store.sqlite import SqliteStore
from condor.testing.store_units import all_of, at, creation, entry, run_name

if TYPE_CHECKING:
    from collections.abc import Callable

ROWS = 6
#: The run that is tampered with, among others.
RUN = run_name(2)


async def filled(path: Path, runs: int = 4) -> None:
    """Runs with six rows each, written in turn, so that their rows stand mixed."""
    store = SqliteStore.open(path)
    await all_of(store, [creation(number) for number in range(runs)])
    for step in range(1, ROWS):
        units = [
            Transition(
                run_id=run_name(number),
                at=at(step),
                audit=[entry(run_name(number), "denied", step_id=f"s{step}", actor="dr-lindholm")],
            )
            for number in range(runs)
        ]
        await all_of(store, units)
    await store.close()


@pytest.fixture(scope="module")
def pristine(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Four runs, written once; each test tampers with a copy."""
    path = tmp_path_factory.mktemp("pristine") / "condor.db"
    asyncio.run(filled(path))
    return path


@pytest.fixture
def audited(pristine: Path, path: Path) -> Path:
    return Path(shutil.copy(pristine, path))


def sql(path: Path, *statements: str) -> None:
    connection = sqlite3.connect(path)
    with connection:
        for statement in statements:
            connection.execute(statement, {"run": RUN} if ":run" in statement else {})
    connection.close()


async def verdicts(path: Path) -> list[ChainVerdict]:
    store = SqliteStore.open(path, read_only=True)
    found = [verify_chain(chain) async for chain in store.audit_chains()]
    await store.close()
    return found


FORGED = """INSERT INTO audit (run_id, seq, body, prev_hash, hash) SELECT run_id, {number},
    replace(body, 'denied', 'approved'), prev_hash, hash FROM audit WHERE run_id = :run AND seq = {at}"""

#: Statements by what they do; ``{at}`` is the row.
TAMPERINGS = {
    "edited-body": (
        "edited",
        "UPDATE audit SET body = replace(body, '2026', '2025') WHERE {one}",
    ),
    "edited-hash": ("edited", "UPDATE audit SET hash = upper(hash) WHERE {one}"),
    "edited-link": ("edited", "UPDATE audit SET prev_hash = 'x' WHERE {one}"),
    "edited-type": ("edited", "UPDATE audit SET body = 5 WHERE {one}"),
    "edited-bytes": (
        "edited",
        "UPDATE audit SET body = x'ff00', hash = x'ff' WHERE {one}",
    ),
    "renumbered": ("edited", "UPDATE audit SET seq = 'nine' WHERE {one}"),
    "removed": ("removed", "DELETE FROM audit WHERE {one}"),
    "moved": ("removed", "UPDATE audit SET run_id = 'run_zzz' WHERE {one}"),
    "inserted": ("inserted", FORGED.replace("{number}", "{at}")),
    "doubled": (
        "inserted",
        """INSERT INTO audit (run_id, seq, body, prev_hash, hash) SELECT run_id, seq, body, prev_hash, hash
        FROM audit WHERE {one}""",
    ),
    "inserted-with-room": (
        "inserted",
        "UPDATE audit SET seq = seq + 1 WHERE run_id = :run AND seq >= {at}",
        "UPDATE audit SET position = -position WHERE run_id = :run AND seq > {at}",
        FORGED.replace("{number}", "{at}").replace("seq = {at}", "seq = {at} + 1"),
        "UPDATE audit SET position = 1000 - position WHERE position < 0",
    ),
    "swapped": (
        "reordered",
        """UPDATE audit SET seq = CASE seq WHEN {at} THEN {at} + 1 ELSE {at} END
        WHERE run_id = :run AND seq IN ({at}, {at} + 1)""",
    ),
    "swapped-in-place": (
        "reordered",
        "UPDATE audit SET position = -position WHERE {one}",
        "UPDATE audit SET position = 5000 WHERE run_id = :run AND seq = {at} + 1",
        "UPDATE audit SET position = 6000 + seq WHERE run_id = :run AND seq NOT BETWEEN 1 AND {at} + 1",
        "UPDATE audit SET position = 5001 WHERE {one}",
    ),
    "truncated": ("truncated", "DELETE FROM audit WHERE run_id = :run AND seq >= {at}"),
    "foreign": (
        "foreign",
        """UPDATE audit SET (body, prev_hash, hash) = (SELECT body, prev_hash, hash FROM audit AS other
        WHERE other.run_id <> :run AND other.seq = {at}) WHERE {one}""",
    ),
}
ONE = "run_id = :run AND seq = {at}"
TWO_ROWS = {"swapped", "swapped-in-place"}
#: A row that says nothing any more at the end of the chain is as good as gone.
AT_THE_END = {"removed": "truncated", "moved": "truncated"}


CASES = [
    (kind, row)
    for kind in TAMPERINGS
    for row in range(1, ROWS + 1)
    if row < ROWS or kind not in TWO_ROWS  # there is no row after the last one
]


@pytest.mark.parametrize(("kind", "row"), CASES)
async def test_the_tampered_row_is_named(audited: Path, kind: str, row: int) -> None:
    """Found, named with run and row, and no other run accused."""
    what, *statements = TAMPERINGS[kind]
    sql(audited, *(statement.replace("{one}", ONE).replace("{at}", str(row)) for statement in statements))
    if row == ROWS:
        what = AT_THE_END.get(kind, what)
    bad = [verdict for verdict in await verdicts(audited) if not verdict.kept and verdict.run_id != "run_zzz"]
    assert [(verdict.run_id, verdict.what, verdict.first_bad_seq) for verdict in bad] == [(RUN, what, row)]
    assert RUN in bad[0].message
    assert f"{row}" in bad[0].message.replace(RUN, "")


async def test_a_removed_run_is_named(audited: Path) -> None:
    """Its audit rows accuse, without it."""
    sql(audited, "DELETE FROM run WHERE run_id = :run")
    found = await verdicts(audited)
    assert len(found) == 4
    assert [(verdict.run_id, verdict.what) for verdict in found if not verdict.kept] == [(RUN, "run-removed")]
    store = SqliteStore.open(audited, read_only=True)
    assert [verify_chain(chain).kept async for chain in store.audit_chains(RUN)] == [False]
    await store.close()


@pytest.mark.parametrize(
    ("column", "value"),
    [("audit_seq", "'many'"), ("audit_seq", "7"), ("audit_head", "x'ff'"), ("audit_head", "''")],
)
async def test_an_edited_run_row_is_named(audited: Path, column: str, value: str) -> None:
    """Count and head of the run are held against its rows, whatever stands there."""
    sql(audited, f"UPDATE run SET {column} = {value} WHERE run_id = :run")
    bad = [verdict for verdict in await verdicts(audited) if not verdict.kept]
    assert [(verdict.run_id, verdict.what) for verdict in bad] == [(RUN, "head-mismatch")]


async def test_rows_under_ids_that_are_no_text_are_missed(audited: Path) -> None:
    """They are nobody's; the run they were taken from says which is gone."""
    sql(audited, "UPDATE audit SET run_id = x'ff' WHERE run_id = :run AND seq = 4")
    bad = [verdict for verdict in await verdicts(audited) if not verdict.kept]
    assert [(verdict.run_id, verdict.what, verdict.first_bad_seq) for verdict in bad] == [(RUN, "removed", 4)]


async def test_a_tampered_audit_is_still_listed(audited: Path) -> None:
    """A row that is no JSON any more is in the list, and fits no filter."""
    sql(audited, "UPDATE audit SET body = 'x', hash = x'ff' WHERE run_id = :run AND seq = 4")
    store = SqliteStore.open(audited, read_only=True)
    assert len(await store.audit(AuditFilter(run_id=RUN))) == ROWS
    assert len(await store.audit(AuditFilter(run_id=RUN, decision="denied"))) == ROWS - 2
    await store.close()


async def test_an_emptied_audit_accuses_every_run(audited: Path) -> None:
    """Each run says how many rows it wrote."""
    sql(audited, "DELETE FROM audit")
    assert [verdict.what for verdict in await verdicts(audited)] == ["truncated"] * 4


@pytest.mark.slow
async def test_a_hundred_clean_chains_are_not_accused(path: Path) -> None:
    """And a tampered one among 450 is found, whichever page of the reader it is on."""
    await filled(path, runs=450)
    assert [verdict.kept for verdict in await verdicts(path)] == [True] * 450
    for number in (0, 199, 200, 449):
        statement = f"UPDATE audit SET body = body || ' ' WHERE run_id = '{run_name(number)}' AND seq = 3"
        sql(path, statement)
    bad = [verdict for verdict in await verdicts(path) if not verdict.kept]
    assert [(verdict.run_id, verdict.first_bad_seq) for verdict in bad] == [
        (run_name(number), 3) for number in (0, 199, 200, 449)
    ]


@pytest.mark.usefixtures("audited")
async def test_erasing_breaks_no_chain(opened: Callable[..., SqliteStore]) -> None:
    """Record data goes, history stays whole."""
    store = opened()
    for number in range(4):
        await store.erase_payloads(run_name(number))
    assert [verify_chain(chain).kept async for chain in store.audit_chains()] == [True] * 4
