"""What a search asks (`parse_search`) and what a resource can be found by (`index_values`), both pure.

Rule 1: both sides normalise a value with the same function, so that they meet.
Rule 2: what cannot be understood is refused with the parameter's name; nothing is ignored.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, Literal, TypeAlias
from urllib.parse import parse_qsl

from condor_hms.fhir.errors import RequestRefused
from condor_hms.fhir.references import parse_reference, versionless
from condor_hms.fhir.search_table import Kind, Param, params_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from condor_hms.fhir.port import Resource, SearchParams

__all__ = [
    "Compare",
    "Criterion",
    "Equals",
    "IndexValue",
    "SearchQuery",
    "Sort",
    "StartsWith",
    "Test",
    "date_range",
    "index_values",
    "name_words",
    "parse_query_string",
    "parse_search",
]

#: Values of one parameter of one search (repetitions times alternatives). A form never sends more.
_VALUES_MAX = 50
#: `_count` above this is refused; a list for a person or a model is far shorter.
_COUNT_MAX = 1000
#: Digits two phone numbers must share at their end to be one number. Shortest national numbers have 7.
_PHONE_DIGITS_MIN = 7

_OPEN_LOW = "0000-01-01T00:00:00.000"
_OPEN_HIGH = "9999-12-31T23:59:59.999"
_DATE = re.compile(
    r"(\d{4})(?:-(\d\d)(?:-(\d\d)(?:T(\d\d):(\d\d)(?::(\d\d)(\.\d+)?)?(Z|[+-]\d\d:\d\d)?)?)?)?"
)
#: Letters that Unicode does not decompose into a base letter and an accent.
_LETTERS = str.maketrans({"ø": "o", "ł": "l", "đ": "d", "æ": "ae", "œ": "oe", "ð": "d", "þ": "th", "ı": "i"})


@dataclass(frozen=True, slots=True)
class Equals:
    """The indexed value is this one."""

    value: str


@dataclass(frozen=True, slots=True)
class StartsWith:
    """The indexed value begins with this text."""

    prefix: str


@dataclass(frozen=True, slots=True)
class Compare:
    """The indexed date range stands so to the range asked for; both ends UTC, `YYYY-MM-DDThh:mm:ss.mmm`."""

    op: Literal["eq", "ge", "le", "gt", "lt"]
    low: str
    high: str


Test: TypeAlias = Equals | StartsWith | Compare


@dataclass(frozen=True, slots=True, kw_only=True)
class Criterion:
    """One condition of a search: the parameter has a value that passes any of the tests."""

    #: Name of the search parameter.
    param: str
    #: How its values are indexed.
    kind: Kind
    #: Alternatives, never empty.
    any_of: tuple[Test, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Sort:
    """The order asked for."""

    #: Name of a date parameter of the type.
    param: str
    #: Newest first.
    descending: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchQuery:
    """A search of one resource type, parsed once."""

    #: The FHIR type.
    resource_type: str
    #: All must hold.
    criteria: tuple[Criterion, ...]
    #: None: in the order the resources were first written.
    sort: Sort | None = None
    #: At most so many; None: all.
    count: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexValue:
    """One value a resource can be found by."""

    #: Name of the search parameter.
    param: str
    #: The normalised value; of a date the beginning of its range.
    value: str
    #: Of a date the end of its range, else empty.
    high: str = ""


def parse_search(resource_type: str, params: SearchParams) -> SearchQuery:
    """Understand a search; raises `RequestRefused` with the parameter's name if any of it is not understood."""
    if re.fullmatch(r"[A-Z][A-Za-z]{2,63}", resource_type) is None:
        raise RequestRefused("search", f"{resource_type[:80]!r} is not a resource type")
    table = params_of(resource_type)
    criteria: list[Criterion] = []
    sort: Sort | None = None
    count: int | None = None
    for name, given in params.items():
        values = [given] if isinstance(given, str) else list(given)
        where = f"{resource_type}?{name[:80]}"
        if not values or len(values) > _VALUES_MAX or any(not value.strip() for value in values):
            raise RequestRefused(where, f"give 1 to {_VALUES_MAX} values, none of them empty")
        if name == "_sort":
            sort = _parse_sort(where, values, table)
        elif name == "_count":
            count = _parse_count(where, values)
        elif name not in table:
            known = ", ".join(sorted(table))
            raise RequestRefused(where, f"unknown search parameter: this store knows {known}, _sort, _count")
        else:
            for value in values:
                criteria.extend(_parse_value(where, name, table[name], value))
    return SearchQuery(resource_type=resource_type, criteria=tuple(criteria), sort=sort, count=count)


def parse_query_string(resource_type: str, query: str, *, where: str) -> SearchQuery:
    """Understand `ifNoneExist` (`identifier=system|value&…`, percent-encoding allowed)."""
    pairs = parse_qsl(query.removeprefix("?"), keep_blank_values=True, separator="&")
    params: dict[str, list[str]] = {}
    for name, value in pairs:
        params.setdefault(name, []).append(value)
    if not params or any(name.startswith(("_sort", "_count")) for name in params):
        raise RequestRefused(where, f"{query[:80]!r} is no condition: give identifier=system|value or _tag=…")
    return parse_search(resource_type, params)


def _parse_sort(where: str, values: list[str], table: dict[str, Param]) -> Sort:
    text = values[-1]
    param = text.removeprefix("-")
    if len(values) > 1 or param not in table or table[param].kind != "date":
        known = ", ".join(sorted(name for name, row in table.items() if row.kind == "date"))
        raise RequestRefused(
            where, f"cannot sort by {text[:80]!r}: sort by one of {known}, with - for newest first"
        )
    return Sort(param=param, descending=text.startswith("-"))


def _parse_count(where: str, values: list[str]) -> int:
    text = values[-1]
    if len(values) > 1 or not text.isascii() or not text.isdigit() or not 1 <= int(text) <= _COUNT_MAX:
        raise RequestRefused(
            where, f"{text[:80]!r} is not a count: give one whole number from 1 to {_COUNT_MAX}"
        )
    return int(text)


def _parse_value(where: str, name: str, param: Param, value: str) -> Iterator[Criterion]:
    """The criteria of one value; words of a name are separate criteria, alternatives of a comma are one."""
    if param.kind == "name":
        words = name_words(value, whole=False)
        if not words or len(words) > _VALUES_MAX:
            raise RequestRefused(where, f"{value[:80]!r} has no word to look for")
        for word in words:
            yield Criterion(param=name, kind="name", any_of=(StartsWith(word),))
        return
    alternatives = value.split(",")
    if len(alternatives) > _VALUES_MAX or any(not part.strip() for part in alternatives):
        raise RequestRefused(where, f"give 1 to {_VALUES_MAX} values between commas, none of them empty")
    tests = tuple(test for part in alternatives for test in _tests(where, param, part.strip()))
    yield Criterion(param=name, kind=param.kind, any_of=tests)


def _tests(where: str, param: Param, value: str) -> tuple[Test, ...]:
    match param.kind:
        case "token" | "folded":
            if value.endswith("|"):
                raise RequestRefused(where, f"{value[:80]!r} names a system without a code: give system|code")
            return (Equals(value.casefold() if param.kind == "folded" else value),)
        case "reference":
            parse_reference(value, where=where)
            return (Equals(value),)
        case "date":
            return (_date_test(where, value),)
        case "phone":
            return _phone_tests(where, value)
        case "name":
            raise AssertionError("INVARIANT: names are split into words before")


def _date_test(where: str, value: str) -> Compare:
    op: Literal["eq", "ge", "le", "gt", "lt"] = "eq"
    for known in ("eq", "ge", "le", "gt", "lt"):
        if value.startswith(known):
            op, value = known, value[2:]  # type: ignore[assignment]
            break
    bounds = date_range(value)
    if bounds is None:
        raise RequestRefused(
            where, f"{value[:80]!r} is not a date: give YYYY-MM-DD with eq, ge, le, gt or lt before it"
        )
    return Compare(op, *bounds)


def _phone_tests(where: str, value: str) -> tuple[Test, ...]:
    """Two numbers are one if the shorter is the end of the longer: country codes may be missing on either side."""
    backwards = _phone_digits(value)[::-1]
    if not backwards:
        raise RequestRefused(where, f"{value[:80]!r} has no digits")
    if len(backwards) < _PHONE_DIGITS_MIN:
        return (Equals(backwards),)
    shorter = [Equals(backwards[:size]) for size in range(_PHONE_DIGITS_MIN, len(backwards))]
    return (StartsWith(backwards), *shorter)


def index_values(resource: Resource) -> list[IndexValue]:
    """Every value the resource can be found by, without repetition."""
    found: dict[IndexValue, None] = {}
    for name, param in params_of(resource["resourceType"]).items():
        for path in param.paths:
            for element in _elements_at(resource, path.split(".")):
                for value, high in _index_element(param, element):
                    found[IndexValue(param=name, value=value, high=high)] = None
    return list(found)


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
            yield from ((token, "") for token in _tokens(element))
        case "folded":
            yield from ((token.casefold(), "") for token in _tokens(element))
        case "reference":
            target = element.get("reference") if isinstance(element, dict) else None
            if isinstance(target, str) and (param.target is None or target.startswith(f"{param.target}/")):
                yield versionless(target), ""
        case "date":
            bounds = _element_range(element)
            if bounds is not None:
                yield bounds
        case "phone":
            digits = _phone_digits(element.get("value", "")) if isinstance(element, dict) else ""
            if digits and element.get("system") in ("phone", "sms", None):
                yield digits[::-1], ""
        case "name":
            yield from ((word, "") for word in _element_words(element))


def _tokens(element: Any) -> Iterator[str]:
    if isinstance(element, bool):
        yield "true" if element else "false"
    elif isinstance(element, str):
        yield element
        yield f"|{element}"
    elif isinstance(element, dict) and isinstance(element.get("coding"), list):
        for coding in element["coding"]:
            yield from _tokens(coding)
    elif isinstance(element, dict):
        code = element.get("code", element.get("value"))
        if isinstance(code, str):
            yield code
            yield f"{element.get('system') or ''}|{code}"


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

    With `whole` (for the index) an apostrophe or hyphen also gives its parts: O'Brien-Smith is found as obrien,
    o, brien, smith and obriensmith. Without it (for a question) an apostrophe joins and a hyphen splits.
    """
    plain = unicodedata.normalize("NFKD", text.casefold().translate(_LETTERS))
    plain = "".join(char for char in plain if not unicodedata.combining(char))
    plain = re.sub(r"['’ʼ`´]", "'", plain)
    words: dict[str, None] = {}
    for chunk in re.split(r"[^\w'\-]+", plain):
        joined = chunk.replace("'", "")
        words.update(dict.fromkeys(joined.split("-")))
        if whole:
            words.update(dict.fromkeys(re.split(r"['\-]", chunk)))
            words[joined.replace("-", "")] = None
    words.pop("", None)
    return list(words)


def _phone_digits(text: Any) -> str:
    return re.sub(r"\D", "", text, flags=re.ASCII) if isinstance(text, str) else ""


def _element_range(element: Any) -> tuple[str, str] | None:
    if isinstance(element, str):
        return date_range(element)
    if not isinstance(element, dict):
        return None
    start = date_range(element["start"]) if isinstance(element.get("start"), str) else (_OPEN_LOW, _OPEN_LOW)
    end = date_range(element["end"]) if isinstance(element.get("end"), str) else (_OPEN_HIGH, _OPEN_HIGH)
    return None if start is None or end is None else (start[0], end[1])


def date_range(text: str) -> tuple[str, str] | None:
    """First and last millisecond of a FHIR date or dateTime in UTC (no zone is read as UTC); None if it is none."""
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
