"""What a unit is gathered from: nothing of it is lost, whatever it is."""

from __future__ import annotations

import pytest

from condor.core.ids import SuspendId
from condor.core.run import EventKind
from condor.pump.staging import Staging


@pytest.mark.parametrize(
    "one",
    [
        Staging(consume=[SuspendId("sus_1")]),
        Staging(payloads=[("plan", b"{}")]),
        Staging(audit=[b"{}"]),
        Staging(events=[(EventKind.RUN_ENDED, b"{}")]),
    ],
)
def test_one_row_of_any_kind_is_something(one: Staging) -> None:
    """And so it is not passed over when it is joined with others."""
    more = Staging(payloads=[("graph", b"{}")])
    both = one.joined(more)
    assert one
    assert (both.consume, both.audit, both.events) == (one.consume, one.audit, one.events)
    assert list(both.payloads) == [*one.payloads, ("graph", b"{}")]
    assert not Staging()
