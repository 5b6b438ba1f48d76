"""Every request of the clinic, whole: typed text, cards, answers, record, and what its closing says."""

from __future__ import annotations

import json
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pytest

from condor import AlreadyDecided, Condor, NotAnApprover
from condor.pump import retries
from condor.testing import FaultyPack, ToolFault
from condor_hms.outbox import LogChannel, Message, NotDelivered
from condor_hms.pack import PACK
from tests.acceptance.test_requests import ASKS, REQUESTS, Ward

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

YES = {"approved": True}
DOWN = {"labs.search": ToolFault(kind="fail", times=2)}
NO_LAB = {"order.lab.create": ToolFault(kind="fail", said="the lab interface did not answer")}


@dataclass(frozen=True, kw_only=True)
class Story:
    """How a request goes on, and what its closing says."""

    #: (step, reason of the card, answer), in the order in which the cards are answered.
    answers: tuple[tuple[str, str, dict[str, Any]], ...] = ()
    faults: dict[str, ToolFault] = field(default_factory=dict)
    status: str = "succeeded"
    says: tuple[str, ...] = ()
    never: tuple[str, ...] = ()


STORIES: dict[str, Story] = {
    "R01": Story(
        says=(
            "4 allergies (penicillin, aspirin, sulfonamide, tree pollen)",
            "4 active medicines",
            "HbA1c 7.2 % on 10 Nov 2026",
        )
    ),
    "R02": Story(says=("Allergy recorded: ibuprofen", "is on Celecoxib")),
    "R03": Story(
        answers=(("s3", "approval", YES),),
        says=("Prescribed: Nitrofurantoin", "MedicationRequest/", "version "),
    ),
    "R04": Story(
        answers=(
            ("s3", "clarification", {"dose_unit": "mg", "route": "oral"}),
            ("s3", "clarification", {"override_reason": "will-monitor"}),
            ("s3", "approval", YES),
        ),
        says=(
            "Prescribed: Amoxicillin 500 mg oral, three times daily, for 7 days",
            "A task to monitor was left",
        ),
    ),
    "R05": Story(answers=(("s3", "approval", YES),), says=("Stopped: Celecoxib", "active → stopped")),
    "R07": Story(
        answers=(
            (
                "s3",
                "clarification",
                {"dose_value": 5, "dose_unit": "mg", "route": "oral", "frequency": "QD"},
            ),
            ("s3", "approval", YES),
        ),
        says=("Prescribed: Amlodipine 5 mg oral, once daily",),
    ),
    "R09": Story(
        faults=DOWN,
        says=("HbA1c 9.0 % on 7 Oct 2026", "Creatinine 0.91 mg/dL on 7 Oct 2026", "(from lab reports)"),
    ),
    "R10": Story(
        faults=NO_LAB,
        status="degraded",
        says=(
            "⚠ Not completed: the lab order was not done: the lab interface did not answer",
            "I left an urgent task for the laboratory",
        ),
        never=("rdered",),
    ),
    "R11": Story(answers=(("s3", "approval", YES),), says=("Message sent by SMS to Melissa Smith",)),
    # Three gates and no question: less aspirin beside ticagrelor warns of nothing critical by itself. The
    # ticagrelor, twice its dose, is flagged on the check and on the card, as a warning that stands already.
    "R12": Story(
        answers=(("s5", "approval", YES), ("s4", "approval", YES), ("s6", "approval", YES)),
        says=(
            "Ticagrelor maintenance is 90 mg twice daily",
            "Dose changed: Aspirin 325 mg oral, once daily is now Aspirin 81 mg oral, once daily",
            "Plan cancelled: “Post-MI cardiac rehabilitation”",
            "Message sent by letter to Nicholas Bell",
        ),
    ),
    "R14": Story(
        answers=(("s2", "approval", YES),),
        status="degraded",
        says=("Report generated: discharge summary", "⚠ Not executed: the signature needs a doctor"),
        never=("igned",),
    ),
    "R16": Story(answers=(("s2", "approval", YES),), says=("Flag set: Falls risk", "Flag/flag-9001")),
}


@pytest.fixture(autouse=True)
def _no_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(retries, "RETRY_PAUSE_S", 0)


@asynccontextmanager
async def open_clinic(home: Path, faults: dict[str, ToolFault] | None = None) -> AsyncIterator[Ward]:
    async with Condor(packs=[FaultyPack(PACK, faults or {})], home=home, demo=True) as condor:
        yield Ward(condor, home)
        assert all([verdict.kept async for verdict in condor.verify()])


def open_card(run: dict[str, Any], step_id: str) -> dict[str, Any]:
    """The open card of a step."""
    waits = [wait for wait in run["why"]["waitsFor"] if wait["stepId"] == step_id]
    assert waits, (step_id, [wait["stepId"] for wait in run["why"]["waitsFor"]])
    found: dict[str, Any] = next(
        card for card in run["suspensions"] if card["suspendId"] == waits[0]["suspendId"]
    )
    return found


def test_every_request_has_its_story() -> None:
    """None is left out."""
    assert set(STORIES) == set(REQUESTS)


@pytest.mark.parametrize(
    "record",
    ["embedded", *(pytest.param(kind, marks=pytest.mark.slow) for kind in ("postgres", "http"))],
    indirect=True,
)
@pytest.mark.parametrize("request_id", sorted(STORIES))
@pytest.mark.usefixtures("record")
async def test_a_request_of_the_clinic(tmp_path: Path, request_id: str) -> None:
    """Its cards in their order, each answered once, and its ``close`` line; on every kind of record."""
    story = STORIES[request_id]
    async with open_clinic(tmp_path, story.faults) as ward:
        run = await ward.ask(request_id)
        who = ASKS[REQUESTS[request_id]["role"]]
        for step_id, reason, answer in story.answers:
            assert run["status"] == "suspended"
            card = open_card(run, step_id)
            assert card["reasonCode"] == reason
            await ward.condor.resume(run["runId"], card["suspendId"], answer, principal=ward.who(who))
            run = await ward.condor.wait(run["runId"])
        assert run["status"] == story.status, run["closing"]
        for said in story.says:
            assert said in run["closing"]
        for said in story.never:
            assert said not in run["closing"]
        # A tool that says its own success claims nothing false; a notice is about a step that failed.
        unfulfilled = {step["id"] for step in run["steps"] if step["status"] != "succeeded"}
        assert {notice["stepId"] for notice in run["notices"]} <= unfulfilled


@pytest.mark.parametrize("output", ["pdf", "html"])
async def test_a_report_about_a_patient_who_has_died_is_not_denied(tmp_path: Path, output: str) -> None:
    """The record says so in the same line; nothing in it claims what did not happen."""
    plan = {
        "steps": [
            {
                "id": "s1",
                "tool": "report.generate",
                "args": {
                    "patient": "Patient/pt-a664c9335e57",
                    "template": "medication-chart",
                    "output": output,
                },
            }
        ]
    }
    async with open_clinic(tmp_path) as ward:
        started = await ward.condor.start(plan=plan, principal=ward.who("dr-okafor"))
        run = await ward.condor.wait(started.id)
        card = open_card(run, "s1")
        await ward.condor.resume(started.id, card["suspendId"], YES, principal=ward.who("dr-okafor"))
        end = await ward.condor.wait(started.id)
        assert (end["status"], end["notices"]) == ("succeeded", [])
        assert "deceased on 16 Feb 2026" in str(end["closing"])


async def test_r04_shows_the_critical_alert_and_asks_why_before_it_can_be_approved(tmp_path: Path) -> None:
    """alg-01 first on the card, whoever dropped it; no approval without a reason; the promise is a task."""
    async with open_clinic(tmp_path) as ward:
        run = await ward.ask("R04")
        run = await ward.answer(run, {"dose_unit": "mg", "route": "oral"}, "dr-okafor")
        card = open_card(run, "s3")
        assert card["evidence"]["alerts"][0]["id"] == "alg-01"
        assert card["evidence"]["alerts"][0]["severity"] == "critical"
        assert card["evidence"]["subject"]["text"] == "Kristin Bailey, 15 y, female, MRN POP-000007"
        with pytest.raises(Exception, match="override_reason"):
            await ward.answer(run, YES, "dr-okafor")
        run = await ward.answer(run, {"override_reason": "will-monitor"}, "dr-okafor")
        assert open_card(run, "s3")["evidence"]["alerts"][0]["id"] == "alg-01"
        await ward.answer(run, YES, "dr-okafor")
        (order,) = [
            row
            for row in await ward.search("MedicationRequest", subject="Patient/pt-af9c28587165")
            if "Amoxicillin" in json.dumps(row) and row["status"] == "active"
        ]
        assert order["note"] == [{"text": "Alert overridden: Will monitor as recommended"}]
        (task,) = await ward.search("Task", patient="Patient/pt-af9c28587165")
        assert task["description"].startswith("Monitor Kristin Bailey on Amoxicillin 500 mg oral")
        (both,) = await ward.search("Provenance", target=f"Task/{task['id']}")
        assert {"reference": f"MedicationRequest/{order['id']}"} in both["target"]


async def test_r11_is_sent_with_a_receipt(tmp_path: Path) -> None:
    """The exact text and the masked number on the card; the row is completed by the carrier's receipt."""
    async with open_clinic(tmp_path) as ward:
        run = await ward.ask("R11")
        shown = {row["label"]: row["text"] for row in open_card(run, "s3")["evidence"]["context"]}
        text = "Your appointment on 1 December at 09:00 with Dr Okafor is confirmed. Please come fasting."
        assert shown["Exact text"] == text
        assert shown["Recipient"].startswith("Melissa Smith, number ending ")
        assert not (tmp_path / "hms" / "outbox.log").exists()
        await ward.answer(run, YES, "rn-castillo")
        sent = [json.loads(line) for line in (tmp_path / "hms" / "outbox.log").read_text().splitlines()]
        assert [(line["channel"], line["text"]) for line in sent] == [("sms", text)]
        (row,) = [
            row
            for row in await ward.search("Communication", recipient="Patient/pt-0612cf63eb84")
            if row["id"] != "com-7001"
        ]
        assert (row["status"], "sent" in row) == ("completed", True)
        assert {"system": "urn:condor:receipt", "value": "log-1"} in row["identifier"]


async def test_r11_without_a_receipt_is_queued_and_sent_by_the_next_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No answer from the carrier: nothing says “sent”; the row waits for the next start and goes out once."""

    async def silent(self: LogChannel, message: Message) -> None:
        raise NotDelivered("no route")

    async with open_clinic(tmp_path) as ward:
        with monkeypatch.context() as broken:
            broken.setattr(LogChannel, "deliver", silent)
            end = await ward.answer(await ward.ask("R11"), YES, "rn-castillo")
        assert end["status"] == "degraded"
        assert "Message queued by SMS to Melissa Smith: no receipt from the carrier yet" in end["closing"]
        assert " sent " not in end["closing"]
    for _ in range(2):
        async with open_clinic(tmp_path):
            assert len((tmp_path / "hms" / "outbox.log").read_text().splitlines()) == 1


async def test_r12_without_the_cancellation_sends_no_letter_about_it(tmp_path: Path) -> None:
    """Denied, the plan stays; the dose is changed all the same; nobody is told what was not done."""
    async with open_clinic(tmp_path) as ward:
        run = await ward.ask("R12")
        for step_id, answer in (("s5", {"approved": False, "reason": "ask him again"}), ("s4", YES)):
            card = open_card(run, step_id)
            await ward.condor.resume(run["runId"], card["suspendId"], answer, principal=ward.who("dr-okafor"))
            run = await ward.condor.wait(run["runId"])
        assert "Dose changed: Aspirin 325 mg" in run["closing"]
        assert "⚠ Not completed: the cancellation of the treatment plan was declined" in run["closing"]
        assert not (tmp_path / "hms" / "outbox.log").exists()
        (plan,) = await ward.search("CarePlan", subject="Patient/pt-a664c9335e57")
        assert plan["status"] == "active"


async def test_r14_makes_the_file_and_a_nurse_signs_nothing(tmp_path: Path) -> None:
    """A real PDF; the document stays a draft; a nurse's yes on a doctor's card is refused too."""
    async with open_clinic(tmp_path) as ward:
        run = await ward.answer(await ward.ask("R14"), YES, "rn-castillo")
        (file,) = (tmp_path / "hms" / "reports").glob("discharge-*.pdf")
        assert file.read_bytes().startswith(b"%PDF-")
        (draft,) = await ward.search("DocumentReference", subject="Patient/pt-a664c9335e57", type="18842-5")
        assert (draft["docStatus"], draft["meta"]["versionId"]) == ("preliminary", "1")
        text = "Sign Nicholas Bell's discharge summary as author"
        asked = await ward.condor.start(text, autonomy="autonomous", principal=ward.who("dr-okafor"))
        run = await ward.condor.wait(asked.id)
        with pytest.raises(NotAnApprover):
            await ward.answer(run, YES, "rn-castillo")
        card = open_card(run, "s3")
        assert card["evidence"]["after"]["text"] == "Draft: Acute MI, PCI to LAD. DAPT 12 months."
        end = await ward.answer(run, YES, "dr-okafor")
        assert "Signed: Discharge summary (draft) (author, Dr Okafor)" in end["closing"]
        (signed,) = await ward.search("DocumentReference", subject="Patient/pt-a664c9335e57", type="18842-5")
        assert signed["authenticator"]["display"] == "Dr Amara Okafor"
        (proof,) = await ward.search("Provenance", target="DocumentReference/doc-6001")
        meaning = proof["signature"][0]["type"][0]
        assert (meaning["code"], meaning["display"]) == ("1.2.840.10065.1.12.1.1", "Author's Signature")
        with pytest.raises(AlreadyDecided):
            await ward.condor.resume(asked.id, card["suspendId"], YES, principal=ward.who("dr-lindholm"))
