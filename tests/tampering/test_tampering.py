"""Seven kinds of tampering on both stores: all are found and named, and no clean log is accused.

``make tampering`` does fifty of each kind, and a hundred clean logs; ``make test`` a seeded slice of it.
"""

from __future__ import annotations

import os
import random
from typing import TYPE_CHECKING

import pytest

from condor.core.audit import chain_hash
from condor.ports.faults import no_faults
from condor.runtime.sealing import seal_heads
from condor.store.opening import open_store
from condor.testing.store_units import at, creation
from tests.tampering import forgeries
from tests.tampering.logs import Log, desk_on, grow, read_state, state_checkpoint, write_state, written

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from condor.testing.postgres_cluster import PostgresCluster
    from tests.tampering.logs import State

#: How many of each kind on each store, and how many clean logs on each.
CASES = int(os.environ.get("CONDOR_TAMPERINGS", "3"))
CLEAN_LOGS = int(os.environ.get("CONDOR_CLEAN_LOGS", "1"))
SEED = int(os.environ.get("CONDOR_TAMPERING_SEED", "1"))

STORES = ("sqlite", "postgres")
_LOGS: dict[str, Log] = {}


def _place(store: str, folder: Path, request: pytest.FixtureRequest) -> Log:
    if store == "sqlite":
        folder.mkdir(parents=True)
        return Log(home=folder / "home", url=f"sqlite:///{folder / 'condor.db'}")
    cluster: PostgresCluster = request.getfixturevalue("cluster")
    return Log(home=folder / "home", url=cluster.emptied())


@pytest.fixture(params=STORES)
async def log(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Log:
    """One log a store, written once; every case begins by writing the state that it wants."""
    if request.param not in _LOGS:
        made = _place(request.param, tmp_path_factory.mktemp("tampering") / "log", request)
        await written(made, random.Random(SEED))
        _LOGS[request.param] = made
    return _LOGS[request.param]


async def test_the_log_as_it_was_is_clean(log: Log) -> None:
    """Else finding something would say nothing."""
    await write_state(log.url, log.state)
    assert await log.verdicts() == []
    assert await log.verdicts(log.against()) == []
    assert await log.verdicts(log.against(brief=True)) == []
    assert len(log.state["seal"]) >= 4


@pytest.mark.parametrize("case", range(CASES))
@pytest.mark.parametrize("kind", forgeries.ROW_KINDS)
async def test_a_changed_row_is_found(log: Log, kind: str, case: int) -> None:
    """Without any checkpoint; the run is named and no other accused."""
    state = log.state
    forged = forgeries.ROW_KINDS[kind](state, random.Random(f"{SEED} {kind} {case}"))
    await write_state(log.url, state)
    (found,) = await log.verdicts()
    assert (found.run_id, found.what in forged.words) == (forged.run_id, True), found
    assert str(forged.run_id) in found.message
    assert [(other.run_id, other.what) for other in await log.verdicts(log.against())] == [
        (found.run_id, found.what)
    ]


@pytest.mark.parametrize("case", range(CASES))
@pytest.mark.parametrize("kind", forgeries.WHOLE_KINDS)
async def test_a_log_that_was_made_anew_is_found_by_the_checkpoint(log: Log, kind: str, case: int) -> None:
    """By it alone, as nothing in the database is at odds; the run is named and no other accused."""
    state = log.state
    forged = forgeries.WHOLE_KINDS[kind](state, random.Random(f"{SEED} {kind} {case}"))
    await write_state(log.url, state)
    assert await log.verdicts() == []
    seals, run = await log.verdicts(log.against())
    assert (seals.run_id, seals.what) == ("", "rewritten")
    assert (run.run_id, run.what in forged.words) == (forged.run_id, True), run
    assert str(forged.run_id) in run.message
    (found,) = await log.verdicts(log.against(brief=True))
    assert (found.run_id, found.what) == ("", "rewritten")


@pytest.mark.parametrize("case", range(CASES))
@pytest.mark.parametrize("kind", forgeries.WHOLE_KINDS)
async def test_a_forger_who_leaves_the_seals_is_found_by_them(log: Log, kind: str, case: int) -> None:
    """Without any checkpoint: what was sealed is held against every run."""
    state = log.state
    seals, notes = state["seal"], state["sealed"]
    pristine = [dict(row) for row in seals], [dict(row) for row in notes]
    forged = forgeries.WHOLE_KINDS[kind](state, random.Random(f"{SEED} seals {kind} {case}"))
    state["seal"], state["sealed"] = pristine
    await write_state(log.url, state)
    (found,) = await log.verdicts()
    assert (found.run_id, found.what in forged.words) == (forged.run_id, True), found


@pytest.mark.parametrize("case", range(CASES))
async def test_a_rolled_back_database_is_found_by_the_checkpoint(log: Log, case: int) -> None:
    """By it alone, whether or not runs came and were sealed after it."""
    rng = random.Random(f"{SEED} rolled back {case}")
    stage = rng.randrange(len(log.stages) - 1)
    await write_state(log.url, log.stages[stage])
    goes_on = case % 2 == 1
    if goes_on:
        store = await open_store(log.url, log.home, faults=no_faults, read_only=False, heard=lambda _: None)
        try:
            for number in range(rng.randint(1, 6)):
                await store.commit(creation(number))
                await seal_heads(store, lambda: at(5))
        finally:
            await store.close()
    assert await log.verdicts() == []
    first, *lost = await log.verdicts(log.against())
    assert first.run_id == ""
    assert first.what == ("rewritten" if goes_on else "rolled-back")
    before = {run["run_id"] for run in log.stages[stage]["run"]}
    known = set(forgeries.sealed_runs(log.stages[-1]))
    assert known - before <= {one.run_id for one in lost} <= known
    assert {one.what for one in lost} <= {"run-removed", "rolled-back", "rewritten"}
    # The line alone knows the last seal only: new ones that do not reach it are too few.
    (brief,) = await log.verdicts(log.against(brief=True))
    assert brief.what == "rolled-back" or (brief.what == "rewritten") is goes_on


# -- beside the chain ------------------------------------------------------------------------


def _payload(state: State, rng: random.Random) -> tuple[str, str]:
    row = rng.choice([row for row in state["payload"] if row["key"].startswith(("card:", "answer:"))])
    row["value"] = row["value"][:-1] + ',"x":1}'
    return row["run_id"], "payload-edited"


def _status(state: State, rng: random.Random) -> tuple[str, str]:
    row = rng.choice(state["run"])
    ended = ("succeeded", "aborted", "failed", "degraded")
    row["status"] = rng.choice([status for status in ended if status != row["status"]])
    return row["run_id"], "status-edited"


def _reopened(state: State, rng: random.Random) -> tuple[str, str]:
    row = rng.choice([row for row in state["run"] if row["status"] in ("succeeded", "aborted")])
    row["status"] = "executing"
    return row["run_id"], "status-edited"


def _approved(state: State, rng: random.Random) -> tuple[str, str]:
    row = rng.choice([row for row in state["suspension"] if row["status"] != "approved"])
    row["status"], row["decided_by"] = "approved", "bob"
    return row["run_id"], "card-edited"


def _by_another(state: State, rng: random.Random) -> tuple[str, str]:
    row = rng.choice([row for row in state["suspension"] if row["decided_by"]])
    row["decided_by"] = "someone"
    return row["run_id"], "card-edited"


def _card_gone(state: State, rng: random.Random) -> tuple[str, str]:
    row = rng.choice(state["suspension"])
    state["suspension"].remove(row)
    return row["run_id"], "card-edited"


def _card_made(state: State, rng: random.Random) -> tuple[str, str]:
    row = rng.choice(state["suspension"])
    state["suspension"].append({**row, "suspend_id": "sus_x", "opened": row["opened"] + 10_000})
    return row["run_id"], "card-edited"


def _noted(state: State, rng: random.Random) -> tuple[str, str]:
    """So that it is never sealed again."""
    row = rng.choice(state["sealed"])
    row["audit_seq"] += 1_000
    return "", "seal-broken"


BESIDE: tuple[Callable[[State, random.Random], tuple[str, str]], ...] = (
    _payload,
    _status,
    _reopened,
    _approved,
    _by_another,
    _card_gone,
    _card_made,
    _noted,
)


@pytest.mark.parametrize("case", range(CASES))
@pytest.mark.parametrize("forge", BESIDE)
async def test_what_stands_beside_the_chain_is_held_against_it(
    log: Log, forge: Callable[[State, random.Random], tuple[str, str]], case: int
) -> None:
    """A card or answer that was edited, a status, who decided: the run is named."""
    state = log.state
    named = forge(state, random.Random(f"{SEED} {forge.__name__} {case}"))
    await write_state(log.url, state)
    assert [(found.run_id, found.what) for found in await log.verdicts()] == [named]


@pytest.mark.parametrize("case", range(CASES))
@pytest.mark.parametrize("how", ["edited", "unlinked", "removed", "cut"])
async def test_a_changed_seal_is_found(log: Log, how: str, case: int) -> None:
    """The tenant's chain is held like a run's; what is cut off its end is noted as sealed."""
    rng = random.Random(f"{SEED} seal {how} {case}")
    state = log.state
    seal = rng.choice(state["seal"][:-1])
    if how == "edited":
        seal["body"] = seal["body"].replace('"at":"2', '"at":"1')
    elif how == "unlinked":
        seal["prev_hash"] = "f" * 64
        seal["hash"] = chain_hash(seal["prev_hash"], seal["seq"], seal["body"].encode())
    elif how == "removed":
        state["seal"].remove(seal)
    else:
        state["seal"] = state["seal"][: state["seal"].index(seal) + 1]
    await write_state(log.url, state)
    found = await log.verdicts()
    assert {one.what for one in found} == {"seal-broken"}
    if how == "cut":
        assert "rolled-back" in {one.what for one in await log.verdicts(log.against())}
    else:
        assert len(found) == 1
        assert f"seal {seal['seq']} " in found[0].message


async def test_a_checkpoint_is_the_seals(log: Log) -> None:
    """Its lines, chained by hand, give the hashes that the database holds."""
    await write_state(log.url, log.state)
    kept = [seal["hash"] for seal in (await read_state(log.url))["seal"]]
    assert list(log.against().sealed.hashes.values()) == kept
    assert log.against(brief=True).expected() == {len(kept): kept[-1]}


@pytest.mark.parametrize("store", STORES)
@pytest.mark.parametrize("number", range(CLEAN_LOGS))
async def test_a_clean_log_is_not_accused(
    store: str, number: int, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """Whatever came in it: erased payloads, later rows, a checkpoint of its middle."""
    _LOGS.pop("postgres", None)
    rng = random.Random(f"{SEED} clean {store} {number}")
    log = _place(store, tmp_path / "log", request)
    await written(log, rng, parts=2, runs=rng.randint(1, 4))
    old = log.against()
    async with desk_on(log, rng) as desk:
        for run in (await desk.condor.runs())[: rng.randint(0, 3)]:
            await desk.condor.store.erase_payloads(str(run["runId"]))
        await desk.condor.seal()
        await grow(desk, rng, rng.randint(0, 2))
    assert await log.verdicts() == []
    assert await log.verdicts(old) == []
    await state_checkpoint(log)
    assert await log.verdicts(log.against()) == []
