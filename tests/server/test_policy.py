"""What is told of the policy: when a person is asked, tool by tool."""

from __future__ import annotations

from typing import TYPE_CHECKING

from condor_hms.pack import PACK
from tests.server.support import open_house

if TYPE_CHECKING:
    from pathlib import Path

    from tests.server.support import House


async def test_a_list_says_when_each_tool_asks(house: House) -> None:
    """By the policy's own verdicts."""
    ann = await house.signed_in("ann")
    asks = {tool["name"]: tool["asks"] for tool in (await ann.get("/api/tools")).json()}
    assert (asks["shop.find"], asks["shop.note"], asks["shop.refund"]) == ("never", "supervised", "always")


async def test_what_only_takes_away_always_asks(tmp_path: Path) -> None:
    """Whatever tier it declares; and no explanation names who decides nothing."""
    async with open_house(tmp_path / "home", mode="demo", pack=PACK) as house:
        admin = await house.signed_in("admin")
        tools = {tool["name"]: tool for tool in (await admin.get("/api/tools")).json()}
        for name, tool in sorted(tools.items()):
            verdicts = set()
            for op in tool["ops"] if tool["opArg"] else [None]:
                call = {"tool": name, "args": {tool["opArg"]: op} if op else {}, "autonomy": "autonomous"}
                told = (await admin.post("/api/policy/explain", json=call)).json()
                verdicts.add(told["decision"] == "allow")
                assert {"admin", "auditor"}.isdisjoint(told["approverRoles"]), name
            wanted = {(True,): ("never", "supervised"), (False,): ("always",)}.get(
                tuple(verdicts), ("by-op",)
            )
            assert tool["asks"] in wanted, name
        for name in ("order.cancel", "treatment.cancel", "medication.discontinue", "document.archive"):
            assert (tools[name]["hitlTier"], tools[name]["asks"]) == ("low", "always"), name
        assert tools["note.update"]["asks"] == "by-op"
