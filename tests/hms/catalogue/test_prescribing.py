"""Prescribing: the whole order on the card, one order in the record, signed by who approved it."""

from typing import Any

import pytest

from condor import ToolError
from condor_hms.catalogue.shown import SHOWN
from tests.hms.catalogue.desk import KRISTIN, LINDHOLM, MELISSA, NITROFURANTOIN, NOW, OKAFOR, Desk

PRESCRIBE = "medication.prescribe"


async def orders_of(desk: Desk, key: str = "key-1") -> list[dict[str, Any]]:
    return await desk.search("MedicationRequest", identifier=f"urn:condor:idem|{key}")


async def test_the_card_shows_who_what_and_what_to_weigh(desk: Desk) -> None:
    """Patient, exact order, list before and after, allergies and latest results with dates."""
    card = await desk.preview(PRESCRIBE, NITROFURANTOIN)
    assert card.subject["text"] == "Melissa Smith, 47 y, female, MRN POP-000035"
    assert card.summary == "Nitrofurantoin 100 mg oral, twice daily, for 5 days, for UTI"
    before = card.before["medicines"]  # type: ignore[call-overload,index]
    assert before == [
        "Sliding scale insulin subcutaneous",
        "Metformin 500 mg oral, twice daily",
        "Atorvastatin 10 mg oral, once daily",
        "Amlodipine 5 mg oral, once daily",
    ]
    assert card.after == {"medicines": [*before, card.summary]}
    assert {row["label"]: row["text"] for row in card.context} == {
        "Route": "oral: taken from the product where the request names none; "
        "Nitrofurantoin exists for no other",
        "Allergies": "4 allergies: penicillin (high criticality), aspirin (low criticality), sulfonamide "
        "(high criticality) and tree pollen (low criticality)",
        "Latest creatinine": "0.74 mg/dL on 23 Oct 2026",
        "Latest potassium": "not recorded",
        "Latest weight": "77.2 kg on 10 Nov 2026",
        "Alert rules": "demonstration rules demo-2026-11-30, not reviewed by a pharmacist; no rule names "
        "Nitrofurantoin: its name was compared with the names of the recorded allergies and of the active "
        "orders; interactions, conditions and doses were not checked",
        "Meaning of the signature": "Author's Signature where Dr Okafor, who asked, approves; else "
        "Verification Signature",
        "Printed name": "whoever approves this card; asked for by Dr Okafor",
        "Time": "when it is written, right after it is approved",
    }
    assert (card.alerts, set(card.versions), card.requires) == ((), {SHOWN}, ())


async def test_a_critical_alert_comes_first_and_needs_a_reason(desk: Desk) -> None:
    """Amoxicillin for a patient with a penicillin allergy is not approved without saying why."""
    order = {**NITROFURANTOIN, "patient": KRISTIN, "medication": "Amoxicillin", "dose_value": 500}
    card = await desk.preview(PRESCRIBE, order)
    assert (card.alerts[0]["id"], card.alerts[0]["severity"]) == ("alg-01", "critical")
    assert card.requires == ("override_reason",)


async def test_one_order_with_its_provenance_is_written_and_reported(desk: Desk) -> None:
    """The order as approved, who asked, who signed, and one sentence with id and version."""
    value = await desk.call(PRESCRIBE, NITROFURANTOIN, approved_by=OKAFOR)
    [order] = await orders_of(desk)
    assert value == {
        "reference": f"MedicationRequest/{order['id']}",
        "version": "1",
        "order": "Nitrofurantoin 100 mg oral, twice daily, for 5 days, for UTI",
        "patient": "Melissa Smith, 47 y, female, MRN POP-000035",
        "done": "Prescribed: Nitrofurantoin 100 mg oral, twice daily, for 5 days, for UTI for Melissa Smith, "
        "47 y, female, MRN POP-000035",
        "change": "",
        "notes": [],
    }
    assert (order["status"], order["intent"], order["subject"]) == ("active", "order", {"reference": MELISSA})
    assert order["requester"] == {"reference": "Practitioner/dr-okafor", "display": "Dr Amara Okafor"}
    assert order["authoredOn"] == "2026-11-30T09:30:00Z"
    assert order["reasonCode"] == [{"text": "UTI"}]
    dosage = order["dosageInstruction"][0]
    assert dosage["text"] == "100 mg oral, twice daily, for 5 days"
    assert dosage["timing"]["repeat"]["frequency"] == 2
    assert desk.report(PRESCRIBE, NITROFURANTOIN, value) == (
        "Prescribed: Nitrofurantoin 100 mg oral, twice daily, for 5 days, for UTI for Melissa Smith, 47 y, "
        f"female, MRN POP-000035 (MedicationRequest/{order['id']} version 1)."
    )


async def test_the_approver_signs(desk: Desk) -> None:
    """Meaning, printed name and time of whoever approved; another doctor's signature is a verification."""
    await desk.call(PRESCRIBE, NITROFURANTOIN, approved_by=LINDHOLM)
    [order] = await orders_of(desk)
    [provenance] = await desk.search("Provenance", target=f"MedicationRequest/{order['id']}")
    roles = [agent["type"]["coding"][0]["code"] for agent in provenance["agent"]]
    assert roles == ["author", "verifier", "assembler"]
    [signature] = provenance["signature"]
    assert signature["who"] == {"reference": "Practitioner/dr-lindholm", "display": "Dr Erik Lindholm"}
    assert signature["type"][0]["display"] == "Verification Signature"
    assert signature["when"] == f"{NOW:%Y-%m-%dT%H:%M:%S}Z"


async def test_nobody_approved_nothing_is_written(desk: Desk) -> None:
    """An order is never written unsigned."""
    with pytest.raises(ToolError, match="nobody approved") as refusal:
        await desk.call(PRESCRIBE, NITROFURANTOIN)
    assert refusal.value.effect == "none"
    assert await orders_of(desk) == []


async def test_a_repetition_writes_nothing_and_says_the_same(desk: Desk) -> None:
    """The same key gives the same order, however often the call is made."""
    first = await desk.call(PRESCRIBE, NITROFURANTOIN, approved_by=OKAFOR)
    again = await desk.call(PRESCRIBE, NITROFURANTOIN, approved_by=OKAFOR, attempt=2)
    assert again == {**first, "replayed": True}
    assert len(await orders_of(desk)) == 1
    assert len(await desk.search("Provenance", target=first["reference"])) == 1


async def test_the_record_knows_whether_it_happened(desk: Desk) -> None:
    """A call of unknown outcome is looked up by its key."""
    before = await desk.reconcile(PRESCRIBE, NITROFURANTOIN)
    value = await desk.call(PRESCRIBE, NITROFURANTOIN, approved_by=OKAFOR)
    after = await desk.reconcile(PRESCRIBE, NITROFURANTOIN)
    assert (before.happened, after.happened) == (False, True)
    assert after.value == {**value, "replayed": True}


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"dose_value": 0}, "dose_value"),
        ({"dose_value": None}, "dose_value"),
        ({"dose_unit": "mgs"}, "dose_unit"),
        ({"route": None}, "route"),
        ({"frequency": "often"}, "frequency"),
        ({"medication": "  "}, "medication"),
        ({"patient": "pt-0612cf63eb84"}, "does not name a Patient"),
        ({"patient": "Practitioner/dr-okafor"}, "does not name a Patient"),
        ({"patient": "Patient/nobody"}, "is not in the record"),
    ],
)
async def test_an_incomplete_order_is_refused(desk: Desk, change: dict[str, Any], said: str) -> None:
    """No dose, unit, route, frequency or patient is ever assumed."""
    for attempt in (desk.preview, desk.call):
        with pytest.raises(ToolError, match=said) as refusal:
            await attempt(PRESCRIBE, {**NITROFURANTOIN, **change}, approved_by=OKAFOR)
        assert refusal.value.effect == "none"
    assert await orders_of(desk) == []


async def test_every_frequency_route_and_unit_can_be_written(desk: Desk) -> None:
    """Whatever the form offers, the record takes."""
    specs = desk.tools[PRESCRIBE].args_by_name
    for name in ("frequency", "route", "dose_unit", "override_reason"):
        for number, option in enumerate(specs[name].hint["enum"]):  # type: ignore[arg-type]
            order = {**NITROFURANTOIN, name: option["value"]}  # type: ignore[index,call-overload]
            order |= {"as_needed": True, "quantity": 10, "refills": 0}
            key = f"{name}-{number}"
            await desk.call(PRESCRIBE, order, approved_by=OKAFOR, idempotency_key=key)
            assert len(await orders_of(desk, key)) == 1


async def test_the_duration_stays_with_the_order(desk: Desk) -> None:
    """After approval the list and the alert about a second order still say for how long it is."""
    await desk.call("medication.prescribe", NITROFURANTOIN, approved_by=OKAFOR)
    listed = await desk.call("medication.list.card", {"patient": MELISSA})
    words = "Nitrofurantoin 100 mg oral, twice daily, for 5 days"
    assert words in desk.report("medication.list.card", {}, listed)
    card = await desk.preview("medication.prescribe", NITROFURANTOIN)
    [duplicate] = [alert for alert in card.alerts if alert["id"] == "own-duplicate"]
    assert words in str(duplicate["evidence"])
    again = await desk.call("interaction.check", {"patient": MELISSA, "medication": "Nitrofurantoin"})
    assert "for 5 days" in desk.report("interaction.check", {"medication": "Nitrofurantoin"}, again)
