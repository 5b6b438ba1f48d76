"""A hundred thousand audit rows on each store are sealed and verified, with a checkpoint, in under 10 s."""

from __future__ import annotations

import dataclasses
import time
from typing import TYPE_CHECKING

import pytest

from condor import Condor
from condor.core.audit import read_checkpoint
from condor.ports.faults import no_faults
from condor.runtime.sealing import seal_heads
from condor.runtime.signing import holds
from condor.store.opening import open_store
from condor.testing.store_units import all_of, at, creation, entry, run_name
from tests.tampering.logs import Log, state_checkpoint

if TYPE_CHECKING:
    from pathlib import Path

RUNS, ROWS = 10_000, 10
SECONDS_MAX = 10.0


async def _filled(log: Log) -> None:
    log.home.mkdir(mode=0o700)
    store = await open_store(log.url, log.home, faults=no_faults, read_only=False, heard=lambda _: None)
    try:
        for begin in range(0, RUNS, 500):
            units = [
                dataclasses.replace(
                    creation(number),
                    audit=[entry(run_name(number), "allowed", step_id=f"s{row}") for row in range(ROWS)],
                )
                for number in range(begin, begin + 500)
            ]
            await all_of(store, units)
        began = time.perf_counter()
        assert await seal_heads(store, lambda: at(1)) == RUNS
        print(f"\nsealed {RUNS} heads in {time.perf_counter() - began:.2f} s")  # noqa: T201 - a figure
        began = time.perf_counter()
        assert await seal_heads(store, lambda: at(1)) == 0
        print(f"looked for more in {time.perf_counter() - began:.3f} s")  # noqa: T201 - a figure
    finally:
        await store.close()


@pytest.mark.load
@pytest.mark.parametrize("store", ["sqlite", "postgres"])
async def test_a_hundred_thousand_rows(store: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    """One process, one pass."""
    url = f"sqlite:///{tmp_path / 'condor.db'}"
    if store == "postgres":
        url = request.getfixturevalue("cluster").emptied()
    log = Log(home=tmp_path / "home", url=url)
    await _filled(log)
    await state_checkpoint(log)
    for lines in (None, log.checkpoint):
        began = time.perf_counter()
        async with Condor(home=log.home, database_url=log.url, read_only=True) as condor:
            against = read_checkpoint(lines, holds) if lines is not None else None
            verdicts = [verdict async for verdict in condor.verify(against=against)]
        spent = time.perf_counter() - began
        beside = "with" if lines is not None else "without"
        print(f"{store}: {RUNS * ROWS} rows verified in {spent:.2f} s {beside} a checkpoint")  # noqa: T201 - a figure
        assert (len(verdicts), all(verdict.kept for verdict in verdicts)) == (RUNS, True)
        assert spent < SECONDS_MAX
