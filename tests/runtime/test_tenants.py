"""Rows carry a tenant; until requests do, a store takes nothing of one tenant on a run of another."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

import pytest

from condor.core.ids import TenantId
from condor.ports.store import Conflict
from condor.store.sqlite import SqliteStore
from condor.testing.store_units import creation, everything, run_name

if TYPE_CHECKING:
    from pathlib import Path


async def test_another_tenant_s_run_is_not_there(tmp_path: Path) -> None:
    """A32: it is refused in the words for a run that does not exist, and nothing of the run moves."""
    store = SqliteStore.open(tmp_path / "condor.db")
    try:
        await store.commit(creation())
        before = await store.run(run_name(1))
        stranger = dataclasses.replace(everything(), tenant_id=TenantId("other"), park=())
        with pytest.raises(Conflict) as refused:
            await store.commit(stranger)
        assert (refused.value.kind, refused.value.run) == ("missing", None)
        assert await store.run(run_name(1)) == before
    finally:
        await store.close()
