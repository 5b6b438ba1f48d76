"""Running a command's coroutine; the event loop's library is loaded when something runs.

Law: a command's stderr holds what it says itself. The runtime's log goes nowhere, but to stderr where
tracebacks are wanted (CONDOR_TRACEBACK=1).
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Coroutine
    from typing import Any

_T = TypeVar("_T")

#: Tracebacks and the runtime's log on stderr.
TRACEBACK_VARIABLE = "CONDOR_TRACEBACK"


def run_to_end(work: Coroutine[Any, Any, _T]) -> _T:
    """The result of a coroutine in an event loop of its own."""
    import asyncio
    import logging

    wanted = os.environ.get(TRACEBACK_VARIABLE)
    logging.basicConfig(handlers=None if wanted else [logging.NullHandler()], level=logging.WARNING)
    return asyncio.run(work)


__all__ = ["TRACEBACK_VARIABLE", "run_to_end"]
