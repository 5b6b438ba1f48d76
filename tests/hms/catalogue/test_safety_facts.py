"""What takes a warning away asks and says so; a new dose is another one, in the sense that was said."""

from typing import Any

import pytest

from condor import ToolError
from tests.hms.catalogue.desk import OKAFOR, Desk


async def patient_of(desk: Desk, name: str) -> dict[str, str]:
    return {"patient": f"Patient/{(await desk.search('Patient', name=name))[0]['id']}"}


async def order_of(desk: Desk, name: str, medicine: str) -> str:
    found = await desk.call("medication.list.card", await patient_of(desk, name))
    return str(found["byIngredient"][medicine]["reference"])


async def resolved(desk: Desk, tool: str) -> dict[str, Any]:
    """The call that resolves what warns about John Hernandez's celecoxib: his allergy, or his kidneys."""
    who = await patient_of(desk, "John Hernandez")
    if tool == "allergy.update":
        allergies = (await desk.call("allergy.list.card", who))["bySubstance"]
        found = next(row for name, row in allergies.items() if "sul" in name)
        return {"allergy": found["reference"], "action": "resolve"}
    problems = (await desk.call("condition.list.card", who))["byName"]
    found = next(row for name, row in problems.items() if "kidney" in name)
    day = desk.hospital.today.isoformat()
    return {"condition": found["reference"], "action": "resolve", "abatement": day}


@pytest.mark.parametrize("tool", ["allergy.update", "condition.update"])
async def test_the_end_of_an_entry_that_warns_asks_and_says_so(desk: Desk, tool: str) -> None:
    """It is destructive whoever decides; the card has the warnings that end, and so has the closing."""
    args = await resolved(desk, tool)
    effect_of = desk.tools[tool].effect_of
    assert effect_of is not None
    assert [effect.destructive for effect in effect_of(args)] == [True]
    assert [effect.destructive for effect in effect_of({**args, "action": "update"})] == [False]
    alerts = (await desk.preview(tool, args)).alerts
    told = [alert["summary"] for alert in alerts if "elecoxib" in str(alert["evidence"])]
    assert told
    value = await desk.call(tool, args, approved_by=OKAFOR)
    said = desk.report(tool, args, value)
    assert "The record warned because of it: " in said
    assert "elecoxib" in said


async def test_every_card_about_somebody_dead_says_so(desk: Desk) -> None:
    """A letter too, once, beside whatever else it warns of."""
    who = (await patient_of(desk, "Nicholas Bell"))["patient"]
    letter = {"recipient": who, "channel": "letter", "message": "Please come fasting."}
    alerts = (await desk.preview("communication.send", letter)).alerts
    assert [alert["id"] for alert in alerts] == ["patient-state"]
    assert "deceased" in str(alerts[0]["summary"])
    order = await order_of(desk, "Nicholas Bell", "aspirin")
    card = await desk.preview("medication.update", {"order": order, "action": "hold", "reason": "AKI"})
    assert [alert["id"] for alert in card.alerts].count("patient-state") == 1


@pytest.mark.parametrize(
    ("dose", "reason", "why"),
    [
        (325, "pain", "has that dose and timing already"),
        (500, "Dose reduced: bleeding", "500 mg is not less, as “Dose reduced” says"),
        (81, "Dose increased: pain", "81 mg is not more, as “Dose increased” says"),
    ],
)
async def test_a_dose_against_what_was_said_is_refused(desk: Desk, dose: int, reason: str, why: str) -> None:
    """His aspirin is 325 mg once daily; nothing is written."""
    args = {
        "order": await order_of(desk, "Nicholas Bell", "aspirin"),
        "action": "update",
        "dose_value": dose,
        "dose_unit": "mg",
        "frequency": "QD",
        "reason": reason,
    }
    with pytest.raises(ToolError, match="nothing was written") as refusal:
        await desk.preview("medication.update", args)
    assert why in str(refusal.value)
    assert refusal.value.effect == "none"


async def test_a_dose_as_it_was_said_is_shown(desk: Desk) -> None:
    """Less after “reduced”, more after “increased”, and the same dose more often."""
    order = await order_of(desk, "Sarah Henry", "aspirin")
    shared = {"order": order, "action": "update", "dose_unit": "mg"}
    for dose, often, reason in (
        (81, "QD", "Dose reduced: bleeding"),
        (300, "QD", "Dose increased: pain"),
        (100, "BID", "pain"),
    ):
        args = {**shared, "dose_value": dose, "frequency": often, "reason": reason}
        assert reason in (await desk.preview("medication.update", args)).summary
