"""The chat clients that people use, against a running server: ``tests/wire/live.test.js``."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import pytest

from condor import OpenedPack
from tests.server.support import open_house
from tests.wire.orders import Orders
from tests.wire.test_clients import LIVE, clients, run_suite
from tests.wire.ward import OKAFOR, OSEI, reads, writes

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

__all__ = ["clients"]


class WardPack:
    """The ward of the golden streams."""

    name = "ward"
    has_demo = False

    @asynccontextmanager
    async def open(self, _: object) -> AsyncIterator[Any]:
        """Its tools, its people, and a planner of few words."""
        yield OpenedPack(tools=[*reads(), *writes()], principals=(OKAFOR, OSEI), planner=Orders())


@pytest.mark.slow
@pytest.mark.usefixtures("clients")
async def test_clients_live_with_our_server(tmp_path: Path) -> None:
    """Start, card, reload, answer elsewhere, stale answer, deny, two cards open, cut, late join."""
    async with open_house(tmp_path / "home", pack=WardPack()) as house:
        env = {"CONDOR_URL": house.url, "CONDOR_CODE": house.served.file.token}
        await asyncio.to_thread(run_suite, LIVE, **env)
