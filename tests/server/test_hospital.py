"""The main job on the demonstration hospital, over HTTP: R01, R02, R03, R05, R16, and their denials."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from condor_hms.pack import PACK
from tests.server.support import House, approve, card_of, chunks_of, open_house, problem_of

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    import httpx

pytestmark = pytest.mark.slow

R01 = "Give me a quick overview of Melissa Smith before I see her - allergies, meds and her last few A1cs."
R02 = "John Hernandez had angioedema with ibuprofen years ago, pls add it as a severe medication allergy."
R03 = "Start Melissa Smith on nitrofurantoin 100 mg twice a day for 5 days for her UTI."
R05 = (
    "Stop Helen Coleman's celecoxib, she's on escitalopram and venlafaxine as well and I don't like the "
    "bleeding risk."
)
R16 = "Flag Helen Coleman as a falls risk."


@pytest.fixture
async def hospital(tmp_path: Path) -> AsyncIterator[House]:
    """The demonstration hospital on a socket."""
    async with open_house(tmp_path, mode="demo", pack=PACK) as house:
        yield house


async def asked(hospital: House, who: str, text: str) -> dict[str, Any]:
    """A request of this person's, autonomous; the run at its rest, as its stream told it."""
    client = await hospital.signed_in(who)
    begun = await client.post("/api/runs", json={"request": text, "autonomy": "autonomous"})
    assert begun.status_code == 201, begun.text
    path = f"/api/runs/{begun.json()['runId']}"
    told = chunks_of((await client.get(f"{path}/stream")).text)
    run: dict[str, Any] = (await client.get(path)).json()
    assert told[-2]["messageMetadata"] == {"runStatus": run["status"], "seq": run["seq"]}
    return run


async def decided(hospital: House, who: str, run: dict[str, Any], **answer: Any) -> dict[str, Any]:
    """The run after this person's answer to its one open card."""
    client: httpx.AsyncClient = await hospital.signed_in(who)
    given = await client.post(f"/api/runs/{run['runId']}/approve", json=approve(run, **answer))
    assert given.status_code == 202, given.text
    return await hospital.rest(run["runId"])


async def test_r01_reads_and_nothing_waits(hospital: House) -> None:
    """A pure read ends by itself, with its card on the stream."""
    run = await asked(hospital, "dr-okafor", R01)
    assert (run["status"], run["suspensions"]) == ("succeeded", [])
    client = await hospital.signed_in("dr-okafor")
    told = chunks_of((await client.get(f"/api/runs/{run['runId']}/stream")).text)
    assert any(chunk["type"] == "data-ui-block" for chunk in told[:-1])


async def test_r02_a_low_write_of_a_person_who_lets_it(hospital: House) -> None:
    """Autonomous: recorded without a card. The same of a program waits: it is at most guarded."""
    run = await asked(hospital, "dr-okafor", R02)
    assert run["status"] in ("succeeded", "degraded")
    assert run["suspensions"] == []
    audit = await hospital.signed_in("audit-reyes")
    rows = (await audit.get("/api/audit", params={"runId": run["runId"]})).json()
    assert "mutate.low-tier-autonomous-allow" in {row.get("ruleId") for row in rows}
    program = await hospital.program("intake", roles=("doctor",))
    begun = await program.post("/api/runs", json={"request": R02, "autonomy": "autonomous"})
    assert (await hospital.rest(begun.json()["runId"]))["status"] == "suspended"


@pytest.mark.parametrize(
    ("request_text", "requester", "approver", "rule"),
    [
        (R03, "dr-okafor", "dr-okafor", "mutate.high-tier-always-approval"),
        (R05, "dr-okafor", "dr-lindholm", "mutate.high-tier-always-approval"),
        (R16, "rn-castillo", "rn-castillo", "mutate.high-tier-always-approval"),
    ],
    ids=["R03", "R05", "R16"],
)
async def test_a_high_write_waits_is_denied_or_happens(
    hospital: House, request_text: str, requester: str, approver: str, rule: str
) -> None:
    """Denied: nothing is written and the closing says so. Approved: it happens, and only then."""
    run = await asked(hospital, requester, request_text)
    assert run["status"] == "suspended"
    assert [wait["ruleId"] for wait in run["why"]["waitsFor"]] == [rule]
    denied = await decided(hospital, approver, run, approved=False, reason="not today")
    assert denied["status"] == "aborted"
    assert "⚠ Not completed:" in str(denied["closing"])
    run = await asked(hospital, requester, request_text)
    approved = await decided(hospital, approver, run)
    assert approved["status"] in ("succeeded", "degraded"), approved["closing"]
    assert "⚠ Not completed:" not in str(approved["closing"])


async def test_a_dose_is_edited_on_the_card(hospital: House) -> None:
    """R03, edited: half the dose, longer; the record is read anew, then a doctor approves."""
    run = await asked(hospital, "dr-okafor", R03)
    client = await hospital.signed_in("dr-lindholm")
    old = card_of(run)
    path = f"/api/suspensions/{old}/edit"
    other = await client.post(path, json={"args": {"patient": "Patient/pt-0b48e58a786b"}})
    assert problem_of(other) == (422, "invalid_edit")
    out = await client.post(path, json={"args": {"dose_value": -1}})
    assert problem_of(out) == (422, "invalid_edit")
    made = await client.post(path, json={"args": {"dose_value": 50, "duration_days": 7}})
    assert made.status_code == 201, made.text
    card = made.json()
    assert "Nitrofurantoin 50 mg oral, twice daily, for 7 days" in card["evidence"]["summary"]
    assert card["edits"][0]["before"] == {"dose_value": 100, "duration_days": 5}
    assert card["contractHash"] != run["suspensions"][0]["contractHash"]
    ended = await decided(hospital, "dr-okafor", await hospital.rest(run["runId"]), reason="renal function")
    assert ended["status"] == "succeeded"
    assert "Nitrofurantoin 50 mg" in str(ended["closing"])
    assert "Nitrofurantoin 100 mg" not in str(ended["closing"])
    assert "(Edited by Dr " in str(ended["closing"])


async def test_only_who_may_answers(hospital: House) -> None:
    """Reception and billing do not even see it; a nurse, the auditor and the admin do not decide it."""
    run = await asked(hospital, "dr-okafor", R03)
    path = f"/api/runs/{run['runId']}/approve"
    for who in ("front-tanaka", "bill-novak", "rn-castillo", "audit-reyes", "admin"):
        client = await hospital.signed_in(who)
        assert problem_of(await client.post(path, json=approve(run)))[0] in (403, 404), who
    assert (await hospital.rest(run["runId"]))["status"] == "suspended"
    assert card_of(run)
