"""An answer is taken on the run as its segment left it, and only where nobody has touched it since.

That what was left is what is stored is held in every test that answers (``tests/conftest.py``).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from condor.core.errors import AlreadyDecided, AnswerRefused, NotAnApprover
from condor.core.ids import RunId, SessionId, TenantId
from condor.core.run import EventKind, RunStatus
from condor.ports.store import Transition
from condor.pump.left_runs import LeftRuns
from condor.pump.phases import suspend_resume
from condor.pump.state import RunState
from tests.pump.desk import ANN, AUDITOR, BOB, CAT, ask, call, open_desk, write_tool

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from condor.testing import Ledger
    from tests.pump.desk import Desk

WRITE = call("w", "book.write", record="a", value="x")


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Ids of the cards whose runs an answer had to read."""
    asked: list[str] = []
    find_card = suspend_resume.find_card

    async def noted(resume: Any, ports: Any) -> Any:
        asked.append(resume.suspend_id)
        return await find_card(resume, ports)

    monkeypatch.setattr(suspend_resume, "find_card", noted)
    return asked


async def _touched(desk: Desk, run_id: str) -> None:
    """Another process stores something that moves nothing."""
    note = [(EventKind.TEXT_DELTA, b"{}")]
    unit = Transition(run_id=RunId(run_id), at="2026-01-01T00:00:00.000Z", events=note)
    await desk.condor._stored().commit(unit)


async def test_what_was_parked_here_is_not_read_again(
    tmp_path: Path, ledger: Ledger, reads: list[str]
) -> None:
    """Two gates, one after the other, and a denial: each is answered from memory."""
    async with open_desk(tmp_path / "home", write_tool(ledger)) as desk:
        run = await desk.run(ask("a", "go on?"), {**WRITE, "after": ["a"]})
        await desk.approve(await desk.card(run["runId"]))
        ended = await desk.approve(await desk.card(run["runId"]))
        assert (ended["status"], ledger.count()) == ("succeeded", 1)
        denied = await desk.run(WRITE)
        assert (await desk.deny(await desk.card(denied["runId"])))["status"] == "aborted"
        assert (reads, ledger.count()) == ([], 1)


@pytest.mark.parametrize("approved", [True, False])
async def test_a_run_that_somebody_touched_is_read(
    tmp_path: Path, ledger: Ledger, reads: list[str], *, approved: bool
) -> None:
    """The unit is refused whole, and the answer is taken once, on the run as it is."""
    async with open_desk(tmp_path / "home", write_tool(ledger)) as desk:
        run = await desk.run(WRITE)
        card = await desk.card(run["runId"])
        await _touched(desk, run["runId"])
        answer = desk.approve if approved else desk.deny
        ended = await answer(card)
        assert ended["status"] == ("succeeded" if approved else "aborted")
        assert (reads, ledger.count()) == ([card["suspendId"]], int(approved))
        decided = [word for word in await desk.decisions(run["runId"]) if word in ("approved", "denied")]
        assert decided == ["approved" if approved else "denied"]


async def test_a_restart_remembers_nothing(tmp_path: Path, ledger: Ledger, reads: list[str]) -> None:
    """Who did not park it reads it."""
    async with open_desk(tmp_path / "home", write_tool(ledger)) as desk:
        card = await desk.card((await desk.run(WRITE))["runId"])
    async with open_desk(tmp_path / "home", write_tool(ledger), seed=1) as desk:
        assert (await desk.approve(card))["status"] == "succeeded"
        assert reads == [card["suspendId"]]


@pytest.mark.parametrize(
    ("refused", "data", "who"),
    [
        (AnswerRefused, {"approved": "perhaps"}, BOB),
        (NotAnApprover, {"approved": True}, AUDITOR),
    ],
)
async def test_who_is_refused_is_told_by_who_has_read_the_run(
    tmp_path: Path, ledger: Ledger, reads: list[str], refused: type[AnswerRefused], data: Any, who: Any
) -> None:
    """Nothing is said, and nothing audited, on the ground of memory; the right answer is then taken."""
    async with open_desk(tmp_path / "home", write_tool(ledger)) as desk:
        run = await desk.run(WRITE)
        card = await desk.card(run["runId"])
        with pytest.raises(refused):
            await desk.answer(card, data, who)
        assert reads == [card["suspendId"]]
        assert (await desk.approve(card))["status"] == "succeeded"
        with pytest.raises(AlreadyDecided) as late:
            await desk.answer(card, {"approved": False, "reason": "no"}, CAT)
        assert late.value.decided_by == BOB.name
        assert ledger.count() == 1


def _parked(number: int, size: int = 10) -> RunState:
    return RunState(
        run_id=RunId(f"run_{number}"),
        tenant_id=TenantId("default"),
        session_id=SessionId("s"),
        status=RunStatus.SUSPENDED,
        epoch=1,
        answers=0,
        requester=ANN,
        requester_stored=b"{}",
        autonomy="supervised",
        created_at="",
        payloads={"request": b"x" * size},
    )


def _kept(left: LeftRuns, numbers: range) -> list[int]:
    """Which of them are known; they are known no longer."""
    return [number for number in numbers if left.forget(f"run_{number}") is not None]


@pytest.mark.parametrize(
    ("limits", "size", "kept"),
    [
        (LeftRuns(runs_max=3, bytes_max=1_000), lambda number: 10, [3, 4, 5]),
        (LeftRuns(runs_max=99, bytes_max=25), lambda number: 10, [4, 5]),
        (LeftRuns(runs_max=99, bytes_max=25), lambda number: 26 if number == 4 else 10, [5]),
    ],
    ids=["by number", "by size", "one that is too large"],
)
def test_memory_is_bounded(limits: LeftRuns, size: Callable[[int], int], kept: list[int]) -> None:
    """The longest parked is forgotten first; what was taken or kept twice does not count twice."""
    for number in range(6):
        limits.keep(_parked(number, size(number)))
        limits.keep(_parked(number, size(number)))
    assert _kept(limits, range(6)) == kept
    limits.keep(_parked(7, 25))
    assert _kept(limits, range(8)) == [7]
    assert limits.forget(None) is None
    assert limits.take("run_7") is None
