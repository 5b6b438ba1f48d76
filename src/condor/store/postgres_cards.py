"""Lists of cards by filter: PostgreSQL has figures of what each column holds, and chooses the index itself.

Law: open cards are found by indexes that hold open cards alone, and carry their order.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from condor.store.postgres_queries import CARD, OPENED

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from condor.ports.store import CardFilter, CardOrder
    from condor.store.postgres_reader import PostgresReader

#: Condition of each field of the filter.
_CONDITIONS: Final = {
    **{
        column: f"{column} = "
        for column in ("run_id", "reason_code", "origin", "tool", "tier", "requester", "subject")
    },
    "opened_from": "opened_at >= ",
    "opened_until": "opened_at <= ",
}


async def list_cards(
    reader: PostgresReader, wanted: CardFilter, order: CardOrder, limit: int, after: str
) -> Sequence[Any]:
    """A page of cards, as ``CARD`` rows; after an ``after`` that does not exist: none."""
    values: list[object] = []

    def given(value: object) -> str:
        values.append(value)
        return f"${len(values)}"

    conditions = []
    if wanted.status == "pending":
        # Literal, so that a plan that is kept can use the indexes of open cards.
        conditions.append("status = 'pending'")
    elif wanted.status is not None:
        conditions.append(f"status = {given(wanted.status)}")
    for field, condition in _CONDITIONS.items():
        if (value := getattr(wanted, field)) is not None:
            conditions.append(condition + given(value))
    if after:
        opened = await reader.rows(OPENED, after)
        if not opened:
            return []
        conditions.append(f"opened {'<' if order == 'newest' else '>'} {given(opened[0][0])}")
    where = f" WHERE {' AND '.join(conditions)}" if conditions else ""
    way = "DESC" if order == "newest" else "ASC"
    return await reader.rows(f"{CARD}{where} ORDER BY opened {way} LIMIT {given(limit)}", *values)
