"""What a unit costs does not grow with what is stored: no statement of it walks a table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from condor.ports.store import Committed, Transition
from condor.testing.store_units import all_of, at, card, creation, decision, everything, parking, run_name

if TYPE_CHECKING:
    from condor.testing.postgres_cluster import PostgresCluster
    from tests.postgres.conftest import OpenStore

WALKED = """SELECT string_agg(relname || ' ' || seq_scan, ' ' ORDER BY relname) FROM pg_stat_user_tables
    WHERE schemaname = 'condor'
    AND relname IN ('run', 'step', 'suspension', 'event', 'audit', 'payload', 'request')"""


async def test_no_unit_walks_a_table(opened: OpenStore, cluster: PostgresCluster) -> None:
    """On tables that were empty when its plans were made: created, parked, decided, used."""
    await (await opened()).close()  # makes the schema, which walks
    before = cluster.sql(WALKED)
    store = await opened()
    for first in (0, 100):
        numbers = range(first, first + 20)
        told = await all_of(store, [creation(number) for number in numbers])
        told += await all_of(store, [parking(card(number)) for number in numbers])
        told += await all_of(store, [decision(card(number)) for number in numbers])
        used = [
            Transition(run_id=run_name(number), at=at(2), consume=[card(number).suspend_id])
            for number in numbers
        ]
        told += await all_of(store, used)
        told += await all_of(store, [everything(number) for number in numbers])
        assert {type(fate) for fate in told} == {Committed}
    await store.close()  # a back end that ends hands in what it counted
    assert cluster.sql(WALKED) == before
