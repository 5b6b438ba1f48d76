"""R03 under kill -9: a medicine at a high tier, written once into the hospital's own record."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING, Any

import pytest

from condor import Condor
from condor.ports.faults import FAULT_POINTS
from condor.testing import Watching
from condor_hms.pack import PACK
from tests.simulation.actors import REQUEST
from tests.simulation.cases import Case, complaints, one_of_each

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.simulation.cases import Told

pytestmark = pytest.mark.slow

CASES = [case for case in one_of_each() if case.kind == "hospital"]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_one_order_whatever_happens(case: Case, play: Callable[[Case], Told]) -> None:
    """After kill -9 at the point the order stands in the record once, or not at all where it was denied."""
    told = play(case)
    assert told.ends[0] == "killed", "the point was not reached"
    assert list(complaints(case, told)) == []


async def test_every_point_is_passed_by_a_run_that_nothing_disturbs(
    hospital_home: Path, tmp_path: Path
) -> None:
    """A point that no run passes would make its cases worth nothing; all lie after the answer."""
    shutil.copytree(hospital_home, tmp_path / "home")
    watching = Watching()
    async with Condor(packs=[PACK], home=tmp_path / "home", demo=True, faults=watching, tend=False) as condor:
        who = condor.default_principal
        assert who is not None
        run = await condor.start(REQUEST, principal=who, autonomy="autonomous")
        parked: Any = await condor.wait(run.id)
        watching.reached.clear()
        (card,) = parked["suspensions"]
        await condor.resume(run.id, card["suspendId"], {"approved": True}, principal=who)
        end: Any = await condor.wait(run.id)
        assert end["status"] == "succeeded"
    assert set(FAULT_POINTS) == set(watching.reached)
