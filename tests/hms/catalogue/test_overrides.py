"""A critical alert of the call's own medicine needs a reason, whichever tool would give it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from condor import Condor, InputField
from condor_hms.catalogue.hospital import reference_of
from condor_hms.catalogue.record_write import without
from condor_hms.pack import PACK
from tests.hms.catalogue.desk import JOHN, NICHOLAS, OKAFOR, Desk
from tests.hms.fhir.support import UCUM, bundle, order

if TYPE_CHECKING:
    from pathlib import Path

    from condor import CardEvidence

DOSE = {"action": "update", "dose_unit": "mg", "frequency": "QD", "reason": "pain"}


async def order_of(desk: Desk, patient: str, name: str) -> str:
    """The order of a medicine that stands in the record."""
    orders = await desk.search("MedicationRequest", patient=patient, status="active")
    (found,) = [order["id"] for order in orders if name in str(order["medicationCodeableConcept"]).lower()]
    return f"MedicationRequest/{found}"


def asked(card: CardEvidence) -> list[str]:
    return [item.name if isinstance(item, InputField) else item for item in card.requires]


@pytest.mark.parametrize(
    ("patient", "medicine", "dose", "needs"),
    [
        (JOHN, "celecoxib", 400, ["override_reason"]),  # alg-03: his allergy to sulfonamides
        (NICHOLAS, "aspirin", 300, ["override_reason"]),  # ddi-01: beside ticagrelor
        # dos-01 is about the ticagrelor that stands beside it, whatever becomes of the aspirin.
        (NICHOLAS, "aspirin", 81, []),
    ],
)
async def test_a_new_dose(desk: Desk, patient: str, medicine: str, dose: int, needs: list[str]) -> None:
    """What the new dose would do asks; what stands in the record anyway is shown."""
    order = await order_of(desk, patient, medicine)
    card = await desk.preview("medication.update", {**DOSE, "order": order, "dose_value": dose})
    assert any(alert["severity"] == "critical" for alert in card.alerts) == bool(needs)
    assert asked(card) == needs
    if patient == NICHOLAS:
        (beside,) = [alert for alert in card.alerts if alert["id"] == "dos-01"]
        assert beside["severity"] == "warning"
        assert str(beside["summary"]).startswith("Stands already, from another order: Ticagrelor")


async def test_a_renewal_and_a_restart(desk: Desk) -> None:
    """They give the medicine too; a restart leaves no task, so it offers none. A hold asks nothing."""
    order = await order_of(desk, JOHN, "celecoxib")
    renewed = {"order": order, "quantity": 30, "valid_until": "2027-01-30"}
    assert asked(await desk.preview("prescription.renew", renewed)) == ["override_reason"]
    held = {"order": order, "action": "hold", "reason": "AKI"}
    assert asked(await desk.preview("medication.update", held)) == []
    await desk.call("medication.update", held, approved_by=OKAFOR)
    card = await desk.preview("medication.update", {"order": order, "action": "resume", "reason": "better"})
    (item,) = card.requires
    assert isinstance(item, InputField)
    options: Any = item.hint["enum"]
    assert "will-monitor" not in str(options) and "tolerated-before" in str(options)


async def two_orders(desk: Desk, drug: str, beside: float, own: float, status: str) -> str:
    """Two orders of one drug for one patient, once a day each; the second is the one to be changed."""
    for key, dose, state in (("beside", beside, "active"), ("own", own, status)):
        line = {
            "text": f"{dose:g} mg oral, once daily",
            "timing": {"repeat": {"frequency": 1, "period": 1, "periodUnit": "d"}},
            "doseAndRate": [{"doseQuantity": {"value": dose, "unit": "mg", "system": UCUM, "code": "mg"}}],
        }
        written = order(
            status=state,
            medicationCodeableConcept={"text": drug},
            dosageInstruction=[line],
            identifier=[{"system": "urn:test", "value": key}],
        )
        entry = {"resource": written, "request": {"method": "POST", "url": "MedicationRequest"}}
        await desk.fhir.transact(bundle(entry))
    (found,) = await desk.search("MedicationRequest", identifier="urn:test|own")
    return f"MedicationRequest/{found['id']}"


@pytest.mark.parametrize(
    ("drug", "beside", "to"),
    [
        ("Acetaminophen", 4400, 20000),  # Five times the limit, beside one that is 10 % above it.
        ("Ticagrelor", 200, 900),
        # Rule, evidence and words of the alert that stands already: it is this call's doing all the same.
        ("Ticagrelor", 200, 200),
    ],
)
async def test_one_drug_twice_is_never_the_other_order_alone(
    desk: Desk, drug: str, beside: float, to: float
) -> None:
    """A new dose, a renewal and a restart are asked a reason, and the card shows why."""
    calls: list[tuple[str, float, str, dict[str, Any]]] = [
        ("medication.update", 10, "active", {**DOSE, "dose_value": to}),
        ("prescription.renew", to, "active", {"quantity": 30, "valid_until": "2027-01-30"}),
        ("medication.update", to, "on-hold", {"action": "resume", "reason": "better"}),
    ]
    for tool, own, status, args in calls:
        reference = await two_orders(desk, drug, beside, own, status)
        card = await desk.preview(tool, {**args, "order": reference})
        assert asked(card) == ["override_reason"], tool
        assert desk.tools[tool].may_ask == {"override_reason"}, "the hazard log is made of it"
        assert "critical" in [alert["severity"] for alert in card.alerts], tool
        for row in await desk.search("MedicationRequest", identifier="urn:test|own,urn:test|beside"):
            stopped = {**without(row, "meta", "identifier"), "status": "stopped"}
            request = {
                "method": "PUT",
                "url": reference_of(row),
                "ifMatch": f'W/"{row["meta"]["versionId"]}"',
            }
            await desk.fhir.transact(bundle({"resource": stopped, "request": request}))


async def test_from_words_to_the_record(tmp_path: Path) -> None:
    """Asked first, then the card, on which the reason stands; the new order keeps it."""
    text = "Increase John Hernandez's celecoxib to 400 mg once daily because of pain"
    async with Condor(home=tmp_path / "home", packs=[PACK], demo=True) as condor:
        run = await condor.start(text, autonomy="autonomous", principal=OKAFOR)
        parked: Any = await condor.wait(run.id)
        question = parked["suspensions"][-1]
        assert question["reasonCode"] == "clarification"
        await condor.resume(
            run.id, question["suspendId"], {"override_reason": "will-monitor"}, principal=OKAFOR
        )
        parked = await condor.wait(run.id)
        card = parked["suspensions"][-1]
        assert card["reasonCode"] == "approval"
        assert card["toolInput"]["$answers"] == {"override_reason": "will-monitor"}
        await condor.resume(run.id, card["suspendId"], {"approved": True}, principal=OKAFOR)
        ended: Any = await condor.wait(run.id)
        assert ended["status"] == "succeeded"
        assert "A task to monitor was left for the nurse" in ended["closing"]
