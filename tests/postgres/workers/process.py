"""A worker or a server that is killed: what its process runs, forked from one that has all of it loaded.

Its tools write to a ledger in FOLDER; ``gate.hold`` waits there for a file, so that a test knows where it is.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import random
import signal
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from condor import Condor, HitlTier, OpenedPack, PolicyClass, ToolContext, tool
from condor.config import read_settings
from condor.core.errors import StoreUnavailable
from condor.dispatch import workers  # noqa: F401 - loaded once, for all that are forked
from condor.models import models_of  # noqa: F401 - as above
from condor.server.run import bound, serve
from condor.testing import ActAt, KillAt, Ledger
from tests.pump.desk import BOB
from tests.simulation import planted
from tests.simulation.restart_server import ANN, OPERATORS, tools_of

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping, Sequence
    from pathlib import Path

    from condor import ToolDescriptor

#: Seconds between two looks at a gate.
_LOOK_EVERY_S = 0.01


def gate(folder: Path) -> list[ToolDescriptor]:
    """A read and an idempotent write that say when they are at work, and wait to be let go."""

    async def held(name: str) -> None:
        (folder / f"held-{name}-{os.getpid()}").touch()
        while not (folder / f"go-{name}").exists():  # noqa: ASYNC110 - another process lets it go
            await asyncio.sleep(_LOOK_EVERY_S)

    ledger = Ledger(folder / "ledger.db")

    @tool("gate.hold", policy_class=PolicyClass.READ)
    async def hold(ctx: ToolContext, name: str) -> str:
        await held(name)
        return "done"

    @tool(
        "gate.write",
        policy_class=PolicyClass.MUTATE,
        hitl_tier=HitlTier.HIGH,
        idempotent=True,
        approver_roles={"operator"},
        editable={"name"},
    )
    async def write(ctx: ToolContext, name: str) -> dict[str, Any]:
        await held(name)
        return {"number": ledger.write(name, "gate", key=ctx.idempotency_key)}

    return [hold, write]


class CrewPack:
    """The tools, and who asks and answers."""

    name = "crew"
    has_demo = False

    def __init__(self, folder: Path, seed: int = 0) -> None:
        """Of one ledger."""
        self._folder, self._chance = folder, random.Random(seed)

    def tools(self) -> Sequence[ToolDescriptor]:
        """Writes whose outcome is found out in three ways, and the gate."""
        return [*tools_of(Ledger(self._folder / "ledger.db"), self._chance), *gate(self._folder)]

    @asynccontextmanager
    async def open(self, _: object) -> AsyncIterator[OpenedPack]:
        """Bring them."""
        yield OpenedPack(tools=tuple(self.tools()), principals=(*OPERATORS, ANN, BOB))


def store_away() -> None:
    """The store takes nothing, for once."""
    raise StoreUnavailable("away")


async def end_with(tester: int) -> None:
    """Whoever is left over of a test run that was ended ends too."""
    while True:
        await asyncio.sleep(1.0)
        try:
            os.kill(tester, 0)
        except ProcessLookupError:
            os._exit(1)


async def main(kind: str, folder: Path, seed: int, port: int) -> None:
    """Work or serve until killed or told to stop."""
    home = folder / f"{kind}-{port or os.getpid()}"
    home.mkdir(mode=0o700, exist_ok=True)
    (home / "server.json").unlink(missing_ok=True)
    options: dict[str, Any] = {}
    if (wanted := os.environ.get("CREW_KILL")) and kind == "worker":
        point, nth = json.loads(wanted)
        options["faults"] = KillAt(point, nth)
    if point := os.environ.get("CREW_AWAY"):
        options["faults"] = ActAt(point, store_away)
    planted.plant(os.environ.get("CREW_PLANTED", ""))
    ending = asyncio.create_task(end_with(int(os.environ["CREW_OF"])))
    async with Condor(
        packs=[CrewPack(folder, seed)],
        home=home,
        settings=read_settings(home=home),
        driven="jobs" if kind == "worker" else "workers",
        **options,
    ) as condor:
        if kind == "worker":
            stop = asyncio.Event()
            asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)
            await condor.work(stop, ready=(folder / f"working-{os.getpid()}").touch)
        else:
            await serve(condor, home, bound("127.0.0.1", port), mode="development")
    ending.cancel()


def run(kind: str, folder: Path, seed: int, port: int, env: Mapping[str, str]) -> None:
    """Be the process."""
    with (folder / "crew.log").open("ab") as log:
        for number in (1, 2):
            os.dup2(log.fileno(), number)
    os.environ.update(env)
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(process)d %(name)s %(message)s", force=True)
    for noisy in ("condor.server", "uvicorn"):
        logging.getLogger(noisy).setLevel(logging.WARNING)
    asyncio.run(main(kind, folder, seed, port))
