"""Runs with three gates each, answered by eight operators while the server is killed and started again.

Nothing is lost and nothing is doubled, judged by the outside ledger, by what clients were told, and by the
audit chain. `make restarts` is the figure of it: 1,000 runs and 20 kills.
"""

from __future__ import annotations

import os
import time
from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest

from condor import Condor
from condor.config import Settings
from condor.core.run import TERMINAL, RunStatus
from condor.testing import Ledger, SeededClock
from tests.pump.desk import Desk, check_everything
from tests.simulation.restart_server import OPERATORS, pack_of
from tests.simulation.restarts import Told, Trial, figures, record_of

if TYPE_CHECKING:
    from pathlib import Path

#: One seed a day finds what another does not: `make restarts SEED=7`.
SEED = int(os.environ.get("CONDOR_RESTART_SEED", "1"))


async def check_trial(folder: Path, *, runs: int, kills: int, seed: int = SEED) -> str:
    """Play a trial and judge it; its figures."""
    begun = time.monotonic()
    told = await Trial(folder, runs=runs, kills=kills, seed=seed).play()
    took_s = time.monotonic() - begun
    assert (told.kills, len(told.runs)) == (kills, runs)
    home, ledger = folder / "home", Ledger(folder / "ledger.db")
    async with Condor(packs=[pack_of(home)], home=home, settings=Settings(home=home), tend=False) as condor:
        desk = Desk(condor, SeededClock())
        # What the last kill interrupted goes on at this start.
        for run_id in told.runs.values():
            await desk.rest(run_id)
        rows = await condor.store.runs(limit=10 * runs)
        assert sorted(row.run_id for row in rows) == sorted(told.runs.values()), "a run was lost or doubled"
        await check_everything(desk)
        before = await _judge(desk, told, ledger)
        asked = await _reconcile(desk, told, ledger)
        await check_everything(desk)
        after = await _judge(desk, told, ledger)
        assert set(after) <= {str(status) for status in TERMINAL}, after
    return figures(
        told,
        took_s,
        lambda: f"{dict(before)}, then {asked} reconciled: {dict(after)}, {ledger.count()} writes",
    )


async def _judge(desk: Desk, told: Told, ledger: Ledger) -> Counter[str]:
    """Every run is terminal, or parked for a person to reconcile what nobody else can know."""
    written, statuses = Counter(entry.record for entry in ledger.entries()), Counter[str]()
    cards: dict[str, Any] = {}
    for number, run_id in told.runs.items():
        run: Any = await desk.condor.show(run_id)
        statuses[str(run["status"])] += 1
        cards |= {card["suspendId"]: card for card in run["suspensions"]}
        waits = {card["stepId"] for card in run["suspensions"] if card["status"] == "pending"}
        steps = {step["id"]: step for step in run["steps"]}
        if run["status"] == RunStatus.SUSPENDED:
            assert waits, run_id
            await _check_reasons(desk, run, waits)
        for step_id, step in steps.items():
            _check_step(run, step, written[record_of(number, step_id)])
    _check_told(told, cards)
    return statuses


async def _check_reasons(desk: Desk, run: Any, waits: set[str]) -> None:
    """A run that is still parked waits for a reconciliation alone, and that for a true reason."""
    rows = await desk.audit(run["runId"])
    for card in run["suspensions"]:
        if card["status"] != "pending":
            continue
        step = next(step for step in run["steps"] if step["id"] == card["stepId"])
        assert (card["reasonCode"], step["status"], step["tool"]) == (
            "reconcile",
            "unknown",
            "plain.write",
        ), card
        said = [row["decision"] for row in rows if row.get("stepId") == card["stepId"]]
        assert said.count("unknown") == 1, said
        assert "executed" not in said, said
        assert "approved" in said, said


def _check_step(run: Any, step: Any, writes: int) -> None:
    """The outside record has the effect of a step that succeeded, once; of one that did not begin, none."""
    mine = [card for card in run["suspensions"] if card["stepId"] == step["id"]]
    approvals = [card for card in mine if card["reasonCode"] == "approval"]
    where = (run["runId"], step, [(card["reasonCode"], card["status"]) for card in mine])
    match step["status"]:
        case "succeeded":
            assert writes == 1, where
            assert [card["status"] for card in approvals].count("approved") >= 1, where
        case "unknown":
            assert writes <= 1, where
        case _:
            assert writes == 0, where
    reasked = [card for card in mine if card["reasonCode"] == "reconcile" and card["status"] == "answered"]
    assert len(approvals) <= 1 + len(reasked), where


def _check_told(told: Told, cards: dict[str, Any]) -> None:
    """Every answer that was acknowledged is the answer of its card, and no card has two."""
    assert len({suspend_id for suspend_id, _, _ in told.won}) == len(told.won), "a card was won twice"
    for suspend_id, who, approved in told.won:
        card = cards[suspend_id]
        found = (card["status"], card["decidedBy"], card["reason"])
        assert found == ("approved" if approved else "denied", who, f"{who} says so"), card


async def _reconcile(desk: Desk, told: Told, ledger: Ledger) -> int:
    """A person says what the record has, and approves what it has not; how often they were asked."""
    asked = 0
    for number, run_id in told.runs.items():
        while cards := await desk.cards(run_id):
            card, data = cards[0], {"approved": True}
            if card["reasonCode"] == "reconcile":
                asked += 1
                happened = ledger.count(record_of(number, card["stepId"])) > 0
                data = {"happened": happened, "reason": "looked at the ledger"}  # type: ignore[dict-item]
            await desk.answer(card, data, OPERATORS[0])
            await desk.rest(run_id)
    return asked


@pytest.mark.slow
async def test_a_server_that_dies_loses_and_doubles_nothing(tmp_path: Path) -> None:
    """A slice: forty runs, two kills."""
    await check_trial(tmp_path, runs=40, kills=2)


@pytest.mark.slow
@pytest.mark.load
async def test_a_thousand_runs_and_twenty_kills(tmp_path: Path) -> None:
    """The figure of the issue."""
    print(await check_trial(tmp_path, runs=1_000, kills=20))  # noqa: T201 - the figure
