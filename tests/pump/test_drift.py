"""What an approval is worth when the world changes between the decision and the execution."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from condor import Principal
from condor.core.errors import NotAnApprover
from condor.testing import FailDisk
from tests.pump.desk import BOB, CAT, call, open_desk, write_tool

if TYPE_CHECKING:
    from pathlib import Path

    from condor.testing import Ledger

WRITE = call("w", "book.write", record="a", value="x")


async def test_an_approval_of_roles_that_approve_no_more_runs_nothing(tmp_path: Path, ledger: Ledger) -> None:
    """A31: decided, not yet executed, and another role approves now: it asks again, of that role alone."""
    home, disk = tmp_path / "home", FailDisk(2, armed=False)
    open_to_managers = write_tool(ledger, approver_roles={"manager"})
    async with open_desk(home, open_to_managers, faults=disk, check=False, tend=False) as desk:
        run = await desk.run(WRITE)
        card = await desk.card(run["runId"])
        disk.arm()  # the answer is stored, the intent behind it is not
        await desk.answer(card, {"approved": True}, BOB)
    director = Principal(id="dee", roles=frozenset({"director"}), display="Dee")
    async with open_desk(home, write_tool(ledger, approver_roles={"director"}), seed=1) as desk:
        end = await desk.rest(run["runId"])
        assert (end["status"], ledger.count()) == ("suspended", 0)
        again = await desk.card(run["runId"])
        assert (again["generation"], again["answerRoles"]) == (2, ["director"])
        assert "changed since" in again["message"]
        assert (await desk.decisions(run["runId"])).count("approved") == 1
        with pytest.raises(NotAnApprover):
            await desk.answer(again, {"approved": True}, CAT)
        assert (await desk.approve(again, director))["status"] == "succeeded"
        assert ledger.count() == 1


async def test_an_approval_that_still_stands_is_used_after_the_interruption(
    tmp_path: Path, ledger: Ledger
) -> None:
    """Nothing changed: nobody is asked twice."""
    home, disk = tmp_path / "home", FailDisk(2, armed=False)
    async with open_desk(home, write_tool(ledger), faults=disk, check=False, tend=False) as desk:
        run = await desk.run(WRITE)
        card = await desk.card(run["runId"])
        disk.arm()
        await desk.answer(card, {"approved": True}, BOB)
    async with open_desk(home, write_tool(ledger), seed=1) as desk:
        end = await desk.rest(run["runId"])
        assert (end["status"], len(end["suspensions"]), ledger.count()) == ("succeeded", 1, 1)
