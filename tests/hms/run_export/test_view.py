"""A run as FHIR: one event for each audit row, one Task for each card, what was written, its Provenance."""

from __future__ import annotations

import asyncio
import dataclasses
import hashlib
import json
import subprocess
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from condor import Condor, CondorError, Principal
from condor.config import Settings
from condor.ports.mounts import RunRecord
from condor.runtime.run_record import run_record
from condor.testing import SeededClock
from condor_hms.fhir.embedded import EmbeddedFhirStore
from condor_hms.fhir.errors import Unavailable
from condor_hms.fhir.structure import structure_issues
from condor_hms.fhir.table_store import utc_now
from condor_hms.fhir.validation import check_content
from condor_hms.pack import PACK
from condor_hms.run_export import FhirRunView
from tests.hms.fhir.support import MELISSA, put
from tests.hms.fhir.support import bundle as bundle_of
from tests.hms.fhir_server.process import TOKEN, started_server, what_is_missing
from tests.needs import needs

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

pytestmark = pytest.mark.slow

OKAFOR = Principal(id="dr-okafor", roles=frozenset({"doctor"}), display="Dr Okafor")
LINDHOLM = Principal(id="dr-lindholm", roles=frozenset({"doctor"}), display="Dr Lindholm")
STOP = (
    "Stop Helen Coleman's celecoxib, she's on escitalopram and venlafaxine as well and I don't like the "
    "bleeding risk."
)
PRESCRIBE = "Start Melissa Smith on nitrofurantoin 100 mg twice a day for 5 days for her UTI."
HIGHER = "Increase John Hernandez's celecoxib to 400 mg once daily because of pain"
ALLERGY = "John Hernandez had angioedema with ibuprofen years ago, pls add it as a severe medication allergy."
VALIDATE = Path(__file__).parents[1] / "fhir_server" / "validate.mjs"


@asynccontextmanager
async def opened(home: Path, **more: Any) -> AsyncIterator[Condor]:
    """The demonstration hospital."""
    async with Condor(home=home, packs=[PACK], demo=True, settings=Settings(home=home), **more) as condor:
        yield condor


async def export(condor: Condor, run_id: str) -> dict[str, Any]:
    """The Bundle of a run, which is the same when it is made again."""
    record = await run_record(condor, condor.store, run_id)
    view = condor.views["fhir"]
    body = await view.render(record)
    assert body == await view.render(record)
    found: dict[str, Any] = json.loads(body)
    return found


def resources(bundle: dict[str, Any], kind: str) -> list[dict[str, Any]]:
    """Those of a type, in order."""
    found = [entry["resource"] for entry in bundle["entry"]]
    return [resource for resource in found if resource["resourceType"] == kind]


def details(event: dict[str, Any]) -> dict[str, str]:
    """The details of an AuditEvent by name."""
    return {
        detail["type"]: detail["valueString"]
        for entity in event["entity"]
        for detail in entity.get("detail", [])
    }


def what(event: dict[str, Any]) -> list[str]:
    """References of an AuditEvent's entities."""
    named = [entity["what"].get("reference") for entity in event["entity"]]
    return [reference for reference in named if reference]


def by_decision(bundle: dict[str, Any], decision: str) -> dict[str, Any]:
    """The last AuditEvent of a decision."""
    named = {decision, f"hitl.{decision}"}
    events = resources(bundle, "AuditEvent")
    return [event for event in events if named & {code["code"] for code in event["subtype"]}][-1]


async def check(condor: Condor, run_id: str) -> dict[str, Any]:
    """What holds of every export; the Bundle."""
    bundle = await export(condor, run_id)
    assert structure_issues(bundle) == []
    assert (bundle["type"], bundle["identifier"]["value"]) == ("collection", run_id)
    # What is derived is as good as what is written: a record takes it.
    for entry in bundle["entry"]:
        assert check_content(entry["resource"], today=utc_now().date(), entry=0) == []
    urls = [entry["fullUrl"] for entry in bundle["entry"]]
    assert len(urls) == len(set(urls))
    rows = (await run_record(condor, condor.store, run_id)).audit
    events = resources(bundle, "AuditEvent")
    assert len(events) == len(rows)
    for event, row in zip(events, rows, strict=True):
        said = details(event)
        assert (said["audit_seq"], said["audit_hash"]) == (str(row["seq"]), row["hash"])
        assert event["recorded"] == row["at"]
        assert sum(agent["requestor"] for agent in event["agent"]) == 1
    shown = await condor.show(run_id)
    cards = [card["suspendId"] for card in shown["suspensions"]]  # type: ignore[index,union-attr,call-overload]
    assert [task["identifier"][0]["value"] for task in resources(bundle, "Task")] == cards
    return bundle


async def started(condor: Condor, request: str, **more: Any) -> dict[str, Any]:
    """A run at its first rest."""
    run = await condor.start(request, principal=OKAFOR, **more)
    return dict(await condor.wait(run.id))


def card_of(run: dict[str, Any]) -> str:
    """Its open card."""
    (card,) = [card for card in run["suspensions"] if card["status"] == "pending"]
    return str(card["suspendId"])


BOTH = pytest.mark.parametrize("hospital", ["embedded", "http"], indirect=True)


@pytest.fixture
async def hospital(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Condor]:
    """The record in its file, or on a FHIR server."""
    if getattr(request, "param", "embedded") == "http":
        monkeypatch.setenv("CONDOR_FHIR_BASE_URL", started_server().reset())
        monkeypatch.setenv("CONDOR_FHIR_TOKEN", TOKEN)
    async with opened(tmp_path) as condor:
        yield condor


@BOTH
async def test_an_approved_write(hospital: Condor) -> None:
    """Parked: a Task that is requested. Approved: accepted, with what was written, its version, signed."""
    run = await started(hospital, PRESCRIBE)
    parked = await check(hospital, run["runId"])
    [task] = resources(parked, "Task")
    assert (task["status"], task["for"]) == ("requested", {"reference": MELISSA})
    assert task["requester"] == {"reference": "Practitioner/dr-okafor", "display": "Dr Amara Okafor"}
    assert "output" not in task
    assert by_decision(parked, "suspended")["type"]["code"] == "hold"
    assert resources(parked, "Provenance") == []
    await hospital.resume(
        run["runId"], card_of(run), {"approved": True, "reason": "fits"}, principal=LINDHOLM
    )
    await hospital.wait(run["runId"])
    bundle = await check(hospital, run["runId"])
    [proof] = resources(bundle, "Provenance")
    [again] = resources(bundle, "Task")
    assert (again["id"], again["status"], again["statusReason"]) == (task["id"], "accepted", {"text": "fits"})
    assert again["owner"] == {"reference": "Practitioner/dr-lindholm", "display": "Dr Erik Lindholm"}
    assert {row["type"]["text"]: row["valueString"] for row in again["input"]}["rule_id"] == (
        "mutate.high-tier-always-approval"
    )
    target = proof["target"][0]["reference"]
    version = (await hospital.views["fhir"]._fhir.versions([target]))[target]  # type: ignore[attr-defined]
    written = f"{target}/_history/{version}"
    assert [row["valueReference"]["reference"] for row in again["output"]] == [
        written,
        f"Provenance/{proof['id']}",
    ]
    executed = by_decision(bundle, "executed")
    assert (executed["action"], executed["outcome"], what(executed)) == ("C", "0", [MELISSA, written])
    approved = by_decision(bundle, "approved")
    said = details(approved)
    assert said["printed_name"] == "Dr Erik Lindholm"
    meaning = proof["signature"][0]["type"][0]
    assert (said["signature_meaning"], said["signature_meaning_display"]) == (
        meaning["code"],
        "Verification Signature",
    )
    assert said["signature_time"] == proof["signature"][0]["when"]
    assert int(said["seconds_open"]) < 60
    assert approved["agent"][1]["who"]["reference"] == "Practitioner/dr-lindholm"
    assert approved["agent"][1]["role"][0]["coding"][0]["code"] == "doctor"
    assert [row["code"] for row in approved["subtype"]] == ["hitl.approved"]
    # Events that were there are there, under the same ids.
    before = [event["id"] for event in resources(parked, "AuditEvent")]
    assert [event["id"] for event in resources(bundle, "AuditEvent")][: len(before)] == before


async def test_why_an_alert_was_passed_over(hospital: Condor) -> None:
    """Asked beside the arguments of a new dose: it stands on the event of the approval."""
    run = await started(hospital, HIGHER, autonomy="autonomous")
    await hospital.resume(run["runId"], card_of(run), {"override_reason": "no-alternative"}, principal=OKAFOR)
    asked = dict(await hospital.wait(run["runId"]))
    await hospital.resume(run["runId"], card_of(asked), {"approved": True}, principal=OKAFOR)
    await hospital.wait(run["runId"])
    said = details(by_decision(await check(hospital, run["runId"]), "approved"))
    assert "critical" in said["alerts_shown"]
    assert said["override_reason"] == "no-alternative"


async def test_a_write_that_nobody_was_asked_about(hospital: Condor) -> None:
    """Autonomous: no Task, and an event that says which patient and which version."""
    run = await started(hospital, ALLERGY, autonomy="autonomous")
    bundle = await check(hospital, run["runId"])
    assert resources(bundle, "Task") == []
    done = by_decision(bundle, "create")
    assert what(done)[0] == "Patient/pt-65e78d9ba50c"
    assert [reference.partition("/")[0] for reference in what(done)[1:]] == ["AllergyIntolerance"]
    assert "/_history/" in what(done)[1]
    assert details(done)["tool"] == "allergy.record"


async def test_whose_an_appointment_is(hospital: Condor) -> None:
    """It has its patient among who takes part; the record says it where neither card nor argument does."""
    fhir = hospital.views["fhir"]._fhir  # type: ignore[attr-defined]
    appointment = (await fhir.search("Appointment", {"patient": MELISSA, "status": "booked"}))[0]
    args = {"appointment": f"Appointment/{appointment['id']}", "action": "cancel", "cancel_reason": "pat"}
    plan = {"steps": [{"id": "s1", "tool": "appointment.update", "args": args}]}
    run = await hospital.start(plan=plan, principal=OKAFOR)
    parked = dict(await hospital.wait(run.id))
    await hospital.resume(run.id, card_of(parked), {"approved": True}, principal=LINDHOLM)
    await hospital.wait(run.id)
    record = await run_record(hospital, hospital.store, run.id)
    cards = [{**card, "evidence": None} for card in record.snapshot["suspensions"]]
    bare = dataclasses.replace(record, snapshot={**record.snapshot, "suspensions": cards})
    done = by_decision(await FhirRunView(fhir).bundle(bare), "executed")
    assert what(done)[0] == MELISSA
    assert f"{args['appointment']}/_history/" in "".join(what(done)[1:])


@BOTH
async def test_a_change_of_what_was_there(hospital: Condor) -> None:
    """Before and after by version and digest, as in the record; a stop is an update, never a delete."""
    fhir = hospital.views["fhir"]._fhir  # type: ignore[attr-defined]
    run = await started(hospital, STOP)
    await hospital.resume(run["runId"], card_of(run), {"approved": True}, principal=LINDHOLM)
    await hospital.wait(run["runId"])
    bundle = await check(hospital, run["runId"])
    done = by_decision(bundle, "executed")
    assert (done["action"], done["subtype"][0]["code"]) == ("U", "update")
    [entity] = [row for row in done["entity"] if "MedicationRequest/" in row["what"].get("reference", "")]
    said = {row["type"]: row["valueString"] for row in entity["detail"]}
    reference, _, version = entity["what"]["reference"].partition("/_history/")
    assert said["after_version"] == version != said["before_version"]
    for name in ("before", "after"):
        resource = await fhir.vread(reference, said[f"{name}_version"])
        text = json.dumps(resource, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
        assert said[f"{name}_sha256"] == hashlib.sha256(text.encode()).hexdigest()
    [task] = resources(bundle, "Task")
    assert task["focus"] == {"reference": reference}
    # Somebody changes it again: the export still tells of the version that this run wrote.
    now = await fhir.read(reference)
    other = {name: part for name, part in now.items() if name != "meta"}
    other["status"] = "entered-in-error"
    await fhir.transact(bundle_of(put(other, now["meta"]["versionId"])))
    assert await export(hospital, run["runId"]) == bundle


async def test_a_write_that_failed(tmp_path: Path) -> None:
    """Nothing was written and nothing is said to be; the event has an outcome of its own."""
    async with opened(tmp_path) as condor:
        args = {"order": "MedicationRequest/none", "reason_code": "interaction", "reason": "x"}
        plan = {"steps": [{"id": "s1", "tool": "medication.discontinue", "args": args}]}
        run = await condor.start(plan=plan, principal=OKAFOR)
        await condor.wait(run.id)
        bundle = await check(condor, run.id)
    assert all(event["action"] in "ER" for event in resources(bundle, "AuditEvent"))
    assert "_history" not in json.dumps(bundle)


async def test_no_event_holds_what_stands_in_the_record(hospital: Condor) -> None:
    """Ids, versions, people, rules; the medicine and the reason stand in the Task alone, as on the card."""
    run = await started(hospital, PRESCRIBE)
    await hospital.resume(
        run["runId"], card_of(run), {"approved": False, "reason": "CANARY-3"}, principal=OKAFOR
    )
    await hospital.wait(run["runId"])
    bundle = await check(hospital, run["runId"])
    events = json.dumps(resources(bundle, "AuditEvent"))
    for word in ("Nitrofurantoin", "nitrofurantoin", "Melissa", "UTI", "CANARY-3", "POP-000035"):
        assert word not in events
    [task] = resources(bundle, "Task")
    assert (task["status"], task["statusReason"]["text"]) == ("rejected", "CANARY-3")
    assert by_decision(bundle, "denied")["outcome"] == "4"


async def test_a_form_and_an_edit_and_an_end_without_an_answer(tmp_path: Path) -> None:
    """Answered: completed. Edited: cancelled, and another card. Expired: cancelled, by nobody."""
    clock = SeededClock()
    async with opened(tmp_path, clock=clock, tend=False) as condor:
        plan = {"steps": [{"id": "s1", "tool": "note.draft", "args": {"patient": MELISSA, "text": "Seen."}}]}
        run = await condor.start(plan=plan, principal=OKAFOR)
        asked = dict(await condor.wait(run.id))
        await condor.resume(run.id, card_of(asked), {"doc_type": "11506-3"}, principal=OKAFOR)
        parked = dict(await condor.wait(run.id))
        await condor.edit(card_of(parked), {"text": "Seen today."}, principal=OKAFOR)
        clock.advance(25 * 3600)
        await condor.sweep()
        bundle = await check(condor, run.id)
    tasks = resources(bundle, "Task")
    assert [(task["status"], task["businessStatus"]["text"]) for task in tasks] == [
        ("completed", "answered"),
        ("cancelled", "superseded"),
        ("cancelled", "expired"),
    ]
    assert [task["code"]["coding"][0]["code"] for task in tasks] == ["clarification", "approve", "approve"]
    expired = by_decision(bundle, "expired")
    assert [agent["who"]["identifier"]["value"] for agent in expired["agent"]] == ["condor"]


class Without:
    """A record that lacks something, or does not answer."""

    def __init__(self, fhir: Any, error: Exception | None = None) -> None:
        self.fhir, self.error = fhir, error

    async def search(self, resource_type: str, params: Any) -> list[Any]:
        """No Provenance is there."""
        if self.error is not None:
            raise self.error
        return [] if resource_type == "Provenance" else await self.fhir.search(resource_type, params)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.fhir, name)


async def test_what_is_lacking_is_said_and_a_part_is_no_export(tmp_path: Path) -> None:
    """No Provenance: a warning in the Bundle. No answer: no Bundle."""
    async with opened(tmp_path) as condor:
        run = await started(condor, ALLERGY, autonomy="autonomous")
        record = await run_record(condor, condor.store, run["runId"])
        fhir = condor.views["fhir"]._fhir  # type: ignore[attr-defined]
        bundle = await FhirRunView(Without(fhir)).bundle(record)
        [outcome] = resources(bundle, "OperationOutcome")
        assert outcome["issue"][0]["code"] == "incomplete"
        assert structure_issues(bundle) == []
        done = by_decision(bundle, "executed")
        assert "AllergyIntolerance/" in "".join(what(done))
        with pytest.raises(CondorError, match="does not answer"):
            await FhirRunView(Without(fhir, Unavailable("gone"))).render(record)


async def test_a_run_whose_data_was_erased(tmp_path: Path) -> None:
    """The history is exported all the same: cards without their contents, events without a patient."""
    async with opened(tmp_path) as condor:
        run = await started(condor, PRESCRIBE)
        whole = await run_record(condor, condor.store, run["runId"])
        bare = dict(whole.snapshot)
        bare["steps"] = [{"id": step["id"], "status": step["status"]} for step in whole.snapshot["steps"]]
        kept = ("suspendId", "runId", "stepId", "reasonCode", "origin", "toolName", "status", "openedAt")
        bare["suspensions"] = [{name: card[name] for name in kept} for card in whole.snapshot["suspensions"]]
        erased = RunRecord(snapshot=bare, audit=whole.audit, keys={})
        bundle = await FhirRunView(condor.views["fhir"]._fhir).bundle(erased)  # type: ignore[attr-defined]
    assert structure_issues(bundle) == []
    [task] = resources(bundle, "Task")
    assert (task["description"], "for" in task) == ("medication.prescribe", False)


async def test_the_official_definitions_take_it(tmp_path: Path) -> None:
    """Every resource of three runs, by Medplum's validator."""
    needs(what_is_missing())
    lines = []
    async with opened(tmp_path) as condor:
        for request, answer in ((PRESCRIBE, True), (PRESCRIBE, False), (ALLERGY, True)):
            run = await started(condor, request)
            body = {"approved": answer, **({} if answer else {"reason": "no"})}
            await condor.resume(run["runId"], card_of(run), body, principal=OKAFOR)
            await condor.wait(run["runId"])
            bundle = await check(condor, run["runId"])
            lines += [bundle, *(entry["resource"] for entry in bundle["entry"])]
    validator = await asyncio.create_subprocess_exec(
        "node", str(VALIDATE), stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    said, _ = await validator.communicate("\n".join(map(json.dumps, lines)).encode())
    assert (validator.returncode, said.decode()) == (0, "")


async def test_importing_it_twice_makes_no_doubles(tmp_path: Path) -> None:
    """Exported while it waits and again when it has ended: what is new is added, nothing else."""
    async with opened(tmp_path) as condor, EmbeddedFhirStore(tmp_path / "archive.db") as archive:
        run = await started(condor, PRESCRIBE)
        parked = await export(condor, run["runId"])
        assert await archive.load(derived(parked)) == len(derived(parked)) > 3
        await condor.resume(run["runId"], card_of(run), {"approved": True}, principal=OKAFOR)
        await condor.wait(run["runId"])
        ended = await export(condor, run["runId"])
        assert await archive.load(derived(ended)) == len(derived(ended)) - len(derived(parked)) > 1
        assert await archive.load(derived(ended)) == 0
        # The archive's own search finds them by whom they are about.
        events = await archive.search("AuditEvent", {"entity": MELISSA})
        assert {"hitl.suspended", "hitl.approved"} <= {event["subtype"][0]["code"] for event in events}


def derived(bundle: dict[str, Any]) -> list[dict[str, Any]]:
    """What of it is not in the record anyway."""
    return [*resources(bundle, "AuditEvent"), *resources(bundle, "Task")]
