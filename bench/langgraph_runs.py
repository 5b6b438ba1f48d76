"""LangGraph with its SQLite saver, used as its documentation says, held to the same durability.

A graph read → gate → write; the gate calls ``interrupt()``, the answer is ``Command(resume=…)``. The
saver's connection is set to WAL and ``synchronous=FULL`` and asked whether it took it. Two of its own
durability modes: with ``sync`` each step is on disk before the next one begins, as Condor promises; with
``exit`` a parked run is kept too, but nothing of what an approved one was about to do.
"""

from __future__ import annotations

import importlib.util
import time
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, TypedDict

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping
    from pathlib import Path


class _State(TypedDict, total=False):
    key: str
    amount: int
    approved: bool
    refunded: int


class LangGraphRuns:
    """A compiled graph doing the work."""

    def __init__(self, saver: Any, found: Mapping[str, object], durability: str) -> None:
        self.entered: dict[str, float] = {}
        self.writes = 0
        self._saver = saver
        self._found = {"durability": durability, **found}
        self._durability = durability
        self._commits = 0
        if hasattr(saver.conn, "commit"):
            self._count_commits()
        self._graph = self._compiled()

    def _compiled(self) -> Any:
        from langgraph.graph import END, START, StateGraph
        from langgraph.types import interrupt

        async def read(state: _State) -> _State:
            return {"key": state["key"], "amount": 42}

        async def gate(state: _State) -> _State:
            answer = interrupt(
                {"tool": "order.refund", "args": {"key": state["key"], "amount": state["amount"]}}
            )
            return {"approved": answer["approved"] is True}

        async def write(state: _State) -> _State:
            if state["key"] in self.entered or not state["approved"]:
                raise RuntimeError(f"{state['key']} was refunded twice, or without approval")
            self.entered[state["key"]] = time.perf_counter()
            return {"refunded": state["amount"]}

        graph = StateGraph(_State)
        graph.add_node("read", read)
        graph.add_node("gate", gate)
        graph.add_node("write", write)
        graph.add_edge(START, "read")
        graph.add_edge("read", "gate")
        graph.add_edge("gate", "write")
        graph.add_edge("write", END)
        return graph.compile(checkpointer=self._saver)

    def _count_commits(self) -> None:
        connection = self._saver.conn
        commit = connection.commit

        async def counted() -> None:
            self._commits += 1
            await commit()

        connection.commit = counted

    async def start(self, key: str) -> str:
        config = {"configurable": {"thread_id": key}}
        parked = await self._graph.ainvoke({"key": key}, config, durability=self._durability)
        if not parked["__interrupt__"]:
            raise RuntimeError(f"{key} did not park")
        return key

    async def approve(self, key: str, handle: str) -> None:
        from langgraph.types import Command

        config = {"configurable": {"thread_id": handle}}
        answer = Command(resume={"approved": True})
        ended = await self._graph.ainvoke(answer, config, durability=self._durability)
        if ended["refunded"] != 42:
            raise RuntimeError(f"{key} ended as {ended}")
        self.writes += 1

    def counts(self) -> Mapping[str, int]:
        return {"commits": self._commits} if self._commits else {}

    async def settings(self) -> Mapping[str, object]:
        return self._found


class LangGraphContender:
    share = 0.1

    def __init__(self, name: str, durability: str) -> None:
        self.name = name
        self.title = f"LangGraph, SQLite saver, {durability}"
        #: LangGraph's own word for when it writes.
        self._durability = durability

    def missing(self) -> str | None:
        wanted = ("langgraph", "langgraph.checkpoint.sqlite", "aiosqlite")
        try:
            lacking = [name for name in wanted if importlib.util.find_spec(name) is None]
        except ModuleNotFoundError as fault:
            lacking = [str(fault.name)]
        return f"{', '.join(lacking)} is not installed here; `make bench` has it" if lacking else None

    @asynccontextmanager
    async def open(self, directory: Path) -> AsyncIterator[LangGraphRuns]:
        from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

        async with AsyncSqliteSaver.from_conn_string(str(directory / "langgraph.db")) as saver:
            await saver.setup()
            yield LangGraphRuns(saver, await _held_to_full(saver.conn), self._durability)


async def _held_to_full(connection: Any) -> dict[str, object]:
    """Set WAL and ``synchronous=FULL``, and believe only what the connection says afterwards."""
    await connection.execute("PRAGMA synchronous=FULL")
    found: dict[str, object] = {}
    for pragma, wanted in (("journal_mode", "wal"), ("synchronous", 2)):
        async with connection.execute(f"PRAGMA {pragma}") as cursor:
            (value,) = await cursor.fetchone()
        if value != wanted:
            raise RuntimeError(
                f"LangGraph's connection has {pragma} {value}, not {wanted}: the comparison is void"
            )
        found[pragma] = value
    return found
