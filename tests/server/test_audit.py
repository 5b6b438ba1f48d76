"""The audit over HTTP: its time filter, its seals, and the runs of one chat."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.server.support import step

if TYPE_CHECKING:
    from tests.server.support import House


async def test_rows_are_found_by_time(house: House) -> None:
    """Both ends count, in any zone; a page leads on within them."""
    await house.parked("ann")
    await house.parked("ben")
    auditor = await house.signed_in("audit")
    rows = (await auditor.get("/api/audit")).json()
    times = sorted(row["at"] for row in rows)
    middle = times[len(times) // 2]
    for name, fits in (("since", str.__ge__), ("until", str.__le__)):
        wanted = [row for row in rows if fits(row["at"], middle)]
        path: str | None = f"/api/audit?{name}={middle}&limit=2"
        found = []
        while path is not None:
            page = await auditor.get(path)
            found += page.json()
            path = page.links["next"]["url"] if "next" in page.links else None
        assert found == wanted
    west = middle.replace("Z", "-00:00")
    same = (await auditor.get("/api/audit", params={"since": middle})).json()
    assert (await auditor.get("/api/audit", params={"since": west})).json() == same


@pytest.mark.parametrize("given", ["yesterday", "2026-11-30", "2026-11-30T09:30:00", ""])
async def test_what_is_no_moment_is_refused(house: House, given: str) -> None:
    """With how one is written."""
    auditor = await house.signed_in("audit")
    refused = await auditor.get("/api/audit", params={"until": given})
    assert refused.status_code == 422
    assert "2026-11-30T09:30:00Z" in refused.json()["detail"]


async def test_the_state_of_sealing_is_shown(house: House) -> None:
    """Nothing sealed, then all of it, then what came after."""
    auditor = await house.signed_in("audit")
    assert (await auditor.get("/api/audit/seals")).json()["seals"] == 0
    await house.parked("ann")
    await house.condor.seal()
    sealed = (await auditor.get("/api/audit/seals")).json()
    assert (sealed["seals"], sealed["unsealedRuns"], sealed["isAtLeast"]) == (1, 0, False)
    assert sealed["last"].keys() == {"seq", "hash", "at", "runs"}
    assert sealed["last"]["runs"] == 1
    await house.parked("ben")
    assert (await auditor.get("/api/audit/seals")).json()["unsealedRuns"] == 1


async def test_the_runs_of_a_chat_are_listed_alone(house: House) -> None:
    """However many others there are, by page; to others they are not there."""
    ann = await house.signed_in("ann")
    find = {"steps": [step("f", "shop.find", order="A")]}
    own = [(await house.parked("ann", find, sessionId="chat-1"))["runId"] for _ in range(3)]
    await house.parked("ann", find)
    first = await ann.get("/api/runs?sessionId=chat-1&limit=2")
    assert [run["runId"] for run in first.json()] == own[:0:-1]
    second = await ann.get(first.links["next"]["url"])
    assert [run["runId"] for run in second.json()] == own[:1]
    ben = await house.signed_in("ben")
    assert (await ben.get("/api/runs?sessionId=chat-1")).json() == []
