"""What a resource can be found by: values taken from it and normalised; pure.

Rule: a question is normalised with the same functions (`name_words`, `date_range`, `phone_backwards`) as the
values it is meant to meet.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from condor_hms.fhir.references import versionless
from condor_hms.fhir.search_table import Param, params_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from condor_hms.fhir.port import Resource

__all__ = [
    "CHARS_MAX",
    "IndexValue",
    "date_range",
    "index_values",
    "name_words",
    "patients_of",
    "phone_backwards",
]

#: Characters of an indexed value and of its qualifier: both fit an entry of any database's index (PostgreSQL:
#: 2,704 bytes). What is longer is kept cut and marked, so that no question meets it by chance.
CHARS_MAX = 250
_CUT = "\N{HORIZONTAL ELLIPSIS}\N{HORIZONTAL ELLIPSIS}"

_OPEN_LOW = "0000-01-01T00:00:00.000"
_OPEN_HIGH = "9999-12-31T23:59:59.999"
_DATE = re.compile(
    r"(\d{4})(?:-(\d\d)(?:-(\d\d)(?:T(\d\d):(\d\d)(?::(\d\d)(\.\d+)?)?(Z|[+-]\d\d:\d\d)?)?)?)?"
)
#: The typewriter, typographic and modifier apostrophes, and the accents typed in their place.
_APOSTROPHES = "['`\u00b4\u02bc\u2019]"
#: Letters that Unicode does not decompose into a base letter and an accent.
_LETTERS = str.maketrans(
    {
        "ø": "o",
        "ł": "l",
        "đ": "d",
        "æ": "ae",
        "œ": "oe",
        "ð": "d",
        "þ": "th",
        "\N{LATIN SMALL LETTER DOTLESS I}": "i",
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexValue:
    """One value a resource can be found by."""

    #: Name of the search parameter.
    param: str
    #: The normalised value; of a date the beginning of its range.
    value: str
    #: Of a date the end of its range, of a token its system, else empty.
    qualifier: str = ""


def index_values(resource: Resource) -> list[IndexValue]:
    """Every value the resource can be found by, without repetition."""
    found: dict[IndexValue, None] = {}
    for name, param in params_of(resource["resourceType"]).items():
        for path in param.paths:
            for element in _elements_at(resource, path.split(".")):
                for value, qualifier in _index_element(param, element):
                    found[IndexValue(param=name, value=_kept(value), qualifier=_kept(qualifier))] = None
    return list(found)


def patients_of(resource: Resource) -> frozenset[str]:
    """Whose the resource is: the `Patient/id` that its search parameter `patient` finds it by."""
    param = params_of(resource["resourceType"]).get("patient")
    if param is None:
        return frozenset()
    found = (element for path in param.paths for element in _elements_at(resource, path.split(".")))
    return frozenset(target for element in found for target, _ in _index_element(param, element))


def _kept(text: str) -> str:
    # PostgreSQL keeps no NUL; no code or name has one.
    text = text.replace("\0", "")
    return text if len(text) <= CHARS_MAX else text[:CHARS_MAX] + _CUT


def _elements_at(element: Any, steps: list[str]) -> Iterator[Any]:
    if isinstance(element, list):
        for item in element:
            yield from _elements_at(item, steps)
    elif not steps:
        yield element
    elif isinstance(element, dict) and steps[0] in element:
        yield from _elements_at(element[steps[0]], steps[1:])


def _index_element(param: Param, element: Any) -> Iterator[tuple[str, str]]:
    match param.kind:
        case "token":
            yield from _tokens(element)
        case "folded":
            yield from ((code.casefold(), system) for code, system in _tokens(element))
        case "reference":
            yield from ((target, "") for target in _targets(element, param.target))
        case "date":
            bounds = _element_range(element)
            if bounds is not None:
                yield bounds
        case "phone":
            yield from ((number, "") for number in _phone_numbers(element))
        case "name":
            yield from ((word, "") for word in _element_words(element))
        case "id":
            raise AssertionError("INVARIANT: _id has no path, its resource is found by the reference itself")


def _targets(element: Any, target_type: str | None) -> Iterator[str]:
    target = element.get("reference") if isinstance(element, dict) else None
    if isinstance(target, str) and (target_type is None or target.startswith(f"{target_type}/")):
        yield versionless(target)


def _phone_numbers(element: Any) -> Iterator[str]:
    backwards = phone_backwards(element.get("value")) if isinstance(element, dict) else ""
    if backwards and element.get("system") in ("phone", "sms", None):
        yield backwards


def _tokens(element: Any) -> Iterator[tuple[str, str]]:
    """(code, system) of a code, Coding, CodeableConcept, Identifier or boolean."""
    if isinstance(element, bool):
        yield "true" if element else "false", ""
    elif isinstance(element, str):
        yield element, ""
    elif isinstance(element, dict) and isinstance(element.get("coding"), list):
        for coding in element["coding"]:
            yield from _tokens(coding)
    elif isinstance(element, dict):
        code = element.get("code", element.get("value"))
        if isinstance(code, str):
            yield code, element.get("system") or ""


def _element_words(element: Any) -> Iterator[str]:
    if isinstance(element, str):
        yield from name_words(element, whole=True)
    elif isinstance(element, dict):
        for key in ("text", "family", "given", "prefix", "suffix"):
            given = element.get(key, [])
            for text in [given] if isinstance(given, str) else given:
                yield from name_words(text, whole=True)


def name_words(text: str, *, whole: bool) -> list[str]:
    """The words of a name, lower case and without accents.

    With `whole` (for the index) an apostrophe or hyphen also gives its parts: O'Brien-Smith is found as
    obrien, o, brien, smith and obriensmith. Without it (for a question) an apostrophe joins, a hyphen splits.
    """
    folded = unicodedata.normalize("NFKD", text).casefold().translate(_LETTERS)
    plain = unicodedata.normalize("NFKD", folded)
    plain = "".join(char for char in plain if not unicodedata.combining(char))
    plain = re.sub(_APOSTROPHES, "'", plain)
    words: dict[str, None] = {}
    for chunk in re.split(r"[^\w'\-]+", plain):
        joined = chunk.replace("'", "")
        words.update(dict.fromkeys(joined.split("-")))
        if whole:
            words.update(dict.fromkeys(re.split(r"['\-]", chunk)))
            words[joined.replace("-", "")] = None
    words.pop("", None)
    return list(words)


def phone_backwards(text: Any) -> str:
    """The digits of a phone number from the last to the first: numbers are compared from their end."""
    return re.sub(r"\D", "", text, flags=re.ASCII)[::-1] if isinstance(text, str) else ""


def _element_range(element: Any) -> tuple[str, str] | None:
    if isinstance(element, str):
        return date_range(element)
    if not isinstance(element, dict):
        return None
    start = date_range(element["start"]) if isinstance(element.get("start"), str) else (_OPEN_LOW, _OPEN_LOW)
    end = date_range(element["end"]) if isinstance(element.get("end"), str) else (_OPEN_HIGH, _OPEN_HIGH)
    return None if start is None or end is None else (start[0], end[1])


def date_range(text: str) -> tuple[str, str] | None:
    """First and last millisecond of a FHIR date or dateTime in UTC (the default zone); None if it is none."""
    match = _DATE.fullmatch(text)
    if match is None:
        return None
    year, month, day, hour, minute, second, fraction, zone = match.groups()
    try:
        low = datetime(
            int(year),
            int(month or 1),
            int(day or 1),
            int(hour or 0),
            int(minute or 0),
            int(second or 0),
            tzinfo=UTC,
        )
        high = _last_instant(low, [month, day, hour, second])
        offset = _offset(zone)
        if fraction is not None:
            low = high = low + timedelta(milliseconds=int(fraction[1:4].ljust(3, "0")))
        return _instant(low - offset), _instant(high - offset)
    except (ValueError, OverflowError):
        return None


def _last_instant(low: datetime, given: list[str | None]) -> datetime:
    """The last millisecond of a year, month, day, minute or second, by which parts were given."""
    month, day, hour, second = given
    if month is None:
        following = datetime(low.year, 12, 31, tzinfo=UTC) + timedelta(days=1)
    elif day is None:
        following = datetime(low.year + low.month // 12, low.month % 12 + 1, 1, tzinfo=UTC)
    elif hour is None:
        following = low + timedelta(days=1)
    else:
        following = low + (timedelta(minutes=1) if second is None else timedelta(seconds=1))
    return following - timedelta(milliseconds=1)


def _offset(zone: str | None) -> timedelta:
    if zone is None or zone == "Z":
        return timedelta()
    size = timedelta(hours=int(zone[1:3]), minutes=int(zone[4:6]))
    return -size if zone[0] == "-" else size


def _instant(moment: datetime) -> str:
    return moment.isoformat(timespec="milliseconds")[:23]
