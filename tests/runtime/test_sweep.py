"""The sweep: expired cards and idle parks end their runs; closing, audit and show have the reason."""

from __future__ import annotations

import asyncio
import logging
import random
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest

from condor.core.errors import AlreadyDecided, StoreUnavailable, SuspensionExpired
from condor.ports.clock import timestamp
from condor.runtime import sweeping
from condor.testing import FailDisk
from tests.pump.desk import BOB, call, open_desk, write_tool

if TYPE_CHECKING:
    from pathlib import Path

    from condor.testing import Ledger
    from tests.pump.desk import Desk

WRITE = call("w", "book.write", record="a", value="x")
#: The idle limit of these tests, in seconds.
IDLE_S = 120.0


def tampered(home: Path, statement: str, *values: object) -> None:
    """What something else does to a database."""
    with closing(sqlite3.connect(home / "condor.db")) as database, database:
        database.execute(statement, values)


async def test_a_sweep_is_bounded_and_the_next_goes_on(
    tmp_path: Path, ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However many cards expire at once, nothing waits for all of them; the longest over come first."""
    monkeypatch.setattr(sweeping, "SWEPT_MAX", 4)
    monkeypatch.setattr(sweeping, "_TOGETHER", 2)
    async with open_desk(tmp_path / "home", write_tool(ledger), ttl_s=60) as desk:
        runs = []
        for _ in range(7):
            runs.append((await desk.run(WRITE, call("v", "book.write", record="b", value="y")))["runId"])
            desk.clock.advance(1)
        desk.clock.advance(60)
        assert [await desk.condor._running().sweep() for _ in range(3)] == [4, 3, 0]
        assert {(await desk.condor.show(run_id))["status"] for run_id in runs} == {"aborted"}
        assert ledger.count() == 0


async def test_damaged_runs_keep_no_other_from_its_end(
    tmp_path: Path, ledger: Ledger, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """What something else wrote over is told once and left to people; all behind it are swept."""
    monkeypatch.setattr(sweeping, "_TOGETHER", 2)
    home = tmp_path / "home"
    async with open_desk(home, write_tool(ledger), ttl_s=60, check=False) as desk:
        ids = []
        for _ in range(8):
            ids.append((await desk.run(WRITE))["runId"])
            desk.clock.advance(0.001)
        for run_id in ids[:5]:
            tampered(home, "UPDATE step SET status = 'torn' WHERE run_id = ?", run_id)
        desk.clock.advance(60)
        with caplog.at_level(logging.ERROR, logger="condor.runtime.sweeping"):
            assert await desk.condor._running().sweep() == 3
            assert await desk.condor._running().sweep() == 0
        assert len(caplog.records) == 5
        rows = [await desk.condor.store.run(run_id) for run_id in ids]
        assert [row.status for row in rows if row] == ["suspended"] * 5 + ["aborted"] * 3


async def test_what_the_disk_refuses_is_swept_later(tmp_path: Path, ledger: Ledger) -> None:
    """A refused unit leaves the card as it was; the next sweep ends its run, once."""
    disk = FailDisk(1, armed=False)
    async with open_desk(tmp_path / "home", write_tool(ledger), ttl_s=60, faults=disk) as desk:
        run = await desk.run(WRITE)
        desk.clock.advance(60)
        disk.arm()
        with pytest.raises(StoreUnavailable):
            await desk.condor._running().sweep()
        assert (await desk.condor.show(run["runId"]))["status"] == "suspended"
        assert (await desk.condor.sweep(), await desk.condor.sweep()) == (
            sweeping.Swept(expired=1),
            sweeping.Swept(),
        )
        assert (await desk.decisions(run["runId"])).count("expired") == 1


async def test_an_idle_park_ends_with_its_reason(tmp_path: Path, ledger: Ledger) -> None:
    """A parked run that no open card holds can never be woken: it ends, and says why."""
    home = tmp_path / "home"
    async with open_desk(
        home, write_tool(ledger), ttl_s=3600, limits={"idle_s": IDLE_S}, check=False
    ) as desk:
        lost, held = [(await desk.run(WRITE))["runId"] for _ in range(2)]
        tampered(home, "UPDATE suspension SET status = 'withdrawn' WHERE run_id = ?", lost)
        desk.clock.advance(IDLE_S - 0.001)
        assert await desk.condor.sweep() == sweeping.Swept()
        desk.clock.advance(0.001)
        assert await desk.condor.sweep() == sweeping.Swept(idle=1)
        end: Any = await desk.condor.show(lost)
        assert end["status"] == "aborted"
        assert end["closing"].splitlines() == [
            "The run ended because it was parked for 120 s without a card to answer.",
            "⚠ Not completed: “book.write” was still waiting for an answer at the end. It was not run.",
        ]
        rows = [(row["decision"], row.get("reasonCode"), row["actor"]) for row in await desk.audit(lost)]
        assert rows[-2:] == [("stopped", "idle", "system"), ("run-ended", "aborted:idle", "system")]
        assert (await desk.events(lost))[-1]["cause"] == "idle"
        # The chain is whole, and the card that was closed behind its back is named.
        verdicts = {verdict.run_id: verdict async for verdict in desk.condor.verify()}
        assert [verdicts[run].what for run in (lost, held)] == ["card-edited", None]
        # Report 37: a live card outlives any idle limit, and can be answered after it.
        assert (await desk.approve(await desk.card(held)))["status"] == "succeeded"


async def test_a_woken_run_is_not_idle(tmp_path: Path, ledger: Ledger) -> None:
    """Between the look and the end somebody may have come; then nothing is ended."""
    home = tmp_path / "home"
    async with open_desk(home, write_tool(ledger), ttl_s=10**6, limits={"idle_s": IDLE_S}) as desk:
        run = await desk.run(WRITE)
        store = desk.condor.store
        desk.clock.advance(IDLE_S)

        async def stale(before: str, *, limit: int = 100) -> list[Any]:
            return [run["runId"], "run_nobody"]

        store.idle = stale  # type: ignore[method-assign]
        assert await desk.condor.sweep() == sweeping.Swept()
        await desk.approve(await desk.card(run["runId"]))
        assert await desk.condor.sweep() == sweeping.Swept()


async def check_expiry_races(desk: Desk, ledger: Ledger, trials: int, seed: int) -> dict[str, int]:
    """Answers, the sweep and the clock at the deadline in any order: one outcome each; how many of which."""
    chance, outcomes = random.Random(seed), {"approved": 0, "denied": 0, "expired": 0}
    for n in range(trials):
        run = await desk.run(call("w", "book.write", record=f"r{n}", value="x"))
        card = await desk.card(run["runId"])
        desk.clock.advance(60 + chance.choice([-0.002, -0.001, 0, 0.001]))

        async def answered(approved: bool, card: Any = card, trial: str = f"{seed}/{n}") -> str | None:
            await _moments(chance)
            late = timestamp(desk.clock.now()) >= card["expiresAt"]
            try:
                await desk.answer(card, {"approved": approved}, BOB)
            except (SuspensionExpired, AlreadyDecided):
                return None
            assert not late, f"trial {trial}: answered at the deadline or after it"
            return "approved" if approved else "denied"

        async def swept() -> None:
            await _moments(chance)
            desk.clock.advance(chance.choice([0, 0, 0.001]))
            await desk.condor._running().sweep()

        work: list[Any] = [answered(True), answered(False), swept(), swept()]
        chance.shuffle(work)
        won = [fate for fate in await asyncio.gather(*work) if fate]
        desk.clock.advance(1)
        await desk.condor._running().sweep()
        end = await desk.rest(run["runId"])
        (outcome,) = won or ["expired"]
        outcomes[outcome] += 1
        right = ("succeeded", 1) if outcome == "approved" else ("aborted", 0)
        assert (end["status"], ledger.count(f"r{n}")) == right, f"trial {n} of seed {seed}"
        said = [d for d in await desk.decisions(run["runId"]) if d in outcomes]
        assert said == [outcome], f"trial {n} of seed {seed}"
        assert [one["status"] for one in end["suspensions"]] == [outcome]
    return outcomes


async def _moments(chance: random.Random) -> None:
    for _ in range(chance.randrange(4)):
        await asyncio.sleep(0)


async def test_expiry_and_answers_race(tmp_path: Path, ledger: Ledger) -> None:
    """A29: sixty trials around the deadline; of answers and sweeps one wins, in every record of it."""
    async with open_desk(tmp_path / "home", write_tool(ledger), ttl_s=60) as desk:
        outcomes = await check_expiry_races(desk, ledger, 60, seed=3)
    assert min(outcomes.values()) > 0, outcomes


@pytest.mark.slow
@pytest.mark.load
async def test_a_thousand_expiry_races(tmp_path: Path, ledger: Ledger) -> None:
    """The figure of the issue."""
    async with open_desk(tmp_path / "home", write_tool(ledger), ttl_s=60) as desk:
        outcomes = await check_expiry_races(desk, ledger, 1_000, seed=29)
    print(f"1,000 races at the deadline: {outcomes}")  # noqa: T201 - the figure
