"""Snapshots: the wire shapes of a run and of a suspension, which clients rely on."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from condor import PolicyClass, ToolContext, tool
from tests.pump.desk import call, open_desk, read_tool, write_tool

if TYPE_CHECKING:
    from pathlib import Path

    from condor.testing import Ledger

RUN_KEYS = {
    "v",
    "runId",
    "sessionId",
    "status",
    "seq",
    "autonomy",
    "requester",
    "createdAt",
    "updatedAt",
    "request",
    "plan",
    "graph",
    "steps",
    "suspensions",
    "budget",
    "recovery",
    "closing",
    "notices",
    "why",
}
CARD_KEYS = {
    "v",
    "kind",
    "suspendId",
    "runId",
    "stepId",
    "contractHash",
    "reasonCode",
    "origin",
    "generation",
    "toolName",
    "toolInput",
    "headline",
    "resumeSchema",
    "expiresAt",
    "policy",
    "status",
    "openedAt",
    "requester",
    "requesterDisplay",
    "answerRoles",
    "answerers",
    "requesterMayAnswer",
    "requesterExcluded",
}


async def test_the_shape_of_a_run(tmp_path: Path, ledger: Ledger) -> None:
    """GET /api/runs/{runId}, ``show --json`` and the last line of ``run --json``: one object, all JSON."""
    tool = write_tool(ledger, approver_roles={"manager"})
    async with open_desk(tmp_path / "home", read_tool(ledger), tool) as desk:
        run = await desk.run(
            call("r", "book.read", title="Look"),
            call("w", "book.write", record="a", value="x"),
            session_id="chat-1",
        )
        assert set(run) == RUN_KEYS
        assert json.loads(json.dumps(run)) == run
        assert (run["v"], run["sessionId"], run["requester"]) == (
            1,
            "chat-1",
            {"id": "ann", "display": "Ann Ito"},
        )
        assert run["why"] == {
            "status": "suspended",
            "waitsFor": [
                {
                    "suspendId": run["suspensions"][0]["suspendId"],
                    "stepId": "w",
                    "reasonCode": "approval",
                    "origin": "tool_policy",
                    "tool": "book.write",
                    "ruleId": "mutate.high-tier-always-approval",
                    "promotions": [],
                    "whoMayAnswer": ["manager"],
                    "requesterMayAnswer": False,
                    "until": "2026-11-30T10:00:00.000Z",
                }
            ],
        }
        assert [step["id"] for step in run["steps"]] == ["r", "w"]
        assert run["steps"][0]["title"] == "Look"
        assert set(run["suspensions"][0]) == CARD_KEYS
        end = await desk.approve(await desk.card(run["runId"]))
        assert set(end["suspensions"][0]) == CARD_KEYS | {"decidedBy", "decidedAt", "decidedByDisplay"}
        assert end["why"] == {"status": "succeeded", "waitsFor": []}


async def test_one_suspension_reads_the_same_everywhere(tmp_path: Path, ledger: Ledger) -> None:
    """The inbox (with the request beside it), the snapshot and GET /api/suspensions/{id} show one card."""
    async with open_desk(tmp_path / "home", write_tool(ledger)) as desk:
        run = await desk.run(call("w", "book.write", record="a", value="x"))
        card = await desk.card(run["runId"])
        assert await desk.condor.pending() == [{**card, "request": None}]
        assert await desk.condor.suspension(card["suspendId"]) == card
        end = await desk.deny(card, reason="no")
        closed = await desk.condor.suspension(card["suspendId"])
        assert closed == end["suspensions"][0]
        assert (closed["status"], closed["reason"], closed["decidedByDisplay"]) == ("denied", "no", "Bob Ode")
        assert await desk.condor.pending() == []


async def test_secrets_are_masked_on_cards_but_bound_by_hash(tmp_path: Path, ledger: Ledger) -> None:
    """Report 45: masked at any depth where it is shown and told; the contract is over the raw arguments."""
    got = []

    @tool("job.run", policy_class=PolicyClass.EXEC)
    async def job(ctx: ToolContext, cfg: dict[str, Any]) -> str:
        got.append(cfg)
        return "ran"

    async with open_desk(tmp_path / "home", job) as desk:
        hashes = []
        for secret in ("x", "y"):
            run = await desk.run(call("j", "job.run", cfg={"db": {"password": secret}, "user": "u"}))
            card = await desk.card(run["runId"])
            assert card["toolInput"] == {"cfg": {"db": {"password": "•••"}, "user": "u"}}
            hashes.append(card["contractHash"])
            log = json.dumps([await desk.events(run["runId"]), await desk.audit(run["runId"])])
            assert "password" not in log
            await desk.approve(card)
        assert (hashes[0] != hashes[1], [cfg["db"]["password"] for cfg in got]) == (True, ["x", "y"])


async def test_secrets_are_masked_in_the_whole_snapshot(tmp_path: Path, ledger: Ledger) -> None:
    """Plan, graph, arguments and results, by key and inside texts; what the tool gets is raw."""
    got: list[object] = []

    @tool("job.run", policy_class=PolicyClass.READ)
    async def job(ctx: ToolContext, cfg: dict[str, Any], note: str) -> dict[str, Any]:
        got.append((cfg, note))
        return {"pwd": "ZZSECRET", "said": [note]}

    async with open_desk(tmp_path / "home", job) as desk:
        note = "use pg://app:ZZSECRET@db, token: ZZSECRET"
        cfg = {"authorization": "ZZSECRET", "user": "u"}
        step = call("j", "job.run", cfg=cfg, note=note, title="with password=ZZSECRET")
        shown: Any = await desk.run(step)
        assert got == [(cfg, note)]
        assert "ZZSECRET" not in json.dumps({**shown, "closing": None})
        (told,) = shown["steps"]
        assert told["result"] == {"pwd": "•••", "said": ["use pg://app:•••@db, token: •••"]}
        assert told["title"] == "with password=•••"
        assert shown["plan"]["steps"][0]["args"]["cfg"] == {"authorization": "•••", "user": "u"}
        stored = await desk.condor._stored().load(shown["runId"])
        assert stored is not None
        assert b"ZZSECRET" in stored.payloads["plan"]


async def test_history_holds_no_record_data(tmp_path: Path, ledger: Ledger) -> None:
    """B09: a canary in arguments, answers, reasons and results stands in payloads only."""
    canary = "ZZCANARY-7731"
    async with open_desk(tmp_path / "home", read_tool(ledger), write_tool(ledger)) as desk:
        run = await desk.run(
            call("r", "book.read", record=canary), call("w", "book.write", record=canary, value=canary)
        )
        await desk.answer(await desk.card(run["runId"]), {"approved": True, "reason": canary})
        await desk.rest(run["runId"])
        other = await desk.run(call("w", "book.write", record=canary, value=canary))
        await desk.deny(await desk.card(other["runId"]), reason=canary)
        store = desk.condor._stored()
        for run_id in (run["runId"], other["runId"]):
            log = [await desk.events(run_id), await desk.audit(run_id)]
            rows = await store.load(run_id)
            assert rows is not None
            facts = [row.facts for row in rows.suspensions]
            assert canary not in json.dumps(log)
            assert canary.encode() not in b"".join(facts)
