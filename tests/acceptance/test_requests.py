"""The clinic's requests of the main job, whole: typed text, demo record, people, closing, audit, record."""

from __future__ import annotations

import json
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from condor import AlreadyDecided, Condor, NotAnApprover, Principal
from condor.ports.store import AuditFilter
from condor_hms.fhir.embedded import EmbeddedFhirStore
from condor_hms.pack import PACK

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

REQUESTS = {
    request["id"]: request
    for request in json.loads(
        (Path(__file__).parents[1] / "hms" / "data" / "requests.json").read_text(encoding="utf-8")
    )
}
ASKS = {"doctor": "dr-okafor", "nurse": "rn-castillo"}
MELISSA, JOHN, HELEN = "Patient/pt-0612cf63eb84", "Patient/pt-65e78d9ba50c", "Patient/pt-bf0d2c068a08"
CELECOXIB = "MedicationRequest/rxopd-2841d7bb9857"


class Ward:
    """The demo hospital with its staff, and a look at the record past the runtime."""

    def __init__(self, condor: Condor, home: Path) -> None:
        """Condor is open on ``home``."""
        self.condor = condor
        self._record = home / "hms" / "fhir.db"

    def who(self, name: str) -> Principal:
        """One of the staff."""
        return next(person for person in self.condor.principals if person.id == name)

    async def ask(self, request_id: str) -> dict[str, Any]:
        """Type a request of the clinic as its role; the snapshot at its rest."""
        request = REQUESTS[request_id]
        person = self.who(ASKS[request["role"]])
        run = await self.condor.start(request["text"], autonomy=request["mode"], principal=person)
        return await self.condor.wait(run.id)

    async def answer(self, run: dict[str, Any], body: dict[str, Any], name: str) -> dict[str, Any]:
        """Answer its one open card; the snapshot at the next rest."""
        (card,) = run["why"]["waitsFor"]
        await self.condor.resume(run["runId"], card["suspendId"], body, principal=self.who(name))
        return await self.condor.wait(run["runId"])

    async def search(self, kind: str, **params: str) -> list[dict[str, Any]]:
        """What the record holds, read by another connection."""
        async with EmbeddedFhirStore(self._record) as record:
            return await record.search(kind, params)

    async def decisions(self, run: dict[str, Any]) -> list[str]:
        """The decisions of the run's audit, in order."""
        rows = await self.condor.audit(AuditFilter(run_id=run["runId"]))
        return [json.loads(row.body)["decision"] for row in rows]


@pytest.fixture
async def ward(tmp_path: Path) -> AsyncIterator[Ward]:
    """A fresh demo hospital; its audit chains are whole when the test is over."""
    async with open_ward(tmp_path) as opened:
        yield opened


@asynccontextmanager
async def open_ward(home: Path) -> AsyncIterator[Ward]:
    """Open the demo hospital in ``home``."""
    async with Condor(packs=[PACK], home=home, demo=True) as condor:
        yield Ward(condor, home)
        assert all([verdict.kept async for verdict in condor.verify()])


def gates(run: dict[str, Any]) -> list[tuple[str, str]]:
    """Step and rule of every card of a run."""
    return [(card["stepId"], card["policy"]["ruleId"]) for card in run["suspensions"]]


async def test_r01_an_overview_reads_and_claims_nothing(ward: Ward) -> None:
    """Allergies, medicines and HbA1c are told; nothing waits, nothing is written."""
    run = await ward.ask("R01")
    assert (run["status"], run["suspensions"], run["notices"]) == ("succeeded", [], [])
    for said in ("4 allergies", "penicillin", "aspirin", "sulfonamide", "tree pollen", "4 active medicines"):
        assert said in run["closing"]
    assert "HbA1c 7.2 % on 10 Nov 2026" in run["closing"]
    assert [step["tool"] for step in run["steps"]] == [step["tool"] for step in REQUESTS["R01"]["steps"]]


async def test_r02_a_routine_write_is_not_gated_and_says_what_it_means(ward: Ward) -> None:
    """The doctor who typed it authorises it; the record has it once; his celecoxib is named."""
    run = await ward.ask("R02")
    assert (run["status"], run["suspensions"]) == ("succeeded", [])
    assert "Allergy recorded" in run["closing"]
    assert "elecoxib" in run["closing"]
    recorded = [
        a for a in await ward.search("AllergyIntolerance", patient=JOHN) if "buprofen" in json.dumps(a)
    ]
    assert len(recorded) == 1
    assert "allowed" in await ward.decisions(run)


async def test_r03_a_prescription_waits_and_is_written_once(ward: Ward) -> None:
    """Parked whatever the autonomy; after the yes it is there once, quoted by id and version, signed."""
    before = await ward.search("MedicationRequest", subject=MELISSA, status="active")
    run = await ward.ask("R03")
    assert (run["status"], gates(run)) == ("suspended", [("s3", "mutate.high-tier-always-approval")])
    assert len(await ward.search("MedicationRequest", subject=MELISSA, status="active")) == len(before)
    (card,) = run["suspensions"]
    assert card["evidence"]["subject"]["text"] == "Melissa Smith, 47 y, female, MRN POP-000035"
    assert "sulfonamide" in json.dumps(card["evidence"]["context"])
    with pytest.raises(NotAnApprover):
        await ward.answer(run, {"approved": True}, "rn-castillo")
    end = await ward.answer(run, {"approved": True}, "dr-lindholm")
    after = await ward.search("MedicationRequest", subject=MELISSA, status="active")
    (new,) = [order for order in after if order["id"] not in {order["id"] for order in before}]
    assert (end["status"], end["notices"]) == ("succeeded", [])
    assert f"MedicationRequest/{new['id']} version 1" in end["closing"]
    (provenance,) = await ward.search("Provenance", target=f"MedicationRequest/{new['id']}")
    assert provenance["signature"][0]["who"]["reference"] == "Practitioner/dr-lindholm"
    assert await ward.decisions(run) == [
        "run-started",
        "executed",
        "executed",
        "suspended",
        "decision-rejected",
        "approved",
        "executed",
        "run-ended",
    ]


async def test_r03_denied_writes_nothing_and_says_by_whom(ward: Ward) -> None:
    """The run is aborted, the record untouched, a late yes is told who decided."""
    before = await ward.search("MedicationRequest", subject=MELISSA)
    run = await ward.ask("R03")
    end = await ward.answer(run, {"approved": False, "reason": "try trimethoprim first"}, "dr-okafor")
    assert end["status"] == "aborted"
    assert "⚠ Not completed: the prescription was declined by Dr Okafor" in end["closing"]
    assert await ward.search("MedicationRequest", subject=MELISSA) == before
    with pytest.raises(AlreadyDecided, match="denied by Dr Okafor"):
        await ward.answer(run, {"approved": True}, "dr-lindholm")


async def test_r05_a_destructive_op_waits_although_the_tool_is_low(ward: Ward) -> None:
    """Declared low, dispatched autonomous: the verb promotes it; after the yes active has become stopped."""
    run = await ward.ask("R05")
    (card,) = run["suspensions"]
    assert (card["policy"]["hitlTier"], card["policy"]["effectiveTier"]) == ("low", "high")
    assert "destructive-op" in card["policy"]["promotions"]
    end = await ward.answer(run, {"approved": True}, "dr-okafor")
    assert end["status"] == "succeeded"
    assert "active → stopped" in end["closing"]
    (order,) = [
        o for o in await ward.search("MedicationRequest", subject=HELEN) if CELECOXIB.endswith(o["id"])
    ]
    assert (order["status"], order["meta"]["versionId"]) == ("stopped", "2")


async def test_r16_a_legacy_tool_without_a_tier_waits(ward: Ward) -> None:
    """Only ``metadata.mutating``: treated as high; the flag that is there already is said."""
    run = await ward.ask("R16")
    assert gates(run) == [("s2", "mutate.high-tier-always-approval")]
    assert run["suspensions"][0]["policy"]["promotions"] == ["tier-missing"]
    assert "Flag/flag-9001" in json.dumps(run["suspensions"][0]["evidence"])
    end = await ward.answer(run, {"approved": True}, "rn-castillo")
    assert end["status"] == "succeeded"
    assert "Flag/flag-9001" in end["closing"]
    assert len(await ward.search("Flag", subject=HELEN)) == 2


@pytest.mark.parametrize("request_id", ["R05", "R16"])
async def test_a_no_leaves_the_record_as_it_was(ward: Ward, request_id: str) -> None:
    """Whatever was asked."""
    before = [await ward.search(kind, subject=HELEN) for kind in ("MedicationRequest", "Flag")]
    run = await ward.ask(request_id)
    end = await ward.answer(run, {"approved": False}, ASKS[REQUESTS[request_id]["role"]])
    assert (end["status"], "was declined by" in end["closing"]) == ("aborted", True)
    assert [await ward.search(kind, subject=HELEN) for kind in ("MedicationRequest", "Flag")] == before


async def test_a_parked_run_outlives_its_process(tmp_path: Path) -> None:
    """Nothing but rows is held for it: another process opens the home, and the yes is worth the same."""
    async with open_ward(tmp_path) as first:
        run = await first.ask("R03")
    async with open_ward(tmp_path) as second:
        end = await second.answer(run, {"approved": True}, "dr-okafor")
        assert end["status"] == "succeeded"
