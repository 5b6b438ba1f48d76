"""What a golden database holds, and the tools with which it was made and is opened again."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from condor import Condor
from condor.config import Settings
from condor.testing import Ledger, SeededClock
from tests.pump.desk import ANN, BOB, call, read_tool, write_tool

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from condor import ToolDescriptor

FILES = Path(__file__).parents[1] / "data" / "golden"
PATIENCE_S = 30.0

#: Requests by which the runs of a golden database are found again.
PARKED, ENDED, AT_WORK, HANDED_OVER = "parked", "ended", "at-work", "handed-over"


def plan_of(name: str) -> dict[str, Any]:
    """Read, then a write that waits for a person; of the run at work, a write that does not return."""
    write = "gate.write" if name == AT_WORK else "book.write"
    steps = [call("r", "book.read"), call("w", write, record=name, value="x", after=["r"])]
    return {"steps": steps}


def gate_tool(ledger: Ledger, gate: asyncio.Event, entered: asyncio.Event) -> ToolDescriptor:
    """An idempotent write that says that it was entered, and waits."""
    made = write_tool(ledger, "gate.write", idempotent=True)
    write = made.function
    assert write is not None

    async def held(*args: Any, **kwargs: Any) -> object:
        entered.set()
        await gate.wait()
        return await write(*args, **kwargs)

    object.__setattr__(made, "function", held)
    return made


@asynccontextmanager
async def opened(
    folder: Path, url: str, *, seed: int, gate: asyncio.Event, entered: asyncio.Event, **options: Any
) -> AsyncIterator[Condor]:
    """Condor on a database, with the tools of the golden ones; nothing expires."""
    ledger = Ledger(folder / "ledger.db")
    tools = [read_tool(ledger), write_tool(ledger), gate_tool(ledger, gate, entered)]
    async with Condor(
        tools=tools,
        home=folder / "home",
        database_url=url,
        settings=Settings(home=folder / "home"),
        clock=SeededClock(seed),
        tend=False,
        **options,
    ) as condor:
        yield condor


async def parked_card(condor: Condor, run_id: str) -> str:
    """The card that a run waits for."""
    shown: Any = await asyncio.wait_for(condor.wait(run_id), PATIENCE_S)
    (card,) = [card for card in shown["suspensions"] if card["status"] == "pending"]
    return str(card["suspendId"])


async def fill(condor: Condor, entered: asyncio.Event) -> None:
    """A run that ended, one that is parked, and one whose write is at work."""
    for name in (ENDED, PARKED, AT_WORK):
        run = await condor.start(plan=plan_of(name), principal=ANN, session_id=name)
        card = await parked_card(condor, run.id)
        if name != PARKED:
            await condor.resume(run.id, card, {"approved": True}, principal=BOB)
        if name == ENDED:
            assert (await asyncio.wait_for(condor.wait(run.id), PATIENCE_S))["status"] == "succeeded"
    await asyncio.wait_for(entered.wait(), PATIENCE_S)
    await condor.seal()
