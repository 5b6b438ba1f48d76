"""A house for each test."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.server.support import House, open_house

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path


@pytest.fixture
async def house(tmp_path: Path) -> AsyncIterator[House]:
    """A running server in a home of its own."""
    async with open_house(tmp_path / "home") as opened:
        yield opened
