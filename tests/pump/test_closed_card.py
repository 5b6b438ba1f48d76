"""A card that was closed is the same card but for how it was closed."""

from __future__ import annotations

import dataclasses

from condor.ports.store import SuspensionRow
from condor.pump.state import closed_card


def test_nothing_else_of_a_card_changes_when_it_is_closed() -> None:
    """Every field that there is, also one that is added later, stays as it was."""
    names = [field.name for field in dataclasses.fields(SuspensionRow)]
    card = SuspensionRow(**{name: f"its {name}" for name in names})  # type: ignore[arg-type]
    closing = {"status": "approved", "decided_by": "dr.okafor", "decided_at": "2026-01-01T00:00:00.000Z"}
    wanted = dataclasses.replace(card, **closing)  # type: ignore[arg-type]
    assert closed_card(card, "approved", "dr.okafor", "2026-01-01T00:00:00.000Z") == wanted
