"""Running a command's coroutine; the event loop's library is loaded when something runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Coroutine
    from typing import Any

_T = TypeVar("_T")


def run_to_end(work: Coroutine[Any, Any, _T]) -> _T:
    """The result of a coroutine in an event loop of its own."""
    import asyncio

    return asyncio.run(work)


__all__ = ["run_to_end"]
