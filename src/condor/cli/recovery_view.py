"""Recovery on a terminal: what was decided about the plan and why, and what the run has spent."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.padding import Padding
from rich.text import Text

from condor.cli.card import pairs
from condor.cli.screen import said
from condor.core.recovery.limits import amount_words

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rich.console import RenderableType

#: Steps of a tail that are named; the rest is counted.
_NAMED_MAX = 5


def recovery_blocks(run: Mapping[str, Any]) -> list[RenderableType]:
    """Every decision with its reason; nothing where there was none."""
    told = [(str(one["stepId"]), _told(one)) for one in run.get("recovery") or ()]
    return [_heading("Recovery"), _indented(pairs(told))] if told else []


def found_out_blocks(rows: Sequence[Mapping[str, Any]]) -> list[RenderableType]:
    """Which effects had an outcome that nobody knew, and how it was found out.

    Args:
        rows: the run's audit rows ``unknown`` and ``reconciled``, in their order.
    """
    told = [(str(row.get("stepId")), said(_found_out(row))) for row in rows]
    return [_heading("Unknown outcomes"), _indented(pairs(told))] if told else []


def _found_out(row: Mapping[str, Any]) -> str:
    came_of_it = str(row.get("reasonCode") or "")
    if row.get("decision") == "unknown":
        return f"whether it happened was not known ({came_of_it})"
    if row.get("suspendId"):
        return f"reconciled by {row.get('actor')}"
    return f"reconciled: {came_of_it or 'it happened'}"


def budget_blocks(run: Mapping[str, Any]) -> list[RenderableType]:
    """What was used of each ceiling, and why the run was stopped where one was met."""
    budget = run.get("budget") or {}
    rows = [(_named(name), _amount(spent)) for name, spent in budget.items() if name != "stop"]
    if not rows:
        return []
    blocks = [_heading("Budget"), _indented(pairs(rows))]
    if "stop" in budget:
        blocks.append(_indented(said(_stop(budget["stop"]), "bold red")))
    return blocks


def _heading(text: str) -> RenderableType:
    return Text(f"\n{text}", style="underline")


def _indented(what: RenderableType) -> RenderableType:
    return Padding(what, (0, 0, 0, 2), expand=False)


def _told(one: Mapping[str, Any]) -> Text:
    """``retry-with-different-tool: labs.search → labs.report.search (a last step failed, …; end.equal)``."""
    text = said(f"{one['verb']}{_what(one)}")
    stricter = f"; the second look made it stricter than {one['ruleVerb']}" if one.get("ruleVerb") else ""
    text.append_text(said(f" ({one['why'] or one['decision']}; {one['rule']}{stricter})", "dim"))
    return text


def _what(one: Mapping[str, Any]) -> str:
    if one.get("stop"):
        return f": {_named(str(one['stop']))} used up"
    if one.get("skips"):
        named, more = one["skips"][:_NAMED_MAX], len(one["skips"]) - _NAMED_MAX
        return f": {', '.join(named)}{f' and {more} more' if more > 0 else ''} not run"
    if one.get("toTool"):
        return f": {one.get('fromTool')} → {one['toTool']}"
    if one.get("refused"):
        named = [f"{other['tool']} ({other['because']})" for other in one["refused"]]
        more = len(named) - _NAMED_MAX
        return f": not {', '.join(named[:_NAMED_MAX])}{f' and {more} more' if more > 0 else ''}"
    return ""


def _named(limit: str) -> str:
    """A ceiling in words; its unit stands beside it."""
    return limit.removesuffix("_max").removesuffix("_s").removesuffix("_usd").replace("_", " ")


def _amount(spent: Mapping[str, Any]) -> Text:
    words = f"{amount_words(spent['used'])} of {amount_words(spent['limit'])} {spent['unit']}"
    return said(words, "" if spent["used"] else "dim")


def _stop(stop: Mapping[str, Any]) -> str:
    if not stop.get("unit"):
        return "stopped: the second look at an edit of its plan said to stop"
    name = _named(str(stop["limit"]))
    used, most = amount_words(stop["used"]), amount_words(stop["most"])
    return f"stopped by {name}: {used} of {most} {stop['unit']} used up"


__all__ = ["budget_blocks", "found_out_blocks", "recovery_blocks"]
