"""``/api/events`` and the lists: told to who may know, and without a word of a record."""

from __future__ import annotations

import asyncio
import json
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from tests.server.support import PATIENCE_S, approve, card_of, problem_of, refund, step

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    import httpx

    from tests.server.support import House


class Changes:
    """The events of one open inbox stream, as they come."""

    def __init__(self, answer: httpx.Response) -> None:
        """Of a stream that is open."""
        self._lines = answer.aiter_lines()
        self.seen: list[tuple[str, dict[str, Any]]] = []

    async def until(self, name: str, **facts: Any) -> dict[str, Any]:
        """The next event of this name that has these facts."""
        async with asyncio.timeout(PATIENCE_S):
            event = ""
            async for line in self._lines:
                kind, _, value = line.partition(": ")
                if kind == "event":
                    event = value
                elif kind == "data":
                    body = json.loads(value)
                    self.seen.append((event, body))
                    if event == name and facts.items() <= body.items():
                        return dict(body)
        raise AssertionError(f"no {name} came")


@asynccontextmanager
async def changes(client: httpx.AsyncClient) -> AsyncIterator[Changes]:
    """An open inbox stream."""
    async with client.stream("GET", "/api/events") as answer:
        assert answer.status_code == 200
        found = Changes(answer)
        await found.until("ready")
        yield found


async def test_a_card_is_told_when_it_opens_and_closes(house: House) -> None:
    """To who may answer it; the list then has it, and says whether this person may."""
    cleo = await house.signed_in("cleo")
    async with changes(cleo) as inbox:
        run = await house.parked()
        opened = await inbox.until("inbox")
        assert (opened["runId"], opened["opened"], opened["closed"]) == (run["runId"], [card_of(run)], [])
        listed = (await cleo.get("/api/suspensions", params={"status": "pending"})).json()
        assert [(card["suspendId"], card["mayAnswer"]) for card in listed] == [(card_of(run), True)]
        await cleo.post(f"/api/runs/{run['runId']}/approve", json=approve(run))
        closed = await inbox.until("inbox")
        assert (closed["opened"], closed["closed"]) == ([], [card_of(run)])
        if not any(body.get("status") == "succeeded" for _, body in inbox.seen):
            await inbox.until("run", status="succeeded")
    assert (await cleo.get("/api/suspensions", params={"status": "pending"})).json() == []


async def test_who_may_not_know_is_told_nothing(house: House) -> None:
    """Another role's stream stays silent; nobody's holds a word of the record."""
    dora, cleo = await house.signed_in("dora"), await house.signed_in("cleo")
    async with changes(dora) as silent, changes(cleo) as inbox:
        run = await house.parked(plan=refund("ZZCANARY-7731"))
        own = await house.parked("dora", plan={"steps": [step("f", "shop.find", order="B")]})
        await inbox.until("inbox")
        await silent.until("run", status="succeeded")
        assert {body["runId"] for name, body in silent.seen if name == "run"} == {own["runId"]}
        assert run["runId"] in {body["runId"] for name, body in inbox.seen if name == "run"}
        assert "CANARY" not in str(inbox.seen)


async def test_who_reads_what(house: House) -> None:
    """The requester, who may answer, the auditor and the admin; nobody else."""
    run = await house.parked()
    path = f"/api/runs/{run['runId']}"
    for who, status in {"ann": 200, "cleo": 200, "audit": 200, "admin": 200, "ben": 404, "dora": 404}.items():
        client = await house.signed_in(who)
        assert (await client.get(path)).status_code == status, who
        assert (await client.get(f"/api/suspensions/{card_of(run)}")).status_code == status, who
        assert len((await client.get("/api/runs")).json()) == (status == 200), who
        assert len((await client.get("/api/suspensions")).json()) == (status == 200), who
        rows = await client.get("/api/audit", params={"runId": run["runId"]})
        assert rows.status_code == status, who
        everything = await client.get("/api/audit")
        assert everything.status_code == (200 if who in ("audit", "admin") else 403), who
        if status == 200:
            assert [row["runId"] for row in rows.json()] == [run["runId"]] * len(rows.json())
    await (await house.signed_in("cleo")).post(f"{path}/approve", json=approve(run))
    await house.rest(run["runId"])
    assert (await (await house.signed_in("cleo")).get(path)).status_code == 200


async def test_who_decides_what(house: House) -> None:
    """Auditor and admin see it and decide nothing, not even an end."""
    run = await house.parked()
    path = f"/api/runs/{run['runId']}"
    for who in ("audit", "admin"):
        client = await house.signed_in(who)
        assert problem_of(await client.post(f"{path}/approve", json=approve(run))) == (403, "not_an_approver")
        assert problem_of(await client.post(f"{path}/stop", json={})) == (403, "forbidden")
    ben = await house.signed_in("ben")
    assert problem_of(await ben.post(f"{path}/stop", json={})) == (404, "not_found")
    ann = await house.signed_in("ann")
    # Each refused try is a row of the audit; nothing else has changed.
    assert (await ann.get(path)).json() | {"updatedAt": ""} == run | {"updatedAt": ""}
    assert (await ann.post(f"{path}/stop", json={"reason": "wrong order"})).status_code == 202
    ended = await house.rest(run["runId"])
    assert ended["status"] == "aborted"
    assert problem_of(await ann.post(f"{path}/stop", json={})) == (409, "run_not_active")
    late = await (await house.signed_in("cleo")).post(f"{path}/approve", json=approve(run))
    assert problem_of(late)[0] == 409


async def test_lists_come_in_pages(house: House) -> None:
    """A Link header leads from page to page, each row once, to the end."""
    runs = [await house.parked(plan=refund(f"A-{number}")) for number in range(5)]
    cleo = await house.signed_in("cleo")
    for path, key, expected in (
        ("/api/runs?limit=2", "runId", [run["runId"] for run in reversed(runs)]),
        ("/api/suspensions?limit=2&status=pending", "suspendId", [card_of(run) for run in runs]),
    ):
        found, address = [], path
        while address:
            page = await cleo.get(address)
            found += [row[key] for row in page.json()]
            address = page.headers.get("link", "").partition(">")[0].removeprefix("<")
        assert found == expected
    audit = await house.signed_in("audit")
    rows, address = [], "/api/audit?limit=3&decision=suspended"
    while address:
        page = await audit.get(address)
        rows += page.json()
        address = page.headers.get("link", "").partition(">")[0].removeprefix("<")
    assert [row["decision"] for row in rows] == ["suspended"] * 5


async def test_the_inbox_is_narrowed(house: House) -> None:
    """By tool, tier, requester, kind, origin, run and age, in either order; pages keep the filter."""
    runs = [await house.parked(plan=refund(f"A-{number}")) for number in range(3)]
    note = await house.parked("ben", plan={"steps": [step("n", "shop.note", text="hello")]})
    cleo = await house.signed_in("cleo")
    refunds = [card_of(run) for run in runs]

    async def listed(**query: Any) -> list[str]:
        found, address = [], f"/api/suspensions?{urlencode({'status': 'pending', **query})}"
        while address:
            page = await cleo.get(address)
            assert page.status_code == 200, page.text
            found += [card["suspendId"] for card in page.json()]
            address = page.headers.get("link", "").partition(">")[0].removeprefix("<")
        return found

    assert await listed(tool="shop.refund", limit=2) == refunds
    assert await listed(tool="shop.refund", limit=1, order="newest") == refunds[::-1]
    assert await listed(tier="low") == [card_of(note)]
    assert await listed(requester="ben") == [card_of(note)]
    assert await listed(requester="ben", tool="shop.refund") == []
    assert await listed(kind="clarification") == await listed(origin="reconcile") == []
    assert await listed(kind="approval", origin="tool_policy") == [*refunds, card_of(note)]
    assert await listed(subject="Patient/pt-1") == []
    opened = runs[1]["suspensions"][0]["openedAt"]
    assert await listed(runId=runs[0]["runId"], openedUntil=opened) == refunds[:1]
    assert card_of(note) in await listed(openedFrom=opened)
    dora = await house.signed_in("dora")
    assert (await dora.get("/api/suspensions?tool=shop.refund")).json() == []
    for wrong in (
        "tier=medium",
        "kind=question",
        "origin=me",
        "order=name",
        "openedFrom=noon",
        "status=open",
    ):
        assert problem_of(await cleo.get(f"/api/suspensions?{wrong}"))[0] == 422, wrong


async def test_the_chains_are_whole_and_a_broken_one_is_named(house: House) -> None:
    """For who may read them."""
    run = await house.parked()
    audit, ann = await house.signed_in("audit"), await house.signed_in("ann")
    whole = (await audit.get("/api/audit/verify")).json()
    assert (whole["kept"], whole["runs"], whole["bad"]) == (True, 1, [])
    assert problem_of(await ann.get("/api/audit/verify")) == (403, "forbidden")
    assert (await ann.get("/api/audit/verify", params={"runId": run["runId"]})).json()["kept"] is True
    house.condor.store._writer.call(  # type: ignore[attr-defined]
        lambda connection: connection.execute(
            "UPDATE audit SET body = replace(body, 'ann', 'bob') WHERE seq = 1"
        )
    ).result()
    broken = (await audit.get("/api/audit/verify")).json()
    assert (broken["kept"], broken["bad"][0]["firstBadSeq"]) == (False, 1)


async def test_the_policy_is_explained(house: House) -> None:
    """The rules, and the verdict that a call would get; nothing is run."""
    ann = await house.signed_in("ann")
    rules = (await ann.get("/api/policy/rules")).json()
    assert rules[-1]["ruleId"] == "unknown.fail-closed"
    call = {"tool": "shop.note", "args": {"text": "x"}, "autonomy": "autonomous"}
    assert (await ann.post("/api/policy/explain", json=call)).json()["decision"] == "allow"
    guarded = (await ann.post("/api/policy/explain", json={**call, "autonomy": "guarded"})).json()
    assert guarded["ruleId"] == "mutate.low-tier-supervised-approval"
    odd = {**call, "args": {"reason": "x", "\u202etxt" + "y" * 200: "x"}}
    refused = (await ann.post("/api/policy/explain", json=odd)).json()
    assert "has no argument reason, \\u202etxty" in refused["detail"]
    assert len(refused["detail"]) < 300
    assert problem_of(await ann.post("/api/policy/explain", json={"tool": "no.such"})) == (404, "not_found")
    wrong = {**call, "autonomy": "free"}
    assert problem_of(await ann.post("/api/policy/explain", json=wrong)) == (422, "unknown_autonomy")
    assert [tool["name"] for tool in (await ann.get("/api/tools")).json()] == [
        "shop.find",
        "shop.note",
        "shop.pause",
        "shop.refund",
        "shop.wait",
    ]
