"""What the person saw is what runs: a change of anything the card was made of asks anew, and nothing runs."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest

from condor import Condor, PackSetup, Principal, RecordMoved, ToolError
from condor_hms.breakglass import break_glass_tools
from condor_hms.catalogue.record_write import without
from condor_hms.catalogue.shown import SHOWN
from condor_hms.pack import PACK
from tests.hms.catalogue.desk import CASTILLO, JOHN, NOW, OKAFOR, Desk
from tests.hms.catalogue.test_every_write import CALLS, case_id

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

TANAKA = Principal(id="front-tanaka", roles=frozenset({"receptionist"}), display="Front desk Tanaka")
REPORT = ("report.generate", {"patient": JOHN, "template": "clinic-letter", "output": "html"})
#: Its card is made of its arguments alone.
ANALYSIS = ("analytics.run", {"script": "high-potassium"})
#: The review is of an emergency read, which the test makes.
CLOSE = ("breakglass.close", {"finding": "justified", "comment": "unconscious in the ED"})
#: Type → what of it another run changes.
CHANGES: dict[str, dict[str, Any]] = {
    "AllergyIntolerance": {"code": {"text": "changed"}},
    "Appointment": {"start": "2026-11-30T11:11:00Z"},
    "Condition": {"code": {"text": "changed"}},
    "DocumentReference": {"description": "changed"},
    "Flag": {"code": {"text": "changed"}},
    "Invoice": {"note": [{"text": "changed"}]},
    "MedicationRequest": {"dosageInstruction": [{"text": "changed"}]},
    "Observation": {"valueQuantity": {"value": 1.5, "unit": "changed"}, "status": "amended"},
    "Patient": {"birthDate": "1951-01-01"},
    "Practitioner": {"name": [{"family": "Changed"}]},
    "Task": {"description": "changed"},
}


def read_by(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> dict[str, dict[str, Any]]:
    """What the record hands out from now on, by reference."""
    seen: dict[str, dict[str, Any]] = {}
    read, search = desk.fhir.read, desk.fhir.search

    async def seen_read(reference: str) -> dict[str, Any]:
        found = await read(reference)
        seen[f"{found['resourceType']}/{found['id']}"] = found
        return found

    async def seen_search(*args: Any, **kwargs: Any) -> list[dict[str, Any]]:
        found = await search(*args, **kwargs)
        seen.update({f"{row['resourceType']}/{row['id']}": row for row in found})
        return found

    monkeypatch.setattr(desk.fhir, "read", seen_read, raising=False)
    monkeypatch.setattr(desk.fhir, "search", seen_search, raising=False)
    return seen


def one_of_each(seen: dict[str, dict[str, Any]]) -> Iterator[tuple[str, dict[str, Any]]]:
    """The first resource of each type that has a change."""
    told: set[str] = set()
    for reference, resource in sorted(seen.items()):
        kind = resource["resourceType"]
        if kind in CHANGES and kind not in told:
            told.add(kind)
            yield reference, resource


async def put(desk: Desk, resource: dict[str, Any]) -> None:
    """Write it as somebody else would."""
    reference = f"{resource['resourceType']}/{resource['id']}"
    version = (await desk.fhir.versions([reference]))[reference]
    request = {"method": "PUT", "url": reference, "ifMatch": f'W/"{version}"'}
    entry = {"resource": without(resource, "meta"), "request": request}
    await desk.fhir.transact({"resourceType": "Bundle", "type": "transaction", "entry": [entry]})


def content(card: Any) -> object:
    """What a card shows, its versions and alerts aside."""
    return [dict(card.subject), card.summary, card.before, card.after, list(card.context)]


async def read_in_an_emergency(desk: Desk) -> str:
    """The review that an emergency read leaves."""
    desk.tools |= {tool.name: tool for tool in break_glass_tools(desk.hospital)}
    why = {"patient": JOHN, "reason": "unconscious in the ED"}
    found = await desk.call("patient.breakglass", why, principal=CASTILLO)
    return str(found["review"])


async def test_every_card_of_the_pack_is_here(tmp_path: Path) -> None:
    """Whatever tool the pack opens with a card of its own has a case below."""
    async with PACK.open(PackSetup(home=tmp_path, demo=True)) as opened:
        shown = {tool.name for tool in opened.tools if tool.preview is not None}
    assert shown == {name for name, _ in (*CALLS, REPORT, ANALYSIS, CLOSE)}


@pytest.mark.parametrize("case", [*CALLS, REPORT, ANALYSIS, CLOSE], ids=case_id)
async def test_a_card_is_bound_to_what_it_shows(
    desk: Desk, case: tuple[str, dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same record gives the same card at any time; another content gives other versions."""
    name, args = case
    if case == CLOSE:
        args = {**args, "review": await read_in_an_emergency(desk)}
    with monkeypatch.context() as patch:
        seen = read_by(desk, patch)
        card = await desk.preview(name, args)
    later = NOW.replace(hour=NOW.hour + 5)
    assert dict((await desk.preview(name, args, now=later)).versions) == dict(card.versions)
    assert SHOWN in card.versions
    changed = 0
    for reference, resource in one_of_each(seen):
        await put(desk, {**resource, **CHANGES[resource["resourceType"]]})
        try:
            again = await desk.preview(name, args)
        except ToolError:
            return  # It says why it cannot be done any more: nothing runs.
        assert (content(again) != content(card)) == (again.versions[SHOWN] != card.versions[SHOWN])
        changed += again.versions[SHOWN] != card.versions[SHOWN] or reference in card.versions
        card = again
    assert changed >= 1 or (case == ANALYSIS and not seen)


MOVED = [
    (
        "appointment.remind",
        {"appointment": "Appointment/appt-1002", "channel": "sms"},
        "Appointment",
        ("start", "2026-11-30T14:15:00Z"),
    ),
    (*REPORT, "MedicationRequest", ("status", "stopped")),
]


@pytest.mark.parametrize(("name", "args", "kind", "change"), MOVED, ids=["remind", "report"])
async def test_what_speaks_composes_once_more(
    desk: Desk, name: str, args: dict[str, Any], kind: str, change: tuple[str, str], tmp_path: Path
) -> None:
    """Moved between the last look and the call: nothing is sent, no file is made."""
    card = await desk.preview(name, args)
    patient = card.subject["reference"]
    row = (await desk.search(kind, patient=str(patient), status="booked,active"))[0]
    await put(desk, {**row, change[0]: change[1]})
    with pytest.raises(RecordMoved, match="nothing was done"):
        await desk.call(name, args, approved_by=OKAFOR, record_versions=dict(card.versions))
    assert await desk.search("Communication", identifier="urn:condor:idem|key-1") == []
    assert not (tmp_path / "reports").exists()


TRIALS = [
    (
        TANAKA,
        "Remind John Hernandez of his appointment by SMS",
        "Move John Hernandez's appointment to 2 December at 14:30",
    ),
    (
        TANAKA,
        "Text Melissa Smith that her appointment tomorrow at 14:00 is still on and she should come fasting.",
        "Move Melissa Smith's appointment to 1 December at 9:30",
    ),
]


@pytest.mark.parametrize(("who", "asked", "moved"), TRIALS, ids=["remind", "text"])
async def test_an_old_card_of_a_message_asks_anew(
    tmp_path: Path, who: Principal, asked: str, moved: str
) -> None:
    """The appointment was moved in another run: the approval of the old card sends nothing."""
    async with Condor(home=tmp_path / "home", packs=[PACK], demo=True) as condor:
        run = await condor.start(asked, autonomy="autonomous", principal=who)
        parked: Any = await condor.wait(run.id)
        card = parked["suspensions"][-1]
        if card["reasonCode"] == "clarification":
            text = {"message": "Your appointment tomorrow at 14:00 is still on. Please come fasting."}
            await condor.resume(run.id, card["suspendId"], text, principal=who)
            parked = await condor.wait(run.id)
            card = parked["suspensions"][-1]
        other = await condor.start(moved, autonomy="autonomous", principal=who)
        assert re.search("succeeded", str((await condor.wait(other.id))["status"]))
        await condor.resume(run.id, card["suspendId"], {"approved": True}, principal=who)
        again: Any = await condor.wait(run.id)
        assert again["status"] == "suspended"
        anew = again["suspensions"][-1]
        assert anew["suspendId"] != card["suspendId"]
        assert "Nothing has run" in anew["message"] or "changed since" in anew["message"]
        assert anew["evidence"] != card["evidence"]
