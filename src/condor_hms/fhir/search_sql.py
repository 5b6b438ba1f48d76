"""A parsed search as SQL over the tables `resource r` and `search_value s`; pure.

Rule: the most selective condition drives; the others are looked up for each of its matches.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from condor_hms.fhir.search import Compare, Equals, StartsWith

if TYPE_CHECKING:
    from condor_hms.fhir.search import Criterion, SearchQuery, Test

__all__ = ["compile_select"]

#: Kinds from the most to the least selective.
_DRIVER_ORDER = ("id", "reference", "phone", "name", "folded", "token", "date")


def compile_select(query: SearchQuery, *, limit: int) -> tuple[str, list[Any]]:
    """The statement of a search and its values; it gives (pk, reference, version, body) rows.

    Its text is made of constants; every foreign value is bound.
    """
    ordered = sorted(query.criteria, key=lambda criterion: _DRIVER_ORDER.index(criterion.kind))
    values: list[Any] = []
    where: list[str] = []
    for place, criterion in enumerate(ordered):
        if criterion.kind == "id":
            where.append(_reference_condition(criterion, values, query.resource_type))
            continue
        condition = _condition(criterion, values, query.resource_type)
        if place == 0:
            where.append(f"r.pk IN (SELECT s.pk FROM search_value s WHERE {condition})")  # noqa: S608 - constants
        else:
            where.append(f"EXISTS (SELECT 1 FROM search_value s WHERE s.pk = r.pk AND {condition})")  # noqa: S608
    if not ordered:
        where.append("r.type = ?")
        values.append(query.resource_type)
    order = "r.pk"
    if query.sort is not None:
        # What has no date comes last of the newest, first of the oldest, in every database.
        direction, nulls, pick = ("DESC", "LAST", "max") if query.sort.descending else ("ASC", "FIRST", "min")
        dates = "FROM search_value s WHERE s.pk = r.pk AND s.param = ?"
        order = f"(SELECT {pick}(s.value) {dates}) {direction} NULLS {nulls}, r.pk {direction}"
        values.append(f"{query.resource_type}.{query.sort.param}")
    values.append(limit if query.count is None else query.count)
    sql = f"SELECT r.pk, r.reference, r.version, r.body FROM resource r WHERE {' AND '.join(where)}"  # noqa: S608
    return f"{sql} ORDER BY {order} LIMIT ?", values


def _reference_condition(criterion: Criterion, values: list[Any], resource_type: str) -> str:
    """SQL of `_id`, which is looked up in the resource's own reference."""
    references = [f"{resource_type}/{test.value}" for test in criterion.any_of if isinstance(test, Equals)]
    values.extend(references)
    return f"r.reference IN ({','.join('?' * len(references))})"


def _condition(criterion: Criterion, values: list[Any], resource_type: str) -> str:
    """SQL of one criterion over `s`."""
    values.append(f"{resource_type}.{criterion.param}")
    tests = " OR ".join(_test(test, values) for test in criterion.any_of)
    return f"s.param = ? AND ({tests})"


def _test(test: Test, values: list[Any]) -> str:
    match test:
        case Equals(value, None):
            values.append(value)
            return "s.value = ?"
        case Equals(value, system):
            values.extend((value, system))
            return "s.value = ? AND s.qualifier = ?"
        case StartsWith(prefix):
            # U+10FFFF sorts after every other character in SQLite's byte order.
            values.extend((prefix, prefix + "\U0010ffff"))
            return "s.value >= ? AND s.value < ?"
        case Compare("eq", low, high):
            values.extend((low, high))
            return "s.value >= ? AND s.qualifier <= ?"
        case Compare("ge", low, _):
            values.append(low)
            return "s.qualifier >= ?"
        case Compare("gt", _, high):
            values.append(high)
            return "s.qualifier > ?"
        case Compare("le", _, high):
            values.append(high)
            return "s.value <= ?"
        case Compare(_, low, _):
            values.append(low)
            return "s.value < ?"
