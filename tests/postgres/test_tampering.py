"""Somebody with a database shell changes the audit: each kind is found, the row named, nobody else blamed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from condor.core.audit import verify_chain
from condor.ports.store import AuditFilter, Transition
from condor.testing.store_units import all_of, at, creation, entry, run_name

if TYPE_CHECKING:
    from condor.testing.postgres_cluster import PostgresCluster
    from tests.postgres.conftest import OpenStore

RUN, ROWS = run_name(2), 6
ONE = f"run_id = '{RUN}' AND seq = {{at}}"

#: What is found, and the statements; ``{at}`` is the row.
TAMPERINGS = {
    "edited-body": ("edited", f"UPDATE audit SET body = replace(body, '2026', '2025') WHERE {ONE}"),
    "edited-hash": ("edited", f"UPDATE audit SET hash = upper(hash) WHERE {ONE}"),
    "removed": ("removed", f"DELETE FROM audit WHERE {ONE}"),
    "moved": ("removed", f"UPDATE audit SET run_id = 'run_zzz' WHERE {ONE}"),
    "doubled": (
        "inserted",
        f"""INSERT INTO audit (run_id, seq, body, prev_hash, hash)
        SELECT run_id, seq, body, prev_hash, hash FROM audit WHERE {ONE}""",
    ),
    "swapped": (
        "reordered",
        f"""UPDATE audit SET seq = CASE seq WHEN {{at}} THEN {{at}} + 1 ELSE {{at}} END
        WHERE run_id = '{RUN}' AND seq IN ({{at}}, {{at}} + 1)""",
    ),
    "truncated": ("truncated", f"DELETE FROM audit WHERE run_id = '{RUN}' AND seq >= {{at}}"),
    "foreign": (
        "foreign",
        f"""UPDATE audit SET (body, prev_hash, hash) = (SELECT body, prev_hash, hash FROM audit AS other
        WHERE other.run_id = '{run_name(1)}' AND other.seq = {{at}}) WHERE {ONE}""",
    ),
}


@pytest.mark.parametrize("row", [1, 3])
@pytest.mark.parametrize("kind", TAMPERINGS)
async def test_the_tampered_row_is_named(
    opened: OpenStore, cluster: PostgresCluster, kind: str, row: int
) -> None:
    """Found, named with run and row, and no other run accused; the rest is still listed."""
    store = await opened()
    await all_of(store, [creation(number) for number in range(4)])
    for step in range(1, ROWS):
        units = [
            Transition(
                run_id=run_name(number),
                at=at(step),
                audit=[entry(run_name(number), "denied", step_id=f"s{step}", actor="dr-lindholm")],
            )
            for number in range(4)
        ]
        await all_of(store, units)
    assert [verify_chain(chain).kept async for chain in store.audit_chains()] == [True] * 4
    what, statement = TAMPERINGS[kind]
    cluster.sql("SET search_path = condor", statement.replace("{at}", str(row)))
    verdicts = [verify_chain(chain) async for chain in store.audit_chains()]
    bad = [verdict for verdict in verdicts if not verdict.kept and verdict.run_id != "run_zzz"]
    assert [(verdict.run_id, verdict.what, verdict.first_bad_seq) for verdict in bad] == [(RUN, what, row)]
    assert [verify_chain(chain).kept async for chain in store.audit_chains(RUN)] == [False]
    assert len(await store.audit(AuditFilter(run_id=run_name(1), decision="denied"))) == ROWS - 1


async def test_a_removed_run_is_named(opened: OpenStore, cluster: PostgresCluster) -> None:
    """Its audit rows accuse, without it."""
    store = await opened()
    await all_of(store, [creation(number) for number in range(4)])
    cluster.sql(f"DELETE FROM condor.run WHERE run_id = '{RUN}'")
    verdicts = [verify_chain(chain) async for chain in store.audit_chains()]
    assert [(verdict.run_id, verdict.what) for verdict in verdicts if not verdict.kept] == [
        (RUN, "run-removed")
    ]
