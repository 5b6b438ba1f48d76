"""The main job over HTTP: a request, a card, a decision, an honest end."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.server.support import approve, card_of, chunks_of, problem_of, refund

if TYPE_CHECKING:
    from tests.server.support import House


async def test_a_write_waits_and_runs_once_when_it_is_approved(house: House) -> None:
    """Start, stream, approve, stream again: one card in place, one effect."""
    ann, cleo = await house.signed_in("ann"), await house.signed_in("cleo")
    begun = await ann.post("/api/runs", json={"plan": refund()})
    assert begun.status_code == 201
    run_id = begun.json()["runId"]
    assert begun.headers["location"] == f"/api/v1/runs/{run_id}"
    told = chunks_of((await ann.get(f"/api/runs/{run_id}/stream")).text)
    assert told[-1] == "[DONE]"
    assert told[-2]["messageMetadata"]["runStatus"] == "suspended"
    run = (await ann.get(f"/api/runs/{run_id}")).json()
    assert run["why"]["waitsFor"][0]["whoMayAnswer"] == ["manager"]
    taken = await cleo.post(f"/api/runs/{run_id}/approve", json=approve(run))
    assert (taken.status_code, taken.json()["suspendId"]) == (202, card_of(run))
    told = chunks_of((await cleo.get(f"/api/runs/{run_id}/stream")).text)
    assert told[-2]["messageMetadata"]["runStatus"] == "succeeded"
    cards = [
        chunk["output"]["status"]
        for chunk in told[:-1]
        if chunk.get("toolCallId") == card_of(run) and "output" in chunk
    ]
    assert cards == ["pending", "approved"]
    assert house.shop.ledger.count("A-1") == 1


async def test_a_denial_runs_nothing(house: House) -> None:
    """The run is aborted, and says so."""
    run = await house.parked()
    cleo = await house.signed_in("cleo")
    denied = await cleo.post(
        f"/api/runs/{run['runId']}/approve", json=approve(run, approved=False, reason="no")
    )
    assert denied.status_code == 202
    ended = await house.rest(run["runId"])
    assert ended["status"] == "aborted"
    assert "⚠ Not completed:" in str(ended["closing"])
    assert house.shop.ledger.count() == 0
    late = await cleo.post(f"/api/runs/{run['runId']}/approve", json=approve(run))
    assert problem_of(late) == (409, "already_decided")
    assert late.json()["decidedBy"] == "Cleo, manager"
