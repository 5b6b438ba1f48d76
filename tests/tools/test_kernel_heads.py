"""A revision of a kernel that was seen and is gone shuts its tool, wherever it has been seen."""

from __future__ import annotations

import datetime
from typing import TYPE_CHECKING, Any

import pytest

from condor import Condor
from condor.ports.clock import SystemClock
from condor.runtime.kernel_desk import KernelDesk
from condor.tools import ToolRegistry
from condor.tools.invocation import LocalToolbox
from condor.tools.kernel_heads import KERNEL_HEADS_FILE
from tests.tools.test_kernels import ADMIN, _remove, set_stock

if TYPE_CHECKING:
    from pathlib import Path

LAID: dict[str, Any] = {"hitlTier": "high", "approverRoles": ["manager"]}


def _desk(condor: Condor, home: Path) -> KernelDesk:
    """What another process on the same database has of kernels."""
    toolbox = LocalToolbox(ToolRegistry([set_stock]), clock=SystemClock(), today=datetime.date.today)
    home.mkdir(exist_ok=True)
    return KernelDesk(condor.store, toolbox, SystemClock(), home)


async def _is_shut(desk: KernelDesk) -> bool:
    await desk.load()
    (one,) = await desk.all()
    return bool(one["isShut"])


@pytest.mark.parametrize("condition", ["1", "rev = 2"], ids=["all of them", "the last one"])
async def test_a_kernel_laid_anew_is_so_for_every_process_of_its_home(
    tmp_path: Path, condition: str, caplog: pytest.LogCaptureFixture
) -> None:
    """Another home on the same database has seen the lost one too: there it is laid anew by itself."""
    async with Condor(tools=[set_stock], home=tmp_path, tend=False) as condor:
        for kernel in ({"hitlTier": "high"}, LAID):
            await condor.kernels.put("stock.set", kernel, principal=ADMIN)
        beside, elsewhere = _desk(condor, tmp_path), _desk(condor, tmp_path / "elsewhere")
        assert not await _is_shut(beside)
        assert not await _is_shut(elsewhere)
        await _remove(tmp_path, condition)
        assert [await _is_shut(desk) for desk in (condor.kernels, beside, elsewhere)] == [True] * 3
        assert "in each home that has seen it" in caplog.text
        await condor.kernels.put("stock.set", LAID, principal=ADMIN)
        assert [await _is_shut(desk) for desk in (condor.kernels, beside, elsewhere)] == [False, False, True]
        assert not await _is_shut(_desk(condor, tmp_path)), "the file says what was laid anew"
        await elsewhere.put("stock.set", LAID, principal=ADMIN)
        assert [await _is_shut(desk) for desk in (condor.kernels, beside, elsewhere)] == [False] * 3


async def test_a_process_that_knows_less_keeps_what_another_has_seen(tmp_path: Path) -> None:
    """It has not looked since a revision was laid; removed meanwhile, that one is missed all the same."""
    async with Condor(tools=[set_stock], home=tmp_path, tend=False) as condor:
        await condor.kernels.put("stock.set", {"hitlTier": "high"}, principal=ADMIN)
        beside = _desk(condor, tmp_path)
        assert not await _is_shut(beside)
        await condor.kernels.put("stock.set", LAID, principal=ADMIN)
        kept = (tmp_path / KERNEL_HEADS_FILE).read_text()
        await _remove(tmp_path, "rev = 2")
        assert await _is_shut(beside)
        assert (tmp_path / KERNEL_HEADS_FILE).read_text() == kept
        assert await _is_shut(_desk(condor, tmp_path))


async def test_a_file_that_was_put_back_opens_nothing(tmp_path: Path) -> None:
    """It names a revision of before; who has seen a later one goes by that."""
    async with Condor(tools=[set_stock], home=tmp_path, tend=False) as condor:
        await condor.kernels.put("stock.set", {"hitlTier": "high"}, principal=ADMIN)
        before = (tmp_path / KERNEL_HEADS_FILE).read_text()
        await condor.kernels.put("stock.set", LAID, principal=ADMIN)
        await _remove(tmp_path, "rev = 2")
        (tmp_path / KERNEL_HEADS_FILE).write_text(before)
        assert await _is_shut(condor.kernels)
