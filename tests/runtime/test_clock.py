"""Times as they are stored: one width, so that text order is time order."""

from __future__ import annotations

import datetime

from hypothesis import given
from hypothesis import strategies as st

from condor.ports.clock import timestamp

_OFFSETS = st.integers(-14 * 60, 14 * 60).map(
    lambda minutes: datetime.timezone(datetime.timedelta(minutes=minutes))
)
moments = st.datetimes(
    min_value=datetime.datetime(1, 1, 2),  # noqa: DTZ001 - the zone is drawn beside it
    max_value=datetime.datetime(9999, 12, 30),  # noqa: DTZ001 - as above
    timezones=st.just(datetime.UTC) | _OFFSETS,
)


@given(moments)
def test_a_moment_is_written_in_utc_to_the_millisecond(moment: datetime.datetime) -> None:
    """Wherever it was told; what is less than a millisecond is cut, never rounded up."""
    utc = moment.astimezone(datetime.UTC).replace(tzinfo=None)
    assert timestamp(moment) == utc.isoformat(timespec="milliseconds") + "Z"


@given(moments, moments)
def test_text_order_is_time_order(one: datetime.datetime, other: datetime.datetime) -> None:
    """What was stored first is sorted first."""
    assert one > other or timestamp(one) <= timestamp(other)
