"""Workers and servers as processes of their own, and a Condor here that hands over to them."""

from __future__ import annotations

import asyncio
import json
import multiprocessing
import os
import signal
import socket
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, cast

from condor import Condor
from condor.config import Settings
from condor.testing import Ledger
from tests.postgres.workers.process import CrewPack, run

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable
    from multiprocessing.process import BaseProcess
    from pathlib import Path

    from condor import Principal

#: A process that has everything loaded and forks the crew: a start takes a fraction of a second.
_FORKED = multiprocessing.get_context("forkserver")
_FORKED.set_forkserver_preload([run.__module__])
#: Longest that anything here takes, in seconds; only a bug waits for it.
PATIENCE_S = 30.0
#: A run whose worker was killed is terminal or parked after so many seconds, as workers are configured.
REST_S_MAX = 15.0
#: The quickest signs of life that can be set, for tests that wait for a worker to be missed.
QUICK = {"CONDOR_WORKER_HEARTBEAT_S": "0.5", "CONDOR_WORKER_STALLED_S": "2"}
_LOOK_EVERY_S = 0.02


class Crew:
    """Processes of one database and one ledger."""

    def __init__(self, url: str, folder: Path) -> None:
        """Nobody is there yet."""
        self.url, self.folder = url, folder
        self.ledger = Ledger(folder / "ledger.db")
        self._processes: dict[int, BaseProcess] = {}

    async def begin(self, kind: str, *, seed: int = 0, port: int = 0, **env: Any) -> int:
        """Start a worker or a server; its process id."""
        given = {"CONDOR_DATABASE_URL": self.url, "CREW_OF": str(os.getpid()), **env}
        process = _FORKED.Process(target=run, args=(kind, self.folder, seed, port, given), daemon=True)
        await asyncio.to_thread(process.start)
        assert process.pid is not None, "started"
        self._processes[process.pid] = process
        return process.pid

    async def worker(self, **env: Any) -> int:
        """Start a worker, and wait until it works."""
        pid = await self.begin("worker", **env)
        await self.there(f"working-{pid}")
        return pid

    async def there(self, name: str) -> Path:
        """Wait for a file whose name begins so."""
        return cast("Path", await until(lambda: next(self.folder.glob(f"{name}*"), None)))

    def let_go(self, name: str) -> None:
        """Whoever waits at a gate goes on."""
        (self.folder / f"go-{name}").touch()

    def is_there(self, pid: int) -> bool:
        """Whether a process has not ended."""
        return self._processes[pid].is_alive()

    def signal(self, pid: int, number: signal.Signals) -> None:
        """Send a signal to somebody who is there."""
        assert self._processes[pid].is_alive(), f"{pid} ended by itself:\n{self.log()[-8000:]}"
        os.kill(pid, number)

    async def ended(self, pid: int) -> int | None:
        """Wait for the end of a process; its exit code."""
        process = self._processes.pop(pid)
        await asyncio.to_thread(process.join, PATIENCE_S)
        return process.exitcode

    async def kill(self, pid: int) -> None:
        """End a process as a power cut would, as far as it can tell."""
        self.signal(pid, signal.SIGKILL)
        await self.ended(pid)

    async def close(self) -> None:
        """End everybody."""
        for pid in list(self._processes):
            if self._processes[pid].is_alive():
                self.signal(pid, signal.SIGKILL)
            await self.ended(pid)

    def log(self) -> str:
        """What they said."""
        file = self.folder / "crew.log"
        return file.read_text(encoding="utf-8", errors="replace") if file.exists() else ""

    @asynccontextmanager
    async def server(self, **options: Any) -> AsyncIterator[Condor]:
        """A server in this process; unless told otherwise it hands everything over."""
        home = options.pop("home", self.folder / "here")
        given: dict[str, Any] = {"settings": Settings(home=home), "driven": "workers", **options}
        async with Condor(packs=[CrewPack(self.folder)], home=home, database_url=self.url, **given) as condor:
            yield condor


@asynccontextmanager
async def worker_here(crew: Crew, name: str) -> AsyncIterator[Condor]:
    """A worker in this process that takes no job by itself."""
    home = crew.folder / name
    async with Condor(
        packs=[CrewPack(crew.folder)],
        home=home,
        database_url=crew.url,
        settings=Settings(home=home),
        driven="jobs",
    ) as condor:
        yield condor


async def until(seen: Callable[[], object], patience_s: float = PATIENCE_S) -> object:
    """Look until there is something to see; what there is."""
    async with asyncio.timeout(patience_s):
        while not (found := seen()):  # noqa: ASYNC110 - what is looked at happens in another process
            await asyncio.sleep(_LOOK_EVERY_S)
    return found


async def parked(condor: Condor, run_id: str) -> list[dict[str, Any]]:
    """The open cards of a run at its rest."""
    shown: Any = await asyncio.wait_for(condor.wait(run_id), PATIENCE_S)
    return [card for card in shown["suspensions"] if card["status"] == "pending"]


async def answered(condor: Condor, run_id: str, who: Principal, data: Any) -> str:
    """Answer the one open card; how the run rests then."""
    (card,) = await parked(condor, run_id)
    await condor.resume(run_id, card["suspendId"], data, principal=who)
    return str((await asyncio.wait_for(condor.wait(run_id), PATIENCE_S))["status"])


def free_port() -> int:
    """A port of loopback that nobody has just now."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def step(step_id: str, tool_name: str, *after: str, **args: Any) -> dict[str, Any]:
    """A tool step."""
    return {"id": step_id, "tool": tool_name, "args": args, "after": list(after)}


#: How many jobs of segments there are.
JOBS = "SELECT count(*) FROM condor.procrastinate_jobs WHERE queue_name = 'condor'"


def job(run_id: str, epoch: int) -> str:
    """A statement that queues a job as a unit does."""
    args = json.dumps({"run_id": run_id, "epoch": epoch})
    return (
        "INSERT INTO condor.procrastinate_jobs (queue_name, task_name, args) "
        f"VALUES ('condor', 'segment', '{args}')"
    )
