"""A shell in a directory of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.cli.support import Shell

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    """An empty directory, with the shop's pack configured."""
    return Shell(directory=tmp_path)
