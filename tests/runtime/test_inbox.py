"""The inbox: open cards by filter, in order, page by page; a filter that cannot be is refused."""

from __future__ import annotations

import asyncio
import datetime
from typing import TYPE_CHECKING, Any

import pytest

from condor import CardEvidence, HitlTier, PolicyClass, RefusedInput, ToolContext, ToolDescriptor, tool
from condor.ports.cards import EVERY_CARD, CardFilter
from tests.pump.desk import ANN, BOB, ask, call, open_desk, read_tool, write_tool

if TYPE_CHECKING:
    from pathlib import Path

    from condor.testing import Ledger
    from tests.pump.desk import Desk


def chart_tool() -> ToolDescriptor:
    """A write on a patient, whose evidence says on whom."""

    async def preview(_ctx: ToolContext, patient: str) -> CardEvidence:
        return CardEvidence(subject={"reference": f"Patient/{patient}", "text": "Mason, 1980"})

    @tool("chart.write", policy_class=PolicyClass.MUTATE, hitl_tier=HitlTier.HIGH, preview=preview)
    async def write(_ctx: ToolContext, patient: str) -> None:
        """Write."""

    return write


async def filled(desk: Desk) -> dict[str, str]:
    """An inbox with one card of each sort, a minute apart: name → suspend id."""
    plans = {
        "high": (call("w", "book.write", record="a", value="x"), ANN),
        "low": (call("w", "low.write", record="b", value="x"), BOB),
        "missing": (call("w", "book.write", record="c"), ANN),
        "planned": (ask("p", "Go on?"), BOB),
        "mason": (call("w", "chart.write", patient="pt-1"), ANN),
    }
    found = {}
    for name, (step, who) in plans.items():
        run = await desk.run(step, principal=who)
        found[name] = str((await desk.card(run["runId"]))["suspendId"])
        desk.clock.advance(60)
    return found


def tools(ledger: Ledger) -> tuple[ToolDescriptor, ...]:
    """What the inbox asks about."""
    low = write_tool(ledger, "low.write", tier=HitlTier.LOW)
    return read_tool(ledger), write_tool(ledger), low, chart_tool()


async def test_each_filter_leaves_what_meets_it(tmp_path: Path, ledger: Ledger) -> None:
    """Tool, tier, subject, requester, kind, origin, run and age, alone and together; closed cards never."""
    async with open_desk(tmp_path / "home", *tools(ledger)) as desk:
        began = desk.clock.now()
        ids = await filled(desk)
        names = {suspend_id: name for name, suspend_id in ids.items()}

        async def listed(wanted: CardFilter = EVERY_CARD, **page: Any) -> list[str]:
            return [names[str(card["suspendId"])] for card in await desk.condor.pending(wanted, **page)]

        def after(minutes: float) -> str:
            return (began + datetime.timedelta(minutes=minutes)).isoformat()

        everything = ["high", "low", "missing", "planned", "mason"]
        assert await listed() == everything
        assert await listed(order="newest") == everything[::-1]
        assert await listed(CardFilter(tool="book.write")) == ["high", "missing"]
        assert await listed(CardFilter(tool="")) == ["planned"]
        assert await listed(CardFilter(tier="low")) == ["low"]
        assert await listed(CardFilter(tier="high")) == ["high", "missing", "mason"]
        assert await listed(CardFilter(subject="Patient/pt-1")) == ["mason"]
        assert await listed(CardFilter(requester="bob")) == ["low", "planned"]
        assert await listed(CardFilter(reason_code="clarification")) == ["missing"]
        assert await listed(CardFilter(origin="planned_approval")) == ["planned"]
        assert await listed(CardFilter(tool="book.write", reason_code="approval")) == ["high"]
        assert await listed(CardFilter(opened_from=after(1.5))) == ["missing", "planned", "mason"]
        assert await listed(CardFilter(opened_until=after(1.5)), order="newest") == ["low", "high"]
        assert await listed(limit=2, after=ids["low"]) == ["missing", "planned"]
        assert await listed(order="newest", limit=2, after=ids["low"]) == ["high"]
        (high,) = await desk.condor.pending(CardFilter(tool="book.write", reason_code="approval"))
        assert await listed(CardFilter(run_id=str(high["runId"]))) == ["high"]
        await desk.approve(high)
        assert await listed(CardFilter(status="approved")) == everything[1:], "the inbox is what is open"


@pytest.mark.parametrize(
    ("wanted", "says"),
    [
        (CardFilter(tier="hgih"), "tier 'hgih' is unknown; take high or low"),
        (CardFilter(origin="policy"), "origin 'policy' is unknown; take tool_policy or"),
        (CardFilter(reason_code="question"), "kind 'question' is unknown; take approval or"),
        (CardFilter(opened_from="yesterday"), "openedFrom 'yesterday' is no moment; write it as 2026-"),
        (CardFilter(opened_until="2026-11-30T09:00:00"), "openedUntil '2026-11-30T09:00:00' is no moment"),
        (
            CardFilter(opened_until="0001-01-01T00:00:00+14:00"),
            "openedUntil '0001-01-01T00:00:00.14:00' is no",
        ),
    ],
)
async def test_a_filter_that_cannot_be_is_refused(tmp_path: Path, wanted: CardFilter, says: str) -> None:
    """An empty list never comes from a misspelt word."""
    async with open_desk(tmp_path / "home") as desk:
        with pytest.raises(RefusedInput, match=says):
            await desk.condor.pending(wanted)
        with pytest.raises(RefusedInput, match="order 'by name' is unknown; take oldest or newest"):
            await desk.condor.pending(order="by name")


async def test_the_loop_goes_on_while_history_is_searched(tmp_path: Path, ledger: Ledger) -> None:
    """A filter over closed cards has no index; it is read in a thread."""
    async with open_desk(tmp_path / "home", *tools(ledger)) as desk:
        await desk.approve(
            await desk.card((await desk.run(call("w", "book.write", record="a", value="x")))["runId"])
        )
        store, ticks = desk.condor.store, asyncio.Event()
        asyncio.get_running_loop().call_soon(ticks.set)
        closed = await store.suspensions(CardFilter(status="approved", tool="book.write"))
        assert ticks.is_set()
        assert [row.decided_by for row in closed] == ["bob"]
