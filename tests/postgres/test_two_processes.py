"""Two processes on one database: each sees what the other does, and neither takes the other's runs."""

from __future__ import annotations

import asyncio
from collections import Counter
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from condor import Condor, PolicyClass, ToolContext, tool
from condor.config import Settings
from condor.core.errors import AlreadyDecided
from condor.testing import Ledger
from tests.pump.desk import ANN, BOB, call, read_tool, write_tool

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    import pytest

    from condor import ToolDescriptor

#: Longest that anything here takes, in seconds; only a bug waits for it.
PATIENCE_S = 30.0


@asynccontextmanager
async def process(
    url: str, folder: Path, *tools: ToolDescriptor, ledger: Ledger, tend: bool = False
) -> AsyncIterator[Condor]:
    """A Condor with a home of its own, as on a machine of its own."""
    all_tools = [read_tool(ledger), write_tool(ledger), *tools]
    async with Condor(
        tools=all_tools, home=folder, database_url=url, settings=Settings(home=folder), tend=tend
    ) as condor:
        yield condor


PLAN = {"steps": [call("w", "book.write", record="a", value="x"), call("s", "book.read", after=["w"])]}


def card_of(shown: Any) -> str:
    (card,) = [card for card in shown["suspensions"] if card["status"] == "pending"]
    return str(card["suspendId"])


async def test_a_run_is_watched_and_answered_elsewhere(url: str, tmp_path: Path) -> None:
    """Started here; there it is watched as it happens, answered, and goes on; here its end is seen."""
    ledger = Ledger(tmp_path / "ledger.db")
    async with (
        process(url, tmp_path / "a", ledger=ledger) as here,
        process(url, tmp_path / "b", ledger=ledger) as there,
    ):
        run = await here.start(plan=PLAN, principal=ANN)
        seen = [event.kind async for event in there.watch(run.id)]
        assert seen[-1] == "approval.required"
        following = asyncio.ensure_future(whole(here, run.id))
        await there.resume(run.id, card_of(await there.show(run.id)), {"approved": True}, principal=BOB)
        assert (await asyncio.wait_for(here.wait(run.id), PATIENCE_S))["status"] == "succeeded"
        kinds = await asyncio.wait_for(following, PATIENCE_S)
        assert kinds[-1] == "run.ended"
        assert kinds == [event.kind async for event in there.watch(run.id)]
    assert ledger.count() == 1


async def whole(condor: Condor, run_id: str) -> list[str]:
    return [event.kind async for event in condor.watch(run_id, follow=True)]


async def test_one_answer_wins_among_two_processes(url: str, tmp_path: Path) -> None:
    """A hundred answers to one card, half of them there: one counts, the write is made once."""
    ledger = Ledger(tmp_path / "ledger.db")
    async with (
        process(url, tmp_path / "a", ledger=ledger) as here,
        process(url, tmp_path / "b", ledger=ledger) as there,
    ):
        for number in range(3):
            run = await here.start(plan=PLAN, principal=ANN)
            shown: Any = await here.wait(run.id)
            card = card_of(shown)
            told = await asyncio.gather(
                *(
                    (here, there)[place % 2].resume(run.id, card, {"approved": True}, principal=BOB)
                    for place in range(100)
                ),
                return_exceptions=True,
            )
            assert Counter(map(type, told)) == {type(None): 1, AlreadyDecided: 99}
            assert (await there.wait(run.id))["status"] == "succeeded"
            assert ledger.count() == number + 1


async def test_a_stop_reaches_the_process_that_works(url: str, tmp_path: Path) -> None:
    """Stopped there while a tool is at work here: it finishes, the run closes as aborted."""
    ledger = Ledger(tmp_path / "ledger.db")
    slow, at_work, go_on = held_tool()
    async with (
        process(url, tmp_path / "a", slow, ledger=ledger) as here,
        process(url, tmp_path / "b", slow, ledger=ledger) as there,
    ):
        plan = {
            "steps": [call("h", "gate.hold"), call("w", "book.write", record="a", value="x", after=["h"])]
        }
        run = await here.start(plan=plan, principal=ANN)
        await asyncio.wait_for(at_work.wait(), PATIENCE_S)
        await there.stop(run.id, principal=ANN, reason="changed my mind")
        go_on.set()
        assert (await asyncio.wait_for(there.wait(run.id), PATIENCE_S))["status"] == "aborted"
    assert ledger.count() == 0


def held_tool() -> tuple[ToolDescriptor, asyncio.Event, asyncio.Event]:
    """A read that says when it is at work, and waits to be let go."""
    at_work, go_on = asyncio.Event(), asyncio.Event()

    @tool("gate.hold", policy_class=PolicyClass.READ)
    async def hold(ctx: ToolContext) -> str:
        at_work.set()
        await go_on.wait()
        return "done"

    return hold, at_work, go_on


async def test_a_living_process_keeps_its_runs(url: str, tmp_path: Path) -> None:
    """Who starts beside it takes nothing up, and finds nothing orphaned, its lost connections or not."""
    ledger = Ledger(tmp_path / "ledger.db")
    slow, at_work, go_on = held_tool()
    async with process(url, tmp_path / "a", slow, ledger=ledger) as here:
        run = await here.start(plan={"steps": [call("h", "gate.hold")]}, principal=ANN)
        await asyncio.wait_for(at_work.wait(), PATIENCE_S)
        async with process(url, tmp_path / "b", slow, ledger=ledger) as there:
            assert there.taken_up == ()
            assert list(await there.store.orphaned()) == []
            assert list(await there.store.unfinished()) == []
            assert list(await here.store.unfinished()) == [run.id]
            go_on.set()
            assert (await asyncio.wait_for(there.wait(run.id), PATIENCE_S))["status"] == "succeeded"


async def test_the_runs_of_a_process_that_is_gone_go_on(
    url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It was at work when it died; the other one notices by itself, and what it held back writes nothing."""
    monkeypatch.setattr("condor.runtime.tending.TEND_EVERY_S", 0.2)
    monkeypatch.setattr("condor.store.postgres.GONE_AFTER_S", 0.4)
    ledger = Ledger(tmp_path / "ledger.db")
    slow, at_work, go_on = held_tool()
    async with process(url, tmp_path / "b", slow, ledger=ledger, tend=True) as there:
        async with process(url, tmp_path / "a", slow, ledger=ledger) as here:
            run = await here.start(plan={"steps": [call("h", "gate.hold")]}, principal=ANN)
            await asyncio.wait_for(at_work.wait(), PATIENCE_S)
            writer: Any = here.store._writer  # type: ignore[attr-defined]
            # As if it were dead, but for the one segment that still runs.
            writer._keeping.cancel()
            writer._connection.terminate()
            async with asyncio.timeout(PATIENCE_S):
                while not await raised(there, run.id):  # noqa: ASYNC110 - a new epoch alone is no event
                    await asyncio.sleep(0.02)
            go_on.set()
            assert (await asyncio.wait_for(there.wait(run.id), PATIENCE_S))["status"] == "succeeded"
        kinds = Counter([str(event.kind) async for event in there.watch(run.id)])
        assert (kinds["step.settled"], kinds["run.ended"]) == (1, 1)
        assert [verdict.kept async for verdict in there.verify()] == [True]


async def raised(condor: Condor, run_id: str) -> bool:
    """Whether another segment has taken the run up."""
    row = await condor.store.run(run_id)
    return row is not None and row.epoch > 0
