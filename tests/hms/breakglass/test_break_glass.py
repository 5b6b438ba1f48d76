"""Break-glass, from typed text to the closed review: never held up, never silent, reviewed by another."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import pytest

from condor import Condor, NotAnApprover
from condor_hms.fhir.embedded import EmbeddedFhirStore
from condor_hms.fhir.errors import Unavailable
from condor_hms.fhir.table_store import utc_now
from condor_hms.fhir.validation import check_content
from condor_hms.pack import PACK
from tests.acceptance.test_requests import Ward

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

LEONARD = "Patient/pt-7b9efe220e71"
ASK = "Break the glass for Leonard Mason: unconscious in the ED, no history to be had"


@pytest.fixture
async def ward(tmp_path: Path) -> AsyncIterator[Ward]:
    async with Condor(packs=[PACK], home=tmp_path, demo=True) as condor:
        yield Ward(condor, tmp_path)
        assert all([verdict.kept async for verdict in condor.verify()])


async def said(ward: Ward, text: str, name: str, autonomy: str = "guarded") -> dict[str, Any]:
    run = await ward.condor.start(text, autonomy=autonomy, principal=ward.who(name))
    return await ward.condor.wait(run.id)


@pytest.mark.parametrize("autonomy", ["ambient", "autonomous", "guarded"])
async def test_an_emergency_read_waits_for_nobody_and_is_on_record(ward: Ward, autonomy: str) -> None:
    """A nurse, whose role does not open the whole record, has it at once; who, whom and why are kept."""
    refused = await said(ward, "Show the full record of Leonard Mason", "rn-castillo")
    assert "needs an admin or a doctor" in refused["closing"]
    run = await said(ward, ASK, "rn-castillo", autonomy)
    assert (run["status"], run["suspensions"], run["notices"]) == ("succeeded", [], [])
    assert "no known allergies" in run["closing"]
    assert "Emergency read on record, to be reviewed (Task/" in run["closing"]
    (event,) = await ward.search("AuditEvent", entity=LEONARD)
    assert event["subtype"][0]["code"] == "110127"
    assert event["purposeOfEvent"][0]["coding"][0]["code"] == "BTG"
    assert event["agent"][0]["who"]["reference"] == "Practitioner/rn-castillo"
    details = {row["type"]: row["valueString"] for row in event["entity"][0]["detail"]}
    assert details["reason"] == "unconscious in the ED, no history to be had"
    assert details["run_id"] == run["runId"]
    (task,) = await ward.search("Task", patient=LEONARD)
    assert task["status"] == "requested"
    assert task["focus"] == {"reference": f"AuditEvent/{event['id']}"}
    assert [check_content(row, today=utc_now().date()) for row in (event, task)] == [[], []]
    assert "executed" in await ward.decisions(run)


async def test_the_reason_is_typed_and_not_one_word(ward: Ward) -> None:
    """Without one it is asked for; nothing is read and nothing is on record before."""
    run = await said(ward, "Break the glass for Leonard Mason", "dr-lindholm")
    (card,) = run["suspensions"]
    assert card["reasonCode"] == "clarification"
    with pytest.raises(Exception, match="reason"):
        await ward.answer(run, {"reason": "x"}, "dr-lindholm")
    assert await ward.search("AuditEvent", entity=LEONARD) == []
    run = await ward.answer(run, {"reason": "chest pain, ECG to compare"}, "dr-lindholm")
    assert run["status"] == "succeeded"
    assert len(await ward.search("AuditEvent", entity=LEONARD)) == 1


async def test_an_auditor_lists_and_closes_what_waits(ward: Ward) -> None:
    """The queue holds each read until it is closed with a finding and words; closed, it is gone from it."""
    await said(ward, ASK, "rn-castillo")
    await said(ward, ASK.replace("Leonard Mason", "Helen Coleman"), "dr-okafor")
    listed = await said(ward, "Show the emergency reads that wait", "audit-reyes")
    assert listed["notices"] == []
    assert listed["closing"].startswith("2 emergency reads to review: Task/")
    assert "by Maya Castillo: unconscious in the ED" in listed["closing"]
    (task,) = await ward.search("Task", patient=LEONARD)
    close = f"Task/{task['id']} was justified because the patient was unconscious"
    closed = await said(ward, close, "audit-reyes", "autonomous")
    assert closed["status"] == "succeeded", closed["closing"]
    assert "Review closed as justified: the patient was unconscious" in closed["closing"]
    assert closed["notices"] == []
    (after,) = await ward.search("Task", patient=LEONARD)
    assert (after["status"], after["output"][0]["valueCode"]) == ("completed", "justified")
    assert after["owner"] == {"display": "Audit Reyes"} or "reyes" in json.dumps(after["owner"]).lower()
    assert len(await ward.search("Provenance", target=f"Task/{task['id']}")) == 2
    again = await said(ward, "Show the emergency reads", "audit-reyes")
    assert again["closing"].startswith("1 emergency read to review")
    twice = await said(ward, close, "audit-reyes", "autonomous")
    assert "is closed already" in twice["closing"]


async def test_only_reviewers_review_and_only_reviews(ward: Ward) -> None:
    """Those who read neither list nor close; another task is no review."""
    await said(ward, ASK, "dr-okafor")
    (task,) = await ward.search("Task", patient=LEONARD)
    for text in ("Show the emergency reads", f"Task/{task['id']} was justified because I say so"):
        run = await said(ward, text, "dr-okafor", "autonomous")
        assert "needs a" in run["closing"]
    assert (await ward.search("Task", patient=LEONARD))[0]["status"] == "requested"
    other = await said(
        ward, "Give the nurse a task for Leonard Mason: repeat potassium", "dr-okafor", "autonomous"
    )
    assert other["status"] == "succeeded"
    (plain,) = [row for row in await ward.search("Task", patient=LEONARD) if "code" not in row]
    run = await said(ward, f"Task/{plain['id']} was justified because of that", "audit-reyes", "autonomous")
    assert "is no review of an emergency read" in run["closing"]


async def test_under_supervision_another_doctor_approves_the_review(ward: Ward) -> None:
    """An auditor answers no card; the doctor who read may not approve the review of it either."""
    await said(ward, ASK, "dr-okafor")
    (task,) = await ward.search("Task", patient=LEONARD)
    close = f"Task/{task['id']} was justified because the patient was unconscious"
    own = await said(ward, close, "audit-reyes")
    assert own["status"] == "suspended"
    with pytest.raises(NotAnApprover):
        await ward.answer(own, {"approved": True}, "audit-reyes")
    own = await ward.answer(own, {"approved": True}, "dr-okafor")
    assert "who read cannot review it" in own["closing"]
    assert (await ward.search("Task", patient=LEONARD))[0]["status"] == "requested"
    other = await ward.answer(await said(ward, close, "audit-reyes"), {"approved": True}, "dr-lindholm")
    assert other["status"] == "succeeded", other["closing"]


async def test_what_cannot_be_put_on_record_is_not_shown(ward: Ward, monkeypatch: pytest.MonkeyPatch) -> None:
    """Never silent: without the note there is no read."""

    async def no_writes(store: EmbeddedFhirStore, bundle: Any) -> Any:
        raise Unavailable("the disk is full")

    with monkeypatch.context() as broken:
        broken.setattr(EmbeddedFhirStore, "transact", no_writes)
        run = await said(ward, ASK, "rn-castillo")
    assert run["status"] != "succeeded"
    assert "Candesartan" not in json.dumps(run)


@pytest.mark.slow
@pytest.mark.parametrize("record", ["http", "postgres"], indirect=True)
@pytest.mark.usefixtures("record")
async def test_it_is_the_same_on_every_kind_of_record(tmp_path: Path) -> None:
    """Read, listed, closed and gone from the queue, on a FHIR server and in PostgreSQL."""
    async with Condor(packs=[PACK], home=tmp_path, demo=True) as condor:
        ward = Ward(condor, tmp_path)
        run = await said(ward, ASK, "rn-castillo")
        assert "Candesartan" in str(run["closing"]), run["closing"]
        listed = str((await said(ward, "Show the emergency reads", "audit-reyes"))["closing"])
        task = re.findall(r"Task/[\w-]+", listed)[0]
        assert task in str(run["closing"])
        closed = await said(ward, f"{task} was not justified: no such patient", "audit-reyes", "autonomous")
        assert closed["status"] == "succeeded", closed["closing"]
        listed = str((await said(ward, "Show the emergency reads", "audit-reyes"))["closing"])
        assert listed == "No emergency read waits for a review."
