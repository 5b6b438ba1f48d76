"""Dates as people write them, read exactly or not at all."""

from __future__ import annotations

import datetime
import re

__all__ = ["DATE", "read_date"]

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTH = (
    "jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?"
    "|nov(?:ember)?|dec(?:ember)?"
)
#: A whole date: 2019-05-03, 3 May 2019, May 3, 2019. Numbers alone (3/5/2019) have two meanings and are none.
DATE = (
    rf"\d{{4}}-\d\d-\d\d|\d{{1,2}}(?:st|nd|rd|th)? (?:of )?(?:{_MONTH}),? \d{{4}}"
    rf"|(?:{_MONTH}) \d{{1,2}}(?:st|nd|rd|th)?,? \d{{4}}"
)


def read_date(text: str, today: datetime.date) -> str | None:
    """A date as ISO text; None when it is no date or lies in the future."""
    low = text.lower()
    try:
        if re.fullmatch(r"\d{4}-\d\d-\d\d", low):
            found = datetime.date.fromisoformat(low)
        else:
            month = next(index for index, name in enumerate(_MONTHS, 1) if re.search(rf"\b{name}", low))
            numbers = [int(number) for number in re.findall(r"\d+", low)]
            found = datetime.date(numbers[-1], month, numbers[0])
    except (ValueError, StopIteration, IndexError):
        return None
    return found.isoformat() if found <= today else None
