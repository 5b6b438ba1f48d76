"""One thing that was looked at, and how it stands."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Level = Literal["ok", "note", "warning", "problem"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One thing that was looked at."""

    name: str
    level: Level
    message: str


def ok(name: str, message: str) -> Check:
    """As it should be."""
    return Check(name=name, level="ok", message=message)


def note(name: str, message: str) -> Check:
    """Worth knowing."""
    return Check(name=name, level="note", message=message)


def warning(name: str, message: str) -> Check:
    """Somebody should look."""
    return Check(name=name, level="warning", message=message)


def problem(name: str, message: str) -> Check:
    """Wrong."""
    return Check(name=name, level="problem", message=message)


__all__ = ["Check", "Level", "note", "ok", "problem", "warning"]
