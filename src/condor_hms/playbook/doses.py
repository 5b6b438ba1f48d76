"""How much, how often, how long, by which route: read as written, or left out so that it is asked for.

Rule: one dose in a request. Two doses, a range, a rate by weight or a strength are more than these
arguments can say, so they are named and nothing is planned.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from condor_hms.playbook.refusals import refuse, refuse_part
from condor_hms.playbook.vocabulary import FREQUENCIES, ROUTES, pattern

if TYPE_CHECKING:
    from condor_hms.playbook.draft import Draft

__all__ = ["WRITTEN_DOSE", "Dosing", "take_dose", "take_dosing", "take_stated_dose"]

_NUMBER = r"\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?|\.\d+"
#: Words for a unit → its UCUM code in the catalogue.
_UNITS = {
    r"mgs?|milligrams?|milligrammes?": "mg",
    r"mcgs?|ugs?|micrograms?|microgrammes?": "ug",
    r"g|gms?|grams?|grammes?": "g",
    r"mls?|millilitres?|milliliters?": "mL",
    r"iu|units?": "[iU]",
    r"tabs?|tablets?": "{tbl}",
    r"puffs?": "{puff}",
}
_UNIT = "|".join(_UNITS)
_DOSE = re.compile(rf"(?<![\w.,/-])(?P<value>{_NUMBER}) ?-?(?P<unit>{_UNIT})(?![\w/])")
#: A dose with its unit, as a part of other patterns.
WRITTEN_DOSE = rf"(?:{_NUMBER}) ?-?(?:{_UNIT})(?![\w/])"
_BARE_DOSE = re.compile(rf"(?<![\w.,/-])(?P<value>{_NUMBER})(?![\w.,/%-]|\.\d)")
#: A count of tablets in words: “one tablet”.
_COUNT_WORDS = {"one": 1, "two": 2, "three": 3, "four": 4}
_COUNTED = pattern(r"(?P<value>one|two|three|four) (?P<unit>tablets?|puffs?|tabs?)")
_NOT_ONE_DOSE = re.compile(
    rf"(?<!\w)(?:(?:{_NUMBER}) ?(?:{_UNIT})? ?(?:-|to|or) ?(?:{_NUMBER}) ?(?:{_UNIT})"
    rf"|(?:{_NUMBER}) ?(?:{_UNIT}) ?(?:/|per) ?(?:kg|m2|\d[\w ]*|h|hr|hour|day|min)(?!\w)"
    rf"|(?:{_NUMBER})/(?:{_NUMBER}) ?(?:{_UNIT})?)(?!\w)"
)
#: Forms of a product: the dose says them again. What changes a product (modified release) is not among them.
_FORM = pattern(r"(?:immediate release )?(?:capsules?|caps?|tablets?|tabs?|suspension|liquid|syrup)")

_COUNT = r"\d{1,3}|one|two|three|four|five|six|seven|eight|nine|ten|twelve|fourteen|a"
_COUNTS = {
    word: number
    for number, word in enumerate(
        ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"), start=1
    )
} | {"a": 1, "twelve": 12, "fourteen": 14}
_DAYS = {"day": 1, "days": 1, "week": 7, "weeks": 7, "fortnight": 14, "/7": 1, "/52": 7}
_DURATION = re.compile(
    r"(?<![\w.])(?:(?:for|x|over) ?)?(?:(?:a|the) )?(?:total of |course of )?"
    rf"(?P<count>{_COUNT})(?:[ -](?P<unit>days?|weeks?|fortnight)|(?P<short>/7|/52))(?:[ -]course)?(?!\w)"
)
_COURSE = pattern(r"(?:a |the )?(?:short )?course(?: of)?")
_PRN = pattern(r"(?:as needed|prn|when required|as required|if needed|when needed|p\.r\.n\.?)")
_QUANTITY = pattern(
    r"(?:dispense|quantity(?: of)?|supply|qty)[: ]*(?P<count>\d{1,4})"
    r"(?: (?:tablets?|tabs?|capsules?|caps?|doses?))?"
)
_REFILLS = pattern(r"(?:with )?(?P<count>\d{1,2}|no|one|two|three) (?:refills?|repeats?)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Dosing:
    """What was said of a dose; None is: not said."""

    dose_value: float | None = None
    dose_unit: str | None = None
    route: str | None = None
    frequency: str | None = None
    duration_days: int | None = None
    as_needed: bool | None = None
    quantity: int | None = None
    refills: int | None = None


def take_dosing(draft: Draft) -> Dosing:
    """Everything a request says about dosing.

    Raises:
        RequestNotUnderstood: two doses, two frequencies or two routes, or a dose these arguments cannot say.
    """
    quantity = _count(draft, _QUANTITY)
    refills = _count(draft, _REFILLS)
    as_needed = True if draft.take(_PRN) else None
    # Before the duration: "twice a day" holds "a day".
    frequency = _one(FREQUENCIES.take(draft), "frequencies")
    days = _duration(draft)
    route = _one(ROUTES.take(draft), "routes")
    value, unit = take_dose(draft)
    draft.take_all(_FORM)
    draft.take_all(_COURSE)
    return Dosing(
        dose_value=value,
        dose_unit=unit,
        route=route,
        frequency=frequency,
        duration_days=days,
        as_needed=as_needed,
        quantity=quantity,
        refills=refills,
    )


def take_dose(draft: Draft) -> tuple[float | None, str | None]:
    """The one dose, as (value, unit); a bare number has no unit, and none is assumed."""
    odd = draft.take(_NOT_ONE_DOSE)
    if odd is not None:
        raise refuse_part(draft.typed(odd), "one dose at a time, without ranges, rates or strengths")
    matches = draft.take_all(_DOSE) or draft.take_all(_COUNTED) or draft.take_all(_BARE_DOSE)
    if len(matches) > 1:
        raise refuse(f"two doses in one request ({' and '.join(draft.typed(match) for match in matches)})")
    if not matches:
        return None, None
    found = matches[0].groupdict()
    return _value(found["value"]), _unit(found.get("unit"))


def take_stated_dose(draft: Draft) -> bool:
    """Take doses with their units, and say whether there were any; the numbers of anything else stay."""
    return bool(draft.take_all(_DOSE))


def _value(text: str) -> float:
    if text in _COUNT_WORDS:
        return _COUNT_WORDS[text]
    number = float(text.replace(",", ""))
    return int(number) if number.is_integer() else number


def _unit(text: str | None) -> str | None:
    if text is None:
        return None
    return next(code for words, code in _UNITS.items() if re.fullmatch(words, text))


def _duration(draft: Draft) -> int | None:
    found = draft.take_all(_DURATION)
    days = list(dict.fromkeys(_days(match) for match in found))
    if len(days) > 1:
        raise refuse(f"two durations in one request ({' and '.join(draft.typed(match) for match in found)})")
    return days[0] if days else None


def _days(match: re.Match[str]) -> int:
    count, unit = match.group("count"), match.group("unit") or match.group("short")
    return (int(count) if count.isdigit() else _COUNTS[count]) * _DAYS[unit]


def _count(draft: Draft, shape: re.Pattern[str]) -> int | None:
    match = draft.take(shape)
    if match is None:
        return None
    count = match.group("count")
    return int(count) if count.isdigit() else {"no": 0, **_COUNTS}[count]


def _one(codes: list[str], what: str) -> str | None:
    if len(codes) > 1:
        raise refuse(f"two {what} in one request ({' and '.join(codes)})")
    return codes[0] if codes else None
