"""A medicine under another name is the same danger; a name nobody knows is never silence."""

from __future__ import annotations

from typing import Any

import pytest

from condor import InputField, ToolError
from tests.hms.catalogue.desk import KRISTIN, NITROFURANTOIN, Desk

PRESCRIBE = "medication.prescribe"


def order(name: str) -> dict[str, Any]:
    return {**NITROFURANTOIN, "patient": KRISTIN, "medication": name, "dose_value": 500}


@pytest.mark.parametrize(
    "name",
    [
        "AMOXICILLIN 500MG CAPSULES",
        "Amoxil",
        "Ampicillin",
        "Augmentin",
        "Benzylpenicillin",
        "Flucloxacillin",
        "Penicillin V",
        "Piperacillin/tazobactam",
        "Tazocin",
        "\uff30enicillin",
    ],
)
async def test_every_penicillin_is_critical(desk: Desk, name: str) -> None:
    """By its brand, by another country's name, or by the stem of its class."""
    card = await desk.preview(PRESCRIBE, order(name))
    assert ("alg-01", "critical") in [(row["id"], row["severity"]) for row in card.alerts]
    assert card.requires == ("override_reason",)


@pytest.mark.parametrize("name", ["Ammoxicillin", "Amoxi cillin", "Amoxicilin", "Amoxiclilin"])
async def test_a_near_miss_asks_which_is_meant(desk: Desk, name: str) -> None:
    """Compared as the known one; the answer is what is ordered, and then the reason is asked for."""
    card = await desk.preview(PRESCRIBE, order(name))
    ids = [row["id"] for row in card.alerts]
    assert ids[0] == "alg-01"
    assert "own-near-name" in ids
    (field,) = card.requires
    assert isinstance(field, InputField)
    assert field.label == "Medicine (did you mean amoxicillin?)"
    meant = await desk.preview(PRESCRIBE, order(name), answers={"medicine_meant": "amoxicillin"})
    assert meant.summary.startswith("Amoxicillin 500 mg")
    assert meant.requires == ("override_reason",)


UNREADABLE = ["Amoxi\u00adcillin", "am\u043exicillin", "Amoxi\u200bcillin", "\u202eAmoxicillin"]


@pytest.mark.parametrize("name", UNREADABLE, ids=ascii)
@pytest.mark.parametrize("tool", [PRESCRIBE, "medication.statement.record", "allergy.record"])
async def test_what_nobody_can_read_is_refused(desk: Desk, tool: str, name: str) -> None:
    """An invisible character or a letter of another script: one line that says where."""
    asked: dict[str, Any] = order(name)
    if tool == "medication.statement.record":
        asked = {"patient": KRISTIN, "medication": name, "status": "active"}
    if tool == "allergy.record":
        asked = {"patient": KRISTIN, "substance": name, "criticality": "low", "category": "medication"}
    with pytest.raises(ToolError, match=r"character \d+ \(U\+[0-9A-F]{4}\).*type the name anew"):
        await desk.preview(tool, asked)


@pytest.mark.parametrize("name", ["Cefalexin", "Keflex", "Ceftriaxone", "Meropenem"])
async def test_another_beta_lactam_is_a_warning(desk: Desk, name: str) -> None:
    """The rule of penicillin says: choose a non-beta-lactam."""
    card = await desk.preview(PRESCRIBE, order(name))
    assert ("own-beta-lactam", "warning") in [(row["id"], row["severity"]) for row in card.alerts]


async def test_a_name_nobody_knows_is_never_silence(desk: Desk) -> None:
    """It says that nothing was checked, on the card and in the check."""
    card = await desk.preview(PRESCRIBE, order("Zyqqoril"))
    (alert,) = card.alerts
    assert (alert["id"], alert["severity"]) == ("own-unknown-name", "warning")
    assert "NOT checked" in str(alert["summary"])
    value = await desk.call("interaction.check", {"patient": KRISTIN, "medication": "Zyqqoril"})
    assert value["worst"] == "warning"
    assert (await desk.preview(PRESCRIBE, order("Nitrofurantoin"))).alerts == ()
