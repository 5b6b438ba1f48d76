"""Lists of cards: a page costs what the page holds, however many cards are open.

Law 1: open cards are found by an index that holds open cards alone, and carries their order.
Law 2: of several filters the one that leaves the fewest leads; the others are looked at on its rows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from condor.store.sqlite_rows import SUSPENSION, Raw

if TYPE_CHECKING:
    import sqlite3

    from condor.ports.store import CardFilter, CardOrder

#: Columns that have an index of open cards, those that leave the fewest first.
_NARROW_FIRST: Final = ("subject", "requester", "tool", "origin", "reason_code", "tier")
_AGES: Final = {"opened_from": ">=", "opened_until": "<="}
#: Cards that are few enough to look at each: a few milliseconds.
_FEW: Final = 2_000

_COUNT: Final = {
    column: f"SELECT count(*) FROM (SELECT 1 FROM suspension INDEXED BY suspension_open_{column} "  # noqa: S608 - ours
    f"WHERE status = 'pending' AND {column} = ? LIMIT {_FEW})"
    for column in _NARROW_FIRST
}
_OPENED: Final = "SELECT opened FROM suspension WHERE suspend_id = ?"
#: Number of the last card; every one is at or before it.
_LAST: Final = 2**62


def is_short(wanted: CardFilter) -> bool:
    """Whether a page is found without looking at many rows: open cards, a run's, or all as they come."""
    filtered = any(getattr(wanted, column) is not None for column in (*_NARROW_FIRST, *_AGES))
    return wanted.status == "pending" or wanted.run_id is not None or not filtered


def list_cards(
    connection: sqlite3.Connection, *, wanted: CardFilter, order: CardOrder, limit: int, after: str
) -> list[Raw]:
    """A page of cards, as ``SUSPENSION`` rows."""
    least, most = 1, _LAST
    if after:
        found = connection.execute(_OPENED, (after,)).fetchone()
        if found is None:
            return []
        least, most = (least, found[0] - 1) if order == "newest" else (found[0] + 1, most)
    is_open = wanted.status == "pending"
    if is_open and wanted.run_id is None:
        least, most = _within(connection, wanted, least, most)
    given = {column: getattr(wanted, column) for column in ("run_id", *_NARROW_FIRST)}
    conditions = [f"{column} = :{column}" for column, value in given.items() if value is not None]
    if is_open:
        # Literal, or SQLite cannot see that the index of open cards will do.
        conditions.append("status = 'pending'")
    elif wanted.status is not None:
        conditions.append("status = :status")
    conditions += [
        f"opened_at {sign} :{age}" for age, sign in _AGES.items() if getattr(wanted, age) is not None
    ]
    query = f"{SUSPENSION} {_hint(connection, wanted)} WHERE opened BETWEEN :least AND :most"
    query = " AND ".join([query, *conditions])
    query += f" ORDER BY opened {'DESC' if order == 'newest' else 'ASC'} LIMIT :limit"
    values = {**given, "status": wanted.status, "least": least, "most": most, "limit": limit}
    return connection.execute(query, {**values, **{age: getattr(wanted, age) for age in _AGES}}).fetchall()


def _within(connection: sqlite3.Connection, wanted: CardFilter, least: int, most: int) -> tuple[int, int]:
    """The bounds of ``opened`` that an age leaves: what is too old or too young is not walked over."""
    opened = "FROM suspension INDEXED BY suspension_open_opened_at WHERE status = 'pending' AND opened_at"
    if wanted.opened_from is not None:
        query = f"SELECT coalesce(min(opened), {_LAST}) {opened} >= ?"
        least = max(least, connection.execute(query, (wanted.opened_from,)).fetchone()[0])
    if wanted.opened_until is not None:
        query = f"SELECT coalesce(max(opened), 0) {opened} <= ?"
        most = min(most, connection.execute(query, (wanted.opened_until,)).fetchone()[0])
    return least, most


def _hint(connection: sqlite3.Connection, wanted: CardFilter) -> str:
    """Which index leads; SQLite has no figures to choose by."""
    if wanted.run_id is not None:
        return "INDEXED BY suspension_by_run"
    if wanted.status is None:
        return "NOT INDEXED"
    if wanted.status != "pending":
        return "INDEXED BY suspension_by_status"
    asked = [column for column in _NARROW_FIRST if getattr(wanted, column) is not None]
    if not asked:
        return "INDEXED BY suspension_by_status"
    leads = asked[0] if len(asked) == 1 else min(asked, key=lambda column: _count(connection, wanted, column))
    return f"INDEXED BY suspension_open_{leads}"


def _count(connection: sqlite3.Connection, wanted: CardFilter, column: str) -> int:
    """How many open cards one filter leaves; not counted beyond a few."""
    return int(connection.execute(_COUNT[column], (getattr(wanted, column),)).fetchone()[0])


__all__ = ["is_short", "list_cards"]
