"""Plain functions: each call in a thread of its own; one that hangs costs no other anything."""

from __future__ import annotations

import asyncio
import functools
import subprocess
import sys
import threading
import time
from typing import TYPE_CHECKING, Any

import pytest

from condor import CardEvidence, HitlTier, PolicyClass, Reconciled, ToolContext, ToolDescriptor, tool
from condor.core.errors import ToolError
from condor.ports.deadline import OutOfTime, Stragglers
from condor.pump import retries
from condor.tools import threads
from condor.tools.threads import in_thread
from tests.pump.desk import call, open_desk

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from condor.testing import Ledger

#: More than the default pool of any machine has.
MANY = 40


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(retries, "RETRY_PAUSE_S", 0)


@pytest.fixture
def let_go() -> Iterator[threading.Event]:
    """Ends whatever hangs in a test, at its end."""
    event = threading.Event()
    yield event
    event.set()


def hanging(let_go: threading.Event, **options: Any) -> ToolDescriptor:
    """A plain read that never answers."""

    @tool("hang.read", policy_class=PolicyClass.READ, timeout_s=0.05, **options)
    def hang(ctx: ToolContext, q: str = "x") -> None:
        let_go.wait()

    return hang


async def test_calls_that_hang_cost_another_run_nothing(tmp_path: Path, let_go: threading.Event) -> None:
    """A plain write and a plain read beside more hanging calls than a pool has threads."""
    entered: list[str] = []

    @tool("quick.write", policy_class=PolicyClass.MUTATE, hitl_tier=HitlTier.LOW, timeout_s=2)
    def write(ctx: ToolContext) -> str:
        entered.append("write")
        return "written"

    @tool("quick.read", policy_class=PolicyClass.READ, timeout_s=2)
    def read(ctx: ToolContext) -> str:
        entered.append("read")
        return "read"

    async with open_desk(tmp_path / "home", hanging(let_go), write, read) as desk:
        hung = await desk.run(*[call(f"h{i}", "hang.read", q=str(i)) for i in range(MANY // 4)])
        assert hung["status"] == "failed"
        begun = time.monotonic()
        end = await desk.run(
            call("w", "quick.write"), call("r", "quick.read", after=["w"]), autonomy="autonomous"
        )
        assert (end["status"], entered) == ("succeeded", ["write", "read"])
        assert time.monotonic() - begun < 1.5


async def test_an_abandoned_plain_write_is_not_entered_twice(
    tmp_path: Path, ledger: Ledger, let_go: threading.Event
) -> None:
    """Its thread cannot be cancelled: while it may still write it is not repeated, nor taken for undone."""

    def asked(ctx: ToolContext) -> Reconciled:
        return Reconciled(happened=ledger.find(ctx.idempotency_key) is not None)

    @tool(
        "late.write",
        policy_class=PolicyClass.MUTATE,
        hitl_tier=HitlTier.LOW,
        timeout_s=0.05,
        idempotent=True,
        reconcile=asked,
    )
    def write(ctx: ToolContext) -> None:
        let_go.wait()
        ledger.write("a", "x", key=ctx.idempotency_key, once=False)

    async with open_desk(tmp_path / "home", write) as desk:
        run = await desk.run(call("w", "late.write"), autonomy="autonomous")
        assert (run["status"], run["steps"][0]["status"]) == ("suspended", "unknown")
        let_go.set()
        await asyncio.sleep(0.1)
        assert ledger.count("a") == 1


async def test_plain_hooks_have_threads_too(tmp_path: Path) -> None:
    """A preview that is a plain function, and plain functions that hand on async ones."""
    on: dict[str, threading.Thread] = {}

    def look(ctx: ToolContext, **args: Any) -> CardEvidence:
        on["preview"] = threading.current_thread()
        return CardEvidence(summary="seen")

    async def body(ctx: ToolContext) -> str:
        return "done"

    write = tool("w.write", policy_class=PolicyClass.MUTATE, hitl_tier=HitlTier.HIGH, preview=look)(
        lambda ctx: body(ctx)
    )
    partial = tool("p.read", policy_class=PolicyClass.READ, args=[])(functools.partial(body))
    async with open_desk(tmp_path / "home", write, partial) as desk:
        run = await desk.run(call("w", "w.write"), call("p", "p.read"))
        assert on["preview"] is not threading.main_thread()
        await desk.answer(await desk.card(run["runId"]), {"approved": True})
        end = await desk.rest(run["runId"])
        assert end["status"] == "succeeded"


async def test_waiting_for_a_thread_is_no_time_of_the_call(
    monkeypatch: pytest.MonkeyPatch, let_go: threading.Event
) -> None:
    """Its time begins when it is entered; a call that was given up gives its room to who waits."""
    monkeypatch.setattr(threads, "BUSY_MAX", 1)
    stragglers = Stragglers()
    first = asyncio.create_task(stragglers.within(in_thread(let_go.wait), 0.3, "first"))
    await asyncio.sleep(0.05)
    second = asyncio.create_task(stragglers.within(in_thread(lambda: "entered"), 0.1, "second"))
    with pytest.raises(OutOfTime):
        await first
    assert await second == "entered"
    assert ("first" in stragglers, "second" in stragglers) == (True, False)
    let_go.set()
    await asyncio.sleep(0.05)
    assert "first" not in stragglers


async def test_no_room_is_a_refusal_with_nothing_done(
    monkeypatch: pytest.MonkeyPatch, let_go: threading.Event
) -> None:
    """When thousands hang, or nobody gives room: the call was not entered, and may work later."""
    entered: list[int] = []
    before = threads._ROOM.hung
    monkeypatch.setattr(threads, "HUNG_MAX", before + 2)
    stragglers = Stragglers()
    for number in range(2):
        with pytest.raises(OutOfTime):
            await stragglers.within(in_thread(let_go.wait), 0.02, f"hangs {number}")
    with pytest.raises(ToolError, match="calls of plain functions hang") as refused:
        await stragglers.within(in_thread(entered.append, 1), 1, "third")
    assert (refused.value.may_retry, refused.value.effect, refused.value.code) == (True, "none", "no_thread")
    let_go.set()
    await asyncio.sleep(0.05)
    assert threads._ROOM.hung == before
    await stragglers.within(in_thread(entered.append, 2), 1, "fourth")
    assert entered == [2]

    busy = threading.Event()
    monkeypatch.setattr(threads, "BUSY_MAX", 1)
    monkeypatch.setattr(threads, "ROOM_S_MAX", 0.05)
    first = asyncio.create_task(in_thread(busy.wait))
    await asyncio.sleep(0.02)
    with pytest.raises(ToolError, match=r"were at work for 0\.05 s\. It was not entered"):
        await in_thread(entered.append, 3)
    waiting = asyncio.create_task(in_thread(entered.append, 4))
    await asyncio.sleep(0.01)
    waiting.cancel()
    busy.set()
    await first
    await in_thread(entered.append, 5)
    assert (entered, threads._ROOM.busy) == ([2, 5], 0)


async def test_what_a_plain_function_raises() -> None:
    """It comes out of its thread as it was raised; what no coroutine can raise is told in words."""
    for error in (ValueError("x"), SystemExit(3), KeyboardInterrupt(), TimeoutError("own"), GeneratorExit()):

        def raises(error: BaseException = error) -> None:
            raise error

        with pytest.raises(type(error)) as seen:
            await in_thread(raises)
        assert seen.value is error
    with pytest.raises(RuntimeError, match="StopIteration"):
        await in_thread(next, iter(()))


ENDLESS = """
import asyncio, sys, threading
from condor import Condor, PolicyClass, ToolContext, tool

@tool("endless.read", policy_class=PolicyClass.READ, timeout_s=0.05)
def endless(ctx: ToolContext) -> None:
    threading.Event().wait()

async def main() -> None:
    async with Condor(tools=[endless], home=sys.argv[1], database_url="") as condor:
        run = await condor.start(plan={"steps": [{"id": "r", "tool": "endless.read", "args": {}}]})
        print((await condor.wait(run.id))["status"])

asyncio.run(main())
"""


def test_a_process_ends_beside_plain_functions_that_never_do(tmp_path: Path) -> None:
    """Neither closing the loop nor the interpreter waits for their threads."""
    done = subprocess.run(
        [sys.executable, "-c", ENDLESS, str(tmp_path)],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, "failed\n"), done.stderr


FORKS = """
import asyncio, os
from condor.tools.threads import in_thread

assert asyncio.run(in_thread(int)) == 0
child = os.fork()
if not child:
    os._exit(asyncio.run(asyncio.wait_for(in_thread(lambda: 7), 5)))
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


def test_a_forked_process_has_threads_of_its_own() -> None:
    """None of its parent's, which are not there."""
    done = subprocess.run(
        [sys.executable, "-c", FORKS], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.stdout == "7\n", done.stderr


async def test_a_thread_is_used_again_unless_its_call_hung(let_go: threading.Event) -> None:
    """What waits for an answer never stands behind another call."""
    first = await in_thread(threading.get_ident)
    assert await in_thread(threading.get_ident) == first
    stragglers = Stragglers()
    with pytest.raises(OutOfTime):
        await stragglers.within(in_thread(let_go.wait), 0.02, "hangs")
    assert await in_thread(threading.get_ident) != first
