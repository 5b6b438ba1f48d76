"""Condor, through its public Python API alone."""

from __future__ import annotations

import time
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from bench.workload import own_cpu
from condor import Condor, HitlTier, PolicyClass, ToolContext, ToolDescriptor, tool

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping
    from pathlib import Path

    from condor.bootstrap import Driven


def plan_of(key: str) -> dict[str, object]:
    """Read an order, then refund what was read: a write that always waits for a person."""
    return {
        "steps": [
            {"id": "look", "tool": "order.read", "args": {"key": key}},
            {
                "id": "change",
                "tool": "order.refund",
                "args": {"key": key, "amount": {"$from": "look", "path": "/amount"}},
            },
        ]
    }


def tools_of(entered: dict[str, float]) -> list[ToolDescriptor]:
    """A read and a write that do nothing but be called; when the write was entered is noted."""

    @tool("order.read", policy_class=PolicyClass.READ)
    async def read(_ctx: ToolContext, key: str) -> dict[str, object]:
        return {"key": key, "amount": 42}

    @tool("order.refund", policy_class=PolicyClass.MUTATE, hitl_tier=HitlTier.HIGH)
    async def refund(_ctx: ToolContext, key: str, amount: int) -> dict[str, object]:
        if key in entered:
            raise RuntimeError(f"{key} was refunded twice")
        entered[key] = time.perf_counter()
        return {"key": key, "refunded": amount}

    return [read, refund]


class CondorRuns:
    """An open Condor doing the work."""

    def __init__(self, condor: Condor, entered: dict[str, float], points: list[str]) -> None:
        self.entered = entered
        self.writes = 0
        self._condor = condor
        self._points = points

    async def start(self, key: str) -> str:
        run = await self._condor.start(plan=plan_of(key))
        parked = await self._condor.wait(run.id)
        return open_card(parked)

    async def approve(self, key: str, handle: str) -> None:
        run_id, suspend_id = handle.split()
        await self._condor.resume(run_id, suspend_id, {"approved": True})
        ended = await self._condor.wait(run_id)
        if ended["status"] != "succeeded":
            raise RuntimeError(f"{key} ended as {ended['status']}")
        self.writes += 1

    def counts(self) -> Mapping[str, int]:
        # Named points that Condor passes: once a unit that it acknowledged, once a commit of its writer.
        count = self._points.count
        return {"units": count("unit.acknowledged"), "commits": count("writer.before-commit")}

    def cpu(self) -> tuple[float, float]:
        return own_cpu()

    async def settings(self) -> Mapping[str, object]:
        return {"durability": "WAL, synchronous=FULL; a unit is acknowledged after its fsync"}


def open_card(snapshot: Mapping[str, object]) -> str:
    """Run and card that a parked run waits for."""
    waits = snapshot["why"]["waitsFor"]  # type: ignore[index]
    if len(waits) != 1:
        raise RuntimeError(f"run {snapshot['runId']} is {snapshot['status']} and waits for {waits}")
    return f"{snapshot['runId']} {waits[0]['suspendId']}"


@asynccontextmanager
async def opened_at(url: str, directory: Path, *, driven: Driven = "here") -> AsyncIterator[CondorRuns]:
    """Condor on a database."""
    entered: dict[str, float] = {}
    #: Noted and not counted, so that the instrument weighs nothing of what it measures.
    points: list[str] = []

    async with Condor(
        tools=tools_of(entered), database_url=url, home=directory, faults=points.append, driven=driven
    ) as condor:
        yield CondorRuns(condor, entered, points)


class CondorContender:
    name = "condor"
    title = "Condor"
    share = 1.0

    def missing(self) -> str | None:
        return None

    @asynccontextmanager
    async def open(self, directory: Path) -> AsyncIterator[CondorRuns]:
        async with opened_at(f"sqlite:///{directory / 'condor.db'}", directory) as runs:
            yield runs
