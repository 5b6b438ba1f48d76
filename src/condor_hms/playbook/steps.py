"""Plan JSON: steps and the references between them."""

from __future__ import annotations

from typing import Any, TypeAlias

__all__ = ["PATIENT", "Plan", "Step", "plan", "reference", "search_step", "step"]

Step: TypeAlias = "dict[str, Any]"
Plan: TypeAlias = "dict[str, Any]"


def reference(step_id: str, *path: str) -> dict[str, str]:
    """What an earlier step found, by RFC 6901 pointer."""
    tokens = (token.replace("~", "~0").replace("/", "~1") for token in path)
    return {"$from": step_id, "path": "".join(f"/{token}" for token in tokens)}


#: The patient that the first step found.
PATIENT = reference("s1", "patient", "reference")


def step(step_id: str, tool: str, args: dict[str, Any], after: tuple[str, ...] = ()) -> Step:
    """One step; arguments that nobody gave (None) are left out, so that they are asked for."""
    given = {name: value for name, value in args.items() if value is not None}
    return {"id": step_id, "tool": tool, "args": given, "after": list(after)}


def search_step(query: str, birth_date: str | None = None) -> Step:
    """The first step of every plan: who it is about."""
    return step("s1", "patient.search", {"query": query, "birth_date": birth_date})


def plan(*steps: Step) -> Plan:
    """The plan."""
    return {"steps": list(steps)}
