"""What the tests of the embedded store share: a store on a fresh file, closed at the end."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from condor.ports.faults import Faults, no_faults
from condor.store.sqlite import SqliteStore

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable
    from pathlib import Path


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "condor.db"


@pytest.fixture
async def opened(path: Path) -> AsyncIterator[Callable[..., SqliteStore]]:
    """Opens stores on the one file; closes them all."""
    stores: list[SqliteStore] = []

    def open_store(faults: Faults = no_faults, *, read_only: bool = False) -> SqliteStore:
        stores.append(SqliteStore.open(path, faults=faults, read_only=read_only))
        return stores[-1]

    yield open_store
    for store in stores:
        await store.close()
