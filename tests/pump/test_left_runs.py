"""An answer is taken on the run as its segment left it, and only where nobody has touched it since.

That what was left is what is stored is held in every test that answers (``tests/conftest.py``).
"""

from __future__ import annotations

import asyncio
import enum
from typing import TYPE_CHECKING, Any

import pytest

from condor import HitlTier, PolicyClass, Principal, ToolContext, ToolError, tool
from condor.core.errors import AlreadyDecided, AnswerRefused, NotAnApprover, RunNotSuspendedError
from condor.core.ids import RunId, SessionId, TenantId
from condor.core.run import EventKind, RunStatus
from condor.ports.store import Transition
from condor.pump.left_runs import LeftRuns
from condor.pump.phases import suspend_resume
from condor.pump.state import RunAsLeft, RunState
from tests.pump.desk import ANN, AUDITOR, BOB, CAT, ask, call, open_desk, write_tool

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
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


class Dose(enum.StrEnum):
    """A caller's own words for what the tool takes."""

    LOW = "low"

    def __str__(self) -> str:
        return "Dose.LOW"


class Number(enum.IntEnum):
    """The same, of numbers."""

    THREE = 3


async def test_what_a_caller_made_does_not_live_on(tmp_path: Path, reads: list[str]) -> None:
    """Neither its enumerations nor its roles: what was stored and shown runs."""
    written, roles = [], {"clerk"}

    @tool("dose.put", policy_class=PolicyClass.MUTATE, hitl_tier=HitlTier.HIGH)
    async def put(ctx: ToolContext, dose: str, count: int) -> dict[str, Any]:
        written.append((f"{dose} {count!r}", sorted(ctx.principal.roles)))
        return {"ok": True}

    asker = Principal(id="ann", roles=roles)  # type: ignore[arg-type]
    async with open_desk(tmp_path / "home", put) as desk:
        step = call("w", "dose.put", dose=Dose.LOW, count=Number.THREE)
        run_id = await desk.start(step, principal=asker)
        await desk.rest(run_id)
        roles.add("doctor")
        assert (await desk.approve(await desk.card(run_id)))["status"] == "succeeded"
        assert (written, reads) == ([("low 3", ["clerk"])], [])


async def test_what_a_hook_or_a_plan_made_never_enters_a_tool(tmp_path: Path) -> None:
    """A call that nobody is asked about, and a stand-in whose arguments its author derives."""
    entered: list[str] = []

    @tool("dose.look", policy_class=PolicyClass.READ)
    async def look(ctx: ToolContext, dose: str) -> dict[str, Any]:
        entered.append(f"look {dose}")
        return {}

    @tool("one.read", policy_class=PolicyClass.READ, alias_group="read")
    async def one(ctx: ToolContext, dose: str) -> dict[str, Any]:
        raise ToolError("down", effect="none")

    def derived(_name: str, args: Mapping[str, Any]) -> dict[str, Any]:
        return {"dose": Dose(args["dose"])}

    @tool("two.read", policy_class=PolicyClass.READ, alias_group="read", alias_args=derived)
    async def two(ctx: ToolContext, dose: str) -> dict[str, Any]:
        entered.append(f"stand-in {dose}")
        return {}

    async with open_desk(tmp_path / "home", look, one, two) as desk:
        steps = call("l", "dose.look", dose=Dose.LOW), call("w", "one.read", dose="low", after=["l"])
        run = await desk.run(*steps, autonomy="autonomous")
        assert (run["status"], entered) == ("succeeded", ["look low", "stand-in low"])


async def test_what_was_erased_while_the_run_was_at_work_is_not_acted_on(
    tmp_path: Path, ledger: Ledger, reads: list[str]
) -> None:
    """Somebody stored something meanwhile, so only the store can say how the run was left."""
    entered, gate = asyncio.Event(), asyncio.Event()

    @tool("book.slow", policy_class=PolicyClass.READ)
    async def slow(ctx: ToolContext) -> dict[str, Any]:
        entered.set()
        await gate.wait()
        return {}

    async with open_desk(tmp_path / "home", write_tool(ledger), slow, check=False) as desk:
        run_id = await desk.start(call("r", "book.slow"), {**WRITE, "after": ["r"]})
        await entered.wait()
        assert await desk.condor._stored().erase_payloads(run_id) > 0
        gate.set()
        await desk.rest(run_id)
        [card] = await desk.condor._stored().suspensions()
        with pytest.raises(RunNotSuspendedError):
            await desk.condor.resume(run_id, card.suspend_id, {"approved": True}, principal=BOB)
        assert (reads, ledger.count()) == ([card.suspend_id], 0)


async def test_a_run_that_has_ended_is_forgotten(tmp_path: Path, ledger: Ledger) -> None:
    """However it came to its end, and by whatever way its answer came."""
    async with open_desk(tmp_path / "home", write_tool(ledger)) as desk:
        left = desk.condor._running()._ports.left
        runs = [(await desk.run(WRITE))["runId"] for _ in range(3)]
        assert list(left._runs) == runs
        await desk.condor.stop(runs[0])
        await desk.deny(await desk.card(runs[1]))
        card = await desk.card(runs[2])
        await desk.condor.resume(None, card["suspendId"], {"approved": True}, principal=BOB)
        await desk.rest(runs[2])
        assert (list(left._runs), left._bytes) == ([], 0)


def _parked(number: int, size: int = 10) -> RunAsLeft:
    state = RunState(
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
    return state.as_left()


def _kept(left: LeftRuns, numbers: range) -> list[int]:
    """Which of them are known; they are known no longer."""
    return [number for number in numbers if left.forget(f"run_{number}") is not None]


@pytest.mark.parametrize(
    ("limits", "size", "kept"),
    [
        (LeftRuns(runs_max=3, bytes_max=1_000), lambda number: 10, [3, 4, 5]),
        (LeftRuns(runs_max=99, bytes_max=25), lambda number: 10, [4, 5]),
        (LeftRuns(runs_max=99, bytes_max=25), lambda number: 26 if number == 4 else 10, [3, 5]),
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
