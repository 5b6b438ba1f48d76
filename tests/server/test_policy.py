"""What is told of the policy: when a person is asked, tool by tool."""

from __future__ import annotations

from typing import TYPE_CHECKING

from condor_hms.pack import PACK
from tests.server.support import approve, lose_kernel, open_house, problem_of, step

if TYPE_CHECKING:
    from pathlib import Path

    import httpx

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


async def test_who_approves_is_told_once(tmp_path: Path) -> None:
    """List and explanations name the same approvers: of every tool, with kernels, and of one that is shut."""
    async with open_house(tmp_path / "home", mode="demo", pack=PACK) as house:
        admin = await house.signed_in("admin")
        declared = await approvers_of_all(admin)
        assert declared["document.archive"]["roles"] == ["doctor"]  # declared with admin, who decides nothing
        assert not any(told["isShut"] for told in declared.values())

        kernels = "/api/admin/tool-kernels"
        laid = {
            "note.draft": ["nurse"],
            "order.lab.create": ["doctor"],
            "document.archive": ["doctor", "admin"],
        }
        for name, roles in laid.items():
            body = {"rev": 0, "approverRoles": roles}
            assert (await admin.put(f"{kernels}/{name}", json=body)).status_code == 200, name
        await lose_kernel(house, "task.create")
        held = await approvers_of_all(admin)
        assert {name for name in held if held[name] != declared[name]} == {*laid, "task.create"} - {
            "document.archive"  # who decides nothing is not told, laid or not
        }
        assert (held["note.draft"]["roles"], held["order.lab.create"]["roles"]) == (["nurse"], ["doctor"])
        assert held["task.create"] == {"roles": [], "anybody": False, "isShut": True}

        shut = (await admin.get(f"{kernels}/task.create")).json()
        assert (shut["isShut"], shut["declared"]["isShut"]) == (True, False)
        assert shut["mayName"] == shut["declared"]["approvers"]["roles"] == declared["task.create"]["roles"]


async def approvers_of_all(admin: httpx.AsyncClient) -> dict[str, dict[str, object]]:
    """Who approves each tool that changes something, as the list says it and every explanation confirms."""
    found = {}
    for tool in (await admin.get("/api/tools")).json():
        asked = 0
        for op in tool["ops"] if tool["opArg"] else [None]:
            call = {"tool": tool["name"], "args": {tool["opArg"]: op} if op else {}, "autonomy": "guarded"}
            told = (await admin.post("/api/policy/explain", json=call)).json()
            if told["decision"] == "allow":
                assert (told["approvers"], told["approverRoles"]) == (None, []), tool["name"]
                continue
            asked += 1
            assert told["approvers"] == tool["approvers"], tool["name"]
            assert told["approverRoles"] == tool["approvers"]["roles"], tool["name"]
        assert bool(asked) == (tool["policyClass"] != "read"), tool["name"]
        if asked:
            found[tool["name"]] = {**tool["approvers"], "isShut": tool["isShut"]}
    return found


async def test_a_kernel_may_name_only_who_approves(house: House) -> None:
    """The server names the roles that narrow a tool; each is taken, any other is refused."""
    admin = await house.signed_in("admin")
    for name in ("shop.refund", "shop.note"):
        kernel = f"/api/admin/tool-kernels/{name}"
        offered = (await admin.get(kernel)).json()["mayName"]
        assert offered, name
        for role in ("admin", "auditor", "clerk", "driver", "manager"):
            tried = await admin.post(f"{kernel}/check", json={"approverRoles": [role]})
            assert (tried.status_code == 200) == (role in offered), (name, role)


async def test_a_card_of_a_shut_tool_names_nobody(house: House) -> None:
    """No role stands in for nobody; whoever sees the card is refused, and it waits."""
    await lose_kernel(house, "shop.note")
    run = await house.parked(plan={"steps": [step("n", "shop.note", text="x")]})
    [shown] = run["suspensions"]
    assert shown["answerers"] == {"roles": [], "anybody": False}
    for who, answer in (
        ("ann", (403, "not_an_approver")),
        ("admin", (403, "not_an_approver")),
        ("cleo", (404, "not_found")),
    ):
        client = await house.signed_in(who)
        refused = await client.post(f"/api/runs/{run['runId']}/approve", json=approve(run))
        assert problem_of(refused) == answer, who
    open_card = await house.parked()
    assert open_card["suspensions"][0]["answerers"] == {"roles": ["manager"], "anybody": False}
