"""What a search asks: parameters parsed once into criteria; pure.

Rule: what cannot be understood is refused with the parameter's name; nothing is ignored.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias
from urllib.parse import parse_qsl

from condor_hms.fhir.errors import RequestRefused
from condor_hms.fhir.references import parse_reference
from condor_hms.fhir.search_table import Kind, Param, params_of
from condor_hms.fhir.search_values import CHARS_MAX, date_range, name_words, phone_backwards

if TYPE_CHECKING:
    from collections.abc import Iterator

    from condor_hms.fhir.port import SearchParams

__all__ = [
    "Compare",
    "Criterion",
    "Equals",
    "SearchQuery",
    "Sort",
    "StartsWith",
    "Test",
    "parse_query_string",
    "parse_search",
]

#: Values of one parameter of one search (repetitions times alternatives). A form never sends more.
_VALUES_MAX = 50
#: `_count` above this is refused; a list for a person or a model is far shorter.
_COUNT_MAX = 1000
#: Digits two phone numbers must share at their end to be one number. Shortest national numbers have 7.
_PHONE_DIGITS_MIN = 7


#: Control characters, and halves of UTF-16 pairs: no index has them.
_NO_TEXT = re.compile(r"[\x00-\x1f\ud800-\udfff]")

DateOp: TypeAlias = Literal["eq", "ge", "le", "gt", "lt"]
_DATE_OPS: dict[str, DateOp] = {"eq": "eq", "ge": "ge", "le": "le", "gt": "gt", "lt": "lt"}


@dataclass(frozen=True, slots=True)
class Equals:
    """The indexed value is this one, and of this system unless that is None."""

    value: str
    system: str | None = None


@dataclass(frozen=True, slots=True)
class StartsWith:
    """The indexed value begins with this text."""

    prefix: str


@dataclass(frozen=True, slots=True)
class Compare:
    """The indexed date range stands so to the range asked for; both ends UTC, `YYYY-MM-DDThh:mm:ss.mmm`."""

    op: DateOp
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


def parse_search(resource_type: str, params: SearchParams) -> SearchQuery:
    """Understand a search; raises `RequestRefused` with the name of the parameter at fault."""
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
    if _NO_TEXT.search(value) or any(len(part) > CHARS_MAX for part in value.split(",")):
        raise RequestRefused(
            where, f"a value has at most {CHARS_MAX} characters, no control character and no half of one"
        )
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
        case "id":
            if re.fullmatch(r"[A-Za-z0-9\-.]{1,64}", value) is None:
                raise RequestRefused(where, f"{value[:80]!r} is not an id: give it without the type")
            return (Equals(value),)
        case "token" | "folded":
            if value.endswith("|"):
                raise RequestRefused(where, f"{value[:80]!r} names a system without a code: give system|code")
            system, bar, code = value.rpartition("|")
            code = code.casefold() if param.kind == "folded" else code
            return (Equals(code, system if bar else None),)
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
    found = _DATE_OPS.get(value[:2])
    op: DateOp = "eq" if found is None else found
    value = value if found is None else value[2:]
    bounds = date_range(value)
    if bounds is None:
        raise RequestRefused(
            where, f"{value[:80]!r} is not a date: give YYYY-MM-DD with eq, ge, le, gt or lt before it"
        )
    return Compare(op, *bounds)


def _phone_tests(where: str, value: str) -> tuple[Test, ...]:
    """Two numbers are one if the shorter is the end of the longer: either may lack its country code."""
    backwards = phone_backwards(value)
    if not backwards:
        raise RequestRefused(where, f"{value[:80]!r} has no digits")
    if len(backwards) < _PHONE_DIGITS_MIN:
        return (Equals(backwards),)
    shorter = [Equals(backwards[:size]) for size in range(_PHONE_DIGITS_MIN, len(backwards))]
    return (StartsWith(backwards), *shorter)
