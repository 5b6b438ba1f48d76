"""Revisions of one run's compiled graph: each is published once, under a name of its own.

Law: a revision that was published is never written again, so that a replay of the log shows the plan as it
was at that point. (Mission: plan-revision.ts; it neither repairs a plan nor bounds replans.)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

_FIRST = "graph"
_LATER = "graph:"


def graph_payload(revision: int) -> str:
    """The name of the payload that holds this revision of the compiled graph."""
    return _FIRST if revision == 1 else f"{_LATER}{revision}"


def latest_graph(names: Iterable[str]) -> str | None:
    """The payload with the latest revision among these; None where there is no graph."""
    found: tuple[int, str] | None = None
    for name in names:
        if name == _FIRST:
            found = max(found or (1, name), (1, name))
        elif name.startswith(_LATER) and name[len(_LATER) :].isdecimal():
            found = max(found or (0, ""), (int(name[len(_LATER) :]), name))
    return found[1] if found is not None else None


__all__ = ["graph_payload", "latest_graph"]
