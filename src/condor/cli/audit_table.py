"""Audit rows on a terminal: run by run, one decision a line, its particulars below."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, Any

from rich.console import Group
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from condor.cli.card import short_hash
from condor.cli.moments import moment
from condor.cli.screen import said
from condor.cli.visible import visible_word

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from rich.console import RenderableType

_STYLES = {
    "approved": "green",
    "executed": "green",
    "reconciled": "green",
    "denied": "red",
    "expired": "red",
    "stopped": "red",
    "unknown": "bold red",
    "decision-rejected": "bold red",
    "suspended": "yellow",
    "withdrawn": "yellow",
}


def audit_rows(rows: Sequence[Mapping[str, Any]]) -> Iterator[RenderableType]:
    """A block for every run."""
    for run_id, of_run in groupby(rows, lambda row: row.get("runId")):
        yield Group(
            Text(visible_word(run_id), style="bold"),
            Padding(_table(list(of_run)), (0, 0, 1, 2), expand=False),
        )


def _table(rows: Sequence[Mapping[str, Any]]) -> Table:
    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(justify="right", style="dim")
    table.add_column()
    table.add_column(overflow="fold", ratio=1)
    for row in rows:
        decision = visible_word(row.get("decision", "unreadable"))
        table.add_row(
            str(row.get("seq")), Text(decision, style=_STYLES.get(decision, "")), said(_particulars(row))
        )
    return table


def _particulars(row: Mapping[str, Any]) -> str:
    """Who, which call, under which rule, and the row's hash."""
    if "unreadable" in row:
        return f"its body cannot be read: {row['unreadable']}"
    found = moment(row.get("at"))
    tool = " ".join(visible_word(part) for part in (row.get("tool"), row.get("op")) if part)
    step = f"{visible_word(row['stepId'])} {tool}".strip() if row.get("stepId") else tool
    rule = visible_word(row["ruleId"]) if row.get("ruleId") else ""
    promotions = ", ".join(visible_word(name) for name in row.get("promotions") or ())
    parts = [
        step,
        "an edit of the plan" if row.get("origin") == "plan_mutation" else "",
        f"{rule} (promoted: {promotions})" if rule and promotions else rule,
        visible_word(row["reasonCode"]) if row.get("reasonCode") else "",
        f"by {visible_word(row['actor'])}" if row.get("actor") else "",
        f"contract {short_hash(row['contractHash'])}" if row.get("contractHash") else "",
        f"{found:%H:%M:%S}" if found else "",
        f"hash {visible_word(row.get('hash', ''))[:8]}",
    ]
    return "; ".join(part for part in parts if part)


__all__ = ["audit_rows"]
