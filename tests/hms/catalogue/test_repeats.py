"""The same order or vital sign once more on one day is done, and said."""

from __future__ import annotations

from typing import Any

import pytest

from tests.hms.catalogue.desk import MELISSA, OKAFOR, Desk
from tests.hms.catalogue.test_every_write import value_of

ORDER = ("order.lab.create", {"patient": MELISSA, "tests": ["4548-4", "2823-3"], "priority": "routine"})
PULSE = ("vitals.record", {"patient": MELISSA, "heart_rate": 80, "taken_at": "2026-11-30T08:00:00Z"})


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (ORDER, "HbA1c was ordered already on 30 Nov 2026"),
        (PULSE, "Heart rate was recorded already"),
    ],
    ids=["order", "pulse"],
)
async def test_a_second_one_is_noted(desk: Desk, call: tuple[str, dict[str, Any]], said: str) -> None:
    """An alert on the card and a sentence in the report; the first one and its own repetition say nothing."""
    name, args = call
    before = [row["id"] for row in (await desk.preview(name, args)).alerts]
    first = value_of(await desk.call(name, args, approved_by=OKAFOR))
    again = value_of(await desk.call(name, args, approved_by=OKAFOR, attempt=2))
    assert first["notes"] == again["notes"]
    assert "already" not in desk.report(name, args, first)
    card = await desk.preview(name, args)
    assert any(said in str(row["summary"]) for row in card.alerts if row["id"] not in before)
    second = value_of(await desk.call(name, args, approved_by=OKAFOR, idempotency_key="key-2"))
    assert said in desk.report(name, args, second)
