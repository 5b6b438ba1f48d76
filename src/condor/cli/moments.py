"""Times as a person reads them."""

from __future__ import annotations

import datetime


def moment(stored: object) -> datetime.datetime | None:
    """A stored time; None when it cannot be read."""
    try:
        found = datetime.datetime.fromisoformat(str(stored))
    except ValueError:
        return None
    return found if found.tzinfo is not None else None


def at(stored: object) -> str:
    """``2026-11-30 14:05:09 UTC``; what cannot be read as it stands."""
    found = moment(stored)
    return f"{found.astimezone(datetime.UTC):%Y-%m-%d %H:%M:%S} UTC" if found else str(stored)


def until(stored: object, now: datetime.datetime | None = None) -> str:
    """``in 23 h 59 min (2026-11-30 14:05:09 UTC)``, or that it is over."""
    found = moment(stored)
    if found is None:
        return "never" if stored is None else str(stored)
    left = found - (now or datetime.datetime.now(datetime.UTC))
    if left <= datetime.timedelta(0):
        return f"over since {at(stored)}"
    return f"in {_span(left)} ({at(stored)})"


def expiry(stored: object) -> tuple[str, str]:
    """``("expires", "in 23 h 59 min (…)")``, or ``("expired", "since …")``."""
    said = until(stored)
    return ("expired", said.removeprefix("over ")) if said.startswith("over since ") else ("expires", said)


def _span(left: datetime.timedelta) -> str:
    minutes, seconds = divmod(int(left.total_seconds()), 60)
    hours, minutes = divmod(minutes, 60)
    days, hours = divmod(hours, 24)
    if days > 1:
        return f"{days} d {hours} h"
    if hours or days:
        return f"{days * 24 + hours} h {minutes} min"
    return f"{minutes} min" if minutes else f"{seconds} s"


__all__ = ["at", "expiry", "moment", "until"]
