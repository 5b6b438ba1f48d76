"""A crew on an empty database, ended with the test."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.postgres.conftest import opened as opened
from tests.postgres.conftest import url as url
from tests.postgres.workers.crew import Crew

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path


@pytest.fixture
async def crew(url: str, tmp_path: Path) -> AsyncIterator[Crew]:
    there = Crew(url, tmp_path)
    yield there
    await there.close()
