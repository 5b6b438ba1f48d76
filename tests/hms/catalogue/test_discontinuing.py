"""Stopping a medicine: the order that was shown, in the version that was shown."""

from typing import Any

import pytest

from condor import Effect, RecordMoved, ToolError
from condor_hms.catalogue.shown import SHOWN
from condor_hms.catalogue.writing import Edit, Written, write
from tests.hms.catalogue.desk import OKAFOR, Desk

STOP = "medication.discontinue"
CELECOXIB = "MedicationRequest/rxopd-2841d7bb9857"
ARGS: dict[str, Any] = {"order": CELECOXIB, "reason_code": "interaction"}
SEEN: dict[str, Any] = {"approved_by": OKAFOR, "record_versions": {CELECOXIB: "1"}}


async def change(desk: Desk, **elements: Any) -> str:
    """Somebody else changes the order."""
    order = await desk.fhir.read(CELECOXIB)
    entry = {
        "resource": {**{name: part for name, part in order.items() if name != "meta"}, **elements},
        "request": {"method": "PUT", "url": CELECOXIB, "ifMatch": f'W/"{order["meta"]["versionId"]}"'},
    }
    bundle = {"resourceType": "Bundle", "type": "transaction", "entry": [entry]}
    return (await desk.fhir.transact(bundle)).outcomes[0].version


async def test_the_card_of_r05(desk: Desk) -> None:
    """Before and after with status, the version it will be written on, and the alert it would end."""
    card = await desk.preview(STOP, ARGS)
    assert card.subject["text"] == "Helen Coleman, 81 y, female, MRN POP-000002"
    assert card.summary == "Stop Celecoxib 200 mg oral, once daily. Reason: interaction"
    assert card.before == {"order": "Celecoxib 200 mg oral, once daily", "status": "active"}
    assert card.after["status"] == "stopped"  # type: ignore[call-overload,index]
    assert {**card.versions, SHOWN: ""} == {CELECOXIB: "1", SHOWN: ""}
    assert [alert["id"] for alert in card.alerts] == ["ddi-08"]
    assert card.context[0] == {"label": "Ordered", "text": "24 Nov 2026 by Ellis Hamblin"}


async def test_it_is_a_destructive_effect_on_that_order(desk: Desk) -> None:
    """The policy sees what the call does, whoever names it how."""
    effect_of = desk.tools[STOP].effect_of
    assert effect_of is not None
    assert effect_of(ARGS) == (Effect(verb="stop", target=CELECOXIB, destructive=True),)


async def test_it_is_stopped_and_said(desk: Desk) -> None:
    """One new version, with the reason on the order and in its Provenance."""
    value = await desk.call(STOP, {**ARGS, "reason": "bleeding risk"}, **SEEN)
    order = await desk.fhir.read(CELECOXIB)
    assert (order["status"], order["statusReason"]) == ("stopped", {"text": "interaction: bleeding risk"})
    assert order["meta"]["versionId"] == value["version"] == "2"
    [provenance] = await desk.search("Provenance", target=CELECOXIB)
    assert provenance["reason"] == [{"text": "interaction: bleeding risk"}]
    assert provenance["activity"]["coding"][0]["code"] == "UPDATE"
    assert desk.report(STOP, ARGS, value) == (
        "Stopped: Celecoxib 200 mg oral, once daily for Helen Coleman, 81 y, female, MRN POP-000002 "
        f"({CELECOXIB} active → stopped, version 2)."
    )


async def test_a_repetition_finds_its_own_mark(desk: Desk) -> None:
    """A crash after the commit: the own tag says that it was done."""
    first = await desk.call(STOP, ARGS, **SEEN)
    again = await desk.call(STOP, ARGS, **SEEN, attempt=2)
    assert again == {**first, "replayed": True}
    assert len(await desk.fhir.history(CELECOXIB)) == 2
    assert (await desk.reconcile(STOP, ARGS)).happened is True


async def test_a_repetition_after_somebody_else_changed_it(desk: Desk) -> None:
    """The own version is found in the history, also when it is no longer the current one."""
    first = await desk.call(STOP, ARGS, **SEEN)
    await change(desk, status="entered-in-error")
    again = await desk.call(STOP, ARGS, **SEEN, attempt=2)
    assert (again["version"], again["replayed"]) == (first["version"], True)
    assert (await desk.reconcile(STOP, ARGS)).value == again


@pytest.mark.parametrize(
    ("elements", "said"),
    [
        ({"status": "on-hold"}, "status active → on-hold"),
        ({"priority": "urgent"}, "priority"),
        (
            {"dosageInstruction": [{"text": "200 mg twice daily"}]},
            "Celecoxib 200 mg oral, once daily → Celecoxib: 200 mg twice daily",
        ),
    ],
)
async def test_a_record_that_moved_is_not_written(desk: Desk, elements: dict[str, Any], said: str) -> None:
    """What somebody else changed is told; the step asks again with the record as it is."""
    await change(desk, **elements)
    with pytest.raises(RecordMoved) as moved:
        await desk.call(STOP, ARGS, **SEEN)
    assert said in str(moved.value)
    assert "version 1 → 2" in str(moved.value)
    assert len(await desk.fhir.history(CELECOXIB)) == 2
    assert (await desk.reconcile(STOP, ARGS)).happened is False


@pytest.mark.parametrize("status", ["completed", "on-hold", "cancelled"])
async def test_only_an_active_order_can_be_stopped(desk: Desk, status: str) -> None:
    """What is over cannot be stopped; it says what it is."""
    version = await change(desk, status=status)
    with pytest.raises(ToolError, match=f"is {status}, not active") as refusal:
        await desk.preview(STOP, ARGS)
    assert refusal.value.effect == "none"
    with pytest.raises(ToolError, match=f"is {status}, not active"):
        await desk.call(STOP, ARGS, record_versions={CELECOXIB: version})
    assert len(await desk.fhir.history(CELECOXIB)) == 2


@pytest.mark.parametrize(
    ("args", "said"),
    [
        ({"order": "rxopd-2841d7bb9857"}, "does not name a MedicationRequest"),
        ({"order": "Patient/pt-bf0d2c068a08"}, "does not name a MedicationRequest"),
        ({"order": "MedicationRequest/none"}, "is not in the record"),
        ({"reason_code": "because"}, "not a reason of the list"),
    ],
)
async def test_no_other_order_and_no_other_reason(desk: Desk, args: dict[str, Any], said: str) -> None:
    """Nothing is stopped that was not named exactly."""
    with pytest.raises(ToolError, match=said):
        await desk.call(STOP, {**ARGS, **args}, **SEEN)
    assert (await desk.fhir.read(CELECOXIB))["meta"]["versionId"] == "1"


async def test_a_change_between_reading_and_writing_is_seen(desk: Desk) -> None:
    """The version is checked by the record itself: nobody can slip in between."""
    before = await desk.fhir.read(CELECOXIB)
    after = {**before, "status": "stopped"}
    await change(desk, priority="urgent")
    with pytest.raises(RecordMoved, match=r"\(priority; version 1 → 2\)"):
        await stop_again(desk, before, after)
    assert (await desk.fhir.read(CELECOXIB))["status"] == "active"


async def test_a_conflict_with_oneself_is_success(desk: Desk) -> None:
    """Two tries of one call at once: the second finds the first one's mark."""
    before = await desk.fhir.read(CELECOXIB)
    value = await desk.call(STOP, ARGS, **SEEN)
    written = await stop_again(desk, before, {**before, "status": "stopped"})
    assert (written.version, written.replayed) == (value["version"], True)


async def stop_again(desk: Desk, before: dict[str, Any], after: dict[str, Any]) -> Written:
    edit = Edit(before=before, after=after)
    [written] = await write(
        desk.hospital, desk.context(), edits=[edit], activity="UPDATE", reason="interaction"
    )
    return written


@pytest.mark.parametrize(
    ("order", "code", "said"),
    [
        (
            "warfarin",
            "bad_reference",
            "'warfarin' does not name a MedicationRequest: give M",
        ),
        ("Patient/pt-bf0d2c068a08", "bad_reference", "does not name a MedicationRequest"),
        ("MedicationRequest/nobody", "not_in_record", "MedicationRequest/nobody is not in the record"),
        ("", "bad_reference", "'' does not name a MedicationRequest"),
    ],
)
async def test_an_order_that_is_none_is_refused(desk: Desk, order: str, code: str, said: str) -> None:
    """Typed where the plan found no such medicine: the card and the call say the same, nothing is written."""
    for attempt in (desk.preview, desk.call):
        with pytest.raises(ToolError) as refusal:
            await attempt(STOP, {**ARGS, "order": order})
        assert (refusal.value.code, refusal.value.effect) == (code, "none")
        assert said in str(refusal.value)


async def test_an_order_that_is_not_active_has_no_card(desk: Desk) -> None:
    """What is stopped cannot be stopped: said before anybody is asked."""
    await change(desk, status="stopped")
    with pytest.raises(ToolError, match="is stopped, not active; there is nothing to stop"):
        await desk.preview(STOP, ARGS)
