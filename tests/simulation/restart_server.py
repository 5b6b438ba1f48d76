"""The server that is killed: ``python -m tests.simulation.restart_server HOME PORT SEED``.

Its tools write to a ledger beside the home, each a moment before and after which the process may die.
"""

from __future__ import annotations

import asyncio
import random
import sys
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from condor import Condor, HitlTier, OpenedPack, PolicyClass, Principal, Reconciled, ToolContext, tool
from condor.config import Settings
from condor.server.run import bound, serve
from condor.testing import Ledger

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence

    from condor import ToolDescriptor

OPERATORS = tuple(Principal(id=f"op{n}", roles=frozenset({"operator"}), display=f"Op {n}") for n in range(8))
ANN = Principal(id="ann", roles=frozenset({"clerk"}), display="Ann")
#: How the effect of a killed process can be found out about: by its key, by asking, by nobody but a person.
KINDS = ("once", "asks", "plain")
#: Longest that a write takes before and after its effect, in seconds.
_MOMENT_S = 0.03


def tools_of(ledger: Ledger, chance: random.Random) -> list[ToolDescriptor]:
    """One write of each kind."""

    async def asked(ctx: ToolContext, record: str) -> Reconciled:
        entry = ledger.find(ctx.idempotency_key)
        return Reconciled(happened=entry is not None, value={"number": entry.number} if entry else None)

    def made(kind: str) -> ToolDescriptor:
        async def write(ctx: ToolContext, record: str) -> dict[str, Any]:
            """Write a record, slowly."""
            await asyncio.sleep(chance.random() * _MOMENT_S)
            number = ledger.write(record, kind, key=ctx.idempotency_key, once=kind == "once")
            await asyncio.sleep(chance.random() * _MOMENT_S)
            return {"number": number}

        return tool(
            f"{kind}.write",
            policy_class=PolicyClass.MUTATE,
            hitl_tier=HitlTier.HIGH,
            approver_roles={"operator"},
            idempotent=kind == "once",
            reconcile=asked if kind == "asks" else None,
        )(write)

    return [made(kind) for kind in KINDS]


class RestartPack:
    """The tools and who answers."""

    name = "restarts"
    has_demo = False

    def __init__(self, tools: Sequence[ToolDescriptor]) -> None:
        """Of tools that are made."""
        self._tools = tools

    @asynccontextmanager
    async def open(self, _: object) -> AsyncIterator[OpenedPack]:
        """Bring them."""
        yield OpenedPack(tools=tuple(self._tools), principals=(*OPERATORS, ANN))


def pack_of(home: Path, seed: int = 0) -> RestartPack:
    """The pack of a home."""
    return RestartPack(tools_of(Ledger(home.parent / "ledger.db"), random.Random(seed)))


async def main(home: Path, port: int, seed: int) -> None:
    """Serve until killed."""
    async with Condor(packs=[pack_of(home, seed)], home=home, settings=Settings(home=home)) as condor:
        await serve(condor, home, bound("127.0.0.1", port), mode="development")


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])))
