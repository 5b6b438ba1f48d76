"""A parsed search as parameters that any FHIR R4 server understands; pure.

Rule: what is sent may be wider than what was asked, never narrower; ``matching`` does the rest. What servers
read in different ways (a phone number, the zone of a date) is sent widened, or not at all.
"""

from __future__ import annotations

from datetime import date, timedelta
from typing import TYPE_CHECKING

from condor_hms.fhir.search import Compare, Equals, StartsWith
from condor_hms.fhir.search_table import params_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from condor_hms.fhir.search import Criterion, SearchQuery

__all__ = ["PAGE_SIZE", "server_params"]

#: Resources asked for at once; a server may give fewer.
PAGE_SIZE = 200
_DAY = timedelta(days=1)


def server_params(query: SearchQuery) -> list[tuple[str, str]]:
    """Names and values to send."""
    known = params_of(query.resource_type)
    asked = [criterion for criterion in query.criteria if not known[criterion.param].own]
    params = [pair for criterion in asked for pair in _of(criterion)]
    return [*params, ("_count", str(PAGE_SIZE))]


def _of(criterion: Criterion) -> Iterator[tuple[str, str]]:
    match criterion.kind:
        case "phone":
            return
        case "date":
            yield from _dates(criterion)
        case "name":
            yield from (
                (criterion.param, test.prefix) for test in criterion.any_of if isinstance(test, StartsWith)
            )
        case "folded":
            values = [
                _token(value, test.system)
                for test in criterion.any_of
                if isinstance(test, Equals)
                for value in dict.fromkeys((test.value.upper(), test.value))
            ]
            yield criterion.param, ",".join(values)
        case _:
            tests = [test for test in criterion.any_of if isinstance(test, Equals)]
            yield criterion.param, ",".join(_token(test.value, test.system) for test in tests)


def _token(value: str, system: str | None) -> str:
    """A value as it stands in a query: commas, bars and dollars of it are escaped (R4, 3.1.1.3.2)."""
    plain = value.replace("\\", "\\\\").replace(",", "\\,").replace("|", "\\|").replace("$", "\\$")
    return plain if system is None else f"{system}|{plain}"


def _dates(criterion: Criterion) -> Iterator[tuple[str, str]]:
    """One range, a day wider on each side; alternatives are left to the filter."""
    if len(criterion.any_of) != 1 or not isinstance(criterion.any_of[0], Compare):
        return
    test = criterion.any_of[0]
    try:
        low, high = date.fromisoformat(test.low[:10]) - _DAY, date.fromisoformat(test.high[:10]) + _DAY
    except (ValueError, OverflowError):
        return
    if test.op in ("eq", "ge", "gt"):
        yield criterion.param, f"ge{low.isoformat()}"
    if test.op in ("eq", "le", "lt"):
        yield criterion.param, f"le{high.isoformat()}"
